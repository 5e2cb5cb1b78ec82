/* statistics.h - how sure a mean is, and whether a run was steady (docs/measurement-statistics.md).
 *
 * 95 % half-width of a mean response time = 1.96 * sd / sqrt(n) when ops are independent. Ops of one second share the
 * state of the server (cache, queue), so they often are not; then the seconds are the samples (batch means), and the
 * ratio estimator over them gives the half-width. Which of the two: batch means as soon as the seconds' means scatter
 * more than independent ops would explain.
 */
#ifndef NFSCURVE_RESULTS_STATISTICS_H
#define NFSCURVE_RESULTS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* One second of a run. */
struct batch {
    double n_ops;
    double sum_ms; /* of response times */
};

struct confidence {
    double half_width_ms; /* NAN when there are fewer than two ops */
    bool is_batch_means;
};

struct confidence statistics_confidence(double stddev_ms, double n_ops, const struct batch *batches, size_t n_batches);

/* Half-width from the batches alone; NAN with fewer than 2 batches that hold an op. */
double statistics_batch_half_width_ms(const struct batch *batches, size_t n_batches);

struct drift {
    double throughput_percent, response_percent; /* fitted change over the run, of the mean; NAN: too few seconds */
    bool is_drifting; /* more than 5 %, and more than chance does to 1 steady run in 370; either of them */
};

/* Least squares over the seconds; the first and last are left out when there are more than 10 (they may be cut short).
 */
struct drift statistics_drift(const struct batch *batches, size_t n_batches);

/* Mean and sample standard deviation of repeats; sd is NAN with fewer than two. */
void statistics_mean_sd(const double *values, size_t n, double *mean, double *sd);

#endif
