/* memory_fs_list.c - READDIR and READDIRPLUS: the entries of a directory behind a cookie. */
#include "memory_fs_internal.h"

static bool emit_one(const struct memory_fs *fs, const struct directory_entry *entry, bool with_attributes,
                     bool (*emit)(void *arg, const struct fs_entry *entry), void *arg)
{
    const struct inode *inode = inode_get(fs->inodes, entry->fileid);
    struct fs_entry out;
    out.cookie = entry->cookie;
    out.name = entry->name;
    out.fileid = entry->fileid;
    out.handle = memory_fs_handle(inode, entry->fileid);
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
    status = memory_fs_check_dir(inode, who, MAY_READ);
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
