#include "compare.h"
#include "curve.h"
#include "result.h"
#include "statistics.h"
#include "stats.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weight, in degrees of freedom, of the scatter at all loads: against that at one load, and (when points scatter
 * independently, a mean over n loads scatters n times less) against that of the mean over them. The first could be
 * large but for loads that scatter more than others, near the knee; the second is kept small, so that repeats whose
 * points all move together rarely cry wolf. */
#define PRIOR_DF      12.0
#define MEAN_PRIOR_DF 2.0
#define SAME_LOAD     0.005

/* Called for every repeat: its value of the figure (NAN: none), and the relative sd within its run (NAN: unknown). */
typedef double (*value_fn)(const struct result *r, double load, double *within);

static double peak_of(const struct result *r, double load, double *within)
{
    (void)load;
    *within = NAN;
    return r->peak_ops_per_s > 0 ? r->peak_ops_per_s : NAN;
}

/* The overall response time is a weighted mean of the points': their half-widths add up as independent errors. */
static double ort_of(const struct result *r, double load, double *within)
{
    double sum = 0, squares = 0;
    (void)load;
    for (size_t i = 0; i < r->n_points; i++) {
        sum += r->points[i].response_ms;
        squares += r->points[i].response_ci95_ms * r->points[i].response_ci95_ms;
    }
    *within = sum > 0 ? sqrt(squares) / 1.96 / sum : NAN;
    return r->ort_ms > 0 ? r->ort_ms : NAN;
}

static const struct point_result *point_at(const struct result *r, double load)
{
    for (size_t i = 0; i < r->n_points; i++) {
        if (r->points[i].is_valid && fabs(r->points[i].requested_ops_per_s - load) <= SAME_LOAD * load) {
            return &r->points[i];
        }
    }
    return NULL;
}

static double achieved_at(const struct result *r, double load, double *within)
{
    const struct point_result *p = point_at(r, load);
    *within = NAN;
    return p && p->achieved_ops_per_s > 0 ? p->achieved_ops_per_s : NAN;
}

static double response_at_request(const struct result *r, double load, double *within)
{
    const struct point_result *p = point_at(r, load);
    *within = p ? p->response_ci95_ms / 1.96 / p->response_ms : NAN;
    return p && p->response_ms > 0 ? p->response_ms : NAN;
}

static double response_at_throughput(const struct result *r, double load, double *within)
{
    struct curve curve;
    struct curve_point *points = result_curve_points(r);
    *within = NAN;
    if (!points) {
        return NAN;
    }
    curve_compute(points, r->n_points, NAN, &curve, NULL);
    double v = curve_response_at(points, r->n_points, load);
    for (size_t i = 0; i < r->n_points; i++) { /* the nearest point's half-width stands for the place between two */
        if (r->points[i].achieved_ops_per_s >= load && isfinite(r->points[i].response_ci95_ms)) {
            *within = r->points[i].response_ci95_ms / 1.96 / r->points[i].response_ms;
            break;
        }
    }
    free(points);
    return v > 0 ? v : NAN;
}

static struct compare_figure figure_of(const struct compare_group *g, value_fn value, double load)
{
    struct compare_figure f = {.mean = NAN, .sd = NAN, .log_var = NAN};
    double within_sq = 0, *v = calloc(2 * g->n + 1, sizeof *v), *logs = v + g->n;
    if (!v) {
        return f;
    }
    for (size_t i = 0; i < g->n; i++) {
        double within, one = value(g->repeats[i], load, &within);
        if (isnan(one)) {
            continue;
        }
        v[f.n] = one;
        logs[f.n++] = log(one);
        within_sq += within * within;
    }
    double log_mean, log_sd;
    statistics_mean_sd(v, f.n, &f.mean, &f.sd);
    statistics_mean_sd(logs, f.n, &log_mean, &log_sd);
    if (f.n >= 2) {
        f.log_var = log_sd * log_sd;
        f.df = (double)f.n - 1;
        f.noise = COMPARE_NOISE_REPEATS;
    } else if (f.n == 1 && within_sq > 0) {
        f.log_var = within_sq;
        f.df = INFINITY;
        f.noise = COMPARE_NOISE_WITHIN_RUN;
    }
    free(v);
    return f;
}

