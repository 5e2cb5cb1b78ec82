#include "record_buffer.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static size_t put_fragment(uint8_t *to, size_t bytes, bool is_last, uint8_t fill)
{
    uint32_t mark = (uint32_t)bytes | (is_last ? RPC_LAST_FRAGMENT : 0);
    for (int i = 0; i < 4; i++) {
        to[i] = (uint8_t)(mark >> (24 - 8 * i));
    }
    memset(to + 4, fill, bytes);
    return bytes + 4;
}

/* Reads `n` bytes of `from`, as many at once as fit and at most `step`; counts whole records and adds their bytes. */
static int feed(struct record_buffer *b, const uint8_t *from, size_t n, size_t step, unsigned *n_records, size_t *total)
{
    for (size_t at = 0; at < n;) {
        bool grew = false;
        cr_assert_eq(record_buffer_make_room(b, &grew), 0);
        size_t take = record_buffer_read_size(b);
        take = take < step ? take : step;
        take = take < n - at ? take : n - at;
        memcpy(b->data + b->end, from + at, take);
        record_buffer_add(b, take);
        at += take;
        uint8_t *record;
        size_t bytes, announced;
        int found;
        while ((found = record_buffer_next(b, &record, &bytes, &announced)) == 1) {
            for (size_t i = 1; i < bytes; i++) {
                cr_assert(record[i] == record[0] || record[i] == record[0] + 1, "byte %zu", i);
            }
            ++*n_records;
            *total += bytes;
        }
        if (found < 0) {
            return found;
        }
        record_buffer_settle(b);
    }
    return 0;
}

Test(record_buffer, any_cut_of_the_stream_gives_the_same_records)
{
    uint8_t stream[4096];
    size_t n = put_fragment(stream, 20, true, 1);
    n += put_fragment(stream + n, 7, false, 2); /* one record of 7 + 0 + 900 bytes */
    n += put_fragment(stream + n, 0, false, 2);
    n += put_fragment(stream + n, 900, true, 3);
    n += put_fragment(stream + n, 0, true, 0); /* no record */
    n += put_fragment(stream + n, 500, true, 4);
    for (size_t step = 1; step <= n; step++) {
        struct record_buffer b;
        unsigned n_records = 0;
        size_t total = 0;
        cr_assert_eq(record_buffer_init(&b, 64, 1000), 0);
        cr_assert_eq(feed(&b, stream, n, step, &n_records, &total), 0);
        cr_assert_eq(n_records, 3, "steps of %zu", step);
        cr_assert_eq(total, 20 + 907 + 500);
        cr_assert(record_buffer_is_empty(&b));
        cr_assert_leq(b.capacity, 1004);
        cr_assert(record_buffer_shrink(&b));
        cr_assert_eq(b.capacity, 64);
        record_buffer_fini(&b);
    }
}

Test(record_buffer, mark_beyond_the_limit_is_an_error_before_anything_grows)
{
    for (int split = 0; split <= 1; split++) { /* the limit is the record's, not the fragment's */
        uint8_t stream[64];
        size_t n = split ? put_fragment(stream, 10, false, 1) : 0;
        memcpy(stream + n, "\x80\x00\x03\xe9", 4); /* 1001 */
        stream[n + 3] = (uint8_t)(stream[n + 3] - 10 * split);
        struct record_buffer b;
        unsigned n_records = 0;
        size_t total = 0;
        cr_assert_eq(record_buffer_init(&b, 64, 1000), 0);
        cr_assert_eq(feed(&b, stream, n + 4, 64, &n_records, &total), -EPROTO);
        cr_assert_eq(b.capacity, 64);
        record_buffer_fini(&b);
    }
}

Test(record_buffer, what_is_unfinished_is_not_shrunk_away)
{
    uint8_t stream[300];
    size_t n = put_fragment(stream, 200, true, 5), total = 0;
    unsigned n_records = 0;
    struct record_buffer b;
    cr_assert_eq(record_buffer_init(&b, 64, 1000), 0);
    cr_assert_eq(feed(&b, stream, 100, 100, &n_records, &total), 0);
    cr_assert_not(record_buffer_is_empty(&b));
    cr_assert_not(record_buffer_shrink(&b));
    cr_assert_eq(feed(&b, stream + 100, n - 100, 100, &n_records, &total), 0);
    cr_assert_eq(n_records, 1);
    cr_assert_eq(total, 200);
    record_buffer_fini(&b);
}
