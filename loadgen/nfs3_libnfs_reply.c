/* nfs3_libnfs_reply.c - libnfs's result structures as neutral replies.
 *
 * libnfs checks that a reply ends where its record does, and little else: a READ may claim 4 GiB with status OK
 * (library facts). So every length is checked here against the call and RFC 1813, as nfs3_decode.c does for the native
 * engine. What libnfs has lost stays lost: bytes behind a result, and names and paths with a NUL in them, which end
 * there.
 */
#include "nfs3_libnfs.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* One reply being converted. */
struct conversion {
    struct nfs3_decoder *d;
    const struct nfs3_call *call;
    struct nfs3_reply *reply;
    const char *wrong; /* the first thing out of bounds */
};

static void complain(struct conversion *c, const char *what)
{
    if (!c->wrong)
        c->wrong = what;
}

static struct nfs3_time time_of(nfstime3 t)
{
    return (struct nfs3_time){t.seconds, t.nseconds};
}

static const struct nfs3_attributes *take_attributes(struct conversion *c, const fattr3 *in,
                                                     struct nfs3_attributes *out)
{
    *out = (struct nfs3_attributes){.type = (uint32_t)in->type,
                                    .mode = in->mode,
                                    .nlink = in->nlink,
                                    .uid = in->uid,
                                    .gid = in->gid,
                                    .size = in->size,
                                    .used = in->used,
                                    .rdev_major = in->rdev.specdata1,
                                    .rdev_minor = in->rdev.specdata2,
                                    .fsid = in->fsid,
                                    .fileid = in->fileid,
                                    .atime = time_of(in->atime),
                                    .mtime = time_of(in->mtime),
                                    .ctime = time_of(in->ctime)};
    if (out->type < NFS3_REG || out->type > NFS3_FIFO)
        complain(c, "unknown file type");
    return out;
}

static bool take_bool(struct conversion *c, uint32_t v)
{
    if (v > 1)
        complain(c, "bool that is neither 0 nor 1");
    return v == 1;
}

static const struct nfs3_attributes *take_post_op(struct conversion *c, const post_op_attr *in,
                                                  struct nfs3_attributes *out)
{
    return take_bool(c, in->attributes_follow) ? take_attributes(c, &in->post_op_attr_u.attributes, out) : NULL;
}

static void take_object(struct conversion *c, const post_op_attr *in)
{
    c->reply->attributes = take_post_op(c, in, &c->d->attributes);
}

static void take_dir(struct conversion *c, const post_op_attr *in)
{
    c->reply->dir_attributes = take_post_op(c, in, &c->d->dir_attributes);
}

static void take_fh_into(struct conversion *c, const nfs_fh3 *in, struct nfs3_fh *out)
{
    if (in->data.data_len > NFS3_FH_MAX) {
        complain(c, "file handle longer than 64 bytes");
        return;
    }
    out->len = (uint8_t)in->data.data_len;
    if (out->len)
        memcpy(out->data, in->data.data_val, out->len);
}

static void take_fh(struct conversion *c, const nfs_fh3 *in)
{
    take_fh_into(c, in, &c->d->fh);
    c->reply->fh = &c->d->fh;
}

static void take_created(struct conversion *c, const post_op_fh3 *fh, const post_op_attr *attributes,
                         const wcc_data *dir)
{
    if (take_bool(c, fh->handle_follows))
        take_fh(c, &fh->post_op_fh3_u.handle);
    take_object(c, attributes);
    take_dir(c, &dir->after);
}

static uint64_t verifier_of(const char in[8])
{
    uint64_t v;
    memcpy(&v, in, sizeof v);
    return be64toh(v);
}

static void take_read(struct conversion *c, const READ3resok *in, const void *buffer)
{
    uint32_t asked = c->call->read.count;
    take_object(c, &in->file_attributes);
    c->reply->read.eof = take_bool(c, in->eof);
    if (in->count > asked || (!buffer && in->data.data_len > asked)) {
        complain(c, "READ reply with more bytes than asked for");
        return;
    }
    if (!buffer && in->count != in->data.data_len)
        complain(c, "READ reply whose count is not the length of its data");
    c->reply->read.count = in->count;
    c->reply->read.data = buffer ? buffer : (const uint8_t *)in->data.data_val;
}

