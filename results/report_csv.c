/* report_csv.c - points, ops and seconds as CSV (RFC 4180), one header line; unknown figures are empty. */
#include "escape.h"
#include "json_text.h"
#include "report_internal.h"

#include <math.h>

static void put(FILE *out, double v)
{
    char number[32];
    fputc(',', out);
    if (isfinite(v)) {
        fputs(json_text_number(v, number), out);
    }
}

static void put_count(FILE *out, uint64_t n)
{
    fputc(',', out);
    if (n != RESULT_UNKNOWN) {
        fprintf(out, "%llu", (unsigned long long)n);
    }
}

static void put_response(FILE *out, const struct response_figures *f)
{
    put(out, f->response_ms);
    put(out, f->p50_ms);
    put(out, f->p90_ms);
    put(out, f->p95_ms);
    put(out, f->p99_ms);
    put(out, f->p999_ms);
    put(out, f->max_ms);
}

/* All reasons in one field. */
static void put_reasons(FILE *out, const json_t *reasons)
{
    char text[2048];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(reasons) && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.500s", i ? "; " : "",
                              json_string_value(json_array_get(reasons, i)));
    }
    fputc(',', out);
    escape_csv(out, text);
}

#define RESPONSE_COLUMNS(prefix)                                                                                       \
    prefix "response_ms," prefix "p50_ms," prefix "p90_ms," prefix "p95_ms," prefix "p99_ms," prefix                   \
           "p99.9_ms," prefix "max_ms"

int report_csv(const struct result *r, FILE *out)
{
    fputs("point,requested_ops_per_s,achieved_ops_per_s,response_ms,response_ci95_ms,response_stddev_"
          "ms," RESPONSE_COLUMNS("from_sent_") "," RESPONSE_COLUMNS(
              "from_due_") ",good_ops,failed_rpcs,read_bytes,write_bytes,fileset_bytes,fileset_files,run_s,"
                           "lateness_p99_us,cpu_percent_max,saturated,valid,standard,invalid_reasons\n",
          out);
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        fprintf(out, "%zu", i + 1);
        put(out, p->requested_ops_per_s);
        put(out, p->achieved_ops_per_s);
        put(out, p->response_ms);
        put(out, p->response_ci95_ms);
        put(out, p->response_stddev_ms);
        put_response(out, &p->from_sent);
        put_response(out, &p->from_due);
        put_count(out, p->n_ops);
        put_count(out, p->n_failed);
        put_count(out, p->read_bytes);
        put_count(out, p->write_bytes);
        put_count(out, p->fileset_bytes);
        put_count(out, p->fileset_files);
        put(out, p->run_s);
        put(out, p->generator.lateness_p99_us);
        put(out, p->generator.cpu_percent_max);
        fprintf(out, ",%s,%s,%s", p->is_saturated ? "true" : "false", p->is_valid ? "true" : "false",
                r->is_standard ? "true" : "false");
        put_reasons(out, p->invalid_reasons);
        fputc('\n', out);
    }
    return 0;
}

int report_csv_ops(const struct result *r, FILE *out)
{
    fputs("point,requested_ops_per_s,op,target_percent,percent,logical,physical,errors," RESPONSE_COLUMNS(
              "from_sent_") "," RESPONSE_COLUMNS("from_due_") "\n",
          out);
    for (size_t i = 0; i < r->n_points; i++) {
        for (int op = 0; op < NFS_OP_COUNT; op++) {
            const struct op_figures *f = &r->points[i].ops[op];
            if (!f->is_present) {
                continue;
            }
            fprintf(out, "%zu", i + 1);
            put(out, r->points[i].requested_ops_per_s);
            fprintf(out, ",%s", nfs_op_name((enum nfs_op)op));
            put(out, f->target_percent);
            put(out, f->percent);
            put_count(out, f->n_logical);
            put_count(out, f->n_physical);
            put_count(out, f->n_errors);
            put_response(out, &f->from_sent);
            put_response(out, &f->from_due);
            fputc('\n', out);
        }
    }
    return 0;
}

static void put_interval(FILE *out, size_t point, uint32_t t_s, const char *class_name,
                         const struct interval_response *f)
{
    fprintf(out, "%zu,%u,%s", point, t_s, class_name);
    put_count(out, f->n_ops);
    put(out, f->response_ms);
    put(out, f->p99_ms);
    put_count(out, f->n_errors);
    fputc('\n', out);
}

int report_csv_intervals(const struct result *r, FILE *out)
{
    fputs("point,t_s,class,ops,response_ms,p99_ms,errors\n", out);
    for (size_t i = 0; i < r->n_points; i++) {
        for (size_t k = 0; k < r->points[i].n_intervals; k++) {
            const struct point_interval *s = &r->points[i].intervals[k];
            put_interval(out, i + 1, s->t_s, "all", &s->all);
            for (int c = 0; c < OP_CLASS_COUNT; c++) {
                if (s->by_class[c].n_ops || s->by_class[c].n_errors) {
                    put_interval(out, i + 1, s->t_s, op_class_name((enum op_class)c), &s->by_class[c]);
                }
            }
        }
    }
    return 0;
}
