#include "deck.h"

#include "rng.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct deck_place {
    double at; /* in [0, 1): where the card lies in the deck */
    uint32_t item;
};

int deck_init(struct deck *d, const double *weights, uint32_t n, uint32_t size)
{
    double sum = 0;
    memset(d, 0, sizeof *d);
    for (uint32_t i = 0; i < n; i++) {
        if (!(weights[i] >= 0))
            return -EINVAL;
        sum += weights[i];
    }
    if (n == 0 || size == 0 || !(sum > 0) || isinf(sum))
        return -EINVAL;

    d->n = n;
    d->size = size;
    d->next = size;
    d->share = malloc(n * sizeof *d->share);
    d->rest = calloc(n, sizeof *d->rest);
    d->counts = malloc(n * sizeof *d->counts);
    d->cards = malloc(size * sizeof *d->cards);
    d->places = malloc(size * sizeof *d->places);
    if (!d->share || !d->rest || !d->counts || !d->cards || !d->places) {
        deck_fini(d);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        double share = weights[i] / sum * size;
        d->share[i] = fabs(share - round(share)) < 1e-9 * size ? round(share) : share;
    }
    return 0;
}

int deck_init_percent(struct deck *d, double percent)
{
    return deck_init(d, (const double[]){100 - percent, percent}, 2, DECK_SIZE);
}

int deck_init_uniform(struct deck *d, uint32_t strata)
{
    if (strata == 0)
        return -EINVAL;
    double *weights = malloc(strata * sizeof *weights);
    if (!weights)
        return -ENOMEM;
    for (uint32_t i = 0; i < strata; i++)
        weights[i] = 1;
    int error = deck_init(d, weights, strata, strata);
    free(weights);
    return error;
}

void deck_fini(struct deck *d)
{
    free(d->share);
    free(d->rest);
    free(d->counts);
    free(d->cards);
    free(d->places);
    memset(d, 0, sizeof *d);
}

/* Puts c cards of an item into the deck, one in each c-th of it. */
static uint32_t place_cards(struct deck *d, struct rng *rng, uint32_t n_placed, uint32_t item, uint32_t c)
{
    for (uint32_t i = 0; i < c; i++)
        d->places[n_placed++] = (struct deck_place){(i + rng_unit(rng)) / c, item};
    return n_placed;
}

/* Gives `extra` cards beyond the whole shares, one each, to the items that are owed most. */
static void give_extra(struct deck *d, uint32_t extra)
{
    for (; extra > 0; extra--) {
        uint32_t most = d->n;
        for (uint32_t i = 0; i < d->n; i++) {
            bool can_have_one = d->counts[i] < d->share[i];
            if (can_have_one && (most == d->n || d->rest[i] > d->rest[most]))
                most = i;
        }
        assert(most < d->n); /* fractions sum to `extra`, so at least as many items have one */
        d->counts[most]++;
        d->rest[most] -= 1;
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct deck_place *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void deal(struct deck *d, struct rng *rng)
{
    uint32_t n_placed = 0, n_whole = 0;

    for (uint32_t i = 0; i < d->n; i++) {
        double fraction = d->share[i] - floor(d->share[i]);
        if (!d->is_started && fraction > 0)
            d->rest[i] = rng_unit(rng) - 0.5;
        d->rest[i] += fraction;
        d->counts[i] = (uint32_t)d->share[i];
        n_whole += d->counts[i];
    }
    d->is_started = true;
    give_extra(d, d->size - n_whole);

    for (uint32_t i = 0; i < d->n; i++)
        n_placed = place_cards(d, rng, n_placed, i, d->counts[i]);
    assert(n_placed == d->size);
    qsort(d->places, d->size, sizeof *d->places, compare_places);
    for (uint32_t i = 0; i < d->size; i++)
        d->cards[i] = d->places[i].item;
    d->next = 0;
}

uint32_t deck_next(struct deck *d, struct rng *rng)
{
    if (d->next == d->size)
        deal(d, rng);
    return d->cards[d->next++];
}

double deck_next_unit(struct deck *d, struct rng *rng)
{
    return (deck_next(d, rng) + rng_unit(rng)) / d->n;
}
