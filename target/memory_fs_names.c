/* memory_fs_names.c - procedures on names: LOOKUP, the creating ones, REMOVE, RMDIR. */
#include "memory_fs_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Number of the file that a name means, "." and ".." included; 0: none. */
static uint32_t resolve(const struct inode *dir, uint32_t dir_fileid, struct fs_name name)
{
    if (memory_fs_is_dot(name)) {
        return dir_fileid;
    }
    if (memory_fs_is_dot_dot(name)) {
        return directory_parent(dir->directory);
    }
    return directory_find(dir->directory, name);
}

enum fs_status memory_fs_lookup(struct memory_fs *fs, const struct fs_who *who, struct fs_handle dir,
                                struct fs_name name, struct fs_handle *found, struct fs_object *object,
                                struct fs_object *dir_object)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_read(fs);
    const struct inode *parent = memory_fs_inode(fs, dir);
    if (!parent) {
        goto out;
    }
    memory_fs_fill_object(fs, parent, dir.fileid, dir_object);
    status = memory_fs_check_dir(parent, who, MAY_EXECUTE);
    if (status == FS_OK) {
        status = memory_fs_check_name(name);
    }
    if (status != FS_OK) {
        goto out;
    }
    uint32_t fileid = resolve(parent, dir.fileid, name);
    const struct inode *inode = inode_get(fs->inodes, fileid);
    status = inode ? FS_OK : FS_NOENT;
    if (inode) {
        *found = memory_fs_handle(inode, fileid);
        memory_fs_fill_object(fs, inode, fileid, object);
    }
out:
    memory_fs_unlock(fs);
    return status;
}

/* Puts contents and first attributes into a fresh inode. */
static enum fs_status equip(struct memory_fs *fs, struct inode *inode, const struct fs_who *who,
                            const struct inode *parent, uint32_t parent_fileid, const struct fs_creation *creation)
{
    static const uint16_t default_mode[] = {[FS_REG] = 0644, [FS_DIR] = 0755,  [FS_BLK] = 0644, [FS_CHR] = 0644,
                                            [FS_LNK] = 0777, [FS_SOCK] = 0644, [FS_FIFO] = 0644};
    struct fs_time now = fs_now();
    inode->type = (uint8_t)creation->type;
    inode->mode = default_mode[creation->type];
    inode->uid = who->uid;
    /* A directory with the set-gid bit hands its group on, as on every UNIX server. */
    inode->gid = parent->mode & S_ISGID ? parent->gid : who->gid;
    if (creation->type == FS_DIR && parent->mode & S_ISGID) {
        inode->mode |= S_ISGID;
    }
    inode->mtime = now;
    attributes_set_atime(inode, now);

    switch (creation->type) {
    case FS_DIR:
        inode->directory = directory_create(parent_fileid);
        if (!inode->directory) {
            return FS_NOSPC;
        }
        break;
    case FS_LNK:
        inode->symlink = malloc(creation->target.len + 1);
        if (!inode->symlink) {
            return FS_NOSPC;
        }
        memcpy(inode->symlink, creation->target.text, creation->target.len);
        inode->size = creation->target.len;
        break;
    case FS_CHR:
    case FS_BLK:
        inode->rdev.major = creation->major;
        inode->rdev.minor = creation->minor;
        break;
    default:
        break;
    }
    if (creation->how == FS_CREATE_EXCLUSIVE && creation->type == FS_REG) {
        inode->has_create_verifier = true;
        inode->create_verifier = creation->verifier;
    }

    struct fs_set set = creation->set;
    if (who->uid != 0) {
        /* What SETATTR would refuse is not set either: the creation itself stands. */
        set.has_uid = false;
        set.has_gid = set.has_gid && attributes_in_group(who, set.gid);
    }
    uint64_t size = set.has_size ? set.size : 0;
    attributes_set(inode, &set, now, true);
    if (creation->type == FS_REG && size > 0) {
        enum fs_status status = memory_fs_may_grow(fs, inode, size);
        if (status != FS_OK) {
            return status;
        }
        memory_fs_resize(fs, inode, size);
    }
    return FS_OK;
}

static enum fs_status make_new(struct memory_fs *fs, const struct fs_who *who, struct inode *parent,
                               uint32_t parent_fileid, struct fs_name name, const struct fs_creation *creation,
                               uint32_t *fileid)
{
    enum fs_status status = memory_fs_check_dir(parent, who, MAY_WRITE | MAY_EXECUTE);
    if (status != FS_OK) {
        return status;
    }
    if (creation->type == FS_LNK && creation->target.len > FS_PATH_MAX) {
        return FS_NAMETOOLONG;
    }
    if (creation->type == FS_LNK &&
        (creation->target.len == 0 || memchr(creation->target.text, 0, creation->target.len))) {
        return FS_INVAL;
    }
    struct inode *inode = inode_alloc(fs->inodes, fileid);
    if (!inode) {
        return FS_NOSPC;
    }
    inode->nlink = creation->type == FS_DIR ? 2 : 1;
    status = equip(fs, inode, who, parent, parent_fileid, creation);
    if (status == FS_OK && directory_add(parent->directory, name, *fileid) < 0) {
        status = FS_NOSPC;
    }
    if (status != FS_OK) {
        memory_fs_drop_link(fs, inode, *fileid, inode->mtime);
        return status;
    }
    if (creation->type == FS_DIR) {
        parent->nlink++;
    }
    memory_fs_touch(parent, inode->ctime);
    return FS_OK;
}

