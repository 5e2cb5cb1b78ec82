/* nfs3_namespace.c - procedures on names: LOOKUP, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK. */
#include "nfs3_request.h"

#include <string.h>

int nfs3_lookup(struct nfs3_request *rq)
{
    const struct nfs3_shared *shared = rq->service->shared;
    LOOKUP3args args;
    LOOKUP3res res;
    struct fs_handle dir, found;
    struct fs_object object = {0}, dir_object = {0};
    uint8_t fh[NFS3_WIRE_HANDLE_BYTES];
    nfs3_expect_dirop(rq, &args.what, 0);
    if (!xdr_LOOKUP3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.what.dir, &dir);
    if (status == FS_OK) {
        status =
            memory_fs_lookup(shared->fs, &rq->who, dir, nfs3_wire_name(&args.what.name), &found, &object, &dir_object);
    }
    if (status == FS_NOENT && rq->finds_missing) {
        /* A fault: the name is taken for one of the directory itself. */
        status = FS_OK;
        found = dir;
        object = dir_object;
    }
    res.status = (nfsstat3)status;
    if (status != FS_OK) {
        nfs3_put_post_op(rq, &dir_object, &res.LOOKUP3res_u.dir_attributes);
        return nfs3_encode(rq, (xdrproc_t)xdr_LOOKUP3res, &res, status);
    }
    LOOKUP3resok *ok = &res.LOOKUP3res_u.ok;
    nfs3_wire_put_handle(found, shared->instance, fh);
    ok->object.data.data_val = (char *)fh;
    ok->object.data.data_len = sizeof fh;
    nfs3_put_post_op(rq, &object, &ok->attributes);
    nfs3_put_post_op(rq, &dir_object, &ok->dir_attributes);
    return nfs3_encode(rq, (xdrproc_t)xdr_LOOKUP3res, &res, status);
}

/* What CREATE, MKDIR, SYMLINK and MKNOD have in common once their arguments are decoded; `status` is FS_OK or what is
 * wrong with them. */
static int make(struct nfs3_request *rq, const diropargs3 *where, const struct fs_creation *creation,
                enum fs_status status)
{
    const struct nfs3_shared *shared = rq->service->shared;
    CREATE3res res;
    struct fs_handle dir, made;
    struct fs_object object = {0};
    struct fs_wcc dir_wcc = {0};
    uint8_t fh[NFS3_WIRE_HANDLE_BYTES];
    enum fs_status handle_status = nfs3_get_handle(rq, &where->dir, &dir);
    status = handle_status == FS_OK ? status : handle_status;
    if (status == FS_OK) {
        status =
            memory_fs_make(shared->fs, &rq->who, dir, nfs3_wire_name(&where->name), creation, &made, &object, &dir_wcc);
    }
    res.status = (nfsstat3)status;
    if (status != FS_OK) {
        nfs3_wire_wcc(&dir_wcc, shared->fsid, &res.CREATE3res_u.dir_wcc);
        return nfs3_encode(rq, (xdrproc_t)xdr_CREATE3res, &res, status);
    }
    CREATE3resok *ok = &res.CREATE3res_u.ok;
    nfs3_wire_put_handle(made, shared->instance, fh);
    ok->object.handle_follows = TRUE;
    ok->object.post_op_fh3_u.handle.data.data_val = (char *)fh;
    ok->object.post_op_fh3_u.handle.data.data_len = sizeof fh;
    nfs3_put_post_op(rq, &object, &ok->attributes);
    nfs3_wire_wcc(&dir_wcc, shared->fsid, &ok->dir_wcc);
    return nfs3_encode(rq, (xdrproc_t)xdr_CREATE3res, &res, status);
}

