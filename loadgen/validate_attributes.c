/* validate_attributes.c - level 2: attributes, sizes, times, links, verifiers, and the statuses that RFC 1813 asks for.
 */
#include "validate_rules.h"

#include <errno.h>

#define OK               VALIDATE_STATUS_OK
#define STATUS_INVAL     22u
#define STATUS_BADHANDLE 10001u

static int get_attributes(struct validate_context *v, const char *rule, const struct nfs3_fh *fh,
                          struct nfs3_attributes *out)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {.op = NFS_OP_GETATTR, .fh = fh};
    int r = validate_call(v, rule, &call, OK, &reply);
    if (r != 0) {
        return r;
    }
    if (reply->attributes == NULL) {
        validate_find(v, rule, NFS_OP_GETATTR, "attributes", "none");
        return 1;
    }
    *out = *reply->attributes;
    return 0;
}

static int write_at(struct validate_context *v, const char *rule, const struct nfs3_fh *fh, uint64_t offset, uint32_t n,
                    enum nfs3_stable stable, const struct nfs3_reply **reply)
{
    static const uint8_t data[4096] = {1, 2, 3};
    struct nfs3_call call = {
        .op = NFS_OP_WRITE, .fh = fh, .write = {.offset = offset, .count = n, .stable = stable, .data = data}};
    return validate_call(v, rule, &call, OK, reply);
}

static int set_size(struct validate_context *v, const char *rule, const struct nfs3_fh *fh, uint64_t bytes)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {.op = NFS_OP_SETATTR, .fh = fh, .setattr = {.set = {.has_size = true, .size = bytes}}};
    return validate_call(v, rule, &call, OK, &reply);
}

static int expect_size(struct validate_context *v, const char *rule, enum nfs_op op, const struct nfs3_fh *fh,
                       uint64_t bytes, const char *expected)
{
    struct nfs3_attributes a;
    int r = get_attributes(v, rule, fh, &a);
    if (r == 0 && a.size != bytes) {
        validate_find(v, rule, op, expected, "size %llu", (unsigned long long)a.size);
    }
    return r;
}

static int type_and_mode(struct validate_context *v)
{
    static const char rule[] = "attributes-of-new-file";
    struct nfs3_fh fh;
    struct nfs3_attributes a;
    int r = validate_make_file(v, rule, "new", NULL, 0, &fh);
    if (r == 0) {
        r = get_attributes(v, rule, &fh, &a);
    }
    if (r == 0 && (a.type != NFS3_REG || (a.mode & 0777) != 0644 || a.nlink != 1 || a.size != 0)) {
        validate_find(v, rule, NFS_OP_GETATTR, "type 1, mode 0644, nlink 1, size 0",
                      "type %u, mode 0%o, nlink %u, size %llu", a.type, a.mode & 07777u, a.nlink,
                      (unsigned long long)a.size);
    }
    return r;
}

static int size_follows_writes(struct validate_context *v)
{
    static const char rule[] = "size-follows-writes";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "grows", NULL, 0, &fh);
    r = r != 0 ? r : write_at(v, rule, &fh, 0, 1000, NFS3_FILE_SYNC, &reply);
    r = r != 0 ? r : expect_size(v, rule, NFS_OP_WRITE, &fh, 1000, "size 1000 after 1000 bytes at 0");
    r = r != 0 ? r : write_at(v, rule, &fh, 5000, 10, NFS3_FILE_SYNC, &reply);
    r = r != 0 ? r : expect_size(v, rule, NFS_OP_WRITE, &fh, 5010, "size 5010 after 10 bytes at 5000");
    r = r != 0 ? r : write_at(v, rule, &fh, 10, 10, NFS3_FILE_SYNC, &reply);
    return r != 0 ? r : expect_size(v, rule, NFS_OP_WRITE, &fh, 5010, "size 5010 still after 10 bytes at 10");
}

static int size_follows_setattr(struct validate_context *v)
{
    static const char rule[] = "size-follows-setattr";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "cut", NULL, 0, &fh);
    r = r != 0 ? r : write_at(v, rule, &fh, 0, 3000, NFS3_FILE_SYNC, &reply);
    r = r != 0 ? r : set_size(v, rule, &fh, 100);
    r = r != 0 ? r : expect_size(v, rule, NFS_OP_SETATTR, &fh, 100, "size 100 after SETATTR size 100");
    r = r != 0 ? r : set_size(v, rule, &fh, 10000);
    return r != 0 ? r : expect_size(v, rule, NFS_OP_SETATTR, &fh, 10000, "size 10000 after SETATTR size 10000");
}

