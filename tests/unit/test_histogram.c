#include "histogram.h"
#include "rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct histogram *new_histogram(void)
{
    struct histogram *h = malloc(sizeof *h);
    cr_assert_not_null(h);
    histogram_init(h);
    return h;
}

Test(histogram, every_value_below_256_has_its_own_bucket)
{
    for (unsigned v = 0; v < 256; v++) {
        cr_assert_eq(histogram_index(v), v);
        cr_assert_eq(histogram_bucket_low_ns(v), v);
        cr_assert_eq(histogram_bucket_high_ns(v), v);
    }
}

Test(histogram, octave_edges_are_those_of_hdrhistogram)
{
    /* Lowest value 1, two digits: 256 sub-buckets. 256..511 in steps of 2 from counter 256, 512..1023 in steps of 4
     * from 384, and so on: 128 counters an octave. */
    cr_assert_eq(histogram_index(256), 256u);
    cr_assert_eq(histogram_index(257), 256u);
    cr_assert_eq(histogram_index(258), 257u);
    cr_assert_eq(histogram_index(511), 383u);
    cr_assert_eq(histogram_index(512), 384u);
    cr_assert_eq(histogram_index(515), 384u);
    cr_assert_eq(histogram_index(516), 385u);
    cr_assert_eq(histogram_index(1023), 511u);
    cr_assert_eq(histogram_index(1024), 512u);

    /* 1 ms = 1,000,000 is in [2^19, 2^20) = 256 * 2^11 .. 256 * 2^12: octave 12, width 4096; 1,000,000 / 4096 = 244.1
     */
    cr_assert_eq(histogram_index(1000000), 12u * 128 + 244);
    cr_assert_eq(histogram_bucket_low_ns(12 * 128 + 244), 244 * 4096);
    cr_assert_eq(histogram_bucket_high_ns(12 * 128 + 244), 245 * 4096 - 1);
}

/* HdrHistogram's own arithmetic, written the long way round from its definition: bucket by counting octaves, then the
 * sub-bucket by division. */
static unsigned index_by_definition(uint64_t value)
{
    unsigned bucket = 0;
    while (value >> bucket >= HISTOGRAM_SUB_BUCKETS) {
        bucket++;
    }
    uint64_t width = UINT64_C(1) << bucket;
    unsigned sub_bucket = (unsigned)(value / width);
    return bucket == 0 ? sub_bucket : 256 + (bucket - 1) * 128 + (sub_bucket - 128);
}

Test(histogram, layout_is_hdrhistograms_at_and_around_every_power_of_two)
{
    for (unsigned bit = 0; bit <= 36; bit++) {
        for (int64_t offset = -3; offset <= 3; offset++) {
            int64_t value = (INT64_C(1) << bit) + offset;
            if (value < 0 || value > HISTOGRAM_MAX_NS) {
                continue;
            }
            cr_assert_eq(histogram_index(value), index_by_definition((uint64_t)value), "value %lld", (long long)value);
        }
    }
    struct rng rng;
    rng_seed(&rng, 1, 0);
    for (unsigned i = 0; i < 100000; i++) {
        int64_t value = (int64_t)(rng_below(&rng, HISTOGRAM_MAX_NS) >> rng_below(&rng, 36));
        cr_assert_eq(histogram_index(value), index_by_definition((uint64_t)value), "value %lld", (long long)value);
    }
}

Test(histogram, buckets_join_without_gap_or_overlap_and_are_at_most_one_128th_wide)
{
    for (unsigned i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
        int64_t low = histogram_bucket_low_ns(i), high = histogram_bucket_high_ns(i);
        cr_assert_eq(high + 1, histogram_bucket_low_ns(i + 1));
        cr_assert_leq((high - low + 1) * 128, low < 128 ? 128 : low);
        if (high <= HISTOGRAM_MAX_NS) {
            cr_assert_eq(histogram_index(low), i);
            cr_assert_eq(histogram_index(high), i);
        }
    }
    cr_assert_geq(histogram_bucket_high_ns(HISTOGRAM_BUCKETS - 1), HISTOGRAM_MAX_NS);
    cr_assert_eq(histogram_bucket_high_ns(HISTOGRAM_BUCKETS - 1), (INT64_C(256) << 29) - 1);
}

