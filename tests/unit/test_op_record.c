#include "op_record.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>

#define S NS_PER_S

static struct op_record record;
static struct process_shared *shared;
static struct interval_log *intervals;

/* A run from second 10 to second 20. */
static void set_up(void)
{
    static struct workload physical = {.counting = COUNTING_PHYSICAL};
    shared = calloc(1, sizeof *shared);
    intervals =
        mmap(NULL, interval_log_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    op_record_begin(&record, shared, interval_writer_create(intervals), &physical, (mono_t){10 * S}, (mono_t){20 * S});
}

static void tear_down(void)
{
    interval_writer_destroy(record.intervals);
    munmap(intervals, interval_log_bytes());
    free(shared);
}

TestSuite(op_record, .init = set_up, .fini = tear_down);

static uint64_t count_after(enum op_outcome outcome, int64_t sent_ns, int64_t done_ns)
{
    uint64_t before = shared->tally.ops[NFS_OP_READ].n_outcome[outcome];
    struct rpc_event e = {.op = NFS_OP_READ,
                          .outcome = outcome,
                          .due = {sent_ns},
                          .started = {sent_ns},
                          .sent = {sent_ns},
                          .done = {done_ns}};
    op_record_rpc(&record, &e);
    return shared->tally.ops[NFS_OP_READ].n_outcome[outcome] - before;
}

Test(op_record, an_answered_rpc_belongs_to_the_run_its_reply_was_read_in)
{
    const enum op_outcome answered[] = {OP_OK, OP_NFS_ERROR, OP_WRONG};
    for (size_t i = 0; i < sizeof answered / sizeof answered[0]; i++) {
        cr_expect_eq(count_after(answered[i], 9 * S, 10 * S - 1), 0);
        cr_expect_eq(count_after(answered[i], 9 * S, 10 * S), 1);
        cr_expect_eq(count_after(answered[i], 19 * S, 20 * S - 1), 1);
        cr_expect_eq(count_after(answered[i], 19 * S, 20 * S), 0);
    }
}

Test(op_record, an_rpc_without_a_right_reply_belongs_to_the_run_it_was_sent_in)
{
    const enum op_outcome failed[] = {OP_TIMEOUT, OP_RPC_ERROR, OP_MALFORMED};
    for (size_t i = 0; i < sizeof failed / sizeof failed[0]; i++) {
        cr_expect_eq(count_after(failed[i], 10 * S - 1, 15 * S), 0);
        cr_expect_eq(count_after(failed[i], 10 * S, 15 * S), 1);
        cr_expect_eq(count_after(failed[i], 20 * S - 1, 50 * S), 1);
        cr_expect_eq(count_after(failed[i], 20 * S, 50 * S), 0);
    }
}

Test(op_record, a_failure_known_after_the_run_is_in_the_second_it_was_sent)
{
    count_after(OP_TIMEOUT, 19 * S, 60 * S);
    interval_writer_flush(record.intervals);
    static struct histogram h;
    histogram_init(&h);
    uint64_t n_ops = 0, n_errors = 0;
    cr_expect_eq(interval_log_seconds(intervals), 10);
    interval_log_read(intervals, 9, OP_CLASS_READ, &n_ops, &n_errors, &h);
    cr_expect_eq(n_errors, 1);
}

Test(op_record, a_good_rpc_leaves_both_response_times)
{
    struct rpc_event e = {.op = NFS_OP_READ,
                          .due = {11 * S},
                          .started = {11 * S + 300},
                          .sent = {11 * S + 1000},
                          .done = {11 * S + 5000}};
    op_record_rpc(&record, &e);
    const struct op_tally *t = &shared->tally.ops[NFS_OP_READ];
    cr_expect_eq(t->from_due.max_ns, 5000);
    cr_expect_eq(t->from_sent.max_ns, 4000);
    cr_expect_eq(t->rpc.max_ns, 4000);
    cr_expect_eq(shared->tally.generator.send_wait.max_ns, 700);
    cr_expect_eq(atomic_load(&shared->live_ops), 1);
}
