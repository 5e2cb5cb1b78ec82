/* Results of the 22 procedures, right, cut off and out of bounds. Every buffer ends where the reply ends, so that the
 * sanitizer build sees a read beyond it. */
#include "../engine/valid_replies.h"
#include "nfs3_decode.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct nfs3_call call_of(enum nfs_op op, uint32_t count)
{
    struct nfs3_call call = {.op = op};
    if (op == NFS_OP_READ)
        call.read.count = count;
    else if (op == NFS_OP_WRITE)
        call.write.count = count;
    else if (op == NFS_OP_READDIR)
        call.readdir.count = count;
    else if (op == NFS_OP_READDIRPLUS)
        call.readdirplus.maxcount = count;
    return call;
}

/* Decodes a copy that is exactly as long as the reply; the copy is kept for what points into it. */
static struct nfs3_reply decode(struct nfs3_decoder *d, const struct nfs3_call *call, const uint8_t *bytes, size_t n)
{
    static uint8_t *copy;
    struct nfs3_reply reply;
    free(copy);
    copy = malloc(n ? n : 1);
    memcpy(copy, bytes, n);
    nfs3_decode_results(d, call, copy, n, &reply);
    return reply;
}

static uint8_t buffer[VALID_REPLY_MAX];
static struct nfs3_decoder decoder;

Test(nfs3_decode, every_valid_reply_is_ok)
{
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        struct nfs3_call call = call_of((enum nfs_op)op, 4096);
        size_t n = valid_reply(call.op, 4095, buffer);
        struct nfs3_reply r = decode(&decoder, &call, buffer, n);
        cr_assert_eq(r.result, NFS3_CALL_OK, "%s: %s", nfs_op_name(call.op), r.message ? r.message : "");
        cr_assert_eq(r.status, 0);
    }
}

Test(nfs3_decode, every_valid_reply_cut_anywhere_is_malformed)
{
    for (int op = 1; op < NFS_OP_COUNT; op++) {
        struct nfs3_call call = call_of((enum nfs_op)op, 64);
        size_t n = valid_reply(call.op, 61, buffer);
        for (size_t cut = 0; cut < n; cut++) {
            struct nfs3_reply r = decode(&decoder, &call, buffer, cut);
            cr_assert_eq(r.result, NFS3_CALL_MALFORMED, "%s cut at %zu of %zu", nfs_op_name(call.op), cut, n);
            cr_assert_not_null(r.message);
            cr_assert(r.attributes == NULL && r.fh == NULL && r.dir_attributes == NULL);
        }
    }
}

Test(nfs3_decode, four_bytes_behind_a_reply_are_malformed)
{
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        struct nfs3_call call = call_of((enum nfs_op)op, 4096);
        size_t n = valid_reply(call.op, 8, buffer);
        memset(buffer + n, 0, 4);
        cr_assert_eq(decode(&decoder, &call, buffer, n + 4).result, NFS3_CALL_MALFORMED, "%s", nfs_op_name(call.op));
    }
}

Test(nfs3_decode, any_word_set_to_all_ones_never_reads_beyond_the_reply)
{
    /* The point is that it ends and that the sanitizers are silent; most of these are malformed, a count or a time is
     * not. */
    for (int op = 1; op < NFS_OP_COUNT; op++) {
        struct nfs3_call call = call_of((enum nfs_op)op, 64);
        size_t n = valid_reply(call.op, 61, buffer);
        for (size_t at = 0; at < n; at += 4) {
            uint8_t spoiled[4096];
            memcpy(spoiled, buffer, n);
            memset(spoiled + at, 0xff, 4);
            struct nfs3_reply r = decode(&decoder, &call, spoiled, n);
            cr_assert(r.result == NFS3_CALL_OK || r.result == NFS3_CALL_MALFORMED);
        }
    }
}

