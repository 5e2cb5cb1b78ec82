/* rng.h - reproducible random numbers.
 *
 * xoshiro256** seeded through splitmix64, so that a campaign's seed gives the same layout, op sequence and data on
 * every machine and in every year. Never used for keys or nonces (those come from libsodium).
 */
#ifndef NFSCURVE_COMMON_RNG_H
#define NFSCURVE_COMMON_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t s[4];
};

/* Two different (seed, stream) pairs give unrelated sequences. */
void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream);

uint64_t rng_u64(struct rng *rng);

/* Uniform in [0, n), n >= 1, without modulo bias. */
uint64_t rng_below(struct rng *rng, uint64_t n);

/* Uniform in [0, 1), 53 bits. */
double rng_unit(struct rng *rng);

/* Exponential with the given mean (> 0), same unit as the mean. */
double rng_exponential(struct rng *rng, double mean);

/* Fisher-Yates over n elements of `size` bytes (size <= 64). */
void rng_shuffle(struct rng *rng, void *base, size_t n, size_t size);

#endif
