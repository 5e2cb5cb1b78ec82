/* attributes.h - an inode's attributes: who may what, what SETATTR changes, what goes on the wire. */
#ifndef NFSCURVE_TARGET_ATTRIBUTES_H
#define NFSCURVE_TARGET_ATTRIBUTES_H

#include "fs_types.h"
#include "inode.h"

enum { MAY_EXECUTE = 1, MAY_WRITE = 2, MAY_READ = 4 };

struct fs_time fs_now(void);

/* Mode bits of the owner, the group or the others, the first that fits; uid 0 may everything but execute what nobody
 * may. */
bool attributes_may(const struct inode *inode, const struct fs_who *who, unsigned want);

/* As attributes_may, but the owner may always read and write the data: NFSv3 has no OPEN, the check was made by the
 * client when it opened the file (RFC 1813 4.4). Who may execute a file may read it, for its pages are read that way.
 */
bool attributes_may_io(const struct inode *inode, const struct fs_who *who, unsigned want);

bool attributes_in_group(const struct fs_who *who, uint32_t gid);

/* Access bits (enum fs_access) of `want` that are granted. */
uint32_t attributes_access(const struct inode *inode, const struct fs_who *who, uint32_t want);

void attributes_fill(const struct inode *inode, uint32_t fileid, uint64_t used_bytes, struct fs_attributes *out);

/* May `who` change these attributes? FS_OK, FS_PERM or FS_ACCES. */
enum fs_status attributes_may_set(const struct inode *inode, const struct fs_who *who, const struct fs_set *set);

/* Everything but the size. */
void attributes_set(struct inode *inode, const struct fs_set *set, struct fs_time now, bool is_root);

static inline void attributes_set_atime(struct inode *inode, struct fs_time t)
{
    atomic_store_explicit(&inode->atime, (uint64_t)t.seconds << 32 | t.nseconds, memory_order_relaxed);
}

#endif
