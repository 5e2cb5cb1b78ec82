#include "nfs3_wire.h"

#include <assert.h>
#include <string.h>

#define HANDLE_MAGIC 0x6e667363u

static_assert((int)FS_OK == (int)NFS3_OK && (int)FS_STALE == (int)NFS3ERR_STALE &&
                  (int)FS_BADTYPE == (int)NFS3ERR_BADTYPE && (int)FS_NOT_SYNC == (int)NFS3ERR_NOT_SYNC,
              "statuses go on the wire as they are");
static_assert((int)FS_REG == (int)NF3REG && (int)FS_FIFO == (int)NF3FIFO, "and so do types");
static_assert((int)FS_ACCESS_EXECUTE == ACCESS3_EXECUTE && (int)FS_ACCESS_READ == ACCESS3_READ, "and access bits");
static_assert((int)FS_TIME_NOW == (int)SET_TO_SERVER_TIME && (int)FS_TIME_GIVEN == (int)SET_TO_CLIENT_TIME,
              "and ways of setting times");

void nfs3_wire_put_handle(struct fs_handle handle, uint64_t instance, uint8_t out[static NFS3_WIRE_HANDLE_BYTES])
{
    uint32_t magic = HANDLE_MAGIC;
    memcpy(out, &magic, 4);
    memcpy(out + 4, &instance, 8);
    memcpy(out + 12, &handle.fileid, 4);
    memcpy(out + 16, &handle.generation, 4);
}

enum fs_status nfs3_wire_get_handle(const nfs_fh3 *fh, uint64_t instance, struct fs_handle *handle)
{
    uint32_t magic = 0;
    uint64_t of_instance = 0;
    if (fh->data.data_len != NFS3_WIRE_HANDLE_BYTES) {
        return FS_BADHANDLE;
    }
    memcpy(&magic, fh->data.data_val, 4);
    memcpy(&of_instance, fh->data.data_val + 4, 8);
    memcpy(&handle->fileid, fh->data.data_val + 12, 4);
    memcpy(&handle->generation, fh->data.data_val + 16, 4);
    if (magic != HANDLE_MAGIC) {
        return FS_BADHANDLE;
    }
    return of_instance == instance ? FS_OK : FS_STALE;
}

static nfstime3 wire_time(struct fs_time t)
{
    return (nfstime3){.seconds = t.seconds, .nseconds = t.nseconds};
}

void nfs3_wire_attributes(const struct fs_attributes *in, uint64_t fsid, fattr3 *out)
{
    *out = (fattr3){
        .type = (ftype3)in->type,
        .mode = in->mode,
        .nlink = in->nlink,
        .uid = in->uid,
        .gid = in->gid,
        .size = in->size,
        .used = in->used,
        .rdev = {.specdata1 = in->rdev_major, .specdata2 = in->rdev_minor},
        .fsid = fsid,
        .fileid = in->fileid,
        .atime = wire_time(in->atime),
        .mtime = wire_time(in->mtime),
        .ctime = wire_time(in->ctime),
    };
}

void nfs3_wire_wcc(const struct fs_wcc *in, uint64_t fsid, wcc_data *out)
{
    out->before.attributes_follow = in->has_before;
    if (in->has_before) {
        out->before.pre_op_attr_u.attributes = (wcc_attr){
            .size = in->before.size, .mtime = wire_time(in->before.mtime), .ctime = wire_time(in->before.ctime)};
    }
    out->after.attributes_follow = in->has_after;
    if (in->has_after) {
        nfs3_wire_attributes(&in->after, fsid, &out->after.post_op_attr_u.attributes);
    }
}

/* False for a time that is none. */
static bool get_time(const set_time3 *in, struct fs_time *out)
{
    if (in->set_it == SET_TO_CLIENT_TIME) {
        *out = (struct fs_time){.seconds = in->set_time3_u.time.seconds, .nseconds = in->set_time3_u.time.nseconds};
    }
    return (unsigned)in->set_it <= SET_TO_CLIENT_TIME && out->nseconds < 1000000000u;
}

enum fs_status nfs3_wire_get_set(const sattr3 *in, struct fs_set *out)
{
    memset(out, 0, sizeof *out);
    out->has_mode = in->mode.set_it;
    out->mode = out->has_mode ? in->mode.set_uint32_u.value : 0;
    out->has_uid = in->uid.set_it;
    out->uid = out->has_uid ? in->uid.set_uint32_u.value : 0;
    out->has_gid = in->gid.set_it;
    out->gid = out->has_gid ? in->gid.set_uint32_u.value : 0;
    out->has_size = in->size.set_it;
    out->size = out->has_size ? in->size.set_size3_u.size : 0;
    if (!get_time(&in->atime, &out->atime) || !get_time(&in->mtime, &out->mtime)) {
        return FS_INVAL;
    }
    out->atime_how = (enum fs_time_how)in->atime.set_it;
    out->mtime_how = (enum fs_time_how)in->mtime.set_it;
    return FS_OK;
}

struct fs_name nfs3_wire_name(const filename3 *in)
{
    return (struct fs_name){.text = in->filename3_val, .len = in->filename3_len};
}

uint64_t nfs3_wire_get_verifier(const char verifier[static NFS3_WRITEVERFSIZE])
{
    uint64_t value;
    memcpy(&value, verifier, sizeof value);
    return value;
}

void nfs3_wire_put_verifier(uint64_t verifier, char out[static NFS3_WRITEVERFSIZE])
{
    memcpy(out, &verifier, sizeof verifier);
}
