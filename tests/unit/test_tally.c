#include "rng.h"
#include "tally.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct tally *new_tally(void)
{
    struct tally *t = malloc(sizeof *t);
    cr_assert_not_null(t);
    tally_init(t);
    return t;
}

static void record_something(struct tally *t, struct rng *rng, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct op_tally *op = &t->ops[rng_below(rng, NFS_OP_COUNT)];
        int64_t ns = (int64_t)rng_exponential(rng, 2e6);
        histogram_record(&op->from_due, ns + 500);
        histogram_record(&op->from_sent, ns);
        histogram_record(&op->rpc, ns / 2);
        op->n_logical++;
        op->n_physical += 2;
        op->n_outcome[rng_below(rng, OP_OUTCOME_COUNT)]++;
        op->n_status[rng_below(rng, NFS_STATUS_COUNT)]++;
        histogram_record(&t->generator.lateness, ns / 100);
        histogram_record(&t->generator.send_wait, ns / 1000);
        t->generator.n_due++;
        t->generator.n_waited_for_slot += i & 1;
        t->generator.n_waited_for_us += i & 2;
        t->generator.loop_busy_ns += 10;
        t->generator.loop_cpu_ns += 9;
        t->n_anomaly[rng_below(rng, ANOMALY_COUNT)]++;
        t->read_bytes += 8192;
        t->write_bytes += 4096;
    }
}

Test(tally, any_order_of_merging_gives_the_same_bits)
{
    struct tally *a = new_tally(), *b = new_tally(), *c = new_tally(), *left = new_tally(), *right = new_tally();
    struct rng rng;
    rng_seed(&rng, 5, 0);
    record_something(a, &rng, 500);
    record_something(b, &rng, 700);
    record_something(c, &rng, 1);

    tally_merge(left, a);
    tally_merge(left, b);
    tally_merge(left, c);
    tally_merge(c, b);
    tally_merge(right, c);
    tally_merge(right, a);
    cr_assert_eq(memcmp(left, right, sizeof *left), 0);
    cr_assert_eq(tally_good_ops(left, 0), 1201);
    cr_assert_eq(tally_good_ops(left, 1), 2402);
    cr_assert_eq(left->generator.n_due, 1201);
    cr_assert_eq(left->read_bytes, 1201 * 8192);
    free(a);
    free(b);
    free(c);
    free(left);
    free(right);
}

Test(tally, run_length_of_a_merge_is_the_longest)
{
    struct tally *a = new_tally(), *b = new_tally();
    a->generator.run_ns = 300;
    b->generator.run_ns = 301;
    tally_merge(a, b);
    cr_assert_eq(a->generator.run_ns, 301);
    b->generator.run_ns = 5;
    tally_merge(a, b);
    cr_assert_eq(a->generator.run_ns, 301);
    free(a);
    free(b);
}

Test(tally, failed_rpcs_are_all_that_are_not_ok)
{
    struct tally *t = new_tally();
    t->ops[NFS_OP_READ].n_outcome[OP_OK] = 1000;
    t->ops[NFS_OP_READ].n_outcome[OP_TIMEOUT] = 1;
    t->ops[NFS_OP_READ].n_outcome[OP_WRONG] = 2;
    t->ops[NFS_OP_CREATE].n_outcome[OP_NFS_ERROR] = 4;
    t->ops[NFS_OP_CREATE].n_outcome[OP_RPC_ERROR] = 8;
    t->ops[NFS_OP_LOOKUP].n_outcome[OP_MALFORMED] = 16;
    cr_assert_eq(tally_failed_rpcs(t), 31);
    free(t);
}

Test(tally, merge_reports_samples_beyond_every_histogram)
{
    struct tally *a = new_tally(), *b = new_tally();
    histogram_record(&b->ops[NFS_OP_READ].from_due, HISTOGRAM_MAX_NS + 1);
    histogram_record(&b->ops[NFS_OP_READ].rpc, HISTOGRAM_MAX_NS + 1);
    histogram_record(&b->generator.lateness, HISTOGRAM_MAX_NS + 1);
    cr_assert_eq(tally_merge(a, b), 3);
    free(a);
    free(b);
}

Test(tally, every_outcome_and_anomaly_has_a_name_of_its_own)
{
    for (unsigned i = 0; i < OP_OUTCOME_COUNT; i++) {
        for (unsigned j = 0; j < i; j++) {
            cr_assert_str_neq(op_outcome_name((enum op_outcome)i), op_outcome_name((enum op_outcome)j));
        }
    }
    for (unsigned i = 0; i < ANOMALY_COUNT; i++) {
        for (unsigned j = 0; j < i; j++) {
            cr_assert_str_neq(anomaly_name((enum anomaly)i), anomaly_name((enum anomaly)j));
        }
    }
}
