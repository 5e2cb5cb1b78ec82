/* report_text.c - a result for a terminal: table, and the curve drawn in characters. */
#include "curve.h"
#include "escape.h"
#include "report.h"
#include "report_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLOT_ROWS   16
#define MIN_COLUMNS 60
#define MAX_COLUMNS 160

struct plot {
    int columns, rows;
    double x_max, y_max, y_step;
    char *cells; /* rows * columns, one ASCII character each */
};

static void put_cell(struct plot *p, double x, double y, char mark)
{
    int column = (int)lround(x / p->x_max * (p->columns - 1)),
        row = p->rows - 1 - (int)lround(y / p->y_max * (p->rows - 1));
    if (column < 0 || column >= p->columns || row < 0 || row >= p->rows) {
        return;
    }
    char *cell = &p->cells[row * p->columns + column];
    if (*cell == ' ' || mark != '.') {
        *cell = mark;
    }
}

static void plot_segment(struct plot *p, const struct curve_point *a, const struct curve_point *b)
{
    for (int i = 0; i <= 2 * p->columns; i++) {
        double t = (double)i / (2 * p->columns);
        put_cell(p, a->ops_per_s + t * (b->ops_per_s - a->ops_per_s),
                 a->response_ms + t * (b->response_ms - a->response_ms), '.');
    }
}

/* The rounded value whose place is this row, or NAN: every row is 1/(rows - 1) of the axis, labels stand at whole
 * steps. */
static double label_of_row(const struct plot *p, int row)
{
    for (int i = 0; i * p->y_step <= p->y_max * (1 + 1e-9); i++) {
        if (p->rows - 1 - (int)lround(i * p->y_step / p->y_max * (p->rows - 1)) == row) {
            return i * p->y_step;
        }
    }
    return NAN;
}

static void print_plot(const struct plot *p, FILE *out)
{
    char number[48], middle[48];
    for (int row = 0; row < p->rows; row++) {
        double y = label_of_row(p, row);
        fprintf(out, "%9s |", isnan(y) ? "" : chart_number(y, 4, number));
        int n = p->columns;
        while (n > 0 && p->cells[row * p->columns + n - 1] == ' ') {
            n--;
        }
        fprintf(out, "%.*s\n", n, p->cells + row * p->columns);
    }
    fprintf(out, "%9s +", "ms");
    for (int i = 0; i < p->columns; i++) {
        fputc('-', out);
    }
    snprintf(middle, sizeof middle, "%s", report_ops(p->x_max / 2, number));
    int half = p->columns / 2;
    fprintf(out, "\n%10s0%*s%*s ops/s\n", "", half, middle, p->columns - half - 1, report_ops(p->x_max, number));
}

static void draw_plot(const struct result *r, int columns, FILE *out)
{
    struct chart scale = {.out = NULL};
    struct curve curve;
    struct curve_point *points = result_curve_points(r);
    struct plot p = {.columns = columns - 20, .rows = PLOT_ROWS};
    double x_max = 0, y_max = 0;
    const struct curve_point *last = NULL;
    p.cells = malloc((size_t)p.columns * (size_t)p.rows);
    if (!points || !p.cells) {
        goto out;
    }
    memset(p.cells, ' ', (size_t)p.columns * (size_t)p.rows);
    curve_compute(points, r->n_points, r->ceiling_ms, &curve, NULL);
    for (size_t i = 0; i < r->n_points; i++) {
        x_max = fmax(x_max, points[i].ops_per_s);
        y_max = isfinite(points[i].response_ms) ? fmax(y_max, points[i].response_ms) : y_max;
    }
    if (!(x_max > 0)) {
        goto out;
    }
    chart_scale(&scale, 0, x_max, y_max);
    p.x_max = scale.x_max;
    p.y_max = scale.y_max;
    p.y_step = chart_step(scale.y_max, 6);
    for (size_t i = 0; i < r->n_points; i++) {
        if (points[i].is_on_curve && last) {
            plot_segment(&p, last, &points[i]);
        }
        last = points[i].is_on_curve ? &points[i] : last;
    }
    for (size_t i = 0; i < r->n_points; i++) {
        if (isfinite(points[i].response_ms)) {
            put_cell(&p, points[i].ops_per_s, points[i].response_ms,
                     !points[i].is_valid     ? 'x'
                     : points[i].is_on_curve ? 'o'
                                             : '*');
        }
    }
    fputc('\n', out);
    print_plot(&p, out);
out:
    free(points);
    free(p.cells);
}

static void put_line(FILE *out, const char *text)
{
    escape_terminal(out, text, 2000);
}