Test(nfs3_decode, error_status_gives_the_fail_arm)
{
    for (int op = 1; op < NFS_OP_COUNT; op++) {
        struct nfs3_call call = call_of((enum nfs_op)op, 4096);
        struct xdr_writer w = xdr_writer_of(buffer, sizeof buffer);
        bool is_wcc = op == NFS_OP_SETATTR || op == NFS_OP_WRITE || (op >= NFS_OP_CREATE && op <= NFS_OP_RENAME) ||
                      op == NFS_OP_COMMIT;
        xdr_put_u32(&w, 70); /* NFS3ERR_STALE */
        if (is_wcc || op == NFS_OP_LINK)
            xdr_put_u32(&w, 0);
        if (op != NFS_OP_GETATTR)
            xdr_put_u32(&w, 0);
        if (op == NFS_OP_RENAME || op == NFS_OP_LINK)
            xdr_put_u32(&w, 0);
        if (op == NFS_OP_RENAME)
            xdr_put_u32(&w, 0);
        struct nfs3_reply r = decode(&decoder, &call, buffer, (size_t)(w.at - buffer));
        cr_assert_eq(r.result, NFS3_CALL_OK, "%s: %s", nfs_op_name(call.op), r.message ? r.message : "");
        cr_assert_eq(r.status, 70);
    }
}

Test(nfs3_decode, getattr_gives_every_attribute)
{
    struct nfs3_call call = call_of(NFS_OP_GETATTR, 0);
    struct nfs3_reply r = decode(&decoder, &call, buffer, valid_reply(NFS_OP_GETATTR, 0, buffer));
    const struct nfs3_attributes *a = r.attributes;
    cr_assert(a->type == NFS3_REG && a->mode == 0100 && a->nlink == 0101 && a->uid == 0102 && a->gid == 0103);
    cr_assert(a->size == VALID_SIZE && a->used == VALID_SIZE + 1 && a->rdev_major == 8 && a->rdev_minor == 9);
    cr_assert(a->fsid == 77 && a->fileid == VALID_FILEID);
    cr_assert(a->atime.seconds == 1000 && a->mtime.nseconds == 1003 && a->ctime.nseconds == 1005);
}

Test(nfs3_decode, read_points_at_its_data_in_the_record)
{
    struct nfs3_call call = call_of(NFS_OP_READ, 1048576);
    struct nfs3_reply r = decode(&decoder, &call, buffer, valid_reply(NFS_OP_READ, 1048575, buffer));
    cr_assert(r.read.count == 1048575 && r.read.eof);
    cr_assert(r.read.data[0] == 'r' && r.read.data[1048574] == 'r');
}

Test(nfs3_decode, read_with_one_byte_more_than_asked_is_malformed)
{
    struct nfs3_call call = call_of(NFS_OP_READ, 4096);
    size_t n = valid_reply(NFS_OP_READ, 4097, buffer);
    cr_assert_eq(decode(&decoder, &call, buffer, n).result, NFS3_CALL_MALFORMED);
}

Test(nfs3_decode, read_whose_count_is_not_its_length_is_malformed)
{
    struct nfs3_call call = call_of(NFS_OP_READ, 4096);
    size_t n = valid_reply(NFS_OP_READ, 4096, buffer);
    xdr_store_u32(buffer + 4 + 88, 4095); /* status, post_op_attr, count */
    cr_assert_eq(decode(&decoder, &call, buffer, n).result, NFS3_CALL_MALFORMED);
}

Test(nfs3_decode, write_that_claims_more_than_sent_is_malformed)
{
    struct nfs3_call call = call_of(NFS_OP_WRITE, 4096);
    size_t n = valid_reply(NFS_OP_WRITE, 4097, buffer);
    cr_assert_eq(decode(&decoder, &call, buffer, n).result, NFS3_CALL_MALFORMED);
}

Test(nfs3_decode, readdirplus_gives_names_attributes_and_handles)
{
    struct nfs3_call call = call_of(NFS_OP_READDIRPLUS, 8192);
    struct nfs3_reply r = decode(&decoder, &call, buffer, valid_reply(NFS_OP_READDIRPLUS, 0, buffer));
    cr_assert(r.readdir.n == VALID_ENTRIES && r.readdir.eof && r.readdir.cookie_verifier == VALID_VERIFIER);
    const struct nfs3_dir_entry *e = &r.readdir.entries[2];
    cr_assert(e->name_len == 6 && memcmp(e->name, "a name", 6) == 0);
    cr_assert(e->fileid == VALID_FILEID + 2 && e->cookie == 502);
    cr_assert(e->attributes->size == VALID_SIZE && e->fh->len == VALID_FH_BYTES && e->fh->data[27] == 0x5a);
}

