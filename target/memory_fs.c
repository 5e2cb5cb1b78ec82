/* memory_fs.c - life, locking, and the procedures on one file; names are in memory_fs_names.c, data in memory_fs_io.c.
 */
#include "memory_fs.h"
#include "memory_fs_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct memory_fs *memory_fs_create(const struct memory_fs_options *options)
{
    struct memory_fs *fs = calloc(1, sizeof *fs);
    if (!fs) {
        return NULL;
    }
    fs->options = *options;
    fs->verifier = options->verifier;
    pthread_rwlock_init(&fs->lock, NULL);
    fs->inodes = inode_table_create(options->max_files);
    fs->synth = options->is_synth ? synth_data_create() : NULL;
    if (!fs->inodes || (options->is_synth && !fs->synth)) {
        memory_fs_destroy(fs);
        return NULL;
    }
    return fs;
}

static void free_contents(struct memory_fs *fs, struct inode *inode)
{
    if (inode->type == FS_DIR) {
        directory_destroy(inode->directory);
    } else if (inode->type == FS_LNK) {
        free(inode->symlink);
    } else if (inode->type == FS_REG && !fs->synth) {
        if (inode->data) {
            fs->held_bytes -= file_data_bytes(inode->data);
        }
        file_data_destroy(inode->data);
    } else if (inode->type == FS_REG) {
        fs->held_bytes -= inode->size;
    }
}

void memory_fs_destroy(struct memory_fs *fs)
{
    if (!fs) {
        return;
    }
    if (fs->inodes) {
        for (uint32_t i = 1; i < inode_table_end(fs->inodes); i++) {
            struct inode *inode = inode_get(fs->inodes, i);
            if (inode) {
                free_contents(fs, inode);
            }
        }
        inode_table_destroy(fs->inodes);
    }
    synth_data_destroy(fs->synth);
    pthread_rwlock_destroy(&fs->lock);
    free(fs);
}

void memory_fs_lock_read(struct memory_fs *fs)
{
    if (fs->options.is_threaded) {
        pthread_rwlock_rdlock(&fs->lock);
    }
}

void memory_fs_lock_write(struct memory_fs *fs)
{
    if (fs->options.is_threaded) {
        pthread_rwlock_wrlock(&fs->lock);
    }
}

void memory_fs_unlock(struct memory_fs *fs)
{
    if (fs->options.is_threaded) {
        pthread_rwlock_unlock(&fs->lock);
    }
}

struct inode *memory_fs_inode(const struct memory_fs *fs, struct fs_handle handle)
{
    struct inode *inode = inode_get(fs->inodes, handle.fileid);
    return inode && inode->generation == handle.generation ? inode : NULL;
}

static uint64_t used_bytes(const struct memory_fs *fs, const struct inode *inode)
{
    switch (inode->type) {
    case FS_REG:
        if (fs->synth) {
            return (inode->size + 4095) & ~UINT64_C(4095);
        }
        return inode->data ? file_data_bytes(inode->data) : 0;
    case FS_DIR:
        return directory_bytes(inode->directory);
    default:
        return 0;
    }
}

void memory_fs_fill(const struct memory_fs *fs, const struct inode *inode, uint32_t fileid, struct fs_attributes *out)
{
    attributes_fill(inode, fileid, used_bytes(fs, inode), out);
    if (inode->type == FS_DIR) {
        out->size = 4096 + 32 * (uint64_t)directory_count(inode->directory);
    }
}

void memory_fs_fill_object(const struct memory_fs *fs, const struct inode *inode, uint32_t fileid,
                           struct fs_object *object)
{
    object->has_attributes = true;
    memory_fs_fill(fs, inode, fileid, &object->attributes);
}

void memory_fs_note_before(const struct inode *inode, struct fs_wcc *wcc)
{
    wcc->has_before = true;
    wcc->before.size = inode->type == FS_DIR ? 4096 + 32 * (uint64_t)directory_count(inode->directory) : inode->size;
    wcc->before.mtime = inode->mtime;
    wcc->before.ctime = inode->ctime;
}

void memory_fs_note_after(const struct memory_fs *fs, const struct inode *inode, uint32_t fileid, struct fs_wcc *wcc)
{
    wcc->has_after = true;
    memory_fs_fill(fs, inode, fileid, &wcc->after);
}

int memory_fs_add_root(struct memory_fs *fs, uint32_t mode, struct fs_handle *root)
{
    uint32_t fileid;
    struct inode *inode = inode_alloc(fs->inodes, &fileid);
    if (!inode) {
        return -ENOMEM;
    }
    inode->directory = directory_create(fileid);
    if (!inode->directory) {
        inode_free(fs->inodes, fileid);
        return -ENOMEM;
    }
    struct fs_time now = fs_now();
    inode->type = FS_DIR;
    inode->mode = (uint16_t)(mode & 07777);
    inode->nlink = 2;
    inode->mtime = inode->ctime = now;
    attributes_set_atime(inode, now);
    *root = (struct fs_handle){.fileid = fileid, .generation = inode->generation};
    return 0;
}

