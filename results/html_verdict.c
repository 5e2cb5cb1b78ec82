/* html_verdict.c - may these figures be believed: errors, the generator's own limits, validity; and the campaign to
 * repeat it. */
#include "escape.h"
#include "html_cells.h"
#include "json_text.h"
#include "report_html.h"
#include "report_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "{a: 3, b: 1}" as "a 3, b 1". */
static void put_counters(FILE *out, const json_t *counters)
{
    const char *key, *before = "";
    json_t *value;
    json_object_foreach((json_t *)counters, key, value)
    {
        fputs(before, out);
        escape_html(out, key);
        fprintf(out, "\xc2\xa0%" JSON_INTEGER_FORMAT, json_integer_value(value));
        before = ", ";
    }
}

static bool is_answer(const char *status)
{
    return strcmp(status, "NFS3_OK") == 0;
}

/* Statuses other than OK, by operation. LOOKUP's expected NOENT is among them: the workload asks for it. */
static void put_statuses(FILE *out, const struct point_result *p)
{
    const char *before = "";
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        const char *status;
        json_t *value;
        json_object_foreach(p->ops[op].statuses, status, value)
        {
            if (is_answer(status)) {
                continue;
            }
            fprintf(out, "%s%s ", before, nfs_op_name((enum nfs_op)op));
            escape_html(out, status);
            fprintf(out, "\xc2\xa0%" JSON_INTEGER_FORMAT, json_integer_value(value));
            before = ", ";
        }
    }
}

