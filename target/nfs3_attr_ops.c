/* nfs3_attr_ops.c - procedures on one object without its data: GETATTR, SETATTR, ACCESS, READLINK, FSSTAT, FSINFO,
 * PATHCONF. */
#include "nfs3_request.h"

#include <string.h>

#define IO_MULTIPLE 512u

int nfs3_getattr(struct nfs3_request *rq)
{
    GETATTR3args args;
    GETATTR3res res;
    struct fs_handle handle;
    struct fs_attributes attributes;
    nfs3_expect_fh(rq, &args.object, 0);
    if (!xdr_GETATTR3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.object, &handle);
    if (status == FS_OK) {
        status = memory_fs_getattr(rq->service->shared->fs, handle, &attributes);
    }
    res.status = (nfsstat3)status;
    if (status == FS_OK) {
        nfs3_put_attributes(rq, &attributes, &res.GETATTR3res_u.attributes);
    }
    return nfs3_encode(rq, (xdrproc_t)xdr_GETATTR3res, &res, status);
}

int nfs3_setattr(struct nfs3_request *rq)
{
    SETATTR3args args;
    SETATTR3res res;
    struct fs_handle handle;
    struct fs_set set;
    struct fs_wcc wcc = {0};
    nfs3_expect_fh(rq, &args.object, 0);
    if (!xdr_SETATTR3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.object, &handle);
    if (status == FS_OK) {
        status = nfs3_wire_get_set(&args.new_attributes, &set);
    }
    if (status == FS_OK) {
        struct fs_time guard = {0};
        if (args.guard.check) {
            guard.seconds = args.guard.sattrguard3_u.ctime.seconds;
            guard.nseconds = args.guard.sattrguard3_u.ctime.nseconds;
        }
        status =
            memory_fs_setattr(rq->service->shared->fs, &rq->who, handle, &set, args.guard.check ? &guard : NULL, &wcc);
    }
    res.status = (nfsstat3)status;
    nfs3_wire_wcc(&wcc, rq->service->shared->fsid, &res.wcc);
    return nfs3_encode(rq, (xdrproc_t)xdr_SETATTR3res, &res, status);
}

int nfs3_access(struct nfs3_request *rq)
{
    ACCESS3args args;
    ACCESS3res res;
    struct fs_handle handle;
    struct fs_object object = {0};
    uint32_t granted = 0;
    nfs3_expect_fh(rq, &args.object, 0);
    if (!xdr_ACCESS3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.object, &handle);
    if (status == FS_OK) {
        status = memory_fs_access(rq->service->shared->fs, &rq->who, handle, args.access, &granted, &object);
    }
    res.status = (nfsstat3)status;
    /* Attributes stand first in both arms of the union. */
    nfs3_put_post_op(rq, &object, &res.ACCESS3res_u.ok.attributes);
    res.ACCESS3res_u.ok.access = granted;
    return nfs3_encode(rq, (xdrproc_t)xdr_ACCESS3res, &res, status);
}

int nfs3_readlink(struct nfs3_request *rq)
{
    READLINK3args args;
    READLINK3res res;
    struct fs_handle handle;
    struct fs_object object = {0};
    uint32_t len = 0;
    nfs3_expect_fh(rq, &args.symlink, 0);
    if (!xdr_READLINK3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.symlink, &handle);
    if (status == FS_OK) {
        status = memory_fs_readlink(rq->service->shared->fs, handle, rq->path, &len, &object);
    }
    res.status = (nfsstat3)status;
    nfs3_put_post_op(rq, &object, &res.READLINK3res_u.ok.attributes);
    res.READLINK3res_u.ok.path.nfspath3_val = rq->path;
    res.READLINK3res_u.ok.path.nfspath3_len = len;
    return nfs3_encode(rq, (xdrproc_t)xdr_READLINK3res, &res, status);
}

int nfs3_fsstat(struct nfs3_request *rq)
{
    FSSTAT3args args;
    FSSTAT3res res;
    struct fs_handle handle;
    struct fs_object object = {0};
    struct fs_space space = {0};
    nfs3_expect_fh(rq, &args.root, 0);
    if (!xdr_FSSTAT3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.root, &handle);
    if (status == FS_OK) {
        status = memory_fs_stat(rq->service->shared->fs, handle, &space, &object);
    }
    res.status = (nfsstat3)status;
    FSSTAT3resok *ok = &res.FSSTAT3res_u.ok;
    nfs3_put_post_op(rq, &object, &ok->attributes);
    ok->tbytes = space.total_bytes;
    ok->fbytes = ok->abytes = space.free_bytes;
    ok->tfiles = space.total_files;
    ok->ffiles = ok->afiles = space.free_files;
    ok->invarsec = 0;
    return nfs3_encode(rq, (xdrproc_t)xdr_FSSTAT3res, &res, status);
}

int nfs3_fsinfo(struct nfs3_request *rq)
{
    const struct nfs3_shared *shared = rq->service->shared;
    FSINFO3args args;
    FSINFO3res res;
    struct fs_handle handle;
    struct fs_object object = {0};
    nfs3_expect_fh(rq, &args.root, 0);
    if (!xdr_FSINFO3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.root, &handle);
    if (status == FS_OK) {
        status = memory_fs_stat(shared->fs, handle, NULL, &object);
    }
    res.status = (nfsstat3)status;
    FSINFO3resok *ok = &res.FSINFO3res_u.ok;
    nfs3_put_post_op(rq, &object, &ok->attributes);
    ok->rtmax = ok->rtpref = shared->rtmax;
    ok->wtmax = ok->wtpref = shared->wtmax;
    ok->rtmult = ok->wtmult = IO_MULTIPLE;
    ok->dtpref = shared->dtpref;
    ok->maxfilesize = FS_MAX_FILE_BYTES;
    ok->time_delta = (nfstime3){.seconds = 0, .nseconds = 1};
    ok->properties = FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME;
    return nfs3_encode(rq, (xdrproc_t)xdr_FSINFO3res, &res, status);
}

int nfs3_pathconf(struct nfs3_request *rq)
{
    PATHCONF3args args;
    PATHCONF3res res;
    struct fs_handle handle;
    struct fs_object object = {0};
    nfs3_expect_fh(rq, &args.object, 0);
    if (!xdr_PATHCONF3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.object, &handle);
    if (status == FS_OK) {
        status = memory_fs_stat(rq->service->shared->fs, handle, NULL, &object);
    }
    res.status = (nfsstat3)status;
    PATHCONF3resok *ok = &res.PATHCONF3res_u.ok;
    nfs3_put_post_op(rq, &object, &ok->attributes);
    ok->linkmax = FS_LINK_MAX;
    ok->name_max = FS_NAME_MAX;
    ok->no_trunc = TRUE;
    ok->chown_restricted = TRUE;
    ok->case_insensitive = FALSE;
    ok->case_preserving = TRUE;
    return nfs3_encode(rq, (xdrproc_t)xdr_PATHCONF3res, &res, status);
}
