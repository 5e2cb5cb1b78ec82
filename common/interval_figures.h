/* interval_figures.h - one second of a recorded run, merged over all processes.
 *
 * Integers only, so that the seconds of many processes add up exactly. p99 alone can't be added: whoever merges
 * processes merges their histograms of the second first, or keeps the largest p99 and says so.
 */
#ifndef NFSCURVE_COMMON_INTERVAL_FIGURES_H
#define NFSCURVE_COMMON_INTERVAL_FIGURES_H

#include "nfs_op.h"

#include <stdint.h>

struct interval_class_figures {
    uint64_t n_ops;    /* good ops as the workload counts them, by the second in which they were done */
    uint64_t n_errors; /* failed RPCs */
    uint64_t sum_ns;   /* of the headline response times of the good ops */
    int64_t p99_ns;    /* 0 when there was no op */
};

struct interval_figures {
    uint32_t t_s; /* second of the run, from 0 */
    struct interval_class_figures by_class[OP_CLASS_COUNT], all;
};

#endif
