/* interval_merge.h - the seconds of a run from all load generators, merged exactly, in bounded memory.
 *
 *   load generator 1 ──second t, class c──┐
 *   load generator 2 ──second t, class c──┼─ + ─> histogram (t, c) ──window is complete──> figures: counts, sum, p99
 *   ...                                   ┘
 *
 * A p99 over all processes needs all their histograms of that second, but not those of the next ones: seconds are
 * merged window by window.
 */
#ifndef NFSCURVE_PRIME_INTERVAL_MERGE_H
#define NFSCURVE_PRIME_INTERVAL_MERGE_H

#include "control_client.h"
#include "interval_figures.h"

#include <stdint.h>

#define INTERVAL_MERGE_SECONDS 16 /* of a window */

struct interval_merge;

/* NULL when memory is short. */
struct interval_merge *interval_merge_create(void);
void interval_merge_destroy(struct interval_merge *m);

/* Empties the window and moves it to seconds first_s .. first_s + INTERVAL_MERGE_SECONDS - 1. */
void interval_merge_begin(struct interval_merge *m, uint32_t first_s);
uint32_t interval_merge_first(const struct interval_merge *m);

/* A control_cell_fn: arg is the merge. NULL outside the window. */
struct control_interval_cell *interval_merge_cell(uint32_t t_s, enum op_class c, void *arg);

/* Figures of second t_s of the window. */
void interval_merge_figures(const struct interval_merge *m, uint32_t t_s, struct interval_figures *out);

#endif
