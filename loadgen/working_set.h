/* working_set.h - which file is next? Popularity over the rows of the fileset's working set.
 *
 * Access groups (sfs): group g of the load generator has the Poisson weight of its class, g mod 12 (lambda 6); to which
 * a file belongs (access_groups.h) does not depend on the process that owns it. Of the group, a file that fits the
 * request is preferred; when a process has none of it, one of another group of the same class, and then of another
 * class, so that with many processes, each with a few files of a group, neither popularity nor what fits changes. Zipf,
 * hot set and uniform ignore sizes. Every process carries the same load over its slice, so the curve of popularity over
 * all files does not depend on how many they are; for Zipf a process's j-th file takes the weight of the ranks j*W/n ..
 * (j+1)*W/n of the load generator: n files share the weight of n ranks evenly. With n processes, the n most popular
 * files are equally popular therefore, and it can't be otherwise while each process has its own files and the same
 * load: the first of 2,000 files has 12 % of the accesses at theta 0.99, one of 16 processes makes 6 %.
 */
#ifndef NFSCURVE_LOADGEN_WORKING_SET_H
#define NFSCURVE_LOADGEN_WORKING_SET_H

#include "access_groups.h"
#include "dist.h"
#include "fileset.h"

#include <stdbool.h>
#include <stdint.h>

/* Files that requests under way use: readers share, a writer is alone. */
struct file_use {
    uint32_t file; /* row; FILESET_NONE: free */
    bool is_writer;
};

struct working_set {
    struct fileset *fileset; /* (ref) */
    struct rng rng;
    struct access_groups groups;
    struct dist_discrete classes; /* of access groups */
    struct dist_zipf zipf;        /* over the load generator's ranks */
    uint32_t stride;              /* coprime with n_ws: spreads ranks over the rows */
    struct file_use *uses;        /* (ref) one per slot */
    uint32_t n_uses;
    uint8_t *touched; /* one bit per row */
    uint32_t n_touched;
};

/* 0 or -ENOMEM. */
int working_set_init(struct working_set *ws, struct fileset *fileset, struct file_use *uses, uint32_t n_uses,
                     uint64_t seed);
void working_set_fini(struct working_set *ws);

enum file_want {
    WANT_FIT,    /* size in [bytes, bytes + 8 KiB], else the smallest that is larger, else the largest seen */
    WANT_ANY,    /* by popularity alone */
    WANT_LARGEST /* the largest of a few */
};

/* A row that nobody uses in a way that excludes this use; FILESET_NONE when none was found. */
uint32_t working_set_pick(struct working_set *ws, enum file_want want, uint64_t bytes, bool is_writer);

void working_set_touch(struct working_set *ws, uint32_t k);

#endif
