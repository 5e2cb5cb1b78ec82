/* memory_fs_names.c - procedures on names: LOOKUP, the creating ones, REMOVE, RMDIR, RENAME, LINK, READDIR. */
#include "memory_fs_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_dot(struct fs_name name)
{
    return name.len == 1 && name.text[0] == '.';
}

static bool is_dot_dot(struct fs_name name)
{
    return name.len == 2 && name.text[0] == '.' && name.text[1] == '.';
}

static enum fs_status check_name(struct fs_name name)
{
    if (name.len > FS_NAME_MAX) {
        return FS_NAMETOOLONG;
    }
    if (name.len == 0 || memchr(name.text, '/', name.len) || memchr(name.text, 0, name.len)) {
        return FS_INVAL;
    }
    return FS_OK;
}

/* The directory of a handle, in which `who` may do `want`. */
static enum fs_status check_dir(const struct inode *dir, const struct fs_who *who, unsigned want)
{
    if (dir->type != FS_DIR) {
        return FS_NOTDIR;
    }
    return attributes_may(dir, who, want) ? FS_OK : FS_ACCES;
}

/* Number of the file that a name means, "." and ".." included; 0: none. */
static uint32_t resolve(const struct inode *dir, uint32_t dir_fileid, struct fs_name name)
{
    if (is_dot(name)) {
        return dir_fileid;
    }
    if (is_dot_dot(name)) {
        return directory_parent(dir->directory);
    }
    return directory_find(dir->directory, name);
}

static struct fs_handle handle_of(const struct inode *inode, uint32_t fileid)
{
    return (struct fs_handle){.fileid = fileid, .generation = inode->generation};
}

static void touch_dir(struct inode *dir, struct fs_time now)
{
    dir->mtime = dir->ctime = now;
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
    status = check_dir(parent, who, MAY_EXECUTE);
    if (status == FS_OK) {
        status = check_name(name);
    }
    if (status != FS_OK) {
        goto out;
    }
    uint32_t fileid = resolve(parent, dir.fileid, name);
    const struct inode *inode = inode_get(fs->inodes, fileid);
    status = inode ? FS_OK : FS_NOENT;
    if (inode) {
        *found = handle_of(inode, fileid);
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
    enum fs_status status = check_dir(parent, who, MAY_WRITE | MAY_EXECUTE);
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
    touch_dir(parent, inode->ctime);
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
    status = check_dir(parent, who, MAY_EXECUTE);
    if (status == FS_OK) {
        status = check_name(name);
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
            *made = handle_of(inode, fileid);
            memory_fs_fill_object(fs, inode, fileid, object);
        }
    }
    memory_fs_note_after(fs, parent, dir.fileid, dir_wcc);
out:
    memory_fs_unlock(fs);
    return status;
}

/* May `who` take this name out of the directory? In a sticky directory only the owners may. */
static bool may_unlink(const struct inode *parent, const struct inode *inode, const struct fs_who *who)
{
    return !(parent->mode & S_ISVTX) || who->uid == 0 || who->uid == parent->uid || who->uid == inode->uid;
}

/* What the changing procedures check about a directory and a name in it, and the file that the name means. */
static enum fs_status check_change(struct memory_fs *fs, const struct fs_who *who, const struct inode *parent,
                                   struct fs_name name, uint32_t *fileid)
{
    enum fs_status status = check_dir(parent, who, MAY_WRITE | MAY_EXECUTE);
    if (status == FS_OK) {
        status = check_name(name);
    }
    if (status == FS_OK && fs->options.is_read_only) {
        status = FS_ROFS;
    }
    if (status == FS_OK) {
        *fileid = directory_find(parent->directory, name);
    }
    return status;
}

