/* test_control_answer.c - what a load generator answers is added exactly, and what can't be is refused. */
#include "control_answer.h"

#include "tally.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct tally *tally;
static struct control_answer answer;
static void *scratch;
static lg_answer from;

static void create(void)
{
    tally = malloc(sizeof *tally);
    tally_init(tally);
}

static void destroy(void)
{
    free(scratch);
    free(tally);
}

static int take(lg_part part)
{
    const struct control_sink sink = {.tally = tally};

    from.step = LG_COLLECT;
    from.lg_answer_u.collected.part = part;
    return control_answer_take(&from, &sink, &answer, &scratch);
}

static struct control_interval_cell cell;
static struct histogram cell_histogram;

static struct control_interval_cell *give_cell(uint32_t t_s, enum op_class c, void *arg)
{
    cr_assert_eq(c, OP_CLASS_WRITE);
    return t_s == *(uint32_t *)arg ? &cell : NULL;
}

TestSuite(control_answer, .init = create, .fini = destroy);

Test(control_answer, ops_add_up_without_loss)
{
    lg_bucket buckets[] = {{0, 3}, {HISTOGRAM_BUCKETS - 1, UINT64_C(1) << 40}};
    u_quad_t outcomes[] = {7, 1};
    lg_op op = {.op = NFS_OP_READ, .n_logical = 7, .n_physical = 9};

    op.from_sent = (lg_histogram){
        .count = 3, .min_ns = 5, .max_ns = 50, .sum_high = 1, .sum_low = UINT64_MAX, .buckets = {2, buckets}};
    op.from_due.min_ns = op.rpc.min_ns = INT64_MAX;
    op.n_outcome.n_outcome_len = 2;
    op.n_outcome.n_outcome_val = outcomes;
    from.lg_answer_u.collected.lg_collected_u.ops = (lg_ops){.next = 7, .ops = {1, &op}};
    cr_assert_eq(take(LG_PART_OPS), 0);
    cr_assert_eq(take(LG_PART_OPS), 0);
    cr_assert_eq(answer.next, 7);
    const struct op_tally *t = &tally->ops[NFS_OP_READ];
    cr_assert_eq(t->n_logical, 14);
    cr_assert_eq(t->n_physical, 18);
    cr_assert_eq(t->n_outcome[OP_OK], 14);
    cr_assert_eq(t->n_outcome[OP_NFS_ERROR], 2);
    cr_assert_eq(t->from_sent.count, 6);
    cr_assert_eq(t->from_sent.min_ns, 5);
    cr_assert_eq(t->from_sent.max_ns, 50);
    cr_assert_eq(t->from_sent.buckets[HISTOGRAM_BUCKETS - 1], UINT64_C(2) << 40);
    /* 2 * (2^64 + 2^64 - 1) = 3 * 2^64 + (2^64 - 2) */
    cr_assert_eq((uint64_t)(t->from_sent.sum_ns >> 64), 3);
    cr_assert_eq((uint64_t)t->from_sent.sum_ns, UINT64_MAX - 1);
    cr_assert_eq(t->rpc.min_ns, INT64_MAX);
}

Test(control_answer, bucket_beyond_the_histogram_is_refused)
{
    lg_bucket bucket = {HISTOGRAM_BUCKETS, 1};
    lg_op op = {.op = NFS_OP_READ};

    op.rpc.buckets.buckets_len = 1;
    op.rpc.buckets.buckets_val = &bucket;
    from.lg_answer_u.collected.lg_collected_u.ops = (lg_ops){.ops = {1, &op}};
    cr_assert_eq(take(LG_PART_OPS), -EPROTO);
}

Test(control_answer, unknown_op_is_refused)
{
    lg_op op = {.op = NFS_OP_COUNT};

    from.lg_answer_u.collected.lg_collected_u.ops = (lg_ops){.ops = {1, &op}};
    cr_assert_eq(take(LG_PART_OPS), -EPROTO);
}

Test(control_answer, unknown_state_is_refused)
{
    lg_process_status p = {.state = CONTROL_PROCESS_FAILED + 1};

    from.step = LG_STATUS;
    from.lg_answer_u.status = (lg_status){.processes = {1, &p}};
    cr_assert_eq(control_answer_take(&from, &(struct control_sink){0}, &answer, &scratch), -EPROTO);
}

Test(control_answer, longer_lists_than_ours_are_cut)
{
    u_quad_t many[LG_MAX_STATUS];
    lg_op op = {.op = NFS_OP_READ, .n_outcome = {OP_OUTCOME_COUNT + 1, many}};

    memset(many, 0, sizeof many);
    many[OP_OUTCOME_COUNT] = 99;
    from.lg_answer_u.collected.lg_collected_u.ops = (lg_ops){.ops = {1, &op}};
    cr_assert_eq(take(LG_PART_OPS), 0);
    for (int i = 0; i < OP_OUTCOME_COUNT; i++) {
        cr_assert_eq(tally->ops[NFS_OP_READ].n_outcome[i], 0);
    }
}

Test(control_answer, seconds_go_where_they_are_wanted)
{
    lg_interval_class write = {.op_class = OP_CLASS_WRITE, .n_ops = 4, .n_errors = 1};
    lg_interval seconds[] = {{5, {1, &write}}, {6, {1, &write}}};
    uint32_t wanted = 6;
    const struct control_sink sink = {.cell = give_cell, .cell_arg = &wanted};

    histogram_init(&cell_histogram);
    cell.response = &cell_histogram;
    write.response.min_ns = INT64_MAX;
    from.step = LG_COLLECT;
    from.lg_answer_u.collected.part = LG_PART_INTERVALS;
    from.lg_answer_u.collected.lg_collected_u.intervals =
        (lg_intervals){.next = 7, .n_seconds = 9, .seconds = {2, seconds}};
    cr_assert_eq(control_answer_take(&from, &sink, &answer, &scratch), 0);
    cr_assert_eq(cell.n_ops, 4);
    cr_assert_eq(cell.n_errors, 1);
    cr_assert_eq(answer.n_seconds, 9);
    write.op_class = OP_CLASS_COUNT;
    cr_assert_eq(control_answer_take(&from, &sink, &answer, &scratch), -EPROTO);
}

Test(control_answer, answer_that_was_not_asked_for_is_refused)
{
    from.step = LG_COLLECT;
    from.lg_answer_u.collected.part = LG_PART_INTERVALS;
    cr_assert_eq(control_answer_take(&from, &(struct control_sink){0}, &answer, &scratch), -EPROTO);
    from.lg_answer_u.collected.part = LG_PART_OPS;
    cr_assert_eq(control_answer_take(&from, &(struct control_sink){0}, &answer, &scratch), -EPROTO);
}
