/* Calls are written word by word on one end of a socketpair; the server has the other. */
#include "rpc_server.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROG 400200u

struct fixture {
    struct event_base *base;
    struct rpc_server *server;
    int peer;
    unsigned n_calls, n_connects, n_disconnects, n_released;
    struct rpc_call *held[64];
    unsigned n_held;
    bool holds;
    struct rpc_credential credential;
};

static void on_release(void *arg)
{
    ((struct fixture *)arg)->n_released++;
}

/* Procedure 1 doubles an unsigned; 2 answers with data by reference; 3 resets the connection; 4 answers with what
 * cannot fit. */
static void handle(struct rpc_call *call, void *arg)
{
    struct fixture *f = arg;
    f->n_calls++;
    f->credential = call->credential;
    uint32_t number = 0;
    static uint8_t big[8192];
    u_int n_big = sizeof big;
    if (call->proc == 1) {
        if (!rpc_call_decode(call, (xdrproc_t)xdr_u_int, &number)) {
            rpc_call_fail(call, GARBAGE_ARGS);
        } else if (f->holds) {
            f->held[f->n_held++] = call;
        } else {
            number *= 2;
            rpc_call_reply(call, (xdrproc_t)xdr_u_int, &number);
        }
    } else if (call->proc == 2) {
        XDR xdrs;
        struct rpc_answer answer;
        rpc_answer_begin(call, &xdrs);
        xdr_u_int(&xdrs, &n_big);
        rpc_answer_finish(call, &xdrs, &answer);
        answer.segments[0] = (struct rpc_segment){.data = big, .bytes = sizeof big, .release = on_release, .arg = f};
        answer.n_segments = 1;
        rpc_call_send(call, &answer);
        rpc_call_end(call);
    } else if (call->proc == 3) {
        rpc_peer_reset(call->peer);
        rpc_call_end(call);
    } else if (call->proc == 4) {
        XDR xdrs;
        rpc_answer_begin(call, &xdrs);
        cr_assert(!xdr_opaque(&xdrs, (char *)big, n_big), "8 KiB fit into a 1 KiB answer");
        rpc_call_fail(call, SYSTEM_ERR);
    } else {
        rpc_call_end(call);
    }
}

static void on_connect(struct rpc_peer *peer, void *arg)
{
    (void)peer;
    ((struct fixture *)arg)->n_connects++;
}

static void on_disconnect(struct rpc_peer *peer, void *arg)
{
    (void)peer;
    ((struct fixture *)arg)->n_disconnects++;
}

static void settle(struct fixture *f)
{
    for (int i = 0; i < 4; i++) {
        event_base_loop(f->base, EVLOOP_NONBLOCK);
    }
}

static int adopt_new(struct fixture *f)
{
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    rpc_server_adopt(f->server, pair[1]);
    return pair[0];
}

static struct rpc_program programs[3];

static struct fixture *start(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->base = event_base_new();
    programs[0] = (struct rpc_program){.prog = PROG, .vers = 2, .n_procs = 5, .handler = handle, .arg = f};
    programs[1] = (struct rpc_program){.prog = PROG, .vers = 5, .n_procs = 5, .handler = handle, .arg = f};
    programs[2] = (struct rpc_program){.prog = PROG + 1, .vers = 1, .n_procs = 1, .handler = handle, .arg = f};
    struct rpc_server_options options;
    rpc_server_default_options(&options);
    options.programs = programs;
    options.n_programs = 3;
    options.max_connections = 3;
    options.max_calls_per_connection = 4;
    options.max_answer_bytes = 1024;
    options.on_connect = on_connect;
    options.on_disconnect = on_disconnect;
    options.arg = f;
    options.first_record_timeout_ns = options.record_timeout_ns = 1;
    options.send_timeout_ns = 300 * NS_PER_MS;
    f->server = rpc_server_create(f->base, &options);
    cr_assert_not_null(f->server);
    f->peer = adopt_new(f);
    return f;
}

static void stop(struct fixture *f)
{
    for (unsigned i = 0; i < f->n_held; i++) {
        rpc_call_end(f->held[i]);
    }
    rpc_server_destroy(f->server);
    cr_assert_eq(f->n_connects, f->n_disconnects);
    event_base_free(f->base);
    close(f->peer);
    free(f);
}

