/* test_interval_merge.c - seconds of many load generators add up, and p99 is of all their operations. */
#include "interval_merge.h"

#include "histogram.h"

#include <criterion/criterion.h>

static struct interval_merge *merge;

static void create(void)
{
    merge = interval_merge_create();
    cr_assert_not_null(merge);
}

static void destroy(void)
{
    interval_merge_destroy(merge);
}

static void add(uint32_t t_s, enum op_class c, int64_t response_ns, uint64_t n, uint64_t n_errors)
{
    struct control_interval_cell *cell = interval_merge_cell(t_s, c, merge);

    cell->n_ops += n;
    cell->n_errors += n_errors;
    histogram_record_n(cell->response, response_ns, n);
}

TestSuite(interval_merge, .init = create, .fini = destroy);

Test(interval_merge, percentile_is_of_all_and_no_mean_of_percentiles)
{
    struct interval_figures f;

    /* one load generator: 98 ops of 100 ns; another: 2 of 200 ns. p99 of all is 200; the mean of their p99s would be
     * 150 */
    add(3, OP_CLASS_READ, 100, 98, 0);
    add(3, OP_CLASS_READ, 200, 2, 0);
    interval_merge_figures(merge, 3, &f);
    cr_assert_eq(f.t_s, 3);
    cr_assert_eq(f.by_class[OP_CLASS_READ].p99_ns, 200);
    cr_assert_eq(f.by_class[OP_CLASS_READ].n_ops, 100);
    cr_assert_eq(f.by_class[OP_CLASS_READ].sum_ns, 98 * 100 + 2 * 200);
}

Test(interval_merge, all_is_the_sum_of_the_classes)
{
    struct interval_figures f;

    add(0, OP_CLASS_READ, 100, 10, 1);
    add(0, OP_CLASS_METADATA, 50, 90, 2);
    interval_merge_figures(merge, 0, &f);
    cr_assert_eq(f.all.n_ops, 100);
    cr_assert_eq(f.all.n_errors, 3);
    cr_assert_eq(f.all.sum_ns, 10 * 100 + 90 * 50);
    cr_assert_eq(f.all.p99_ns, 100);
    cr_assert_eq(f.by_class[OP_CLASS_WRITE].n_ops, 0);
    cr_assert_eq(f.by_class[OP_CLASS_WRITE].p99_ns, 0);
}

Test(interval_merge, what_lies_outside_the_window_is_left_out)
{
    cr_assert_null(interval_merge_cell(INTERVAL_MERGE_SECONDS, OP_CLASS_READ, merge));
    cr_assert_null(interval_merge_cell(0, OP_CLASS_COUNT, merge));
    interval_merge_begin(merge, 32);
    cr_assert_null(interval_merge_cell(31, OP_CLASS_READ, merge));
    cr_assert_not_null(interval_merge_cell(32, OP_CLASS_READ, merge));
    cr_assert_not_null(interval_merge_cell(32 + INTERVAL_MERGE_SECONDS - 1, OP_CLASS_READ, merge));
}

Test(interval_merge, a_new_window_is_empty)
{
    struct interval_figures f;

    add(5, OP_CLASS_WRITE, 100, 7, 7);
    interval_merge_begin(merge, 0);
    interval_merge_figures(merge, 5, &f);
    cr_assert_eq(f.all.n_ops, 0);
    cr_assert_eq(f.all.n_errors, 0);
}
