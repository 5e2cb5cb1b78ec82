/* deck.c - see deck.h. */
#include "deck.h"

#include <assert.h>
#include <math.h>

void deck_init(struct deck *deck, const double *weights, uint32_t n_kinds, uint64_t seed, uint64_t stream)
{
    assert(n_kinds >= 1 && n_kinds <= DECK_KINDS);
    double sum = 0;
    for (uint32_t i = 0; i < n_kinds; i++)
        sum += weights[i];
    assert(sum > 0);
    rng_seed(&deck->rng, seed, stream);
    deck->n_kinds = n_kinds;
    deck->n_left = 0;
    for (uint32_t i = 0; i < n_kinds; i++) {
        deck->weight[i] = weights[i] / sum;
        deck->carry[i] = 0;
    }
}

/* Whole cards first, then one each to the largest remainders; the carries sum to zero afterwards. */
static void fill(struct deck *deck)
{
    double want[DECK_KINDS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < deck->n_kinds; i++) {
        want[i] = deck->carry[i] + deck->weight[i] * DECK_CARDS;
        /* Not when nothing is owed to it: a kind of weight 0 never gets a card. */
        while (want[i] >= 1 && n < DECK_CARDS) {
            deck->cards[n++] = (uint8_t)i;
            want[i] -= 1;
        }
    }
    while (n < DECK_CARDS) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < deck->n_kinds; i++) {
            if (want[i] > want[best])
                best = i;
        }
        deck->cards[n++] = (uint8_t)best;
        want[best] -= 1;
    }
    for (uint32_t i = 0; i < deck->n_kinds; i++)
        deck->carry[i] = want[i];
    rng_shuffle(&deck->rng, deck->cards, DECK_CARDS, sizeof deck->cards[0]);
    deck->n_left = DECK_CARDS;
}

uint32_t deck_next(struct deck *deck)
{
    if (deck->n_left == 0)
        fill(deck);
    return deck->cards[--deck->n_left];
}

void strata_init(struct strata *strata, uint64_t seed, uint64_t stream)
{
    rng_seed(&strata->rng, seed, stream);
    strata->n_left = 0;
    for (uint16_t i = 0; i < DECK_CARDS; i++)
        strata->order[i] = i;
}

double strata_next(struct strata *strata)
{
    if (strata->n_left == 0) {
        rng_shuffle(&strata->rng, strata->order, DECK_CARDS, sizeof strata->order[0]);
        strata->n_left = DECK_CARDS;
    }
    return (strata->order[--strata->n_left] + rng_unit(&strata->rng)) / DECK_CARDS;
}
