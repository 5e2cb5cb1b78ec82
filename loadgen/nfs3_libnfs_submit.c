/* nfs3_libnfs_submit.c - neutral calls as libnfs's argument structures. libnfs encodes them before it returns, except
 * WRITE data in version 6, which stays where it is until the reply, as nfs3_client.h promises. */
#include "nfs3_libnfs.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#ifdef LIBNFS_API_V2
#define QUEUE(procedure, args) (rpc_nfs3_##procedure##_task(rpc, cb, args, private_data) ? 0 : -ENOMEM)
#else
#define QUEUE(procedure, args) (rpc_nfs3_##procedure##_async(rpc, cb, args, private_data) == 0 ? 0 : -ENOMEM)
#endif

static nfs_fh3 fh_of(const struct nfs3_fh *fh)
{
    nfs_fh3 out = {.data = {.data_len = fh->len, .data_val = (char *)(uintptr_t)fh->data}};
    return out;
}

static char *text_of(const char *s)
{
    return (char *)(uintptr_t)s; /* libnfs reads it only */
}

static diropargs3 name_in(const struct nfs3_fh *dir, const char *name)
{
    diropargs3 out = {.dir = fh_of(dir), .name = text_of(name)};
    return out;
}

static sattr3 set_of(const struct nfs3_set *set)
{
    sattr3 out;
    memset(&out, 0, sizeof out);
    out.mode.set_it = set->has_mode;
    out.mode.set_mode3_u.mode = set->mode;
    out.uid.set_it = set->has_uid;
    out.uid.set_uid3_u.uid = set->uid;
    out.gid.set_it = set->has_gid;
    out.gid.set_gid3_u.gid = set->gid;
    out.size.set_it = set->has_size;
    out.size.set_size3_u.size = set->size;
    out.atime.set_it = (time_how)set->atime_how;
    out.atime.set_atime_u.atime.seconds = set->atime.seconds;
    out.atime.set_atime_u.atime.nseconds = set->atime.nseconds;
    out.mtime.set_it = (time_how)set->mtime_how;
    out.mtime.set_mtime_u.mtime.seconds = set->mtime.seconds;
    out.mtime.set_mtime_u.mtime.nseconds = set->mtime.nseconds;
    return out;
}

static void store_verifier(char out[8], uint64_t v)
{
    v = htobe64(v);
    memcpy(out, &v, sizeof v);
}

static int submit_read(struct rpc_context *rpc, rpc_cb cb, struct nfs3_call *call, void *buffer, void *private_data)
{
    READ3args args = {.file = fh_of(call->fh), .offset = call->read.offset, .count = call->read.count};
#ifdef LIBNFS_API_V2
    return rpc_nfs3_read_task(rpc, cb, buffer, call->read.count, &args, private_data) ? 0 : -ENOMEM;
#else
    (void)buffer;
    return QUEUE(read, &args);
#endif
}

static int submit_write(struct rpc_context *rpc, rpc_cb cb, struct nfs3_call *call, void *private_data)
{
    WRITE3args args = {.file = fh_of(call->fh),
                       .offset = call->write.offset,
                       .count = call->write.count,
                       .stable = (stable_how)call->write.stable,
                       .data = {.data_len = call->write.count, .data_val = (char *)(uintptr_t)call->write.data}};
    return QUEUE(write, &args);
}

static int submit_setattr(struct rpc_context *rpc, rpc_cb cb, struct nfs3_call *call, void *private_data)
{
    SETATTR3args args = {.object = fh_of(call->fh), .new_attributes = set_of(&call->setattr.set)};
    args.guard.check = call->setattr.has_guard;
    args.guard.sattrguard3_u.obj_ctime.seconds = call->setattr.guard_ctime.seconds;
    args.guard.sattrguard3_u.obj_ctime.nseconds = call->setattr.guard_ctime.nseconds;
    return QUEUE(setattr, &args);
}

static int submit_create(struct rpc_context *rpc, rpc_cb cb, struct nfs3_call *call, void *private_data)
{
    CREATE3args args = {.where = name_in(call->fh, call->name), .how = {.mode = (createmode3)call->create.how}};
    if (call->create.how == NFS3_CREATE_EXCLUSIVE)
        store_verifier(args.how.createhow3_u.verf, call->create.verifier);
    else if (call->create.how == NFS3_CREATE_GUARDED)
        args.how.createhow3_u.g_obj_attributes = set_of(&call->create.set);
    else
        args.how.createhow3_u.obj_attributes = set_of(&call->create.set);
    return QUEUE(create, &args);
}

static int submit_mknod(struct rpc_context *rpc, rpc_cb cb, struct nfs3_call *call, void *private_data)
{
    MKNOD3args args = {.where = name_in(call->fh, call->name), .what = {.type = (ftype3)call->mknod.type}};
    devicedata3 device = {.dev_attributes = set_of(&call->mknod.set),
                          .spec = {.specdata1 = call->mknod.rdev_major, .specdata2 = call->mknod.rdev_minor}};
    switch (call->mknod.type) {
    case NFS3_CHR:
        args.what.mknoddata3_u.chr_device = device;
        break;
    case NFS3_BLK:
        args.what.mknoddata3_u.blk_device = device;
        break;
    case NFS3_SOCK:
        args.what.mknoddata3_u.sock_attributes = device.dev_attributes;
        break;
    case NFS3_FIFO:
        args.what.mknoddata3_u.pipe_attributes = device.dev_attributes;
        break;
    default:
        break;
    }
    return QUEUE(mknod, &args);
}

