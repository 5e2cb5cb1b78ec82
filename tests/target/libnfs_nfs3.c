/* libnfs_nfs3.c - the procedures of NFSv3 (RFC 1813 section 3). */
#include "libnfs_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_post_op(const post_op_attr *in, bool *has, fattr3 *out)
{
    *has = in->attributes_follow;
    if (in->attributes_follow) {
        *out = in->post_op_attr_u.attributes;
    }
}

static void take_wcc(const wcc_data *in, bool *has_before, wcc_attr *before, bool *has_after, fattr3 *after)
{
    *has_before = in->before.attributes_follow;
    if (*has_before) {
        *before = in->before.pre_op_attr_u.attributes;
    }
    take_post_op(&in->after, has_after, after);
}

static void take_file_wcc(struct reply *r, const wcc_data *in)
{
    take_wcc(in, &r->has_before, &r->before, &r->has_attributes, &r->attributes);
}

static void take_dir_wcc(struct reply *r, const wcc_data *in)
{
    take_wcc(in, &r->has_before, &r->before, &r->has_dir_attributes, &r->dir_attributes);
}

static void take_fh(struct reply *r, const nfs_fh3 *in)
{
    r->has_fh = true;
    r->fh.len = in->data.data_len;
    memcpy(r->fh.data, in->data.data_val, in->data.data_len);
}

static nfs_fh3 wire_fh(const struct fh *fh)
{
    nfs_fh3 out;
    out.data.data_len = fh->len;
    out.data.data_val = (char *)(uintptr_t)fh->data;
    return out;
}

static diropargs3 wire_dirop(const struct fh *dir, const char *name)
{
    return (diropargs3){.dir = wire_fh(dir), .name = (char *)(uintptr_t)name};
}

static sattr3 wire_set(const struct set *set)
{
    sattr3 out;
    memset(&out, 0, sizeof out);
    if (!set) {
        return out;
    }
    out.mode.set_it = set->has_mode;
    out.mode.set_mode3_u.mode = set->mode;
    out.uid.set_it = set->has_uid;
    out.uid.set_uid3_u.uid = set->uid;
    out.gid.set_it = set->has_gid;
    out.gid.set_gid3_u.gid = set->gid;
    out.size.set_it = set->has_size;
    out.size.set_size3_u.size = set->size;
    out.atime.set_it = (time_how)set->atime_how;
    out.atime.set_atime_u.atime = set->atime;
    out.mtime.set_it = (time_how)set->mtime_how;
    out.mtime.set_mtime_u.mtime = set->mtime;
    return out;
}

uint32_t c_null(struct client *c)
{
    struct pending p = call_start(c, NULL);
    return call_finish(c, rpc_nfs3_null_async(c->rpc, call_on_reply, &p));
}

static void copy_getattr(struct client *c, const void *result)
{
    const GETATTR3res *res = result;
    c->reply.status = res->status;
    if (res->status == NFS3_OK) {
        c->reply.has_attributes = true;
        c->reply.attributes = res->GETATTR3res_u.resok.obj_attributes;
    }
}

