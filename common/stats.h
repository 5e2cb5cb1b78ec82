/* stats.h - the tests that say whether a difference is more than chance. All p-values are upper tails: small = unlikely
 * by chance.
 *
 * Used by `compare` on results, and by the tests of the workload model on what was drawn.
 */
#ifndef NFSCURVE_COMMON_STATS_H
#define NFSCURVE_COMMON_STATS_H

#include <stddef.h>
#include <stdint.h>

/* P(X >= x) of chi-square with `degrees` (> 0) degrees of freedom; 1 for x <= 0. */
double stats_chi_square_p(double x, double degrees);

/* Pearson's test of counts against expected weights (any sum). Cells that expect fewer than 5 are pooled with their
 * neighbours; a cell of weight 0 must be empty, else the p-value is 0. *degrees may be NULL. 1 when fewer than two
 * cells remain. */
double stats_chi_square_test(const uint64_t *counts, const double *weights, size_t n, double *degrees);

/* P of a distance d or more between n values and a continuous distribution that they do come from (Kolmogorov's limit
 * with Stephens's correction: good from n = 5 on); with n = n1·n2/(n1 + n2) also for two samples. */
double stats_kolmogorov_p(double d, double n);

/* Sorts the values. cdf gives P(X <= value). */
double stats_ks_test(double *values, size_t n, double (*cdf)(double value, void *arg), void *arg);

/* Sorts both. Ties count once, which makes the test conservative. */
double stats_ks_test_two(double *a, size_t n_a, double *b, size_t n_b);

/* P(|T| >= |t|) of Student's t with `degrees` (> 0), both tails. */
double stats_student_p(double t, double degrees);

/* The t that |T| passes with probability p, both tails: 1.96 for p = 0.05 and many degrees. */
double stats_student_quantile(double p, double degrees);

/* What is known of a sample. */
struct stats_sample {
    double mean, variance; /* variance: with n - 1 */
    double n;
};

struct stats_sample stats_sample_of(const double *values, size_t n);

/* Welch's test: two-sided p-value of the difference of two means whose variances may differ. 1 when a sample has fewer
 * than two values; 0 when both have no variance and differ. *degrees may be NULL. */
double stats_welch_test(const struct stats_sample *a, const struct stats_sample *b, double *degrees);

#endif
