/* nfs3_request.h - one NFSv3 call while it is carried out: decoded from `in`, encoded to `out`, no heap in between.
 *
 * Arguments of variable length are decoded into the request's own buffers (XDR decodes into a pointer that is not
 * NULL), which are as long as the bounds of nfs3_prot.x.
 */
#ifndef NFSCURVE_TARGET_NFS3_REQUEST_H
#define NFSCURVE_TARGET_NFS3_REQUEST_H

#include "nfs3_prot.h"
#include "nfs3_service.h"
#include "nfs3_wire.h"
#include "rpc_server.h"

struct nfs3_request {
    struct nfs3_service *service;
    struct rpc_call *call;
    struct fs_who who;
    XDR in, out;
    u_int results_at; /* position in out behind the RPC header */
    struct rpc_segment segments[RPC_ANSWER_SEGMENTS];
    unsigned n_segments;

    /* what READ and WRITE touched, for the latency model */
    uint32_t fileid;
    uint64_t offset;
    uint32_t count;

    /* what faults ask for */
    bool has_short_read, has_short_read_bytes;
    uint32_t short_read_bytes;
    bool ignores_cookie, finds_missing, has_wrong_attributes;

    char fh[2][NFS3_FHSIZE];
    char name[2][NFS3_NAME_DECODE_MAX];
    char path[NFS3_PATH_DECODE_MAX];
};

/* What a procedure returns besides an nfsstat3. */
#define NFS3_GARBAGE_ARGS (-1)
#define NFS3_SYSTEM_ERR   (-2) /* the result did not fit */

/* Each carries out its procedure and encodes the whole result. Returns the nfsstat3 that it encoded, or one of the
 * above. */
int nfs3_getattr(struct nfs3_request *rq);
int nfs3_setattr(struct nfs3_request *rq);
int nfs3_lookup(struct nfs3_request *rq);
int nfs3_access(struct nfs3_request *rq);
int nfs3_readlink(struct nfs3_request *rq);
int nfs3_read(struct nfs3_request *rq);
int nfs3_write(struct nfs3_request *rq);
int nfs3_create(struct nfs3_request *rq);
int nfs3_mkdir(struct nfs3_request *rq);
int nfs3_symlink(struct nfs3_request *rq);
int nfs3_mknod(struct nfs3_request *rq);
int nfs3_remove(struct nfs3_request *rq);
int nfs3_rmdir(struct nfs3_request *rq);
int nfs3_rename(struct nfs3_request *rq);
int nfs3_link(struct nfs3_request *rq);
int nfs3_readdir(struct nfs3_request *rq);
int nfs3_readdirplus(struct nfs3_request *rq);
int nfs3_fsstat(struct nfs3_request *rq);
int nfs3_fsinfo(struct nfs3_request *rq);
int nfs3_pathconf(struct nfs3_request *rq);
int nfs3_commit(struct nfs3_request *rq);

/* Points a handle or name (number i of the request) at its buffer, before decoding. */
static inline void nfs3_expect_fh(struct nfs3_request *rq, nfs_fh3 *fh, unsigned i)
{
    fh->data.data_val = rq->fh[i];
}

static inline void nfs3_expect_dirop(struct nfs3_request *rq, diropargs3 *args, unsigned i)
{
    nfs3_expect_fh(rq, &args->dir, i);
    args->name.filename3_val = rq->name[i];
}

/* Encodes a result behind the RPC header; returns `status`, or NFS3_SYSTEM_ERR when it does not fit. */
int nfs3_encode(struct nfs3_request *rq, xdrproc_t encode, const void *result, enum fs_status status);

/* Attributes as they are, or wrong when a fault asks for it. */
void nfs3_put_attributes(const struct nfs3_request *rq, const struct fs_attributes *in, fattr3 *out);
void nfs3_put_post_op(const struct nfs3_request *rq, const struct fs_object *in, post_op_attr *out);

/* The file system's handle of a wire handle: FS_OK, FS_BADHANDLE or FS_STALE. */
enum fs_status nfs3_get_handle(const struct nfs3_request *rq, const nfs_fh3 *fh, struct fs_handle *handle);

#endif
