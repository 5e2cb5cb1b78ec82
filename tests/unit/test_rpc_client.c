/* The generic RPC client over one end of a socket pair; the test plays the server on the other. */
#include "rpc_client.h"
#include "xdr_cursor.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

static struct event_base *base;
static struct rpc_client *client;
static int server;
static int n_closed;
static char events[256]; /* what happened, in order */

struct outcome {
    int n;
    enum rpc_call_result result;
    uint32_t first_word;
    bool destroys;
};

static void note(const char *what)
{
    strncat(events, what, sizeof events - strlen(events) - 1);
}

static void on_closed(struct rpc_client *c, int error, const char *message, void *arg)
{
    (void)c, (void)error, (void)message, (void)arg;
    n_closed++;
    note("closed ");
}

static void on_reply(struct rpc_client *c, const struct rpc_call_reply *reply, void *arg)
{
    struct outcome *o = arg;
    o->n++;
    o->result = reply->result;
    if (reply->result == RPC_CALL_OK && reply->results_bytes >= 4)
        o->first_word = xdr_load_u32(reply->results);
    note("reply ");
    if (o->destroys)
        rpc_client_destroy(c);
}

static void setup(void)
{
    static const struct rpc_client_handlers handlers = {.on_closed = on_closed};
    struct rpc_client_options options = {.max_record_bytes = 4096};
    int fds[2];
    base = event_base_new();
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    server = fds[1];
    client = rpc_client_adopt(base, fds[0], &options, &handlers, NULL);
}

static void teardown(void)
{
    rpc_client_destroy(client);
    event_base_free(base);
    close(server);
}

static uint32_t call(struct outcome *o, int64_t timeout_ns)
{
    static const uint8_t args[4] = {0, 0, 0, 9};
    uint32_t xid;
    cr_assert_eq(rpc_client_call(client, 100000, 2, 3, args, 4, timeout_ns, on_reply, o, &xid), 0);
    return xid;
}

static void run(void)
{
    for (int i = 0; i < 4; i++)
        event_base_loop(base, EVLOOP_NONBLOCK);
}

/* A record with an accepted, successful reply of one word. */
static void answer(uint32_t xid, uint32_t word)
{
    uint32_t words[] = {0x80000000u | 28, xid, 1, 0, 0, 0, 0, word};
    uint8_t bytes[sizeof words];
    for (size_t i = 0; i < sizeof words / 4; i++)
        xdr_store_u32(bytes + 4 * i, words[i]);
    cr_assert_eq(write(server, bytes, sizeof bytes), (ssize_t)sizeof bytes);
}

TestSuite(rpc_client, .init = setup, .fini = teardown);

Test(rpc_client, replies_out_of_order_find_their_calls)
{
    struct outcome a = {0}, b = {0};
    uint32_t xa = call(&a, NS_PER_S * 60), xb = call(&b, NS_PER_S * 60);
    run();
    answer(xb, 22);
    answer(xa, 11);
    run();
    cr_assert(a.n == 1 && a.result == RPC_CALL_OK && a.first_word == 11);
    cr_assert(b.n == 1 && b.first_word == 22);
    cr_assert_eq(rpc_client_in_flight(client), 0);
}

Test(rpc_client, duplicate_and_unknown_replies_are_counted_and_ignored)
{
    struct outcome a = {0};
    uint32_t x = call(&a, NS_PER_S * 60);
    run();
    answer(x, 1);
    answer(x, 2);
    answer(x + 1000, 3);
    run();
    cr_assert(a.n == 1 && a.first_word == 1);
    cr_assert_eq(rpc_client_unknown_xids(client), 2);
}

Test(rpc_client, a_late_call_times_out_and_the_connection_goes_on)
{
    struct outcome late = {0}, next = {0};
    uint32_t x = call(&late, 1);
    while (late.n == 0)
        event_base_loop(base, EVLOOP_ONCE);
    cr_assert_eq(late.result, RPC_CALL_TIMEOUT);
    uint32_t y = call(&next, NS_PER_S * 60);
    run();
    answer(x, 1);
    answer(y, 2);
    run();
    cr_assert(late.n == 1 && next.n == 1 && next.first_word == 2 && n_closed == 0);
}

Test(rpc_client, a_cancelled_call_never_completes)
{
    struct outcome a = {0};
    uint32_t x = call(&a, 1);
    rpc_client_cancel(client, x);
    run();
    answer(x, 1);
    run();
    cr_assert(a.n == 0 && rpc_client_in_flight(client) == 0);
}

Test(rpc_client, calls_in_flight_break_with_the_connection_before_it_is_told)
{
    struct outcome a = {0}, b = {0};
    call(&a, NS_PER_S * 60);
    call(&b, NS_PER_S * 60);
    run();
    shutdown(server, SHUT_RDWR);
    run();
    cr_assert(a.n == 1 && a.result == RPC_CALL_BROKEN && b.n == 1 && b.result == RPC_CALL_BROKEN);
    cr_assert_str_eq(events, "reply reply closed ");
    static const uint8_t none[1];
    cr_assert_eq(rpc_client_call(client, 1, 1, 1, none, 0, 1, on_reply, &a, NULL), -ENOTCONN);
}

Test(rpc_client, may_be_destroyed_by_the_reply_it_gives)
{
    struct outcome a = {.destroys = true}, b = {0};
    uint32_t x = call(&a, NS_PER_S * 60), y = call(&b, NS_PER_S * 60);
    run();
    answer(x, 1);
    answer(y, 2);
    run();
    client = NULL;
    cr_assert(a.n == 1 && b.n == 0 && n_closed == 0);
}

Test(rpc_client, refusal_is_told_with_its_status)
{
    struct outcome a = {0};
    uint32_t x = call(&a, NS_PER_S * 60);
    uint32_t words[] = {0x80000000u | 24, x, 1, 0, 0, 0, 1};
    uint8_t bytes[sizeof words];
    run();
    for (size_t i = 0; i < sizeof words / 4; i++)
        xdr_store_u32(bytes + 4 * i, words[i]);
    cr_assert_eq(write(server, bytes, sizeof bytes), (ssize_t)sizeof bytes);
    run();
    cr_assert(a.n == 1 && a.result == RPC_CALL_REFUSED);
}
