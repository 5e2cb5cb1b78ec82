/* deck.h - draws by weight that can't wander: shuffled decks with the weights' exact shares.
 *
 * Independent draws of a 1 % kind are off by 3 sigma = 0.3 points after 10,000; a deck of 200 holds it to half a card.
 * What rounding takes from a kind in one deck it gets back in the next ones.
 */
#ifndef NFSCURVE_LOADGEN_DECK_H
#define NFSCURVE_LOADGEN_DECK_H

#include "rng.h"

#include <stdint.h>

#define DECK_KINDS 64u
#define DECK_CARDS 200u

struct deck {
    struct rng rng;
    uint32_t n_kinds;
    uint32_t n_left;
    double weight[DECK_KINDS]; /* sums to 1 */
    double carry[DECK_KINDS];  /* what rounding owes the kind, in cards */
    uint8_t cards[DECK_CARDS];
};

/* Weights need not be normalised; at least one is positive. n_kinds <= DECK_KINDS. */
void deck_init(struct deck *deck, const double *weights, uint32_t n_kinds, uint64_t seed, uint64_t stream);

/* The kind that is next. */
uint32_t deck_next(struct deck *deck);

/* Numbers in [0, 1) by decks of equal strata: every DECK_CARDS of them have one in each stratum, uniform within it. */
struct strata {
    struct rng rng;
    uint32_t n_left;
    uint16_t order[DECK_CARDS];
};

void strata_init(struct strata *strata, uint64_t seed, uint64_t stream);
double strata_next(struct strata *strata);

#endif
