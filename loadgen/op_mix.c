/* op_mix.c - see op_mix.h. */
#include "op_mix.h"

#include "deck.h"

#include <math.h>
#include <string.h>

/* Ops a deck is made for. Large enough that a share of 1 % is two cards, small enough that a 10 s window holds several
 * decks. */
#define DECK_OPS 200.0

/* The request tables count as this many requests seen before the first. */
#define PRIOR_REQUESTS 50.0

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
    for (int i = 0; i < NFS_OP_COUNT; i++)
        sum += workload->mix_percent[i];
    for (int i = 0; i < NFS_OP_COUNT; i++)
        mix->share[i] = sum > 0 ? workload->mix_percent[i] / sum : 0;
    if (sum <= 0)
        mix->share[NFS_OP_NULL] = 1;
    /* A COMMIT that is no logical op of its own is never drawn. */
    if (workload->is_commit_byproduct && workload->counting == COUNTING_LOGICAL)
        mix->share[NFS_OP_COMMIT] = 0;
}

static double own_ops(const struct op_mix *mix, int op)
{
    if (!is_physical(mix))
        return 1;
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
}

/* Requests of each op that bring the whole of what was asked to its share by the end of this deck. */
static uint32_t deal(struct op_mix *mix, double deck_ops)
{
    double total = deck_ops;
    for (int i = 0; i < NFS_OP_COUNT; i++)
        total += mix->counted[i] + mix->pending[i];
    double lacking[NFS_OP_COUNT];
    for (int i = 0; i < NFS_OP_COUNT; i++)
        lacking[i] = mix->share[i] * total - mix->counted[i] - mix->pending[i];

    uint32_t n = 0, n_writes = 0;
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        double ops = lacking[i];
        if (i == NFS_OP_COMMIT && is_physical(mix))
            ops -= n_writes; /* WRITE has a lower number: its cards are dealt */
        double requests = mix->share[i] > 0 ? floor(ops / own_ops(mix, i) + 0.5) : 0;
        for (double k = 0; k < requests && n < OP_MIX_MAX_CARDS - 2; k++)
            mix->cards[n++] = (uint8_t)i;
        if (i == NFS_OP_WRITE)
            n_writes = requests > 0 ? (uint32_t)requests : 0;
    }
    return n;
}

static void refill(struct op_mix *mix)
{
    /* By-products may have run ahead of everything; a larger deck has room for something again. */
    for (double ops = DECK_OPS; mix->n_left == 0 && ops < 1e9; ops *= 2)
        mix->n_left = deal(mix, ops);
    if (mix->n_left == 0) {
        for (int i = 0; i < NFS_OP_COUNT && mix->n_left == 0; i++) {
            if (mix->share[i] > 0)
                mix->cards[mix->n_left++] = (uint8_t)i;
        }
    }
    deck_spread(&mix->rng, mix->cards, mix->n_left);
}

enum nfs_op op_mix_next(struct op_mix *mix, struct op_charge *charge)
{
    if (mix->n_left == 0)
        refill(mix);
    enum nfs_op op = (enum nfs_op)mix->cards[--mix->n_left];
    charge_for(mix, op, charge);
    apply(mix, charge, 1);
    return op;
}

void op_mix_exchange(struct op_mix *mix, struct op_charge *charge, enum nfs_op other)
{
    uint8_t drawn = charge->op;
    apply(mix, charge, -1);
    charge_for(mix, other, charge);
    apply(mix, charge, 1);
    for (uint32_t i = mix->n_left; i > 0; i--) {
        if (mix->cards[i - 1] == other) {
            mix->cards[i - 1] = drawn;
            return;
        }
    }
    if (mix->n_left < OP_MIX_MAX_CARDS) {
        uint32_t at = (uint32_t)rng_below(&mix->rng, mix->n_left + 1);
        mix->cards[mix->n_left] = mix->cards[at];
        mix->cards[at] = drawn;
        mix->n_left++;
    }
}

void op_mix_settle(struct op_mix *mix, const struct op_charge *charge, const uint16_t n_rpcs[static NFS_OP_COUNT])
{
    apply(mix, charge, -1);
    mix->n_requests[charge->op]++;
    mix->n_own_rpcs[charge->op] += n_rpcs[charge->op];
    if (!is_physical(mix)) {
        mix->counted[charge->op]++;
        return;
    }
    for (int i = 0; i < NFS_OP_COUNT; i++)
        mix->counted[i] += n_rpcs[i];
}

double op_mix_ops_per_request(const struct op_mix *mix)
{
    if (!is_physical(mix))
        return 1;
    double requests = PRIOR_REQUESTS * 10, ops = requests / workload_requests_per_op(mix->workload);
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        requests += mix->n_requests[i];
        ops += mix->counted[i];
    }
    return ops / requests;
}
