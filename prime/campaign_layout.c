/* campaign_layout.c - see campaign_layout.h.
 *
 * Every load generator has the same file space 0..n-1 (its files differ by their directory, CL<client>), so one is
 * worked out and the others copy it.
 */
#include "campaign_layout.h"

#include "campaign_config.h"
#include "dist.h"
#include "rng.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From so many size cycles (workload.h) a process on, slices are cut at whole cycles: file j of a process then has the
 * same size at every load, so that a fileset is topped up rather than resized, and slices differ by no more than 1 %.
 */
#define WHOLE_CYCLES_FROM 100u

/* Tables index files with 32 bits, and sums of bytes must stay within 64. */
#define MAX_LOADGEN_FILES 4e9
#define MAX_LOADGEN_BYTES 1e18

/* a * b / c without overflow. */
static uint64_t mul_div(uint64_t a, uint64_t b, uint64_t c)
{
    return (uint64_t)((unsigned __int128)a * b / c);
}

/* First file of process p: p/P of the file space, at a whole cycle when there are enough of them. */
static uint64_t slice_start(const struct workload *w, uint64_t n_files, uint64_t p, uint64_t n_processes)
{
    if (p == n_processes) {
        return n_files;
    }
    uint64_t unit = n_files / n_processes >= (uint64_t)w->n_cycle * WHOLE_CYCLES_FROM ? w->n_cycle : 1;
    return mul_div(n_files / unit, p, n_processes) * unit;
}

static uint64_t working_set_bytes(const struct workload *w, uint64_t n_ws, uint64_t n_files)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n_ws; i++) {
        sum += workload_file_bytes(w, layout_working_set_file(n_files, n_ws, w->n_cycle, i));
    }
    return sum;
}

static uint64_t process_seed(uint64_t campaign_seed, uint32_t loadgen, uint32_t process)
{
    struct rng rng;
    rng_seed(&rng, campaign_seed, (uint64_t)loadgen << 32 | process);
    return rng_u64(&rng);
}

static void fill_process(const struct workload *w, uint32_t p, uint32_t n_processes, struct process_layout *l)
{
    l->process = p;
    l->first_file = slice_start(w, l->lg_n_files, p, n_processes);
    l->n_files = slice_start(w, l->lg_n_files, p + 1u, n_processes) - l->first_file;
    l->file_bytes = workload_range_bytes(w, l->first_file, l->n_files);
    l->first_working_set = layout_working_set_from(l->lg_n_files, l->lg_n_working_set, w->n_cycle, l->first_file);
    l->n_working_set =
        layout_working_set_from(l->lg_n_files, l->lg_n_working_set, w->n_cycle, l->first_file + l->n_files) -
        l->first_working_set;
    l->n_access_groups = dist_access_group_count(l->lg_n_working_set);
    uint64_t per_directory = w->files_per_directory > 0 ? w->files_per_directory : 1;
    l->n_directories = (l->n_files + per_directory - 1) / per_directory;
    l->n_symlinks = w->symlinks_per_process;
    uint64_t share = (uint64_t)llround((double)l->n_files * w->non_io_files_percent / 100);
    l->n_non_io_files = share > w->non_io_files_min ? share : w->non_io_files_min;
    l->memory_bytes = layout_memory_bytes(l);
}

static void add_to_totals(struct layout_totals *t, const struct process_layout *l)
{
    t->n_files += l->n_files;
    t->file_bytes += l->file_bytes;
    t->n_working_set += l->n_working_set;
    t->n_directories += l->n_directories;
    t->n_symlinks += l->n_symlinks;
    t->n_non_io_files += l->n_non_io_files;
    t->memory_bytes += l->memory_bytes;
}

static int too_few(double ops_per_s, uint64_t lg_n_files, uint64_t lg_n_ws, uint32_t n_processes, char *message,
                   size_t message_bytes)
{
    snprintf(
        message, message_bytes,
        "%g ops/s make %llu files on each load generator, %llu of them in its working set: too few for %u processes; "
        "raise fileset_mb_per_op or the load, or lower processes_per_loadgen",
        ops_per_s, (unsigned long long)lg_n_files, (unsigned long long)lg_n_ws, n_processes);
    return -EINVAL;
}

int campaign_layout_compute(const struct campaign_config *c, double ops_per_s, struct campaign_layout *out,
                            char *message, size_t message_bytes)
{
    const struct workload *w = &c->workload;
    uint32_t n_loadgens = (uint32_t)c->n_loadgens, n_processes = (uint32_t)c->processes_per_loadgen;
    memset(out, 0, sizeof *out);

    double lg_ops = ops_per_s / n_loadgens;
    double lg_bytes = lg_ops * w->fileset_mb_per_op * 1e6;
    if (lg_bytes > MAX_LOADGEN_BYTES || lg_bytes / workload_mean_file_bytes(w) > MAX_LOADGEN_FILES) {
        snprintf(message, message_bytes,
                 "%g ops/s make %.3g files of %.3g bytes together on each load generator: more than can be kept; lower "
                 "fileset_mb_per_op or the load, or add load generators",
                 ops_per_s, lg_bytes / workload_mean_file_bytes(w), lg_bytes);
        return -EINVAL;
    }
    uint64_t lg_n_files = (uint64_t)llround(lg_bytes / workload_mean_file_bytes(w));
    uint64_t lg_n_ws = (uint64_t)llround((double)lg_n_files * w->working_set_percent / 100);
    if (lg_n_ws < n_processes) {
        return too_few(ops_per_s, lg_n_files, lg_n_ws, n_processes, message, message_bytes);
    }

    out->requested_ops_per_s = ops_per_s;
    out->n_processes = (size_t)n_loadgens * n_processes;
    out->processes = calloc(out->n_processes, sizeof *out->processes);
    if (out->processes == NULL) {
        return -ENOMEM;
    }

    struct process_layout common = {
        .lg_n_files = lg_n_files, .lg_n_working_set = lg_n_ws, .ops_per_s = lg_ops / n_processes};
    for (uint32_t p = 0; p < n_processes; p++) {
        out->processes[p] = common;
        fill_process(w, p, n_processes, &out->processes[p]);
        /* Working-set files lie anywhere in their stride: a slice may have none although there are enough of them. */
        if (out->processes[p].n_working_set == 0) {
            campaign_layout_fini(out);
            return too_few(ops_per_s, lg_n_files, lg_n_ws, n_processes, message, message_bytes);
        }
    }
    for (uint32_t g = 0; g < n_loadgens; g++) {
        for (uint32_t p = 0; p < n_processes; p++) {
            struct process_layout *l = &out->processes[(size_t)g * n_processes + p];
            *l = out->processes[p];
            l->loadgen = g;
            l->client = g + 1;
            l->target = campaign_process_target(c, g, p);
            l->seed = process_seed((uint64_t)c->seed, g, p);
            add_to_totals(&out->totals, l);
        }
    }
    out->totals.working_set_bytes = n_loadgens * working_set_bytes(w, lg_n_ws, lg_n_files);
    return 0;
}

void campaign_layout_fini(struct campaign_layout *layout)
{
    free(layout->processes);
    memset(layout, 0, sizeof *layout);
}