/* a against the base: `level` is this test's share of the false alarms; prior (may be NAN) is the pooled variance of
 * the logarithm. */
static struct compare_difference difference(const struct compare_figure *base, const struct compare_figure *a,
                                            double prior, double prior_df, double level)
{
    struct compare_difference d = {.percent = NAN, .half_width_percent = NAN};
    if (!(base->mean > 0) || !(a->mean > 0)) {
        return d;
    }
    d.percent = 100 * (a->mean / base->mean - 1);
    if (isnan(base->log_var) || isnan(a->log_var)) {
        return d;
    }
    double df = fmin(1e6, base->df) + fmin(1e6, a->df);
    double pooled = (fmin(1e6, base->df) * base->log_var + fmin(1e6, a->df) * a->log_var) / df;
    double variance = pooled * (1 / (double)base->n + 1 / (double)a->n);
    if (base->noise != COMPARE_NOISE_REPEATS || a->noise != COMPARE_NOISE_REPEATS) {
        variance = base->log_var / (double)base->n + a->log_var / (double)a->n;
    } else if (isfinite(prior)) {
        pooled = (df * pooled + prior_df * prior) / (df + prior_df);
        df += prior_df;
        variance = pooled * (1 / (double)base->n + 1 / (double)a->n);
    }
    double error = sqrt(variance), log_ratio = log(a->mean / base->mean);
    d.half_width_percent = 100 * expm1(stats_student_quantile(0.05, df) * error);
    /* identical repeats have no scatter: then any difference counts, but for the last digits of the arithmetic */
    if (error < 1e-9) {
        d.exceeds_noise = fabs(log_ratio) > 1e-6;
    } else {
        d.exceeds_noise = stats_student_p(log_ratio / error, df) < level;
    }
    return d;
}

/* Mean of the log ratio over all rows against its scatter between repeats: each repeat's own mean over the rows is one
 * value. */
static struct compare_figure mean_figure(const struct compare_group *g, value_fn value, const struct comparison *c)
{
    struct compare_figure f = {.mean = NAN, .sd = NAN, .log_var = NAN};
    double *logs = calloc(g->n + 1, sizeof *logs), log_mean, log_sd;
    if (!logs) {
        return f;
    }
    for (size_t i = 0; i < g->n; i++) {
        double sum = 0, n = 0;
        for (size_t k = 0; k < c->n_rows; k++) {
            double within, v = value(g->repeats[i], c->rows[k].ops_per_s, &within);
            if (isnan(v)) {
                continue;
            }
            sum += log(v);
            n++;
        }
        if (n > 0 && n == (double)c->n_rows) {
            logs[f.n++] = sum / n;
        }
    }
    statistics_mean_sd(logs, f.n, &log_mean, &log_sd);
    if (f.n) {
        f.mean = exp(log_mean);
    }
    if (f.n >= 2) {
        f.log_var = log_sd * log_sd;
        f.df = (double)f.n - 1;
        f.noise = COMPARE_NOISE_REPEATS;
    }
    free(logs);
    return f;
}

/* --- the loads at which to compare --- */

static bool every_group_requested(const struct compare_group *groups, size_t n, double load)
{
    for (size_t g = 0; g < n; g++) {
        bool has = false;
        for (size_t i = 0; i < groups[g].n; i++) {
            has = has || point_at(groups[g].repeats[i], load);
        }
        if (!has) {
            return false;
        }
    }
    return true;
}

static double lowest_peak(const struct compare_group *groups, size_t n)
{
    double lowest = INFINITY;
    for (size_t g = 0; g < n; g++) {
        for (size_t i = 0; i < groups[g].n; i++) {
            lowest = fmin(lowest, groups[g].repeats[i]->peak_ops_per_s);
        }
    }
    return lowest;
}