/* Sends n words as one record. */
static void send_words(int fd, const uint32_t *words, size_t n)
{
    uint32_t raw[256] = {htonl(0x80000000u | (uint32_t)(4 * n))};
    for (size_t i = 0; i < n; i++) {
        raw[i + 1] = htonl(words[i]);
    }
    cr_assert_eq(write(fd, raw, 4 * (n + 1)), (ssize_t)(4 * (n + 1)));
}

/* Reads what is there as words; returns their number. */
static size_t receive_words(int fd, uint32_t *words, size_t cap)
{
    ssize_t n = read(fd, words, 4 * cap);
    for (ssize_t i = 0; i < n / 4; i++) {
        words[i] = ntohl(words[i]);
    }
    return n < 0 ? 0 : (size_t)n / 4;
}

static void expect_words(int fd, const uint32_t *expected, size_t n)
{
    uint32_t got[256];
    size_t n_got = receive_words(fd, got, 256);
    cr_assert_eq(n_got, n + 1, "%zu words came, expected %zu", n_got, n + 1);
    cr_assert_eq(got[0], 0x80000000u | (uint32_t)(4 * n));
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(got[i + 1], expected[i], "word %zu is %u, expected %u", i, got[i + 1], expected[i]);
    }
}

#define SEND(f, ...)                                                                                                   \
    do {                                                                                                               \
        uint32_t words_[] = {__VA_ARGS__};                                                                             \
        send_words((f)->peer, words_, sizeof words_ / 4);                                                              \
        settle(f);                                                                                                     \
    } while (0)

#define EXPECT(f, ...)                                                                                                 \
    do {                                                                                                               \
        uint32_t words_[] = {__VA_ARGS__};                                                                             \
        expect_words((f)->peer, words_, sizeof words_ / 4);                                                            \
    } while (0)

Test(rpc_server, good_call_is_answered_with_its_xid)
{
    struct fixture *f = start();
    SEND(f, 77, 0, 2, PROG, 2, 1, 0, 0, 0, 0, 21);
    EXPECT(f, 77, 1, 0, 0, 0, 0, 42);
    stop(f);
}

Test(rpc_server, unknown_program_is_prog_unavail)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2, PROG + 9, 2, 1, 0, 0, 0, 0);
    EXPECT(f, 1, 1, 0, 0, 0, PROG_UNAVAIL);
    stop(f);
}

Test(rpc_server, unknown_version_is_prog_mismatch_with_the_range)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2, PROG, 4, 1, 0, 0, 0, 0);
    EXPECT(f, 1, 1, 0, 0, 0, PROG_MISMATCH, 2, 5);
    stop(f);
}

Test(rpc_server, unknown_procedure_is_proc_unavail)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2, PROG, 5, 5, 0, 0, 0, 0);
    EXPECT(f, 1, 1, 0, 0, 0, PROC_UNAVAIL);
    stop(f);
}

Test(rpc_server, short_arguments_are_garbage_args)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2, PROG, 2, 1, 0, 0, 0, 0);
    EXPECT(f, 1, 1, 0, 0, 0, GARBAGE_ARGS);
    stop(f);
}

Test(rpc_server, other_rpc_version_is_rpc_mismatch)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 3, PROG, 2, 1, 0, 0, 0, 0);
    EXPECT(f, 1, 1, 1, RPC_MISMATCH, 2, 2);
    stop(f);
}

Test(rpc_server, result_that_does_not_fit_is_system_err)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2, PROG, 2, 4, 0, 0, 0, 0);
    EXPECT(f, 1, 1, 0, 0, 0, SYSTEM_ERR);
    stop(f);
}

Test(rpc_server, auth_sys_reaches_the_handler)
{
    struct fixture *f = start();
    /* stamp, "abc", uid 500, gid 600, gids {7, 8} */
    SEND(f, 1, 0, 2, PROG, 2, 1, 1, 32, 0x1234, 3, 0x61626300, 500, 600, 2, 7, 8, 0, 0, 4);
    EXPECT(f, 1, 1, 0, 0, 0, 0, 8);
    cr_assert_eq(f->credential.flavor, AUTH_SYS);
    cr_assert_eq(f->credential.uid, 500);
    cr_assert_eq(f->credential.gid, 600);
    cr_assert_eq(f->credential.n_gids, 2);
    cr_assert_eq(f->credential.gids[1], 8);
    stop(f);
}

Test(rpc_server, auth_sys_with_17_groups_is_bad_cred)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2, PROG, 2, 1, 1, 88, 0, 0, 5, 6, 17, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0, 0,
         4);
    EXPECT(f, 1, 1, 1, AUTH_ERROR, AUTH_BADCRED);
    cr_assert_eq(f->n_calls, 0);
    stop(f);
}

