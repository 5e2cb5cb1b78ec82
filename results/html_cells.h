/* html_cells.h - table cells of the page: numbers with a fixed number of decimals, texts escaped. */
#ifndef NFSCURVE_RESULTS_HTML_CELLS_H
#define NFSCURVE_RESULTS_HTML_CELLS_H

#include "result.h"

#include <stdbool.h>
#include <stdio.h>

void cell_ms(FILE *out, double v); /* three decimals */
/* is_off: marked as wrong. unit: "" or " %". NAN is a dash without unit. */
void cell_number(FILE *out, double v, int decimals, const char *unit, bool is_off);
void cell_count(FILE *out, uint64_t n); /* RESULT_UNKNOWN is a dash */
void cell_text(FILE *out, const char *classes, const char *text);

/* Two cells: number of the point, and its load. */
void cell_point(const struct result *r, size_t i, FILE *out);

#endif
