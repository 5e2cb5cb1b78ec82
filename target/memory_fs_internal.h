/* memory_fs_internal.h - what the files of memory_fs share: the state and its lock. */
#ifndef NFSCURVE_TARGET_MEMORY_FS_INTERNAL_H
#define NFSCURVE_TARGET_MEMORY_FS_INTERNAL_H

#include "attributes.h"
#include "directory.h"
#include "file_data.h"
#include "inode.h"
#include "memory_fs.h"
#include "synth_data.h"

#include <pthread.h>

struct memory_fs {
    struct memory_fs_options options;
    struct inode_table *inodes;
    struct synth_data *synth; /* NULL unless is_synth */
    pthread_rwlock_t lock;
    uint64_t held_bytes; /* of file data: blocks (store) or the sum of sizes (synth) */
    _Atomic uint64_t verifier;
    uint64_t n_unstable_writes; /* since the last loss: 0 lets a loss skip the walk over all files */
};

void memory_fs_lock_read(struct memory_fs *fs);
void memory_fs_lock_write(struct memory_fs *fs);
void memory_fs_unlock(struct memory_fs *fs);

/* The inode of a handle, or NULL: stale. */
struct inode *memory_fs_inode(const struct memory_fs *fs, struct fs_handle handle);

void memory_fs_fill(const struct memory_fs *fs, const struct inode *inode, uint32_t fileid, struct fs_attributes *out);
void memory_fs_fill_object(const struct memory_fs *fs, const struct inode *inode, uint32_t fileid,
                           struct fs_object *object);
void memory_fs_note_before(const struct inode *inode, struct fs_wcc *wcc);
void memory_fs_note_after(const struct memory_fs *fs, const struct inode *inode, uint32_t fileid, struct fs_wcc *wcc);

/* Changes a regular file's size. */
void memory_fs_resize(struct memory_fs *fs, struct inode *inode, uint64_t size);

/* FS_OK when sizes may grow to `size` (synth counts sizes against the capacity). */
enum fs_status memory_fs_may_grow(const struct memory_fs *fs, const struct inode *inode, uint64_t size);

/* One name less: frees the file with the last. */
void memory_fs_drop_link(struct memory_fs *fs, struct inode *inode, uint32_t fileid, struct fs_time now);

struct fs_handle memory_fs_handle(const struct inode *inode, uint32_t fileid);

/* A directory's names changed. */
void memory_fs_touch(struct inode *dir, struct fs_time now);

bool memory_fs_is_dot(struct fs_name name);
bool memory_fs_is_dot_dot(struct fs_name name);

/* FS_OK, FS_NAMETOOLONG, or FS_INVAL: empty, with a slash or a NUL. */
enum fs_status memory_fs_check_name(struct fs_name name);

/* FS_OK, FS_NOTDIR, or FS_ACCES: `who` may not do `want` there. */
enum fs_status memory_fs_check_dir(const struct inode *dir, const struct fs_who *who, unsigned want);

/* May `who` take the file's name out of the directory? In a sticky directory only the owners may. */
bool memory_fs_may_unlink(const struct inode *parent, const struct inode *inode, const struct fs_who *who);

/* What the changing procedures check about a directory and a name in it, and the number of the file that the name means
 * (0: none). */
enum fs_status memory_fs_check_change(struct memory_fs *fs, const struct fs_who *who, const struct inode *parent,
                                      struct fs_name name, uint32_t *fileid);

#endif
