#include "deck.h"

#include "rng.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN_SECTION 0.6180339887498949
#define ROUNDING       1e-9 /* of a share of a deck: a fraction that is none */

struct deck_place {
    double at; /* in [0, 1): where the card lies in the deck */
    uint32_t item;
};

int deck_init(struct deck *d, const double *weights, uint32_t n, uint32_t size)
{
    double sum = 0;
    memset(d, 0, sizeof *d);
    for (uint32_t i = 0; i < n; i++) {
        if (!(weights[i] >= 0)) {
            return -EINVAL;
        }
        sum += weights[i];
    }
    if (n == 0 || size == 0 || !(sum > 0) || isinf(sum)) {
        return -EINVAL;
    }

    d->n = n;
    d->size = size;
    d->next = size;
    d->whole = malloc(n * sizeof *d->whole);
    d->edge = malloc(n * sizeof *d->edge);
    d->cards = malloc(size * sizeof *d->cards);
    d->places = malloc(size * sizeof *d->places);
    if (!d->whole || !d->edge || !d->cards || !d->places) {
        deck_fini(d);
        return -ENOMEM;
    }

    double edge = 0;
    for (uint32_t i = 0; i < n; i++) {
        double share = weights[i] / sum * size;
        double whole = floor(share + ROUNDING);
        edge += share - whole > ROUNDING ? share - whole : 0;
        d->whole[i] = (uint32_t)whole;
        /* The fractions sum to a whole number; without rounding, so that the counts of a deal sum to its size. */
        d->edge[i] = fabs(edge - round(edge)) < ROUNDING * n ? round(edge) : edge;
    }
    return 0;
}

int deck_init_percent(struct deck *d, double percent)
{
    return deck_init(d, (const double[]){100 - percent, percent}, 2, DECK_SIZE);
}

int deck_init_uniform(struct deck *d, uint32_t strata)
{
    if (strata == 0) {
        return -EINVAL;
    }
    double *weights = malloc(strata * sizeof *weights);
    if (!weights) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < strata; i++) {
        weights[i] = 1;
    }
    int error = deck_init(d, weights, strata, strata);
    free(weights);
    return error;
}

void deck_fini(struct deck *d)
{
    free(d->whole);
    free(d->edge);
    free(d->cards);
    free(d->places);
    memset(d, 0, sizeof *d);
}

/* Places c cards of an item, one in each c-th of the deck. */
static uint32_t place_cards(struct deck_place *places, struct rng *rng, uint32_t n_placed, uint32_t item, uint32_t c)
{
    for (uint32_t i = 0; i < c; i++) {
        places[n_placed++] = (struct deck_place){(i + rng_unit(rng)) / c, item};
    }
    return n_placed;
}

static int compare_places(const void *a, const void *b)
{
    const struct deck_place *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void deal(struct deck *d, struct rng *rng)
{
    uint32_t n_placed = 0;
    double edge_before = 0;

    if (!d->is_started) {
        d->point = rng_unit(rng);
    }
    d->is_started = true;
    for (uint32_t i = 0; i < d->n; i++) {
        /* The fractions lie end to end on a line; an item gets a card beyond its whole ones when one of the points
         * point, point + 1, point + 2 ... is in its stretch. */
        uint32_t extra = (uint32_t)(ceil(d->edge[i] - d->point) - ceil(edge_before - d->point));
        assert(n_placed + d->whole[i] + extra <= d->size);
        n_placed = place_cards(d->places, rng, n_placed, i, d->whole[i] + extra);
        edge_before = d->edge[i];
    }
    assert(n_placed == d->size);
    d->point = fmod(d->point + GOLDEN_SECTION, 1);

    qsort(d->places, d->size, sizeof *d->places, compare_places);
    for (uint32_t i = 0; i < d->size; i++) {
        d->cards[i] = d->places[i].item;
    }
    d->next = 0;
}

uint32_t deck_next(struct deck *d, struct rng *rng)
{
    if (d->next == d->size) {
        deal(d, rng);
    }
    return d->cards[d->next++];
}

double deck_next_unit(struct deck *d, struct rng *rng)
{
    return (deck_next(d, rng) + rng_unit(rng)) / d->n;
}
