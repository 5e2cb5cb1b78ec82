/* nfs3_decode.c - see nfs3_decode.h. */
#include "nfs3_decode.h"

#include "xdr_cursor.h"

#include <stdlib.h>

#define ATTRIBUTES_BYTES 84 /* fattr3 */
#define FSSTAT_BYTES     52
#define FSINFO_BYTES     48
#define WCC_BYTES        24 /* wcc_attr */

/* READDIR3resok may be `count` bytes long (RFC 1813 3.3.16); servers count its fixed part differently, so this much
 * more is accepted. */
#define DIR_SLACK_BYTES 4096

void nfs3_decoder_init(struct nfs3_decoder *d)
{
    memset(d, 0, sizeof *d);
}

void nfs3_decoder_fini(struct nfs3_decoder *d)
{
    free(d->entries);
    free(d->entry_attributes);
    free(d->entry_fhs);
    memset(d, 0, sizeof *d);
}

static struct nfs3_time load_time(const uint8_t *p)
{
    return (struct nfs3_time){xdr_load_u32(p), xdr_load_u32(p + 4)};
}

/* fattr3, RFC 1813 2.6: fixed size, so one check and straight loads. */
static void get_attributes(struct xdr_reader *r, struct nfs3_attributes *out)
{
    const uint8_t *p = xdr_take(r, ATTRIBUTES_BYTES);
    if (!p)
        return;
    out->type = xdr_load_u32(p);
    out->mode = xdr_load_u32(p + 4);
    out->nlink = xdr_load_u32(p + 8);
    out->uid = xdr_load_u32(p + 12);
    out->gid = xdr_load_u32(p + 16);
    out->size = xdr_load_u64(p + 20);
    out->used = xdr_load_u64(p + 28);
    out->rdev_major = xdr_load_u32(p + 36);
    out->rdev_minor = xdr_load_u32(p + 40);
    out->fsid = xdr_load_u64(p + 44);
    out->fileid = xdr_load_u64(p + 52);
    out->atime = load_time(p + 60);
    out->mtime = load_time(p + 68);
    out->ctime = load_time(p + 76);
    if (out->type < NFS3_REG || out->type > NFS3_FIFO)
        r->is_bad = true;
}

/* post_op_attr: `out`, or NULL when absent. */
static const struct nfs3_attributes *get_post_op(struct xdr_reader *r, struct nfs3_attributes *out)
{
    if (!xdr_get_bool(r))
        return NULL;
    get_attributes(r, out);
    return out;
}

/* wcc_data: what was before is of no use to us, what is after is. */
static const struct nfs3_attributes *get_wcc(struct xdr_reader *r, struct nfs3_attributes *out)
{
    if (xdr_get_bool(r))
        xdr_take(r, WCC_BYTES);
    return get_post_op(r, out);
}

static const struct nfs3_fh *get_fh(struct xdr_reader *r, struct nfs3_fh *out)
{
    uint32_t len;
    const uint8_t *p = xdr_get_opaque(r, NFS3_FH_MAX, &len);
    if (!p)
        return NULL;
    out->len = (uint8_t)len;
    memcpy(out->data, p, len);
    return out;
}

static const struct nfs3_fh *get_post_op_fh(struct xdr_reader *r, struct nfs3_fh *out)
{
    return xdr_get_bool(r) ? get_fh(r, out) : NULL;
}

/* ---- directory lists ---- */

bool nfs3_decoder_reserve(struct nfs3_decoder *d, uint32_t n)
{
    if (n <= d->entries_capacity)
        return true;
    uint32_t capacity = d->entries_capacity ? d->entries_capacity * 2 : 128;
    void *entries = realloc(d->entries, capacity * sizeof *d->entries);
    if (entries)
        d->entries = entries;
    void *attributes = realloc(d->entry_attributes, capacity * sizeof *d->entry_attributes);
    if (attributes)
        d->entry_attributes = attributes;
    void *fhs = realloc(d->entry_fhs, capacity * sizeof *d->entry_fhs);
    if (fhs)
        d->entry_fhs = fhs;
    if (!entries || !attributes || !fhs)
        return false;
    d->entries_capacity = capacity;
    return true;
}

