#include "arrival.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define WALL_NS INT64_C(1790000000000000000)

/* An arrival as it is after a read at mono 100 s, when the wall clock said WALL_NS + 100 s. */
static struct arrival after_a_read(void)
{
    struct arrival a = {.is_stamped = true, .wall_offset_ns = WALL_NS};
    arrival_take_stamp(&a, (wall_t){0}, (wall_t){WALL_NS + 100 * NS_PER_S}, (mono_t){100 * NS_PER_S});
    return a;
}

Test(arrival, without_a_stamp_it_is_the_read)
{
    struct arrival a = after_a_read();
    cr_assert_eq(a.arrived_at.ns, 100 * NS_PER_S);
    cr_assert_eq(a.read_at.ns, 100 * NS_PER_S);
}

Test(arrival, stamp_is_moved_to_the_monotonic_clock)
{
    struct arrival a = after_a_read();
    mono_t read_at = {101 * NS_PER_S};
    arrival_take_stamp(&a, (wall_t){WALL_NS + 101 * NS_PER_S - 70000}, (wall_t){WALL_NS + 101 * NS_PER_S}, read_at);
    cr_assert_eq(a.arrived_at.ns, 101 * NS_PER_S - 70000);
    cr_assert_eq(a.read_at.ns, read_at.ns);
}

Test(arrival, stamp_from_the_future_is_the_read)
{
    struct arrival a = after_a_read();
    arrival_take_stamp(&a, (wall_t){WALL_NS + 101 * NS_PER_S + 5}, (wall_t){WALL_NS + 101 * NS_PER_S},
                       (mono_t){101 * NS_PER_S});
    cr_assert_eq(a.arrived_at.ns, 101 * NS_PER_S);
}

Test(arrival, stamp_from_before_a_step_of_the_wall_clock_is_not_believed)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        struct arrival a = after_a_read();
        int64_t step_ns = sign * 2 * NS_PER_S;
        mono_t read_at = {101 * NS_PER_S};
        wall_t stamp = {WALL_NS + 101 * NS_PER_S - 70000}, wall = {WALL_NS + 101 * NS_PER_S + step_ns};
        arrival_take_stamp(&a, stamp, wall, read_at);
        cr_assert_eq(a.arrived_at.ns, read_at.ns, "step of %+d s", 2 * sign);
        /* the next packet carries the new time */
        arrival_take_stamp(&a, (wall_t){wall.ns + NS_PER_S - 70000}, (wall_t){wall.ns + NS_PER_S},
                           (mono_t){102 * NS_PER_S});
        cr_assert_eq(a.arrived_at.ns, 102 * NS_PER_S - 70000, "after a step of %+d s", 2 * sign);
    }
}

static void tcp_pair(int pair[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(listener, (struct sockaddr *)&address, n), 0);
    cr_assert_eq(listen(listener, 1), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &n), 0);
    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(connect(pair[0], (struct sockaddr *)&address, n), 0);
    pair[1] = accept(listener, NULL, NULL);
    cr_assert_geq(pair[1], 0);
    close(listener);
    int on = 1;
    setsockopt(pair[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* The kernel begins to stamp a moment after the first socket asked for it: so several tries. */
Test(arrival, kernel_stamps_before_the_process_reads, .timeout = 20)
{
    int pair[2];
    struct arrival a = {0};
    tcp_pair(pair);
    arrival_enable(&a, pair[1]);
    bool is_seen = false;
    mono_t give_up_at = mono_plus_ns(mono_now(), 10 * NS_PER_S);
    while (!is_seen && mono_before(mono_now(), give_up_at)) {
        char byte = 'x', got = 0;
        mono_t before = mono_now();
        cr_assert_eq(write(pair[0], &byte, 1), 1);
        struct pollfd ready = {.fd = pair[1], .events = POLLIN};
        cr_assert_eq(poll(&ready, 1, 10000), 1);
        mono_t there = mono_now();
        cr_assert_eq(arrival_recv(&a, pair[1], &got, 1), 1);
        cr_assert_eq(got, 'x');
        cr_assert(!mono_before(a.read_at, there));
        cr_assert(!mono_before(a.read_at, a.arrived_at));
        cr_assert_geq(a.arrived_at.ns, before.ns - NS_PER_US, "the clocks are read one after the other");
        is_seen = mono_before(a.arrived_at, there);
    }
    cr_assert(is_seen, "no packet was stamped");
    close(pair[0]);
    close(pair[1]);
}

Test(arrival, read_without_stamps_has_both_times_equal)
{
    int pair[2];
    struct arrival a = {0};
    char got;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    cr_assert_eq(write(pair[0], "x", 1), 1);
    cr_assert_eq(arrival_recv(&a, pair[1], &got, 1), 1);
    cr_assert_gt(a.read_at.ns, 0);
    cr_assert_eq(a.arrived_at.ns, a.read_at.ns);
    close(pair[0]);
    cr_assert_eq(arrival_recv(&a, pair[1], &got, 1), 0);
    close(pair[1]);
}
