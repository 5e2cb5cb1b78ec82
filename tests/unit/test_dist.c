#include "dist.h"
#include "rng.h"
#include "stats.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

Test(dist, discrete_draws_follow_their_weights)
{
    static const double weights[] = {5, 0, 1, 3.5, 0.5, 20, 1e-12};
    enum { N = sizeof weights / sizeof *weights };
    uint64_t counts[N] = {0};
    struct dist_discrete d;
    struct rng rng;
    rng_seed(&rng, 1, 0);
    cr_assert_eq(dist_discrete_init(&d, weights, N), 0);
    for (unsigned i = 0; i < 300000; i++) {
        counts[dist_discrete_draw(&d, &rng)]++;
    }
    cr_assert_eq(counts[1], 0);
    cr_assert_gt(stats_chi_square_test(counts, weights, N, NULL), 0.01);
    dist_discrete_fini(&d);
}

Test(dist, discrete_of_one_and_of_many_equal_items)
{
    enum { N = 1000 };
    static double weights[N];
    static uint64_t counts[N];
    struct dist_discrete d;
    struct rng rng;
    rng_seed(&rng, 2, 0);
    cr_assert_eq(dist_discrete_init(&d, (const double[]){0.1}, 1), 0);
    for (unsigned i = 0; i < 100; i++) {
        cr_assert_eq(dist_discrete_draw(&d, &rng), 0);
    }
    dist_discrete_fini(&d);

    for (unsigned i = 0; i < N; i++) {
        weights[i] = 0.1;
    }
    cr_assert_eq(dist_discrete_init(&d, weights, N), 0);
    for (unsigned i = 0; i < 200000; i++) {
        counts[dist_discrete_draw(&d, &rng)]++;
    }
    cr_assert_gt(stats_chi_square_test(counts, weights, N, NULL), 0.01);
    dist_discrete_fini(&d);
}

Test(dist, discrete_weights_that_make_no_sense_are_refused)
{
    struct dist_discrete d;
    cr_assert_eq(dist_discrete_init(&d, (const double[]){0, 0}, 2), -EINVAL);
    cr_assert_eq(dist_discrete_init(&d, (const double[]){1, -1}, 2), -EINVAL);
    cr_assert_eq(dist_discrete_init(&d, (const double[]){NAN}, 1), -EINVAL);
    cr_assert_eq(dist_discrete_init(&d, (const double[]){INFINITY}, 1), -EINVAL);
    cr_assert_eq(dist_discrete_init(&d, (const double[]){1}, 0), -EINVAL);
}

static double zipf_p(double theta, uint64_t n, double wrong_theta, uint64_t seed)
{
    uint64_t *counts = calloc(n, sizeof *counts);
    double *weights = calloc(n, sizeof *weights);
    struct dist_zipf z;
    struct rng rng;
    rng_seed(&rng, seed, 0);
    dist_zipf_init(&z, n, theta);
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t rank = dist_zipf_draw(&z, &rng);
        cr_assert_lt(rank, n);
        counts[rank]++;
    }
    for (uint64_t i = 0; i < n; i++) {
        weights[i] = pow((double)i + 1, -wrong_theta);
    }
    double p = stats_chi_square_test(counts, weights, n, NULL);
    free(counts);
    free(weights);
    return p;
}

Test(dist, zipf_follows_its_exponent_and_no_other)
{
    static const double thetas[] = {0, 0.5, 0.99, 1, 1.0000001, 1.5, 3};
    for (unsigned i = 0; i < sizeof thetas / sizeof *thetas; i++) {
        cr_assert_gt(zipf_p(thetas[i], 1000, thetas[i], i), 0.005, "theta %g", thetas[i]);
        cr_assert_lt(zipf_p(thetas[i], 1000, thetas[i] + 0.05, i), 1e-6, "theta %g", thetas[i]);
    }
}

Test(dist, zipf_of_one_and_of_very_many_ranks)
{
    struct dist_zipf z;
    struct rng rng;
    rng_seed(&rng, 3, 0);
    dist_zipf_init(&z, 1, 0.99);
    for (unsigned i = 0; i < 1000; i++) {
        cr_assert_eq(dist_zipf_draw(&z, &rng), 0);
    }
    dist_zipf_init(&z, UINT64_C(1) << 50, 0);
    uint64_t largest = 0;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t rank = dist_zipf_draw(&z, &rng);
        cr_assert_lt(rank, UINT64_C(1) << 50);
        largest = rank > largest ? rank : largest;
    }
    cr_assert_gt(largest, UINT64_C(1) << 49);
}

Test(dist, poisson_weights_by_hand)
{
    cr_assert_float_eq(dist_poisson_weight(0, 6), exp(-6), 1e-15);
    cr_assert_float_eq(dist_poisson_weight(1, 6), 6 * exp(-6), 1e-15);
    cr_assert_float_eq(dist_poisson_weight(6, 6), 46656.0 / 720 * exp(-6), 1e-15);
    double sum = 0;
    for (uint32_t k = 0; k < 60; k++) {
        sum += dist_poisson_weight(k, 6);
    }
    cr_assert_float_eq(sum, 1, 1e-12);
}

Test(dist, access_groups_grow_by_twelve_for_every_1500_files)
{
    cr_assert_eq(dist_access_group_count(0), 12);
    cr_assert_eq(dist_access_group_count(1499), 12);
    cr_assert_eq(dist_access_group_count(1500), 24);
    cr_assert_eq(dist_access_group_count(2999), 24);
    cr_assert_eq(dist_access_group_count(3000), 36);
    cr_assert_eq(dist_access_group_count(1000000), 12 + 12 * 666);
    cr_assert_eq(dist_access_group_count(UINT64_MAX) % 12, 0);
    double weights[24];
    dist_access_group_weights(weights, 24);
    for (unsigned i = 0; i < 12; i++) {
        cr_assert_eq(weights[i], weights[i + 12]);
        cr_assert_eq(weights[i], dist_poisson_weight(i, 6));
    }
    cr_assert_gt(weights[6], 60 * weights[0]); /* popular and unpopular files differ by much */
}

Test(dist, normal_quantile_is_the_inverse_of_the_distribution)
{
    cr_assert_float_eq(dist_normal_quantile(0.5), 0, 1e-12);
    cr_assert_float_eq(dist_normal_quantile(0.975), 1.959963984540054, 1e-10);
    cr_assert_float_eq(dist_normal_quantile(0.025), -1.959963984540054, 1e-10);
    cr_assert_float_eq(dist_normal_cdf(dist_normal_quantile(1e-12)), 1e-12, 1e-20);
    cr_assert_eq(dist_normal_quantile(0), -INFINITY);
    cr_assert_eq(dist_normal_quantile(1), INFINITY);
}

Test(dist, slices_of_a_lognormal_have_its_mean_together)
{
    for (double sigma = 0.01; sigma < 5; sigma *= 3) {
        double sum = 0, previous = 0;
        for (unsigned i = 0; i < 100; i++) {
            double slice = dist_lognormal_slice_mean(65536, sigma, i / 100.0, (i + 1) / 100.0);
            cr_assert_gt(slice, previous);
            previous = slice;
            sum += slice;
        }
        cr_assert_float_eq(sum / 100 / 65536, 1, 1e-9);
    }
}
