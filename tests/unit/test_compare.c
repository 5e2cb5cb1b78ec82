#include "compare.h"
#include "result.h"
#include "rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_POINTS  10
#define N_REPEATS 3
#define N_TRIALS  20

/* Box and Muller. */
static double normal(struct rng *rng)
{
    return sqrt(-2 * log(1 - rng_unit(rng))) * cos(2 * 3.14159265358979323846 * rng_unit(rng));
}

/* One run of a server whose curve is that of the reference platform, times `factor`, with 1 % of noise on every figure.
 */
static void simulate(struct result *r, struct rng *rng, double factor, bool has_requests)
{
    static const double curve[N_POINTS] = {0.5, 0.9, 1.3, 1.5, 1.8, 2.3, 2.9, 3.5, 5.1, 7.1};
    result_init(r);
    for (int i = 0; i < N_POINTS; i++) {
        struct point_result p;
        point_init(&p);
        p.index = (uint64_t)i;
        p.requested_ops_per_s = has_requests ? 346.0 * (i + 1) : NAN;
        p.achieved_ops_per_s = 346.0 * (i + 1) * (1 + 0.001 * normal(rng));
        p.response_ms = curve[i] * factor * (1 + 0.01 * normal(rng));
        result_add_point(r, &p);
    }
    result_finish(r);
}

struct trial {
    struct result a[N_REPEATS], b[N_REPEATS];
    const struct result *pa[N_REPEATS], *pb[N_REPEATS];
    struct comparison comparison;
};

static bool differ(uint64_t seed, double factor, bool has_requests)
{
    struct rng rng;
    struct trial t;
    rng_seed(&rng, seed, 1);
    for (int i = 0; i < N_REPEATS; i++) {
        simulate(&t.a[i], &rng, 1, has_requests);
        simulate(&t.b[i], &rng, factor, has_requests);
        t.pa[i] = &t.a[i];
        t.pb[i] = &t.b[i];
    }
    struct compare_group groups[2] = {{"a", t.pa, N_REPEATS}, {"b", t.pb, N_REPEATS}};
    cr_assert_eq(comparison_compute(groups, 2, &t.comparison), 0);
    cr_assert_eq(t.comparison.noise, COMPARE_NOISE_REPEATS);
    cr_assert_gt(t.comparison.n_rows, 0);
    bool is_different = t.comparison.is_different[1];
    comparison_fini(&t.comparison);
    for (int i = 0; i < N_REPEATS; i++) {
        result_fini(&t.a[i]);
        result_fini(&t.b[i]);
    }
    return is_different;
}

static int count(double factor, bool has_requests)
{
    int n = 0;
    for (uint64_t seed = 1; seed <= N_TRIALS; seed++) {
        n += differ(seed, factor, has_requests);
    }
    return n;
}

Test(compare, five_percent_is_found_in_20_of_20)
{
    cr_assert_eq(count(1.05, true), N_TRIALS);
    cr_assert_eq(count(0.95, true), N_TRIALS);
    cr_assert_eq(count(1.05, false), N_TRIALS);
}

Test(compare, two_runs_of_the_same_thing_do_not_differ_in_20_of_20)
{
    cr_assert_eq(count(1, true), 0);
    cr_assert_eq(count(1, false), 0);
}

Test(compare, false_alarms_are_as_rare_as_promised)
{
    int n = 0;
    for (uint64_t seed = 1000; seed < 2000; seed++) {
        n += differ(seed, 1, true);
    }
    /* 2 of 1000 are promised; more than 10 has a probability below 1e-5 */
    cr_assert_leq(n, 10, "%d false alarms", n);
}

static struct result line(const double *x, const double *y, size_t n)
{
    struct result r;
    result_init(&r);
    for (size_t i = 0; i < n; i++) {
        struct point_result p;
        point_init(&p);
        p.index = i;
        p.achieved_ops_per_s = x[i];
        p.response_ms = y[i];
        result_add_point(&r, &p);
    }
    result_finish(&r);
    return r;
}

Test(compare, without_repeats_nothing_is_said_to_differ)
{
    struct comparison c;
    struct result a = line((double[]){100, 200}, (double[]){1, 2}, 2),
                  b = line((double[]){100, 200}, (double[]){1, 4}, 2);
    const struct result *pa = &a, *pb = &b;
    struct compare_group groups[2] = {{"a", &pa, 1}, {"b", &pb, 1}};
    comparison_compute(groups, 2, &c);
    cr_assert_eq(c.noise, COMPARE_NOISE_UNKNOWN);
    cr_assert_not(c.is_different[1]);
    /* (50 + 150)/200 = 1 against (50 + 250)/200 = 1.5 */
    cr_assert_float_eq(c.ort_d[1].percent, 50, 1e-9);
    cr_assert_float_eq(c.peak_d[1].percent, 0, 1e-9);
    comparison_fini(&c);
    result_fini(&a);
    result_fini(&b);
}

