#include "op_mix.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct workload logical(void)
{
    struct workload w = {.counting = COUNTING_LOGICAL, .is_commit_byproduct = true};
    w.mix_percent[NFS_OP_GETATTR] = 26;
    w.mix_percent[NFS_OP_LOOKUP] = 24;
    w.mix_percent[NFS_OP_READ] = 18;
    w.mix_percent[NFS_OP_ACCESS] = 13;
    w.mix_percent[NFS_OP_WRITE] = 10;
    w.mix_percent[NFS_OP_SETATTR] = 4;
    w.mix_percent[NFS_OP_READDIRPLUS] = 2;
    w.mix_percent[NFS_OP_CREATE] = w.mix_percent[NFS_OP_REMOVE] = w.mix_percent[NFS_OP_FSSTAT] = 1;
    return w;
}

/* sfs3's READs and WRITEs: 85 % of 1 RPC, ..., by a cycle. */
static struct workload physical(void)
{
    struct workload w = {.counting = COUNTING_PHYSICAL, .block_size_bytes = 8192};
    w.mix_percent[NFS_OP_GETATTR] = 50;
    w.mix_percent[NFS_OP_READ] = 30;
    w.mix_percent[NFS_OP_WRITE] = 12;
    w.mix_percent[NFS_OP_COMMIT] = 8;
    w.read_requests.n = w.write_requests.n = 2;
    w.read_requests.steps[0].percent = w.write_requests.steps[0].percent = 50;
    w.read_requests.steps[1].percent = w.write_requests.steps[1].percent = 50;
    w.read_requests.steps[0].blocks = w.write_requests.steps[0].blocks = 1;
    w.read_requests.steps[1].blocks = w.write_requests.steps[1].blocks = 3;
    return w;
}

Test(op_mix, every_prefix_is_within_two_ops_of_its_shares)
{
    struct workload w = logical();
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct op_mix mix;
        op_mix_init(&mix, &w, seed);
        double n[NFS_OP_COUNT] = {0};
        for (int k = 1; k <= 2000; k++) {
            struct op_charge charge;
            uint16_t rpcs[NFS_OP_COUNT] = {0};
            enum nfs_op op = op_mix_next(&mix, &charge);
            rpcs[op] = 1;
            op_mix_settle(&mix, &charge, rpcs);
            n[op]++;
            for (int i = 0; i < NFS_OP_COUNT; i++) {
                cr_assert(fabs(n[i] - w.mix_percent[i] / 100 * k) <= 2, "seed %lu, %s: %g of %d", seed,
                          nfs_op_name((enum nfs_op)i), n[i], k);
            }
        }
    }
}

Test(op_mix, order_is_not_a_pattern)
{
    struct workload w = logical();
    struct op_mix a, b;
    op_mix_init(&a, &w, 1);
    op_mix_init(&b, &w, 2);
    int n_same = 0, n_repeats_after[NFS_OP_COUNT] = {0};
    enum nfs_op last = NFS_OP_NULL;
    for (int k = 0; k < 1000; k++) {
        struct op_charge c;
        enum nfs_op x = op_mix_next(&a, &c), y = op_mix_next(&b, &c);
        n_same += x == y;
        n_repeats_after[x] += last == NFS_OP_GETATTR;
        last = x;
    }
    cr_expect(n_same > 50 && n_same < 500, "%d", n_same);
    /* What follows a GETATTR is now this, now that. */
    cr_expect(n_repeats_after[NFS_OP_LOOKUP] > 20 && n_repeats_after[NFS_OP_READ] > 20 &&
              n_repeats_after[NFS_OP_ACCESS] > 20);
}

Test(op_mix, physical_shares_hold_with_requests_of_several_rpcs_and_their_commits)
{
    struct workload w = physical();
    struct op_mix mix;
    op_mix_init(&mix, &w, 3);
    double n[NFS_OP_COUNT] = {0}, total = 0;
    uint64_t n_reads = 0, n_writes = 0;
    for (int k = 0; k < 20000; k++) {
        struct op_charge charge;
        uint16_t rpcs[NFS_OP_COUNT] = {0};
        enum nfs_op op = op_mix_next(&mix, &charge);
        rpcs[op] = op == NFS_OP_READ ? (n_reads++ % 2 ? 1 : 3) : op == NFS_OP_WRITE ? (n_writes++ % 2 ? 1 : 3) : 1;
        rpcs[NFS_OP_COMMIT] += op == NFS_OP_WRITE;
        op_mix_settle(&mix, &charge, rpcs);
        for (int i = 0; i < NFS_OP_COUNT; i++) {
            n[i] += rpcs[i];
            total += rpcs[i];
        }
    }
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        cr_expect(fabs(100 * n[i] / total - w.mix_percent[i]) < 0.05, "%s: %g %%", nfs_op_name((enum nfs_op)i),
                  100 * n[i] / total);
    }
    /* 6 WRITE requests bring 6 of the 8 COMMITs in a hundred ops. */
    cr_expect(fabs((double)n_writes / total * 100 - 6) < 0.1);
}

Test(op_mix, by_products_are_taken_from_the_shares_of_what_they_are)
{
    struct workload w = logical();
    w.counting = COUNTING_PHYSICAL;
    w.is_commit_byproduct = false;
    struct op_mix mix;
    op_mix_init(&mix, &w, 4);
    double n[NFS_OP_COUNT] = {0}, total = 0;
    for (int k = 0; k < 10000; k++) {
        struct op_charge charge;
        uint16_t rpcs[NFS_OP_COUNT] = {0};
        enum nfs_op op = op_mix_next(&mix, &charge);
        rpcs[op] = 1;
        rpcs[NFS_OP_LOOKUP] += op == NFS_OP_CREATE; /* a handle that CREATE left out */
        op_mix_settle(&mix, &charge, rpcs);
        for (int i = 0; i < NFS_OP_COUNT; i++) {
            n[i] += i == NFS_OP_COMMIT ? 0 : rpcs[i];
            total += i == NFS_OP_COMMIT ? 0 : rpcs[i];
        }
    }
    cr_expect(fabs(100 * n[NFS_OP_LOOKUP] / total - 24) < 0.1, "%g", 100 * n[NFS_OP_LOOKUP] / total);
}

Test(op_mix, an_exchange_is_paid_by_the_other_op_s_share_and_refused_beyond_it)
{
    struct workload w = logical();
    struct op_mix mix;
    op_mix_init(&mix, &w, 5);
    double n[NFS_OP_COUNT] = {0};
    int n_refused = 0, n_exchanged = 0;
    for (int k = 1; k <= 5000; k++) {
        struct op_charge charge;
        uint16_t rpcs[NFS_OP_COUNT] = {0};
        enum nfs_op op = op_mix_next(&mix, &charge);
        if (op == NFS_OP_WRITE) { /* every WRITE wants to truncate first: far more than there are SETATTRs */
            if (op_mix_exchange(&mix, &charge, NFS_OP_SETATTR)) {
                op = NFS_OP_SETATTR;
                n_exchanged++;
            } else {
                n_refused++;
            }
        }
        rpcs[op] = 1;
        op_mix_settle(&mix, &charge, rpcs);
        n[op]++;
    }
    cr_expect(n_exchanged > 100 && n_refused > 100);
    cr_expect(fabs(n[NFS_OP_SETATTR] - 200) <= 3, "%g", n[NFS_OP_SETATTR]);
    cr_expect(fabs(n[NFS_OP_WRITE] - 500) <= 3, "%g", n[NFS_OP_WRITE]);
}
