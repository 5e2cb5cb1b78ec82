/* report.h - a result in every form that people submit, plot and paste. */
#ifndef NFSCURVE_RESULTS_REPORT_H
#define NFSCURVE_RESULTS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct result;

enum report_format {
    REPORT_HTML,          /* one self-contained page */
    REPORT_TEXT,          /* terminal table and drawn curve */
    REPORT_CSV,           /* points */
    REPORT_CSV_OPS,       /* points x ops */
    REPORT_CSV_INTERVALS, /* points x seconds */
    REPORT_SVG,
    REPORT_PNG,
    REPORT_JSON,
    REPORT_SFSSUM,
    REPORT_GNUPLOT, /* script with its data in it */
    REPORT_MARKDOWN,
    REPORT_HGRM, /* HdrHistogram percentile text of every point */
    REPORT_HLOG, /* HdrHistogram V2 compressed log, one line a point and op */
    REPORT_FORMAT_COUNT
};

/* 0 and *format, or -EINVAL. "html", "text", "csv", "csv-ops", ... */
int report_format_parse(const char *name, enum report_format *format);
const char *report_format_name(enum report_format format);

/* 0 or -errno (-ENOTSUP: this format needs something that the result has not). */
int report_render(const struct result *r, enum report_format format, FILE *out);

/* Table and curve for a terminal that is `columns` wide; escape sequences only when is_tty. */
int report_render_text(const struct result *r, int columns, bool is_tty, FILE *out);

/* Results of one thing: one run, or the repeats of it. Borrowed. */
struct compare_group {
    const char *label; /* NULL: the first result's name */
    const struct result *const *repeats;
    size_t n;
};

/* Several things over each other, each against the first: html, text, csv, svg, png, json, gnuplot, markdown. 0,
 * -ENOTSUP for another format, or -errno. compare.h says which differences count. */
int compare_render(const struct compare_group *groups, size_t n, enum report_format format, FILE *out);

/* --- report --check --- */
struct disclosure_finding {
    bool is_error; /* else a warning */
    char path[96]; /* "disclosure.memory[1].total_gb" */
    char message[256];
};

struct disclosure_findings {
    struct disclosure_finding *items;
    size_t n, n_errors;
};

/* What is missing or inconsistent for a complete disclosure. 0 or -ENOMEM. Free with disclosure_findings_fini. */
int disclosure_check(const struct result *r, struct disclosure_findings *out);
void disclosure_findings_fini(struct disclosure_findings *f);
void disclosure_findings_print(const struct disclosure_findings *f, FILE *out);

/* Fills in what the run itself knows (load generators, parameters, fileset size) where the campaign's disclosure says
 * nothing. 0 or -ENOMEM. */
int disclosure_complete(struct result *r);

#endif
