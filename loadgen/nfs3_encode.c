/* nfs3_encode.c - see nfs3_encode.h. */
#include "nfs3_encode.h"

#include "xdr_cursor.h"

#include <assert.h>
#include <errno.h>

static bool is_fh(const struct nfs3_fh *fh)
{
    return fh && fh->len <= NFS3_FH_MAX;
}

static bool is_name(const char *name)
{
    size_t n = name ? strnlen(name, NFS3_NAME_MAX + 1) : 0;
    return n >= 1 && n <= NFS3_NAME_MAX;
}

static bool is_set(const struct nfs3_set *set)
{
    return (unsigned)set->atime_how <= NFS3_TIME_CLIENT && (unsigned)set->mtime_how <= NFS3_TIME_CLIENT;
}

int nfs3_call_check(const struct nfs3_call *call)
{
    bool is_good = call->op == NFS_OP_NULL || is_fh(call->fh);
    switch (call->op) {
    case NFS_OP_NULL:
    case NFS_OP_GETATTR:
    case NFS_OP_ACCESS:
    case NFS_OP_READLINK:
    case NFS_OP_FSSTAT:
    case NFS_OP_FSINFO:
    case NFS_OP_PATHCONF:
    case NFS_OP_COMMIT:
        break;
    case NFS_OP_LOOKUP:
    case NFS_OP_REMOVE:
    case NFS_OP_RMDIR:
        is_good = is_good && is_name(call->name);
        break;
    case NFS_OP_SETATTR:
        is_good = is_good && is_set(&call->setattr.set);
        break;
    case NFS_OP_READ:
        is_good = is_good && call->read.count <= NFS3_TRANSFER_MAX;
        break;
    case NFS_OP_WRITE:
        is_good = is_good && call->write.count <= NFS3_TRANSFER_MAX && (call->write.data || !call->write.count) &&
                  (unsigned)call->write.stable <= NFS3_FILE_SYNC;
        break;
    case NFS_OP_CREATE:
        is_good = is_good && is_name(call->name) && (unsigned)call->create.how <= NFS3_CREATE_EXCLUSIVE &&
                  is_set(&call->create.set);
        break;
    case NFS_OP_MKDIR:
        is_good = is_good && is_name(call->name) && is_set(&call->mkdir.set);
        break;
    case NFS_OP_SYMLINK:
        is_good = is_good && is_name(call->name) && is_set(&call->symlink.set) && call->symlink.path &&
                  strnlen(call->symlink.path, NFS3_PATH_MAX + 1) <= NFS3_PATH_MAX;
        break;
    case NFS_OP_MKNOD:
        is_good = is_good && is_name(call->name) && is_set(&call->mknod.set) && call->mknod.type >= NFS3_REG &&
                  call->mknod.type <= NFS3_FIFO;
        break;
    case NFS_OP_RENAME:
        is_good = is_good && is_name(call->name) && is_fh(call->rename.to_dir) && is_name(call->rename.to_name);
        break;
    case NFS_OP_LINK:
        is_good = is_good && is_fh(call->link.dir) && is_name(call->name);
        break;
    case NFS_OP_READDIR:
        is_good = is_good && call->readdir.count <= NFS3_TRANSFER_MAX;
        break;
    case NFS_OP_READDIRPLUS:
        is_good = is_good && call->readdirplus.maxcount <= NFS3_TRANSFER_MAX;
        break;
    default:
        is_good = false;
    }
    return is_good ? 0 : -EINVAL;
}

/* Copies all that a handle may have, and what follows overwrites the rest: a copy of fixed size is a few instructions,
 * where one of up to 64 bytes becomes rep movs and a tenth of what a call costs. */
static void put_fh(struct xdr_writer *w, const struct nfs3_fh *fh)
{
    xdr_put_u32(w, fh->len);
    uint8_t *p = xdr_room(w, NFS3_FH_MAX);
    if (!p)
        return;
    size_t padded = xdr_padded(fh->len);
    memcpy(p, fh->data, NFS3_FH_MAX);
    for (size_t i = fh->len; i < padded; i++)
        p[i] = 0;
    xdr_give_back(w, NFS3_FH_MAX - padded);
}

static void put_string(struct xdr_writer *w, const char *s)
{
    xdr_put_opaque(w, s, (uint32_t)strlen(s));
}

static void put_optional_u32(struct xdr_writer *w, bool has, uint32_t v)
{
    xdr_put_u32(w, has);
    if (has)
        xdr_put_u32(w, v);
}

static void put_time(struct xdr_writer *w, struct nfs3_time t)
{
    xdr_put_u32(w, t.seconds);
    xdr_put_u32(w, t.nseconds);
}

