#include "pacer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START_NS 1000000000

static struct pacer_options options(enum pacing_kind kind, double ops_per_s, uint32_t n_slots)
{
    return (struct pacer_options){.kind = kind,
                                  .arrivals = ARRIVALS_CONSTANT,
                                  .ops_per_s = ops_per_s,
                                  .ops_per_request = 1,
                                  .n_slots = n_slots,
                                  .seed = 7,
                                  .start = {START_NS}};
}

/* A closed loop in virtual time: every request is served in service_ns, wake-ups are late by up to late_ns. */
struct loop {
    struct pacer pacer;
    struct rng rng;
    int64_t now_ns, service_ns, late_ns;
    uint64_t n_requests;
};

static void loop_init(struct loop *l, const struct pacer_options *o, int64_t service_ns, int64_t late_ns)
{
    memset(l, 0, sizeof *l);
    rng_seed(&l->rng, 99, 1);
    l->now_ns = o->start.ns;
    l->service_ns = service_ns;
    l->late_ns = late_ns;
    cr_assert_eq(pacer_init(&l->pacer, o), 0);
}

/* One request of n_ops: waits until it is due, serves it. Returns when it ended. */
static int64_t loop_turn(struct loop *l, double n_ops)
{
    struct pacer_ticket t;
    mono_t next = pacer_next(&l->pacer);
    if (next.ns > l->now_ns) {
        l->now_ns = next.ns + (l->late_ns > 0 ? (int64_t)rng_below(&l->rng, (uint64_t)l->late_ns) : 0);
    }
    cr_assert(pacer_take(&l->pacer, (mono_t){l->now_ns}, &t));
    l->now_ns += l->service_ns;
    l->n_requests++;
    pacer_release(&l->pacer, t.slot, (mono_t){l->now_ns}, n_ops);
    return l->now_ns;
}

/* Ops that end in a window of 8 s behind a warm-up of 2 s. */
static double achieved_in_8s(double ops_per_s, int64_t service_ns, int64_t late_ns, uint64_t seed)
{
    struct pacer_options o = options(PACING_SFS, ops_per_s, 1);
    o.seed = seed;
    struct loop l;
    loop_init(&l, &o, service_ns, late_ns);
    int64_t begin = START_NS + 2 * NS_PER_S, end = begin + 8 * NS_PER_S, n = 0;
    bool is_run = false;
    for (;;) {
        int64_t at = loop_turn(&l, 1);
        if (!is_run && at >= begin) {
            is_run = true;
            pacer_rebase(&l.pacer);
        }
        if (at >= end) {
            break;
        }
        n += at >= begin;
    }
    pacer_fini(&l.pacer);
    return (double)n;
}

Test(pacer, closed_loop_achieves_its_request_within_half_a_percent_or_one_op)
{
    const double rates[] = {1, 2, 3, 7, 10, 50, 100, 500, 1000, 3000, 5000};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            double n = achieved_in_8s(rates[i], 60 * NS_PER_US, 60 * NS_PER_US, seed), asked = rates[i] * 8;
            cr_expect(fabs(n - asked) <= fmax(1, asked * 0.005), "%g ops/s, seed %lu: %g in 8 s", rates[i], seed, n);
        }
    }
}

Test(pacer, closed_loop_subtracts_busy_time)
{
    /* 9 ms of service in a period of 10 ms: think times average 1 ms. */
    double n = achieved_in_8s(100, 9 * NS_PER_MS, 60 * NS_PER_US, 3);
    cr_expect(fabs(n - 800) <= 4, "%g", n);
}

Test(pacer, a_server_that_is_too_slow_sets_the_rate)
{
    double n = achieved_in_8s(100, 20 * NS_PER_MS, 0, 3);
    cr_expect(fabs(n - 400) <= 1, "%g", n);
}

Test(pacer, a_stall_is_not_followed_by_a_burst)
{
    struct pacer_options o = options(PACING_SFS, 1000, 1);
    struct loop l;
    loop_init(&l, &o, 50 * NS_PER_US, 20 * NS_PER_US);
    while (loop_turn(&l, 1) < START_NS + 3 * NS_PER_S) {
    }
    l.now_ns += 500 * NS_PER_MS;
    /* 100 ms windows for two seconds: never more than the 5 % that a lag may speed the loop up, and the think times'
     * own spread. */
    int64_t from = l.now_ns;
    for (int w = 0; w < 20; w++) {
        int n = 0;
        while (l.now_ns < from + (w + 1) * 100 * NS_PER_MS) {
            loop_turn(&l, 1);
            n++;
        }
        cr_expect_leq(n, 110, "window %d: %d requests", w, n);
    }
    pacer_fini(&l.pacer);
}

