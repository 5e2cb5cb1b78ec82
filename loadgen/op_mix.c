/* op_mix.c - see op_mix.h. */
#include "op_mix.h"

#include <string.h>

/* The request tables count as this many requests seen before the first. */
#define PRIOR_REQUESTS 50.0

/* An exchange may bring an op this far ahead of its share, in ops. */
#define MAX_AHEAD 1.5

static bool is_physical(const struct op_mix *mix)
{
    return mix->workload->counting == COUNTING_PHYSICAL;
}

void op_mix_init(struct op_mix *mix, const struct workload *workload, uint64_t seed)
{
    memset(mix, 0, sizeof *mix);
    mix->workload = workload;
    rng_seed(&mix->rng, seed, 0x6d6978);
    double sum = 0;
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        mix->share[i] = workload->mix_percent[i];
        /* A COMMIT that is no op of its own is never drawn. */
        if (i == NFS_OP_COMMIT && workload->is_commit_byproduct && !is_physical(mix)) {
            mix->share[i] = 0;
        }
        sum += mix->share[i];
    }
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        mix->share[i] = sum > 0 ? mix->share[i] / sum : i == NFS_OP_NULL;
        mix->phase[i] = rng_unit(&mix->rng);
    }
}

static double own_ops(const struct op_mix *mix, int op)
{
    if (!is_physical(mix)) {
        return 1;
    }
    double prior = workload_rpcs_per_request(mix->workload, (enum nfs_op)op);
    return (PRIOR_REQUESTS * prior + mix->n_own_rpcs[op]) / (PRIOR_REQUESTS + mix->n_requests[op]);
}

static void charge_for(const struct op_mix *mix, enum nfs_op op, struct op_charge *charge)
{
    charge->op = (uint8_t)op;
    charge->own = (float)own_ops(mix, op);
    charge->commits = is_physical(mix) && op == NFS_OP_WRITE ? 1 : 0;
}

static void apply(struct op_mix *mix, const struct op_charge *charge, int sign)
{
    mix->pending[charge->op] += sign * (double)charge->own;
    mix->pending[NFS_OP_COMMIT] += sign * (double)charge->commits;
    mix->total += sign * ((double)charge->own + (double)charge->commits);
}

/* Ops that `op` is behind its share. */
static double behind(const struct op_mix *mix, int op)
{
    return mix->share[op] * mix->total - mix->counted[op] - mix->pending[op];
}

enum nfs_op op_mix_next(struct op_mix *mix, struct op_charge *charge)
{
    int best = -1;
    double furthest = 0;
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        if (mix->share[i] <= 0) {
            continue;
        }
        /* The phase keeps the rare ops of many processes from all being late at the start; the draw varies the order.
         */
        double b = behind(mix, i) + mix->phase[i] + rng_unit(&mix->rng) / 2;
        if (best < 0 || b > furthest) {
            best = i;
            furthest = b;
        }
    }
    charge_for(mix, (enum nfs_op)best, charge);
    apply(mix, charge, 1);
    return (enum nfs_op)best;
}

bool op_mix_exchange(struct op_mix *mix, struct op_charge *charge, enum nfs_op other)
{
    if (behind(mix, other) < -MAX_AHEAD) {
        return false;
    }
    apply(mix, charge, -1);
    charge_for(mix, other, charge);
    apply(mix, charge, 1);
    return true;
}

void op_mix_settle(struct op_mix *mix, const struct op_charge *charge, const uint16_t n_rpcs[static NFS_OP_COUNT])
{
    apply(mix, charge, -1);
    mix->n_requests[charge->op]++;
    mix->n_own_rpcs[charge->op] += n_rpcs[charge->op];
    if (!is_physical(mix)) {
        mix->counted[charge->op]++;
        mix->total++;
        return;
    }
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        mix->counted[i] += n_rpcs[i];
        mix->total += n_rpcs[i];
    }
}

double op_mix_ops_per_request(const struct op_mix *mix)
{
    if (!is_physical(mix)) {
        return 1;
    }
    double requests = PRIOR_REQUESTS * 10, ops = requests / workload_requests_per_op(mix->workload);
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        requests += mix->n_requests[i];
        ops += mix->counted[i];
    }
    return ops / requests;
}
