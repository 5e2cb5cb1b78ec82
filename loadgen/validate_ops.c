/* validate_ops.c - level 1: each of the 22 procedures does what it is for. */
#include "validate_rules.h"

#include <string.h>

#define OK VALIDATE_STATUS_OK

static int null_works(struct validate_context *v)
{
    struct nfs3_call call = {.op = NFS_OP_NULL, .fh = &v->root};
    const struct nfs3_reply *reply;
    return validate_call(v, "null-works", &call, OK, &reply);
}

static int getattr_works(struct validate_context *v)
{
    struct nfs3_call call = {.op = NFS_OP_GETATTR, .fh = &v->dir};
    const struct nfs3_reply *reply;
    int r = validate_call(v, "getattr-works", &call, OK, &reply);
    if (r == 0 && (reply->attributes == NULL || reply->attributes->type != NFS3_DIR)) {
        validate_find(v, "getattr-works", NFS_OP_GETATTR, "type 2 (directory) for a directory", "type %u",
                      reply->attributes != NULL ? reply->attributes->type : 0);
    }
    return r;
}

static int setattr_works(struct validate_context *v)
{
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, "setattr-works", "set", NULL, 0, &fh);
    if (r != 0) {
        return r;
    }
    struct nfs3_call call = {.op = NFS_OP_SETATTR, .fh = &fh, .setattr = {.set = {.has_mode = true, .mode = 0600}}};
    return validate_call(v, "setattr-works", &call, OK, &reply);
}

static int lookup_works(struct validate_context *v)
{
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, "lookup-works", "there", NULL, 0, &fh);
    struct nfs3_call call = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "there"};
    if (r == 0) {
        r = validate_call(v, "lookup-works", &call, OK, &reply);
    }
    return r;
}

static int access_works(struct validate_context *v)
{
    struct nfs3_call call = {.op = NFS_OP_ACCESS, .fh = &v->dir, .access = {.access = 0x1f}};
    const struct nfs3_reply *reply;
    int r = validate_call(v, "access-works", &call, OK, &reply);
    if (r == 0 && (reply->access.access & ~0x1fu) != 0) {
        validate_find(v, "access-works", NFS_OP_ACCESS, "only rights that were asked for (0x1f)", "0x%x",
                      reply->access.access);
    }
    return r;
}

static int symlink_and_readlink_work(struct validate_context *v)
{
    static const char text[] = "some/where/else";
    const struct nfs3_reply *reply;
    struct nfs3_call make = {.op = NFS_OP_SYMLINK,
                             .fh = &v->dir,
                             .name = "link",
                             .symlink = {.set = {.has_mode = true, .mode = 0777}, .path = text}};
    int r = validate_call(v, "symlink-works", &make, OK, &reply);
    struct nfs3_call look = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "link"};
    if (r == 0) {
        r = validate_call(v, "symlink-works", &look, OK, &reply);
    }
    if (r != 0) {
        return r;
    }
    struct nfs3_fh fh = *reply->fh;
    struct nfs3_call read = {.op = NFS_OP_READLINK, .fh = &fh};
    r = validate_call(v, "readlink-works", &read, OK, &reply);
    if (r == 0 && (reply->readlink.len != strlen(text) || memcmp(reply->readlink.path, text, strlen(text)) != 0)) {
        validate_find(v, "readlink-works", NFS_OP_READLINK, text, "a text of %u bytes that is not it",
                      reply->readlink.len);
    }
    return r;
}

static int read_and_write_work(struct validate_context *v)
{
    static const uint8_t data[] = "what was written";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, "write-works", "data", data, sizeof data, &fh);
    if (r != 0) {
        return r;
    }
    struct nfs3_call call = {.op = NFS_OP_READ, .fh = &fh, .read = {.count = sizeof data}};
    r = validate_call(v, "read-works", &call, OK, &reply);
    /* What the bytes are is level 3's question: a server that keeps no data passes this one. */
    if (r == 0 && reply->read.count != sizeof data) {
        validate_find(v, "read-works", NFS_OP_READ, "the 17 bytes that were written", "%u bytes", reply->read.count);
    }
    return r;
}

static int create_works(struct validate_context *v)
{
    struct nfs3_fh fh;
    return validate_make_file(v, "create-works", "new", NULL, 0, &fh);
}

static int mkdir_works(struct validate_context *v)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {
        .op = NFS_OP_MKDIR, .fh = &v->dir, .name = "sub", .mkdir = {.set = {.has_mode = true, .mode = 0755}}};
    return validate_call(v, "mkdir-works", &call, OK, &reply);
}

static int mknod_works(struct validate_context *v)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {.op = NFS_OP_MKNOD,
                             .fh = &v->dir,
                             .name = "pipe",
                             .mknod = {.type = NFS3_FIFO, .set = {.has_mode = true, .mode = 0644}}};
    return validate_call(v, "mknod-works", &call, OK, &reply);
}

static int remove_works(struct validate_context *v)
{
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, "remove-works", "gone", NULL, 0, &fh);
    struct nfs3_call call = {.op = NFS_OP_REMOVE, .fh = &v->dir, .name = "gone"};
    return r != 0 ? r : validate_call(v, "remove-works", &call, OK, &reply);
}

