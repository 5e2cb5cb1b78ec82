#include "latency_curve.h"
#include "rng.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double loads[] = {1000, 2000, 4000};
static const double times_ms[] = {1.0, 2.0, 10.0};

Test(latency_curve, response_time_is_interpolated_and_held_at_the_ends)
{
    struct latency_curve *curve = latency_curve_create(loads, times_ms, 3);
    cr_assert_eq(latency_curve_response_ns(curve, 0), 1000000);
    cr_assert_eq(latency_curve_response_ns(curve, 1000), 1000000);
    cr_assert_eq(latency_curve_response_ns(curve, 1500), 1500000);
    cr_assert_eq(latency_curve_response_ns(curve, 3000), 6000000);
    cr_assert_eq(latency_curve_response_ns(curve, 9999), 10000000);
    latency_curve_destroy(curve);
}

Test(latency_curve, descending_or_empty_curves_are_refused)
{
    const double wrong[] = {1000, 900};
    cr_assert_null(latency_curve_create(wrong, times_ms, 2));
    cr_assert_null(latency_curve_create(loads, times_ms, 0));
}

/* Constant arrivals for `seconds` from *now on; the mean delay of the last second. */
static double run(struct latency_curve *curve, mono_t *now, double ops_per_s, double seconds)
{
    double sum = 0;
    unsigned n = 0, total = (unsigned)(ops_per_s * seconds);
    for (unsigned i = 0; i < total; i++) {
        now->ns += (int64_t)(1e9 / ops_per_s);
        int64_t delay = latency_curve_due(curve, *now).ns - now->ns;
        if (i >= total - (unsigned)ops_per_s) {
            sum += (double)delay;
            n++;
        }
    }
    return sum / n / 1e6;
}

Test(latency_curve, offered_load_is_that_of_the_last_second)
{
    struct latency_curve *curve = latency_curve_create(loads, times_ms, 3);
    mono_t now = {1000 * NS_PER_S};
    run(curve, &now, 500, 3);
    cr_assert_float_eq(latency_curve_offered(curve, now), 500, 5);
    run(curve, &now, 3000, 1.2);
    cr_assert_float_eq(latency_curve_offered(curve, now), 3000, 30);
    latency_curve_destroy(curve);
}

Test(latency_curve, a_load_that_just_began_is_not_taken_for_a_small_one)
{
    struct latency_curve *curve = latency_curve_create(loads, times_ms, 3);
    mono_t now = {1000 * NS_PER_S};
    for (unsigned i = 0; i < 300; i++) {
        now.ns += 1000000 / 3;
        latency_curve_due(curve, now);
    }
    cr_assert_float_eq(latency_curve_offered(curve, now), 3000, 60);
    latency_curve_destroy(curve);
}

Test(latency_curve, points_of_the_curve_come_back)
{
    for (unsigned i = 0; i < 3; i++) {
        struct latency_curve *curve = latency_curve_create(loads, times_ms, 3);
        mono_t now = {1000 * NS_PER_S};
        double got = run(curve, &now, loads[i], 4);
        cr_assert_float_eq(got, times_ms[i], times_ms[i] * 0.01, "%f ms at %f ops/s", got, loads[i]);
        latency_curve_destroy(curve);
    }
}

Test(latency_curve, random_arrivals_at_the_peak_do_not_queue_up)
{
    struct latency_curve *curve = latency_curve_create(loads, times_ms, 3);
    struct rng rng;
    rng_seed(&rng, 3, 4);
    mono_t now = {1000 * NS_PER_S};
    double sum = 0;
    enum { N = 40000 };
    for (unsigned i = 0; i < N; i++) {
        now.ns += (int64_t)rng_exponential(&rng, 1e9 / 4000);
        sum += (double)(latency_curve_due(curve, now).ns - now.ns);
    }
    cr_assert_float_eq(sum / N / 1e6, 10.0, 0.5, "%f ms", sum / N / 1e6);
    latency_curve_destroy(curve);
}

