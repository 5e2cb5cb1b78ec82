/* inode.h - the table of files: dense, by number, 72 bytes each.
 *
 * A file's number is its place in the table; a place that is used again has another generation, so an old handle is
 * recognised. Pointers to inodes stay valid until the inode is freed (the table grows by chunks that never move).
 */
#ifndef NFSCURVE_TARGET_INODE_H
#define NFSCURVE_TARGET_INODE_H

#include "fs_types.h"

#include <stdatomic.h>

struct directory;
struct file_data;

struct inode {
    uint32_t generation;
    uint32_t nlink; /* 0: the place is free */
    uint8_t type;   /* enum fs_type */
    bool has_create_verifier;
    uint16_t mode; /* 12 bits */
    uint32_t uid, gid;
    uint64_t size;
    _Atomic uint64_t atime; /* seconds << 32 | nseconds: set by readers that hold the lock for reading only */
    struct fs_time mtime, ctime;
    uint64_t create_verifier; /* of the exclusive CREATE that made it */
    union {
        struct file_data *data; /* FS_REG with stored data; NULL: nothing written yet */
        struct directory *directory;
        char *symlink; /* size bytes, not terminated */
        struct {
            uint32_t major, minor;
        } rdev;
        uint32_t next_free;
    };
};

struct inode_table;

struct inode_table *inode_table_create(uint32_t max_inodes);
void inode_table_destroy(struct inode_table *table); /* the contents of inodes are the caller's to free first */

/* A fresh inode, zero but for its generation, with its number. NULL: the table is full or memory is short. */
struct inode *inode_alloc(struct inode_table *table, uint32_t *fileid);
void inode_free(struct inode_table *table, uint32_t fileid);

/* The inode of a number in use, or NULL. */
struct inode *inode_get(const struct inode_table *table, uint32_t fileid);

uint32_t inode_table_count(const struct inode_table *table);
uint32_t inode_table_end(const struct inode_table *table); /* every number in use is below */

#endif
