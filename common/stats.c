#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define ITERATIONS_MAX 10000
#define TINY           1e-300
#define EXPECTED_MIN   5.0 /* below that Pearson's statistic is no chi-square */

/* Regularised upper incomplete gamma function Q(a, x). The series for P converges fast left of the peak, Legendre's
 * continued fraction (by the modified Lentz method) right of it. */
static double gamma_upper(double a, double x)
{
    if (x <= 0) {
        return 1;
    }
    double scale = exp(a * log(x) - x - lgamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int i = 1; i < ITERATIONS_MAX && term > sum * 1e-17; i++) {
            term *= x / (a + i);
            sum += term;
        }
        return 1 - scale * sum;
    }
    double b = x + 1 - a, c = 1 / TINY, d = 1 / b, h = d;
    for (int i = 1; i < ITERATIONS_MAX; i++) {
        double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        d = 1 / (fabs(d) < TINY ? TINY : d);
        c = b + an / c;
        c = fabs(c) < TINY ? TINY : c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15) {
            break;
        }
    }
    return scale * h;
}

double stats_chi_square_p(double x, double degrees)
{
    assert(degrees > 0);
    return gamma_upper(degrees / 2, x / 2);
}

double stats_chi_square_test(const uint64_t *counts, const double *weights, size_t n, double *degrees)
{
    double total = 0, sum = 0, statistic = 0, pooled_count = 0, pooled_expected = 0, last_count = 0, last_expected = 0;
    size_t cells = 0;

    for (size_t i = 0; i < n; i++) {
        total += (double)counts[i];
        sum += weights[i];
    }
    if (degrees) {
        *degrees = 0;
    }
    if (total == 0 || sum <= 0) {
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (weights[i] <= 0 && counts[i] > 0) {
            return 0;
        }
        pooled_count += (double)counts[i];
        pooled_expected += weights[i] / sum * total;
        if (pooled_expected < EXPECTED_MIN) {
            continue;
        }
        statistic += (pooled_count - pooled_expected) * (pooled_count - pooled_expected) / pooled_expected;
        cells++;
        last_count = pooled_count;
        last_expected = pooled_expected;
        pooled_count = pooled_expected = 0;
    }
    if (pooled_expected > 0 && cells > 0) {
        /* What is left at the end joins the last full cell. */
        statistic -= (last_count - last_expected) * (last_count - last_expected) / last_expected;
        last_count += pooled_count;
        last_expected += pooled_expected;
        statistic += (last_count - last_expected) * (last_count - last_expected) / last_expected;
    }
    if (cells < 2) {
        return 1;
    }
    if (degrees) {
        *degrees = (double)(cells - 1);
    }
    return stats_chi_square_p(statistic, (double)(cells - 1));
}

double stats_kolmogorov_p(double d, double n)
{
    double root = sqrt(n), x = (root + 0.12 + 0.11 / root) * d;
    if (!(x > 0)) {
        return 1;
    }

    /* Two series of the same function (theta functions): this one for small x, where the other alternates and cancels.
     */
    if (x < 1.18) {
        double t = exp(-M_PI * M_PI / (8 * x * x));
        return 1 - sqrt(2 * M_PI) / x * (t + pow(t, 9) + pow(t, 25) + pow(t, 49));
    }
    double t = exp(-2 * x * x);
    return 2 * (t - pow(t, 4) + pow(t, 9));
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double stats_ks_test(double *values, size_t n, double (*cdf)(double value, void *arg), void *arg)
{
    double d = 0;
    if (n == 0) {
        return 1;
    }
    qsort(values, n, sizeof *values, compare_doubles);
    for (size_t i = 0; i < n; i++) {
        double p = cdf(values[i], arg);
        double above = (double)(i + 1) / (double)n - p, below = p - (double)i / (double)n;
        d = fmax(d, fmax(above, below));
    }
    return stats_kolmogorov_p(d, (double)n);
}

double stats_ks_test_two(double *a, size_t n_a, double *b, size_t n_b)
{
    double d = 0;
    if (n_a == 0 || n_b == 0) {
        return 1;
    }
    qsort(a, n_a, sizeof *a, compare_doubles);
    qsort(b, n_b, sizeof *b, compare_doubles);
    for (size_t i = 0, j = 0; i < n_a && j < n_b;) {
        double value = a[i] < b[j] ? a[i] : b[j];
        while (i < n_a && a[i] <= value) {
            i++;
        }
        while (j < n_b && b[j] <= value) {
            j++;
        }
        d = fmax(d, fabs((double)i / (double)n_a - (double)j / (double)n_b));
    }
    return stats_kolmogorov_p(d, (double)n_a * (double)n_b / ((double)n_a + (double)n_b));
}

/* Continued fraction of the incomplete beta function; converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < TINY ? TINY : d);
    double h = d;
    for (int m = 1; m < ITERATIONS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change = 1;
        for (int half = 0; half < 2; half++) {
            double coefficient = half == 0 ? even : odd;
            d = 1 + coefficient * d;
            d = 1 / (fabs(d) < TINY ? TINY : d);
            c = 1 + coefficient / c;
            c = fabs(c) < TINY ? TINY : c;
            h *= d * c;
            change = d * c;
        }
        if (fabs(change - 1) < 1e-15) {
            break;
        }
    }
    return h;
}

/* Regularised incomplete beta function I_x(a, b). */
static double beta_regularised(double a, double b, double x)
{
    if (x <= 0) {
        return 0;
    }
    if (x >= 1) {
        return 1;
    }
    double scale = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) {
        return scale * beta_fraction(a, b, x) / a;
    }
    return 1 - scale * beta_fraction(b, a, 1 - x) / b;
}

double stats_student_p(double t, double degrees)
{
    assert(degrees > 0);
    if (isinf(t)) {
        return 0;
    }
    return beta_regularised(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double stats_student_quantile(double p, double degrees)
{
    assert(p > 0 && p < 1);
    double low = 0, high = 1;
    while (stats_student_p(high, degrees) > p && high < 1e12) {
        high *= 2;
    }
    for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
        double middle = (low + high) / 2;
        if (stats_student_p(middle, degrees) > p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2;
}

struct stats_sample stats_sample_of(const double *values, size_t n)
{
    struct stats_sample s = {0, 0, (double)n};
    for (size_t i = 0; i < n; i++) {
        s.mean += values[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        s.variance += (values[i] - s.mean) * (values[i] - s.mean);
    }
    s.variance = n < 2 ? 0 : s.variance / (double)(n - 1);
    return s;
}

double stats_welch_test(const struct stats_sample *a, const struct stats_sample *b, double *degrees)
{
    if (degrees) {
        *degrees = 0;
    }
    if (a->n < 2 || b->n < 2) {
        return 1;
    }
    double of_a = a->variance / a->n, of_b = b->variance / b->n, variance = of_a + of_b;
    if (variance <= 0) {
        return a->mean == b->mean ? 1 : 0;
    }
    double df = variance * variance / (of_a * of_a / (a->n - 1) + of_b * of_b / (b->n - 1));
    if (degrees) {
        *degrees = df;
    }
    return stats_student_p((a->mean - b->mean) / sqrt(variance), df);
}
