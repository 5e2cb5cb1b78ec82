/* html_figures.c - what was measured beyond the curve: load generators, response times, operations, seconds. */
#include "escape.h"
#include "html_cells.h"
#include "json_text.h"
#include "report_html.h"
#include "report_internal.h"

#include <math.h>

#define MATRIX_COLUMNS 12

static void put_targets(FILE *out, const struct result_loadgen *l)
{
    for (size_t i = 0; i < json_array_size(l->targets); i++) {
        const char *name = json_string_value(json_array_get(l->targets, i));
        json_int_t n = name ? json_count(l->processes_per_target, name) : -1;
        fputs(i ? ", " : "", out);
        escape_html(out, name ? name : "");
        if (n >= 0) {
            fprintf(out, " (%lld processes)", (long long)n);
        }
    }
}

void html_loadgens(const struct result *r, FILE *out)
{
    char bytes[48];
    if (r->n_loadgens == 0) {
        return;
    }
    fputs("<section id=\"loadgens\"><h2>Load generators that ran</h2><div class=\"table-wrap\"><table "
          "class=\"wide\"><thead><tr><th>Name</th><th>Host</th>"
          "<th>Processes</th><th>CPU</th><th>CPUs</th><th>Memory</th><th>Operating "
          "system</th><th>Addresses</th><th>Targets</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < r->n_loadgens; i++) {
        const struct result_loadgen *l = &r->loadgens[i];
        fputs("<tr>", out);
        cell_text(out, "", l->host);
        cell_text(out, "", l->hostname);
        cell_count(out, l->processes);
        cell_text(out, "", l->cpu_model);
        cell_count(out, l->cpus);
        cell_text(out, "",
                  l->memory_bytes == RESULT_UNKNOWN ? "\xe2\x80\x93" : report_bytes((double)l->memory_bytes, bytes));
        cell_text(out, "", l->os);
        cell_text(out, "", l->addresses);
        fputs("<td>", out);
        put_targets(out, l);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div></section>\n", out);
}

static void response_columns(FILE *out)
{
    fputs("<th>mean</th><th>p50</th><th>p90</th><th>p95</th><th>p99</th><th>p99.9</th><th>max</th>", out);
}

static void response_cells(FILE *out, const struct response_figures *f)
{
    cell_ms(out, f->response_ms);
    cell_ms(out, f->p50_ms);
    cell_ms(out, f->p90_ms);
    cell_ms(out, f->p95_ms);
    cell_ms(out, f->p99_ms);
    cell_ms(out, f->p999_ms);
    cell_ms(out, f->max_ms);
}

static void response_table(const struct result *r, FILE *out, bool from_due)
{
    fputs("<div class=\"table-wrap\"><table "
          "class=\"figures\"><thead><tr><th>Point</th><th>Load<br><small>ops/s</small></th>",
          out);
    response_columns(out);
    fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < r->n_points; i++) {
        fprintf(out, "<tr%s>", r->points[i].is_valid ? "" : " class=\"invalid\"");
        cell_point(r, i, out);
        response_cells(out, from_due ? &r->points[i].from_due : &r->points[i].from_sent);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void confidence_table(const struct result *r, FILE *out)
{
    bool has_ci = false, has_spread = false;
    for (size_t i = 0; i < r->n_points; i++) {
        has_ci = has_ci || r->points[i].ci95_method;
        has_spread = has_spread || !isnan(r->points[i].spread_percent);
    }
    if (!has_ci) {
        return;
    }
    fprintf(
        out,
        "<h3>Confidence and steadiness</h3><div class=\"table-wrap\"><table class=\"figures\"><thead><tr><th>Point</th>"
        "<th>Load<br><small>ops/s</small></th><th>mean<br><small>ms</small></th><th>\xc2\xb1 95 "
        "%%<br><small>ms</small></th>"
        "<th>sd<br><small>ms</small></th><th class=\"name\">half-width from</th>%s<th>throughput drift</th>"
        "<th>response drift</th></tr></thead><tbody>\n",
        has_spread ? "<th>spread of repeats</th>" : "");
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        fputs("<tr>", out);
        cell_point(r, i, out);
        cell_ms(out, p->response_ms);
        cell_ms(out, p->response_ci95_ms);
        cell_ms(out, p->response_stddev_ms);
        cell_text(out, "name", p->ci95_method ? p->ci95_method : "");
        if (has_spread) {
            cell_number(out, p->spread_percent, 2, " %", false);
        }
        cell_number(out, p->steady.throughput_drift_percent, 1, " %", p->steady.is_drifting);
        cell_number(out, p->steady.response_drift_percent, 1, " %", p->steady.is_drifting);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div><p class=\"hint\">Drift: fitted change from the start to the end of the recorded run. "
          "A drift that is "
          "more than chance is marked: the warm-up may have been too short.</p>\n",
          out);
}

void html_responses(const struct result *r, FILE *out)
{
    bool has_due = false;
    if (!report_has_percentiles(r)) {
        return;
    }
    for (size_t i = 0; i < r->n_points; i++) {
        has_due = has_due || !isnan(r->points[i].from_due.response_ms);
    }
    bool from_due = r->points[0].is_headline_from_due;
    fputs("<section id=\"responses\"><h2>Response times</h2>\n", out);
    fprintf(out,
            "<p class=\"hint\">Milliseconds, all operations. <b>From sent</b> is done \xe2\x88\x92 sent: what the "
            "server took for what was asked. <b>From due</b> is "
            "done \xe2\x88\x92 due: it also counts the time for which an operation that had fallen due could not be "
            "sent because the server was still busy with others. "
            "The headline is <b>from %s</b>.%s</p>\n",
            from_due ? "due" : "sent",
            from_due ? ""
                     : " This run was paced in a closed loop: while a process waits for a slow reply it asks for "
                       "nothing else, so a stall of the server shows as one slow "
                       "operation from sent; from due shows every operation that it held up.");
    fprintf(out, "<h3>From sent%s</h3>\n", from_due ? "" : " (headline)");
    response_table(r, out, false);
    if (has_due) {
        fprintf(out, "<h3>From due%s</h3>\n", from_due ? " (headline)" : "");
        response_table(r, out, true);
    }
    confidence_table(r, out);
    fputs("</section>\n", out);
}

static void op_table(const struct point_result *p, FILE *out)
{
    fputs("<div class=\"table-wrap\"><table class=\"figures\"><thead><tr><th "
          "class=\"name\">Operation</th><th>Target<br><small>%</small></th><th>Achieved<br><small>%</small></th>"
          "<th>Logical</th><th>Physical</th><th>Errors</th>",
          out);
    response_columns(out);
    fputs("</tr></thead><tbody>\n", out);
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        const struct op_figures *f = &p->ops[op];
        if (!f->is_present) {
            continue;
        }
        bool is_off = fabs(f->percent - f->target_percent) > 1.5;
        fputs("<tr>", out);
        cell_text(out, "name", nfs_op_name((enum nfs_op)op));
        cell_number(out, f->target_percent, 2, "", false);
        cell_number(out, f->percent, 2, "", is_off);
        cell_count(out, f->n_logical);
        cell_count(out, f->n_physical);
        bool has_errors = f->n_errors > 0 && f->n_errors != RESULT_UNKNOWN;
        cell_number(out, f->n_errors == RESULT_UNKNOWN ? NAN : (double)f->n_errors, 0, "", has_errors);
        response_cells(out, p->is_headline_from_due ? &f->from_due : &f->from_sent);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* Operations against points, mean response times: at most MATRIX_COLUMNS points, evenly chosen. */
static void op_matrix(const struct result *r, FILE *out)
{
    char load[48];
    size_t n = r->n_points < MATRIX_COLUMNS ? r->n_points : MATRIX_COLUMNS;
    fputs("<h3>Mean response time by operation and point (ms)</h3><div class=\"table-wrap\"><table "
          "class=\"figures\"><thead><tr><th class=\"name\">Operation</th>",
          out);
    for (size_t i = 0; i < n; i++) {
        const struct point_result *p = &r->points[n == r->n_points ? i : i * (r->n_points - 1) / (n - 1)];
        fprintf(out, "<th>%s<br><small>ops/s</small></th>", report_ops(p->achieved_ops_per_s, load));
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        bool is_used = false;
        for (size_t i = 0; i < r->n_points; i++) {
            is_used = is_used || !isnan(r->points[i].ops[op].from_sent.response_ms);
        }
        if (!is_used) {
            continue;
        }
        fputs("<tr>", out);
        cell_text(out, "name", nfs_op_name((enum nfs_op)op));
        for (size_t i = 0; i < n; i++) {
            const struct point_result *p = &r->points[n == r->n_points ? i : i * (r->n_points - 1) / (n - 1)];
            cell_ms(out, p->is_headline_from_due ? p->ops[op].from_due.response_ms : p->ops[op].from_sent.response_ms);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void point_summary(const struct result *r, size_t i, FILE *out)
{
    char a[48], b[48];
    const struct point_result *p = &r->points[i];
    fprintf(out, "<summary>Point %zu: %s ops/s, %s ms%s%s</summary>\n", i + 1, report_ops(p->achieved_ops_per_s, a),
            report_ms(p->response_ms, b), p->is_valid && !p->is_saturated ? "" : ", ",
            p->is_valid && !p->is_saturated ? "" : report_point_state(p));
}

void html_operations(const struct result *r, FILE *out)
{
    if (!report_has_ops(r)) {
        return;
    }
    fputs("<section id=\"operations\"><h2>Operations</h2>\n", out);
    fprintf(out,
            "<p class=\"hint\">Counted as the workload counts: %s. A logical operation is one request; a physical one "
            "is one RPC. Achieved shares more than 1.5 points "
            "off their target make a point invalid.</p>\n",
            r->counting ? r->counting : "as given");
    op_matrix(r, out);
    fputs("<h3>Mix and response times of each point</h3>\n", out);
    for (size_t i = 0; i < r->n_points; i++) {
        fprintf(out, "<details%s>", i + 1 == r->n_points ? " open" : "");
        point_summary(r, i, out);
        op_table(&r->points[i], out);
        fputs("</details>\n", out);
    }
    fputs("</section>\n", out);
}

void html_intervals(const struct result *r, FILE *out)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_points; i++) {
        n += r->points[i].n_intervals;
    }
    if (n == 0) {
        return;
    }
    fputs("<section id=\"intervals\"><h2>Over time</h2>\n<p class=\"hint\">Every second of every recorded run, one "
          "point after the other (numbered at the top); populating and warm-up "
          "are not shown. A stall, a failover or a cache that still warms shows here.</p>\n<figure>\n",
          out);
    report_draw_sweep(r, out, 10);
    fputs("</figure>\n", out);
    for (size_t i = 0; i < r->n_points; i++) {
        if (r->points[i].n_intervals == 0) {
            continue;
        }
        fputs("<details>", out);
        point_summary(r, i, out);
        fputs("<figure>\n", out);
        report_draw_intervals(&r->points[i], out, (unsigned)(20 + 2 * i));
        fputs("</figure></details>\n", out);
    }
    fputs("</section>\n", out);
}