static int mode_is_set(struct validate_context *v)
{
    static const char rule[] = "setattr-mode";
    struct nfs3_fh fh;
    struct nfs3_attributes a;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "mode", NULL, 0, &fh);
    struct nfs3_call call = {.op = NFS_OP_SETATTR, .fh = &fh, .setattr = {.set = {.has_mode = true, .mode = 0604}}};
    r = r != 0 ? r : validate_call(v, rule, &call, OK, &reply);
    r = r != 0 ? r : get_attributes(v, rule, &fh, &a);
    if (r == 0 && (a.mode & 0777) != 0604) {
        validate_find(v, rule, NFS_OP_SETATTR, "mode 0604", "mode 0%o", a.mode & 07777u);
    }
    return r;
}

static int times_are_set(struct validate_context *v)
{
    static const char rule[] = "setattr-times";
    struct nfs3_fh fh;
    struct nfs3_attributes a;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "times", NULL, 0, &fh);
    struct nfs3_call call = {.op = NFS_OP_SETATTR,
                             .fh = &fh,
                             .setattr = {.set = {.atime_how = NFS3_TIME_CLIENT,
                                                 .mtime_how = NFS3_TIME_CLIENT,
                                                 .atime = {1000000001, 0},
                                                 .mtime = {1000000002, 0}}}};
    r = r != 0 ? r : validate_call(v, rule, &call, OK, &reply);
    r = r != 0 ? r : get_attributes(v, rule, &fh, &a);
    if (r == 0 && (a.atime.seconds != 1000000001 || a.mtime.seconds != 1000000002)) {
        validate_find(v, rule, NFS_OP_SETATTR, "atime 1000000001, mtime 1000000002", "atime %u, mtime %u",
                      a.atime.seconds, a.mtime.seconds);
    }
    return r;
}

static bool is_earlier(const struct nfs3_time *a, const struct nfs3_time *b)
{
    return a->seconds != b->seconds ? a->seconds < b->seconds : a->nseconds < b->nseconds;
}

static int write_moves_mtime(struct validate_context *v)
{
    static const char rule[] = "write-moves-mtime";
    struct nfs3_fh fh;
    struct nfs3_attributes before, after;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "mtime", NULL, 0, &fh);
    struct nfs3_call back = {
        .op = NFS_OP_SETATTR, .fh = &fh, .setattr = {.set = {.mtime_how = NFS3_TIME_CLIENT, .mtime = {1000000002, 0}}}};
    r = r != 0 ? r : validate_call(v, rule, &back, OK, &reply);
    r = r != 0 ? r : get_attributes(v, rule, &fh, &before);
    r = r != 0 ? r : write_at(v, rule, &fh, 0, 10, NFS3_FILE_SYNC, &reply);
    r = r != 0 ? r : get_attributes(v, rule, &fh, &after);
    if (r == 0 && !is_earlier(&before.mtime, &after.mtime)) {
        validate_find(v, rule, NFS_OP_WRITE, "a later mtime after a WRITE", "mtime %u before, %u after",
                      before.mtime.seconds, after.mtime.seconds);
    }
    if (r == 0 && is_earlier(&after.ctime, &before.ctime)) {
        validate_find(v, "ctime-never-goes-back", NFS_OP_WRITE, "a ctime not before the one of the last change",
                      "ctime %u before, %u after", before.ctime.seconds, after.ctime.seconds);
    }
    return r;
}

static int guard_is_checked(struct validate_context *v)
{
    static const char rule[] = "setattr-guard";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "guard", NULL, 0, &fh);
    struct nfs3_call call = {.op = NFS_OP_SETATTR,
                             .fh = &fh,
                             .setattr = {.set = {.has_mode = true, .mode = 0600},
                                         .has_guard = true,
                                         .guard_ctime = {.seconds = 1, .nseconds = 1}}};
    return r != 0 ? r : validate_call(v, rule, &call, VALIDATE_STATUS_NOT_SYNC, &reply);
}

