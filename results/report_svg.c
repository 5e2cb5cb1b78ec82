/* report_svg.c - the picture: the curve with its bands, ceiling, peak and overall response time. */
#include "chart.h"
#include "curve.h"
#include "report_internal.h"

#include <math.h>
#include <stdlib.h>

static double larger(double a, double b)
{
    return isfinite(b) && b > a ? b : a;
}

/* The response axis holds every mean, the ceiling when it is near, and tails as far as they leave the mean readable. */
static double response_range(const struct result *r)
{
    double mean = 0, tail = 0;
    for (size_t i = 0; i < r->n_points; i++) {
        mean = larger(mean, r->points[i].response_ms);
        tail = larger(tail, point_headline(&r->points[i])->p99_ms);
    }
    double range = larger(mean, fmin(tail, 2 * mean)) * 1.05;
    if (r->ceiling_ms > 0 && r->ceiling_ms < 1.75 * mean) {
        range = larger(range, r->ceiling_ms * 1.05);
    }
    return range;
}

static void describe(const struct point_result *p, size_t number, char *out, size_t cap)
{
    char achieved[48], requested[48], response[48], p99[48];
    int n = snprintf(out, cap, "Point %zu: %s ops/s", number, report_ops(p->achieved_ops_per_s, achieved));
    if (isfinite(p->requested_ops_per_s)) {
        n += snprintf(out + n, cap - (size_t)n, " achieved, %s requested",
                      report_ops(p->requested_ops_per_s, requested));
    }
    n += snprintf(out + n, cap - (size_t)n, "\n%s ms mean", report_ms(p->response_ms, response));
    if (isfinite(point_headline(p)->p99_ms)) {
        n += snprintf(out + n, cap - (size_t)n, ", p50 %s, p99 %s ms", report_ms(point_headline(p)->p50_ms, response),
                      report_ms(point_headline(p)->p99_ms, p99));
    }
    if (!p->is_valid || p->is_saturated) {
        n += snprintf(out + n, cap - (size_t)n, "\n%s", report_point_state(p));
    }
    const char *reason = json_string_value(json_array_get(p->invalid_reasons, 0));
    if (reason && (size_t)n < cap) {
        snprintf(out + n, cap - (size_t)n, ": %.200s", reason);
    }
}

static void draw_bands(struct chart *c, const struct result *r)
{
    struct chart_xy *p50 = calloc(3 * r->n_points + 1, sizeof *p50), *p90 = p50 + r->n_points, *p99 = p90 + r->n_points;
    if (!p50) {
        return;
    }
    for (size_t i = 0; i < r->n_points; i++) {
        const struct response_figures *f = point_headline(&r->points[i]);
        double x = r->points[i].is_valid ? r->points[i].achieved_ops_per_s : NAN;
        p50[i] = (struct chart_xy){x, f->p50_ms};
        p90[i] = (struct chart_xy){x, f->p90_ms};
        p99[i] = (struct chart_xy){x, f->p99_ms};
    }
    chart_band(c, p90, p99, r->n_points, "nc-band-90");
    chart_band(c, p50, p90, r->n_points, "nc-band-50");
    free(p50);
}

static void draw_area(struct chart *c, const struct chart_xy *curve, size_t n)
{
    struct chart_xy *zero = calloc(n + 1, sizeof *zero);
    for (size_t i = 0; zero && i < n; i++) {
        zero[i] = (struct chart_xy){curve[i].x, 0};
    }
    if (zero) {
        chart_band(c, zero, curve, n, "nc-area");
    }
    free(zero);
}

static void draw_line_and_marks(struct chart *c, const struct result *r, const struct curve_point *points)
{
    struct chart_xy *curve = calloc(r->n_points + 2, sizeof *curve), *back = calloc(r->n_points + 2, sizeof *back);
    size_t n = 1, n_back = 0; /* curve[0] is (0, 0) */
    for (size_t i = 0; curve && back && i < r->n_points; i++) {
        struct chart_xy xy = {points[i].ops_per_s, points[i].response_ms};
        if (points[i].is_on_curve) {
            curve[n++] = xy;
            n_back = 0;
            back[n_back++] = xy;
        } else {
            back[n_back++] = xy;
        }
    }
    if (curve && back) {
        if (!report_has_percentiles(r)) {
            draw_area(c, curve, n);
        } else {
            draw_bands(c, r);
        }
        chart_line(c, curve, n > 1 ? 2 : 0, 0, "nc-thin nc-dashed");
        chart_line(c, back, n_back, 0, "nc-thin nc-dashed nc-faint");
        chart_line(c, curve + 1, n - 1, 0, "nc-curve");
        for (size_t i = 0; i < r->n_points; i++) {
            char tooltip[768];
            describe(&r->points[i], i + 1, tooltip, sizeof tooltip);
            enum chart_mark mark = !points[i].is_valid     ? CHART_MARK_INVALID
                                   : points[i].is_on_curve ? CHART_MARK_POINT
                                                           : CHART_MARK_OFF_CURVE;
            chart_mark(c, points[i].ops_per_s, points[i].response_ms, mark, 0, tooltip);
        }
    }
    free(curve);
    free(back);
}

