#include "statistics.h"

#include "stats.h"

#include <math.h>

#define Z95               1.96
#define MIN_BATCHES       10
#define MIN_DRIFT_PERCENT 5.0
#define DRIFT_CHANCE      0.0027 /* of a steady run that is called drifting: three standard errors of a long one */

/* Ratio estimator: R = sum(S)/sum(n); its variance comes from the residuals S_i - R n_i, so that seconds of unequal
 * counts weigh rightly. */
double statistics_batch_half_width_ms(const struct batch *batches, size_t n_batches)
{
    double n = 0, sum = 0, squares = 0, k = 0;
    for (size_t i = 0; i < n_batches; i++) {
        n += batches[i].n_ops;
        sum += batches[i].sum_ms;
        k += batches[i].n_ops > 0;
    }
    if (k < 2) {
        return NAN;
    }
    double mean = sum / n;
    for (size_t i = 0; i < n_batches; i++) {
        double residual = batches[i].sum_ms - mean * batches[i].n_ops;
        squares += residual * residual;
    }
    return Z95 * sqrt(k / (k - 1) * squares) / n;
}

struct confidence statistics_confidence(double stddev_ms, double n_ops, const struct batch *batches, size_t n_batches)
{
    struct confidence c = {.half_width_ms = NAN};
    if (n_ops >= 2 && isfinite(stddev_ms)) {
        c.half_width_ms = Z95 * stddev_ms / sqrt(n_ops);
    }
    if (n_batches < MIN_BATCHES) {
        return c;
    }
    double batch_means = statistics_batch_half_width_ms(batches, n_batches);
    /* The ratio of the two variances is about chi-squared/k around 1 for independent ops: sd sqrt(2/k); two of them are
     * chance. */
    double chance = 1 + 2 * sqrt(2 / ((double)n_batches - 1));
    if (isfinite(batch_means) && !(batch_means * batch_means <= c.half_width_ms * c.half_width_ms * chance)) {
        c.half_width_ms = batch_means;
        c.is_batch_means = true;
    }
    return c;
}

/* Slope of y over x with weights: change over `span` in percent of the mean, and whether it is more than chance. */
static double fitted_change(const double *y, const double *w, size_t n, bool *is_significant)
{
    double sw = 0, sx = 0, sy = 0;
    *is_significant = false;
    for (size_t i = 0; i < n; i++) {
        sw += w[i];
        sx += w[i] * (double)i;
        sy += w[i] * y[i];
    }
    if (!(sw > 0) || !(sy > 0)) {
        return NAN;
    }
    double mx = sx / sw, my = sy / sw, sxx = 0, sxy = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        sxx += w[i] * ((double)i - mx) * ((double)i - mx);
        sxy += w[i] * ((double)i - mx) * (y[i] - my);
    }
    if (!(sxx > 0)) {
        return NAN;
    }
    double slope = sxy / sxx;
    for (size_t i = 0; i < n; i++) {
        double residual = y[i] - my - slope * ((double)i - mx);
        rest += w[i] * residual * residual;
    }
    double error = sqrt(rest / ((double)n - 2) / sxx);
    double change = 100 * slope * (double)(n - 1) / my;
    /* The error is an estimate itself, from n - 2 residuals: over 7 seconds three of it are passed by 3 steady runs in
     * 100, so it takes Student's 5.5 there for the same chance. */
    double t_min = stats_student_quantile(DRIFT_CHANCE, (double)n - 2);
    *is_significant = fabs(slope) > t_min * error && fabs(change) > MIN_DRIFT_PERCENT;
    return change;
}

struct drift statistics_drift(const struct batch *batches, size_t n_batches)
{
    struct drift d = {.throughput_percent = NAN, .response_percent = NAN};
    if (n_batches > MIN_BATCHES) {
        batches++;
        n_batches -= 2;
    }
    enum { MAX_SECONDS = 86400 };
    static _Thread_local double y[MAX_SECONDS], w[MAX_SECONDS];
    if (n_batches < 5 || n_batches > MAX_SECONDS) {
        return d;
    }
    bool throughput_drifts, response_drifts;
    for (size_t i = 0; i < n_batches; i++) {
        y[i] = batches[i].n_ops;
        w[i] = 1;
    }
    d.throughput_percent = fitted_change(y, w, n_batches, &throughput_drifts);
    for (size_t i = 0; i < n_batches; i++) {
        y[i] = batches[i].n_ops > 0 ? batches[i].sum_ms / batches[i].n_ops : 0;
        w[i] = batches[i].n_ops;
    }
    d.response_percent = fitted_change(y, w, n_batches, &response_drifts);
    d.is_drifting = throughput_drifts || response_drifts;
    return d;
}

void statistics_mean_sd(const double *values, size_t n, double *mean, double *sd)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
    }
    *mean = n ? sum / (double)n : NAN;
    for (size_t i = 0; i < n; i++) {
        squares += (values[i] - *mean) * (values[i] - *mean);
    }
    *sd = n >= 2 ? sqrt(squares / (double)(n - 1)) : NAN;
}
