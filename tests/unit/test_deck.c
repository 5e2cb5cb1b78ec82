#include "deck.h"
#include "rng.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

Test(deck, whole_shares_come_exactly_in_every_deck)
{
    static const double weights[] = {70, 27, 2, 1};
    struct deck d;
    struct rng rng;
    rng_seed(&rng, 1, 0);
    cr_assert_eq(deck_init(&d, weights, 4, 100), 0);
    for (unsigned round = 0; round < 200; round++) {
        unsigned counts[4] = {0};
        for (unsigned i = 0; i < 100; i++) {
            counts[deck_next(&d, &rng)]++;
        }
        for (unsigned i = 0; i < 4; i++) {
            cr_assert_eq(counts[i], weights[i]);
        }
    }
    deck_fini(&d);
}

Test(deck, fractions_are_within_one_card_in_every_deck_and_made_up_over_decks)
{
    /* The request deck of sfs3: 18/1.64 READs, 4.5 WRITEs, 0.5 COMMITs, and small ones of a third. */
    static const double weights[] = {27, 18 / 1.64, 4.5, 0.5, 11, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0};
    enum { N = sizeof weights / sizeof *weights, DECKS = 1000 };
    double sum = 0, total[N] = {0};
    struct deck d;
    struct rng rng;
    rng_seed(&rng, 2, 0);
    for (unsigned i = 0; i < N; i++) {
        sum += weights[i];
    }
    cr_assert_eq(deck_init(&d, weights, N, 100), 0);
    for (unsigned round = 1; round <= DECKS; round++) {
        unsigned counts[N] = {0};
        for (unsigned i = 0; i < 100; i++) {
            counts[deck_next(&d, &rng)]++;
        }
        for (unsigned i = 0; i < N; i++) {
            double share = weights[i] / sum * 100;
            cr_assert(counts[i] >= floor(share) && counts[i] <= ceil(share), "item %u came %u times of %g", i,
                      counts[i], share);
            total[i] += counts[i];
            cr_assert(fabs(total[i] - share * round) < 3, "item %u is off by %g after %u decks", i,
                      total[i] - share * round, round);
        }
    }
    deck_fini(&d);
}

Test(deck, prefixes_are_nearly_in_proportion_too)
{
    static const double weights[] = {50, 30, 15, 5};
    struct deck d;
    struct rng rng;
    rng_seed(&rng, 3, 0);
    cr_assert_eq(deck_init(&d, weights, 4, 100), 0);
    double worst = 0;
    for (unsigned round = 0; round < 500; round++) {
        unsigned counts[4] = {0};
        for (unsigned i = 1; i <= 100; i++) {
            counts[deck_next(&d, &rng)]++;
            worst = fmax(worst, fabs(counts[0] - 0.5 * i));
        }
    }
    /* Each item is within one card of its place; sorted together, within two. Independent draws would reach 20. */
    cr_assert_lt(worst, 3);
    deck_fini(&d);
}

Test(deck, order_cannot_be_foretold)
{
    /* The single card of a 1 % item is anywhere in its deck, evenly. */
    struct deck d;
    struct rng rng;
    rng_seed(&rng, 4, 0);
    cr_assert_eq(deck_init_percent(&d, 1), 0);
    unsigned n_in_tenth[10] = {0};
    for (unsigned round = 0; round < 5000; round++) {
        for (unsigned i = 0; i < 100; i++) {
            if (deck_next(&d, &rng)) {
                n_in_tenth[i / 10]++;
            }
        }
    }
    for (unsigned i = 0; i < 10; i++) { /* mean 500, standard deviation 21 */
        cr_assert(n_in_tenth[i] > 410 && n_in_tenth[i] < 590, "tenth %u holds %u", i, n_in_tenth[i]);
    }
    deck_fini(&d);
}

Test(deck, rare_items_of_many_decks_do_not_come_at_the_same_time)
{
    /* 0.1 %: one card in ten decks. Over 1000 processes the first deck holds about 100 of them. */
    unsigned n_first = 0, n_all = 0;
    for (unsigned process = 0; process < 1000; process++) {
        struct deck d;
        struct rng rng;
        rng_seed(&rng, 5, process);
        cr_assert_eq(deck_init_percent(&d, 0.1), 0);
        for (unsigned i = 0; i < 1000; i++) {
            unsigned card = deck_next(&d, &rng);
            n_all += card;
            n_first += i < 100 ? card : 0;
        }
        deck_fini(&d);
    }
    cr_assert(n_first > 60 && n_first < 140, "%u in the first decks", n_first);
    cr_assert(n_all > 950 && n_all < 1050, "%u in all", n_all);
}

Test(deck, share_of_nothing_and_of_all)
{
    struct deck none, all;
    struct rng rng;
    rng_seed(&rng, 6, 0);
    cr_assert_eq(deck_init_percent(&none, 0), 0);
    cr_assert_eq(deck_init_percent(&all, 100), 0);
    for (unsigned i = 0; i < 1000; i++) {
        cr_assert_eq(deck_next(&none, &rng), 0);
        cr_assert_eq(deck_next(&all, &rng), 1);
    }
    deck_fini(&none);
    deck_fini(&all);
}

Test(deck, uniform_draws_have_one_in_each_slice)
{
    struct deck d;
    struct rng rng;
    rng_seed(&rng, 7, 0);
    cr_assert_eq(deck_init_uniform(&d, 64), 0);
    for (unsigned round = 0; round < 100; round++) {
        bool is_seen[64] = {false};
        for (unsigned i = 0; i < 64; i++) {
            double u = deck_next_unit(&d, &rng);
            cr_assert(u >= 0 && u < 1);
            unsigned slice = (unsigned)(u * 64);
            cr_assert_not(is_seen[slice]);
            is_seen[slice] = true;
        }
    }
    deck_fini(&d);
}

Test(deck, more_items_than_cards_take_turns)
{
    enum { N = 250 };
    double weights[N];
    unsigned counts[N] = {0};
    struct deck d;
    struct rng rng;
    rng_seed(&rng, 8, 0);
    for (unsigned i = 0; i < N; i++) {
        weights[i] = 1;
    }
    cr_assert_eq(deck_init(&d, weights, N, 100), 0);
    for (unsigned i = 0; i < N * 40; i++) {
        counts[deck_next(&d, &rng)]++;
    }
    for (unsigned i = 0; i < N; i++) {
        cr_assert(counts[i] >= 38 && counts[i] <= 42, "item %u came %u times of 40", i, counts[i]);
    }
    deck_fini(&d);
}

Test(deck, weights_that_make_no_sense_are_refused)
{
    struct deck d;
    cr_assert_eq(deck_init(&d, (const double[]){0, 0}, 2, 100), -EINVAL);
    cr_assert_eq(deck_init(&d, (const double[]){1, -1}, 2, 100), -EINVAL);
    cr_assert_eq(deck_init(&d, (const double[]){1, NAN}, 2, 100), -EINVAL);
    cr_assert_eq(deck_init(&d, (const double[]){1, INFINITY}, 2, 100), -EINVAL);
    cr_assert_eq(deck_init(&d, (const double[]){1}, 0, 100), -EINVAL);
    cr_assert_eq(deck_init(&d, (const double[]){1}, 1, 0), -EINVAL);
    cr_assert_eq(deck_init_uniform(&d, 0), -EINVAL);
}
