#include "rng.h"
#include "statistics.h"

#include <criterion/criterion.h>
#include <math.h>

Test(statistics, half_width_of_independent_ops_is_1_96_sd_over_root_n)
{
    struct confidence c = statistics_confidence(5, 10000, NULL, 0);
    cr_assert_float_eq(c.half_width_ms, 1.96 * 5 / 100, 1e-12);
    cr_assert_not(c.is_batch_means);
}

Test(statistics, one_op_has_no_half_width)
{
    cr_assert(isnan(statistics_confidence(0, 1, NULL, 0).half_width_ms));
}

Test(statistics, seconds_that_scatter_make_the_half_width_theirs)
{
    /* 20 seconds of 100 ops, means alternating between 1 and 3 ms: sd of the means 2/sqrt(19)*sqrt(5)... by the ratio
     * estimator residuals are +-100 ms: sqrt(20/19 * 20 * 100^2) / 2000 * 1.96 */
    struct batch batches[20];
    for (int i = 0; i < 20; i++) {
        batches[i] = (struct batch){100, i % 2 ? 300 : 100};
    }
    struct confidence c = statistics_confidence(1.0, 2000, batches, 20);
    cr_assert(c.is_batch_means);
    cr_assert_float_eq(c.half_width_ms, 1.96 * sqrt(20.0 / 19 * 20 * 10000) / 2000, 1e-9);
}

Test(statistics, independent_ops_keep_their_own_half_width)
{
    /* exact agreement: the means' variance is what independence foretells, or less */
    struct batch batches[20];
    for (int i = 0; i < 20; i++) {
        batches[i] = (struct batch){100, 200};
    }
    cr_assert_not(statistics_confidence(1.0, 2000, batches, 20).is_batch_means);
}

Test(statistics, unequal_seconds_weigh_by_their_ops)
{
    /* a second of one slow op among seconds of many: S_i - R n_i stays small */
    struct batch batches[] = {{1000, 1000}, {1000, 1000}, {1, 5}};
    double half = statistics_batch_half_width_ms(batches, 3), mean = 2005.0 / 2001;
    double squares = 2 * pow(1000 - mean * 1000, 2) + pow(5 - mean, 2);
    cr_assert_float_eq(half, 1.96 * sqrt(1.5 * squares) / 2001, 1e-12);
}

Test(statistics, steady_run_does_not_drift)
{
    struct rng rng;
    struct batch batches[60];
    rng_seed(&rng, 1, 1);
    for (int i = 0; i < 60; i++) {
        batches[i].n_ops = 1000 + 20 * (rng_unit(&rng) - 0.5);
        batches[i].sum_ms = batches[i].n_ops * (2 + 0.1 * (rng_unit(&rng) - 0.5));
    }
    cr_assert_not(statistics_drift(batches, 60).is_drifting);
}

/* Steady runs of n seconds, 5 % of scatter in each second's mean: how many of a thousand are called drifting. */
static int false_alarms(int n)
{
    struct rng rng;
    struct batch batches[60];
    int n_drifting = 0;
    rng_seed(&rng, 7, (uint64_t)n);
    for (int k = 0; k < 1000; k++) {
        for (int i = 0; i < n; i++) {
            double normal = -6; /* the sum of twelve */
            for (int j = 0; j < 12; j++) {
                normal += rng_unit(&rng);
            }
            batches[i] = (struct batch){1000, 1000 * (2 + 0.1 * normal)};
        }
        n_drifting += statistics_drift(batches, (size_t)n).is_drifting;
    }
    return n_drifting;
}

Test(statistics, short_runs_do_not_cry_wolf)
{
    /* 2.7 are due; 10 have a chance of 1 in 3000. Three standard errors alone let through about 61, 25 and 17. */
    cr_assert_leq(false_alarms(5), 9);
    cr_assert_leq(false_alarms(7), 9);
    cr_assert_leq(false_alarms(10), 9);
    cr_assert_leq(false_alarms(60), 9);
}

Test(statistics, drift_of_a_short_run_is_seen)
{
    /* 7 seconds from 2.0 to 3.2 ms, 3 % of scatter: 17 standard errors, 5.5 are needed */
    static const double noise[] = {0.03, -0.03, 0.02, 0, -0.03, 0.03, -0.02};
    struct batch batches[7];
    for (int i = 0; i < 7; i++) {
        batches[i] = (struct batch){1000, 1000 * (2 + 0.2 * i) * (1 + noise[i])};
    }
    cr_assert(statistics_drift(batches, 7).is_drifting);
}

Test(statistics, cache_that_still_warms_is_a_drift)
{
    struct batch batches[62];
    for (int i = 0; i < 62; i++) {
        batches[i] = (struct batch){1000, 1000 * (3 - 0.02 * i)};
    }
    struct drift d = statistics_drift(batches, 62);
    cr_assert(d.is_drifting);
    /* 60 seconds are fitted (1..60): from 2.98 to 1.80, mean 2.39 */
    cr_assert_float_eq(d.response_percent, -100 * 1.18 / 2.39, 1e-6);
    cr_assert_float_eq(d.throughput_percent, 0, 1e-9);
}

Test(statistics, few_seconds_say_nothing_of_drift)
{
    struct batch batches[] = {{1, 1}, {2, 4}};
    cr_assert(isnan(statistics_drift(batches, 2).response_percent));
    cr_assert_not(statistics_drift(batches, 2).is_drifting);
}

Test(statistics, mean_and_sd_by_hand)
{
    double mean, sd, values[] = {2, 4, 9};
    statistics_mean_sd(values, 3, &mean, &sd);
    cr_assert_eq(mean, 5);
    cr_assert_float_eq(sd, sqrt((9 + 1 + 16) / 2.0), 1e-12);
    statistics_mean_sd(values, 1, &mean, &sd);
    cr_assert(isnan(sd));
}
