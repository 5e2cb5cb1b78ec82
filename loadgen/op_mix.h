/* op_mix.h - which op is next?
 *
 *   deck (shuffled) ──op_mix_next──> request ──its RPCs, when it ends──> op_mix_settle
 *     ▲                                                                      │
 *     └──── the next deck asks for what each op's share still lacks <────────┘
 *
 * Shares are of ops as the workload counts them. With physical counting a READ request is several ops and a WRITE
 * brings a COMMIT along, so a deck is made from what was really sent: whatever by-products, short transfers or rewrites
 * added is taken from the shares of the ops that they are. With logical counting a request is one op and its COMMIT
 * none.
 */
#ifndef NFSCURVE_LOADGEN_OP_MIX_H
#define NFSCURVE_LOADGEN_OP_MIX_H

#include "nfs_op.h"
#include "rng.h"
#include "workload.h"

#include <stdbool.h>
#include <stdint.h>

#define OP_MIX_MAX_CARDS 512u

/* What a request was expected to cost when it was drawn. */
struct op_charge {
    uint8_t op;
    float own, commits; /* ops */
};

struct op_mix {
    const struct workload *workload; /* (ref) */
    struct rng rng;
    double share[NFS_OP_COUNT];                                /* sums to 1 */
    double counted[NFS_OP_COUNT];                              /* ops of requests that ended */
    double pending[NFS_OP_COUNT];                              /* ops expected of requests that are under way */
    double n_requests[NFS_OP_COUNT], n_own_rpcs[NFS_OP_COUNT]; /* for the mean cost of a request */
    uint32_t n_left;
    uint8_t cards[OP_MIX_MAX_CARDS];
};

void op_mix_init(struct op_mix *mix, const struct workload *workload, uint64_t seed);

enum nfs_op op_mix_next(struct op_mix *mix, struct op_charge *charge);

/* Instead of the op just drawn, `other` goes first: the drawn one takes the place of a later `other`, or comes back as
 * an extra card that the next deck pays for. The charge becomes that of `other`. */
void op_mix_exchange(struct op_mix *mix, struct op_charge *charge, enum nfs_op other);

/* The request of `charge` has ended; n_rpcs by procedure. */
void op_mix_settle(struct op_mix *mix, const struct op_charge *charge, const uint16_t n_rpcs[static NFS_OP_COUNT]);

/* Ops (as counted) that one request makes on the average, by what was seen so far. */
double op_mix_ops_per_request(const struct op_mix *mix);

#endif
