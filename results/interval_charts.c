/* interval_charts.c - the seconds of a run as pictures: throughput above, response time below, over the same seconds.
 *
 * The whole sweep shows all operations; a single point shows each class of operations too, so that a stall of one kind
 * is seen.
 */
#include "chart.h"
#include "report_internal.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH        1100
#define MAX_SERIES   (2 + OP_CLASS_COUNT)
#define MAX_NUMBERED 30 /* points that still have room for their number */

struct series {
    const char *label;
    unsigned colour;
    struct chart_xy *xy;
};

/* One picture: some series over the same seconds. */
struct panel {
    FILE *out;
    unsigned id;
    bool is_throughput; /* else response times */
    double x_max;
    size_t n; /* seconds */
    struct series series[MAX_SERIES];
    size_t n_series;
    const double *splits; /* where points begin; NULL: only one */
    size_t n_splits;
    struct chart_xy *errors; /* failed RPCs: y of the throughput where there were any, else NAN; NULL: not shown */
    const double *n_errors;
};

static double highest(const struct panel *p)
{
    double y_max = 0;
    for (size_t s = 0; s < p->n_series; s++) {
        for (size_t i = 0; i < p->n; i++) {
            double y = p->series[s].xy[i].y;
            y_max = isfinite(y) && y > y_max ? y : y_max;
        }
    }
    return y_max;
}

static void mark_errors(struct chart *c, const struct panel *p)
{
    for (size_t i = 0; p->errors && i < p->n; i++) {
        char tooltip[80];
        if (isnan(p->errors[i].y)) {
            continue;
        }
        snprintf(tooltip, sizeof tooltip, "second %.0f: %.0f failed RPCs", p->errors[i].x, p->n_errors[i]);
        chart_mark(c, p->errors[i].x, p->errors[i].y, CHART_MARK_INVALID, 0, tooltip);
    }
}

static void draw_legend(struct chart *c, const struct panel *p)
{
    struct chart_legend entries[MAX_SERIES + 1];
    char classes[MAX_SERIES][16];
    size_t n = 0;
    bool has_errors = false;
    for (size_t s = 0; s < p->n_series; s++) {
        snprintf(classes[s], sizeof classes[s], "nc-s%u", p->series[s].colour % 8);
        entries[n++] = (struct chart_legend){p->series[s].label, classes[s], CHART_SWATCH_LINE};
    }
    for (size_t i = 0; p->errors && i < p->n; i++) {
        has_errors = has_errors || !isnan(p->errors[i].y);
    }
    if (has_errors) {
        entries[n++] = (struct chart_legend){"failed RPCs in that second", "", CHART_SWATCH_INVALID};
    }
    chart_legend(c, entries, n);
}

static void draw_panel(const struct panel *p)
{
    struct chart c = {.out = p->out,
                      .width = WIDTH,
                      .height = p->is_throughput ? 170 : 210,
                      .left = 72,
                      .right = 26,
                      .top = 32,
                      .bottom = p->is_throughput ? 26 : 52,
                      .id = p->id};
    chart_scale(&c, 0, p->x_max, highest(p) * 1.05);
    c.x_max = p->x_max > 0 ? p->x_max : 1; /* the run ends where the picture ends */
    chart_begin(&c, p->is_throughput ? "throughput, second by second" : "response time, second by second", false);
    chart_axes(&c, p->is_throughput ? "" : "seconds of recorded run", p->is_throughput ? "ops/s" : "ms");
    for (size_t i = 0; i < p->n_splits; i++) {
        char label[24];
        snprintf(label, sizeof label, "%zu", i + 1);
        chart_vline(&c, p->splits[i], p->is_throughput && p->n_splits <= MAX_NUMBERED ? label : NULL, "split");
    }
    draw_legend(&c, p);
    for (size_t s = p->n_series; s-- > 0;) {
        chart_line(&c, p->series[s].xy, p->n, p->series[s].colour, "nc-thin");
    }
    mark_errors(&c, p);
    chart_end(&c);
}

/* --- the sweep --- */

struct seconds {
    struct chart_xy *ops, *mean, *p99, *errors;
    double *n_errors;
    size_t n;
};

static int seconds_alloc(struct seconds *s, size_t n)
{
    *s = (struct seconds){.ops = calloc(4 * n + 1, sizeof *s->ops), .n_errors = calloc(n + 1, sizeof *s->n_errors)};
    if (!s->ops || !s->n_errors) {
        free(s->ops);
        free(s->n_errors);
        return -1;
    }
    s->mean = s->ops + n;
    s->p99 = s->mean + n;
    s->errors = s->p99 + n;
    return 0;
}

static void seconds_free(struct seconds *s)
{
    free(s->ops);
    free(s->n_errors);
}

