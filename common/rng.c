#include "rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define GOLDEN_GAMMA UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio: the step of splitmix64 */

static uint64_t rotate_left(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* splitmix64's finalizer: a bijection in which every input bit reaches every output bit. */
static uint64_t mix64(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t splitmix64(uint64_t *state)
{
    *state += GOLDEN_GAMMA;
    return mix64(*state);
}

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
    /* (seed, stream) -> (a, b) is a bijection, and all four words depend on both: neighbouring streams of one seed
     * share no word, and xoshiro's first outputs (functions of s[1] alone) differ as well. */
    uint64_t a = mix64(seed + GOLDEN_GAMMA);
    uint64_t b = mix64(stream + a);
    uint64_t c = a ^ rotate_left(b, 32);
    rng->s[0] = splitmix64(&b);
    rng->s[1] = splitmix64(&b);
    rng->s[2] = splitmix64(&c);
    rng->s[3] = splitmix64(&c);
    if ((rng->s[0] | rng->s[1] | rng->s[2] | rng->s[3]) == 0) {
        rng->s[0] = 1; /* the only state that xoshiro can't leave */
    }
}

uint64_t rng_u64(struct rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t n)
{
    assert(n >= 1);
    /* The high word of a 64 x 64 product is uniform once the few low words that would be one too many are refused. */
    unsigned __int128 product = (unsigned __int128)rng_u64(rng) * n;
    if ((uint64_t)product < n) {
        uint64_t refuse_below = (0 - n) % n; /* 2^64 mod n */
        while ((uint64_t)product < refuse_below) {
            product = (unsigned __int128)rng_u64(rng) * n;
        }
    }
    return (uint64_t)(product >> 64);
}

double rng_unit(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

double rng_exponential(struct rng *rng, double mean)
{
    assert(mean > 0);
    return -mean * log1p(-rng_unit(rng)); /* 1 - u is in (0, 1], so never infinite */
}

void rng_shuffle(struct rng *rng, void *base, size_t n, size_t size)
{
    unsigned char *bytes = base;
    unsigned char spare[64];

    assert(size <= sizeof spare);
    for (size_t left = n; left > 1; left--) {
        unsigned char *last = bytes + (left - 1) * size;
        unsigned char *pick = bytes + rng_below(rng, left) * size;
        if (pick == last) {
            continue;
        }
        memcpy(spare, last, size);
        memcpy(last, pick, size);
        memcpy(pick, spare, size);
    }
}
