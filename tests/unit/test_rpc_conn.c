/* Two ends of a socketpair: `peer` is written and read by hand, `conn` is the module under test. */
#include "rpc_conn.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
    struct event_base *base;
    struct rpc_conn *conn;
    int peer;
    /* what the handlers saw */
    unsigned n_records, n_batches, n_closes, n_released;
    size_t bytes[256];
    uint8_t first[256], last[256];
    mono_t at[256];
    int error;
    char message[128];
    bool echoes, destroys_in_record, destroys_in_close;
    size_t answer_bytes; /* by reference, per record */
};

static uint8_t blob[4 << 20];

static void on_release(void *arg)
{
    ((struct fixture *)arg)->n_released++;
}

static void on_record(struct rpc_conn *conn, uint8_t *record, size_t bytes, mono_t at, void *arg)
{
    struct fixture *f = arg;
    unsigned i = f->n_records++ % 256;
    f->bytes[i] = bytes;
    f->first[i] = record[0];
    f->last[i] = record[bytes - 1];
    f->at[i] = at;
    if (f->echoes) {
        struct rpc_segment data = {.data = blob, .bytes = f->answer_bytes, .release = on_release, .arg = f};
        rpc_conn_send(conn, record, bytes, &data, f->answer_bytes ? 1 : 0, NULL);
    }
    if (f->destroys_in_record) {
        rpc_conn_destroy(conn);
        f->conn = NULL;
    }
}

static void on_batch_end(struct rpc_conn *conn, void *arg)
{
    (void)conn;
    ((struct fixture *)arg)->n_batches++;
}

static void on_close(struct rpc_conn *conn, int error, const char *message, void *arg)
{
    struct fixture *f = arg;
    f->n_closes++;
    f->error = error;
    snprintf(f->message, sizeof f->message, "%s", message);
    if (f->destroys_in_close) {
        rpc_conn_destroy(conn);
        f->conn = NULL;
    }
}

static const struct rpc_conn_limits small_limits = {
    .max_record_bytes = 1000, .max_queued_bytes = 1 << 20, .read_buffer_bytes = 64};

static struct fixture *start(const struct rpc_conn_limits *limits)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->base = event_base_new();
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    f->peer = pair[0];
    struct rpc_conn_handlers handlers = {on_record, on_batch_end, on_close};
    f->conn = rpc_conn_create(f->base, pair[1], limits, &handlers, f);
    cr_assert_not_null(f->conn);
    return f;
}

static void stop(struct fixture *f)
{
    rpc_conn_destroy(f->conn);
    if (f->peer >= 0) {
        close(f->peer);
    }
    event_base_free(f->base);
    free(f);
}

/* Runs the loop until nothing is ready. */
static void settle(struct fixture *f)
{
    for (int i = 0; i < 4; i++) {
        event_base_loop(f->base, EVLOOP_NONBLOCK);
    }
}

static size_t put_fragment(uint8_t *to, size_t bytes, bool is_last, uint8_t fill)
{
    uint32_t mark = (uint32_t)bytes | (is_last ? 0x80000000u : 0);
    to[0] = (uint8_t)(mark >> 24);
    to[1] = (uint8_t)(mark >> 16);
    to[2] = (uint8_t)(mark >> 8);
    to[3] = (uint8_t)mark;
    memset(to + 4, fill, bytes);
    return bytes + 4;
}

static void peer_write(struct fixture *f, const uint8_t *data, size_t n)
{
    cr_assert_eq(write(f->peer, data, n), (ssize_t)n);
}

Test(rpc_conn, record_arrives_whole)
{
    struct fixture *f = start(&small_limits);
    uint8_t raw[64];
    peer_write(f, raw, put_fragment(raw, 20, true, 7));
    settle(f);
    cr_assert_eq(f->n_records, 1);
    cr_assert_eq(f->bytes[0], 20);
    cr_assert_eq(f->first[0], 7);
    cr_assert_eq(f->n_batches, 1);
    stop(f);
}