uint32_t c_getattr(struct client *c, const struct fh *fh)
{
    struct pending p = call_start(c, copy_getattr);
    GETATTR3args args = {.object = wire_fh(fh)};
    return call_finish(c, rpc_nfs3_getattr_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_setattr(struct client *c, const void *result)
{
    const SETATTR3res *res = result;
    c->reply.status = res->status;
    take_file_wcc(&c->reply,
                  res->status == NFS3_OK ? &res->SETATTR3res_u.resok.obj_wcc : &res->SETATTR3res_u.resfail.obj_wcc);
}

uint32_t c_setattr(struct client *c, const struct fh *fh, const struct set *set, const nfstime3 *guard)
{
    struct pending p = call_start(c, copy_setattr);
    SETATTR3args args = {.object = wire_fh(fh), .new_attributes = wire_set(set)};
    args.guard.check = guard != NULL;
    if (guard) {
        args.guard.sattrguard3_u.obj_ctime = *guard;
    }
    return call_finish(c, rpc_nfs3_setattr_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_lookup(struct client *c, const void *result)
{
    const LOOKUP3res *res = result;
    struct reply *r = &c->reply;
    r->status = res->status;
    if (res->status != NFS3_OK) {
        take_post_op(&res->LOOKUP3res_u.resfail.dir_attributes, &r->has_dir_attributes, &r->dir_attributes);
        return;
    }
    take_fh(r, &res->LOOKUP3res_u.resok.object);
    take_post_op(&res->LOOKUP3res_u.resok.obj_attributes, &r->has_attributes, &r->attributes);
    take_post_op(&res->LOOKUP3res_u.resok.dir_attributes, &r->has_dir_attributes, &r->dir_attributes);
}

uint32_t c_lookup(struct client *c, const struct fh *dir, const char *name)
{
    struct pending p = call_start(c, copy_lookup);
    LOOKUP3args args = {.what = wire_dirop(dir, name)};
    return call_finish(c, rpc_nfs3_lookup_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_access(struct client *c, const void *result)
{
    const ACCESS3res *res = result;
    struct reply *r = &c->reply;
    r->status = res->status;
    if (res->status == NFS3_OK) {
        r->access = res->ACCESS3res_u.resok.access;
        take_post_op(&res->ACCESS3res_u.resok.obj_attributes, &r->has_attributes, &r->attributes);
    }
}

uint32_t c_access(struct client *c, const struct fh *fh, uint32_t want)
{
    struct pending p = call_start(c, copy_access);
    ACCESS3args args = {.object = wire_fh(fh), .access = want};
    return call_finish(c, rpc_nfs3_access_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_readlink(struct client *c, const void *result)
{
    const READLINK3res *res = result;
    struct reply *r = &c->reply;
    r->status = res->status;
    if (res->status == NFS3_OK) {
        snprintf(r->path, sizeof r->path, "%s", res->READLINK3res_u.resok.data);
        take_post_op(&res->READLINK3res_u.resok.symlink_attributes, &r->has_attributes, &r->attributes);
    }
}

uint32_t c_readlink(struct client *c, const struct fh *fh)
{
    struct pending p = call_start(c, copy_readlink);
    READLINK3args args = {.symlink = wire_fh(fh)};
    return call_finish(c, rpc_nfs3_readlink_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_read(struct client *c, const void *result)
{
    const READ3res *res = result;
    struct reply *r = &c->reply;
    r->status = res->status;
    if (res->status != NFS3_OK) {
        take_post_op(&res->READ3res_u.resfail.file_attributes, &r->has_attributes, &r->attributes);
        return;
    }
    const READ3resok *ok = &res->READ3res_u.resok;
    take_post_op(&ok->file_attributes, &r->has_attributes, &r->attributes);
    r->count = ok->count;
    r->eof = ok->eof;
    if (ok->data.data_len != ok->count) {
        call_fatal("READ: count and length of the data differ");
    }
    r->data = malloc(ok->count + 1);
    memcpy(r->data, ok->data.data_val, ok->count);
}

uint32_t c_read(struct client *c, const struct fh *fh, uint64_t offset, uint32_t count)
{
    struct pending p = call_start(c, copy_read);
    READ3args args = {.file = wire_fh(fh), .offset = offset, .count = count};
    return call_finish(c, rpc_nfs3_read_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_write(struct client *c, const void *result)
{
    const WRITE3res *res = result;
    struct reply *r = &c->reply;
    r->status = res->status;
    take_file_wcc(r, res->status == NFS3_OK ? &res->WRITE3res_u.resok.file_wcc : &res->WRITE3res_u.resfail.file_wcc);
    if (res->status == NFS3_OK) {
        r->count = res->WRITE3res_u.resok.count;
        r->committed = res->WRITE3res_u.resok.committed;
        memcpy(r->verifier, res->WRITE3res_u.resok.verf, 8);
    }
}

uint32_t c_write(struct client *c, const struct fh *fh, uint64_t offset, const void *data, uint32_t n, int stable)
{
    struct pending p = call_start(c, copy_write);
    WRITE3args args = {.file = wire_fh(fh), .offset = offset, .count = n, .stable = (stable_how)stable};
    args.data.data_len = n;
    args.data.data_val = (char *)(uintptr_t)data;
    return call_finish(c, rpc_nfs3_write_async(c->rpc, call_on_reply, &args, &p));
}

static void take_created(struct reply *r, const post_op_fh3 *obj, const post_op_attr *attributes, const wcc_data *wcc)
{
    if (obj->handle_follows) {
        take_fh(r, &obj->post_op_fh3_u.handle);
    }
    take_post_op(attributes, &r->has_attributes, &r->attributes);
    take_dir_wcc(r, wcc);
}

/* The results of the four creating procedures are alike in shape but not in type. */
#define COPY_CREATED(function, TYPE, ok, fail)                                                                         \
    static void function(struct client *c, const void *result)                                                         \
    {                                                                                                                  \
        const TYPE *res = result;                                                                                      \
        c->reply.status = res->status;                                                                                 \
        if (res->status == NFS3_OK) {                                                                                  \
            take_created(&c->reply, &res->ok.obj, &res->ok.obj_attributes, &res->ok.dir_wcc);                          \
        } else {                                                                                                       \
            take_dir_wcc(&c->reply, &res->fail.dir_wcc);                                                               \
        }                                                                                                              \
    }

COPY_CREATED(copy_create, CREATE3res, CREATE3res_u.resok, CREATE3res_u.resfail)
COPY_CREATED(copy_mkdir, MKDIR3res, MKDIR3res_u.resok, MKDIR3res_u.resfail)
COPY_CREATED(copy_symlink, SYMLINK3res, SYMLINK3res_u.resok, SYMLINK3res_u.resfail)
COPY_CREATED(copy_mknod, MKNOD3res, MKNOD3res_u.resok, MKNOD3res_u.resfail)

uint32_t c_create(struct client *c, const struct fh *dir, const char *name, int how, const struct set *set,
                  const char *verifier)
{
    struct pending p = call_start(c, copy_create);
    CREATE3args args = {.where = wire_dirop(dir, name), .how = {.mode = (createmode3)how}};
    if (how == EXCLUSIVE) {
        memcpy(args.how.createhow3_u.verf, verifier, 8);
    } else {
        args.how.createhow3_u.obj_attributes = wire_set(set);
    }
    return call_finish(c, rpc_nfs3_create_async(c->rpc, call_on_reply, &args, &p));
}

uint32_t c_mkdir(struct client *c, const struct fh *dir, const char *name, const struct set *set)
{
    struct pending p = call_start(c, copy_mkdir);
    MKDIR3args args = {.where = wire_dirop(dir, name), .attributes = wire_set(set)};
    return call_finish(c, rpc_nfs3_mkdir_async(c->rpc, call_on_reply, &args, &p));
}

uint32_t c_symlink(struct client *c, const struct fh *dir, const char *name, const char *path)
{
    struct pending p = call_start(c, copy_symlink);
    SYMLINK3args args = {.where = wire_dirop(dir, name), .symlink = {.symlink_data = (char *)(uintptr_t)path}};
    return call_finish(c, rpc_nfs3_symlink_async(c->rpc, call_on_reply, &args, &p));
}

uint32_t c_mknod(struct client *c, const struct fh *dir, const char *name, int type, uint32_t major, uint32_t minor)
{
    struct pending p = call_start(c, copy_mknod);
    MKNOD3args args = {.where = wire_dirop(dir, name), .what = {.type = (ftype3)type}};
    if (type == NF3CHR || type == NF3BLK) {
        args.what.mknoddata3_u.chr_device.spec = (specdata3){.specdata1 = major, .specdata2 = minor};
    }
    return call_finish(c, rpc_nfs3_mknod_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_remove(struct client *c, const void *result)
{
    const REMOVE3res *res = result;
    c->reply.status = res->status;
    take_dir_wcc(&c->reply,
                 res->status == NFS3_OK ? &res->REMOVE3res_u.resok.dir_wcc : &res->REMOVE3res_u.resfail.dir_wcc);
}

uint32_t c_remove(struct client *c, const struct fh *dir, const char *name)
{
    struct pending p = call_start(c, copy_remove);
    REMOVE3args args = {.object = wire_dirop(dir, name)};
    return call_finish(c, rpc_nfs3_remove_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_rmdir(struct client *c, const void *result)
{
    const RMDIR3res *res = result;
    c->reply.status = res->status;
    take_dir_wcc(&c->reply,
                 res->status == NFS3_OK ? &res->RMDIR3res_u.resok.dir_wcc : &res->RMDIR3res_u.resfail.dir_wcc);
}

uint32_t c_rmdir(struct client *c, const struct fh *dir, const char *name)
{
    struct pending p = call_start(c, copy_rmdir);
    RMDIR3args args = {.object = wire_dirop(dir, name)};
    return call_finish(c, rpc_nfs3_rmdir_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_rename(struct client *c, const void *result)
{
    const RENAME3res *res = result;
    struct reply *r = &c->reply;
    r->status = res->status;
    const wcc_data *from =
        res->status == NFS3_OK ? &res->RENAME3res_u.resok.fromdir_wcc : &res->RENAME3res_u.resfail.fromdir_wcc;
    const wcc_data *to =
        res->status == NFS3_OK ? &res->RENAME3res_u.resok.todir_wcc : &res->RENAME3res_u.resfail.todir_wcc;
    take_dir_wcc(r, from);
    take_wcc(to, &r->has_to_before, &r->to_before, &r->has_to_after, &r->to_after);
}

uint32_t c_rename(struct client *c, const struct fh *from, const char *from_name, const struct fh *to,
                  const char *to_name)
{
    struct pending p = call_start(c, copy_rename);
    RENAME3args args = {.from = wire_dirop(from, from_name), .to = wire_dirop(to, to_name)};
    return call_finish(c, rpc_nfs3_rename_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_link(struct client *c, const void *result)
{
    const LINK3res *res = result;
    struct reply *r = &c->reply;
    r->status = res->status;
    const LINK3resok *both = &res->LINK3res_u.resok;
    take_post_op(&both->file_attributes, &r->has_attributes, &r->attributes);
    take_dir_wcc(r, &both->linkdir_wcc);
}

uint32_t c_link(struct client *c, const struct fh *fh, const struct fh *dir, const char *name)
{
    struct pending p = call_start(c, copy_link);
    LINK3args args = {.file = wire_fh(fh), .link = wire_dirop(dir, name)};
    return call_finish(c, rpc_nfs3_link_async(c->rpc, call_on_reply, &args, &p));
}

static struct entry *next_entry(struct client *c, const char *name, uint64_t fileid, uint64_t cookie)
{
    if (c->reply.n_entries == MAX_ENTRIES) {
        call_fatal("more entries than room for them");
    }
    struct entry *e = &c->entries[c->reply.n_entries++];
    memset(e, 0, sizeof *e);
    snprintf(e->name, sizeof e->name, "%s", name);
    e->fileid = fileid;
    e->cookie = cookie;
    return e;
}

static void copy_readdir(struct client *c, const void *result)
{
    const READDIR3res *res = result;
    struct reply *r = &c->reply;
    r->status = res->status;
    if (res->status != NFS3_OK) {
        take_post_op(&res->READDIR3res_u.resfail.dir_attributes, &r->has_dir_attributes, &r->dir_attributes);
        return;
    }
    const READDIR3resok *ok = &res->READDIR3res_u.resok;
    take_post_op(&ok->dir_attributes, &r->has_dir_attributes, &r->dir_attributes);
    memcpy(r->verifier, ok->cookieverf, 8);
    r->eof = ok->reply.eof;
    for (const entry3 *e = ok->reply.entries; e; e = e->nextentry) {
        next_entry(c, e->name, e->fileid, e->cookie);
    }
}

uint32_t c_readdir(struct client *c, const struct fh *dir, uint64_t cookie, const char *verifier, uint32_t count)
{
    struct pending p = call_start(c, copy_readdir);
    READDIR3args args = {.dir = wire_fh(dir), .cookie = cookie, .count = count};
    if (verifier) {
        memcpy(args.cookieverf, verifier, 8);
    }
    return call_finish(c, rpc_nfs3_readdir_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_readdirplus(struct client *c, const void *result)
{
    const READDIRPLUS3res *res = result;
    struct reply *r = &c->reply;
    r->status = res->status;
    if (res->status != NFS3_OK) {
        take_post_op(&res->READDIRPLUS3res_u.resfail.dir_attributes, &r->has_dir_attributes, &r->dir_attributes);
        return;
    }
    const READDIRPLUS3resok *ok = &res->READDIRPLUS3res_u.resok;
    take_post_op(&ok->dir_attributes, &r->has_dir_attributes, &r->dir_attributes);
    memcpy(r->verifier, ok->cookieverf, 8);
    r->eof = ok->reply.eof;
    for (const entryplus3 *e = ok->reply.entries; e; e = e->nextentry) {
        struct entry *out = next_entry(c, e->name, e->fileid, e->cookie);
        out->has_attributes = e->name_attributes.attributes_follow;
        out->type = out->has_attributes ? e->name_attributes.post_op_attr_u.attributes.type : 0;
        out->has_fh = e->name_handle.handle_follows;
        if (out->has_fh) {
            out->fh.len = e->name_handle.post_op_fh3_u.handle.data.data_len;
            memcpy(out->fh.data, e->name_handle.post_op_fh3_u.handle.data.data_val, out->fh.len);
        }
    }
}

uint32_t c_readdirplus(struct client *c, const struct fh *dir, uint64_t cookie, const char *verifier, uint32_t dircount,
                       uint32_t maxcount)
{
    struct pending p = call_start(c, copy_readdirplus);
    READDIRPLUS3args args = {.dir = wire_fh(dir), .cookie = cookie, .dircount = dircount, .maxcount = maxcount};
    if (verifier) {
        memcpy(args.cookieverf, verifier, 8);
    }
    return call_finish(c, rpc_nfs3_readdirplus_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_fsstat(struct client *c, const void *result)
{
    const FSSTAT3res *res = result;
    c->reply.status = res->status;
    if (res->status == NFS3_OK) {
        c->reply.fsstat = res->FSSTAT3res_u.resok;
        take_post_op(&res->FSSTAT3res_u.resok.obj_attributes, &c->reply.has_attributes, &c->reply.attributes);
    }
}

uint32_t c_fsstat(struct client *c, const struct fh *fh)
{
    struct pending p = call_start(c, copy_fsstat);
    FSSTAT3args args = {.fsroot = wire_fh(fh)};
    return call_finish(c, rpc_nfs3_fsstat_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_fsinfo(struct client *c, const void *result)
{
    const FSINFO3res *res = result;
    c->reply.status = res->status;
    if (res->status == NFS3_OK) {
        c->reply.fsinfo = res->FSINFO3res_u.resok;
        take_post_op(&res->FSINFO3res_u.resok.obj_attributes, &c->reply.has_attributes, &c->reply.attributes);
    }
}

uint32_t c_fsinfo(struct client *c, const struct fh *fh)
{
    struct pending p = call_start(c, copy_fsinfo);
    FSINFO3args args = {.fsroot = wire_fh(fh)};
    return call_finish(c, rpc_nfs3_fsinfo_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_pathconf(struct client *c, const void *result)
{
    const PATHCONF3res *res = result;
    c->reply.status = res->status;
    if (res->status == NFS3_OK) {
        c->reply.pathconf = res->PATHCONF3res_u.resok;
        take_post_op(&res->PATHCONF3res_u.resok.obj_attributes, &c->reply.has_attributes, &c->reply.attributes);
    }
}

uint32_t c_pathconf(struct client *c, const struct fh *fh)
{
    struct pending p = call_start(c, copy_pathconf);
    PATHCONF3args args = {.object = wire_fh(fh)};
    return call_finish(c, rpc_nfs3_pathconf_async(c->rpc, call_on_reply, &args, &p));
}

static void copy_commit(struct client *c, const void *result)
{
    const COMMIT3res *res = result;
    c->reply.status = res->status;
    take_file_wcc(&c->reply,
                  res->status == NFS3_OK ? &res->COMMIT3res_u.resok.file_wcc : &res->COMMIT3res_u.resfail.file_wcc);
    if (res->status == NFS3_OK) {
        memcpy(c->reply.verifier, res->COMMIT3res_u.resok.verf, 8);
    }
}

uint32_t c_commit(struct client *c, const struct fh *fh, uint64_t offset, uint32_t count)
{
    struct pending p = call_start(c, copy_commit);
    COMMIT3args args = {.file = wire_fh(fh), .offset = offset, .count = count};
    return call_finish(c, rpc_nfs3_commit_async(c->rpc, call_on_reply, &args, &p));
}
