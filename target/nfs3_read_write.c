/* nfs3_read_write.c - READ, WRITE, COMMIT: the data is never copied here. */
#include "nfs3_request.h"

#include <assert.h>
#include <string.h>

static_assert(MEMORY_FS_READ_SEGMENTS + 1 <= RPC_ANSWER_SEGMENTS, "the largest READ and its padding");

static uint32_t padding(uint32_t n)
{
    return -n & 3u;
}

/* A fault: fewer bytes than there are, and no end of file, as RFC 1813 3.3.6 lets any server answer. */
static void shorten(const struct nfs3_request *rq, struct fs_read *read)
{
    uint32_t keep = rq->has_short_read_bytes ? rq->short_read_bytes : read->count / 2;
    if (keep >= read->count) {
        return;
    }
    read->count = keep;
    read->is_eof = false;
    for (unsigned i = 0; i < read->n_segments; i++) {
        struct rpc_segment *s = &read->segments[i];
        s->bytes = s->bytes < keep ? s->bytes : keep;
        keep -= (uint32_t)s->bytes;
    }
}

int nfs3_read(struct nfs3_request *rq)
{
    static const uint8_t zeros[4];
    const struct nfs3_shared *shared = rq->service->shared;
    READ3args args;
    READ3res res;
    struct fs_handle handle;
    struct fs_object object = {0};
    struct fs_read read;
    read.n_segments = 0;
    nfs3_expect_fh(rq, &args.file, 0);
    if (!xdr_READ3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.file, &handle);
    if (status == FS_OK) {
        rq->fileid = handle.fileid;
        rq->offset = args.offset;
        rq->count = args.count;
        uint32_t count = args.count < shared->rtmax ? args.count : shared->rtmax;
        status = memory_fs_read(shared->fs, &rq->who, handle, args.offset, count, &read, &object);
    }
    res.status = (nfsstat3)status;
    if (status != FS_OK) {
        nfs3_put_post_op(rq, &object, &res.READ3res_u.attributes);
        return nfs3_encode(rq, (xdrproc_t)xdr_READ3res, &res, status);
    }
    if (rq->has_short_read) {
        shorten(rq, &read);
    }
    memcpy(rq->segments, read.segments, read.n_segments * sizeof *read.segments);
    rq->n_segments = read.n_segments;
    if (padding(read.count) > 0) {
        rq->segments[rq->n_segments++] = (struct rpc_segment){.data = zeros, .bytes = padding(read.count)};
    }
    READ3head *head = &res.READ3res_u.head;
    nfs3_put_post_op(rq, &object, &head->attributes);
    head->count = read.count;
    head->eof = read.is_eof;
    counter_add(&rq->service->counters->read_bytes, read.count);
    if (!xdr_READ3res(&rq->out, &res) || !xdr_uint32_t(&rq->out, &read.count)) {
        return NFS3_SYSTEM_ERR;
    }
    return NFS3_OK;
}

/* The counted opaque behind the head, where it lies in the record. False when it is not whole. */
static bool find_data(struct nfs3_request *rq, const uint8_t **data, uint32_t *n)
{
    if (!xdr_uint32_t(&rq->in, n)) {
        return false;
    }
    size_t at = xdr_getpos(&rq->in);
    *data = rq->call->args + at;
    return *n <= rq->call->args_bytes - at && padding(*n) <= rq->call->args_bytes - at - *n;
}

int nfs3_write(struct nfs3_request *rq)
{
    const struct nfs3_shared *shared = rq->service->shared;
    WRITE3head args;
    WRITE3res res;
    struct fs_handle handle;
    struct fs_wcc wcc = {0};
    const uint8_t *data;
    uint32_t n = 0;
    uint64_t verifier = 0;
    nfs3_expect_fh(rq, &args.file, 0);
    if (!xdr_WRITE3head(&rq->in, &args) || !find_data(rq, &data, &n)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.file, &handle);
    if (status == FS_OK && (args.count != n || (unsigned)args.stable > FILE_SYNC)) {
        status = FS_INVAL;
    }
    if (status == FS_OK) {
        rq->fileid = handle.fileid;
        rq->offset = args.offset;
        rq->count = args.count;
        n = n < shared->wtmax ? n : shared->wtmax;
        status = memory_fs_write(shared->fs, &rq->who, handle, args.offset, data, n, args.stable == UNSTABLE, &wcc,
                                 &verifier);
    }
    res.status = (nfsstat3)status;
    /* The wcc data stands first in both arms of the union. */
    WRITE3resok *ok = &res.WRITE3res_u.ok;
    nfs3_wire_wcc(&wcc, shared->fsid, &ok->wcc);
    ok->count = n;
    ok->committed = args.stable == UNSTABLE ? UNSTABLE : FILE_SYNC;
    nfs3_wire_put_verifier(verifier, ok->verf);
    if (status == FS_OK) {
        counter_add(&rq->service->counters->write_bytes, n);
    }
    return nfs3_encode(rq, (xdrproc_t)xdr_WRITE3res, &res, status);
}

int nfs3_commit(struct nfs3_request *rq)
{
    const struct nfs3_shared *shared = rq->service->shared;
    COMMIT3args args;
    COMMIT3res res;
    struct fs_handle handle;
    struct fs_wcc wcc = {0};
    uint64_t verifier = 0;
    nfs3_expect_fh(rq, &args.file, 0);
    if (!xdr_COMMIT3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    enum fs_status status = nfs3_get_handle(rq, &args.file, &handle);
    if (status == FS_OK) {
        status = memory_fs_commit(shared->fs, &rq->who, handle, args.offset, args.count, &wcc, &verifier);
    }
    res.status = (nfsstat3)status;
    nfs3_wire_wcc(&wcc, shared->fsid, &res.COMMIT3res_u.ok.wcc);
    nfs3_wire_put_verifier(verifier, res.COMMIT3res_u.ok.verf);
    return nfs3_encode(rq, (xdrproc_t)xdr_COMMIT3res, &res, status);
}
