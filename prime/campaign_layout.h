/* campaign_layout.h - how the load of one point is laid out over load generators and processes: a pure function of the
 * campaign.
 *
 *   campaign_config + requested ops/s ──campaign_layout_compute──> struct process_layout of every process
 * (common/layout.h)
 *
 * Files, sizes, working set and bytes follow from the load and the number of load generators; the processes only cut a
 * load generator's file space into slices. Deterministic: the same campaign and seed give the same layout.
 */
#ifndef NFSCURVE_PRIME_CAMPAIGN_LAYOUT_H
#define NFSCURVE_PRIME_CAMPAIGN_LAYOUT_H

#include "layout.h"

#include <stddef.h>
#include <stdint.h>

struct campaign_config;

struct layout_totals {
    uint64_t n_files, file_bytes; /* I/O files */
    uint64_t n_working_set, working_set_bytes;
    uint64_t n_directories, n_symlinks, n_non_io_files;
    uint64_t memory_bytes; /* of the fileset tables of all processes */
};

struct campaign_layout {
    double requested_ops_per_s;
    struct process_layout *processes; /* [loadgen * processes_per_loadgen + process] */
    size_t n_processes;
    struct layout_totals totals;
};

/* 0, -EINVAL with what to change in message (fewer files than processes), or -ENOMEM. */
int campaign_layout_compute(const struct campaign_config *c, double ops_per_s, struct campaign_layout *out,
                            char *message, size_t message_bytes);
void campaign_layout_fini(struct campaign_layout *layout);

#endif
