/* Calls come over a socketpair into a server whose handler only keeps them; their answers wait in the queue. */
#include "delay_queue.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS NS_PER_MS

struct fixture {
    struct event_base *base;
    struct rpc_server *server;
    struct delay_queue *queue;
    _Atomic int64_t paused_until;
    int peer;
    struct rpc_call *calls[16];
    unsigned n_calls, n_released;
    struct rpc_program program;
};

static void keep(struct rpc_call *call, void *arg)
{
    struct fixture *f = arg;
    f->calls[f->n_calls++] = call;
}

static struct fixture *start(unsigned n)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct event_config *config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    f->base = event_base_new_with_config(config);
    event_config_free(config);
    f->program = (struct rpc_program){.prog = 1, .vers = 1, .n_procs = 1, .handler = keep, .arg = f};
    struct rpc_server_options options;
    rpc_server_default_options(&options);
    options.programs = &f->program;
    options.n_programs = 1;
    f->server = rpc_server_create(f->base, &options);
    f->queue = delay_queue_create(f->base, &f->paused_until);
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    f->peer = pair[0];
    rpc_server_adopt(f->server, pair[1]);
    for (unsigned i = 0; i < n; i++) {
        const uint32_t words[11] = {htonl(0x80000028u), htonl(i), 0, htonl(2), htonl(1), htonl(1)};
        cr_assert_eq(write(f->peer, words, sizeof words), (ssize_t)sizeof words);
    }
    while (f->n_calls < n) {
        event_base_loop(f->base, EVLOOP_ONCE);
    }
    return f;
}

static void stop(struct fixture *f)
{
    delay_queue_destroy(f->queue);
    rpc_server_destroy(f->server);
    event_base_free(f->base);
    close(f->peer);
    free(f);
}

static void on_release(void *arg)
{
    ((struct fixture *)arg)->n_released++;
}

static void add(struct fixture *f, unsigned i, struct delayed_fate fate, mono_t due)
{
    uint8_t head[4] = {'a', 'b', 'c', (uint8_t)('0' + i)};
    struct rpc_answer answer = {.head = head, .head_bytes = 4, .n_segments = 1};
    answer.segments[0] =
        (struct rpc_segment){.data = (const uint8_t *)"data", .bytes = 4, .release = on_release, .arg = f};
    delay_queue_add(f->queue, f->calls[i], &answer, fate, due);
    memset(head, 0, sizeof head); /* the queue has its own copy */
}

static const struct delayed_fate good = {.n_copies = 1};

/* Runs the loop until n bytes came, and returns when the last did. */
static mono_t receive(struct fixture *f, char *out, size_t n)
{
    size_t have = 0;
    while (have < n) {
        event_base_loop(f->base, EVLOOP_ONCE);
        ssize_t got = read(f->peer, out + have, n - have);
        have += got > 0 ? (size_t)got : 0;
    }
    return mono_now();
}

Test(delay_queue, answers_leave_in_the_order_of_their_times_and_never_early)
{
    struct fixture *f = start(3);
    mono_t now = mono_now();
    char got[36];
    add(f, 0, good, mono_plus_ns(now, 30 * MS));
    add(f, 1, good, mono_plus_ns(now, 10 * MS));
    add(f, 2, good, mono_plus_ns(now, 20 * MS));
    for (unsigned i = 0; i < 3; i++) {
        mono_t at = receive(f, got + 12 * i, 12);
        cr_assert_geq(mono_since_ns(at, now), (int64_t)(i + 1) * 10 * MS);
    }
    cr_assert_eq(memcmp(got + 4, "abc1data", 8), 0);
    cr_assert_eq(memcmp(got + 16, "abc2data", 8), 0);
    cr_assert_eq(memcmp(got + 28, "abc0data", 8), 0);
    cr_assert_eq(f->n_released, 3);
    stop(f);
}

Test(delay_queue, equal_times_are_first_in_first_out)
{
    struct fixture *f = start(9);
    mono_t due = mono_plus_ns(mono_now(), 5 * MS);
    char got[9 * 12];
    for (unsigned i = 0; i < 9; i++) {
        add(f, i, good, due);
    }
    receive(f, got, sizeof got);
    for (unsigned i = 0; i < 9; i++) {
        cr_assert_eq(got[12 * i + 7], (char)('0' + i));
    }
    stop(f);
}

Test(delay_queue, pause_holds_everything_back)
{
    struct fixture *f = start(2);
    mono_t now = mono_now();
    char got[24];
    f->paused_until = now.ns + 40 * MS;
    add(f, 0, good, mono_plus_ns(now, 5 * MS));
    add(f, 1, good, mono_plus_ns(now, 10 * MS));
    cr_assert_geq(mono_since_ns(receive(f, got, 12), now), 40 * MS);
    receive(f, got + 12, 12);
    cr_assert_eq(got[7], '0');
    cr_assert_eq(got[19], '1');
    stop(f);
}

Test(delay_queue, fates_are_carried_out)
{
    struct fixture *f = start(3);
    mono_t now = mono_now();
    char got[24];
    add(f, 0, (struct delayed_fate){.is_dropped = true}, mono_plus_ns(now, 2 * MS));
    add(f, 1, (struct delayed_fate){.n_copies = 2}, mono_plus_ns(now, 4 * MS));
    receive(f, got, 24);
    cr_assert_eq(memcmp(got, got + 12, 12), 0);
    cr_assert_eq(got[7], '1');
    add(f, 2, (struct delayed_fate){.is_reset = true}, mono_plus_ns(now, 6 * MS));
    while (rpc_server_n_connections(f->server) > 0) {
        event_base_loop(f->base, EVLOOP_ONCE);
    }
    cr_assert_eq(f->n_released, 3);
    stop(f);
}

Test(delay_queue, what_waits_at_the_end_is_released)
{
    struct fixture *f = start(2);
    add(f, 0, good, mono_plus_ns(mono_now(), 60 * NS_PER_S));
    add(f, 1, good, mono_plus_ns(mono_now(), 30 * NS_PER_S));
    delay_queue_destroy(f->queue);
    cr_assert_eq(f->n_released, 2);
    f->queue = NULL;
    stop(f);
}
