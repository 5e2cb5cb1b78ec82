/* validate_data.c - level 3: what is written is what is read, at every edge. */
#include "rng.h"
#include "validate_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK           VALIDATE_STATUS_OK
#define FILE_BYTES   (192u << 10)
#define STATUS_FBIG  27u
#define STATUS_NOSPC 28u

static uint8_t *random_bytes(uint32_t n)
{
    struct rng rng;
    uint8_t *data = malloc(n);
    rng_seed(&rng, n, 0x76616c);
    for (uint32_t i = 0; data != NULL && i < n; i++) {
        data[i] = (uint8_t)rng_u64(&rng);
    }
    return data;
}

/* Reads [offset, offset + n) in pieces of `piece` and compares. A reply shorter than asked, within the file, is a
 * finding of its own rule. */
static int expect_bytes(struct validate_context *v, const char *rule, const struct nfs3_fh *fh, uint64_t offset,
                        const uint8_t *want, uint32_t n, uint32_t piece)
{
    piece = piece < v->rtmax ? piece : v->rtmax;
    for (uint32_t at = 0; at < n;) {
        uint32_t ask = n - at < piece ? n - at : piece;
        const struct nfs3_reply *reply;
        struct nfs3_call call = {.op = NFS_OP_READ, .fh = fh, .read = {.offset = offset + at, .count = ask}};
        int r = validate_call(v, rule, &call, OK, &reply);
        if (r != 0) {
            return r;
        }
        if (reply->read.count < ask) {
            validate_find(v, "read-brings-what-is-there", NFS_OP_READ, "all bytes asked for within the file",
                          "%u of %u at offset %llu", reply->read.count, ask, (unsigned long long)(offset + at));
            if (reply->read.count == 0) {
                return 1;
            }
        }
        for (uint32_t i = 0; i < reply->read.count; i++) {
            if (reply->read.data[i] != want[at + i]) {
                validate_find(v, rule, NFS_OP_READ, "the bytes that were written",
                              "byte %02x instead of %02x at offset %llu", reply->read.data[i], want[at + i],
                              (unsigned long long)(offset + at + i));
                return 1;
            }
        }
        at += reply->read.count;
    }
    return 0;
}

static int write_bytes(struct validate_context *v, const char *rule, const struct nfs3_fh *fh, uint64_t offset,
                       const uint8_t *data, uint32_t n, enum nfs3_stable stable)
{
    for (uint32_t at = 0; at < n;) {
        uint32_t ask = n - at < v->wtmax ? n - at : v->wtmax;
        const struct nfs3_reply *reply;
        struct nfs3_call call = {.op = NFS_OP_WRITE,
                                 .fh = fh,
                                 .write = {.offset = offset + at, .count = ask, .stable = stable, .data = data + at}};
        int r = validate_call(v, rule, &call, OK, &reply);
        if (r != 0) {
            return r;
        }
        if (reply->write.count == 0) {
            validate_find(v, rule, NFS_OP_WRITE, "at least one byte written", "NFS3_OK with count 0");
            return 1;
        }
        at += reply->write.count;
    }
    return 0;
}

static int sizes_around_edges(struct validate_context *v)
{
    static const char rule[] = "data-read-is-data-written";
    static const uint32_t sizes[] = {1,    3,    511,  512,   513,   4095,  4096,      4097,
                                     8191, 8192, 8193, 65535, 65536, 65537, FILE_BYTES};
    uint8_t *data = random_bytes(FILE_BYTES);
    int r = data == NULL ? -ENOMEM : 0;
    for (size_t i = 0; r == 0 && i < sizeof sizes / sizeof sizes[0]; i++) {
        struct nfs3_fh fh;
        r = validate_make_file(v, rule, "edge", data, sizes[i], &fh);
        r = r != 0 ? r : expect_bytes(v, rule, &fh, 0, data, sizes[i], sizes[i]);
        const struct nfs3_reply *reply;
        struct nfs3_call remove = {.op = NFS_OP_REMOVE, .fh = &v->dir, .name = "edge"};
        r = r != 0 ? r : validate_call(v, rule, &remove, OK, &reply);
    }
    free(data);
    return r;
}

