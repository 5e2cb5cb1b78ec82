/* report_internal.h - the forms of a report, one file each; report.c picks. */
#ifndef NFSCURVE_RESULTS_REPORT_INTERNAL_H
#define NFSCURVE_RESULTS_REPORT_INTERNAL_H

#include "chart.h"
#include "result.h"

#include <stdio.h>

int report_html(const struct result *r, FILE *out);
int report_svg(const struct result *r, FILE *out);
int report_png(const struct result *r, FILE *out);
int report_csv(const struct result *r, FILE *out);
int report_csv_ops(const struct result *r, FILE *out);
int report_csv_intervals(const struct result *r, FILE *out);
int report_sfssum(const struct result *r, FILE *out);
int report_gnuplot(const struct result *r, FILE *out);
int report_markdown(const struct result *r, FILE *out);
int report_hgrm(const struct result *r, FILE *out);
int report_hlog(const struct result *r, FILE *out);

/* RESULT_TRADEMARK in two lines that fit under a chart. */
#define REPORT_FOOT_1                                                                                                  \
    "Not a SPEC result. SPEC and SPECsfs are registered trademarks of the Standard Performance Evaluation "            \
    "Corporation;"
#define REPORT_FOOT_2 "figures of nfscurve are not comparable with published SPECsfs results."

/* Space for chart_heading and chart_foot around a chart that stands alone. */
void report_make_room(struct chart *c);

/* The curve of a result; is_alone: with style sheet and background. */
void report_draw_curve(const struct result *r, FILE *out, bool is_alone, unsigned id);
/* Throughput and response time, second by second, of one point. */
void report_draw_intervals(const struct point_result *p, FILE *out, unsigned id);
/* The same over the whole sweep, one point after the other. */
void report_draw_sweep(const struct result *r, FILE *out, unsigned id);

/* SVG text as PNG, `scale` pixels per unit. 0 or -errno. */
int png_from_svg(const char *svg, size_t n, double scale, FILE *out);

/* --- words and numbers that every form shares --- */

/* "nfscurve sfs2008"; with "non-standard" when it is. */
void report_metric_name(const struct result *r, char *out, size_t cap);
/* As measured and as published: whole ops/s and two decimals; a dash for NAN. */
double report_peak(const struct result *r); /* NAN: none */
const char *report_ops(double v, char out[static 48]);
const char *report_limit(double v, char out[static 48]);                   /* a ceiling: "20" */
const char *report_ms(double v, char out[static 48]);                      /* enough digits for the size of the value */
int report_decimals(const struct result *r);                               /* of response times in its tables */
const char *report_ms_column(double v, int decimals, char out[static 48]); /* in a table: all with as many decimals */
const char *report_ort(double v, char out[static 48]);                     /* two decimals */
const char *report_bytes(double v, char out[static 48]); /* "1216.2 GB": powers of ten, as the published pages */
/* "from sent" or "from due" with what it means, or "as published". */
const char *report_response_label(const struct result *r);
bool report_has_percentiles(const struct result *r);
bool report_has_ops(const struct result *r);
const char *report_point_state(const struct point_result *p); /* "valid", "saturated", "INVALID" */

/* Strings of an array, each by `put` between before and after. */
void report_each_string(const json_t *array, FILE *out, const char *before, const char *after,
                        void (*put)(FILE *, const char *));

#endif