static int links_are_counted(struct validate_context *v)
{
    static const char rule[] = "nlink-counts-names";
    struct nfs3_fh fh;
    struct nfs3_attributes one, two, again;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "first", NULL, 0, &fh);
    struct nfs3_call link = {.op = NFS_OP_LINK, .fh = &fh, .name = "second", .link = {.dir = &v->dir}};
    struct nfs3_call remove = {.op = NFS_OP_REMOVE, .fh = &v->dir, .name = "first"};
    r = r != 0 ? r : get_attributes(v, rule, &fh, &one);
    r = r != 0 ? r : validate_call(v, rule, &link, OK, &reply);
    r = r != 0 ? r : get_attributes(v, rule, &fh, &two);
    r = r != 0 ? r : validate_call(v, rule, &remove, OK, &reply);
    r = r != 0 ? r : get_attributes(v, rule, &fh, &again);
    if (r == 0 && (one.nlink != 1 || two.nlink != 2 || again.nlink != 1)) {
        validate_find(v, rule, NFS_OP_LINK, "nlink 1, 2 with a second name, 1 again", "%u, %u, %u", one.nlink,
                      two.nlink, again.nlink);
    }
    return r;
}

static int names_lead_to_the_same_file(struct validate_context *v)
{
    static const char rule[] = "fileid-is-stable";
    struct nfs3_fh fh, found;
    struct nfs3_attributes a, b, d;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "same", NULL, 0, &fh);
    struct nfs3_call call = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "same"};
    r = r != 0 ? r : validate_call(v, rule, &call, OK, &reply);
    if (r != 0) {
        return r;
    }
    found = *reply->fh;
    r = get_attributes(v, rule, &fh, &a);
    r = r != 0 ? r : get_attributes(v, rule, &found, &b);
    r = r != 0 ? r : get_attributes(v, rule, &v->dir, &d);
    if (r == 0 && (a.fileid != b.fileid || a.fileid == d.fileid)) {
        validate_find(v, rule, NFS_OP_LOOKUP, "one fileid by CREATE's and LOOKUP's handle, another for the directory",
                      "%llu, %llu, %llu", (unsigned long long)a.fileid, (unsigned long long)b.fileid,
                      (unsigned long long)d.fileid);
    }
    if (r == 0 && a.fsid != d.fsid) {
        validate_find(v, "fsid-is-one", NFS_OP_GETATTR, "one fsid for a directory and a file in it", "%llx and %llx",
                      (unsigned long long)d.fsid, (unsigned long long)a.fsid);
    }
    return r;
}

static int missing_name(struct validate_context *v)
{
    const struct nfs3_reply *reply;
    struct nfs3_call call = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "not_there"};
    return validate_call(v, "lookup-of-missing-name", &call, VALIDATE_STATUS_NOENT, &reply);
}

static int removed_name(struct validate_context *v)
{
    static const char rule[] = "removed-name-is-gone";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "gone", NULL, 0, &fh);
    struct nfs3_call remove = {.op = NFS_OP_REMOVE, .fh = &v->dir, .name = "gone"};
    struct nfs3_call look = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "gone"};
    struct nfs3_call attributes = {.op = NFS_OP_GETATTR, .fh = &fh};
    r = r != 0 ? r : validate_call(v, rule, &remove, OK, &reply);
    r = r != 0 ? r : validate_call(v, rule, &look, VALIDATE_STATUS_NOENT, &reply);
    if (r != 0) {
        return r;
    }
    r = fiber_call(v->group, &attributes, &reply);
    if (r == 0 && reply->status != VALIDATE_STATUS_STALE && reply->status != STATUS_BADHANDLE) {
        validate_find(v, "removed-file-is-stale", NFS_OP_GETATTR, "NFS3ERR_STALE or NFS3ERR_BADHANDLE", "%s",
                      nfs_status_name(nfs_status_index(reply->status)));
    }
    return r == -ECANCELED || r == -ENOTCONN ? r : 0;
}

static int create_guarded(struct validate_context *v)
{
    static const char rule[] = "create-guarded";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "there", NULL, 0, &fh);
    struct nfs3_call call = {
        .op = NFS_OP_CREATE, .fh = &v->dir, .name = "there", .create = {.how = NFS3_CREATE_GUARDED}};
    return r != 0 ? r : validate_call(v, rule, &call, VALIDATE_STATUS_EXIST, &reply);
}