Test(rpc_conn, fragments_become_one_record)
{
    struct fixture *f = start(&small_limits);
    uint8_t raw[512];
    size_t n = put_fragment(raw, 100, false, 1);
    n += put_fragment(raw + n, 0, false, 0);
    n += put_fragment(raw + n, 150, false, 2);
    n += put_fragment(raw + n, 50, true, 3);
    n += put_fragment(raw + n, 8, true, 9);
    peer_write(f, raw, n);
    settle(f);
    cr_assert_eq(f->n_records, 2);
    cr_assert_eq(f->bytes[0], 300);
    cr_assert_eq(f->first[0], 1);
    cr_assert_eq(f->last[0], 3);
    cr_assert_eq(f->bytes[1], 8);
    cr_assert_eq(f->first[1], 9);
    stop(f);
}

Test(rpc_conn, one_byte_reads_give_the_same_records)
{
    struct fixture *f = start(&small_limits);
    uint8_t raw[1024];
    size_t n = 0;
    for (uint8_t i = 0; i < 5; i++) {
        n += put_fragment(raw + n, 60, false, i);
        n += put_fragment(raw + n, 40u + i, false, i);
        n += put_fragment(raw + n, 1, true, (uint8_t)(i + 100));
    }
    for (size_t i = 0; i < n; i++) {
        peer_write(f, raw + i, 1);
        event_base_loop(f->base, EVLOOP_NONBLOCK);
    }
    settle(f);
    cr_assert_eq(f->n_records, 5);
    for (unsigned i = 0; i < 5; i++) {
        cr_assert_eq(f->bytes[i], 101 + i);
        cr_assert_eq(f->first[i], i);
        cr_assert_eq(f->last[i], i + 100);
    }
    stop(f);
}

Test(rpc_conn, every_split_of_a_batch_gives_the_same_records)
{
    uint8_t raw[512];
    size_t n = put_fragment(raw, 30, true, 1);
    n += put_fragment(raw + n, 70, false, 2);
    n += put_fragment(raw + n, 5, true, 3);
    n += put_fragment(raw + n, 90, true, 4);
    for (size_t cut = 1; cut < n; cut++) {
        struct fixture *f = start(&small_limits);
        peer_write(f, raw, cut);
        settle(f);
        peer_write(f, raw + cut, n - cut);
        settle(f);
        cr_assert_eq(f->n_records, 3, "cut at %zu: %u records", cut, f->n_records);
        cr_assert_eq(f->bytes[1], 75);
        cr_assert_eq(f->last[1], 3);
        cr_assert_eq(f->last[2], 4);
        stop(f);
    }
}

Test(rpc_conn, record_of_the_limit_passes_and_one_byte_more_closes)
{
    struct fixture *f = start(&small_limits);
    uint8_t raw[2048];
    peer_write(f, raw, put_fragment(raw, 1000, true, 5));
    settle(f);
    cr_assert_eq(f->n_records, 1);
    cr_assert_eq(f->bytes[0], 1000);
    put_fragment(raw, 1001, true, 5);
    peer_write(f, raw, 4);
    settle(f);
    cr_assert_eq(f->n_closes, 1);
    cr_assert_eq(f->error, -EPROTO);
    cr_assert_neq(strstr(f->message, "1001"), NULL);
    stop(f);
}

Test(rpc_conn, fragments_that_sum_beyond_the_limit_close)
{
    struct fixture *f = start(&small_limits);
    uint8_t raw[2048];
    size_t n = put_fragment(raw, 600, false, 5);
    n += put_fragment(raw + n, 401, true, 5);
    peer_write(f, raw, n);
    settle(f);
    cr_assert_eq(f->n_records, 0);
    cr_assert_eq(f->error, -EPROTO);
    stop(f);
}

Test(rpc_conn, empty_record_is_ignored)
{
    struct fixture *f = start(&small_limits);
    uint8_t raw[64];
    size_t n = put_fragment(raw, 0, true, 0);
    n += put_fragment(raw + n, 4, true, 6);
    peer_write(f, raw, n);
    settle(f);
    cr_assert_eq(f->n_records, 1);
    cr_assert_eq(f->bytes[0], 4);
    cr_assert_eq(f->n_closes, 0);
    stop(f);
}

