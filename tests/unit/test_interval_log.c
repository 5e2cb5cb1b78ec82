#include "interval_log.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct interval_log *map_log(void)
{
    void *p =
        mmap(NULL, interval_log_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert_neq(p, MAP_FAILED);
    return p;
}

Test(interval_log, seconds_of_two_processes_merge_to_what_one_would_have_kept)
{
    struct interval_log *logs[2] = {map_log(), map_log()};
    static struct histogram one, merged;
    histogram_init(&one);
    histogram_init(&merged);
    for (int p = 0; p < 2; p++) {
        struct interval_writer *w = interval_writer_create(logs[p]);
        for (int i = 0; i < 1000; i++) {
            int64_t ns = 1000 * (i * 7 % 911) + p;
            interval_writer_good(w, (uint32_t)(i / 100), OP_CLASS_READ, ns);
            if (i / 100 == 4)
                histogram_record(&one, ns);
        }
        interval_writer_flush(w);
        interval_writer_destroy(w);
        cr_expect_eq(interval_log_seconds(logs[p]), 10);
    }
    uint64_t n_ops = 0, n_errors = 0;
    for (int p = 0; p < 2; p++)
        interval_log_read(logs[p], 4, OP_CLASS_READ, &n_ops, &n_errors, &merged);
    cr_expect_eq(n_ops, 200);
    cr_expect_eq(n_errors, 0);
    cr_expect_eq(memcmp(&one, &merged, sizeof one), 0);
}

Test(interval_log, a_second_without_ops_reads_as_nothing)
{
    struct interval_log *log = map_log();
    struct interval_writer *w = interval_writer_create(log);
    interval_writer_good(w, 2, OP_CLASS_WRITE, 5000);
    interval_writer_error(w, 7, OP_CLASS_READ);
    interval_writer_flush(w);
    cr_expect_eq(interval_log_seconds(log), 8);
    for (uint32_t t = 0; t < 9; t++) {
        static struct histogram h;
        histogram_init(&h);
        uint64_t n_ops = 0, n_errors = 0;
        for (int c = 0; c < OP_CLASS_COUNT; c++)
            interval_log_read(log, t, (enum op_class)c, &n_ops, &n_errors, &h);
        cr_expect_eq(n_ops, t == 2 ? 1u : 0u);
        cr_expect_eq(n_errors, t == 7 ? 1u : 0u);
    }
    interval_writer_destroy(w);
}

Test(interval_log, an_op_of_a_second_already_written_counts_in_the_present_one)
{
    struct interval_log *log = map_log();
    struct interval_writer *w = interval_writer_create(log);
    interval_writer_good(w, 0, OP_CLASS_READ, 10);
    interval_writer_good(w, 1, OP_CLASS_READ, 10);
    interval_writer_good(w, 0, OP_CLASS_READ, 10);
    interval_writer_flush(w);
    static struct histogram h;
    histogram_init(&h);
    uint64_t n[2] = {0, 0}, n_errors = 0;
    interval_log_read(log, 0, OP_CLASS_READ, &n[0], &n_errors, &h);
    interval_log_read(log, 1, OP_CLASS_READ, &n[1], &n_errors, &h);
    cr_expect_eq(n[0], 1);
    cr_expect_eq(n[1], 2);
    interval_writer_destroy(w);
}

Test(interval_log, reset_forgets_the_last_run)
{
    struct interval_log *log = map_log();
    struct interval_writer *w = interval_writer_create(log);
    interval_writer_good(w, 3, OP_CLASS_READ, 10);
    interval_writer_flush(w);
    interval_writer_reset(w);
    cr_expect_eq(interval_log_seconds(log), 0);
    interval_writer_good(w, 0, OP_CLASS_READ, 10);
    interval_writer_flush(w);
    cr_expect_eq(interval_log_seconds(log), 1);
    interval_writer_destroy(w);
}
