/* report_markdown.c - a short table for issues and mail. */
#include "escape.h"
#include "report_internal.h"

#include <math.h>

static void put_text(FILE *out, const char *text)
{
    escape_markdown(out, text);
}

int report_markdown(const struct result *r, FILE *out)
{
    char metric[96], a[48], b[48], c[48], d[48];
    bool has_tails = report_has_percentiles(r);
    int decimals = report_decimals(r);
    report_metric_name(r, metric, sizeof metric);
    fputs("**", out);
    escape_markdown(out, metric);
    fprintf(out, " = %s ops/s, overall response time %s ms**", report_ops(report_peak(r), a), report_ort(r->ort_ms, b));
    if (r->name && *r->name) {
        fputs(" (", out);
        escape_markdown(out, r->name);
        fputs(")", out);
    }
    if (isfinite(r->peak_under_ceiling_ops_per_s)) {
        fprintf(out, "; under %s ms: %s ops/s, %s ms", report_limit(r->ceiling_ms, a),
                report_ops(r->peak_under_ceiling_ops_per_s, b), report_ort(r->ort_under_ceiling_ms, c));
    }
    fprintf(out, "\n\n| requested ops/s | achieved ops/s | %s (ms) |%s state |\n| ---: | ---: | ---: |%s --- |\n",
            report_response_label(r), has_tails ? " p99 (ms) |" : "", has_tails ? " ---: |" : "");
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        fprintf(out, "| %s | %s | %s |", report_ops(p->requested_ops_per_s, a), report_ops(p->achieved_ops_per_s, b),
                report_ms_column(p->response_ms, decimals, c));
        if (has_tails) {
            fprintf(out, " %s |", report_ms_column(point_headline(p)->p99_ms, 3, d));
        }
        fprintf(out, " %s%s |\n", report_point_state(p), r->is_standard ? "" : ", non-standard");
    }
    if (json_array_size(r->invalid_reasons) + json_array_size(r->nonstandard_reasons) +
            json_array_size(r->curve_notes) >
        0) {
        fputs("\n", out);
    }
    report_each_string(r->invalid_reasons, out, "- **invalid**: ", "\n", put_text);
    report_each_string(r->nonstandard_reasons, out, "- non-standard: ", "\n", put_text);
    report_each_string(r->curve_notes, out, "- ", "\n", put_text);
    fputs("\n_" RESULT_TRADEMARK "_\n", out);
    return 0;
}