static int submit_readdir(struct rpc_context *rpc, rpc_cb cb, struct nfs3_call *call, void *private_data)
{
    READDIR3args args = {.dir = fh_of(call->fh), .cookie = call->readdir.cookie, .count = call->readdir.count};
    store_verifier(args.cookieverf, call->readdir.cookie_verifier);
    return QUEUE(readdir, &args);
}

static int submit_readdirplus(struct rpc_context *rpc, rpc_cb cb, struct nfs3_call *call, void *private_data)
{
    READDIRPLUS3args args = {.dir = fh_of(call->fh),
                             .cookie = call->readdirplus.cookie,
                             .dircount = call->readdirplus.dircount,
                             .maxcount = call->readdirplus.maxcount};
    store_verifier(args.cookieverf, call->readdirplus.cookie_verifier);
    return QUEUE(readdirplus, &args);
}

static int submit_null(struct rpc_context *rpc, rpc_cb cb, void *private_data)
{
#ifdef LIBNFS_API_V2
    return rpc_nfs3_null_task(rpc, cb, private_data) ? 0 : -ENOMEM;
#else
    return rpc_nfs3_null_async(rpc, cb, private_data) == 0 ? 0 : -ENOMEM;
#endif
}

int nfs3_libnfs_submit(struct rpc_context *rpc, rpc_cb cb, struct nfs3_call *call, void *buffer, void *private_data)
{
    switch (call->op) {
    case NFS_OP_NULL:
        return submit_null(rpc, cb, private_data);
    case NFS_OP_GETATTR:
        return QUEUE(getattr, (&(GETATTR3args){.object = fh_of(call->fh)}));
    case NFS_OP_SETATTR:
        return submit_setattr(rpc, cb, call, private_data);
    case NFS_OP_LOOKUP:
        return QUEUE(lookup, (&(LOOKUP3args){.what = name_in(call->fh, call->name)}));
    case NFS_OP_ACCESS:
        return QUEUE(access, (&(ACCESS3args){.object = fh_of(call->fh), .access = call->access.access}));
    case NFS_OP_READLINK:
        return QUEUE(readlink, (&(READLINK3args){.symlink = fh_of(call->fh)}));
    case NFS_OP_READ:
        return submit_read(rpc, cb, call, buffer, private_data);
    case NFS_OP_WRITE:
        return submit_write(rpc, cb, call, private_data);
    case NFS_OP_CREATE:
        return submit_create(rpc, cb, call, private_data);
    case NFS_OP_MKDIR:
        return QUEUE(mkdir,
                     (&(MKDIR3args){.where = name_in(call->fh, call->name), .attributes = set_of(&call->mkdir.set)}));
    case NFS_OP_SYMLINK:
        return QUEUE(symlink, (&(SYMLINK3args){.where = name_in(call->fh, call->name),
                                               .symlink = {.symlink_attributes = set_of(&call->symlink.set),
                                                           .symlink_data = text_of(call->symlink.path)}}));
    case NFS_OP_MKNOD:
        return submit_mknod(rpc, cb, call, private_data);
    case NFS_OP_REMOVE:
        return QUEUE(remove, (&(REMOVE3args){.object = name_in(call->fh, call->name)}));
    case NFS_OP_RMDIR:
        return QUEUE(rmdir, (&(RMDIR3args){.object = name_in(call->fh, call->name)}));
    case NFS_OP_RENAME:
        return QUEUE(rename, (&(RENAME3args){.from = name_in(call->fh, call->name),
                                             .to = name_in(call->rename.to_dir, call->rename.to_name)}));
    case NFS_OP_LINK:
        return QUEUE(link, (&(LINK3args){.file = fh_of(call->fh), .link = name_in(call->link.dir, call->name)}));
    case NFS_OP_READDIR:
        return submit_readdir(rpc, cb, call, private_data);
    case NFS_OP_READDIRPLUS:
        return submit_readdirplus(rpc, cb, call, private_data);
    case NFS_OP_FSSTAT:
        return QUEUE(fsstat, (&(FSSTAT3args){.fsroot = fh_of(call->fh)}));
    case NFS_OP_FSINFO:
        return QUEUE(fsinfo, (&(FSINFO3args){.fsroot = fh_of(call->fh)}));
    case NFS_OP_PATHCONF:
        return QUEUE(pathconf, (&(PATHCONF3args){.object = fh_of(call->fh)}));
    case NFS_OP_COMMIT:
        return QUEUE(commit, (&(COMMIT3args){
                                 .file = fh_of(call->fh), .offset = call->commit.offset, .count = call->commit.count}));
    default:
        return -EINVAL;
    }
}
