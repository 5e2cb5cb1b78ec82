/* RPC call and reply headers, and the XDR cursor they are read with. */
#include "rpc_msg.h"
#include "xdr_cursor.h"

#include <criterion/criterion.h>

static size_t put(uint8_t *out, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        xdr_store_u32(out + 4 * i, words[i]);
    return 4 * n;
}
#define PUT(out, ...) put(out, (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

Test(xdr_cursor, opaque_longer_than_the_bound_is_refused_before_its_data_is_looked_at)
{
    uint8_t bytes[8];
    uint32_t len;
    PUT(bytes, 65, 0);
    struct xdr_reader r = xdr_reader_of(bytes, 8);
    cr_assert_null(xdr_get_opaque(&r, 64, &len));
    cr_assert(r.is_bad && len == 0);
}

Test(xdr_cursor, length_near_4_gib_does_not_wrap)
{
    uint8_t bytes[8];
    uint32_t len;
    PUT(bytes, 0xfffffffe, 0);
    struct xdr_reader r = xdr_reader_of(bytes, 8);
    cr_assert_null(xdr_get_opaque(&r, UINT32_MAX, &len));
    cr_assert(r.is_bad);
}

Test(xdr_cursor, padding_must_be_there)
{
    uint8_t bytes[] = {0, 0, 0, 3, 'a', 'b', 'c', 0};
    uint32_t len;
    struct xdr_reader whole = xdr_reader_of(bytes, 8), cut = xdr_reader_of(bytes, 7);
    cr_assert_eq(xdr_get_opaque(&whole, 8, &len), bytes + 4);
    cr_assert(len == 3 && xdr_left(&whole) == 0 && !whole.is_bad);
    cr_assert_null(xdr_get_opaque(&cut, 8, &len));
}

Test(xdr_cursor, bool_is_zero_or_one)
{
    uint8_t bytes[12];
    PUT(bytes, 0, 1, 2);
    struct xdr_reader r = xdr_reader_of(bytes, 12);
    cr_assert(!xdr_get_bool(&r) && xdr_get_bool(&r) && !r.is_bad);
    cr_assert(!xdr_get_bool(&r) && r.is_bad);
}

Test(xdr_cursor, writer_stops_at_its_end)
{
    uint8_t bytes[12] = {0};
    struct xdr_writer w = xdr_writer_of(bytes, 8);
    xdr_put_opaque(&w, "abcde", 5);
    cr_assert(w.is_bad);
    cr_assert_eq(bytes[8], 0);
}

Test(rpc_msg, call_header_with_sixteen_groups_and_the_longest_name_fits)
{
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[299] = 0;
    struct rpc_auth_sys auth = {.machine_name = name, .uid = 7, .gid = 8, .n_gids = 16};
    uint8_t out[RPC_MSG_CALL_HEADER_MAX];
    size_t n = rpc_msg_call_header(out, 1, 100003, 3, 21, &auth);
    /* 24 fixed + 8 flavor and length + (stamp 4, name 4+256, uid, gid, count 12, gids 64) + 8 verifier */
    cr_assert_eq(n, 24u + 8 + 4 + 260 + 12 + 64 + 8);
    cr_assert_eq(xdr_load_u32(out + 28), 4u + 260 + 12 + 64);
    cr_assert_eq(xdr_load_u32(out + RPC_MSG_PROCEDURE_AT), 21);
}

Test(rpc_msg, success_gives_the_results)
{
    uint8_t record[32];
    size_t n = PUT(record, 0x11, 1, 0, 0, 0, 0, 0xaa, 0xbb);
    struct rpc_reply_header h;
    rpc_msg_parse_reply(record, n, &h);
    cr_assert(h.kind == RPC_REPLY_SUCCESS && h.xid == 0x11 && h.results == record + 24 && h.results_bytes == 8);
}

Test(rpc_msg, every_truncation_of_a_reply_header_is_no_success)
{
    uint8_t record[32];
    size_t n = PUT(record, 0x11, 1, 0, 6, 4, 0xdead, 0);
    for (size_t cut = 0; cut < n; cut++) {
        struct rpc_reply_header h;
        rpc_msg_parse_reply(record, cut, &h);
        cr_assert(h.kind == RPC_REPLY_MALFORMED || h.kind == RPC_REPLY_NOT_REPLY, "cut at %zu", cut);
    }
}

Test(rpc_msg, a_call_with_our_xid_is_not_a_reply)
{
    uint8_t record[40];
    size_t n = PUT(record, 0x11, 0, 2, 100003, 3, 1, 0, 0, 0, 0);
    struct rpc_reply_header h;
    rpc_msg_parse_reply(record, n, &h);
    cr_assert_eq(h.kind, RPC_REPLY_NOT_REPLY);
}

Test(rpc_msg, verifier_longer_than_400_bytes_is_malformed)
{
    uint8_t record[40 + 404];
    memset(record, 0, sizeof record);
    PUT(record, 0x11, 1, 0, 0, 404);
    struct rpc_reply_header h;
    rpc_msg_parse_reply(record, sizeof record, &h);
    cr_assert_eq(h.kind, RPC_REPLY_MALFORMED);
}

Test(rpc_msg, refusals_are_told_in_words)
{
    uint8_t record[40];
    char why[160];
    struct rpc_reply_header h;
    rpc_msg_parse_reply(record, PUT(record, 1, 1, 0, 0, 0, 2, 2, 4), &h);
    cr_assert_eq(h.kind, RPC_REPLY_REFUSED);
    cr_assert_str_eq(rpc_msg_refusal(&h, why, sizeof why), "program version not offered (PROG_MISMATCH), only 2 to 4");
    rpc_msg_parse_reply(record, PUT(record, 1, 1, 1, 1, 5), &h);
    cr_assert_eq(h.kind, RPC_REPLY_REFUSED);
    cr_assert_str_eq(rpc_msg_refusal(&h, why, sizeof why),
                     "authentication refused: credential too weak (AUTH_TOOWEAK), auth_stat 5");
    rpc_msg_parse_reply(record, PUT(record, 1, 1, 1, 1, 77), &h);
    cr_assert_str_eq(rpc_msg_refusal(&h, why, sizeof why), "authentication refused: unknown reason, auth_stat 77");
}
