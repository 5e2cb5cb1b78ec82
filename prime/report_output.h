/* report_output.h - where report and compare write: a file as a whole or not at all, or standard output. */
#ifndef NFSCURVE_PRIME_REPORT_OUTPUT_H
#define NFSCURVE_PRIME_REPORT_OUTPUT_H

#include "report.h"

#include <stdio.h>

/* What both commands are told. */
struct report_output {
    const char *command;  /* for messages */
    const char *out_path; /* NULL or "-": standard output */
    enum report_format format;
};

/* Format from --format, or from the ending of the output file, or text. 0, or -EINVAL after saying why. */
int report_output_choose(struct report_output *o, const char *format_name);

/* Calls render with a file to write to. An exit_status, after saying what went wrong. */
int report_output_write(const struct report_output *o,
                        int (*render)(const void *subject, enum report_format format, FILE *out), const void *subject);

/* Of the terminal on standard output; 100 when there is none. */
int report_output_columns(void);

#endif
