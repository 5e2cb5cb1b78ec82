/* op_mix.h - which op is next?
 *
 *   op_mix_next: the op that is furthest behind its share ──> request ──its RPCs, when it ends──> op_mix_settle
 *                     ▲                                                                              │
 *                     └──────────────── what was really sent ──────────────────────────────────────┘
 *
 * Each op may be behind or ahead of its share of the ops so far by about one op, after any number of requests: a mix
 * holds over the run, over every 10 s of it, and over the few hundred ops of a small point, where independent draws are
 * off by points. Which of several ops that are about equally far behind comes first is drawn, and each process starts
 * at a random place of each op's cycle, so the order is no pattern.
 *
 * Shares are of ops as the workload counts them. With physical counting a READ request is several ops and a WRITE
 * brings a COMMIT along; what by-products, short transfers or rewrites added is taken from the shares of the ops that
 * they are. With logical counting a request is one op and its COMMIT none.
 */
#ifndef NFSCURVE_LOADGEN_OP_MIX_H
#define NFSCURVE_LOADGEN_OP_MIX_H

#include "nfs_op.h"
#include "rng.h"
#include "workload.h"

#include <stdbool.h>
#include <stdint.h>

/* What a request was expected to cost when it was drawn. */
struct op_charge {
    uint8_t op;
    float own, commits; /* ops */
};

struct op_mix {
    const struct workload *workload; /* (ref) */
    struct rng rng;
    double share[NFS_OP_COUNT];                                /* sums to 1 */
    double phase[NFS_OP_COUNT];                                /* where in its cycle the op starts */
    double counted[NFS_OP_COUNT];                              /* ops of requests that ended */
    double pending[NFS_OP_COUNT];                              /* ops expected of requests that are under way */
    double total;                                              /* of both, over all ops */
    double n_requests[NFS_OP_COUNT], n_own_rpcs[NFS_OP_COUNT]; /* for the mean cost of a request */
};

void op_mix_init(struct op_mix *mix, const struct workload *workload, uint64_t seed);

enum nfs_op op_mix_next(struct op_mix *mix, struct op_charge *charge);

/* Instead of the op just drawn, `other` goes first, on the account of its own share; the charge becomes that of
 * `other`, and the drawn op, still behind, comes soon. False, and nothing changed, when `other` is already ahead of its
 * share. */
bool op_mix_exchange(struct op_mix *mix, struct op_charge *charge, enum nfs_op other);

/* The request of `charge` has ended; n_rpcs by procedure. */
void op_mix_settle(struct op_mix *mix, const struct op_charge *charge, const uint16_t n_rpcs[static NFS_OP_COUNT]);

/* Ops (as counted) that one request makes on the average, by what was seen so far. */
double op_mix_ops_per_request(const struct op_mix *mix);

#endif