static void put_findings(const struct result *r, FILE *out)
{
    static const char *const columns[] = {"loadgen", "target", "rule", "op", "expected", "got"};
    const size_t n = sizeof columns / sizeof columns[0];
    if (json_array_size(r->findings) == 0) {
        return;
    }
    fputs("<h3>Rules of the protocol that the server broke (validation)</h3><div class=\"table-wrap\"><table "
          "class=\"wide\"><thead><tr>",
          out);
    for (size_t c = 0; c < n; c++) {
        fprintf(out, "<th>%s</th>", columns[c]);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < json_array_size(r->findings); i++) {
        fputs("<tr>", out);
        for (size_t c = 0; c < n; c++) {
            fputs("<td>", out);
            escape_html(out, json_text_of(json_array_get(r->findings, i), columns[c]));
            fputs("</td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

void html_errors(const struct result *r, FILE *out)
{
    bool has_figures = false;
    for (size_t i = 0; i < r->n_points; i++) {
        has_figures = has_figures || r->points[i].n_failed != RESULT_UNKNOWN;
    }
    if (!has_figures) {
        return;
    }
    fputs("<section id=\"errors\"><h2>Errors</h2>\n<div class=\"table-wrap\"><table "
          "class=\"wide\"><thead><tr><th>Point</th><th>Load</th><th>Failed RPCs</th><th>Outcomes</th>"
          "<th>What the server did</th><th>NFS statuses other than OK</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        fputs("<tr>", out);
        cell_point(r, i, out);
        cell_count(out, p->n_failed);
        fputs("<td>", out);
        put_counters(out, json_object_get(p->errors, "outcomes"));
        fputs("</td><td>", out);
        put_counters(out, json_object_get(p->errors, "anomalies"));
        fputs("</td><td>", out);
        put_statuses(out, p);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n<p class=\"hint\">NFS3ERR_NOENT of LOOKUP is mostly the right answer: the workload "
          "asks for names that do not exist.</p>\n",
          out);
    put_findings(r, out);
    fputs("</section>\n", out);
}

static void generator_columns(FILE *out)
{
    fputs("<th>lateness<br><small>mean, \xc2\xb5s</small></th><th>lateness<br><small>p99, "
          "\xc2\xb5s</small></th><th>waited for<br>generator</th>"
          "<th>waited for<br>a slot</th><th>loop<br>busy</th><th>loop<br>starved</th><th>busiest<br>loop "
          "CPU</th><th>host<br>CPU</th><th>start "
          "skew<br><small>ms</small></th>"
          "</tr></thead><tbody>\n",
          out);
}

static void loadgens_of(const struct result *r, size_t i, FILE *out)
{
    const struct point_result *p = &r->points[i];
    fputs("<div class=\"table-wrap\"><table class=\"figures\"><thead><tr><th class=\"name\">Load "
          "generator</th><th>Processes</th><th>Operations</th><th>Errors</th><th>Mean<br><small>ms"
          "</small></th>",
          out);
    generator_columns(out);
    for (size_t k = 0; k < p->n_loadgens; k++) {
        const struct point_loadgen *l = &p->loadgens[k];
        fputs("<tr><td class=\"name\">", out);
        escape_html(out, l->name);
        fputs("</td>", out);
        cell_count(out, l->n_processes);
        cell_count(out, l->n_ops);
        cell_count(out, l->n_errors);
        cell_number(out, l->response_ms, 3, "", false);
        cell_number(out, l->lateness_mean_us, 0, "", false);
        cell_number(out, l->lateness_p99_us, 0, "", false);
        cell_number(out, l->waited_for_us_percent, 1, " %", false);
        cell_number(out, l->waited_for_slot_percent, 1, " %", false);
        cell_number(out, l->busy_percent, 1, " %", false);
        cell_number(out, l->starved_percent, 1, " %", false);
        cell_number(out, l->cpu_percent_max, 1, " %", false);
        cell_number(out, l->host_cpu_percent, 1, " %", false);
        cell_number(out, l->skew_ms, 2, "", false);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

void html_generator(const struct result *r, FILE *out)
{
    bool has_figures = false;
    for (size_t i = 0; i < r->n_points; i++) {
        has_figures = has_figures || r->points[i].generator.verdict;
    }
    if (!has_figures) {
        return;
    }
    fputs("<section id=\"generator\"><h2>Generator verdict</h2>\n<p class=\"hint\">Was the load generator the limit, "
          "or the server? A busy server makes operations wait for a slot and loops wait for "
          "replies; a generator that is the limit sends late although a slot was free, or its loops have no time "
          "left.</p>\n<div class=\"table-wrap\"><table class=\"figures\"><thead><tr>"
          "<th>Point</th><th>Load<br><small>ops/s</small></th><th class=\"name\">Limit</th>",
          out);
    generator_columns(out);
    for (size_t i = 0; i < r->n_points; i++) {
        const struct generator_figures *g = &r->points[i].generator;
        bool is_limited = g->verdict && strcmp(g->verdict, "generator-limited") == 0;
        fputs("<tr>", out);
        cell_point(r, i, out);
        fprintf(out, "<td class=\"name%s\">", is_limited ? " off" : "");
        escape_html(out, is_limited ? "generator" : r->points[i].is_saturated ? "server (saturated)" : "none seen");
        fputs("</td>", out);
        cell_number(out, g->lateness_mean_us, 0, "", false);
        cell_number(out, g->lateness_p99_us, 0, "", false);
        cell_number(out, g->waited_for_us_percent, 1, " %", false);
        cell_number(out, g->waited_for_slot_percent, 1, " %", false);
        cell_number(out, g->busy_percent, 1, " %", false);
        cell_number(out, g->starved_percent, 1, " %", false);
        cell_number(out, g->cpu_percent_max, 1, " %", false);
        cell_number(out, g->host_cpu_percent_max, 1, " %", false);
        cell_number(out, g->skew_ms, 2, "", false);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    for (size_t i = 0; i < r->n_points; i++) {
        if (r->points[i].n_loadgens == 0) {
            continue;
        }
        fprintf(out, "<details><summary>Point %zu, by load generator</summary>", i + 1);
        loadgens_of(r, i, out);
        fputs("</details>\n", out);
    }
    fputs("</section>\n", out);
}

static void put_point_remarks(const struct result *r, FILE *out)
{
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        if (json_array_size(p->invalid_reasons) + json_array_size(p->notes) == 0) {
            continue;
        }
        fprintf(out, "<h3>Point %zu: %s</h3>\n", i + 1, report_point_state(p));
        html_list(out, "reasons", p->invalid_reasons);
        html_list(out, "notes", p->notes);
    }
}

void html_validity(const struct result *r, FILE *out)
{
    fputs("<section id=\"validity\"><h2>Validity</h2>\n", out);
    if (r->is_published && r->is_valid) {
        fputs("<p>A curve that was not measured by this run: its points are taken as given.</p>\n", out);
    } else {
        fprintf(out, "<p>This result is <b>%s</b> and <b>%s</b>.</p>\n", r->is_valid ? "valid" : "invalid",
                r->is_standard ? "standard" : "non-standard");
    }
    html_list(out, "reasons", r->invalid_reasons);
    put_point_remarks(r, out);
    fputs("<p class=\"hint\">A point is valid when every operation's share is within 1.5 points of its target, failed "
          "RPCs are below 1 % of good ones, no load generator or process was lost, the "
          "run's length is within 1 %, and the generator was not the limit. A point that achieves less than 95 % of "
          "its request is saturated; that is no fault. A standard result has at "
          "least 10 evenly spaced points, warm-up and run of 300 s each, and every workload value as "
          "published.</p>\n</section>\n",
          out);
}

void html_campaign(const struct result *r, FILE *out)
{
    if (!r->campaign) {
        return;
    }
    json_t *campaign = json_copy(r->campaign);
    if (!campaign) {
        return;
    }
    json_object_del(campaign, "disclosure"); /* shown above, and not needed to repeat the run */
    char *text = json_text(campaign, NULL);
    json_decref(campaign);
    fputs("<section id=\"campaign\"><h2>The campaign, to repeat it</h2>\n<p>Save this as <code>campaign.json</code>, "
          "start <code>nfscurve-loadgen</code> on every load-generating host that it "
          "names, and run <code>nfscurve run campaign.json</code>",
          out);
    if (r->version) {
        fputs(" (nfscurve ", out);
        escape_html_short(out, r->version);
        fputs(")", out);
    }
    fputs(".</p>\n<pre id=\"campaign-json\">", out);
    escape_html_whole(out, text ? text : "");
    fputs("</pre></section>\n", out);
    free(text);
}
