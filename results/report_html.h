/* report_html.h - the parts of the page; each writes nothing when the result has nothing for it. */
#ifndef NFSCURVE_RESULTS_REPORT_HTML_H
#define NFSCURVE_RESULTS_REPORT_HTML_H

#include "result.h"

#include <stdio.h>

void html_style(FILE *out);
void html_list(FILE *out, const char *classes, const json_t *texts);

void html_disclosure(const struct result *r, FILE *out);
void html_loadgens(const struct result *r, FILE *out);
void html_responses(const struct result *r, FILE *out);
void html_operations(const struct result *r, FILE *out);
void html_intervals(const struct result *r, FILE *out);
void html_errors(const struct result *r, FILE *out);
void html_generator(const struct result *r, FILE *out);
void html_validity(const struct result *r, FILE *out);
void html_campaign(const struct result *r, FILE *out);

#endif