static void draw_legend(struct chart *c, const struct result *r, bool has_invalid)
{
    char mean[64], ceiling[96], number[48];
    snprintf(mean, sizeof mean, "mean %s", report_response_label(r));
    struct chart_legend entries[5] = {{mean, "nc-s0", CHART_SWATCH_LINE}};
    size_t n = 1;
    if (report_has_percentiles(r)) {
        entries[n++] = (struct chart_legend){"p50 to p90", "nc-band-50", CHART_SWATCH_AREA};
        entries[n++] = (struct chart_legend){"p90 to p99", "nc-band-90", CHART_SWATCH_AREA};
    }
    if (has_invalid) {
        entries[n++] = (struct chart_legend){"invalid point", "", CHART_SWATCH_INVALID};
    }
    if (r->ceiling_ms > c->y_max) {
        snprintf(ceiling, sizeof ceiling, "ceiling of a reportable point, %s ms: above this picture",
                 report_limit(r->ceiling_ms, number));
        entries[n++] = (struct chart_legend){ceiling, "nc-ceiling", CHART_SWATCH_LINE};
    }
    chart_legend(c, entries, n);
}

void report_make_room(struct chart *c)
{
    c->height += 90;
    c->top += 56;
    c->bottom += 34;
    c->legend_y = 74;
}

void report_draw_curve(const struct result *r, FILE *out, bool is_alone, unsigned id)
{
    char metric[96], title[256], label[128], number[48], ort[48];
    struct chart c = {
        .out = out, .width = 800, .height = 492, .left = 72, .right = 30, .top = 60, .bottom = 60, .id = id};
    struct curve_point *points = result_curve_points(r);
    struct curve curve;
    double x_max = 0;
    bool has_invalid = false;
    if (!points) {
        return;
    }
    curve_compute(points, r->n_points, r->ceiling_ms, &curve, NULL);
    for (size_t i = 0; i < r->n_points; i++) {
        x_max = larger(x_max, points[i].ops_per_s);
        has_invalid = has_invalid || !points[i].is_valid;
    }
    report_metric_name(r, metric, sizeof metric);
    if (is_alone) {
        report_make_room(&c);
    }
    snprintf(title, sizeof title, "%s: response time against throughput; %.100s", metric, r->name ? r->name : "");
    chart_scale(&c, 0, x_max * 1.02, response_range(r));
    chart_begin(&c, title, is_alone);
    if (is_alone) {
        snprintf(label, sizeof label, "%.70s = %s ops/s, overall response time = %s ms%s", metric,
                 report_ops(report_peak(r), number), report_ort(r->ort_ms, ort), r->is_valid ? "" : ", INVALID");
        chart_heading(&c, r->name && *r->name ? r->name : "nfscurve", label);
        chart_foot(&c, REPORT_FOOT_1, REPORT_FOOT_2);
    }
    chart_axes(&c, "throughput (ops/s)", "response time (ms)");
    draw_legend(&c, r, has_invalid);
    if (r->ceiling_ms > 0) {
        snprintf(label, sizeof label, "ceiling of a reportable point: %s ms", report_limit(r->ceiling_ms, number));
        chart_hline(&c, r->ceiling_ms, label, "ceiling", true);
    }
    draw_line_and_marks(&c, r, points);
    if (isfinite(r->ort_ms)) {
        snprintf(label, sizeof label, "overall response time %s ms", report_ort(r->ort_ms, ort));
        chart_hline(&c, r->ort_ms, label, "ort", true);
    }
    for (size_t i = r->n_points; i-- > 0;) {
        if (!points[i].is_on_curve || points[i].ops_per_s != curve.peak_ops_per_s) {
            continue;
        }
        snprintf(label, sizeof label, "peak %s ops/s", report_ops(curve.peak_ops_per_s, number));
        chart_label(&c, points[i].ops_per_s, points[i].response_ms, label, "nc-strong");
        break;
    }
    chart_end(&c);
    free(points);
}

int report_svg(const struct result *r, FILE *out)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- " RESULT_TRADEMARK " -->\n", out);
    report_draw_curve(r, out, true, 1);
    return 0;
}
