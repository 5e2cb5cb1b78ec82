/* compare_html.c - curves laid over each other: one picture, and a page with the tables beside it. */
#include "chart.h"
#include "compare_internal.h"
#include "curve.h"
#include "escape.h"
#include "report_html.h"
#include "report_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The axes hold what is compared. An invalid point may lie anywhere, and is said to lie outside when it does. */
struct range {
    double x_max, y_max;
};

static void widen(struct range *range, const struct result *r, bool takes_all)
{
    struct curve curve;
    struct curve_point *points = result_curve_points(r);
    if (!points) {
        return;
    }
    curve_compute(points, r->n_points, NAN, &curve, NULL);
    for (size_t i = 0; i < r->n_points; i++) {
        if (takes_all || points[i].is_on_curve) {
            range->x_max = fmax(range->x_max, points[i].ops_per_s);
            range->y_max = isfinite(points[i].response_ms) ? fmax(range->y_max, points[i].response_ms) : range->y_max;
        }
    }
    free(points);
}

static struct range range_of(const struct compare_group *groups, size_t n_groups)
{
    struct range range = {0, 0};
    for (int takes_all = 0; takes_all < 2 && range.x_max <= 0; takes_all++) {
        for (size_t g = 0; g < n_groups; g++) {
            for (size_t i = 0; i < groups[g].n; i++) {
                widen(&range, groups[g].repeats[i], takes_all);
            }
        }
    }
    return range;
}

static bool is_outside(const struct chart *c, double ops_per_s, double response_ms)
{
    return ops_per_s > c->x_max || response_ms > c->y_max;
}

/* ", 3 invalid points, 1 of them outside of this picture", or nothing. */
static void say_invalid(const struct chart *c, const struct compare_group *group, char *out, size_t cap)
{
    size_t n = 0, n_outside = 0;
    for (size_t i = 0; i < group->n; i++) {
        for (size_t k = 0; k < group->repeats[i]->n_points; k++) {
            const struct point_result *p = &group->repeats[i]->points[k];
            n += !p->is_valid;
            n_outside += !p->is_valid && is_outside(c, p->achieved_ops_per_s, p->response_ms);
        }
    }
    out[0] = '\0';
    if (n) {
        snprintf(out, cap, ", %zu invalid point%s", n, n == 1 ? "" : "s");
    }
    if (n_outside) {
        size_t used = strlen(out);
        snprintf(out + used, cap - used, "%s outside of this picture", n == n_outside ? "" : ", some");
    }
}

static void label_of(const struct chart *chart, const struct compare_group *groups, const struct comparison *c,
                     size_t g, char *out, size_t cap)
{
    char peak[48], ort[48], invalid[96];
    say_invalid(chart, &groups[g], invalid, sizeof invalid);
    snprintf(out, cap, "%c: %.60s (%s ops/s, %s ms%s)", compare_letter(g), c->labels[g],
             report_ops(c->peak[g].mean, peak), report_ort(c->ort[g].mean, ort), invalid);
}

/* A cross has the colour of no result: the letter beside it says whose it is. */
static void draw_invalid(struct chart *c, const struct point_result *p, size_t number, size_t g, const char *name)
{
    char tooltip[400], ops[48], ms[48], letter[2] = {compare_letter(g), '\0'};
    const char *reason = json_string_value(json_array_get(p->invalid_reasons, 0));
    if (is_outside(c, p->achieved_ops_per_s, p->response_ms)) {
        return;
    }
    snprintf(tooltip, sizeof tooltip, "%s: %.80s, point %zu: %s ops/s, %s ms\ninvalid%s%.160s", letter, name, number,
             report_ops(p->achieved_ops_per_s, ops), report_ms(p->response_ms, ms), reason ? ": " : "",
             reason ? reason : "");
    chart_mark(c, p->achieved_ops_per_s, p->response_ms, CHART_MARK_INVALID, (unsigned)g, tooltip);
    chart_label(c, p->achieved_ops_per_s, p->response_ms, letter, "nc-text");
}

