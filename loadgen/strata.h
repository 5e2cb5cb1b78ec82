/* strata.h - uniform numbers that can't wander: every STRATA_CARDS of them have one in each stratum.
 *
 * What is made of them keeps its distribution, and the mean over a minute is exact where independent draws would be off
 * by 1/sqrt(n).
 */
#ifndef NFSCURVE_LOADGEN_STRATA_H
#define NFSCURVE_LOADGEN_STRATA_H

#include "rng.h"

#include <stdint.h>

#define STRATA_CARDS 200u

struct strata {
    struct rng rng;
    uint32_t n_left;
    uint16_t order[STRATA_CARDS];
};

void strata_init(struct strata *strata, uint64_t seed, uint64_t stream);

/* The next one, in [0, 1): uniform within its stratum. */
double strata_next(struct strata *strata);

#endif
