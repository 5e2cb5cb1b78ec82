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

#endif