Test(rpc_server, auth_sys_that_claims_more_than_it_has_is_bad_cred)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2, PROG, 2, 1, 1, 20, 0, 255, 5, 6, 0, 0, 0, 4);
    EXPECT(f, 1, 1, 1, AUTH_ERROR, AUTH_BADCRED);
    SEND(f, 2, 0, 2, PROG, 2, 1, 1, 20, 0, 0xffffffff, 5, 6, 0, 0, 0, 4);
    EXPECT(f, 2, 1, 1, AUTH_ERROR, AUTH_BADCRED);
    SEND(f, 3, 0, 2, PROG, 2, 1, 1, 20, 0, 0, 5, 6, 16, 0, 0, 4);
    EXPECT(f, 3, 1, 1, AUTH_ERROR, AUTH_BADCRED);
    stop(f);
}

Test(rpc_server, over_long_credential_is_bad_cred)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2, PROG, 2, 1, 1, 401, 0, 0);
    EXPECT(f, 1, 1, 1, AUTH_ERROR, AUTH_BADCRED);
    stop(f);
}

Test(rpc_server, unknown_flavor_is_rejected)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2, PROG, 2, 1, 6, 0, 0, 0, 4);
    EXPECT(f, 1, 1, 1, AUTH_ERROR, AUTH_REJECTEDCRED);
    stop(f);
}

Test(rpc_server, what_is_no_call_closes_the_connection)
{
    struct fixture *f = start();
    SEND(f, 1, 1, 0, 0, 0, 0, 0, 0);
    cr_assert_eq(f->n_disconnects, 1);
    stop(f);
}

Test(rpc_server, truncated_header_closes_the_connection)
{
    struct fixture *f = start();
    SEND(f, 1, 0, 2);
    cr_assert_eq(f->n_disconnects, 1);
    stop(f);
}

Test(rpc_server, answers_may_come_later_and_in_another_order)
{
    struct fixture *f = start();
    f->holds = true;
    SEND(f, 1, 0, 2, PROG, 2, 1, 0, 0, 0, 0, 5);
    SEND(f, 2, 0, 2, PROG, 2, 1, 0, 0, 0, 0, 6);
    cr_assert_eq(f->n_held, 2);
    f->n_held = 0;
    uint32_t number = 60;
    rpc_call_reply(f->held[1], (xdrproc_t)xdr_u_int, &number);
    number = 50;
    rpc_call_reply(f->held[0], (xdrproc_t)xdr_u_int, &number);
    settle(f);
    uint32_t got[32];
    cr_assert_eq(receive_words(f->peer, got, 32), 16);
    cr_assert_eq(got[1], 2);
    cr_assert_eq(got[7], 60);
    cr_assert_eq(got[9], 1);
    cr_assert_eq(got[15], 50);
    stop(f);
}

Test(rpc_server, answer_to_a_closed_connection_goes_nowhere)
{
    struct fixture *f = start();
    f->holds = true;
    SEND(f, 1, 0, 2, PROG, 2, 1, 0, 0, 0, 0, 5);
    close(f->peer);
    settle(f);
    cr_assert_eq(f->n_disconnects, 1);
    uint32_t number = 50;
    f->n_held = 0;
    rpc_call_reply(f->held[0], (xdrproc_t)xdr_u_int, &number);
    f->peer = adopt_new(f);
    stop(f);
}

Test(rpc_server, unanswered_calls_are_bounded)
{
    struct fixture *f = start();
    f->holds = true;
    for (uint32_t i = 0; i < 10; i++) {
        SEND(f, i, 0, 2, PROG, 2, 1, 0, 0, 0, 0, i);
    }
    cr_assert_eq(f->n_held, 4, "%u calls were taken, the limit is 4", f->n_held);
    for (unsigned i = 0; i < f->n_held && i < 10; i++) {
        uint32_t number = i;
        rpc_call_reply(f->held[i], (xdrproc_t)xdr_u_int, &number);
        settle(f);
    }
    f->n_held = 0;
    cr_assert_eq(f->n_calls, 10);
    uint32_t got[128];
    cr_assert_eq(receive_words(f->peer, got, 128), 80);
    stop(f);
}