static void take_write(struct conversion *c, const WRITE3resok *in)
{
    take_object(c, &in->file_wcc.after);
    c->reply->write.count = in->count;
    c->reply->write.committed = (uint32_t)in->committed;
    c->reply->write.verifier = verifier_of(in->verf);
    if (in->count > c->call->write.count)
        complain(c, "WRITE reply with more bytes than sent");
    if ((uint32_t)in->committed > NFS3_FILE_SYNC)
        complain(c, "WRITE reply with unknown stable_how");
}

static void take_readlink(struct conversion *c, const READLINK3resok *in)
{
    take_object(c, &in->symlink_attributes);
    size_t len = in->data ? strnlen(in->data, NFS3_PATH_MAX + 1) : NFS3_PATH_MAX + 1;
    if (len > NFS3_PATH_MAX)
        complain(c, "symlink text longer than 1024 bytes");
    c->reply->readlink.path = in->data;
    c->reply->readlink.len = (uint32_t)len;
}

static struct nfs3_dir_entry *next_entry(struct conversion *c, uint32_t i, const char *name)
{
    size_t len = name ? strnlen(name, NFS3_NAME_MAX + 1) : 0;
    if (len < 1 || len > NFS3_NAME_MAX) {
        complain(c, "directory entry without a name, or with one longer than 255 bytes");
        return NULL;
    }
    if (!nfs3_decoder_reserve(c->d, i + 1)) {
        complain(c, "out of memory for directory entries");
        return NULL;
    }
    c->d->entries[i] = (struct nfs3_dir_entry){.name = name, .name_len = (uint32_t)len};
    return &c->d->entries[i];
}

static void take_list(struct conversion *c, uint32_t n, uint32_t eof)
{
    c->reply->dir_attributes = c->reply->attributes;
    c->reply->readdir.eof = take_bool(c, eof);
    c->reply->readdir.n = n;
    c->reply->readdir.entries = c->d->entries;
}

static void take_readdir(struct conversion *c, const READDIR3resok *in)
{
    uint32_t n = 0;
    take_object(c, &in->dir_attributes);
    for (const entry3 *e = in->reply.entries; e && !c->wrong; e = e->nextentry) {
        struct nfs3_dir_entry *out = next_entry(c, n, e->name);
        if (!out)
            return;
        out->fileid = e->fileid;
        out->cookie = e->cookie;
        n++;
    }
    c->reply->readdir.cookie_verifier = verifier_of(in->cookieverf);
    take_list(c, n, in->reply.eof);
}

static void take_readdirplus(struct conversion *c, const READDIRPLUS3resok *in)
{
    uint32_t n = 0;
    take_object(c, &in->dir_attributes);
    for (const entryplus3 *e = in->reply.entries; e && !c->wrong; e = e->nextentry) {
        struct nfs3_dir_entry *out = next_entry(c, n, e->name);
        if (!out)
            return;
        out->fileid = e->fileid;
        out->cookie = e->cookie;
        out->attributes = take_post_op(c, &e->name_attributes, &c->d->entry_attributes[n]);
        if (take_bool(c, e->name_handle.handle_follows)) {
            take_fh_into(c, &e->name_handle.post_op_fh3_u.handle, &c->d->entry_fhs[n]);
            out->fh = &c->d->entry_fhs[n];
        }
        n++;
    }
    nfs3_decoder_fix(c->d, n);
    c->reply->readdir.cookie_verifier = verifier_of(in->cookieverf);
    take_list(c, n, in->reply.eof);
}

static void take_fsstat(struct conversion *c, const FSSTAT3resok *in)
{
    take_object(c, &in->obj_attributes);
    c->reply->fsstat.tbytes = in->tbytes;
    c->reply->fsstat.fbytes = in->fbytes;
    c->reply->fsstat.abytes = in->abytes;
    c->reply->fsstat.tfiles = in->tfiles;
    c->reply->fsstat.ffiles = in->ffiles;
    c->reply->fsstat.afiles = in->afiles;
    c->reply->fsstat.invarsec = in->invarsec;
}

static void take_fsinfo(struct conversion *c, const FSINFO3resok *in)
{
    take_object(c, &in->obj_attributes);
    c->reply->fsinfo.rtmax = in->rtmax;
    c->reply->fsinfo.rtpref = in->rtpref;
    c->reply->fsinfo.rtmult = in->rtmult;
    c->reply->fsinfo.wtmax = in->wtmax;
    c->reply->fsinfo.wtpref = in->wtpref;
    c->reply->fsinfo.wtmult = in->wtmult;
    c->reply->fsinfo.dtpref = in->dtpref;
    c->reply->fsinfo.maxfilesize = in->maxfilesize;
    c->reply->fsinfo.properties = in->properties;
}

