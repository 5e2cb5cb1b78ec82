/* nfs3_directory.c - READDIR and READDIRPLUS.
 *
 * Entries are encoded one by one behind a gap for the head (whose size is known: the attributes of a directory that was
 * listed are always there), until the next one would pass what the client asked for. The head is encoded into the gap
 * afterwards.
 */
#include "nfs3_request.h"

#include <string.h>

#define ATTRIBUTES_BYTES (4u + 84u)                   /* post_op_attr that follows */
#define HEAD_BYTES       (4u + ATTRIBUTES_BYTES + 8u) /* status, attributes, verifier */
#define TAIL_BYTES       8u                           /* no further entry, end of file */
#define HANDLE_BYTES     (4u + 4u + NFS3_WIRE_HANDLE_BYTES)
#define MAX_LIST_BYTES   (1u << 20)

struct listing {
    struct nfs3_request *rq;
    bool is_plus;
    uint32_t bytes_left;     /* of READDIR3resok or READDIRPLUS3resok, tail reserved */
    uint32_t dir_bytes_left; /* READDIRPLUS: of names, numbers and cookies */
    uint32_t n;
};

static bool put_entry(struct listing *l, const struct fs_entry *entry)
{
    XDR *out = &l->rq->out;
    const struct nfs3_shared *shared = l->rq->service->shared;
    bool_t follows = TRUE;
    entryplus3 plus;
    plus.fileid = entry->fileid;
    plus.name.filename3_val = (char *)(uintptr_t)entry->name.text;
    plus.name.filename3_len = entry->name.len;
    plus.cookie = entry->cookie;
    if (!xdr_bool(out, &follows)) {
        return false;
    }
    if (!l->is_plus) {
        entry3 plain = {.fileid = plus.fileid, .name = plus.name, .cookie = plus.cookie};
        return xdr_entry3(out, &plain);
    }
    uint8_t fh[NFS3_WIRE_HANDLE_BYTES];
    nfs3_wire_put_handle(entry->handle, shared->instance, fh);
    plus.handle.handle_follows = TRUE;
    plus.handle.post_op_fh3_u.handle.data.data_val = (char *)fh;
    plus.handle.post_op_fh3_u.handle.data.data_len = sizeof fh;
    nfs3_put_post_op(l->rq, &entry->object, &plus.attributes);
    return xdr_entryplus3(out, &plus);
}

static bool on_entry(void *arg, const struct fs_entry *entry)
{
    struct listing *l = arg;
    uint32_t dir_bytes = 8u + 4u + ((entry->name.len + 3u) & ~3u) + 8u;
    uint32_t bytes = 4u + dir_bytes + (l->is_plus ? ATTRIBUTES_BYTES + HANDLE_BYTES : 0);
    if (bytes > l->bytes_left || (l->is_plus && dir_bytes > l->dir_bytes_left) || !put_entry(l, entry)) {
        return false;
    }
    l->bytes_left -= bytes;
    l->dir_bytes_left -= l->is_plus ? dir_bytes : 0;
    l->n++;
    return true;
}

/* Encodes head and tail around the entries. */
static bool frame(struct nfs3_request *rq, const struct fs_object *dir, uint64_t verifier, bool_t is_eof)
{
    READDIR3res res = {.status = NFS3_OK};
    bool_t follows = FALSE;
    if (!xdr_bool(&rq->out, &follows) || !xdr_bool(&rq->out, &is_eof)) {
        return false;
    }
    u_int end = xdr_getpos(&rq->out);
    nfs3_put_post_op(rq, dir, &res.READDIR3res_u.head.attributes);
    nfs3_wire_put_verifier(verifier, res.READDIR3res_u.head.verf);
    return xdr_setpos(&rq->out, rq->results_at) && xdr_READDIR3res(&rq->out, &res) && xdr_setpos(&rq->out, end);
}

static int list(struct nfs3_request *rq, const nfs_fh3 *fh, uint64_t cookie, const char *verf, uint32_t dircount,
                uint32_t maxcount, bool is_plus)
{
    struct fs_handle dir;
    struct fs_object dir_object = {0};
    uint64_t verifier = 0;
    cookie = rq->ignores_cookie ? 0 : cookie;
    bool is_eof = false;
    uint32_t limit = maxcount < MAX_LIST_BYTES ? maxcount : MAX_LIST_BYTES;
    uint32_t fixed = HEAD_BYTES - 4u + TAIL_BYTES;
    struct listing l = {
        .rq = rq, .is_plus = is_plus, .bytes_left = limit > fixed ? limit - fixed : 0, .dir_bytes_left = dircount};
    enum fs_status status = nfs3_get_handle(rq, fh, &dir);
    if (status == FS_OK) {
        xdr_setpos(&rq->out, rq->results_at + HEAD_BYTES);
        status = memory_fs_list(rq->service->shared->fs, &rq->who, dir, cookie, nfs3_wire_get_verifier(verf), is_plus,
                                on_entry, &l, &is_eof, &verifier, &dir_object);
    }
    if (status == FS_OK && ((l.n == 0 && !is_eof) || limit < fixed)) {
        status = FS_TOOSMALL;
    }
    if (status == FS_OK) {
        return frame(rq, &dir_object, verifier, is_eof) ? NFS3_OK : NFS3_SYSTEM_ERR;
    }
    READDIR3res res = {.status = (nfsstat3)status};
    nfs3_put_post_op(rq, &dir_object, &res.READDIR3res_u.attributes);
    xdr_setpos(&rq->out, rq->results_at);
    return nfs3_encode(rq, (xdrproc_t)xdr_READDIR3res, &res, status);
}

int nfs3_readdir(struct nfs3_request *rq)
{
    READDIR3args args;
    nfs3_expect_fh(rq, &args.dir, 0);
    if (!xdr_READDIR3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    return list(rq, &args.dir, args.cookie, args.verf, args.count, args.count, false);
}

int nfs3_readdirplus(struct nfs3_request *rq)
{
    READDIRPLUS3args args;
    nfs3_expect_fh(rq, &args.dir, 0);
    if (!xdr_READDIRPLUS3args(&rq->in, &args)) {
        return NFS3_GARBAGE_ARGS;
    }
    return list(rq, &args.dir, args.cookie, args.verf, args.dircount, args.maxcount, true);
}