static enum fs_status remove_locked(struct memory_fs *fs, const struct fs_who *who, struct inode *parent,
                                    struct fs_name name, bool is_rmdir)
{
    if (parent->type == FS_DIR && is_rmdir && is_dot(name)) {
        return FS_INVAL;
    }
    if (parent->type == FS_DIR && is_rmdir && is_dot_dot(name)) {
        return FS_EXIST;
    }
    uint32_t fileid = 0;
    enum fs_status status = check_change(fs, who, parent, name, &fileid);
    if (status != FS_OK) {
        return status;
    }
    if (is_dot(name) || is_dot_dot(name)) {
        return FS_ISDIR;
    }
    if (fileid == 0) {
        return FS_NOENT;
    }
    struct inode *inode = inode_get(fs->inodes, fileid);
    if (!may_unlink(parent, inode, who)) {
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
    touch_dir(parent, now);
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
    enum fs_status status = check_change(fs, who, from_dir, from, &fileid);
    if (status == FS_OK) {
        status = check_change(fs, who, to_dir, to, &replaced_fileid);
    }
    if (status != FS_OK) {
        return status;
    }
    if (is_dot(from) || is_dot_dot(from) || is_dot(to) || is_dot_dot(to)) {
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
    if (!may_unlink(from_dir, inode, who) || (replaced && !may_unlink(to_dir, replaced, who))) {
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
    touch_dir(from_dir, now);
    touch_dir(to_dir, now);
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
    enum fs_status status = check_change(fs, who, parent, name, &there);
    if (status != FS_OK) {
        return status;
    }
    if (there != 0 || is_dot(name) || is_dot_dot(name)) {
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
    touch_dir(parent, now);
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

static bool emit_one(const struct memory_fs *fs, const struct directory_entry *entry, bool with_attributes,
                     bool (*emit)(void *arg, const struct fs_entry *entry), void *arg)
{
    const struct inode *inode = inode_get(fs->inodes, entry->fileid);
    struct fs_entry out;
    out.cookie = entry->cookie;
    out.name = entry->name;
    out.fileid = entry->fileid;
    out.handle = handle_of(inode, entry->fileid);
    out.object.has_attributes = false;
    if (with_attributes) {
        memory_fs_fill_object(fs, inode, entry->fileid, &out.object);
    }
    return emit(arg, &out);
}

static bool list_locked(const struct memory_fs *fs, const struct inode *dir, uint32_t dir_fileid, uint64_t cookie,
                        bool with_attributes, bool (*emit)(void *arg, const struct fs_entry *entry), void *arg)
{
    struct directory_entry dot = {DIRECTORY_COOKIE_DOT, dir_fileid, {".", 1}};
    struct directory_entry dot_dot = {DIRECTORY_COOKIE_DOT_DOT, directory_parent(dir->directory), {"..", 2}};
    if (cookie < dot.cookie && !emit_one(fs, &dot, with_attributes, emit, arg)) {
        return false;
    }
    if (cookie < dot_dot.cookie && !emit_one(fs, &dot_dot, with_attributes, emit, arg)) {
        return false;
    }
    struct directory_entry entry;
    while (directory_next(dir->directory, cookie, &entry)) {
        if (!emit_one(fs, &entry, with_attributes, emit, arg)) {
            return false;
        }
        cookie = entry.cookie;
    }
    return true;
}

enum fs_status memory_fs_list(struct memory_fs *fs, const struct fs_who *who, struct fs_handle dir, uint64_t cookie,
                              uint64_t verifier, bool with_attributes,
                              bool (*emit)(void *arg, const struct fs_entry *entry), void *arg, bool *is_eof,
                              uint64_t *verifier_out, struct fs_object *dir_object)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_read(fs);
    struct inode *inode = memory_fs_inode(fs, dir);
    if (!inode) {
        goto out;
    }
    memory_fs_fill_object(fs, inode, dir.fileid, dir_object);
    status = check_dir(inode, who, MAY_READ);
    /* Cookies never lose their meaning here, so the verifier is the same for the life of a directory. */
    *verifier_out = fs->options.verifier ^ ((uint64_t)dir.generation << 32 | dir.fileid);
    if (status == FS_OK && cookie != 0 && verifier != *verifier_out) {
        status = FS_BAD_COOKIE;
    }
    if (status == FS_OK) {
        *is_eof = list_locked(fs, inode, dir.fileid, cookie, with_attributes, emit, arg);
        attributes_set_atime(inode, fs_now());
    }
out:
    memory_fs_unlock(fs);
    return status;
}