static int rmdir_works(struct validate_context *v)
{
    const struct nfs3_reply *reply;
    struct nfs3_call make = {
        .op = NFS_OP_MKDIR, .fh = &v->dir, .name = "sub", .mkdir = {.set = {.has_mode = true, .mode = 0755}}};
    int r = validate_call(v, "rmdir-works", &make, OK, &reply);
    struct nfs3_call call = {.op = NFS_OP_RMDIR, .fh = &v->dir, .name = "sub"};
    return r != 0 ? r : validate_call(v, "rmdir-works", &call, OK, &reply);
}

static int rename_works(struct validate_context *v)
{
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, "rename-works", "old", NULL, 0, &fh);
    struct nfs3_call call = {
        .op = NFS_OP_RENAME, .fh = &v->dir, .name = "old", .rename = {.to_dir = &v->dir, .to_name = "new"}};
    if (r == 0) {
        r = validate_call(v, "rename-works", &call, OK, &reply);
    }
    struct nfs3_call look = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "new"};
    return r != 0 ? r : validate_call(v, "rename-works", &look, OK, &reply);
}

static int link_works(struct validate_context *v)
{
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, "link-works", "first", NULL, 0, &fh);
    struct nfs3_call call = {.op = NFS_OP_LINK, .fh = &fh, .name = "second", .link = {.dir = &v->dir}};
    if (r == 0) {
        r = validate_call(v, "link-works", &call, OK, &reply);
    }
    struct nfs3_call look = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "second"};
    return r != 0 ? r : validate_call(v, "link-works", &look, OK, &reply);
}

static int readdir_works(struct validate_context *v)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {.op = NFS_OP_READDIR, .fh = &v->dir, .readdir = {.count = 8192}};
    return validate_call(v, "readdir-works", &call, OK, &reply);
}

static int readdirplus_works(struct validate_context *v)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {
        .op = NFS_OP_READDIRPLUS, .fh = &v->dir, .readdirplus = {.dircount = 8192, .maxcount = 8192}};
    return validate_call(v, "readdirplus-works", &call, OK, &reply);
}

static int fsstat_works(struct validate_context *v)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {.op = NFS_OP_FSSTAT, .fh = &v->root};
    int r = validate_call(v, "fsstat-works", &call, OK, &reply);
    if (r == 0 && (reply->fsstat.fbytes > reply->fsstat.tbytes || reply->fsstat.abytes > reply->fsstat.tbytes)) {
        validate_find(v, "fsstat-works", NFS_OP_FSSTAT, "no more bytes free than there are", "%llu of %llu",
                      (unsigned long long)reply->fsstat.fbytes, (unsigned long long)reply->fsstat.tbytes);
    }
    return r;
}

static int fsinfo_works(struct validate_context *v)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {.op = NFS_OP_FSINFO, .fh = &v->root};
    int r = validate_call(v, "fsinfo-works", &call, OK, &reply);
    if (r == 0 && (reply->fsinfo.rtmax == 0 || reply->fsinfo.wtmax == 0)) {
        validate_find(v, "fsinfo-works", NFS_OP_FSINFO, "transfer sizes above 0", "rtmax %u, wtmax %u",
                      reply->fsinfo.rtmax, reply->fsinfo.wtmax);
    }
    return r;
}

static int pathconf_works(struct validate_context *v)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {.op = NFS_OP_PATHCONF, .fh = &v->root};
    int r = validate_call(v, "pathconf-works", &call, OK, &reply);
    if (r == 0 && reply->pathconf.name_max < 32) {
        validate_find(v, "pathconf-works", NFS_OP_PATHCONF, "names of at least 32 bytes", "name_max %u",
                      reply->pathconf.name_max);
    }
    return r;
}

static int commit_works(struct validate_context *v)
{
    static const uint8_t data[] = "to be committed";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, "commit-works", "commit", data, sizeof data, &fh);
    struct nfs3_call call = {.op = NFS_OP_COMMIT, .fh = &fh};
    return r != 0 ? r : validate_call(v, "commit-works", &call, OK, &reply);
}

const struct validate_rule *validate_op_rules(uint32_t *n)
{
    static const struct validate_rule rules[] = {
        {"null-works", 1, null_works},
        {"getattr-works", 1, getattr_works},
        {"setattr-works", 1, setattr_works},
        {"lookup-works", 1, lookup_works},
        {"access-works", 1, access_works},
        {"symlink-works, readlink-works", 1, symlink_and_readlink_work},
        {"write-works, read-works", 1, read_and_write_work},
        {"create-works", 1, create_works},
        {"mkdir-works", 1, mkdir_works},
        {"mknod-works", 1, mknod_works},
        {"remove-works", 1, remove_works},
        {"rmdir-works", 1, rmdir_works},
        {"rename-works", 1, rename_works},
        {"link-works", 1, link_works},
        {"readdir-works", 1, readdir_works},
        {"readdirplus-works", 1, readdirplus_works},
        {"fsstat-works", 1, fsstat_works},
        {"fsinfo-works", 1, fsinfo_works},
        {"pathconf-works", 1, pathconf_works},
        {"commit-works", 1, commit_works},
    };
    *n = sizeof rules / sizeof rules[0];
    return rules;
}