Test(histogram, empty_one_answers_zero)
{
    struct histogram *h = new_histogram();
    cr_assert_eq(h->count, 0);
    cr_assert_eq(h->min_ns, INT64_MAX);
    cr_assert_eq(h->max_ns, 0);
    cr_assert_eq(histogram_percentile_ns(h, 50), 0);
    cr_assert_eq(histogram_mean_ns(h), 0);
    cr_assert_eq(histogram_stddev_ns(h), 0);
    free(h);
}

Test(histogram, mean_and_deviation_are_exact_whatever_the_buckets)
{
    /* 2 4 4 4 5 5 7 9 (in 1001 ns): mean 5, squared deviations 9+1+1+1+0+0+4+16 = 32, variance 32/7. */
    static const int64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct histogram *h = new_histogram();
    for (size_t i = 0; i < 8; i++) {
        histogram_record(h, values[i] * 1001);
    }
    cr_assert_eq(h->count, 8);
    cr_assert_eq(h->min_ns, 2002);
    cr_assert_eq(h->max_ns, 9009);
    cr_assert_eq(histogram_mean_ns(h), 5005);
    cr_assert_float_eq(histogram_stddev_ns(h), 1001 * sqrt(32.0 / 7), 1e-9);
    free(h);
}

Test(histogram, deviation_survives_many_large_and_nearly_equal_values)
{
    /* 10^9 values of 50 s + 0 or 2 ns: the sum of squares is 2.5e30, the deviation 1 ns. */
    struct histogram *h = new_histogram();
    histogram_record_n(h, INT64_C(50000000000), 500000000);
    histogram_record_n(h, INT64_C(50000000002), 500000000);
    cr_assert_eq(histogram_mean_ns(h), 50000000001.0);
    cr_assert_float_eq(histogram_stddev_ns(h), 1.0, 1e-8);
    free(h);
}

Test(histogram, deviation_of_one_value_is_zero_and_of_equal_values_too)
{
    struct histogram *h = new_histogram();
    histogram_record(h, 123456789);
    cr_assert_eq(histogram_stddev_ns(h), 0);
    histogram_record_n(h, 123456789, 999);
    cr_assert_eq(histogram_stddev_ns(h), 0);
    free(h);
}

Test(histogram, percentile_is_the_value_of_its_rank)
{
    /* 1..100 ns once each: bucket = value, so p % is p exactly. */
    struct histogram *h = new_histogram();
    for (int64_t v = 1; v <= 100; v++) {
        histogram_record(h, v);
    }
    cr_assert_eq(histogram_percentile_ns(h, 0), 1);
    cr_assert_eq(histogram_percentile_ns(h, 1), 1);
    cr_assert_eq(histogram_percentile_ns(h, 1.0001), 2);
    cr_assert_eq(histogram_percentile_ns(h, 50), 50);
    cr_assert_eq(histogram_percentile_ns(h, 99), 99);
    cr_assert_eq(histogram_percentile_ns(h, 99.9), 100);
    cr_assert_eq(histogram_percentile_ns(h, 100), 100);
    cr_assert_eq(histogram_percentile_ns(h, 101), 100);
    cr_assert_eq(histogram_percentile_ns(h, -1), 1);
    free(h);
}

Test(histogram, percentiles_at_whole_ranks_do_not_slip_by_rounding)
{
    /* In binary, 99.9 / 100 * 1000 is a little above 999: still rank 999. */
    struct histogram *h = new_histogram();
    histogram_record_n(h, 10, 999);
    histogram_record(h, 200);
    cr_assert_eq(histogram_percentile_ns(h, 99.9), 10);
    cr_assert_eq(histogram_percentile_ns(h, 99.91), 200);
    histogram_init(h);
    for (int64_t v = 1; v <= 200; v++) {
        histogram_record(h, v);
    }
    for (int tenth = 5; tenth <= 1000; tenth += 5) { /* 0.5 % steps: one value each */
        cr_assert_eq(histogram_percentile_ns(h, tenth / 10.0), tenth / 5);
    }
    free(h);
}

