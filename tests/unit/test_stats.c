#include "rng.h"
#include "stats.h"

#include <criterion/criterion.h>
#include <math.h>

Test(stats, chi_square_tail_is_right_where_it_has_a_closed_form)
{
    /* Two degrees: e^(-x/2). Four: e^(-x/2) (1 + x/2). One: erfc(sqrt(x/2)). */
    for (double x = 0.1; x < 200; x *= 1.5) {
        cr_assert_float_eq(stats_chi_square_p(x, 2) / exp(-x / 2), 1, 1e-10);
        cr_assert_float_eq(stats_chi_square_p(x, 4) / (exp(-x / 2) * (1 + x / 2)), 1, 1e-10);
        cr_assert_float_eq(stats_chi_square_p(x, 1) / erfc(sqrt(x / 2)), 1, 1e-9);
    }
    cr_assert_eq(stats_chi_square_p(0, 5), 1);
    cr_assert_eq(stats_chi_square_p(-1, 5), 1);
}

Test(stats, chi_square_tail_agrees_with_printed_tables)
{
    cr_assert_float_eq(stats_chi_square_p(3.841, 1), 0.05, 1e-4);
    cr_assert_float_eq(stats_chi_square_p(21.666, 9), 0.01, 1e-5);
    cr_assert_float_eq(stats_chi_square_p(124.342, 100), 0.05, 1e-5);
}

Test(stats, pearson_s_statistic_by_hand)
{
    /* 10, 20, 30 against equal shares of 20: (100 + 0 + 100) / 20 = 10, two degrees: e^-5. */
    double degrees;
    double p = stats_chi_square_test((const uint64_t[]){10, 20, 30}, (const double[]){1, 1, 1}, 3, &degrees);
    cr_assert_float_eq(p, exp(-5), 1e-12);
    cr_assert_eq(degrees, 2);
}

Test(stats, cells_that_expect_few_are_pooled)
{
    /* 100 values; expected 90, 3, 3, 3, 1: the 3s pool to 6, then 4 is left and joins it: cells 90 and 10. */
    double degrees;
    double p = stats_chi_square_test((const uint64_t[]){90, 9, 1, 0, 0}, (const double[]){90, 3, 3, 3, 1}, 5, &degrees);
    cr_assert_eq(degrees, 1);
    cr_assert_float_eq(p, 1, 1e-12);
}

Test(stats, a_cell_of_no_weight_must_be_empty)
{
    cr_assert_eq(stats_chi_square_test((const uint64_t[]){50, 50, 1}, (const double[]){1, 1, 0}, 3, NULL), 0);
    cr_assert_eq(stats_chi_square_test((const uint64_t[]){50, 50, 0}, (const double[]){1, 1, 0}, 3, NULL), 1);
}

Test(stats, nothing_counted_proves_nothing)
{
    cr_assert_eq(stats_chi_square_test((const uint64_t[]){0, 0}, (const double[]){1, 1}, 2, NULL), 1);
    cr_assert_eq(stats_chi_square_test((const uint64_t[]){9}, (const double[]){1}, 1, NULL), 1);
}

Test(stats, kolmogorov_agrees_with_printed_critical_values)
{
    /* Limit distribution: 1.3581 at 5 %, 1.6276 at 1 %. */
    double n = 1e8;
    cr_assert_float_eq(stats_kolmogorov_p(1.3581 / sqrt(n), n), 0.05, 1e-4);
    cr_assert_float_eq(stats_kolmogorov_p(1.6276 / sqrt(n), n), 0.01, 1e-4);
    /* Small samples (exact tables): n = 10: 0.409 at 5 %, n = 20: 0.352 at 1 %. */
    cr_assert_float_eq(stats_kolmogorov_p(0.409, 10), 0.05, 2e-3);
    cr_assert_float_eq(stats_kolmogorov_p(0.352, 20), 0.01, 1e-3);
    cr_assert_eq(stats_kolmogorov_p(0, 100), 1);
    cr_assert_float_eq(stats_kolmogorov_p(0.001, 10), 1, 1e-12);
}

Test(stats, both_series_of_kolmogorov_meet)
{
    double n = 1e12, root = sqrt(n) + 0.12;
    cr_assert_float_eq(stats_kolmogorov_p(1.1799999 / root, n), stats_kolmogorov_p(1.1800001 / root, n), 1e-6);
}

static double unit_cdf(double value, void *arg)
{
    (void)arg;
    return value;
}

static double squared_cdf(double value, void *arg)
{
    (void)arg;
    return value * value;
}

