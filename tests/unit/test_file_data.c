#include "file_data.h"
#include "rng.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void fill(uint8_t *bytes, size_t n, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed, 0);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)rng_u64(&rng);
    }
}

static void put(struct file_data *data, uint64_t offset, const void *bytes, size_t n)
{
    int64_t delta;
    cr_assert_eq(file_data_write(data, offset, bytes, n, &delta), 0);
}

static void release(struct rpc_segment *segments, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (segments[i].release) {
            segments[i].release(segments[i].arg);
        }
    }
}

static void get(const struct file_data *data, uint64_t offset, uint8_t *out, size_t n)
{
    struct rpc_segment segments[64];
    unsigned n_segments = file_data_read(data, offset, n, segments);
    size_t at = 0;
    for (unsigned i = 0; i < n_segments; i++) {
        memcpy(out + at, segments[i].data, segments[i].bytes);
        at += segments[i].bytes;
    }
    cr_assert_eq(at, n);
    release(segments, n_segments);
}

Test(file_data, reads_back_what_was_written_anywhere)
{
    enum { SIZE = 1000000 };
    uint8_t *model = calloc(SIZE, 1), *part = malloc(SIZE), *got = malloc(SIZE);
    struct file_data *data = file_data_create();
    struct rng rng;
    rng_seed(&rng, 1, 2);
    for (int i = 0; i < 200; i++) {
        size_t n = 1 + rng_below(&rng, i % 2 ? 3000 : 200000);
        uint64_t offset = rng_below(&rng, SIZE - n);
        fill(part, n, (uint64_t)i);
        memcpy(model + offset, part, n);
        put(data, offset, part, n);
    }
    get(data, 0, got, SIZE);
    cr_assert_eq(memcmp(got, model, SIZE), 0);
    free(model);
    free(part);
    free(got);
    file_data_destroy(data);
}

Test(file_data, hole_reads_as_zeros_and_costs_nothing)
{
    struct file_data *data = file_data_create();
    uint8_t got[64], zeros[64] = {0};
    put(data, UINT64_C(5) << 30, "end", 3);
    cr_assert_leq(file_data_bytes(data), 512);
    get(data, 12345, got, sizeof got);
    cr_assert_eq(memcmp(got, zeros, sizeof got), 0);
    get(data, UINT64_C(5) << 30, got, 3);
    cr_assert_eq(memcmp(got, "end", 3), 0);
    put(data, 0, "begin", 5);
    get(data, 0, got, 5);
    cr_assert_eq(memcmp(got, "begin", 5), 0);
    file_data_destroy(data);
}

Test(file_data, write_beyond_4_exbibytes_is_found_again)
{
    struct file_data *data = file_data_create();
    uint8_t got[4];
    put(data, (UINT64_C(1) << 62) - 4, "last", 4);
    get(data, (UINT64_C(1) << 62) - 4, got, 4);
    cr_assert_eq(memcmp(got, "last", 4), 0);
    file_data_destroy(data);
}

Test(file_data, small_file_takes_a_small_block)
{
    struct file_data *data = file_data_create();
    uint8_t bytes[3000] = {0};
    put(data, 0, bytes, 1000);
    cr_assert_eq(file_data_bytes(data), 1024);
    put(data, 1000, bytes, 2000);
    cr_assert_eq(file_data_bytes(data), 4096);
    file_data_destroy(data);
}

Test(file_data, what_was_read_does_not_change_on_its_way_out)
{
    struct file_data *data = file_data_create();
    struct rpc_segment segments[4];
    uint8_t got[4];
    put(data, 0, "old!", 4);
    unsigned n = file_data_read(data, 0, 4, segments);
    cr_assert_eq(n, 1);
    put(data, 0, "new!", 4);
    cr_assert_eq(memcmp(segments[0].data, "old!", 4), 0);
    get(data, 0, got, 4);
    cr_assert_eq(memcmp(got, "new!", 4), 0);
    file_data_truncate(data, 0);
    cr_assert_eq(memcmp(segments[0].data, "old!", 4), 0);
    release(segments, n);
    file_data_destroy(data);
}

Test(file_data, cut_off_bytes_are_zeros_when_the_file_grows_again)
{
    struct file_data *data = file_data_create();
    uint8_t bytes[70000], got[70000];
    memset(bytes, 'x', sizeof bytes);
    put(data, 0, bytes, sizeof bytes);
    file_data_truncate(data, 10);
    cr_assert_leq(file_data_bytes(data), 65536);
    get(data, 0, got, sizeof got);
    for (size_t i = 0; i < sizeof got; i++) {
        cr_assert_eq(got[i], i < 10 ? 'x' : 0, "byte %zu", i);
    }
    file_data_truncate(data, 0);
    cr_assert_eq(file_data_bytes(data), 0);
    file_data_destroy(data);
}

Test(file_data, truncate_in_a_deep_tree_keeps_what_is_before)
{
    struct file_data *data = file_data_create();
    uint8_t got[3];
    put(data, UINT64_C(1) << 40, "far", 3);
    put(data, 100, "abc", 3);
    file_data_truncate(data, 1000);
    cr_assert_eq(file_data_bytes(data), 512);
    get(data, 100, got, 3);
    cr_assert_eq(memcmp(got, "abc", 3), 0);
    get(data, UINT64_C(1) << 40, got, 3);
    cr_assert_eq(got[0], 0);
    file_data_destroy(data);
}

Test(file_data, only_uncommitted_bytes_are_lost)
{
    struct file_data *data = file_data_create();
    uint8_t got[30];
    put(data, 0, "aaaaaaaaaabbbbbbbbbbcccccccccc", 30);
    file_data_note_unstable(data, 0, 10);
    file_data_note_unstable(data, 20, 10);
    file_data_commit(data, 0, 10);
    cr_assert_eq(file_data_lose_unstable(data), 10);
    get(data, 0, got, 30);
    cr_assert_eq(memcmp(got, "aaaaaaaaaabbbbbbbbbb\0\0\0\0\0\0\0\0\0\0", 30), 0);
    cr_assert_eq(file_data_lose_unstable(data), 0);
    file_data_destroy(data);
}

Test(file_data, commit_of_everything_and_of_parts)
{
    struct file_data *data = file_data_create();
    put(data, 0, "aaaaaaaaaa", 10);
    file_data_note_unstable(data, 0, 10);
    file_data_commit(data, 0, 4);
    file_data_commit(data, 8, 100);
    cr_assert_eq(file_data_lose_unstable(data), 4);
    file_data_note_unstable(data, 0, 10);
    file_data_commit(data, 0, 0);
    cr_assert_eq(file_data_lose_unstable(data), 0);
    file_data_destroy(data);
}