Test(histogram, percentile_is_the_bucket_s_highest_value_but_never_above_the_maximum)
{
    struct histogram *h = new_histogram();
    histogram_record(h, 1000000);
    histogram_record(h, 3000000);
    cr_assert_eq(histogram_percentile_ns(h, 50), 245 * 4096 - 1);
    cr_assert_eq(histogram_percentile_ns(h, 100), 3000000);
    free(h);
}

Test(histogram, values_beyond_the_range_are_counted_and_never_dropped)
{
    struct histogram *h = new_histogram();
    histogram_record(h, HISTOGRAM_MAX_NS);
    cr_assert_eq(h->n_beyond, 0);
    histogram_record(h, HISTOGRAM_MAX_NS + 1);
    histogram_record(h, INT64_MAX);
    cr_assert_eq(h->count, 3);
    cr_assert_eq(h->n_beyond, 2);
    cr_assert_eq(h->max_ns, INT64_MAX);
    cr_assert_eq(histogram_percentile_ns(h, 99), INT64_MAX);
    uint64_t in_buckets = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        in_buckets += h->buckets[i];
    }
    cr_assert_eq(in_buckets, 1);

    struct histogram *other = new_histogram();
    cr_assert_eq(histogram_merge(other, h), 2);
    cr_assert_eq(other->n_beyond, 2);
    free(other);
    free(h);
}

Test(histogram, negative_values_are_recorded_as_zero)
{
    struct histogram *h = new_histogram();
    histogram_record(h, -5);
    cr_assert_eq(h->count, 1);
    cr_assert_eq(h->buckets[0], 1);
    cr_assert_eq(h->min_ns, 0);
    cr_assert(h->sum_ns == 0);
    free(h);
}

Test(histogram, recording_no_value_changes_nothing)
{
    struct histogram *h = new_histogram(), *empty = new_histogram();
    histogram_record_n(h, 77, 0);
    cr_assert_eq(memcmp(h, empty, sizeof *h), 0);
    free(empty);
    free(h);
}

Test(histogram, recording_n_times_equals_recording_n_values)
{
    struct histogram *a = new_histogram(), *b = new_histogram();
    histogram_record_n(a, 123456, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        histogram_record(b, 123456);
    }
    cr_assert_eq(memcmp(a, b, sizeof *a), 0);
    free(a);
    free(b);
}

Test(histogram, merge_of_256_equals_recording_into_one_bit_by_bit)
{
    enum { PROCESSES = 256, SAMPLES = 2000 };
    struct histogram *one = new_histogram(), *merged = new_histogram(), *tree = new_histogram();
    struct histogram *parts = malloc(PROCESSES * sizeof *parts);
    cr_assert_not_null(parts);

    for (unsigned p = 0; p < PROCESSES; p++) {
        struct rng rng;
        rng_seed(&rng, 256, p);
        histogram_init(&parts[p]);
        for (unsigned i = 0; i < SAMPLES; i++) {
            /* From nanoseconds to minutes, some beyond the range. */
            int64_t value = (int64_t)rng_exponential(&rng, pow(10, (double)rng_below(&rng, 12)));
            histogram_record(&parts[p], value);
            histogram_record(one, value);
        }
        histogram_merge(merged, &parts[p]);
    }
    cr_assert_eq(one->count, PROCESSES * SAMPLES);
    cr_assert_gt(one->n_beyond, 0);
    cr_assert_eq(memcmp(merged, one, sizeof *one), 0);

    /* Another order and another grouping: pairs of pairs. */
    for (unsigned step = 1; step < PROCESSES; step *= 2) {
        for (unsigned p = 0; p < PROCESSES; p += 2 * step) {
            histogram_merge(&parts[p], &parts[p + step]);
        }
    }
    histogram_merge(tree, &parts[0]);
    cr_assert_eq(memcmp(tree, one, sizeof *one), 0);
    free(parts);
    free(tree);
    free(merged);
    free(one);
}

Test(histogram, merge_with_an_empty_one_changes_nothing)
{
    struct histogram *h = new_histogram(), *copy = new_histogram(), *empty = new_histogram();
    histogram_record(h, 5000);
    *copy = *h;
    histogram_merge(h, empty);
    cr_assert_eq(memcmp(h, copy, sizeof *h), 0);
    histogram_merge(empty, h);
    cr_assert_eq(memcmp(empty, h, sizeof *h), 0);
    free(empty);
    free(copy);
    free(h);
}