void nfs3_decoder_fix(struct nfs3_decoder *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct nfs3_dir_entry *e = &d->entries[i];
        e->attributes = e->attributes ? &d->entry_attributes[i] : NULL;
        e->fh = e->fh ? &d->entry_fhs[i] : NULL;
    }
}

/* entry3 or entryplus3. The arrays may move while they grow, so presence is noted by a mark and the pointers are set at
 * the end. */
static void get_entry(struct nfs3_decoder *d, struct xdr_reader *r, bool is_plus, uint32_t i)
{
    struct nfs3_dir_entry *e = &d->entries[i];
    *e = (struct nfs3_dir_entry){.fileid = xdr_get_u64(r)};
    e->name = (const char *)xdr_get_opaque(r, NFS3_NAME_MAX, &e->name_len);
    if (e->name_len == 0)
        r->is_bad = true;
    e->cookie = xdr_get_u64(r);
    if (is_plus) {
        e->attributes = get_post_op(r, &d->entry_attributes[i]);
        e->fh = get_post_op_fh(r, &d->entry_fhs[i]);
    }
}

static const char *get_dir_list(struct nfs3_decoder *d, struct xdr_reader *r, bool is_plus, struct nfs3_reply *reply)
{
    uint32_t n = 0;
    while (xdr_get_bool(r)) {
        if (!nfs3_decoder_reserve(d, n + 1))
            return "out of memory for directory entries";
        get_entry(d, r, is_plus, n);
        if (r->is_bad)
            return "malformed directory entry";
        n++;
    }
    nfs3_decoder_fix(d, n);
    reply->readdir.eof = xdr_get_bool(r);
    reply->readdir.n = n;
    reply->readdir.entries = d->entries;
    return NULL;
}

static const char *get_readdir(struct nfs3_decoder *d, const struct nfs3_call *call, struct xdr_reader *r,
                               struct nfs3_reply *reply)
{
    bool is_plus = call->op == NFS_OP_READDIRPLUS;
    uint32_t asked = is_plus ? call->readdirplus.maxcount : call->readdir.count;
    if (xdr_left(r) > (size_t)asked + DIR_SLACK_BYTES)
        return "directory list longer than asked for";
    reply->attributes = reply->dir_attributes = get_post_op(r, &d->attributes);
    reply->readdir.cookie_verifier = xdr_get_u64(r);
    return get_dir_list(d, r, is_plus, reply);
}

/* ---- the procedures ---- */

static const char *get_read(struct nfs3_decoder *d, const struct nfs3_call *call, struct xdr_reader *r,
                            struct nfs3_reply *reply)
{
    uint32_t len;
    reply->attributes = get_post_op(r, &d->attributes);
    uint32_t count = xdr_get_u32(r);
    reply->read.eof = xdr_get_bool(r);
    reply->read.data = xdr_get_opaque(r, call->read.count, &len);
    reply->read.count = len;
    if (count > call->read.count)
        return "READ reply with more bytes than asked for";
    return !r->is_bad && count != len ? "READ reply whose count is not the length of its data" : NULL;
}

static const char *get_write(struct nfs3_decoder *d, const struct nfs3_call *call, struct xdr_reader *r,
                             struct nfs3_reply *reply)
{
    reply->attributes = get_wcc(r, &d->attributes);
    reply->write.count = xdr_get_u32(r);
    reply->write.committed = xdr_get_u32(r);
    reply->write.verifier = xdr_get_u64(r);
    if (reply->write.count > call->write.count)
        return "WRITE reply with more bytes than sent";
    return reply->write.committed > NFS3_FILE_SYNC ? "WRITE reply with unknown stable_how" : NULL;
}

