/* counters.h - what one thread of the target has served, by operation. Written by that thread, read by any. */
#ifndef NFSCURVE_TARGET_COUNTERS_H
#define NFSCURVE_TARGET_COUNTERS_H

#include "fault.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdint.h>

struct counters {
    struct {
        _Atomic uint64_t n_calls;  /* decoded calls */
        _Atomic uint64_t n_errors; /* answered with another status than OK */
        _Atomic uint64_t n_faults; /* hit by at least one fault rule */
    } ops[FAULT_OP_COUNT];         /* MOUNT procedures behind the NFS ones */
    _Atomic uint64_t n_garbage;    /* arguments that did not decode */
    _Atomic uint64_t n_delayed;    /* answers that waited for their time */
    _Atomic uint64_t read_bytes, write_bytes;
};

/* One writer only: no locked instruction needed. */
static inline void counter_add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* sum += counters, plain reads. */
void counters_add(struct counters *sum, const struct counters *counters);

/* {"ops": {"read": {"calls": 1, "errors": 0, "faults": 0}, ...}, "read_bytes": ...}; operations never called are left
 * out. New reference. */
json_t *counters_to_json(const struct counters *counters);

/* "read", ..., "mnt". */
const char *counters_op_name(unsigned op);

#endif