static void take_pathconf(struct conversion *c, const PATHCONF3resok *in)
{
    take_object(c, &in->obj_attributes);
    c->reply->pathconf.linkmax = in->linkmax;
    c->reply->pathconf.name_max = in->name_max;
    c->reply->pathconf.no_trunc = take_bool(c, in->no_trunc);
    c->reply->pathconf.chown_restricted = take_bool(c, in->chown_restricted);
    c->reply->pathconf.case_insensitive = take_bool(c, in->case_insensitive);
    c->reply->pathconf.case_preserving = take_bool(c, in->case_preserving);
}

/* The result of one procedure: its status, and its members by libnfs's naming. */
#define RESULT(TYPE)                                                                                                   \
    const TYPE *r = res;                                                                                               \
    c->reply->status = (uint32_t)r->status;                                                                            \
    bool is_ok = r->status == 0
#define OK_OF(TYPE)   (&r->TYPE##_u.resok)
#define FAIL_OF(TYPE) (&r->TYPE##_u.resfail)

static void take_created_result(struct conversion *c, const void *res)
{
    /* CREATE, MKDIR, SYMLINK and MKNOD have the same result (RFC 1813 3.3.8 to 3.3.11). */
    _Static_assert(sizeof(CREATE3res) == sizeof(MKDIR3res) && sizeof(CREATE3res) == sizeof(SYMLINK3res) &&
                       sizeof(CREATE3res) == sizeof(MKNOD3res),
                   "one shape");
    RESULT(CREATE3res);
    if (is_ok)
        take_created(c, &OK_OF(CREATE3res)->obj, &OK_OF(CREATE3res)->obj_attributes, &OK_OF(CREATE3res)->dir_wcc);
    else
        take_dir(c, &FAIL_OF(CREATE3res)->dir_wcc.after);
}

static void take_names(struct conversion *c, const void *res)
{
    switch (c->call->op) {
    case NFS_OP_REMOVE: {
        RESULT(REMOVE3res);
        take_dir(c, is_ok ? &OK_OF(REMOVE3res)->dir_wcc.after : &FAIL_OF(REMOVE3res)->dir_wcc.after);
        return;
    }
    case NFS_OP_RMDIR: {
        RESULT(RMDIR3res);
        take_dir(c, is_ok ? &OK_OF(RMDIR3res)->dir_wcc.after : &FAIL_OF(RMDIR3res)->dir_wcc.after);
        return;
    }
    case NFS_OP_RENAME: {
        RESULT(RENAME3res);
        take_dir(c, is_ok ? &OK_OF(RENAME3res)->fromdir_wcc.after : &FAIL_OF(RENAME3res)->fromdir_wcc.after);
        return;
    }
    case NFS_OP_LINK: {
        RESULT(LINK3res);
        take_object(c, is_ok ? &OK_OF(LINK3res)->file_attributes : &FAIL_OF(LINK3res)->file_attributes);
        take_dir(c, is_ok ? &OK_OF(LINK3res)->linkdir_wcc.after : &FAIL_OF(LINK3res)->linkdir_wcc.after);
        return;
    }
    default:
        take_created_result(c, res);
    }
}

static void take_file_system(struct conversion *c, const void *res)
{
    if (c->call->op == NFS_OP_FSSTAT) {
        RESULT(FSSTAT3res);
        if (is_ok)
            take_fsstat(c, OK_OF(FSSTAT3res));
        else
            take_object(c, &FAIL_OF(FSSTAT3res)->obj_attributes);
    } else if (c->call->op == NFS_OP_FSINFO) {
        RESULT(FSINFO3res);
        if (is_ok)
            take_fsinfo(c, OK_OF(FSINFO3res));
        else
            take_object(c, &FAIL_OF(FSINFO3res)->obj_attributes);
    } else {
        RESULT(PATHCONF3res);
        if (is_ok)
            take_pathconf(c, OK_OF(PATHCONF3res));
        else
            take_object(c, &FAIL_OF(PATHCONF3res)->obj_attributes);
    }
}

