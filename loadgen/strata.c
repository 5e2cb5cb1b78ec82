#include "strata.h"

void strata_init(struct strata *strata, uint64_t seed, uint64_t stream)
{
    rng_seed(&strata->rng, seed, stream);
    strata->n_left = 0;
    for (uint16_t i = 0; i < STRATA_CARDS; i++)
        strata->order[i] = i;
}

double strata_next(struct strata *strata)
{
    if (strata->n_left == 0) {
        rng_shuffle(&strata->rng, strata->order, STRATA_CARDS, sizeof strata->order[0]);
        strata->n_left = STRATA_CARDS;
    }
    return (strata->order[--strata->n_left] + rng_unit(&strata->rng)) / STRATA_CARDS;
}
