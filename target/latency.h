/* latency.h - how long an answer takes.
 *
 *   --latency SPEC   comma-separated parts, later ones win:
 *     none                   answered at once
 *     fixed:200us            every answer so long after its call was read
 *     exponential:1ms        exponentially distributed with this mean
 *     curve:FILE             response time by offered load (latency_curve.h)
 *     OP=none|fixed:D|exponential:D      for one operation, on top of the model for all
 *     free=OP[+OP...]        these operations are answered at once and do not count as offered load
 *     logical[=BLOCK]        for curve: READs or WRITEs of one request are one op, COMMIT is free
 *
 * Thread-safe.
 */
#ifndef NFSCURVE_TARGET_LATENCY_H
#define NFSCURVE_TARGET_LATENCY_H

#include "clock.h"
#include "nfs_op.h"
#include "rng.h"

#include <stddef.h>
#include <stdint.h>

struct latency;

/* NULL with the reason in message[cap]. */
struct latency *latency_create(const char *spec, char *message, size_t cap);
void latency_destroy(struct latency *latency); /* and all that it is linked to by latency_retire */

/* Puts a model that other threads may still be asking onto a list, to be destroyed with it. Returns the new head. */
struct latency *latency_retire(struct latency *latency, struct latency *list);

/* One call, as far as a model cares. */
struct latency_call {
    enum nfs_op op;
    mono_t at;       /* when the call arrived */
    uint32_t fileid; /* READ and WRITE: 0 when unknown */
    uint64_t offset;
    uint32_t count;
};

/* When the call's answer is due; `at` or earlier means at once. */
mono_t latency_due(struct latency *latency, const struct latency_call *call, struct rng *rng);

#endif