/* RFC 1813 3.3.8: what CREATE does about a name that exists. */
static enum fs_status make_existing(struct memory_fs *fs, const struct fs_who *who, struct inode *inode,
                                    const struct fs_creation *creation)
{
    if (creation->type != FS_REG || inode->type != FS_REG) {
        return FS_EXIST;
    }
    switch (creation->how) {
    case FS_CREATE_UNCHECKED:
        break;
    case FS_CREATE_EXCLUSIVE:
        return inode->has_create_verifier && inode->create_verifier == creation->verifier ? FS_OK : FS_EXIST;
    default:
        return FS_EXIST;
    }
    if (creation->set.has_size) {
        if (!attributes_may_io(inode, who, MAY_WRITE)) {
            return FS_ACCES;
        }
        enum fs_status status = memory_fs_may_grow(fs, inode, creation->set.size);
        if (status != FS_OK) {
            return status;
        }
        memory_fs_resize(fs, inode, creation->set.size);
        inode->mtime = inode->ctime = fs_now();
    }
    return FS_OK;
}

enum fs_status memory_fs_make(struct memory_fs *fs, const struct fs_who *who, struct fs_handle dir, struct fs_name name,
                              const struct fs_creation *creation, struct fs_handle *made, struct fs_object *object,
                              struct fs_wcc *dir_wcc)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_write(fs);
    struct inode *parent = memory_fs_inode(fs, dir);
    if (!parent) {
        goto out;
    }
    memory_fs_note_before(parent, dir_wcc);
    status = memory_fs_check_dir(parent, who, MAY_EXECUTE);
    if (status == FS_OK) {
        status = memory_fs_check_name(name);
    }
    if (status == FS_OK && fs->options.is_read_only) {
        status = FS_ROFS;
    }
    if (status == FS_OK) {
        uint32_t fileid = resolve(parent, dir.fileid, name);
        if (fileid != 0) {
            status = make_existing(fs, who, inode_get(fs->inodes, fileid), creation);
        } else {
            status = make_new(fs, who, parent, dir.fileid, name, creation, &fileid);
        }
        if (status == FS_OK) {
            const struct inode *inode = inode_get(fs->inodes, fileid);
            *made = memory_fs_handle(inode, fileid);
            memory_fs_fill_object(fs, inode, fileid, object);
        }
    }
    memory_fs_note_after(fs, parent, dir.fileid, dir_wcc);
out:
    memory_fs_unlock(fs);
    return status;
}

static enum fs_status remove_locked(struct memory_fs *fs, const struct fs_who *who, struct inode *parent,
                                    struct fs_name name, bool is_rmdir)
{
    if (parent->type == FS_DIR && is_rmdir && memory_fs_is_dot(name)) {
        return FS_INVAL;
    }
    if (parent->type == FS_DIR && is_rmdir && memory_fs_is_dot_dot(name)) {
        return FS_EXIST;
    }
    uint32_t fileid = 0;
    enum fs_status status = memory_fs_check_change(fs, who, parent, name, &fileid);
    if (status != FS_OK) {
        return status;
    }
    if (memory_fs_is_dot(name) || memory_fs_is_dot_dot(name)) {
        return FS_ISDIR;
    }
    if (fileid == 0) {
        return FS_NOENT;
    }
    struct inode *inode = inode_get(fs->inodes, fileid);
    if (!memory_fs_may_unlink(parent, inode, who)) {
        return FS_PERM;
    }
    if (is_rmdir != (inode->type == FS_DIR)) {
        return is_rmdir ? FS_NOTDIR : FS_ISDIR;
    }
    if (is_rmdir && directory_count(inode->directory) > 0) {
        return FS_NOTEMPTY;
    }
    struct fs_time now = fs_now();
    directory_remove(parent->directory, name);
    if (is_rmdir) {
        parent->nlink--;
    }
    memory_fs_touch(parent, now);
    memory_fs_drop_link(fs, inode, fileid, now);
    return FS_OK;
}

enum fs_status memory_fs_remove(struct memory_fs *fs, const struct fs_who *who, struct fs_handle dir,
                                struct fs_name name, bool is_rmdir, struct fs_wcc *dir_wcc)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_write(fs);
    struct inode *parent = memory_fs_inode(fs, dir);
    if (parent) {
        memory_fs_note_before(parent, dir_wcc);
        status = remove_locked(fs, who, parent, name, is_rmdir);
        memory_fs_note_after(fs, parent, dir.fileid, dir_wcc);
    }
    memory_fs_unlock(fs);
    return status;
}
