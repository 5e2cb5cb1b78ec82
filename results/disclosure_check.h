/* disclosure_check.h - the two halves of report --check: what a disclosure says (disclosure_check.c), and what it must
 * agree with (disclosure_check_run.c). */
#ifndef NFSCURVE_RESULTS_DISCLOSURE_CHECK_H
#define NFSCURVE_RESULTS_DISCLOSURE_CHECK_H

#include "report.h"
#include "result.h"

struct check {
    const struct result *r;
    const json_t *d;
    struct disclosure_findings *out;
    int error; /* -ENOMEM: a finding is lost */
};

void check_error(struct check *c, const char *path, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void check_warning(struct check *c, const char *path, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The first row whose `key` equals value, or NULL. */
const json_t *check_row_with(const json_t *rows, const char *key, const json_t *value);

void check_against_run(struct check *c);
void check_against_rules(struct check *c); /* of a standard result */

#endif
