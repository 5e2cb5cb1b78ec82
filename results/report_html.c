/* report_html.c - the page: one file, no network, no script; in the order of the published pages, then what they never
 * had.
 *
 * html_style.c has the looks, html_disclosure.c the disclosed sections, html_figures.c what was measured beyond the
 * curve.
 */
#include "report_html.h"
#include "escape.h"
#include "json_text.h"
#include "report_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_text(FILE *out, const char *text)
{
    escape_html(out, text);
}

void html_list(FILE *out, const char *classes, const json_t *texts)
{
    if (json_array_size(texts) == 0) {
        return;
    }
    fprintf(out, "<ul class=\"%s\">", classes);
    report_each_string(texts, out, "<li>", "</li>", put_text);
    fputs("</ul>\n", out);
}

static void head(const struct result *r, const char *metric, FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<meta http-equiv=\"Content-Security-Policy\" "
          "content=\"default-src 'none'; style-src "
          "'unsafe-inline'; img-src data:\">\n<title>",
          out);
    escape_html_short(out, r->name && *r->name ? r->name : metric);
    fputs(" \xc2\xb7 ", out);
    escape_html_short(out, metric);
    fputs("</title>\n<style>\n", out);
    html_style(out);
    fputs("</style>\n</head>\n<body>\n<main>\n", out);
}

static void badge(FILE *out, const char *classes, const char *text)
{
    fprintf(out, "<span class=\"badge %s\">%s</span>", classes, text);
}

static void title(const struct result *r, const char *metric, FILE *out)
{
    char peak[48], ort[48];
    const char *product = json_text_of(json_object_get(r->disclosure, "product_and_test"), "product_name");
    const char *tested_by = json_text_of(json_object_get(r->disclosure, "product_and_test"), "tested_by");
    fputs("<header>\n<p class=\"eyebrow\">NFSv3 response-time curve", out);
    if (r->started_at) {
        fputs(" \xc2\xb7 ", out);
        escape_html_short(out, r->started_at);
    }
    fputs("</p>\n<h1>", out);
    escape_html_short(out, product ? product : r->name && *r->name ? r->name : "nfscurve result");
    fputs("</h1>\n", out);
    if (tested_by) {
        fputs("<p class=\"by\">tested by ", out);
        escape_html_short(out, tested_by);
        fputs("</p>\n", out);
    }
    fputs("<p class=\"headline\"><span>", out);
    escape_html(out, metric);
    fprintf(out, " = <b>%s ops/s</b></span><span>overall response time = <b>%s ms</b></span></p>\n<p class=\"badges\">",
            report_ops(report_peak(r), peak), report_ort(r->ort_ms, ort));
    if (r->is_published) {
        badge(out, "neutral", r->source ? "curve of others, redrawn" : "curve redrawn");
    }
    badge(out, r->is_valid ? "good" : "bad", r->is_valid ? "valid" : "INVALID");
    if (!r->is_standard) {
        badge(out, "warn", "non-standard");
    }
    fputs("</p>\n<p class=\"trademark\">" RESULT_TRADEMARK "</p>\n</header>\n", out);
    if (!r->is_valid) {
        fputs("<section class=\"banner bad\"><h2>This result is invalid</h2>", out);
        html_list(out, "reasons", r->invalid_reasons);
        fputs("</section>\n", out);
    }
    if (!r->is_standard) {
        fputs("<section class=\"banner warn\"><p><b>Non-standard</b>, not as a reportable result must be", out);
        report_each_string(r->nonstandard_reasons, out, " <span class=\"reason\">", "</span>", put_text);
        fputs("</p>", out);
        fputs("</section>\n", out);
    }
}

static void card(FILE *out, const char *label, const char *value, const char *unit)
{
    fprintf(out,
            "<div class=\"card\"><span class=\"card-label\">%s</span><span "
            "class=\"card-value\">%s<small>%s</small></span></div>\n",
            label, value, unit);
}

static void cards(const struct result *r, FILE *out)
{
    char value[48], label[96], ceiling[48];
    fputs("<div class=\"cards\">\n", out);
    card(out, "Peak throughput", report_ops(report_peak(r), value), " ops/s");
    card(out, "Overall response time", report_ort(r->ort_ms, value), " ms");
    if (r->ceiling_ms > 0) {
        snprintf(label, sizeof label, "Peak under %s ms", report_limit(r->ceiling_ms, ceiling));
        card(out, label, report_ops(r->peak_under_ceiling_ops_per_s, value), " ops/s");
        snprintf(label, sizeof label, "Overall response time under %s ms", ceiling);
        card(out, label, report_ort(r->ort_under_ceiling_ms, value), " ms");
    }
    snprintf(value, sizeof value, "%zu", r->n_points);
    card(out, r->n_points == 1 ? "Point" : "Points", value, "");
    fputs("</div>\n", out);
}