Test(compare, differences_are_at_equal_load)
{
    struct comparison c;
    struct result a = line((double[]){100, 200, 300}, (double[]){1, 2, 3}, 3),
                  b = line((double[]){150, 250}, (double[]){3, 5}, 2);
    const struct result *pa = &a, *pb = &b;
    struct compare_group groups[2] = {{"a", &pa, 1}, {"b", &pb, 1}};
    comparison_compute(groups, 2, &c);
    /* only 200 was reached by both: 2 ms against 4 ms, half way between 3 and 5 */
    cr_assert_eq(c.n_rows, 1);
    cr_assert_eq(c.rows[0].ops_per_s, 200);
    cr_assert_float_eq(c.rows[0].response_d[1].percent, 100, 1e-9);
    comparison_fini(&c);
    result_fini(&a);
    result_fini(&b);
}

Test(compare, curves_without_a_common_load_are_compared_by_peak_only)
{
    struct comparison c;
    struct result a = line((double[]){100}, (double[]){1}, 1), b = line((double[]){1000}, (double[]){1}, 1);
    const struct result *pa = &a, *pb = &b;
    struct compare_group groups[2] = {{"a", &pa, 1}, {"b", &pb, 1}};
    comparison_compute(groups, 2, &c);
    cr_assert_eq(c.n_rows, 0);
    cr_assert_float_eq(c.peak_d[1].percent, 900, 1e-9);
    comparison_fini(&c);
    result_fini(&a);
    result_fini(&b);
}

/* The words of a comparison of two results, which must be free of each other's repeats. */
static char *words(const struct result *a, const struct result *b)
{
    const struct result *pa[] = {a}, *pb[] = {b};
    struct compare_group groups[2] = {{"a", pa, 1}, {"b", pb, 1}};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert_eq(compare_render(groups, 2, REPORT_TEXT, out), 0);
    fclose(out);
    return text;
}

Test(compare, what_was_not_measured_alike_is_named)
{
    struct rng rng;
    struct result a, b;
    rng_seed(&rng, 1, 1);
    simulate(&a, &rng, 1, true);
    simulate(&b, &rng, 1, true);
    a.campaign = json_pack("{s:{s:s, s:i, s:s}, s:f, s:s}", "workload", "name", "sfs3", "biod_max_read", 2,
                           "description", "x", "run_s", 300.0, "engine", "native");
    b.campaign = json_pack("{s:{s:s, s:i, s:s}, s:i, s:s}", "workload", "name", "sfs3", "biod_max_read", 4,
                           "description", "y", "run_s", 300, "engine", "libnfs");
    result_set(&a.workload, "sfs3");
    result_set(&b.workload, "sfs3");
    char *text = words(&a, &b);
    cr_assert(strstr(text, "not measured alike: biod_max_read is 4, A has 2\n"), "%s", text);
    cr_assert(strstr(text, "not measured alike: engine is \"libnfs\", A has \"native\"\n"), "%s", text);
    cr_assert_not(strstr(text, "run_s") || strstr(text, "description") || strstr(text, "workload"), "%s", text);
    free(text);

    result_set(&b.workload, "sfs2008");
    text = words(&a, &b);
    cr_assert(strstr(text, "not measured alike: workload is sfs2008, A has sfs3\n"), "%s", text);
    free(text);
    result_fini(&a);
    result_fini(&b);
}

Test(compare, a_figure_that_was_not_judged_is_not_denied)
{
    struct rng rng;
    struct result a, b;
    rng_seed(&rng, 1, 1);
    simulate(&a, &rng, 1, true);
    simulate(&b, &rng, 1, true);
    for (int i = 0; i < N_POINTS; i++) { /* a half-width within the run: response times are judged, the peak is not */
        a.points[i].response_ci95_ms = b.points[i].response_ci95_ms = a.points[i].response_ms;
    }
    char *text = words(&a, &b);
    cr_assert(strstr(text, "where it is known; the rest is not judged"), "%s", text);
    free(text);
    result_fini(&a);
    result_fini(&b);
}
