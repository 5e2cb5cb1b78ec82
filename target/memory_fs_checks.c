/* memory_fs_checks.c - what the procedures on names check first. */
#include "memory_fs_internal.h"

#include <string.h>
#include <sys/stat.h>

bool memory_fs_is_dot(struct fs_name name)
{
    return name.len == 1 && name.text[0] == '.';
}

bool memory_fs_is_dot_dot(struct fs_name name)
{
    return name.len == 2 && name.text[0] == '.' && name.text[1] == '.';
}

enum fs_status memory_fs_check_name(struct fs_name name)
{
    if (name.len > FS_NAME_MAX) {
        return FS_NAMETOOLONG;
    }
    if (name.len == 0 || memchr(name.text, '/', name.len) || memchr(name.text, 0, name.len)) {
        return FS_INVAL;
    }
    return FS_OK;
}

enum fs_status memory_fs_check_dir(const struct inode *dir, const struct fs_who *who, unsigned want)
{
    if (dir->type != FS_DIR) {
        return FS_NOTDIR;
    }
    return attributes_may(dir, who, want) ? FS_OK : FS_ACCES;
}

struct fs_handle memory_fs_handle(const struct inode *inode, uint32_t fileid)
{
    return (struct fs_handle){.fileid = fileid, .generation = inode->generation};
}

void memory_fs_touch(struct inode *dir, struct fs_time now)
{
    dir->mtime = dir->ctime = now;
}

bool memory_fs_may_unlink(const struct inode *parent, const struct inode *inode, const struct fs_who *who)
{
    return !(parent->mode & S_ISVTX) || who->uid == 0 || who->uid == parent->uid || who->uid == inode->uid;
}

enum fs_status memory_fs_check_change(struct memory_fs *fs, const struct fs_who *who, const struct inode *parent,
                                      struct fs_name name, uint32_t *fileid)
{
    enum fs_status status = memory_fs_check_dir(parent, who, MAY_WRITE | MAY_EXECUTE);
    if (status == FS_OK) {
        status = memory_fs_check_name(name);
    }
    if (status == FS_OK && fs->options.is_read_only) {
        status = FS_ROFS;
    }
    if (status == FS_OK) {
        *fileid = directory_find(parent->directory, name);
    }
    return status;
}
