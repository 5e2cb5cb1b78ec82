#include "dist.h"

#include "rng.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

int dist_discrete_init(struct dist_discrete *d, const double *weights, uint32_t n)
{
    double sum = 0;
    uint32_t *work = NULL;
    int error = -ENOMEM;

    *d = (struct dist_discrete){0};
    for (uint32_t i = 0; i < n; i++) {
        if (!(weights[i] >= 0)) {
            return -EINVAL;
        }
        sum += weights[i];
    }
    if (n == 0 || !(sum > 0) || isinf(sum)) {
        return -EINVAL;
    }

    d->n = n;
    d->keep = malloc(n * sizeof *d->keep);
    d->alias = malloc(n * sizeof *d->alias);
    work = malloc(n * sizeof *work);
    if (!d->keep || !d->alias || !work) {
        goto out;
    }

    /* Every column holds 1/n of the probability. Columns that their own item does not fill (from the front of `work`)
     * are topped up by items that have too much (from its back), until each column has one owner and at most one guest.
     */
    uint32_t n_small = 0, n_large = 0;
    for (uint32_t i = 0; i < n; i++) {
        d->keep[i] = weights[i] / sum * n;
        d->alias[i] = i;
        if (d->keep[i] < 1) {
            work[n_small++] = i;
        } else {
            work[n - ++n_large] = i;
        }
    }
    while (n_small > 0 && n_large > 0) {
        uint32_t small = work[--n_small], large = work[n - n_large];
        d->alias[small] = large;
        d->keep[large] -= 1 - d->keep[small];
        if (d->keep[large] < 1) {
            n_large--;
            work[n_small++] = large;
        }
    }
    /* What is left over is full but for rounding. */
    while (n_small > 0) {
        d->keep[work[--n_small]] = 1;
    }
    while (n_large > 0) {
        d->keep[work[n - n_large--]] = 1;
    }
    error = 0;
out:
    free(work);
    if (error) {
        dist_discrete_fini(d);
    }
    return error;
}

void dist_discrete_fini(struct dist_discrete *d)
{
    free(d->keep);
    free(d->alias);
    *d = (struct dist_discrete){0};
}

uint32_t dist_discrete_draw(const struct dist_discrete *d, struct rng *rng)
{
    /* High word: the column; low word: where in it. */
    unsigned __int128 place = (unsigned __int128)rng_u64(rng) * d->n;
    uint32_t column = (uint32_t)(place >> 64);
    return (double)(uint64_t)place * 0x1p-64 < d->keep[column] ? column : d->alias[column];
}

/* Area under x^-theta from 1 to x, and its inverse; both are continuous at theta = 1, where the area is a logarithm. */
static double zipf_area(double x, double theta)
{
    double log_x = log(x), t = (1 - theta) * log_x;
    return fabs(t) < 1e-8 ? log_x * (1 + t / 2) : log_x * expm1(t) / t;
}

static double zipf_area_inverse(double area, double theta)
{
    double t = area * (1 - theta);
    if (t < -1) {
        t = -1; /* rounding at the far end */
    }
    return exp(fabs(t) < 1e-8 ? area * (1 - t / 2) : area * log1p(t) / t);
}

void dist_zipf_init(struct dist_zipf *z, uint64_t n, double theta)
{
    assert(n >= 1 && theta >= 0);
    z->n = n;
    z->theta = theta;
    /* The column of rank 1 is cut to its weight, so that it is never refused. */
    z->area_first = zipf_area(1.5, theta) - 1;
    z->area_last = zipf_area((double)n + 0.5, theta);
    z->squeeze = 2 - zipf_area_inverse(zipf_area(2.5, theta) - pow(2, -theta), theta);
}

uint64_t dist_zipf_draw(const struct dist_zipf *z, struct rng *rng)
{
    for (;;) {
        double area = z->area_last + rng_unit(rng) * (z->area_first - z->area_last);
        double x = zipf_area_inverse(area, z->theta);
        double k = nearbyint(x);
        if (k < 1) {
            k = 1;
        }
        if (k > (double)z->n) {
            k = (double)z->n;
        }
        /* Under the curve, but is it also in the bar of k? Near the right edge of the bar always. */
        if (k - x <= z->squeeze || area >= zipf_area(k + 0.5, z->theta) - pow(k, -z->theta)) {
            return (uint64_t)k - 1;
        }
    }
}

double dist_poisson_weight(uint32_t k, double lambda)
{
    return exp(k * log(lambda) - lambda - lgamma(k + 1.0));
}

uint32_t dist_access_group_count(uint64_t n_working_set)
{
    uint64_t n = DIST_ACCESS_GROUPS + DIST_ACCESS_GROUPS * (n_working_set / 1500);
    return n > UINT32_MAX ? UINT32_MAX - UINT32_MAX % DIST_ACCESS_GROUPS : (uint32_t)n;
}

void dist_access_group_weights(double *weights, uint32_t n_groups)
{
    for (uint32_t i = 0; i < n_groups; i++) {
        weights[i] = dist_poisson_weight(i % DIST_ACCESS_GROUPS, DIST_ACCESS_LAMBDA);
    }
}

double dist_normal_cdf(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

double dist_normal_quantile(double p)
{
    if (p <= 0) {
        return -INFINITY;
    }
    if (p >= 1) {
        return INFINITY;
    }
    /* Bisection: slow and sure, for tables that are made once. Beyond 40 no double has a tail. */
    double low = -40, high = 40;
    while (high - low > 1e-14 * (1 + fabs(low))) {
        double middle = (low + high) / 2;
        if (dist_normal_cdf(middle) < p) {
            low = middle;
        } else {
            high = middle;
        }
        if (middle == (low + high) / 2) {
            break;
        }
    }
    return (low + high) / 2;
}

double dist_lognormal_slice_mean(double mean, double sigma, double p_low, double p_high)
{
    assert(p_low < p_high);
    /* The part of the mean that lies above a quantile z is a normal tail again, moved by sigma. */
    double above_low = dist_normal_cdf(sigma - dist_normal_quantile(p_low));
    double above_high = dist_normal_cdf(sigma - dist_normal_quantile(p_high));
    return mean * (above_low - above_high) / (p_high - p_low);
}