static void td(FILE *out, const char *text)
{
    fprintf(out, "<td>%s</td>", text);
}

#define STACKED_POINTS 20 /* with more points the table is longer than the picture beside it */

static void performance_table(const struct result *r, FILE *out)
{
    char a[48], b[48];
    int decimals = report_decimals(r);
    bool has_requests = false, has_state = false;
    for (size_t i = 0; i < r->n_points; i++) {
        has_requests = has_requests || !isnan(r->points[i].requested_ops_per_s);
        has_state = has_state || !r->points[i].is_valid || r->points[i].is_saturated;
    }
    fprintf(out,
            "<div class=\"table-wrap\"><table class=\"figures\" "
            "id=\"performance-table\">\n<thead><tr>%s<th>Throughput<br><small>ops/s</small></th>"
            "<th>Response<br><small>ms</small></th>%s</tr></thead>\n<tbody>\n",
            has_requests ? "<th>Requested<br><small>ops/s</small></th>" : "", has_state ? "<th>State</th>" : "");
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        fprintf(out, "<tr%s>", p->is_valid ? "" : " class=\"invalid\"");
        if (has_requests) {
            td(out, report_ops(p->requested_ops_per_s, a));
        }
        td(out, report_ops(p->achieved_ops_per_s, a));
        td(out, report_ms_column(p->response_ms, decimals, b));
        if (has_state) {
            td(out, report_point_state(p));
        }
        fputs("</tr>\n", out);
    }
    if (r->n_points == 0) {
        fputs("<tr><td colspan=\"4\">no point was measured</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void performance(const struct result *r, FILE *out)
{
    fputs("<section id=\"performance\">\n<h2>Performance</h2>\n", out);
    cards(r, out);
    fprintf(out, "<div class=\"%s\">\n", r->n_points > STACKED_POINTS ? "stack" : "split");
    performance_table(r, out);
    fputs("<figure id=\"curve\">\n", out);
    report_draw_curve(r, out, false, 1);
    fprintf(out,
            "<figcaption>Mean %s of all operations against achieved throughput. Overall response time is the area "
            "under the curve from an added point "
            "(0, 0), divided by the peak.%s</figcaption>\n</figure>\n</div>\n",
            report_response_label(r),
            report_has_percentiles(r) ? " Bands show percentiles, cut where they would flatten the curve." : "");
    html_list(out, "notes", r->curve_notes);
    html_list(out, "notes", r->notes);
    if (r->source) {
        fputs("<p class=\"source\">Source: ", out);
        escape_html(out, r->source);
        fputs("</p>\n", out);
    }
    if (r->derived) {
        fputs("<p class=\"source\">Derived, not published: ", out);
        escape_html(out, r->derived);
        fputs("</p>\n", out);
    }
    fputs("</section>\n", out);
}

static void contents(const struct result *r, FILE *out)
{
    fputs("<nav aria-label=\"Contents\"><a href=\"#performance\">Performance</a>", out);
    if (json_object_size(r->disclosure) > 0) {
        fputs("<a href=\"#disclosure\">Disclosure</a>", out);
    }
    if (r->n_loadgens) {
        fputs("<a href=\"#loadgens\">Load generators</a>", out);
    }
    if (report_has_percentiles(r)) {
        fputs("<a href=\"#responses\">Response times</a>", out);
    }
    if (report_has_ops(r)) {
        fputs("<a href=\"#operations\">Operations</a>", out);
    }
    if (r->n_points && r->points[0].n_intervals) {
        fputs("<a href=\"#intervals\">Over time</a>", out);
    }
    fputs("<a href=\"#validity\">Validity</a>", out);
    if (r->campaign) {
        fputs("<a href=\"#campaign\">Campaign</a>", out);
    }
    fputs("</nav>\n", out);
}

int report_html(const struct result *r, FILE *out)
{
    char metric[96];
    report_metric_name(r, metric, sizeof metric);
    head(r, metric, out);
    title(r, metric, out);
    contents(r, out);
    performance(r, out);
    html_disclosure(r, out);
    html_loadgens(r, out);
    html_responses(r, out);
    html_operations(r, out);
    html_intervals(r, out);
    html_errors(r, out);
    html_generator(r, out);
    html_validity(r, out);
    html_campaign(r, out);
    fputs("<footer><p>" RESULT_TRADEMARK "</p><p>Drawn by nfscurve", out);
    if (r->version) {
        fputs("; measured by nfscurve ", out);
        escape_html_short(out, r->version);
    }
    fputs(".</p></footer>\n</main>\n</body>\n</html>\n", out);
    return 0;
}
