/* deck.h - proportions that hold exactly, in an order that can't be foretold.
 *
 * Independent draws wander: of 1000 ops with a share of 1 %, one run has 4 and the next 17. Cards dealt from a shuffled
 * deck don't: a deck of 100 holds each item as often as its weight says.
 *
 *   weights 27.5 18 ... ──deal──> counts 28 18 ... ──placed──> drawn one by one ──> next deal: 27 18 ...
 *
 * - In every whole deck an item comes floor(share) or ceil(share) times, share = weight / sum * size.
 * - Over any number of decks the counts stay within a few cards of the weights: which items get the cards that do not
 * come out whole is decided by a point that moves on by the golden section from deal to deal, so nobody is passed over
 * for long.
 * - Within a deck, the c cards of an item lie one in each c-th of it, at a random place there. So each prefix of a deck
 * is nearly in proportion too, and still nobody can tell the next card.
 * - The point starts anywhere, so that many processes do not all hold their rare items at the same time, and each
 * deck's expected counts are exactly the shares.
 */
#ifndef NFSCURVE_COMMON_DECK_H
#define NFSCURVE_COMMON_DECK_H

#include <stdbool.h>
#include <stdint.h>

struct rng;

#define DECK_SIZE 100 /* a good size for percentages */

struct deck {
    uint32_t n;                /* items */
    uint32_t size;             /* cards of a deck */
    uint32_t next;             /* card to be drawn; size: deal first */
    bool is_started;           /* the point is set */
    double point;              /* in [0, 1) */
    uint32_t *whole;           /* cards that each item has in every deck ... */
    double *edge;              /* ... and the sum of the fractions up to and with it */
    uint32_t *cards;           /* item of each card */
    struct deck_place *places; /* scratch of a deal */
};

/* n >= 1 weights >= 0 with a positive, finite sum; size >= 1. 0, -EINVAL or -ENOMEM. */
int deck_init(struct deck *d, const double *weights, uint32_t n, uint32_t size);
/* The deck of a share: deck_next gives 1 in `percent` of the draws, 0 otherwise. */
int deck_init_percent(struct deck *d, double percent);
/* The deck of a uniform distribution in `strata` slices, for deck_next_unit. */
int deck_init_uniform(struct deck *d, uint32_t strata);
void deck_fini(struct deck *d);

/* The next item. */
uint32_t deck_next(struct deck *d, struct rng *rng);

/* A number in [0, 1) from the next slice: uniform, and of every `strata` draws each slice has one. */
double deck_next_unit(struct deck *d, struct rng *rng);

#endif
