#include "histogram.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* HdrHistogram's terms: a bucket is an octave, a sub-bucket one of 256 steps of it. The lower half of every octave but
 * the first is covered by the octave before, so each later octave adds 128 counters.
 *
 *   value        0..255      256..511       512..1023     ...
 *   octave          0            1              2
 *   width           1            2              4
 *   counters     0..255      256..383       384..511      ...
 */
#define SUB_BUCKET_BITS 8
#define SUB_BUCKET_HALF (HISTOGRAM_SUB_BUCKETS / 2)

void histogram_init(struct histogram *h)
{
    memset(h, 0, sizeof *h);
    h->min_ns = INT64_MAX;
}

unsigned histogram_index(int64_t value_ns)
{
    assert(value_ns >= 0 && value_ns <= HISTOGRAM_MAX_NS);
    uint64_t value = (uint64_t)value_ns;
    unsigned octave = 64 - SUB_BUCKET_BITS - (unsigned)__builtin_clzll(value | (HISTOGRAM_SUB_BUCKETS - 1));
    return octave * SUB_BUCKET_HALF + (unsigned)(value >> octave);
}

static unsigned octave_of(unsigned index)
{
    return index < HISTOGRAM_SUB_BUCKETS ? 0 : index / SUB_BUCKET_HALF - 1;
}

int64_t histogram_bucket_low_ns(unsigned index)
{
    assert(index < HISTOGRAM_BUCKETS);
    unsigned octave = octave_of(index);
    return (int64_t)(index - octave * SUB_BUCKET_HALF) << octave;
}

int64_t histogram_bucket_high_ns(unsigned index)
{
    return histogram_bucket_low_ns(index) + (INT64_C(1) << octave_of(index)) - 1;
}

void histogram_record_n(struct histogram *h, int64_t value_ns, uint64_t n)
{
    if (n == 0) {
        return;
    }
    if (value_ns < 0) {
        value_ns = 0;
    }
    unsigned __int128 value = (unsigned __int128)value_ns;

    h->count += n;
    h->sum_ns += value * n;
    h->sum_sq_ns2 += value * value * n;
    if (value_ns < h->min_ns) {
        h->min_ns = value_ns;
    }
    if (value_ns > h->max_ns) {
        h->max_ns = value_ns;
    }
    if (value_ns > HISTOGRAM_MAX_NS) {
        h->n_beyond += n;
    } else {
        h->buckets[histogram_index(value_ns)] += n;
    }
}

void histogram_record(struct histogram *h, int64_t value_ns)
{
    histogram_record_n(h, value_ns, 1);
}

uint64_t histogram_merge(struct histogram *dst, const struct histogram *src)
{
    dst->count += src->count;
    dst->n_beyond += src->n_beyond;
    dst->sum_ns += src->sum_ns;
    dst->sum_sq_ns2 += src->sum_sq_ns2;
    if (src->min_ns < dst->min_ns) {
        dst->min_ns = src->min_ns;
    }
    if (src->max_ns > dst->max_ns) {
        dst->max_ns = src->max_ns;
    }
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        dst->buckets[i] += src->buckets[i];
    }
    return src->n_beyond;
}

int64_t histogram_percentile_ns(const struct histogram *h, double p)
{
    if (h->count == 0) {
        return 0;
    }
    p = p < 0 ? 0 : p > 100 ? 100 : p;

    /* The smallest rank that is p % of all or more, but at least the first value. The margin undoes the rounding of
     * p/100·count: 99.9 % of 1000 must be rank 999, and in binary it comes out a little above it. */
    double exact_rank = p / 100 * (double)h->count;
    uint64_t rank = (uint64_t)ceil(exact_rank - exact_rank * 1e-12);
    if (rank < 1) {
        rank = 1;
    }
    if (rank > h->count) {
        rank = h->count;
    }

    uint64_t seen = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen >= rank) {
            int64_t high = histogram_bucket_high_ns(i);
            return high < h->max_ns ? high : h->max_ns;
        }
    }
    return h->max_ns; /* the rank is among the values beyond the range: all that is known is the largest */
}

double histogram_mean_ns(const struct histogram *h)
{
    return h->count == 0 ? 0 : (double)h->sum_ns / (double)h->count;
}

double histogram_stddev_ns(const struct histogram *h)
{
    if (h->count < 2) {
        return 0;
    }

    /* Deviations are summed from q, the mean rounded down, in integers: with Σx = n·q + r,
     *
     *   Σ(x − q)² = Σx² − n·q² − 2·q·r        and        Σ(x − mean)² = Σ(x − q)² − r²/n.
     *
     * Doubles would subtract two nearly equal numbers of thirty digits. The products may wrap at 2^128, but their
     * difference fits, so it is exact all the same. */
    unsigned __int128 n = h->count, q = h->sum_ns / n, r = h->sum_ns % n;
    unsigned __int128 from_q = h->sum_sq_ns2 - n * q * q - 2 * q * r;
    long double sum_sq_deviations = (long double)from_q - (long double)(r * r) / (long double)n;
    return (double)sqrtl(sum_sq_deviations / (long double)(h->count - 1));
}