Test(rpc_server, data_by_reference_is_released)
{
    struct fixture *f = start();
    SEND(f, 9, 0, 2, PROG, 2, 2, 0, 0, 0, 0);
    uint32_t got[4096];
    cr_assert_eq(receive_words(f->peer, got, 4096), 8 + 2048);
    cr_assert_eq(got[0], 0x80000000u | (4 * 7 + 8192));
    cr_assert_eq(f->n_released, 1);
    stop(f);
}

Test(rpc_server, handler_may_reset_its_peer)
{
    struct fixture *f = start();
    SEND(f, 9, 0, 2, PROG, 2, 3, 0, 0, 0, 0);
    cr_assert_eq(f->n_disconnects, 1);
    char byte;
    cr_assert_leq(read(f->peer, &byte, 1), 0);
    stop(f);
}

Test(rpc_server, connections_over_the_limit_are_closed)
{
    struct fixture *f = start();
    int others[3] = {adopt_new(f), adopt_new(f), adopt_new(f)};
    cr_assert_eq(rpc_server_n_connections(f->server), 3);
    char byte;
    cr_assert_eq(read(others[2], &byte, 1), 0);
    cr_assert_lt(read(others[1], &byte, 1), 0);
    for (int i = 0; i < 3; i++) {
        close(others[i]);
    }
    stop(f);
}

Test(rpc_server, silent_connection_is_closed_by_the_sweep)
{
    struct fixture *f = start();
    int talker = adopt_new(f);
    uint32_t words[] = {1, 0, 2, PROG, 2, 1, 0, 0, 0, 0, 5};
    send_words(talker, words, 11);
    event_base_loop(f->base, EVLOOP_ONCE);
    while (f->n_disconnects == 0) {
        event_base_loop(f->base, EVLOOP_ONCE);
    }
    cr_assert_eq(rpc_server_n_connections(f->server), 1, "the one that called stays");
    char byte;
    cr_assert_eq(read(f->peer, &byte, 1), 0);
    stop(f);
    close(talker);
}

/* Runs the loop until the sweep has closed a connection. */
static void wait_for_a_sweep(struct fixture *f)
{
    while (f->n_disconnects == 0) {
        event_base_loop(f->base, EVLOOP_ONCE);
    }
}

Test(rpc_server, half_a_record_is_closed_by_the_sweep)
{
    struct fixture *f = start();
    SEND(f, 77, 0, 2, PROG, 2, 1, 0, 0, 0, 0, 21);
    EXPECT(f, 77, 1, 0, 0, 0, 0, 42);
    uint32_t half[] = {htonl(0x80000040u), 1, 2};
    cr_assert_eq(write(f->peer, half, sizeof half), (ssize_t)sizeof half);
    wait_for_a_sweep(f);
    char byte;
    cr_assert_eq(read(f->peer, &byte, 1), 0);
    stop(f);
}

Test(rpc_server, peer_that_takes_no_answers_is_closed_by_the_sweep)
{
    struct fixture *f = start();
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t words[] = {i, 0, 2, PROG, 2, 2, 0, 0, 0, 0};
        uint32_t raw[11] = {htonl(0x80000028u)};
        for (size_t w = 0; w < 10; w++) {
            raw[w + 1] = htonl(words[w]);
        }
        if (write(f->peer, raw, sizeof raw) != (ssize_t)sizeof raw) {
            break;
        }
        event_base_loop(f->base, EVLOOP_NONBLOCK);
    }
    wait_for_a_sweep(f);
    cr_assert_eq(rpc_server_n_connections(f->server), 0);
    stop(f);
}

Test(rpc_server, listens_on_free_ports_of_both_families)
{
    struct fixture *f = start();
    char message[128];
    uint16_t port4 = 0, port6 = 0;
    cr_assert_eq(rpc_server_listen(f->server, "127.0.0.1", 0, &port4, message, sizeof message), 0, "%s", message);
    cr_assert_neq(port4, 0);
    if (rpc_server_listen(f->server, "::1", 0, &port6, message, sizeof message) == 0) {
        cr_assert_neq(port6, 0);
    }
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port4), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    settle(f);
    cr_assert_eq(f->n_connects, 2);
    close(fd);
    cr_assert_eq(rpc_server_listen(f->server, "127.0.0.1", port4, NULL, message, sizeof message), -EADDRINUSE);
    cr_assert_neq(strstr(message, "127.0.0.1"), NULL);
    cr_assert_eq(rpc_server_listen(f->server, "localhost", 0, NULL, message, sizeof message), -EINVAL);
    stop(f);
}