Test(nfs3_decode, entries_keep_their_parts_when_the_arrays_grow)
{
    struct nfs3_call call = call_of(NFS_OP_READDIRPLUS, 1048576);
    struct xdr_writer w = xdr_writer_of(buffer, sizeof buffer);
    uint32_t n = 5000; /* 5000 * 136 bytes */
    xdr_put_u32(&w, 0);
    xdr_put_u32(&w, 0);
    xdr_put_u64(&w, 0);
    for (uint32_t i = 0; i < n; i++) {
        xdr_put_u32(&w, 1);
        xdr_put_u64(&w, i);
        xdr_put_opaque(&w, "name", 4);
        xdr_put_u64(&w, i);
        xdr_put_u32(&w, i % 2);
        if (i % 2)
            valid_put_attributes(&w, NFS3_REG);
        xdr_put_u32(&w, i % 2);
        if (i % 2)
            valid_put_fh(&w);
    }
    xdr_put_u32(&w, 0);
    xdr_put_u32(&w, 0);
    cr_assert(!w.is_bad);
    struct nfs3_reply r = decode(&decoder, &call, buffer, (size_t)(w.at - buffer));
    cr_assert_eq(r.result, NFS3_CALL_OK);
    cr_assert_eq(r.readdir.n, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct nfs3_dir_entry *e = &r.readdir.entries[i];
        cr_assert_eq(e->fileid, i);
        cr_assert_eq(e->attributes != NULL, i % 2 == 1);
        cr_assert(i % 2 == 0 || (e->attributes->fileid == VALID_FILEID && e->fh->len == VALID_FH_BYTES));
    }
}

Test(nfs3_decode, directory_list_longer_than_asked_is_malformed)
{
    struct nfs3_call call = call_of(NFS_OP_READDIR, 512);
    struct xdr_writer w = xdr_writer_of(buffer, sizeof buffer);
    xdr_put_u32(&w, 0);
    xdr_put_u32(&w, 0);
    xdr_put_u64(&w, 0);
    while (w.at - buffer < 8192) {
        xdr_put_u32(&w, 1);
        xdr_put_u64(&w, 1);
        xdr_put_opaque(&w, "name", 4);
        xdr_put_u64(&w, 1);
    }
    xdr_put_u32(&w, 0);
    xdr_put_u32(&w, 1);
    cr_assert_eq(decode(&decoder, &call, buffer, (size_t)(w.at - buffer)).result, NFS3_CALL_MALFORMED);
}

Test(nfs3_decode, handle_of_65_bytes_is_malformed)
{
    struct nfs3_call call = call_of(NFS_OP_LOOKUP, 0);
    uint8_t fh[65] = {0};
    struct xdr_writer w = xdr_writer_of(buffer, sizeof buffer);
    xdr_put_u32(&w, 0);
    xdr_put_opaque(&w, fh, 65);
    xdr_put_u32(&w, 0);
    xdr_put_u32(&w, 0);
    cr_assert_eq(decode(&decoder, &call, buffer, (size_t)(w.at - buffer)).result, NFS3_CALL_MALFORMED);
}

Test(nfs3_decode, unknown_file_type_is_malformed)
{
    struct nfs3_call call = call_of(NFS_OP_GETATTR, 0);
    for (uint32_t type = 0; type < 10; type++) {
        size_t n = valid_reply(NFS_OP_GETATTR, 0, buffer);
        xdr_store_u32(buffer + 4, type);
        bool is_known = type >= 1 && type <= 7;
        cr_assert_eq(decode(&decoder, &call, buffer, n).result, is_known ? NFS3_CALL_OK : NFS3_CALL_MALFORMED);
    }
}

Test(nfs3_decode, a_status_the_rfc_does_not_know_is_still_a_status)
{
    struct nfs3_call call = call_of(NFS_OP_GETATTR, 0);
    xdr_store_u32(buffer, 12345);
    struct nfs3_reply r = decode(&decoder, &call, buffer, 4);
    cr_assert(r.result == NFS3_CALL_OK && r.status == 12345);
}
