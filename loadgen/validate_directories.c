/* validate_directories.c - level 2: listings. A directory of N_NAMES is read a little at a time, so that cookies have
 * to work. */
#include "validate_rules.h"

#include <stdio.h>
#include <string.h>

#define N_NAMES     100u
#define SMALL_BYTES 1024u /* of a READDIR: about 20 names */
#define PLUS_BYTES  4096u
#define MAX_REPLIES 500u

struct listing {
    const char *rule;
    bool is_plus;
    uint32_t times_seen[N_NAMES];
    uint64_t fileids[N_NAMES];
    uint32_t n_strange, n_replies;
    uint64_t cookie, verifier, first_cookie;
    bool is_over;
    bool has_bad_attributes;
    char strange[64];
};

static void name_of(uint32_t i, char name[static 16])
{
    snprintf(name, 16, "entry_%03u", i);
}

static int make_names(struct validate_context *v, const char *rule)
{
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < N_NAMES; i++) {
        char name[16];
        struct nfs3_fh fh;
        name_of(i, name);
        r = validate_make_file(v, rule, name, NULL, 0, &fh);
    }
    return r;
}

static void see(struct listing *l, const struct nfs3_dir_entry *e)
{
    bool is_dot = (e->name_len == 1 && e->name[0] == '.') || (e->name_len == 2 && memcmp(e->name, "..", 2) == 0);
    if (is_dot) {
        return;
    }
    uint32_t i = N_NAMES;
    if (e->name_len == 9 && memcmp(e->name, "entry_", 6) == 0) {
        i = (uint32_t)((e->name[6] - '0') * 100 + (e->name[7] - '0') * 10 + (e->name[8] - '0'));
    }
    if (i >= N_NAMES) {
        l->n_strange++;
        snprintf(l->strange, sizeof l->strange, "%.*s", (int)(e->name_len < 60 ? e->name_len : 60), e->name);
        return;
    }
    l->times_seen[i]++;
    l->fileids[i] = e->fileid;
    if (e->attributes != NULL && (e->attributes->fileid != e->fileid || e->attributes->type != NFS3_REG)) {
        l->has_bad_attributes = true;
    }
}

/* RFC 1813 3.3.16: count bounds READDIR3resok with all XDR overhead. */
static uint32_t encoded_bytes(const struct nfs3_reply *reply)
{
    bool has_attributes = reply->attributes != NULL || reply->dir_attributes != NULL;
    uint32_t bytes = (has_attributes ? 4 + 84 : 4) + 8 + 4 + 4; /* attributes, verifier, end of list, eof */
    for (uint32_t i = 0; i < reply->readdir.n; i++) {
        bytes += 4 + 8 + 4 + (reply->readdir.entries[i].name_len + 3) / 4 * 4 + 8;
    }
    return bytes;
}

/* One reply of the listing. 0, 1 after a finding, or negative. */
static int list_more(struct validate_context *v, struct listing *l)
{
    enum nfs_op op = l->is_plus ? NFS_OP_READDIRPLUS : NFS_OP_READDIR;
    struct nfs3_call call = {.op = op, .fh = &v->dir};
    if (l->is_plus) {
        call.readdirplus.cookie = l->cookie;
        call.readdirplus.cookie_verifier = l->verifier;
        call.readdirplus.dircount = call.readdirplus.maxcount = PLUS_BYTES;
    } else {
        call.readdir.cookie = l->cookie;
        call.readdir.cookie_verifier = l->verifier;
        call.readdir.count = SMALL_BYTES;
    }
    const struct nfs3_reply *reply;
    int r = validate_call(v, l->rule, &call, VALIDATE_STATUS_OK, &reply);
    if (r != 0) {
        return r;
    }
    const char *rule = l->is_plus ? "readdirplus-cookies-advance" : "readdir-cookies-advance";
    uint32_t n = reply->readdir.n;
    const struct nfs3_dir_entry *entries = reply->readdir.entries;
    for (uint32_t i = 0; i < n; i++) {
        if (entries[i].cookie == l->cookie || (i > 0 && entries[i].cookie == entries[i - 1].cookie)) {
            validate_find(v, rule, op, "a cookie of its own for every name", "cookie %llu again",
                          (unsigned long long)entries[i].cookie);
            return 1;
        }
        see(l, &entries[i]);
    }
    if (n > 0 && l->n_replies > 0 && entries[0].cookie == l->first_cookie) {
        validate_find(v, rule, op, "the names behind the cookie", "the first name again");
        return 1;
    }
    if (n == 0 && !reply->readdir.eof) {
        validate_find(v, rule, op, "names, or the end of the directory", "no names and no end");
        return 1;
    }
    if (!l->is_plus && encoded_bytes(reply) > SMALL_BYTES) {
        validate_find(v, "readdir-keeps-to-count", op, "at most 1024 bytes", "%u bytes", encoded_bytes(reply));
    }
    if (l->n_replies == 0 && n > 0) {
        l->first_cookie = entries[0].cookie;
    }
    l->is_over = reply->readdir.eof;
    if (n > 0) {
        l->cookie = entries[n - 1].cookie;
    }
    l->verifier = reply->readdir.cookie_verifier;
    if (++l->n_replies >= MAX_REPLIES) {
        validate_find(v, rule, op, "the end of a directory of 100 names", "%u replies without it", MAX_REPLIES);
        return 1;
    }
    return 0;
}