static double highest_start(const struct compare_group *groups, size_t n)
{
    double highest = 0;
    for (size_t g = 0; g < n; g++) {
        for (size_t i = 0; i < groups[g].n; i++) {
            if (groups[g].repeats[i]->n_points) {
                highest = fmax(highest, groups[g].repeats[i]->points[0].achieved_ops_per_s);
            }
        }
    }
    return highest;
}

static int add_row(struct comparison *c, double load)
{
    struct compare_row *bigger = realloc(c->rows, (c->n_rows + 1) * sizeof *bigger);
    if (!bigger) {
        return -ENOMEM;
    }
    c->rows = bigger;
    struct compare_row *row = &c->rows[c->n_rows++];
    *row = (struct compare_row){.ops_per_s = load,
                                .response = calloc(c->n_groups, sizeof *row->response),
                                .achieved = calloc(c->n_groups, sizeof *row->achieved),
                                .response_d = calloc(c->n_groups, sizeof *row->response_d),
                                .achieved_d = calloc(c->n_groups, sizeof *row->achieved_d)};
    return row->response && row->achieved && row->response_d && row->achieved_d ? 0 : -ENOMEM;
}

/* Requested loads that all have in common; else the throughputs of the first, where all have been. */
static int choose_rows(const struct compare_group *groups, size_t n, struct comparison *c)
{
    const struct result *first = groups[0].repeats[0];
    int error = 0;
    for (size_t i = 0; i < first->n_points && !error; i++) {
        double load = first->points[i].requested_ops_per_s;
        if (load > 0 && every_group_requested(groups, n, load)) {
            error = add_row(c, load);
        }
    }
    c->has_requests = c->n_rows > 0;
    double low = highest_start(groups, n), high = lowest_peak(groups, n);
    for (size_t i = 0; !c->has_requests && i < first->n_points && !error; i++) {
        double load = first->points[i].achieved_ops_per_s;
        if (first->points[i].is_valid && load >= low && load <= high) {
            error = add_row(c, load);
        }
    }
    return error;
}

/* --- all of it --- */

/* Scatter at all loads of two groups together, of response times or of throughputs. */
static double pooled_variance(const struct comparison *c, size_t g, bool of_response)
{
    double sum = 0, df = 0;
    for (size_t k = 0; k < c->n_rows; k++) {
        const struct compare_figure *figures = of_response ? c->rows[k].response : c->rows[k].achieved;
        const struct compare_figure *pair[2] = {&figures[0], &figures[g]};
        for (int i = 0; i < 2; i++) {
            if (pair[i]->noise != COMPARE_NOISE_REPEATS) {
                continue;
            }
            sum += pair[i]->df * pair[i]->log_var;
            df += pair[i]->df;
        }
    }
    return df > 0 ? sum / df : NAN;
}

static void compare_pair(const struct compare_group *groups, struct comparison *c, size_t g, value_fn response)
{
    /* a quarter each: peak, overall response time, mean over the loads, and all single loads together */
    double level = COMPARE_FALSE_ALARM / 4, single = level / (double)(c->n_rows ? 2 * c->n_rows : 1);
    struct compare_figure base = mean_figure(&groups[0], response, c), mine = mean_figure(&groups[g], response, c);
    double prior = pooled_variance(c, g, true), achieved_prior = pooled_variance(c, g, false);
    c->peak_d[g] = difference(&c->peak[0], &c->peak[g], NAN, 0, level);
    c->ort_d[g] = difference(&c->ort[0], &c->ort[g], NAN, 0, level);
    c->mean_d[g] = difference(&base, &mine, prior / (double)(c->n_rows ? c->n_rows : 1), MEAN_PRIOR_DF, level);
    bool is_different = c->peak_d[g].exceeds_noise || c->ort_d[g].exceeds_noise || c->mean_d[g].exceeds_noise;
    for (size_t k = 0; k < c->n_rows; k++) {
        struct compare_row *row = &c->rows[k];
        row->response_d[g] = difference(&row->response[0], &row->response[g], prior, PRIOR_DF, single);
        row->achieved_d[g] = difference(&row->achieved[0], &row->achieved[g], achieved_prior, PRIOR_DF, single);
        is_different = is_different || row->response_d[g].exceeds_noise || row->achieved_d[g].exceeds_noise;
    }
    c->is_different[g] = is_different;
}

