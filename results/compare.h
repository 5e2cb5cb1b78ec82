/* compare.h - do two curves differ by more than they scatter?
 *
 * Each group is one thing, measured once or in several repeats. Every group is held against the first: peak, overall
 * response time, and at equal load response time (and throughput, where the same loads were requested).
 *
 * Figures are compared as ratios (logarithms). With repeats, the noise of a figure is the scatter of its repeats; for
 * figures at single loads, where two or three repeats know little of their own scatter, the scatter at all loads lends
 * weight to each (moderated t-test, PRIOR_DF degrees of freedom); the mean over all loads is held against the scatter
 * of whole repeats. Without repeats, the noise is the half-width within the run, which is less than that between runs,
 * and is labelled so. Without either it is unknown, and nothing is said to differ. The levels are shared out
 * (Bonferroni) so that all the tests of one pair together cry wolf in COMPARE_FALSE_ALARM of comparisons of the same
 * thing.
 */
#ifndef NFSCURVE_RESULTS_COMPARE_H
#define NFSCURVE_RESULTS_COMPARE_H

#include "report.h"

#include <stdbool.h>
#include <stddef.h>

#define COMPARE_FALSE_ALARM 0.002

enum compare_noise { COMPARE_NOISE_UNKNOWN, COMPARE_NOISE_WITHIN_RUN, COMPARE_NOISE_REPEATS };

/* One figure of one group. */
struct compare_figure {
    double mean;
    double sd;      /* over repeats; NAN with fewer than two */
    double log_var; /* variance of the logarithm of one value; NAN: unknown */
    double df;      /* of log_var; INFINITY: known from within the run */
    size_t n;
    enum compare_noise noise;
};

/* One figure of a group against the same of the first group. */
struct compare_difference {
    double percent;            /* NAN: not to be compared */
    double half_width_percent; /* at the 95 % level, of this figure alone; NAN: unknown */
    bool exceeds_noise;
};

struct compare_row {
    double ops_per_s;                                   /* the load */
    struct compare_figure *response, *achieved;         /* one each group */
    struct compare_difference *response_d, *achieved_d; /* one each group; [0] is empty */
};

struct comparison {
    size_t n_groups;
    const char **labels;
    char **names; /* owned copies behind labels */
    struct compare_figure *peak, *ort;
    struct compare_difference *peak_d, *ort_d, *mean_d; /* mean_d: response time over all common loads */
    bool *is_different;                                 /* any of a group's differences exceeds the noise */
    bool has_requests;                                  /* rows are requested loads; else throughputs */
    struct compare_row *rows;
    size_t n_rows;
    enum compare_noise noise; /* the weakest that was used */
};

/* Every group has a result at least. 0 or -ENOMEM. Free with comparison_fini. */
int comparison_compute(const struct compare_group *groups, size_t n, struct comparison *c);
void comparison_fini(struct comparison *c);

#endif
