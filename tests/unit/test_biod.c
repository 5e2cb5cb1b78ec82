#include "biod.h"

#include <criterion/criterion.h>

Test(biod, cuts_blocks_from_the_offset_on_and_the_fragment_last)
{
    struct biod b;
    struct biod_piece p;
    biod_init(&b, 1000, 20000, 8192, 32);
    const uint64_t offsets[] = {1000, 9192, 17384};
    const uint32_t bytes[] = {8192, 8192, 3616};
    for (int i = 0; i < 3; i++) {
        cr_assert(biod_next(&b, &p));
        cr_expect_eq(p.offset, offsets[i]);
        cr_expect_eq(p.bytes, bytes[i]);
    }
    cr_expect_not(biod_next(&b, &p));
}

Test(biod, never_more_outstanding_than_the_limit_and_0_is_one_at_a_time)
{
    for (uint32_t max = 0; max <= 32; max++) {
        uint32_t limit = max == 0 ? 1 : max, n = 0;
        struct biod b;
        struct biod_piece p, first = {0, 0};
        biod_init(&b, 0, 1 << 20, 8192, max);
        while (biod_next(&b, &p)) {
            first = n == 0 ? p : first;
            n++;
        }
        cr_expect_eq(n, limit);
        biod_done(&b, &first, first.bytes, true);
        cr_expect(biod_next(&b, &p));
        cr_expect_not(biod_next(&b, &p));
    }
}

Test(biod, a_short_transfer_s_tail_goes_out_before_the_next_block)
{
    struct biod b;
    struct biod_piece p, tail;
    biod_init(&b, 0, 30000, 10000, 1);
    cr_assert(biod_next(&b, &p));
    biod_done(&b, &p, 3000, true);
    cr_assert(biod_next(&b, &tail));
    cr_expect_eq(tail.offset, 3000);
    cr_expect_eq(tail.bytes, 7000);
    biod_done(&b, &tail, 7000, true);
    cr_assert(biod_next(&b, &p));
    cr_expect_eq(p.offset, 10000);
}

Test(biod, every_byte_is_transferred_once_whatever_is_short)
{
    /* Each reply brings only part, by index: the pieces that count cover [0, n) exactly. */
    for (uint32_t k = 0; k < 40; k++) {
        static uint8_t seen[100000];
        struct biod b;
        struct biod_piece flying[4];
        uint32_t n_flying = 0, n_replies = 0;
        for (uint32_t i = 0; i < sizeof seen; i++) {
            seen[i] = 0;
        }
        biod_init(&b, 0, sizeof seen, 8192, 4);
        while (!biod_is_complete(&b)) {
            while (n_flying < 4 && biod_next(&b, &flying[n_flying])) {
                n_flying++;
            }
            struct biod_piece p = flying[0];
            for (uint32_t i = 1; i < n_flying; i++) {
                flying[i - 1] = flying[i];
            }
            n_flying--;
            uint32_t got = n_replies % 3 == k % 3 ? p.bytes / (2 + k % 5) : p.bytes;
            n_replies++;
            for (uint32_t i = 0; i < got; i++) {
                seen[p.offset + i]++;
            }
            biod_done(&b, &p, got, true);
            cr_assert_lt(n_replies, 2000u);
        }
        for (uint32_t i = 0; i < sizeof seen; i++) {
            cr_assert_eq(seen[i], 1, "byte %u: %u times", i, seen[i]);
        }
    }
}

Test(biod, giving_up_leaves_only_what_is_outstanding)
{
    struct biod b;
    struct biod_piece p, q;
    biod_init(&b, 0, 100000, 8192, 2);
    cr_assert(biod_next(&b, &p));
    cr_assert(biod_next(&b, &q));
    biod_done(&b, &p, 100, false);
    biod_give_up(&b);
    cr_expect_not(biod_next(&b, &p));
    cr_expect_not(biod_is_complete(&b));
    biod_done(&b, &q, q.bytes, true);
    cr_expect(biod_is_complete(&b));
}