static enum compare_noise weakest_noise(const struct comparison *c)
{
    enum compare_noise noise = COMPARE_NOISE_REPEATS;
    for (size_t g = 0; g < c->n_groups; g++) {
        noise = c->ort[g].noise < noise ? c->ort[g].noise : noise;
    }
    return noise;
}

static int allocate(struct comparison *c, const struct compare_group *groups, size_t n)
{
    *c = (struct comparison){.n_groups = n};
    c->labels = calloc(n, sizeof *c->labels);
    c->names = calloc(n, sizeof *c->names);
    c->peak = calloc(n, sizeof *c->peak);
    c->ort = calloc(n, sizeof *c->ort);
    c->peak_d = calloc(n, sizeof *c->peak_d);
    c->ort_d = calloc(n, sizeof *c->ort_d);
    c->mean_d = calloc(n, sizeof *c->mean_d);
    c->is_different = calloc(n, sizeof *c->is_different);
    if (!c->labels || !c->names || !c->peak || !c->ort || !c->peak_d || !c->ort_d || !c->mean_d || !c->is_different) {
        return -ENOMEM;
    }
    for (size_t g = 0; g < n; g++) {
        const char *label = groups[g].label              ? groups[g].label
                            : groups[g].repeats[0]->name ? groups[g].repeats[0]->name
                                                         : "?";
        result_set(&c->names[g], label);
        c->labels[g] = c->names[g];
        if (!c->names[g]) {
            return -ENOMEM;
        }
    }
    return 0;
}

int comparison_compute(const struct compare_group *groups, size_t n, struct comparison *c)
{
    for (size_t g = 0; g < n; g++) {
        assert(groups[g].n > 0 && groups[g].repeats[0]);
    }
    int error = allocate(c, groups, n);
    if (!error) {
        error = choose_rows(groups, n, c);
    }
    if (error) {
        comparison_fini(c);
        return error;
    }
    value_fn response = c->has_requests ? response_at_request : response_at_throughput;
    for (size_t g = 0; g < n; g++) {
        c->peak[g] = figure_of(&groups[g], peak_of, 0);
        c->ort[g] = figure_of(&groups[g], ort_of, 0);
        for (size_t k = 0; k < c->n_rows; k++) {
            c->rows[k].response[g] = figure_of(&groups[g], response, c->rows[k].ops_per_s);
            c->rows[k].achieved[g] = c->has_requests ? figure_of(&groups[g], achieved_at, c->rows[k].ops_per_s)
                                                     : (struct compare_figure){.mean = NAN, .sd = NAN, .log_var = NAN};
        }
    }
    c->noise = weakest_noise(c);
    for (size_t g = 1; g < n; g++) {
        compare_pair(groups, c, g, response);
    }
    return 0;
}

void comparison_fini(struct comparison *c)
{
    for (size_t g = 0; g < c->n_groups && c->names; g++) {
        free(c->names[g]);
    }
    for (size_t k = 0; k < c->n_rows; k++) {
        free(c->rows[k].response);
        free(c->rows[k].achieved);
        free(c->rows[k].response_d);
        free(c->rows[k].achieved_d);
    }
    free(c->rows);
    free(c->labels);
    free(c->names);
    free(c->peak);
    free(c->ort);
    free(c->peak_d);
    free(c->ort_d);
    free(c->mean_d);
    free(c->is_different);
    memset(c, 0, sizeof *c);
}
