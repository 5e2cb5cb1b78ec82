/* histogram.h - how response times are kept: log-linear buckets, exact merge.
 *
 * Values are nanoseconds. The bucket layout is HdrHistogram's with lowest discernible value 1 and two significant
 * digits (256 sub-buckets, of which the upper 128 are used from the second octave on), so a bucket is at most 1/128 =
 * 0.78 % wide from 256 ns up, and below that every value has its own bucket. The range ends at 100 s; what does not fit
 * is counted in n_beyond, never dropped. count, sum, sum of squares, min and max are exact whatever the buckets are.
 *
 * Merging is addition of integers: any order and any grouping gives the same bits as recording into one histogram.
 */
#ifndef NFSCURVE_COMMON_HISTOGRAM_H
#define NFSCURVE_COMMON_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BUCKETS 256u
#define HISTOGRAM_BUCKETS     3968u /* (30 + 1) * 128: covers values below 256 << 29, more than 100 s */
#define HISTOGRAM_MAX_NS      INT64_C(100000000000)

struct histogram {
    uint64_t count;    /* all recorded values, n_beyond included */
    uint64_t n_beyond; /* values over HISTOGRAM_MAX_NS: in count, sum, max, but in no bucket */
    int64_t min_ns;    /* INT64_MAX when empty */
    int64_t max_ns;    /* 0 when empty */
    unsigned __int128 sum_ns;
    unsigned __int128 sum_sq_ns2;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_init(struct histogram *h);

/* Negative values (clock faults) are recorded as 0. O(1), no branch on the bucket array. */
void histogram_record(struct histogram *h, int64_t value_ns);
void histogram_record_n(struct histogram *h, int64_t value_ns, uint64_t n);

/* dst += src. Returns how many of src's samples are outside dst's buckets (its n_beyond). */
uint64_t histogram_merge(struct histogram *dst, const struct histogram *src);

/* p in [0, 100]. The highest value equivalent to the bucket where the cumulative count first reaches p % of count
 * (HdrHistogram's definition), clamped to the exact max. 0 when empty. */
int64_t histogram_percentile_ns(const struct histogram *h, double p);

double histogram_mean_ns(const struct histogram *h);   /* 0 when empty */
double histogram_stddev_ns(const struct histogram *h); /* sample standard deviation (n-1); 0 when count < 2 */

unsigned histogram_index(int64_t value_ns);       /* value in [0, HISTOGRAM_MAX_NS] */
int64_t histogram_bucket_low_ns(unsigned index);  /* lowest value of the bucket */
int64_t histogram_bucket_high_ns(unsigned index); /* highest value of the bucket, inclusive */

#endif
