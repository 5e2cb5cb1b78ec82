/* memory_fs_links.c - procedures that give a file another name: RENAME and LINK. */
#include "memory_fs_internal.h"

/* Is the directory `fileid` the directory `above` or somewhere below it? */
static bool is_below(const struct memory_fs *fs, uint32_t fileid, uint32_t above)
{
    while (fileid != above) {
        uint32_t parent = directory_parent(inode_get(fs->inodes, fileid)->directory);
        if (parent == fileid) {
            return false;
        }
        fileid = parent;
    }
    return true;
}

static enum fs_status rename_locked(struct memory_fs *fs, const struct fs_who *who, struct inode *from_dir,
                                    struct fs_name from, struct inode *to_dir, uint32_t to_dir_fileid,
                                    struct fs_name to)
{
    uint32_t fileid = 0, replaced_fileid = 0;
    enum fs_status status = memory_fs_check_change(fs, who, from_dir, from, &fileid);
    if (status == FS_OK) {
        status = memory_fs_check_change(fs, who, to_dir, to, &replaced_fileid);
    }
    if (status != FS_OK) {
        return status;
    }
    if (memory_fs_is_dot(from) || memory_fs_is_dot_dot(from) || memory_fs_is_dot(to) || memory_fs_is_dot_dot(to)) {
        return FS_INVAL;
    }
    if (fileid == 0) {
        return FS_NOENT;
    }
    if (fileid == replaced_fileid) {
        return FS_OK; /* RFC 1813 3.3.14: two names of one file, nothing is done */
    }
    struct inode *inode = inode_get(fs->inodes, fileid);
    struct inode *replaced = inode_get(fs->inodes, replaced_fileid);
    bool is_directory = inode->type == FS_DIR;
    if (!memory_fs_may_unlink(from_dir, inode, who) || (replaced && !memory_fs_may_unlink(to_dir, replaced, who))) {
        return FS_PERM;
    }
    if (is_directory && is_below(fs, to_dir_fileid, fileid)) {
        return FS_INVAL;
    }
    /* RFC 1813 3.3.14: an object of the other kind, or a directory that is not empty, is NFS3ERR_EXIST. */
    if (replaced &&
        (is_directory != (replaced->type == FS_DIR) || (is_directory && directory_count(replaced->directory) > 0))) {
        return FS_EXIST;
    }
    if (replaced) {
        directory_replace(to_dir->directory, to, fileid);
    } else if (directory_add(to_dir->directory, to, fileid) < 0) {
        return FS_NOSPC;
    }
    directory_remove(from_dir->directory, from);

    struct fs_time now = fs_now();
    if (is_directory) {
        directory_set_parent(inode->directory, to_dir_fileid);
        from_dir->nlink--;
        to_dir->nlink += replaced ? 0 : 1;
    }
    inode->ctime = now;
    memory_fs_touch(from_dir, now);
    memory_fs_touch(to_dir, now);
    if (replaced) {
        memory_fs_drop_link(fs, replaced, replaced_fileid, now);
    }
    return FS_OK;
}

enum fs_status memory_fs_rename(struct memory_fs *fs, const struct fs_who *who, struct fs_handle from_dir,
                                struct fs_name from, struct fs_handle to_dir, struct fs_name to,
                                struct fs_wcc *from_wcc, struct fs_wcc *to_wcc)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_write(fs);
    struct inode *source = memory_fs_inode(fs, from_dir), *target = memory_fs_inode(fs, to_dir);
    if (source) {
        memory_fs_note_before(source, from_wcc);
    }
    if (target) {
        memory_fs_note_before(target, to_wcc);
    }
    if (source && target) {
        status = rename_locked(fs, who, source, from, target, to_dir.fileid, to);
    }
    if (source) {
        memory_fs_note_after(fs, source, from_dir.fileid, from_wcc);
    }
    if (target) {
        memory_fs_note_after(fs, target, to_dir.fileid, to_wcc);
    }
    memory_fs_unlock(fs);
    return status;
}

static enum fs_status link_locked(struct memory_fs *fs, const struct fs_who *who, struct inode *inode, uint32_t fileid,
                                  struct inode *parent, struct fs_name name)
{
    uint32_t there = 0;
    enum fs_status status = memory_fs_check_change(fs, who, parent, name, &there);
    if (status != FS_OK) {
        return status;
    }
    if (there != 0 || memory_fs_is_dot(name) || memory_fs_is_dot_dot(name)) {
        return FS_EXIST;
    }
    if (inode->type == FS_DIR) {
        return FS_ISDIR;
    }
    if (inode->nlink >= FS_LINK_MAX) {
        return FS_MLINK;
    }
    if (directory_add(parent->directory, name, fileid) < 0) {
        return FS_NOSPC;
    }
    struct fs_time now = fs_now();
    inode->nlink++;
    inode->ctime = now;
    memory_fs_touch(parent, now);
    return FS_OK;
}

enum fs_status memory_fs_link(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file,
                              struct fs_handle dir, struct fs_name name, struct fs_object *object,
                              struct fs_wcc *dir_wcc)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_write(fs);
    struct inode *inode = memory_fs_inode(fs, file), *parent = memory_fs_inode(fs, dir);
    if (parent) {
        memory_fs_note_before(parent, dir_wcc);
    }
    if (inode && parent) {
        status = link_locked(fs, who, inode, file.fileid, parent, name);
    }
    if (inode) {
        memory_fs_fill_object(fs, inode, file.fileid, object);
    }
    if (parent) {
        memory_fs_note_after(fs, parent, dir.fileid, dir_wcc);
    }
    memory_fs_unlock(fs);
    return status;
}
