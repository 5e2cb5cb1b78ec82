#include "data_pattern.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct data_pattern make(double compress, double dedupe, bool verify)
{
    struct workload w = {.compress_percent = compress, .dedupe_percent = dedupe, .verify_data = verify};
    struct data_pattern p;
    cr_assert_eq(data_pattern_init(&p, &w, 1), 0);
    return p;
}

/* Entropy of the single bytes, in bits of 8: what an ideal entropy coder would leave. */
static double entropy_share(const uint8_t *data, size_t n)
{
    double counts[256] = {0}, bits = 0;
    for (size_t i = 0; i < n; i++) {
        counts[data[i]]++;
    }
    for (int b = 0; b < 256; b++) {
        bits -= counts[b] > 0 ? counts[b] / (double)n * log2(counts[b] / (double)n) : 0;
    }
    return bits / 8;
}

static double zero_share(const uint8_t *data, size_t n)
{
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++) {
        zeros += data[i] == 0;
    }
    return (double)zeros / (double)n;
}

Test(data_pattern, is_neither_compressible_nor_dedupable_by_default)
{
    enum { N = 1 << 20 };
    struct data_pattern p = make(0, 0, false);
    uint8_t *a = malloc(N), *b = malloc(N);
    data_pattern_fill(&p, a, N, 1, 0, 0);
    data_pattern_fill(&p, b, N, 1, 0, 0);
    cr_expect_gt(entropy_share(a, N), 0.999);
    for (size_t i = 0; i < N; i += 4096) {
        for (size_t k = 0; k < N; k += 4096) {
            cr_assert(memcmp(a + i, b + k, 4096) != 0);
            cr_assert(i == k || memcmp(a + i, a + k, 4096) != 0);
        }
    }
    free(a);
    free(b);
    data_pattern_fini(&p);
}

Test(data_pattern, compresses_and_dedupes_as_much_as_asked)
{
    enum { N = 1 << 20 };
    uint8_t *a = malloc(N);
    struct data_pattern p = make(40, 0, false);
    data_pattern_fill(&p, a, N, 1, 0, 0);
    cr_expect(fabs(zero_share(a, N) - (0.4 + 0.6 / 256)) < 0.005, "%g", zero_share(a, N));
    data_pattern_fini(&p);

    p = make(0, 50, false);
    data_pattern_fill(&p, a, N, 1, 0, 0);
    int n_twins = 0;
    for (size_t i = 0; i < N; i += 4096) {
        for (size_t k = 0; k < N; k += 4096) {
            if (i != k && memcmp(a + i, a + k, 4096) == 0) {
                n_twins++;
                break;
            }
        }
    }
    cr_expect(n_twins > 256 * 0.35 && n_twins < 256 * 0.65, "%d of 256", n_twins);
    free(a);
    data_pattern_fini(&p);
}

Test(data_pattern, every_wrong_bit_place_file_and_generation_is_seen)
{
    enum { N = 8192 };
    struct data_pattern p = make(0, 0, true);
    uint8_t data[N];
    char what[160];
    data_pattern_fill(&p, data, N, 7, 4096, 5);
    cr_expect(data_pattern_check(&p, data, N, 7, 4096, 5, what, sizeof what));
    for (size_t bit = 0; bit < N * 8; bit += 251) {
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_not(data_pattern_check(&p, data, N, 7, 4096, 5, what, sizeof what), "bit %zu", bit);
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    cr_expect_not(data_pattern_check(&p, data, N, 8, 4096, 5, what, sizeof what));
    cr_expect_not(data_pattern_check(&p, data, N, 7, 5120, 5, what, sizeof what));
    cr_expect_not(data_pattern_check(&p, data, N, 7, 4096, 4, what, sizeof what));
    cr_expect(data_pattern_check(&p, data, N, 7, 4096, 9, what, sizeof what));
    data_pattern_fini(&p);
}

Test(data_pattern, pieces_written_apart_are_what_one_write_would_be)
{
    struct data_pattern p = make(25, 0, true);
    uint8_t whole[10000], pieces[10000];
    char what[160];
    data_pattern_fill(&p, whole, sizeof whole, 3, 512, 1);
    for (size_t at = 0; at < sizeof pieces; at += 1000) {
        data_pattern_fill(&p, pieces + at, 1000, 3, 512 + at, 1);
    }
    cr_expect_eq(memcmp(whole, pieces, sizeof whole), 0);
    cr_expect(data_pattern_check(&p, whole, sizeof whole, 3, 512, 1, what, sizeof what));
    data_pattern_fini(&p);
}