Test(rpc_conn, half_a_record_then_close_says_so)
{
    struct fixture *f = start(&small_limits);
    uint8_t raw[64];
    put_fragment(raw, 40, true, 1);
    peer_write(f, raw, 20);
    settle(f);
    close(f->peer);
    f->peer = -1;
    settle(f);
    cr_assert_eq(f->n_records, 0);
    cr_assert_eq(f->n_closes, 1);
    cr_assert_eq(f->error, 0);
    cr_assert_neq(strstr(f->message, "inside a record"), NULL);
    stop(f);
}

Test(rpc_conn, records_of_one_read_share_their_time)
{
    struct fixture *f = start(&(struct rpc_conn_limits){1000, 1 << 20, 4096});
    uint8_t raw[1024];
    size_t n = 0;
    for (int i = 0; i < 10; i++) {
        n += put_fragment(raw + n, 20, true, 1);
    }
    mono_t before = mono_now();
    peer_write(f, raw, n);
    settle(f);
    mono_t after = mono_now();
    cr_assert_eq(f->n_records, 10);
    cr_assert_eq(f->n_batches, 1);
    for (int i = 0; i < 10; i++) {
        cr_assert_eq(f->at[i].ns, f->at[0].ns);
    }
    cr_assert(!mono_before(f->at[0], before) && !mono_before(after, f->at[0]));
    stop(f);
}