Test(pacer, a_starved_stream_does_not_run_ahead_afterwards)
{
    /* 4 ops/s; for 10 s every wake-up is 600 ms late, and the server takes 300 ms; then both are quick again. */
    struct pacer_options o = options(PACING_SFS, 4, 1);
    struct loop l;
    loop_init(&l, &o, 300 * NS_PER_MS, 600 * NS_PER_MS);
    while (loop_turn(&l, 1) < START_NS + 10 * NS_PER_S) {
    }
    l.service_ns = NS_PER_MS;
    l.late_ns = 0;
    pacer_rebase(&l.pacer);
    int64_t from = l.now_ns;
    int n = 0;
    while (l.now_ns < from + 5 * NS_PER_S) {
        loop_turn(&l, 1);
        n++;
    }
    cr_expect_leq(n, 22, "%d in 5 s", n);
    pacer_fini(&l.pacer);
}

Test(pacer, think_times_are_uniform_from_half_to_one_and_a_half_periods)
{
    struct pacer_options o = options(PACING_SFS, 100, 1);
    struct loop l;
    loop_init(&l, &o, 0, 0);
    int n_bins[10] = {0};
    int64_t last = loop_turn(&l, 1);
    for (int i = 0; i < 2000; i++) {
        int64_t at = loop_turn(&l, 1);
        int bin = (int)((double)(at - last) / (10 * NS_PER_MS) * 10 - 5);
        n_bins[bin < 0 ? 0 : bin > 9 ? 9 : bin]++;
        last = at;
    }
    for (int b = 0; b < 10; b++) {
        cr_expect(abs(n_bins[b] - 200) <= 20, "bin %d: %d", b, n_bins[b]);
    }
    pacer_fini(&l.pacer);
}

Test(pacer, requests_of_several_ops_are_spaced_for_the_ops)
{
    struct pacer_options o = options(PACING_SFS, 200, 1);
    o.ops_per_request = 2;
    o.is_physical = true;
    struct loop l;
    loop_init(&l, &o, 100 * NS_PER_US, 0);
    double n_ops = 0;
    while (l.now_ns < START_NS + 10 * NS_PER_S) {
        double ops = l.n_requests % 4 == 0 ? 5 : 1; /* mean 2 */
        loop_turn(&l, ops);
        n_ops += ops;
    }
    cr_expect(fabs(n_ops - 2000) <= 10, "%g", n_ops);
    pacer_fini(&l.pacer);
}

Test(pacer, first_requests_of_processes_are_kept_apart_by_the_seed)
{
    int64_t first[16];
    for (uint64_t seed = 0; seed < 16; seed++) {
        struct pacer_options o = options(PACING_SFS, 1, 1);
        o.seed = seed;
        struct pacer p;
        pacer_init(&p, &o);
        first[seed] = pacer_next(&p).ns - START_NS;
        cr_expect(first[seed] >= 0 && first[seed] < NS_PER_S);
        for (uint64_t k = 0; k < seed; k++) {
            cr_expect_neq(first[k], first[seed]);
        }
        pacer_fini(&p);
    }
}

Test(pacer, late_op_keeps_its_due_time)
{
    struct pacer_options o = options(PACING_OPEN, 1000, 16);
    struct pacer p;
    pacer_init(&p, &o);
    int64_t due = pacer_next(&p).ns;
    struct pacer_ticket t;
    /* 5 ms late: six requests are due, each a period after the other, and all go out now. */
    mono_t now = {due + 5 * NS_PER_MS};
    for (int i = 0; i < 6; i++) {
        cr_assert(pacer_take(&p, now, &t));
        cr_expect_eq(t.due.ns, due + i * NS_PER_MS);
        cr_expect_eq(t.lateness_ns, (5 - i) * NS_PER_MS);
        cr_expect_not(t.waited_for_slot);
    }
    cr_expect_not(pacer_take(&p, now, &t));
    cr_expect_eq(p.n_waited_for_us, 4); /* 5, 4, 3, 2 ms; 1 ms is not over the bound */
    pacer_fini(&p);
}

