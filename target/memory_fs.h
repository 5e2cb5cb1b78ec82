/* memory_fs.h - the file system that the target serves: RFC 1813's semantics without its wire.
 *
 *   nfs3_service ──> memory_fs ──> inode table
 *   mount_service ┘      ├──> directory   (of FS_DIR inodes)
 *                        ├──> file_data   (of FS_REG inodes, --data store)
 *                        └──> synth_data  (--data synth)
 *
 * Every procedure takes the file system's lock, works, fills in attributes, and leaves; results never point into it,
 * but for READ's references, which are counted. With one thread the lock is not taken. An fs_wcc or attributes that
 * could not be known are marked absent.
 */
#ifndef NFSCURVE_TARGET_MEMORY_FS_H
#define NFSCURVE_TARGET_MEMORY_FS_H

#include "fs_types.h"
#include "rpc_conn.h"

#include <stddef.h>

#define MEMORY_FS_READ_SEGMENTS 34u /* of the largest READ */

struct memory_fs;

struct memory_fs_options {
    bool is_synth;
    bool is_read_only;
    bool is_threaded;
    uint64_t capacity_bytes; /* of file data: NFS3ERR_NOSPC beyond */
    uint32_t max_files;
    uint64_t verifier; /* of writes, and of this instance's handles */
};

struct memory_fs *memory_fs_create(const struct memory_fs_options *options);
void memory_fs_destroy(struct memory_fs *fs);

/* Makes another root directory (an export). 0 or -errno. */
int memory_fs_add_root(struct memory_fs *fs, uint32_t mode, struct fs_handle *root);

/* Attributes of an object that may be missing from an answer. */
struct fs_object {
    bool has_attributes;
    struct fs_attributes attributes;
};

enum fs_status memory_fs_getattr(struct memory_fs *fs, struct fs_handle file, struct fs_attributes *out);

/* guard: NULL, or the ctime that the file must have (else FS_NOT_SYNC). */
enum fs_status memory_fs_setattr(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file,
                                 const struct fs_set *set, const struct fs_time *guard, struct fs_wcc *wcc);

enum fs_status memory_fs_lookup(struct memory_fs *fs, const struct fs_who *who, struct fs_handle dir,
                                struct fs_name name, struct fs_handle *found, struct fs_object *object,
                                struct fs_object *dir_object);

enum fs_status memory_fs_access(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file, uint32_t want,
                                uint32_t *granted, struct fs_object *object);

enum fs_status memory_fs_readlink(struct memory_fs *fs, struct fs_handle link, char path[static FS_PATH_MAX],
                                  uint32_t *len, struct fs_object *object);

struct fs_read {
    uint32_t count;
    bool is_eof;
    struct rpc_segment segments[MEMORY_FS_READ_SEGMENTS]; /* to be released by who sends or drops them */
    unsigned n_segments;
};

/* count is at most FS_MAX_TRANSFER. */
enum fs_status memory_fs_read(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file, uint64_t offset,
                              uint32_t count, struct fs_read *out, struct fs_object *object);

/* is_unstable: what is written may be lost until memory_fs_commit. */
enum fs_status memory_fs_write(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file, uint64_t offset,
                               const uint8_t *data, uint32_t n, bool is_unstable, struct fs_wcc *wcc,
                               uint64_t *verifier);
enum fs_status memory_fs_commit(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file, uint64_t offset,
                                uint32_t n, struct fs_wcc *wcc, uint64_t *verifier);

/* What the creating procedures make, and how. */
struct fs_creation {
    enum fs_type type;
    enum { FS_CREATE_UNCHECKED, FS_CREATE_GUARDED, FS_CREATE_EXCLUSIVE } how; /* FS_REG; all others are guarded */
    struct fs_set set;
    uint64_t verifier;     /* FS_CREATE_EXCLUSIVE */
    struct fs_name target; /* FS_LNK */
    uint32_t major, minor; /* FS_CHR, FS_BLK */
};

enum fs_status memory_fs_make(struct memory_fs *fs, const struct fs_who *who, struct fs_handle dir, struct fs_name name,
                              const struct fs_creation *creation, struct fs_handle *made, struct fs_object *object,
                              struct fs_wcc *dir_wcc);

/* REMOVE (is_rmdir false) and RMDIR. */
enum fs_status memory_fs_remove(struct memory_fs *fs, const struct fs_who *who, struct fs_handle dir,
                                struct fs_name name, bool is_rmdir, struct fs_wcc *dir_wcc);

enum fs_status memory_fs_rename(struct memory_fs *fs, const struct fs_who *who, struct fs_handle from_dir,
                                struct fs_name from, struct fs_handle to_dir, struct fs_name to,
                                struct fs_wcc *from_wcc, struct fs_wcc *to_wcc);

enum fs_status memory_fs_link(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file,
                              struct fs_handle dir, struct fs_name name, struct fs_object *object,
                              struct fs_wcc *dir_wcc);

struct fs_entry {
    uint64_t cookie;
    struct fs_name name;
    uint64_t fileid;
    struct fs_handle handle;
    struct fs_object object; /* filled only when asked for */
};

/* Calls emit for the entries after `cookie` until it returns false or the directory ends (*is_eof). verifier: as the
 * client sent it, checked when cookie is not 0; *verifier_out: of this directory. emit must not call the file system.
 */
enum fs_status memory_fs_list(struct memory_fs *fs, const struct fs_who *who, struct fs_handle dir, uint64_t cookie,
                              uint64_t verifier, bool with_attributes,
                              bool (*emit)(void *arg, const struct fs_entry *entry), void *arg, bool *is_eof,
                              uint64_t *verifier_out, struct fs_object *dir_object);

struct fs_space {
    uint64_t total_bytes, free_bytes, total_files, free_files;
};

/* FSSTAT; file must exist. Space and object may be NULL: then it only checks (FSINFO, PATHCONF). */
enum fs_status memory_fs_stat(struct memory_fs *fs, struct fs_handle file, struct fs_space *space,
                              struct fs_object *object);

uint64_t memory_fs_verifier(const struct memory_fs *fs);

/* The server restarts as far as clients can tell: another write verifier, and UNSTABLE data that was not committed is
 * lost (reads as zeros). Returns the bytes lost. */
uint64_t memory_fs_lose_unstable(struct memory_fs *fs);

#endif