static int pieces_of_any_size(struct validate_context *v)
{
    static const char rule[] = "data-in-pieces";
    static const uint32_t pieces[] = {1000, 4096, 8192, 32768, 65536};
    struct nfs3_fh fh;
    uint8_t *data = random_bytes(FILE_BYTES);
    int r = data == NULL ? -ENOMEM : validate_make_file(v, rule, "pieces", data, FILE_BYTES, &fh);
    for (size_t i = 0; r == 0 && i < sizeof pieces / sizeof pieces[0]; i++) {
        r = expect_bytes(v, rule, &fh, 0, data, FILE_BYTES, pieces[i]);
    }
    free(data);
    return r;
}

static int overwriting_leaves_the_rest(struct validate_context *v)
{
    static const char rule[] = "data-overwritten-in-the-middle";
    struct nfs3_fh fh;
    uint8_t *data = random_bytes(FILE_BYTES), *other = random_bytes(20001);
    int r = data == NULL || other == NULL ? -ENOMEM : validate_make_file(v, rule, "middle", data, FILE_BYTES, &fh);
    r = r != 0 ? r : write_bytes(v, rule, &fh, 30003, other, 20001, NFS3_FILE_SYNC);
    if (r == 0) {
        memcpy(data + 30003, other, 20001);
        r = expect_bytes(v, rule, &fh, 0, data, FILE_BYTES, 65536);
    }
    free(data);
    free(other);
    return r;
}

static int unstable_data_is_there_after_commit(struct validate_context *v)
{
    static const char rule[] = "data-unstable-then-commit";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    uint8_t *data = random_bytes(FILE_BYTES);
    int r = data == NULL ? -ENOMEM : validate_make_file(v, rule, "unstable", NULL, 0, &fh);
    r = r != 0 ? r : write_bytes(v, rule, &fh, 0, data, FILE_BYTES, NFS3_UNSTABLE);
    struct nfs3_call commit = {.op = NFS_OP_COMMIT, .fh = &fh};
    r = r != 0 ? r : validate_call(v, rule, &commit, OK, &reply);
    r = r != 0 ? r : expect_bytes(v, rule, &fh, 0, data, FILE_BYTES, 65536);
    free(data);
    return r;
}

static int holes_are_zero(struct validate_context *v)
{
    static const char rule[] = "data-hole-is-zero";
    struct nfs3_fh fh;
    uint8_t *data = random_bytes(1000), *zero = calloc(1, FILE_BYTES);
    int r = data == NULL || zero == NULL ? -ENOMEM : validate_make_file(v, rule, "hole", data, 1000, &fh);
    r = r != 0 ? r : write_bytes(v, rule, &fh, FILE_BYTES, data, 1000, NFS3_FILE_SYNC);
    r = r != 0 ? r : expect_bytes(v, rule, &fh, 1000, zero, FILE_BYTES - 1000, 65536);
    r = r != 0 ? r : expect_bytes(v, rule, &fh, FILE_BYTES, data, 1000, 1000);
    free(data);
    free(zero);
    return r;
}

static int cut_data_does_not_come_back(struct validate_context *v)
{
    static const char rule[] = "data-cut-off-is-gone";
    struct nfs3_fh fh;
    const struct nfs3_reply *reply;
    uint8_t *data = random_bytes(20000);
    int r = data == NULL ? -ENOMEM : validate_make_file(v, rule, "cut", data, 20000, &fh);
    struct nfs3_call cut = {.op = NFS_OP_SETATTR, .fh = &fh, .setattr = {.set = {.has_size = true, .size = 5000}}};
    struct nfs3_call extend = {.op = NFS_OP_SETATTR, .fh = &fh, .setattr = {.set = {.has_size = true, .size = 20000}}};
    r = r != 0 ? r : validate_call(v, rule, &cut, OK, &reply);
    r = r != 0 ? r : validate_call(v, rule, &extend, OK, &reply);
    if (r == 0) {
        memset(data + 5000, 0, 15000);
        r = expect_bytes(v, rule, &fh, 0, data, 20000, 8192);
    }
    free(data);
    return r;
}

