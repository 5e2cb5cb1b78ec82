#include "rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(rng, gives_the_published_sequence_of_xoshiro256starstar)
{
    /* From state (1, 2, 3, 4): the first output is rotl(2 * 5, 7) * 9 = 1280 * 9; then s[1] is 1 ^ 3 ^ 2 = 0. */
    struct rng rng = {{1, 2, 3, 4}};
    cr_assert_eq(rng_u64(&rng), UINT64_C(11520));
    cr_assert_eq(rng_u64(&rng), UINT64_C(0));
    cr_assert_eq(rng_u64(&rng), UINT64_C(1509978240));
    cr_assert_eq(rng_u64(&rng), UINT64_C(1215971899390074240));
}

Test(rng, same_seed_gives_same_sequence_and_another_stream_another)
{
    struct rng a, b, c;
    rng_seed(&a, 42, 7);
    rng_seed(&b, 42, 7);
    rng_seed(&c, 42, 8);
    unsigned n_equal = 0;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t x = rng_u64(&a);
        cr_assert_eq(x, rng_u64(&b));
        n_equal += x == rng_u64(&c);
    }
    cr_assert_eq(n_equal, 0);
}

Test(rng, neighbouring_streams_are_not_correlated)
{
    /* Correlation of 10,000 pairs of uniforms: standard error 0.01, so 0.04 is four of them. */
    for (uint64_t stream = 0; stream < 20; stream++) {
        struct rng a, b;
        rng_seed(&a, 1, stream);
        rng_seed(&b, 1, stream + 1);
        double sum = 0;
        for (unsigned i = 0; i < 10000; i++) {
            sum += (rng_unit(&a) - 0.5) * (rng_unit(&b) - 0.5) * 12;
        }
        cr_assert_lt(fabs(sum / 10000), 0.04);
    }
}

Test(rng, first_outputs_of_many_streams_are_spread)
{
    unsigned n_in_bin[16] = {0};
    for (uint64_t stream = 0; stream < 16000; stream++) {
        struct rng rng;
        rng_seed(&rng, 0, stream);
        n_in_bin[rng_u64(&rng) >> 60]++;
    }
    for (unsigned i = 0; i < 16; i++) { /* mean 1000, standard deviation 31 */
        cr_assert(n_in_bin[i] > 850 && n_in_bin[i] < 1150, "bin %u holds %u of 1000", i, n_in_bin[i]);
    }
}

Test(rng, below_stays_below_and_reaches_every_value)
{
    struct rng rng;
    rng_seed(&rng, 3, 0);
    unsigned n_of[7] = {0};
    for (unsigned i = 0; i < 70000; i++) {
        uint64_t x = rng_below(&rng, 7);
        cr_assert_lt(x, 7);
        n_of[x]++;
    }
    for (unsigned i = 0; i < 7; i++) { /* mean 10,000, standard deviation 93 */
        cr_assert(n_of[i] > 9600 && n_of[i] < 10400, "value %u came %u times", i, n_of[i]);
    }
}

Test(rng, below_one_is_zero)
{
    struct rng rng;
    rng_seed(&rng, 3, 0);
    for (unsigned i = 0; i < 100; i++) {
        cr_assert_eq(rng_below(&rng, 1), 0);
    }
}

Test(rng, below_has_no_modulo_bias)
{
    /* n = 3/4 of 2^64: by modulo, values below 2^62 would be twice as likely; they are a third of the range. */
    struct rng rng;
    rng_seed(&rng, 5, 0);
    unsigned n_low = 0;
    for (unsigned i = 0; i < 30000; i++) {
        n_low += rng_below(&rng, UINT64_C(3) << 62) < UINT64_C(1) << 62;
    }
    cr_assert(n_low > 9650 && n_low < 10350, "%u of 30000, about 10000 expected", n_low);
}

Test(rng, unit_is_in_zero_to_one_without_one)
{
    struct rng rng;
    rng_seed(&rng, 9, 0);
    double sum = 0;
    for (unsigned i = 0; i < 100000; i++) {
        double u = rng_unit(&rng);
        cr_assert(u >= 0 && u < 1);
        sum += u;
    }
    cr_assert_float_eq(sum / 100000, 0.5, 0.005); /* standard error 0.0009 */
}

Test(rng, exponential_has_its_mean_and_its_median)
{
    struct rng rng;
    rng_seed(&rng, 11, 0);
    double sum = 0;
    unsigned n_below_median = 0;
    for (unsigned i = 0; i < 100000; i++) {
        double x = rng_exponential(&rng, 250);
        cr_assert(isfinite(x) && x >= 0);
        sum += x;
        n_below_median += x < 250 * M_LN2;
    }
    cr_assert_float_eq(sum / 100000, 250, 4); /* standard error 0.8 */
    cr_assert(n_below_median > 49200 && n_below_median < 50800);
}

Test(rng, shuffle_keeps_every_element_and_moves_them_evenly)
{
    struct rng rng;
    rng_seed(&rng, 13, 0);
    unsigned n_first[5] = {0};
    for (unsigned round = 0; round < 50000; round++) {
        unsigned char deck[5][9]; /* an odd element size */
        for (unsigned i = 0; i < 5; i++) {
            memset(deck[i], (int)i, sizeof deck[i]);
        }
        rng_shuffle(&rng, deck, 5, sizeof deck[0]);
        unsigned seen = 0;
        for (unsigned i = 0; i < 5; i++) {
            cr_assert(deck[i][0] < 5 && deck[i][0] == deck[i][8]);
            seen |= 1u << deck[i][0];
        }
        cr_assert_eq(seen, 31u);
        n_first[deck[0][0]]++;
    }
    for (unsigned i = 0; i < 5; i++) { /* mean 10,000, standard deviation 89 */
        cr_assert(n_first[i] > 9600 && n_first[i] < 10400);
    }
}

Test(rng, shuffle_of_nothing_and_of_one_is_harmless)
{
    struct rng rng;
    rng_seed(&rng, 13, 0);
    int one = 1;
    rng_shuffle(&rng, &one, 0, sizeof one);
    rng_shuffle(&rng, &one, 1, sizeof one);
    cr_assert_eq(one, 1);
}
