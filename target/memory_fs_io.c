/* memory_fs_io.c - READ, WRITE and COMMIT. */
#include "memory_fs_internal.h"

#include <string.h>

static enum fs_status check_regular(const struct inode *inode)
{
    if (inode->type == FS_REG) {
        return FS_OK;
    }
    return inode->type == FS_DIR ? FS_ISDIR : FS_INVAL;
}

static enum fs_status read_locked(struct memory_fs *fs, const struct fs_who *who, struct inode *inode, uint32_t fileid,
                                  uint64_t offset, uint32_t count, struct fs_read *out)
{
    enum fs_status status = check_regular(inode);
    if (status != FS_OK) {
        return status;
    }
    if (!attributes_may_io(inode, who, MAY_READ)) {
        return FS_ACCES;
    }
    uint64_t left = offset < inode->size ? inode->size - offset : 0;
    out->count = count < left ? count : (uint32_t)left;
    out->is_eof = offset + out->count >= inode->size;
    if (out->count > 0 && fs->synth) {
        out->segments[0] = (struct rpc_segment){.data = synth_data_at(fs->synth, fileid, offset), .bytes = out->count};
        out->n_segments = 1;
    } else {
        out->n_segments = file_data_read(inode->data, offset, out->count, out->segments);
    }
    attributes_set_atime(inode, fs_now());
    return FS_OK;
}

enum fs_status memory_fs_read(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file, uint64_t offset,
                              uint32_t count, struct fs_read *out, struct fs_object *object)
{
    enum fs_status status = FS_STALE;
    out->count = out->n_segments = 0;
    memory_fs_lock_read(fs);
    struct inode *inode = memory_fs_inode(fs, file);
    if (inode) {
        status = read_locked(fs, who, inode, file.fileid, offset, count, out);
        memory_fs_fill_object(fs, inode, file.fileid, object);
    }
    memory_fs_unlock(fs);
    return status;
}

static enum fs_status store(struct memory_fs *fs, struct inode *inode, uint64_t offset, const uint8_t *data, uint32_t n,
                            bool is_unstable)
{
    if (fs->held_bytes + n > fs->options.capacity_bytes) {
        return FS_NOSPC;
    }
    if (!inode->data) {
        inode->data = file_data_create();
        if (!inode->data) {
            return FS_NOSPC;
        }
    }
    int64_t delta = 0;
    int error = file_data_write(inode->data, offset, data, n, &delta);
    fs->held_bytes += (uint64_t)delta;
    if (error) {
        return FS_NOSPC;
    }
    if (is_unstable) {
        file_data_note_unstable(inode->data, offset, n);
        fs->n_unstable_writes++;
    } else {
        file_data_commit(inode->data, offset, n);
    }
    return FS_OK;
}

static enum fs_status write_locked(struct memory_fs *fs, const struct fs_who *who, struct inode *inode, uint64_t offset,
                                   const uint8_t *data, uint32_t n, bool is_unstable)
{
    if (fs->options.is_read_only) {
        return FS_ROFS;
    }
    enum fs_status status = check_regular(inode);
    if (status != FS_OK) {
        return status;
    }
    if (!attributes_may_io(inode, who, MAY_WRITE)) {
        return FS_ACCES;
    }
    if (n == 0) {
        return FS_OK; /* RFC 1813 3.3.7: succeeds with a count of 0, barring permissions */
    }
    if (offset + n < offset) {
        return FS_FBIG;
    }
    uint64_t end = offset + n > inode->size ? offset + n : inode->size;
    status = memory_fs_may_grow(fs, inode, end);
    if (status == FS_OK && !fs->synth) {
        status = store(fs, inode, offset, data, n, is_unstable);
    }
    if (status != FS_OK) {
        return status;
    }
    if (end > inode->size) {
        memory_fs_resize(fs, inode, end);
    }
    inode->mtime = inode->ctime = fs_now();
    if (who->uid != 0) {
        inode->mode &= (uint16_t)~06000;
    }
    return FS_OK;
}

enum fs_status memory_fs_write(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file, uint64_t offset,
                               const uint8_t *data, uint32_t n, bool is_unstable, struct fs_wcc *wcc,
                               uint64_t *verifier)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_write(fs);
    struct inode *inode = memory_fs_inode(fs, file);
    if (inode) {
        memory_fs_note_before(inode, wcc);
        status = write_locked(fs, who, inode, offset, data, n, is_unstable);
        memory_fs_note_after(fs, inode, file.fileid, wcc);
    }
    *verifier = fs->verifier;
    memory_fs_unlock(fs);
    return status;
}

enum fs_status memory_fs_commit(struct memory_fs *fs, const struct fs_who *who, struct fs_handle file, uint64_t offset,
                                uint32_t n, struct fs_wcc *wcc, uint64_t *verifier)
{
    enum fs_status status = FS_STALE;
    memory_fs_lock_write(fs);
    struct inode *inode = memory_fs_inode(fs, file);
    if (inode) {
        memory_fs_note_before(inode, wcc);
        status = check_regular(inode);
        if (status == FS_OK && !attributes_may_io(inode, who, MAY_WRITE)) {
            status = FS_ACCES;
        }
        if (status == FS_OK && !fs->synth && inode->data) {
            file_data_commit(inode->data, offset, n);
        }
        memory_fs_note_after(fs, inode, file.fileid, wcc);
    }
    *verifier = fs->verifier;
    memory_fs_unlock(fs);
    return status;
}

uint64_t memory_fs_verifier(const struct memory_fs *fs)
{
    return fs->verifier;
}

uint64_t memory_fs_lose_unstable(struct memory_fs *fs)
{
    uint64_t lost = 0;
    memory_fs_lock_write(fs);
    fs->verifier = fs->verifier * UINT64_C(6364136223846793005) + 1442695040888963407u;
    if (!fs->synth && fs->n_unstable_writes > 0) {
        for (uint32_t i = 1; i < inode_table_end(fs->inodes); i++) {
            struct inode *inode = inode_get(fs->inodes, i);
            if (inode && inode->type == FS_REG && inode->data) {
                uint64_t before = file_data_bytes(inode->data);
                lost += file_data_lose_unstable(inode->data);
                fs->held_bytes += file_data_bytes(inode->data) - before;
            }
        }
        fs->n_unstable_writes = 0;
    }
    memory_fs_unlock(fs);
    return lost;
}