static void take_directory(struct conversion *c, const void *res)
{
    if (c->call->op == NFS_OP_READDIR) {
        RESULT(READDIR3res);
        if (is_ok)
            take_readdir(c, OK_OF(READDIR3res));
        else
            take_object(c, &FAIL_OF(READDIR3res)->dir_attributes);
    } else {
        RESULT(READDIRPLUS3res);
        if (is_ok)
            take_readdirplus(c, OK_OF(READDIRPLUS3res));
        else
            take_object(c, &FAIL_OF(READDIRPLUS3res)->dir_attributes);
    }
}

static void take_lookup(struct conversion *c, const void *res)
{
    RESULT(LOOKUP3res);
    if (!is_ok) {
        take_dir(c, &FAIL_OF(LOOKUP3res)->dir_attributes);
        return;
    }
    take_fh(c, &OK_OF(LOOKUP3res)->object);
    take_object(c, &OK_OF(LOOKUP3res)->obj_attributes);
    take_dir(c, &OK_OF(LOOKUP3res)->dir_attributes);
}

static void take_data(struct conversion *c, const void *res, const void *buffer)
{
    if (c->call->op == NFS_OP_READ) {
        RESULT(READ3res);
        if (is_ok)
            take_read(c, OK_OF(READ3res), buffer);
        else
            take_object(c, &FAIL_OF(READ3res)->file_attributes);
    } else if (c->call->op == NFS_OP_WRITE) {
        RESULT(WRITE3res);
        if (is_ok)
            take_write(c, OK_OF(WRITE3res));
        else
            take_object(c, &FAIL_OF(WRITE3res)->file_wcc.after);
    } else {
        RESULT(COMMIT3res);
        take_object(c, is_ok ? &OK_OF(COMMIT3res)->file_wcc.after : &FAIL_OF(COMMIT3res)->file_wcc.after);
        if (is_ok)
            c->reply->commit.verifier = verifier_of(OK_OF(COMMIT3res)->verf);
    }
}

static void take_one_file(struct conversion *c, const void *res)
{
    switch (c->call->op) {
    case NFS_OP_GETATTR: {
        RESULT(GETATTR3res);
        if (is_ok)
            c->reply->attributes = take_attributes(c, &OK_OF(GETATTR3res)->obj_attributes, &c->d->attributes);
        return;
    }
    case NFS_OP_SETATTR: {
        RESULT(SETATTR3res);
        take_object(c, is_ok ? &OK_OF(SETATTR3res)->obj_wcc.after : &FAIL_OF(SETATTR3res)->obj_wcc.after);
        return;
    }
    case NFS_OP_ACCESS: {
        RESULT(ACCESS3res);
        take_object(c, is_ok ? &OK_OF(ACCESS3res)->obj_attributes : &FAIL_OF(ACCESS3res)->obj_attributes);
        if (is_ok)
            c->reply->access.access = OK_OF(ACCESS3res)->access;
        return;
    }
    default: {
        RESULT(READLINK3res);
        if (is_ok)
            take_readlink(c, OK_OF(READLINK3res));
        else
            take_object(c, &FAIL_OF(READLINK3res)->symlink_attributes);
    }
    }
}

void nfs3_libnfs_reply(struct nfs3_decoder *d, const struct nfs3_call *call, const void *res, const void *buffer,
                       struct nfs3_reply *reply)
{
    struct conversion c = {.d = d, .call = call, .reply = reply};
    memset(reply, 0, sizeof *reply);
    switch (call->op) {
    case NFS_OP_NULL:
        break;
    case NFS_OP_GETATTR:
    case NFS_OP_SETATTR:
    case NFS_OP_ACCESS:
    case NFS_OP_READLINK:
        take_one_file(&c, res);
        break;
    case NFS_OP_LOOKUP:
        take_lookup(&c, res);
        break;
    case NFS_OP_READ:
    case NFS_OP_WRITE:
    case NFS_OP_COMMIT:
        take_data(&c, res, buffer);
        break;
    case NFS_OP_READDIR:
    case NFS_OP_READDIRPLUS:
        take_directory(&c, res);
        break;
    case NFS_OP_FSSTAT:
    case NFS_OP_FSINFO:
    case NFS_OP_PATHCONF:
        take_file_system(&c, res);
        break;
    default:
        take_names(&c, res);
    }
    if (c.wrong) {
        memset(reply, 0, sizeof *reply);
        reply->result = NFS3_CALL_MALFORMED;
        reply->message = c.wrong;
    }
}