/* sattr3, RFC 1813 2.6 */
static void put_set(struct xdr_writer *w, const struct nfs3_set *set)
{
    put_optional_u32(w, set->has_mode, set->mode);
    put_optional_u32(w, set->has_uid, set->uid);
    put_optional_u32(w, set->has_gid, set->gid);
    xdr_put_u32(w, set->has_size);
    if (set->has_size)
        xdr_put_u64(w, set->size);
    xdr_put_u32(w, set->atime_how);
    if (set->atime_how == NFS3_TIME_CLIENT)
        put_time(w, set->atime);
    xdr_put_u32(w, set->mtime_how);
    if (set->mtime_how == NFS3_TIME_CLIENT)
        put_time(w, set->mtime);
}

static void put_mknod(struct xdr_writer *w, const struct nfs3_call *call)
{
    uint32_t type = call->mknod.type;
    xdr_put_u32(w, type);
    if (type == NFS3_CHR || type == NFS3_BLK || type == NFS3_SOCK || type == NFS3_FIFO)
        put_set(w, &call->mknod.set);
    if (type == NFS3_CHR || type == NFS3_BLK) {
        xdr_put_u32(w, call->mknod.rdev_major);
        xdr_put_u32(w, call->mknod.rdev_minor);
    }
}

static void put_body(struct xdr_writer *w, const struct nfs3_call *call)
{
    switch (call->op) {
    case NFS_OP_LOOKUP:
    case NFS_OP_REMOVE:
    case NFS_OP_RMDIR:
        put_string(w, call->name);
        break;
    case NFS_OP_SETATTR:
        put_set(w, &call->setattr.set);
        xdr_put_u32(w, call->setattr.has_guard);
        if (call->setattr.has_guard)
            put_time(w, call->setattr.guard_ctime);
        break;
    case NFS_OP_ACCESS:
        xdr_put_u32(w, call->access.access);
        break;
    case NFS_OP_READ:
        xdr_put_u64(w, call->read.offset);
        xdr_put_u32(w, call->read.count);
        break;
    case NFS_OP_WRITE:
        xdr_put_u64(w, call->write.offset);
        xdr_put_u32(w, call->write.count);
        xdr_put_u32(w, call->write.stable);
        xdr_put_u32(w, call->write.count); /* length of the data, which follows by reference */
        break;
    case NFS_OP_CREATE:
        put_string(w, call->name);
        xdr_put_u32(w, call->create.how);
        if (call->create.how == NFS3_CREATE_EXCLUSIVE)
            xdr_put_u64(w, call->create.verifier);
        else
            put_set(w, &call->create.set);
        break;
    case NFS_OP_MKDIR:
        put_string(w, call->name);
        put_set(w, &call->mkdir.set);
        break;
    case NFS_OP_SYMLINK:
        put_string(w, call->name);
        put_set(w, &call->symlink.set);
        put_string(w, call->symlink.path);
        break;
    case NFS_OP_MKNOD:
        put_string(w, call->name);
        put_mknod(w, call);
        break;
    case NFS_OP_RENAME:
        put_string(w, call->name);
        put_fh(w, call->rename.to_dir);
        put_string(w, call->rename.to_name);
        break;
    case NFS_OP_LINK:
        put_fh(w, call->link.dir);
        put_string(w, call->name);
        break;
    case NFS_OP_READDIR:
        xdr_put_u64(w, call->readdir.cookie);
        xdr_put_u64(w, call->readdir.cookie_verifier);
        xdr_put_u32(w, call->readdir.count);
        break;
    case NFS_OP_READDIRPLUS:
        xdr_put_u64(w, call->readdirplus.cookie);
        xdr_put_u64(w, call->readdirplus.cookie_verifier);
        xdr_put_u32(w, call->readdirplus.dircount);
        xdr_put_u32(w, call->readdirplus.maxcount);
        break;
    case NFS_OP_COMMIT:
        xdr_put_u64(w, call->commit.offset);
        xdr_put_u32(w, call->commit.count);
        break;
    default: /* NULL, GETATTR, READLINK, FSSTAT, FSINFO, PATHCONF: nothing behind the handle */
        break;
    }
}

size_t nfs3_encode_args(const struct nfs3_call *call, uint8_t *out)
{
    struct xdr_writer w = xdr_writer_of(out, NFS3_ARGS_MAX);
    if (call->op != NFS_OP_NULL)
        put_fh(&w, call->fh);
    put_body(&w, call);
    assert(!w.is_bad);
    return (size_t)(w.at - out);
}