Test(pacer, ops_that_find_no_slot_wait_in_order_and_are_not_our_fault)
{
    struct pacer_options o = options(PACING_OPEN, 1000, 2);
    struct pacer p;
    pacer_init(&p, &o);
    int64_t due = pacer_next(&p).ns;
    struct pacer_ticket a, b, t;
    cr_assert(pacer_take(&p, (mono_t){due}, &a));
    cr_assert(pacer_take(&p, (mono_t){due + NS_PER_MS}, &b));
    cr_expect_not(pacer_take(&p, (mono_t){due + 10 * NS_PER_MS}, &t));
    cr_expect_eq(pacer_next(&p).ns, INT64_MAX);
    pacer_release(&p, a.slot, (mono_t){due + 10 * NS_PER_MS}, 1);
    cr_assert(pacer_take(&p, (mono_t){due + 10 * NS_PER_MS}, &t));
    cr_expect_eq(t.due.ns, due + 2 * NS_PER_MS);
    cr_expect(t.waited_for_slot);
    cr_expect_eq(t.lateness_ns, -1);
    cr_expect_eq(p.n_waited_for_slot, 1);
    cr_expect_eq(p.n_waited_for_us, 0);
    cr_expect_eq(pacer_count_waiting(&p, (mono_t){due + 10 * NS_PER_MS}), 7); /* due at 3 .. 9 ms */
    pacer_fini(&p);
}

Test(pacer, billions_that_wait_are_counted_at_once, .timeout = 5)
{
    const enum arrivals_kind arrivals[] = {ARRIVALS_CONSTANT, ARRIVALS_POISSON};
    for (int i = 0; i < 2; i++) {
        struct pacer_options o = options(PACING_OPEN, 1e9, 1);
        o.arrivals = arrivals[i];
        o.is_physical = true; /* its correction makes gaps that are less than a nanosecond */
        struct pacer p;
        pacer_init(&p, &o);
        uint64_t n = pacer_count_waiting(&p, (mono_t){START_NS + 300 * NS_PER_S});
        cr_expect(fabs((double)n / 300e9 - 1) < 1e-6, "%llu", (unsigned long long)n);
        cr_expect_eq(pacer_count_waiting(&p, (mono_t){START_NS}), 0);
        pacer_fini(&p);
    }
}

Test(pacer, poisson_gaps_are_exponential_and_their_count_is_exact)
{
    struct pacer_options o = options(PACING_OPEN, 2000, 4);
    o.arrivals = ARRIVALS_POISSON;
    struct pacer p;
    pacer_init(&p, &o);
    enum { N = 120000 };
    static double gaps[N];
    int64_t last = START_NS;
    struct pacer_ticket t;
    for (int i = 0; i < N; i++) {
        mono_t due = pacer_next(&p);
        cr_assert(pacer_take(&p, due, &t));
        gaps[i] = (double)(t.due.ns - last) / 1e9 * 2000;
        last = t.due.ns;
        pacer_release(&p, t.slot, due, 1);
    }
    cr_expect(fabs((double)(last - START_NS) / 1e9 - 60) < 0.06, "120,000 in %.3f s", (double)(last - START_NS) / 1e9);
    /* Kolmogorov-Smirnov at 1 %: 1.63 / sqrt(n). */
    static int counts[1000];
    for (int i = 0; i < N; i++) {
        int bin = (int)((1 - exp(-gaps[i])) * 1000);
        counts[bin > 999 ? 999 : bin]++;
    }
    double worst = 0;
    int sum = 0;
    for (int b = 0; b < 1000; b++) {
        sum += counts[b];
        worst = fmax(worst, fabs((double)sum / N - (b + 1) / 1000.0));
    }
    cr_expect_lt(worst, 1.63 / sqrt(N), "D = %g", worst);
    pacer_fini(&p);
}

Test(pacer, open_arrivals_follow_what_requests_turn_out_to_be)
{
    struct pacer_options o = options(PACING_OPEN, 1000, 4);
    o.ops_per_request = 1.2;
    o.is_physical = true;
    struct pacer p;
    pacer_init(&p, &o);
    double n_ops = 0;
    struct pacer_ticket t;
    while (pacer_next(&p).ns < START_NS + 20 * NS_PER_S) {
        mono_t due = pacer_next(&p);
        cr_assert(pacer_take(&p, due, &t));
        pacer_release(&p, t.slot, due, 1.25); /* 4 % more than the tables said */
        n_ops += 1.25;
    }
    cr_expect(fabs(n_ops - 20000) < 100, "%g", n_ops);
    pacer_fini(&p);
}

Test(pacer, max_takes_every_free_slot_at_once)
{
    struct pacer_options o = options(PACING_MAX, 1, 3);
    struct pacer p;
    pacer_init(&p, &o);
    struct pacer_ticket t;
    cr_expect_not(pacer_take(&p, (mono_t){START_NS - 1}, &t));
    for (int i = 0; i < 3; i++) {
        cr_expect(pacer_take(&p, (mono_t){START_NS}, &t));
    }
    cr_expect_not(pacer_take(&p, (mono_t){START_NS}, &t));
    pacer_release(&p, 1, (mono_t){START_NS + 5}, 1);
    cr_assert(pacer_take(&p, (mono_t){START_NS + 5}, &t));
    cr_expect_eq(t.slot, 1);
    pacer_fini(&p);
}