static int end_of_file(struct validate_context *v)
{
    static const char rule[] = "read-at-end-of-file";
    static const uint8_t data[1000] = {7};
    static const struct {
        uint64_t offset;
        uint32_t count, want;
        bool is_end;
    } cases[] = {{0, 1000, 1000, true}, {0, 2000, 1000, true}, {500, 1000, 500, true},
                 {1000, 10, 0, true},   {5000, 10, 0, true},   {0, 999, 999, false}};
    struct nfs3_fh fh;
    int r = validate_make_file(v, rule, "end", data, sizeof data, &fh);
    for (size_t i = 0; r == 0 && i < sizeof cases / sizeof cases[0]; i++) {
        const struct nfs3_reply *reply;
        struct nfs3_call call = {
            .op = NFS_OP_READ, .fh = &fh, .read = {.offset = cases[i].offset, .count = cases[i].count}};
        r = validate_call(v, rule, &call, OK, &reply);
        if (r == 0 && (reply->read.count != cases[i].want || reply->read.eof != cases[i].is_end)) {
            char expected[96];
            snprintf(expected, sizeof expected, "%u bytes%s for %u at %llu of 1000", cases[i].want,
                     cases[i].is_end ? " and eof" : ", no eof", cases[i].count, (unsigned long long)cases[i].offset);
            validate_find(v, rule, NFS_OP_READ, expected, "%u bytes%s", reply->read.count,
                          reply->read.eof ? " and eof" : ", no eof");
        }
    }
    return r;
}

static int beyond_4_gib(struct validate_context *v)
{
    static const char rule[] = "data-beyond-4-gib";
    static const uint64_t far = (UINT64_C(5) << 30) + 12345;
    struct nfs3_fh fh;
    uint8_t *data = random_bytes(5000);
    const struct nfs3_reply *reply;
    int r = data == NULL ? -ENOMEM : validate_make_file(v, rule, "far", NULL, 0, &fh);
    if (r == 0) {
        struct nfs3_call call = {.op = NFS_OP_WRITE,
                                 .fh = &fh,
                                 .write = {.offset = far, .count = 5000, .stable = NFS3_FILE_SYNC, .data = data}};
        r = fiber_call(v->group, &call, &reply);
        if (r != 0 && r != -ECANCELED && r != -ENOTCONN) {
            validate_find(v, rule, NFS_OP_WRITE, "an answer", "%s", reply->message);
            r = 1;
        }
        /* A file system may be too small for it; then there is nothing to check. */
        if (r == 0 && reply->status != STATUS_FBIG && reply->status != STATUS_NOSPC) {
            r = write_bytes(v, rule, &fh, far, data, 5000, NFS3_FILE_SYNC);
            r = r != 0 ? r : expect_bytes(v, rule, &fh, far, data, 5000, 5000);
        } else if (r == 0) {
            r = 1;
        }
    }
    free(data);
    return r;
}

static int names_share_data(struct validate_context *v)
{
    static const char rule[] = "data-by-every-name";
    struct nfs3_fh fh, other;
    const struct nfs3_reply *reply;
    uint8_t *data = random_bytes(9000);
    int r = data == NULL ? -ENOMEM : validate_make_file(v, rule, "one", NULL, 0, &fh);
    struct nfs3_call link = {.op = NFS_OP_LINK, .fh = &fh, .name = "two", .link = {.dir = &v->dir}};
    struct nfs3_call rename = {
        .op = NFS_OP_RENAME, .fh = &v->dir, .name = "one", .rename = {.to_dir = &v->dir, .to_name = "three"}};
    struct nfs3_call look = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = "two"};
    r = r != 0 ? r : validate_call(v, rule, &link, OK, &reply);
    r = r != 0 ? r : validate_call(v, rule, &rename, OK, &reply);
    r = r != 0 ? r : write_bytes(v, rule, &fh, 0, data, 9000, NFS3_FILE_SYNC);
    r = r != 0 ? r : validate_call(v, rule, &look, OK, &reply);
    if (r == 0) {
        other = *reply->fh;
        r = expect_bytes(v, rule, &other, 0, data, 9000, 4096);
    }
    free(data);
    return r;
}

const struct validate_rule *validate_data_rules(uint32_t *n)
{
    static const struct validate_rule rules[] = {
        {"data-read-is-data-written", 3, sizes_around_edges},
        {"data-in-pieces", 3, pieces_of_any_size},
        {"data-overwritten-in-the-middle", 3, overwriting_leaves_the_rest},
        {"data-unstable-then-commit", 3, unstable_data_is_there_after_commit},
        {"data-hole-is-zero", 3, holes_are_zero},
        {"data-cut-off-is-gone", 3, cut_data_does_not_come_back},
        {"read-at-end-of-file", 3, end_of_file},
        {"data-beyond-4-gib", 3, beyond_4_gib},
        {"data-by-every-name", 3, names_share_data},
    };
    *n = sizeof rules / sizeof rules[0];
    return rules;
}