Test(rpc_conn, answers_of_a_batch_leave_together_and_in_order)
{
    struct fixture *f = start(&(struct rpc_conn_limits){1000, 1 << 20, 4096});
    f->echoes = true;
    uint8_t raw[1024], got[1024];
    size_t n = 0;
    for (uint8_t i = 0; i < 10; i++) {
        n += put_fragment(raw + n, 20, true, i);
    }
    peer_write(f, raw, n);
    event_base_loop(f->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    cr_assert_eq(read(f->peer, got, sizeof got), (ssize_t)n);
    cr_assert_eq(memcmp(got, raw, n), 0);
    stop(f);
}

Test(rpc_conn, sent_at_is_set_when_the_record_left)
{
    struct fixture *f = start(&small_limits);
    mono_t sent_at[40];
    for (int i = 0; i < 40; i++) {
        sent_at[i] = (mono_t){0};
        cr_assert_eq(rpc_conn_send(f->conn, (const uint8_t *)"abcd", 4, NULL, 0, &sent_at[i]), 0);
    }
    cr_assert_eq(sent_at[0].ns, 0, "nothing leaves before the end of the tick");
    mono_t before = mono_now();
    settle(f);
    for (int i = 0; i < 40; i++) {
        cr_assert(!mono_before(sent_at[i], before));
        cr_assert_eq(sent_at[i].ns, sent_at[0].ns);
    }
    uint8_t got[512];
    cr_assert_eq(read(f->peer, got, sizeof got), 40 * 8);
    stop(f);
}

Test(rpc_conn, referenced_data_is_released_once_when_it_left)
{
    struct fixture *f = start(&small_limits);
    for (size_t i = 0; i < sizeof blob; i++) {
        blob[i] = (uint8_t)(i * 31);
    }
    struct rpc_segment segments[3] = {
        {.data = blob, .bytes = 3000000, .release = on_release, .arg = f},
        {.data = blob, .bytes = 0, .release = on_release, .arg = f},
        {.data = blob + 5, .bytes = 3, .release = on_release, .arg = f},
    };
    cr_assert_eq(rpc_conn_send(f->conn, (const uint8_t *)"head", 4, segments, 3, NULL), 0);
    uint8_t *got = malloc(4000000);
    size_t n = 0;
    unsigned released_early = 0;
    while (n < 3000000 + 3 + 8) {
        event_base_loop(f->base, EVLOOP_NONBLOCK);
        if (n < 1000000) {
            released_early += f->n_released;
        }
        ssize_t more = read(f->peer, got + n, 100000);
        cr_assert_gt(more, 0);
        n += (size_t)more;
    }
    settle(f);
    cr_assert_eq(released_early, 0);
    cr_assert_eq(f->n_released, 3);
    cr_assert_eq(memcmp(got + 4, "head", 4), 0);
    cr_assert_eq(memcmp(got + 8, blob, 3000000), 0);
    cr_assert_eq(memcmp(got + 8 + 3000000, blob + 5, 3), 0);
    free(got);
    stop(f);
}

Test(rpc_conn, peer_that_does_not_read_stops_the_reading)
{
    struct fixture *f = start(&(struct rpc_conn_limits){1000, 500000, 4096});
    f->echoes = true;
    f->answer_bytes = 1 << 20;
    uint8_t raw[4096];
    size_t n = 0;
    for (uint8_t i = 0; i < 100; i++) {
        n += put_fragment(raw + n, 20, true, i);
    }
    peer_write(f, raw, n);
    settle(f);
    cr_assert_leq(f->n_records, 2, "%u records were handed out although nobody reads", f->n_records);
    cr_assert_leq(rpc_conn_queued_bytes(f->conn), 500000u + (1 << 20) + 24);

    size_t expected = 100 * ((1 << 20) + 24), got = 0;
    static uint8_t sink[1 << 20];
    while (got < expected) {
        event_base_loop(f->base, EVLOOP_NONBLOCK);
        ssize_t more = read(f->peer, sink, sizeof sink);
        cr_assert_gt(more, 0, "stalled after %zu of %zu bytes", got, expected);
        got += (size_t)more;
    }
    settle(f);
    cr_assert_eq(f->n_records, 100);
    cr_assert_eq(f->n_released, 100);
    cr_assert_eq(rpc_conn_queued_bytes(f->conn), 0);
    stop(f);
}

Test(rpc_conn, close_in_the_middle_of_a_send_is_told_once_and_releases)
{
    struct fixture *f = start(&small_limits);
    struct rpc_segment data = {.data = blob, .bytes = sizeof blob, .release = on_release, .arg = f};
    cr_assert_eq(rpc_conn_send(f->conn, (const uint8_t *)"head", 4, &data, 1, NULL), 0);
    settle(f);
    close(f->peer);
    f->peer = -1;
    settle(f);
    settle(f);
    cr_assert_eq(f->n_closes, 1);
    cr_assert_eq(rpc_conn_send(f->conn, (const uint8_t *)"head", 4, NULL, 0, NULL), -ENOTCONN);
    cr_assert_eq(f->n_released, 0);
    rpc_conn_destroy(f->conn);
    f->conn = NULL;
    cr_assert_eq(f->n_released, 1);
    stop(f);
}

Test(rpc_conn, flush_to_a_closed_peer_tells_from_the_loop_only)
{
    struct fixture *f = start(&small_limits);
    close(f->peer);
    f->peer = -1;
    cr_assert_eq(rpc_conn_send(f->conn, (const uint8_t *)"head", 4, NULL, 0, NULL), 0);
    rpc_conn_flush(f->conn);
    cr_assert_eq(f->n_closes, 0);
    settle(f);
    cr_assert_eq(f->n_closes, 1);
    cr_assert_eq(f->error, -EPIPE);
    stop(f);
}

Test(rpc_conn, owner_may_destroy_inside_a_record)
{
    struct fixture *f = start(&small_limits);
    f->destroys_in_record = true;
    uint8_t raw[64];
    size_t n = put_fragment(raw, 4, true, 1);
    n += put_fragment(raw + n, 4, true, 2);
    peer_write(f, raw, n);
    settle(f);
    cr_assert_eq(f->n_records, 1);
    cr_assert_eq(f->n_closes, 0);
    stop(f);
}

Test(rpc_conn, owner_may_destroy_inside_close)
{
    struct fixture *f = start(&small_limits);
    f->destroys_in_close = true;
    close(f->peer);
    f->peer = -1;
    settle(f);
    cr_assert_eq(f->n_closes, 1);
    cr_assert_null(f->conn);
    stop(f);
}