static int list_all(struct validate_context *v, struct listing *l)
{
    int r = 0;
    while (r == 0 && !l->is_over) {
        r = list_more(v, l);
    }
    return r;
}

/* from: names below it may be missing. */
static void expect_each_once(struct validate_context *v, const struct listing *l, uint32_t from)
{
    enum nfs_op op = l->is_plus ? NFS_OP_READDIRPLUS : NFS_OP_READDIR;
    for (uint32_t i = 0; i < N_NAMES; i++) {
        if (l->times_seen[i] > 1 || (i >= from && l->times_seen[i] != 1)) {
            validate_find(v, l->rule, op, "every name once", "entry_%03u %u times", i, l->times_seen[i]);
            return;
        }
    }
    if (l->n_strange > 0) {
        validate_find(v, l->rule, op, "no name that was never made", "%s", l->strange);
    }
}

static int readdir_is_complete(struct validate_context *v)
{
    struct listing l = {.rule = "readdir-lists-every-name-once"};
    int r = make_names(v, l.rule);
    r = r != 0 ? r : list_all(v, &l);
    if (r == 0) {
        expect_each_once(v, &l, 0);
    }
    return r;
}

static int readdirplus_is_complete(struct validate_context *v)
{
    struct listing l = {.rule = "readdirplus-lists-every-name-once", .is_plus = true};
    int r = make_names(v, l.rule);
    r = r != 0 ? r : list_all(v, &l);
    if (r == 0) {
        expect_each_once(v, &l, 0);
        if (l.has_bad_attributes) {
            validate_find(v, "readdirplus-attributes", NFS_OP_READDIRPLUS, "a file's type and fileid with its name",
                          "another type or fileid");
        }
    }
    return r;
}

static int listings_agree_with_lookup(struct validate_context *v)
{
    static const char rule[] = "readdir-fileid";
    struct listing l = {.rule = rule};
    const struct nfs3_reply *reply;
    int r = make_names(v, rule);
    r = r != 0 ? r : list_all(v, &l);
    for (uint32_t i = 0; r == 0 && i < N_NAMES; i += 17) {
        char name[16];
        name_of(i, name);
        struct nfs3_call call = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = name};
        r = validate_call(v, rule, &call, VALIDATE_STATUS_OK, &reply);
        if (r == 0 && reply->attributes != NULL && l.times_seen[i] > 0 && reply->attributes->fileid != l.fileids[i]) {
            validate_find(v, rule, NFS_OP_READDIR, "the fileid that LOOKUP says", "%llu, LOOKUP says %llu",
                          (unsigned long long)l.fileids[i], (unsigned long long)reply->attributes->fileid);
        }
    }
    return r;
}

/* Names removed and made while a listing is under way do not make it lose or repeat the others. */
static int listing_survives_changes(struct validate_context *v)
{
    struct listing l = {.rule = "readdir-while-names-change"};
    const struct nfs3_reply *reply;
    int r = make_names(v, l.rule);
    r = r != 0 ? r : list_more(v, &l);
    for (uint32_t i = 0; r == 0 && i < 20; i++) {
        char name[16];
        name_of(i, name);
        struct nfs3_call call = {.op = NFS_OP_REMOVE, .fh = &v->dir, .name = name};
        r = validate_call(v, l.rule, &call, VALIDATE_STATUS_OK, &reply);
    }
    r = r != 0 ? r : list_all(v, &l);
    if (r == 0) {
        expect_each_once(v, &l, 20);
    }
    return r;
}

static int listing_can_be_resumed(struct validate_context *v)
{
    struct listing l = {.rule = "readdir-resumes-at-a-cookie"}, again;
    int r = make_names(v, l.rule);
    r = r != 0 ? r : list_more(v, &l);
    again = l;
    r = r != 0 ? r : list_all(v, &l);
    r = r != 0 ? r : list_all(v, &again); /* from the same cookie a second time */
    if (r == 0 && memcmp(l.times_seen, again.times_seen, sizeof l.times_seen) != 0) {
        validate_find(v, l.rule, NFS_OP_READDIR, "the same names behind the same cookie", "others the second time");
    }
    return r;
}

static int empty_directory(struct validate_context *v)
{
    static const char rule[] = "readdir-of-empty-directory";
    struct listing l = {.rule = rule};
    int r = list_all(v, &l);
    if (r == 0 && l.n_strange > 0) {
        validate_find(v, rule, NFS_OP_READDIR, "only . and ..", "%s", l.strange);
    }
    return r;
}

const struct validate_rule *validate_directory_rules(uint32_t *n)
{
    static const struct validate_rule rules[] = {
        {"readdir-of-empty-directory", 2, empty_directory},
        {"readdir-lists-every-name-once", 2, readdir_is_complete},
        {"readdirplus-lists-every-name-once", 2, readdirplus_is_complete},
        {"readdir-fileid", 2, listings_agree_with_lookup},
        {"readdir-while-names-change", 2, listing_survives_changes},
        {"readdir-resumes-at-a-cookie", 2, listing_can_be_resumed},
    };
    *n = sizeof rules / sizeof rules[0];
    return rules;
}