static void print_headline(const struct result *r, FILE *out, const char *bold, const char *plain)
{
    char metric[96], peak[48], ort[48], ceiling[48];
    report_metric_name(r, metric, sizeof metric);
    escape_terminal(out, r->name, ESCAPE_SHORT_BYTES);
    fprintf(out, "%s%s", r->name && *r->name ? "\n" : "", bold);
    put_line(out, metric);
    fprintf(out, " = %s ops/s, overall response time %s ms%s\n", report_ops(report_peak(r), peak),
            report_ort(r->ort_ms, ort), plain);
    if (r->ceiling_ms > 0) {
        if (isfinite(r->peak_under_ceiling_ops_per_s)) {
            fprintf(out, "under the ceiling of %s ms: %s ops/s, overall response time %s ms\n",
                    report_limit(r->ceiling_ms, ceiling), report_ops(r->peak_under_ceiling_ops_per_s, peak),
                    report_ort(r->ort_under_ceiling_ms, ort));
        } else {
            fprintf(out, "no point is under the ceiling of %s ms\n", report_limit(r->ceiling_ms, ceiling));
        }
    }
}

/* Cuts a table row's numbers to the columns that there are. */
static void print_points(const struct result *r, FILE *out, const char *bad, const char *plain)
{
    bool has_tails = report_has_percentiles(r);
    int decimals = report_decimals(r);
    char a[48], b[48], c[48], d[48], e[48], f[48];
    fprintf(out, "\n%5s %12s %12s %10s %8s", "point", "requested", "achieved", "response", "+/- 95%");
    if (has_tails) {
        fprintf(out, " %9s %9s %8s", "p50", "p99", "failed");
    }
    fprintf(out, "  state\n%5s %12s %12s %10s %8s", "", "ops/s", "ops/s", "ms", "ms");
    if (has_tails) {
        fprintf(out, " %9s %9s %8s", "ms", "ms", "RPCs");
    }
    fputc('\n', out);
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        fprintf(out, "%5zu %12s %12s %10s %8s", i + 1,
                isnan(p->requested_ops_per_s) ? "-" : report_ops(p->requested_ops_per_s, a),
                report_ops(p->achieved_ops_per_s, b),
                isnan(p->response_ms) ? "-" : report_ms_column(p->response_ms, decimals, c),
                isnan(p->response_ci95_ms) ? "-" : report_ms_column(p->response_ci95_ms, 3, d));
        if (has_tails) {
            const struct response_figures *h = point_headline(p);
            char failed[24] = "-";
            if (p->n_failed != RESULT_UNKNOWN) {
                snprintf(failed, sizeof failed, "%llu", (unsigned long long)p->n_failed);
            }
            fprintf(out, " %9s %9s %8s", isnan(h->p50_ms) ? "-" : report_ms_column(h->p50_ms, 3, e),
                    isnan(h->p99_ms) ? "-" : report_ms_column(h->p99_ms, 3, f), failed);
        }
        fprintf(out, "  %s%s%s%s\n", p->is_valid ? "" : bad, report_point_state(p), p->is_valid ? "" : plain,
                r->is_standard ? "" : ", non-standard");
    }
}

static void print_remarks(const struct result *r, FILE *out, const char *bad, const char *plain)
{
    if (!r->is_valid) {
        fprintf(out, "\n%sINVALID%s\n", bad, plain);
        report_each_string(r->invalid_reasons, out, "  - ", "\n", put_line);
    }
    if (!r->is_standard) {
        fputs("\nNon-standard:\n", out);
        report_each_string(r->nonstandard_reasons, out, "  - ", "\n", put_line);
    }
    if (json_array_size(r->curve_notes) + json_array_size(r->notes) > 0) {
        fputs("\nNotes:\n", out);
        report_each_string(r->curve_notes, out, "  - ", "\n", put_line);
        report_each_string(r->notes, out, "  - ", "\n", put_line);
    }
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        char before[40];
        snprintf(before, sizeof before, "  point %zu: ", i + 1);
        if (json_array_size(p->invalid_reasons) > 1) {
            report_each_string(p->invalid_reasons, out, before, "\n", put_line);
        }
        report_each_string(p->notes, out, before, "\n", put_line);
    }
}

int report_render_text(const struct result *r, int columns, bool is_tty, FILE *out)
{
    const char *bold = is_tty ? "\033[1m" : "", *bad = is_tty ? "\033[1;31m" : "", *plain = is_tty ? "\033[0m" : "";
    if (columns < MIN_COLUMNS) {
        columns = MIN_COLUMNS;
    }
    if (columns > MAX_COLUMNS) {
        columns = MAX_COLUMNS;
    }
    print_headline(r, out, bold, plain);
    print_points(r, out, bad, plain);
    fprintf(out, "\nmean %s%s\n", report_response_label(r),
            r->n_points && r->points[0].n_ops != RESULT_UNKNOWN && !r->is_published
                ? r->points[0].is_headline_from_due ? " (done - due: waiting for a free slot counts)"
                                                    : " (done - sent; from due is in the report)"
                : "");
    draw_plot(r, columns, out);
    print_remarks(r, out, bad, plain);
    fputs("\n" RESULT_TRADEMARK "\n", out);
    return 0;
}