static void seconds_add(struct seconds *s, double x, const struct interval_response *f)
{
    s->ops[s->n] = (struct chart_xy){x, (double)f->n_ops};
    s->mean[s->n] = (struct chart_xy){x, f->response_ms};
    s->p99[s->n] = (struct chart_xy){x, f->p99_ms};
    s->errors[s->n] = (struct chart_xy){x, f->n_errors ? (double)f->n_ops : NAN};
    s->n_errors[s->n++] = (double)f->n_errors;
}

static void seconds_gap(struct seconds *s, double x)
{
    seconds_add(s, x, &(struct interval_response){.response_ms = NAN, .p99_ms = NAN});
    s->ops[s->n - 1].y = NAN;
}

void report_draw_sweep(const struct result *r, FILE *out, unsigned id)
{
    struct seconds s;
    size_t n = 0;
    double x = 0, *splits = calloc(r->n_points + 1, sizeof *splits);
    for (size_t i = 0; i < r->n_points; i++) {
        n += r->points[i].n_intervals + 1;
    }
    if (!splits || seconds_alloc(&s, n)) {
        free(splits);
        return;
    }
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        splits[i] = x;
        for (size_t k = 0; k < p->n_intervals; k++) {
            seconds_add(&s, x + p->intervals[k].t_s, &p->intervals[k].all);
        }
        x += p->n_intervals ? p->intervals[p->n_intervals - 1].t_s + 1.0 : 0;
        seconds_gap(&s, x);
    }
    struct panel throughput = {.out = out,
                               .id = id,
                               .is_throughput = true,
                               .x_max = x,
                               .n = s.n,
                               .series = {{"throughput", 0, s.ops}},
                               .n_series = 1,
                               .splits = splits,
                               .n_splits = r->n_points,
                               .errors = s.errors,
                               .n_errors = s.n_errors};
    struct panel response = {.out = out,
                             .id = id + 1,
                             .x_max = x,
                             .n = s.n,
                             .series = {{"mean", 0, s.mean}, {"p99 of the second", 1, s.p99}},
                             .n_series = 2,
                             .splits = splits,
                             .n_splits = r->n_points};
    draw_panel(&throughput);
    draw_panel(&response);
    seconds_free(&s);
    free(splits);
}

/* --- one point --- */

static bool has_class(const struct point_result *p, int c)
{
    for (size_t k = 0; k < p->n_intervals; k++) {
        if (p->intervals[k].by_class[c].n_ops) {
            return true;
        }
    }
    return false;
}

void report_draw_intervals(const struct point_result *p, FILE *out, unsigned id)
{
    struct seconds all, by_class[OP_CLASS_COUNT];
    int n_classes = 0;
    bool is_complete = seconds_alloc(&all, p->n_intervals) == 0;
    if (!is_complete) {
        return;
    }
    for (; n_classes < OP_CLASS_COUNT && is_complete; n_classes += is_complete) {
        is_complete = seconds_alloc(&by_class[n_classes], p->n_intervals) == 0;
    }
    for (size_t k = 0; k < p->n_intervals && is_complete; k++) {
        const struct point_interval *second = &p->intervals[k];
        seconds_add(&all, second->t_s, &second->all);
        for (int c = 0; c < OP_CLASS_COUNT; c++) {
            seconds_add(&by_class[c], second->t_s, &second->by_class[c]);
        }
    }
    double x_max = all.n ? all.ops[all.n - 1].x + 1 : 1;
    struct panel throughput = {.out = out,
                               .id = id,
                               .is_throughput = true,
                               .x_max = x_max,
                               .n = all.n,
                               .series = {{"all operations", 0, all.ops}},
                               .n_series = 1,
                               .errors = all.errors,
                               .n_errors = all.n_errors};
    struct panel response = {.out = out,
                             .id = id + 1,
                             .x_max = x_max,
                             .n = all.n,
                             .series = {{"mean, all operations", 0, all.mean}, {"p99, all operations", 1, all.p99}},
                             .n_series = 2};
    static const unsigned colours[OP_CLASS_COUNT] = {2, 3, 4, 6}; /* easy to tell apart from the first two */
    for (int c = 0; c < n_classes; c++) {
        if (!has_class(p, c)) {
            continue;
        }
        const char *name = op_class_name((enum op_class)c);
        throughput.series[throughput.n_series++] = (struct series){name, colours[c], by_class[c].ops};
        response.series[response.n_series++] = (struct series){name, colours[c], by_class[c].mean};
    }
    draw_panel(&throughput);
    draw_panel(&response);
    for (int c = 0; c < n_classes; c++) {
        seconds_free(&by_class[c]);
    }
    seconds_free(&all);
}