Test(latency_curve, throughput_stops_at_the_peak)
{
    struct latency_curve *curve = latency_curve_create(loads, times_ms, 3);
    mono_t now = {1000 * NS_PER_S}, start = now;
    unsigned n_left = 0;
    /* 8000 ops/s for 3 s: how many have left after 3 s? The first 200 ms may run ahead. */
    for (unsigned i = 0; i < 24000; i++) {
        now.ns += 125000;
        n_left += latency_curve_due(curve, now).ns <= start.ns + 3 * NS_PER_S;
    }
    cr_assert(n_left > 4000 * 2.9 && n_left < 4000 * 1.01 * 3.21, "%u answers in 3 s", n_left);
    latency_curve_destroy(curve);
}

Test(latency_curve, closed_loop_beyond_the_peak_gets_the_peak)
{
    /* 100 clients without think time: each asks again when its answer came. Little's law: response = 100 / 4000 s = 25
     * ms. */
    struct latency_curve *curve = latency_curve_create(loads, times_ms, 3);
    int64_t next[100];
    for (int i = 0; i < 100; i++) {
        next[i] = 1000 * NS_PER_S + i * 1000;
    }
    int64_t end = 1010 * NS_PER_S, measured_from = 1005 * NS_PER_S;
    unsigned n = 0;
    for (;;) {
        int earliest = 0;
        for (int i = 1; i < 100; i++) {
            earliest = next[i] < next[earliest] ? i : earliest;
        }
        if (next[earliest] > end) {
            break;
        }
        next[earliest] = latency_curve_due(curve, (mono_t){next[earliest]}).ns;
        n += next[earliest] >= measured_from && next[earliest] < end;
    }
    cr_assert_float_eq(n / 5.0, 4000 * 1.005, 40, "%f ops/s", n / 5.0);
    latency_curve_destroy(curve);
}

Test(latency_curve, reads_columns_and_results)
{
    char path[] = "/tmp/curve-XXXXXX", message[256];
    int fd = mkstemp(path);
    const char text[] = "# load ms\n\n1000 1.5\n 2000,2.5 # knee\n3000\t4\n";
    cr_assert_eq(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    struct latency_curve *curve = latency_curve_load(path, message, sizeof message);
    cr_assert_not_null(curve, "%s", message);
    cr_assert_eq(latency_curve_response_ns(curve, 2500), 3250000);
    latency_curve_destroy(curve);

    const char json[] = " {\"points\": [{\"achieved_ops_per_s\": 10, \"response_ms\": 1}, {\"achieved_ops_per_s\": "
                        "20.5, \"response_ms\": 3}]}";
    cr_assert_eq(ftruncate(fd, 0), 0);
    cr_assert_eq(pwrite(fd, json, sizeof json - 1, 0), (ssize_t)sizeof json - 1);
    curve = latency_curve_load(path, message, sizeof message);
    cr_assert_not_null(curve, "%s", message);
    cr_assert_eq(latency_curve_response_ns(curve, 30), 3000000);
    latency_curve_destroy(curve);

    const char broken[] = "1000 1.5\nhello\n";
    cr_assert_eq(ftruncate(fd, 0), 0);
    cr_assert_eq(pwrite(fd, broken, sizeof broken - 1, 0), (ssize_t)sizeof broken - 1);
    cr_assert_null(latency_curve_load(path, message, sizeof message));
    cr_assert_neq(strstr(message, ":2:"), NULL, "%s", message);
    close(fd);
    unlink(path);
    cr_assert_null(latency_curve_load(path, message, sizeof message));
}

Test(latency_curve, what_never_ends_is_not_read)
{
    char message[256];
    cr_assert_null(latency_curve_load("/dev/zero", message, sizeof message));
    cr_assert_str_eq(message, "curve /dev/zero: expected a regular file of at most 64 MiB");
    cr_assert_null(latency_curve_load("/tmp", message, sizeof message));
}