Test(stats, ks_accepts_its_own_distribution_and_rejects_another)
{
    enum { N = 2000 };
    static double values[N];
    struct rng rng;
    rng_seed(&rng, 4, 0);
    for (int i = 0; i < N; i++) {
        values[i] = rng_unit(&rng);
    }
    cr_assert_gt(stats_ks_test(values, N, unit_cdf, NULL), 0.01);
    cr_assert_lt(stats_ks_test(values, N, squared_cdf, NULL), 1e-9);
}

Test(stats, ks_p_values_are_uniform_under_the_null)
{
    /* 2000 samples of 50: p <= 0.1 about 200 times (standard deviation 13), p <= 0.5 about 1000 times (22). */
    struct rng rng;
    rng_seed(&rng, 6, 0);
    int n_tenth = 0, n_half = 0;
    for (int round = 0; round < 2000; round++) {
        double values[50];
        for (int i = 0; i < 50; i++) {
            values[i] = rng_unit(&rng);
        }
        double p = stats_ks_test(values, 50, unit_cdf, NULL);
        n_tenth += p <= 0.1;
        n_half += p <= 0.5;
    }
    cr_assert(n_tenth > 150 && n_tenth < 250, "%d", n_tenth);
    cr_assert(n_half > 910 && n_half < 1090, "%d", n_half);
}

Test(stats, two_sample_ks_by_hand_and_with_ties)
{
    /* 1 2 3 4 against 3 4 5 6: the distance is 1/2 at 2. */
    double a[] = {4, 1, 3, 2}, b[] = {5, 3, 6, 4};
    cr_assert_eq(stats_ks_test_two(a, 4, b, 4), stats_kolmogorov_p(0.5, 2));
    double same_a[] = {1, 1, 2, 2}, same_b[] = {2, 1, 2, 1};
    cr_assert_eq(stats_ks_test_two(same_a, 4, same_b, 4), 1);
    cr_assert_eq(stats_ks_test_two(a, 0, b, 4), 1);
}

Test(stats, student_tail_is_right_where_it_has_a_closed_form)
{
    /* One degree (Cauchy): 1 - 2 atan(t) / pi. Two: 1 - t / sqrt(2 + t²). */
    for (double t = 0; t < 50; t += 0.37) {
        cr_assert_float_eq(stats_student_p(t, 1), 1 - 2 * atan(t) / M_PI, 1e-12);
        cr_assert_float_eq(stats_student_p(-t, 2), 1 - t / sqrt(2 + t * t), 1e-12);
    }
    cr_assert_eq(stats_student_p(INFINITY, 3), 0);
    cr_assert_float_eq(stats_student_p(2.228, 10), 0.05, 1e-4);
    cr_assert_float_eq(stats_student_p(1.959964, 1e9), 0.05, 1e-6);
}

Test(stats, student_quantile_is_the_inverse)
{
    cr_assert_float_eq(stats_student_quantile(0.05, 1), 12.7062, 1e-4);
    cr_assert_float_eq(stats_student_quantile(0.05, 10), 2.2281, 1e-4);
    cr_assert_float_eq(stats_student_quantile(0.05, 1e9), 1.95996, 1e-5);
}

Test(stats, welch_by_hand)
{
    /* a: 1 2 3 (mean 2, variance 1); b: 4 6 8 10 (mean 7, variance 20/3). t = -5 / sqrt(1/3 + 5/3) = -3.5355;
     * degrees = 2² / ((1/9)/2 + (25/9)/3) = 4 / (53/54) = 216/53. */
    struct stats_sample a = stats_sample_of((const double[]){1, 2, 3}, 3),
                        b = stats_sample_of((const double[]){4, 6, 8, 10}, 4);
    cr_assert_float_eq(a.variance, 1, 1e-12);
    cr_assert_float_eq(b.variance, 20.0 / 3, 1e-12);
    double degrees, p = stats_welch_test(&a, &b, &degrees);
    cr_assert_float_eq(degrees, 216.0 / 53, 1e-9);
    cr_assert_float_eq(p, stats_student_p(5 / sqrt(2), 216.0 / 53), 1e-12);
    cr_assert(p > 0.02 && p < 0.03);
}

Test(stats, welch_of_too_little_or_of_constants)
{
    struct stats_sample one = {5, 0, 1}, a = {5, 0, 3}, b = {6, 0, 3};
    cr_assert_eq(stats_welch_test(&one, &b, NULL), 1);
    cr_assert_eq(stats_welch_test(&a, &a, NULL), 1);
    cr_assert_eq(stats_welch_test(&a, &b, NULL), 0);
}