static void draw_repeat(struct chart *c, const struct result *r, size_t g, const char *name, bool is_faint)
{
    struct curve curve;
    struct curve_point *points = result_curve_points(r);
    struct chart_xy *xy = calloc(r->n_points + 1, sizeof *xy);
    size_t n = 0;
    if (points && xy) {
        curve_compute(points, r->n_points, NAN, &curve, NULL);
        for (size_t i = 0; i < r->n_points; i++) {
            if (points[i].is_on_curve) {
                xy[n++] = (struct chart_xy){points[i].ops_per_s, points[i].response_ms};
            }
        }
        chart_line(c, xy, n, (unsigned)g, is_faint ? "nc-thin nc-faint nc-curve" : "nc-curve");
        for (size_t i = 0; i < r->n_points; i++) {
            char tooltip[256], ops[48], ms[48];
            snprintf(tooltip, sizeof tooltip, "%c: %.80s: %s ops/s, %s ms", compare_letter(g), name,
                     report_ops(points[i].ops_per_s, ops), report_ms(points[i].response_ms, ms));
            if (!points[i].is_valid) {
                draw_invalid(c, &r->points[i], i + 1, g, name);
            } else if (points[i].is_on_curve) {
                chart_mark(c, points[i].ops_per_s, points[i].response_ms, CHART_MARK_POINT, (unsigned)g, tooltip);
            }
        }
    }
    free(points);
    free(xy);
}

static void draw(const struct compare_group *groups, const struct comparison *cmp, FILE *out, bool is_alone)
{
    struct range range = range_of(groups, cmp->n_groups);
    struct chart c = {.out = out,
                      .width = 860,
                      .height = 500 + 18 * (double)cmp->n_groups,
                      .left = 68,
                      .right = 26,
                      .top = 30 + 18 * (double)cmp->n_groups,
                      .bottom = 56,
                      .id = 1};
    struct chart_legend *entries = calloc(cmp->n_groups, sizeof *entries);
    char(*labels)[256] = calloc(cmp->n_groups, sizeof *labels), (*classes)[16] = calloc(cmp->n_groups, sizeof *classes);
    if (is_alone) {
        report_make_room(&c);
    }
    chart_scale(&c, 0, range.x_max * 1.02, range.y_max * 1.05);
    chart_begin(&c, "response time against throughput, compared", is_alone);
    if (is_alone) {
        chart_heading(&c, "Curves compared", "peak throughput and overall response time of each beside its name");
        chart_foot(&c, REPORT_FOOT_1, REPORT_FOOT_2);
    }
    chart_axes(&c, "throughput (ops/s)", "response time (ms)");
    for (size_t g = cmp->n_groups; g-- > 0;) {
        for (size_t i = 0; i < groups[g].n; i++) {
            draw_repeat(&c, groups[g].repeats[i], g, cmp->labels[g], groups[g].n > 1);
        }
    }
    for (size_t g = 0; entries && labels && classes && g < cmp->n_groups; g++) {
        label_of(&c, groups, cmp, g, labels[g], sizeof labels[g]);
        snprintf(classes[g], sizeof classes[g], "nc-s%zu", g % 8);
        entries[g] = (struct chart_legend){labels[g], classes[g], CHART_SWATCH_LINE};
    }
    if (entries && labels && classes) {
        chart_legend(&c, entries, cmp->n_groups);
    }
    chart_end(&c);
    free(entries);
    free(labels);
    free(classes);
}

int compare_svg(const struct compare_group *groups, const struct comparison *c, FILE *out)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- " RESULT_TRADEMARK " -->\n", out);
    draw(groups, c, out, true);
    return 0;
}

int compare_png(const struct compare_group *groups, const struct comparison *c, FILE *out)
{
    char *svg = NULL;
    size_t n = 0;
    FILE *text = open_memstream(&svg, &n);
    if (!text) {
        return -ENOMEM;
    }
    draw(groups, c, text, true);
    int error = fclose(text) == 0 ? png_from_svg(svg, n, 2, out) : -ENOMEM;
    free(svg);
    return error;
}

static void td_difference(FILE *out, const struct compare_difference *d)
{
    char percent[48], width[48];
    fprintf(out, "<td class=\"%s\">%s</td><td>%s</td><td class=\"name%s\">%s</td>", d->exceeds_noise ? "off" : "",
            compare_percent(d->percent, percent), compare_half_width(d->half_width_percent, width),
            d->exceeds_noise ? " off" : "", compare_verdict(d));
}