static int create_exclusive(struct validate_context *v)
{
    static const char rule[] = "create-exclusive";
    const struct nfs3_reply *reply;
    struct nfs3_call first = {.op = NFS_OP_CREATE,
                              .fh = &v->dir,
                              .name = "once",
                              .create = {.how = NFS3_CREATE_EXCLUSIVE, .verifier = 0x1122334455667788}};
    struct nfs3_call repeat = first, other = first;
    other.create.verifier = 0x8877665544332211;
    int r = validate_call(v, rule, &first, OK, &reply);
    if (r == 0) {
        r = validate_call(v, "create-exclusive-repeated", &repeat, OK, &reply);
    }
    return r != 0 ? r : validate_call(v, rule, &other, VALIDATE_STATUS_EXIST, &reply);
}

static int create_unchecked_truncates(struct validate_context *v)
{
    static const char rule[] = "create-unchecked-sets-size";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "again", NULL, 0, &fh);
    struct nfs3_call call = {.op = NFS_OP_CREATE,
                             .fh = &v->dir,
                             .name = "again",
                             .create = {.how = NFS3_CREATE_UNCHECKED, .set = {.has_size = true, .size = 0}}};
    r = r != 0 ? r : write_at(v, rule, &fh, 0, 500, NFS3_FILE_SYNC, &reply);
    r = r != 0 ? r : validate_call(v, rule, &call, OK, &reply);
    return r != 0 ? r : expect_size(v, rule, NFS_OP_CREATE, &fh, 0, "size 0 after CREATE UNCHECKED with size 0");
}

static int statuses_of_names(struct validate_context *v)
{
    struct nfs3_fh file, sub;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, "statuses-of-names", "file", NULL, 0, &file);
    struct nfs3_call mkdir = {
        .op = NFS_OP_MKDIR, .fh = &v->dir, .name = "sub", .mkdir = {.set = {.has_mode = true, .mode = 0755}}};
    struct nfs3_call look = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "sub"};
    r = r != 0 ? r : validate_call(v, "statuses-of-names", &mkdir, OK, &reply);
    r = r != 0 ? r : validate_call(v, "statuses-of-names", &look, OK, &reply);
    if (r != 0) {
        return r;
    }
    sub = *reply->fh;
    struct nfs3_call inside = {
        .op = NFS_OP_CREATE, .fh = &sub, .name = "inside", .create = {.how = NFS3_CREATE_UNCHECKED}};
    struct nfs3_call again = {.op = NFS_OP_MKDIR, .fh = &v->dir, .name = "sub"};
    struct nfs3_call in_file = {.op = NFS_OP_LOOKUP, .fh = &file, .name = "x"};
    struct nfs3_call no_dir = {.op = NFS_OP_RMDIR, .fh = &v->dir, .name = "file"};
    struct nfs3_call full = {.op = NFS_OP_RMDIR, .fh = &v->dir, .name = "sub"};
    struct nfs3_call no_link = {.op = NFS_OP_READLINK, .fh = &file};
    struct nfs3_call nothing = {.op = NFS_OP_REMOVE, .fh = &v->dir, .name = "not_there"};
    r = validate_call(v, "statuses-of-names", &inside, OK, &reply);
    r = r < 0 ? r : validate_call(v, "mkdir-of-existing-name", &again, VALIDATE_STATUS_EXIST, &reply);
    r = r < 0 ? r : validate_call(v, "lookup-in-a-file", &in_file, VALIDATE_STATUS_NOTDIR, &reply);
    r = r < 0 ? r : validate_call(v, "rmdir-of-a-file", &no_dir, VALIDATE_STATUS_NOTDIR, &reply);
    r = r < 0 ? r : validate_call(v, "rmdir-of-full-directory", &full, VALIDATE_STATUS_NOTEMPTY, &reply);
    r = r < 0 ? r : validate_call(v, "readlink-of-a-file", &no_link, STATUS_INVAL, &reply);
    return r < 0 ? r : validate_call(v, "remove-of-missing-name", &nothing, VALIDATE_STATUS_NOENT, &reply);
}