static void get_fsstat(struct nfs3_decoder *d, struct xdr_reader *r, struct nfs3_reply *reply)
{
    reply->attributes = get_post_op(r, &d->attributes);
    const uint8_t *p = xdr_take(r, FSSTAT_BYTES);
    if (!p)
        return;
    reply->fsstat.tbytes = xdr_load_u64(p);
    reply->fsstat.fbytes = xdr_load_u64(p + 8);
    reply->fsstat.abytes = xdr_load_u64(p + 16);
    reply->fsstat.tfiles = xdr_load_u64(p + 24);
    reply->fsstat.ffiles = xdr_load_u64(p + 32);
    reply->fsstat.afiles = xdr_load_u64(p + 40);
    reply->fsstat.invarsec = xdr_load_u32(p + 48);
}

static void get_fsinfo(struct nfs3_decoder *d, struct xdr_reader *r, struct nfs3_reply *reply)
{
    reply->attributes = get_post_op(r, &d->attributes);
    const uint8_t *p = xdr_take(r, FSINFO_BYTES);
    if (!p)
        return;
    reply->fsinfo.rtmax = xdr_load_u32(p);
    reply->fsinfo.rtpref = xdr_load_u32(p + 4);
    reply->fsinfo.rtmult = xdr_load_u32(p + 8);
    reply->fsinfo.wtmax = xdr_load_u32(p + 12);
    reply->fsinfo.wtpref = xdr_load_u32(p + 16);
    reply->fsinfo.wtmult = xdr_load_u32(p + 20);
    reply->fsinfo.dtpref = xdr_load_u32(p + 24);
    reply->fsinfo.maxfilesize = xdr_load_u64(p + 28);
    reply->fsinfo.properties = xdr_load_u32(p + 44); /* behind time_delta */
}

static void get_pathconf(struct nfs3_decoder *d, struct xdr_reader *r, struct nfs3_reply *reply)
{
    reply->attributes = get_post_op(r, &d->attributes);
    reply->pathconf.linkmax = xdr_get_u32(r);
    reply->pathconf.name_max = xdr_get_u32(r);
    reply->pathconf.no_trunc = xdr_get_bool(r);
    reply->pathconf.chown_restricted = xdr_get_bool(r);
    reply->pathconf.case_insensitive = xdr_get_bool(r);
    reply->pathconf.case_preserving = xdr_get_bool(r);
}

/* The resok arm. NULL, or what is wrong beyond the cursor's own is_bad. */
static const char *get_ok(struct nfs3_decoder *d, const struct nfs3_call *call, struct xdr_reader *r,
                          struct nfs3_reply *reply)
{
    switch (call->op) {
    case NFS_OP_GETATTR:
        get_attributes(r, &d->attributes);
        reply->attributes = &d->attributes;
        return NULL;
    case NFS_OP_LOOKUP:
        reply->fh = get_fh(r, &d->fh);
        reply->attributes = get_post_op(r, &d->attributes);
        reply->dir_attributes = get_post_op(r, &d->dir_attributes);
        return NULL;
    case NFS_OP_ACCESS:
        reply->attributes = get_post_op(r, &d->attributes);
        reply->access.access = xdr_get_u32(r);
        return NULL;
    case NFS_OP_READLINK:
        reply->attributes = get_post_op(r, &d->attributes);
        reply->readlink.path = (const char *)xdr_get_opaque(r, NFS3_PATH_MAX, &reply->readlink.len);
        return NULL;
    case NFS_OP_READ:
        return get_read(d, call, r, reply);
    case NFS_OP_WRITE:
        return get_write(d, call, r, reply);
    case NFS_OP_CREATE:
    case NFS_OP_MKDIR:
    case NFS_OP_SYMLINK:
    case NFS_OP_MKNOD:
        reply->fh = get_post_op_fh(r, &d->fh);
        reply->attributes = get_post_op(r, &d->attributes);
        reply->dir_attributes = get_wcc(r, &d->dir_attributes);
        return NULL;
    case NFS_OP_READDIR:
    case NFS_OP_READDIRPLUS:
        return get_readdir(d, call, r, reply);
    case NFS_OP_FSSTAT:
        get_fsstat(d, r, reply);
        return NULL;
    case NFS_OP_FSINFO:
        get_fsinfo(d, r, reply);
        return NULL;
    case NFS_OP_PATHCONF:
        get_pathconf(d, r, reply);
        return NULL;
    case NFS_OP_COMMIT:
        reply->attributes = get_wcc(r, &d->attributes);
        reply->commit.verifier = xdr_get_u64(r);
        return NULL;
    default:
        return "unknown procedure";
    }
}