int nfs3_create(struct nfs3_request *rq)
{
    CREATE3args args;
    struct fs_creation creation = {.type = FS_REG};
    enum fs_status status = FS_OK;
    nfs3_expect_dirop(rq, &args.where, 0);
    if (!xdr_CREATE3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    switch (args.how.mode) {
    case UNCHECKED:
        creation.how = FS_CREATE_UNCHECKED;
        status = nfs3_wire_get_set(&args.how.createhow3_u.unchecked_attributes, &creation.set);
        break;
    case GUARDED:
        creation.how = FS_CREATE_GUARDED;
        status = nfs3_wire_get_set(&args.how.createhow3_u.guarded_attributes, &creation.set);
        break;
    case EXCLUSIVE:
        creation.how = FS_CREATE_EXCLUSIVE;
        creation.verifier = nfs3_wire_get_verifier(args.how.createhow3_u.verf);
        break;
    }
    return make(rq, &args.where, &creation, status);
}

int nfs3_mkdir(struct nfs3_request *rq)
{
    MKDIR3args args;
    struct fs_creation creation = {.type = FS_DIR, .how = FS_CREATE_GUARDED};
    nfs3_expect_dirop(rq, &args.where, 0);
    if (!xdr_MKDIR3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_wire_get_set(&args.attributes, &creation.set);
    return make(rq, &args.where, &creation, status);
}

int nfs3_symlink(struct nfs3_request *rq)
{
    SYMLINK3args args;
    struct fs_creation creation = {.type = FS_LNK, .how = FS_CREATE_GUARDED};
    nfs3_expect_dirop(rq, &args.where, 0);
    args.symlink.path.nfspath3_val = rq->path;
    if (!xdr_SYMLINK3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    creation.target = (struct fs_name){.text = args.symlink.path.nfspath3_val, .len = args.symlink.path.nfspath3_len};
    enum fs_status status = nfs3_wire_get_set(&args.symlink.attributes, &creation.set);
    return make(rq, &args.where, &creation, status);
}

int nfs3_mknod(struct nfs3_request *rq)
{
    MKNOD3args args;
    struct fs_creation creation = {.how = FS_CREATE_GUARDED};
    const sattr3 *set = NULL;
    const specdata3 *spec = NULL;
    nfs3_expect_dirop(rq, &args.where, 0);
    if (!xdr_MKNOD3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    switch (args.what.type) {
    case NF3CHR:
    case NF3BLK:
        /* Both arms are the same struct. */
        set = &args.what.mknoddata3_u.chr.attributes;
        spec = &args.what.mknoddata3_u.chr.spec;
        break;
    case NF3SOCK:
    case NF3FIFO:
        set = &args.what.mknoddata3_u.sock_attributes;
        break;
    default:
        return make(rq, &args.where, &creation, FS_BADTYPE);
    }
    creation.type = (enum fs_type)args.what.type;
    creation.major = spec ? spec->specdata1 : 0;
    creation.minor = spec ? spec->specdata2 : 0;
    enum fs_status status = nfs3_wire_get_set(set, &creation.set);
    return make(rq, &args.where, &creation, status);
}

static int remove_name(struct nfs3_request *rq, bool is_rmdir)
{
    const struct nfs3_shared *shared = rq->service->shared;
    REMOVE3args args;
    REMOVE3res res;
    struct fs_handle dir;
    struct fs_wcc dir_wcc = {0};
    nfs3_expect_dirop(rq, &args.object, 0);
    if (!xdr_REMOVE3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.object.dir, &dir);
    if (status == FS_OK) {
        status = memory_fs_remove(shared->fs, &rq->who, dir, nfs3_wire_name(&args.object.name), is_rmdir, &dir_wcc);
    }
    res.status = (nfsstat3)status;
    nfs3_wire_wcc(&dir_wcc, shared->fsid, &res.dir_wcc);
    return nfs3_encode(rq, (xdrproc_t)xdr_REMOVE3res, &res, status);
}

int nfs3_remove(struct nfs3_request *rq)
{
    return remove_name(rq, false);
}

int nfs3_rmdir(struct nfs3_request *rq)
{
    return remove_name(rq, true);
}

int nfs3_rename(struct nfs3_request *rq)
{
    const struct nfs3_shared *shared = rq->service->shared;
    RENAME3args args;
    RENAME3res res;
    struct fs_handle from, to;
    struct fs_wcc from_wcc = {0}, to_wcc = {0};
    nfs3_expect_dirop(rq, &args.from, 0);
    nfs3_expect_dirop(rq, &args.to, 1);
    if (!xdr_RENAME3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.from.dir, &from);
    if (status == FS_OK) {
        status = nfs3_get_handle(rq, &args.to.dir, &to);
    }
    if (status == FS_OK) {
        status = memory_fs_rename(shared->fs, &rq->who, from, nfs3_wire_name(&args.from.name), to,
                                  nfs3_wire_name(&args.to.name), &from_wcc, &to_wcc);
    }
    res.status = (nfsstat3)status;
    nfs3_wire_wcc(&from_wcc, shared->fsid, &res.from_dir_wcc);
    nfs3_wire_wcc(&to_wcc, shared->fsid, &res.to_dir_wcc);
    return nfs3_encode(rq, (xdrproc_t)xdr_RENAME3res, &res, status);
}

int nfs3_link(struct nfs3_request *rq)
{
    const struct nfs3_shared *shared = rq->service->shared;
    LINK3args args;
    LINK3res res;
    struct fs_handle file, dir;
    struct fs_object object = {0};
    struct fs_wcc dir_wcc = {0};
    nfs3_expect_fh(rq, &args.file, 0);
    nfs3_expect_dirop(rq, &args.link, 1);
    if (!xdr_LINK3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.file, &file);
    if (status == FS_OK) {
        status = nfs3_get_handle(rq, &args.link.dir, &dir);
    }
    if (status == FS_OK) {
        status = memory_fs_link(shared->fs, &rq->who, file, dir, nfs3_wire_name(&args.link.name), &object, &dir_wcc);
    }
    res.status = (nfsstat3)status;
    nfs3_put_post_op(rq, &object, &res.attributes);
    nfs3_wire_wcc(&dir_wcc, shared->fsid, &res.link_dir_wcc);
    return nfs3_encode(rq, (xdrproc_t)xdr_LINK3res, &res, status);
}