void memory_fs_drop_link(struct memory_fs *fs, struct inode *inode, uint32_t fileid, struct fs_time now)
{
    inode->ctime = now;
    /* A directory has a name and its own ".": both go together. */
    inode->nlink -= inode->type == FS_DIR ? inode->nlink : 1;
    if (inode->nlink == 0) {
        free_contents(fs, inode);
        inode_free(fs->inodes, fileid);
    }
}

enum fs_status memory_fs_may_grow(const struct memory_fs *fs, const struct inode *inode, uint64_t size)
{
    if (size > FS_MAX_FILE_BYTES) {
        return FS_FBIG;
    }
    if (fs->synth && size > inode->size && fs->held_bytes + (size - inode->size) > fs->options.capacity_bytes) {
        return FS_NOSPC;
    }
    return FS_OK;
}

void memory_fs_resize(struct memory_fs *fs, struct inode *inode, uint64_t size)
{
    if (fs->synth) {
        fs->held_bytes += size - inode->size;
    } else if (inode->data && size < inode->size) {
        fs->held_bytes += (uint64_t)file_data_truncate(inode->data, size);
    }
    inode->size = size;
}

enum fs_status memory_fs_getattr(struct memory_fs *fs, struct fs_handle file, struct fs_attributes *out)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_read(fs);
    const struct inode *inode = memory_fs_inode(fs, file);
    if (inode) {
        memory_fs_fill(fs, inode, file.fileid, out);
        status = FS_OK;
    }
    memory_fs_unlock(fs);
    return status;
}

static enum fs_status set_locked(struct memory_fs *fs, const struct fs_who *who, struct inode *inode,
                                 const struct fs_set *set, const struct fs_time *guard)
{
    if (fs->options.is_read_only) {
        return FS_ROFS;
    }
    if (guard && (guard->seconds != inode->ctime.seconds || guard->nseconds != inode->ctime.nseconds)) {
        return FS_NOT_SYNC;
    }
    enum fs_status status = attributes_may_set(inode, who, set);
    if (status != FS_OK) {
        return status;
    }
    struct fs_time now = fs_now();
    if (set->has_size) {
        if (inode->type != FS_REG) {
            return inode->type == FS_DIR ? FS_ISDIR : FS_INVAL;
        }
        status = memory_fs_may_grow(fs, inode, set->size);
        if (status != FS_OK) {
            return status;
        }
        if (set->size != inode->size) {
            inode->mtime = now;
        }
        memory_fs_resize(fs, inode, set->size);
    }
    attributes_set(inode, set, now, who->uid == 0);
    return FS_OK;
}

enum fs_status memory_fs_setattr(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file,
                                 const struct fs_set *set, const struct fs_time *guard, struct fs_wcc *wcc)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_write(fs);
    struct inode *inode = memory_fs_inode(fs, file);
    if (inode) {
        memory_fs_note_before(inode, wcc);
        status = set_locked(fs, who, inode, set, guard);
        memory_fs_note_after(fs, inode, file.fileid, wcc);
    }
    memory_fs_unlock(fs);
    return status;
}

enum fs_status memory_fs_access(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file, uint32_t want,
                                uint32_t *granted, struct fs_object *object)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_read(fs);
    const struct inode *inode = memory_fs_inode(fs, file);
    if (inode) {
        *granted = attributes_access(inode, who, want);
        if (fs->options.is_read_only) {
            *granted &= ~(uint32_t)(FS_ACCESS_MODIFY | FS_ACCESS_EXTEND | FS_ACCESS_DELETE);
        }
        memory_fs_fill_object(fs, inode, file.fileid, object);
        status = FS_OK;
    }
    memory_fs_unlock(fs);
    return status;
}

enum fs_status memory_fs_readlink(struct memory_fs *fs, struct fs_handle link, char path[static FS_PATH_MAX],
                                  uint32_t *len, struct fs_object *object)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_read(fs);
    const struct inode *inode = memory_fs_inode(fs, link);
    if (inode) {
        memory_fs_fill_object(fs, inode, link.fileid, object);
        status = inode->type == FS_LNK ? FS_OK : FS_INVAL;
        if (status == FS_OK) {
            *len = (uint32_t)inode->size;
            memcpy(path, inode->symlink, inode->size);
        }
    }
    memory_fs_unlock(fs);
    return status;
}

enum fs_status memory_fs_stat(struct memory_fs *fs, struct fs_handle file, struct fs_space *space,
                              struct fs_object *object)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_read(fs);
    const struct inode *inode = memory_fs_inode(fs, file);
    if (inode) {
        status = FS_OK;
        memory_fs_fill_object(fs, inode, file.fileid, object);
        if (space) {
            uint64_t capacity = fs->options.capacity_bytes;
            *space = (struct fs_space){
                .total_bytes = capacity,
                .free_bytes = capacity > fs->held_bytes ? capacity - fs->held_bytes : 0,
                .total_files = fs->options.max_files,
                .free_files = fs->options.max_files - inode_table_count(fs->inodes),
            };
        }
    }
    memory_fs_unlock(fs);
    return status;
}