static void put_summary(const struct compare_group *groups, const struct comparison *c, FILE *out)
{
    char a[48], b[48], sd[48], sd_ort[48];
    fputs("<div class=\"table-wrap\"><table class=\"figures\" id=\"summary\"><thead><tr><th></th><th "
          "class=\"name\">Result</th><th>Repeats</th><th>Peak<br><small>ops/s</small></th><th>\xc2\xb1 sd</th>"
          "<th>Overall response time<br><small>ms</small></th><th>\xc2\xb1 sd</th><th "
          "class=\"name\">Validity</th></tr></thead><tbody>\n",
          out);
    for (size_t g = 0; g < c->n_groups; g++) {
        bool is_valid = true;
        for (size_t i = 0; i < groups[g].n; i++) {
            is_valid = is_valid && groups[g].repeats[i]->is_valid;
        }
        fprintf(out, "<tr><td>%c</td><td class=\"name\">", compare_letter(g));
        escape_html_short(out, c->labels[g]);
        fprintf(out, "</td><td>%zu</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td class=\"name%s\">%s</td></tr>\n",
                groups[g].n, report_ops(c->peak[g].mean, a), chart_number(c->peak[g].sd, 3, sd),
                report_ort(c->ort[g].mean, b), chart_number(c->ort[g].sd, 3, sd_ort), is_valid ? "" : " off",
                is_valid ? "valid" : "INVALID");
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_setup(const struct compare_group *groups, size_t g, FILE *out)
{
    json_t *setup = compare_setup_differences(groups, g);
    if (json_array_size(setup)) {
        fputs("<p>Not measured alike:</p>\n<ul>\n", out);
        for (size_t i = 0; i < json_array_size(setup); i++) {
            fputs("<li>", out);
            escape_html_short(out, json_string_value(json_array_get(setup, i)));
            fputs("</li>\n", out);
        }
        fputs("</ul>\n", out);
    }
    json_decref(setup);
}

static void put_pair(const struct compare_group *groups, const struct comparison *c, size_t g, FILE *out)
{
    char a[48], b[48], load[48];
    fprintf(out, "<section><h2>%c against A: %s</h2>\n<p>", compare_letter(g), compare_pair_words(c, g));
    escape_html_short(out, c->labels[g]);
    fputs(" against ", out);
    escape_html_short(out, c->labels[0]);
    fputs("</p>\n", out);
    put_setup(groups, g, out);
    fputs("<div class=\"table-wrap\"><table class=\"figures\"><thead><tr><th "
          "class=\"name\">Figure</th><th>Difference</th><th>noise, \xc2\xb1 95 %</th><th "
          "class=\"name\">Verdict</th></tr></thead><tbody>\n",
          out);
    fputs("<tr><td class=\"name\">Peak throughput</td>", out);
    td_difference(out, &c->peak_d[g]);
    fputs("</tr>\n<tr><td class=\"name\">Overall response time</td>", out);
    td_difference(out, &c->ort_d[g]);
    fputs("</tr>\n<tr><td class=\"name\">Response time over all common loads</td>", out);
    td_difference(out, &c->mean_d[g]);
    fputs("</tr>\n</tbody></table></div>\n", out);
    if (c->n_rows == 0) {
        fputs("<p>No load is common to all.</p></section>\n", out);
        return;
    }
    fprintf(out,
            "<h3>At equal load</h3><div class=\"table-wrap\"><table "
            "class=\"figures\"><thead><tr><th>%s<br><small>ops/s</small></th><th>A<br><small>ms</small></"
            "th><th>%c<br><small>ms</small></th>"
            "<th>Difference</th><th>noise, \xc2\xb1 95 %%</th><th class=\"name\">Verdict</th></tr></thead><tbody>\n",
            c->has_requests ? "Requested" : "Throughput", compare_letter(g));
    for (size_t k = 0; k < c->n_rows; k++) {
        const struct compare_row *row = &c->rows[k];
        fprintf(out, "<tr><td>%s</td><td>%s</td><td>%s</td>", report_ops(row->ops_per_s, load),
                report_ms(row->response[0].mean, a), report_ms(row->response[g].mean, b));
        td_difference(out, &row->response_d[g]);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div></section>\n", out);
}

int compare_html(const struct compare_group *groups, const struct comparison *c, FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
          "content=\"light dark\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'\">\n<title>nfscurve: curves compared</title>\n<style>\n",
          out);
    html_style(out);
    fputs("</style>\n</head>\n<body>\n<main>\n<header><p class=\"eyebrow\">NFSv3 response-time curves</p>\n<h1>Curves "
          "compared</h1>\n<p class=\"trademark\">" RESULT_TRADEMARK
          "</p></header>\n<section><h2>Curves</h2>\n<figure id=\"curve\">\n",
          out);
    draw(groups, c, out, false);
    fputs("</figure>\n", out);
    put_summary(groups, c, out);
    fprintf(out, "<p class=\"hint\">%s.</p></section>\n", compare_noise_words(c->noise));
    for (size_t g = 1; g < c->n_groups; g++) {
        put_pair(groups, c, g, out);
    }
    fputs("<footer><p>" RESULT_TRADEMARK "</p></footer>\n</main>\n</body>\n</html>\n", out);
    return 0;
}
