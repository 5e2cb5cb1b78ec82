#include "attributes.h"

#include <sys/stat.h>
#include <time.h>

struct fs_time fs_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (struct fs_time){.seconds = (uint32_t)ts.tv_sec, .nseconds = (uint32_t)ts.tv_nsec};
}

bool attributes_in_group(const struct fs_who *who, uint32_t gid)
{
    if (who->gid == gid) {
        return true;
    }
    for (uint32_t i = 0; i < who->n_gids; i++) {
        if (who->gids[i] == gid) {
            return true;
        }
    }
    return false;
}

static bool is_executable(const struct inode *inode)
{
    return inode->type == FS_DIR || (inode->mode & (S_IXUSR | S_IXGRP | S_IXOTH));
}

bool attributes_may(const struct inode *inode, const struct fs_who *who, unsigned want)
{
    if (who->uid == 0) {
        return !(want & MAY_EXECUTE) || is_executable(inode);
    }
    unsigned bits = inode->mode;
    if (who->uid == inode->uid) {
        bits >>= 6;
    } else if (attributes_in_group(who, inode->gid)) {
        bits >>= 3;
    }
    return (bits & want) == want;
}

bool attributes_may_io(const struct inode *inode, const struct fs_who *who, unsigned want)
{
    if (who->uid == inode->uid || attributes_may(inode, who, want)) {
        return true;
    }
    return want == MAY_READ && attributes_may(inode, who, MAY_EXECUTE);
}

uint32_t attributes_access(const struct inode *inode, const struct fs_who *who, uint32_t want)
{
    uint32_t granted = 0;
    if (attributes_may(inode, who, MAY_READ)) {
        granted |= FS_ACCESS_READ;
    }
    if (attributes_may(inode, who, MAY_WRITE)) {
        granted |= FS_ACCESS_MODIFY | FS_ACCESS_EXTEND;
        if (inode->type == FS_DIR) {
            granted |= FS_ACCESS_DELETE;
        }
    }
    if (attributes_may(inode, who, MAY_EXECUTE)) {
        granted |= inode->type == FS_DIR ? FS_ACCESS_LOOKUP : FS_ACCESS_EXECUTE;
    }
    return granted & want;
}

void attributes_fill(const struct inode *inode, uint32_t fileid, uint64_t used_bytes, struct fs_attributes *out)
{
    uint64_t atime = atomic_load_explicit(&inode->atime, memory_order_relaxed);
    bool is_device = inode->type == FS_BLK || inode->type == FS_CHR;
    *out = (struct fs_attributes){
        .type = inode->type,
        .mode = inode->mode,
        .nlink = inode->nlink,
        .uid = inode->uid,
        .gid = inode->gid,
        .size = inode->size,
        .used = used_bytes,
        .rdev_major = is_device ? inode->rdev.major : 0,
        .rdev_minor = is_device ? inode->rdev.minor : 0,
        .fileid = fileid,
        .atime = {.seconds = (uint32_t)(atime >> 32), .nseconds = (uint32_t)atime},
        .mtime = inode->mtime,
        .ctime = inode->ctime,
    };
}

enum fs_status attributes_may_set(const struct inode *inode, const struct fs_who *who, const struct fs_set *set)
{
    if (who->uid == 0) {
        return FS_OK;
    }
    bool is_owner = who->uid == inode->uid;
    if (set->has_uid && set->uid != inode->uid) {
        return FS_PERM; /* chown_restricted */
    }
    if (set->has_gid && set->gid != inode->gid && !(is_owner && attributes_in_group(who, set->gid))) {
        return FS_PERM;
    }
    if ((set->has_mode || set->atime_how == FS_TIME_GIVEN || set->mtime_how == FS_TIME_GIVEN) && !is_owner) {
        return FS_PERM;
    }
    bool needs_write = set->has_size || set->atime_how == FS_TIME_NOW || set->mtime_how == FS_TIME_NOW;
    if (needs_write && !attributes_may_io(inode, who, MAY_WRITE)) {
        return FS_ACCES;
    }
    return FS_OK;
}

void attributes_set(struct inode *inode, const struct fs_set *set, struct fs_time now, bool is_root)
{
    bool changes_owner = (set->has_uid && set->uid != inode->uid) || (set->has_gid && set->gid != inode->gid);
    if (set->has_uid) {
        inode->uid = set->uid;
    }
    if (set->has_gid) {
        inode->gid = set->gid;
    }
    if (set->has_mode) {
        inode->mode = (uint16_t)(set->mode & 07777);
    } else if (changes_owner && !is_root && inode->type != FS_DIR) {
        inode->mode &= (uint16_t) ~(S_ISUID | S_ISGID);
    }
    if (set->atime_how != FS_TIME_KEEP) {
        attributes_set_atime(inode, set->atime_how == FS_TIME_GIVEN ? set->atime : now);
    }
    if (set->mtime_how != FS_TIME_KEEP) {
        inode->mtime = set->mtime_how == FS_TIME_GIVEN ? set->mtime : now;
    }
    inode->ctime = now;
}
