/* interval_merge.c - see interval_merge.h. */
#include "interval_merge.h"

#include "histogram.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct interval_merge {
    uint32_t first_s;
    struct control_interval_cell cells[INTERVAL_MERGE_SECONDS][OP_CLASS_COUNT];
    struct histogram histograms[INTERVAL_MERGE_SECONDS][OP_CLASS_COUNT];
};

struct interval_merge *interval_merge_create(void)
{
    struct interval_merge *m = malloc(sizeof(*m));

    if (m) {
        interval_merge_begin(m, 0);
    }
    return m;
}

void interval_merge_destroy(struct interval_merge *m)
{
    free(m);
}

void interval_merge_begin(struct interval_merge *m, uint32_t first_s)
{
    m->first_s = first_s;
    for (int t = 0; t < INTERVAL_MERGE_SECONDS; t++) {
        for (int c = 0; c < OP_CLASS_COUNT; c++) {
            histogram_init(&m->histograms[t][c]);
            m->cells[t][c] = (struct control_interval_cell){.response = &m->histograms[t][c]};
        }
    }
}

uint32_t interval_merge_first(const struct interval_merge *m)
{
    return m->first_s;
}

struct control_interval_cell *interval_merge_cell(uint32_t t_s, enum op_class c, void *arg)
{
    struct interval_merge *m = arg;

    if (t_s < m->first_s || t_s - m->first_s >= INTERVAL_MERGE_SECONDS || c >= OP_CLASS_COUNT) {
        return NULL;
    }
    return &m->cells[t_s - m->first_s][c];
}

static void fill(struct interval_class_figures *out, uint64_t n_ops, uint64_t n_errors, const struct histogram *h)
{
    out->n_ops = n_ops;
    out->n_errors = n_errors;
    out->sum_ns = (uint64_t)h->sum_ns;
    out->p99_ns = histogram_percentile_ns(h, 99);
}

void interval_merge_figures(const struct interval_merge *m, uint32_t t_s, struct interval_figures *out)
{
    uint32_t t = t_s - m->first_s;
    uint64_t n_ops = 0, n_errors = 0;
    struct histogram all;

    assert(t_s >= m->first_s && t < INTERVAL_MERGE_SECONDS);
    histogram_init(&all);
    out->t_s = t_s;
    for (int c = 0; c < OP_CLASS_COUNT; c++) {
        const struct control_interval_cell *cell = &m->cells[t][c];
        fill(&out->by_class[c], cell->n_ops, cell->n_errors, cell->response);
        histogram_merge(&all, cell->response);
        n_ops += cell->n_ops;
        n_errors += cell->n_errors;
    }
    fill(&out->all, n_ops, n_errors, &all);
}