/* The procedures whose resok and resfail are the same, and the resfail arms of the others. */
static void get_tail(struct nfs3_decoder *d, enum nfs_op op, struct xdr_reader *r, struct nfs3_reply *reply)
{
    switch (op) {
    case NFS_OP_SETATTR:
    case NFS_OP_WRITE:
    case NFS_OP_COMMIT:
        reply->attributes = get_wcc(r, &d->attributes);
        break;
    case NFS_OP_CREATE:
    case NFS_OP_MKDIR:
    case NFS_OP_SYMLINK:
    case NFS_OP_MKNOD:
    case NFS_OP_REMOVE:
    case NFS_OP_RMDIR:
        reply->dir_attributes = get_wcc(r, &d->dir_attributes);
        break;
    case NFS_OP_RENAME:
        reply->dir_attributes = get_wcc(r, &d->dir_attributes); /* of the directory left ... */
        get_wcc(r, &d->attributes);                             /* ... and of the one entered, which no caller needs */
        break;
    case NFS_OP_LINK:
        reply->attributes = get_post_op(r, &d->attributes);
        reply->dir_attributes = get_wcc(r, &d->dir_attributes);
        break;
    case NFS_OP_LOOKUP:
        reply->dir_attributes = get_post_op(r, &d->dir_attributes);
        break;
    case NFS_OP_ACCESS:
    case NFS_OP_READLINK:
    case NFS_OP_READ:
    case NFS_OP_READDIR:
    case NFS_OP_READDIRPLUS:
    case NFS_OP_FSSTAT:
    case NFS_OP_FSINFO:
    case NFS_OP_PATHCONF:
        reply->attributes = get_post_op(r, &d->attributes);
        break;
    default: /* GETATTR3resfail is void */
        break;
    }
}

static bool is_one_armed(enum nfs_op op)
{
    return op == NFS_OP_SETATTR || op == NFS_OP_REMOVE || op == NFS_OP_RMDIR || op == NFS_OP_RENAME ||
           op == NFS_OP_LINK;
}

void nfs3_decode_results(struct nfs3_decoder *d, const struct nfs3_call *call, const uint8_t *results, size_t bytes,
                         struct nfs3_reply *reply)
{
    struct xdr_reader r = xdr_reader_of(results, bytes);
    const char *wrong = NULL;
    memset(reply, 0, sizeof *reply);
    if (call->op != NFS_OP_NULL) {
        reply->status = xdr_get_u32(&r);
        if (reply->status == 0 && !is_one_armed(call->op))
            wrong = get_ok(d, call, &r, reply);
        else
            get_tail(d, call->op, &r, reply);
    }
    if (!wrong && r.is_bad)
        wrong = "reply does not decode: a length or value out of bounds, or the end comes too soon";
    if (!wrong && xdr_left(&r))
        wrong = "reply with bytes left over behind its result";
    if (wrong) {
        memset(reply, 0, sizeof *reply);
        reply->result = NFS3_CALL_MALFORMED;
        reply->message = wrong;
    }
}