static int rename_replaces(struct validate_context *v)
{
    static const char rule[] = "rename-over-existing-name";
    struct nfs3_fh from, to, now;
    struct nfs3_attributes a, b;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "from", NULL, 0, &from);
    r = r != 0 ? r : validate_make_file(v, rule, "to", NULL, 0, &to);
    struct nfs3_call call = {
        .op = NFS_OP_RENAME, .fh = &v->dir, .name = "from", .rename = {.to_dir = &v->dir, .to_name = "to"}};
    struct nfs3_call old = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "from"};
    struct nfs3_call look = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "to"};
    r = r != 0 ? r : get_attributes(v, rule, &from, &a);
    r = r != 0 ? r : validate_call(v, rule, &call, OK, &reply);
    r = r != 0 ? r : validate_call(v, rule, &old, VALIDATE_STATUS_NOENT, &reply);
    r = r != 0 ? r : validate_call(v, rule, &look, OK, &reply);
    if (r != 0) {
        return r;
    }
    now = *reply->fh;
    r = get_attributes(v, rule, &now, &b);
    if (r == 0 && a.fileid != b.fileid) {
        validate_find(v, rule, NFS_OP_RENAME, "the new name leads to the renamed file", "fileid %llu instead of %llu",
                      (unsigned long long)b.fileid, (unsigned long long)a.fileid);
    }
    return r;
}

static int writes_are_as_stable_as_asked(struct validate_context *v)
{
    static const char rule[] = "write-committed-level";
    static const char *const names[] = {"UNSTABLE", "DATA_SYNC", "FILE_SYNC"};
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    int r = validate_make_file(v, rule, "stable", NULL, 0, &fh);
    for (uint32_t stable = NFS3_UNSTABLE; r == 0 && stable <= NFS3_FILE_SYNC; stable++) {
        r = write_at(v, rule, &fh, 0, 100, (enum nfs3_stable)stable, &reply);
        if (r == 0 && reply->write.committed < stable) {
            validate_find(v, rule, NFS_OP_WRITE, names[stable], "committed %u", reply->write.committed);
        }
    }
    return r;
}

static int verifier_does_not_change(struct validate_context *v)
{
    static const char rule[] = "write-verifier-is-stable";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    uint64_t first = 0;
    int r = validate_make_file(v, rule, "verifier", NULL, 0, &fh);
    for (uint32_t i = 0; r == 0 && i < 8; i++) {
        r = write_at(v, rule, &fh, i * 4096ull, 4096, NFS3_UNSTABLE, &reply);
        if (r != 0) {
            return r;
        }
        uint64_t wrote = reply->write.verifier;
        first = i == 0 ? wrote : first;
        struct nfs3_call commit = {.op = NFS_OP_COMMIT, .fh = &fh};
        r = validate_call(v, rule, &commit, OK, &reply);
        if (r == 0 && (wrote != first || reply->commit.verifier != first)) {
            validate_find(v, rule, NFS_OP_COMMIT, "one write verifier while the server runs",
                          "%016llx, then %016llx by WRITE and %016llx by COMMIT", (unsigned long long)first,
                          (unsigned long long)wrote, (unsigned long long)reply->commit.verifier);
        }
    }
    return r;
}

const struct validate_rule *validate_attribute_rules(uint32_t *n)
{
    static const struct validate_rule rules[] = {
        {"attributes-of-new-file", 2, type_and_mode},
        {"size-follows-writes", 2, size_follows_writes},
        {"size-follows-setattr", 2, size_follows_setattr},
        {"setattr-mode", 2, mode_is_set},
        {"setattr-times", 2, times_are_set},
        {"write-moves-mtime", 2, write_moves_mtime},
        {"setattr-guard", 2, guard_is_checked},
        {"nlink-counts-names", 2, links_are_counted},
        {"fileid-is-stable", 2, names_lead_to_the_same_file},
        {"lookup-of-missing-name", 2, missing_name},
        {"removed-name-is-gone", 2, removed_name},
        {"create-guarded", 2, create_guarded},
        {"create-exclusive", 2, create_exclusive},
        {"create-unchecked-sets-size", 2, create_unchecked_truncates},
        {"statuses-of-names", 2, statuses_of_names},
        {"rename-over-existing-name", 2, rename_replaces},
        {"write-committed-level", 2, writes_are_as_stable_as_asked},
        {"write-verifier-is-stable", 2, verifier_does_not_change},
    };
    *n = sizeof rules / sizeof rules[0];
    return rules;
}
