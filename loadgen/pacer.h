/* pacer.h - when is the next request due? The clock is passed in.
 *
 *   load ──pacer_take(now)──> ticket {slot, due}     as often as it says yes: all that is due goes out in one tick
 *   load ──pacer_release(slot, now, ops)──>          the slot's request has ended
 *   load ──pacer_next──> when to look again
 *
 * sfs: every stream (= slot) sleeps a think time U[0.5,1.5)*T after each request. T is the mean period of a request
 * less what the cycle takes besides thinking, re-tuned after every request from what the stream really achieved: a lag
 * is made up at no more than MAX_SPEED_UP, and what it lost beyond MAX_LAG is forgotten, so that a stall is never
 * followed by a burst. Think times are drawn in pairs u, 2-u with u from a stratified deck: each is uniform, and their
 * running sum never strays from the even grid by more than half a period. Any window holds its count to within one
 * request even at one op a second.
 *
 * open: arrivals on an absolute schedule, exponential or constant gaps. A late request keeps its due time. Exponential
 * gaps come from a stratified deck too: each gap is exponential, and the count over a minute is within 0.1 % instead of
 * 1/sqrt(n). Where requests are several ops the mean gap follows what they turn out to be, by a few percent. Requests
 * that find no free slot wait in order; the schedule itself is the queue, so waiting costs no memory.
 *
 * max: every slot is due again as soon as it is free.
 *
 * Lateness is what we are to blame for: taken minus due, of requests that had a free slot at their due time.
 */
#ifndef NFSCURVE_LOADGEN_PACER_H
#define NFSCURVE_LOADGEN_PACER_H

#include "clock.h"
#include "deck.h"
#include "rng.h"
#include "workload.h"

#include <stdbool.h>
#include <stdint.h>

/* A request taken later than this although a slot was free was late by our fault. */
#define PACER_LATE_NS NS_PER_MS

struct pacer_options {
    enum pacing_kind kind;
    enum arrivals_kind arrivals;
    double ops_per_s;       /* as the workload counts; > 0 */
    double ops_per_request; /* by the request tables */
    bool is_physical;       /* a request is several ops, how many is known when it ends */
    uint32_t n_slots;       /* sfs: streams */
    uint64_t seed;
    mono_t start;
};

struct pacer_ticket {
    uint32_t slot;
    mono_t due;
    bool waited_for_slot;
    int64_t lateness_ns; /* -1 when it waited for a slot or is not paced */
};

struct pacer_stream {
    mono_t due; /* when idle */
    bool is_idle;
    mono_t taken;       /* the last one */
    double line_ns;     /* where the mean due time stands that the achieved count deserves, relative to start */
    double jitter_ns;   /* think times so far less their means */
    double overhead_ns; /* mean of what a cycle takes besides thinking */
    double twin;        /* 2-u of the last draw; 0: none */
    bool rebase;        /* forgive the present lag at the next release */
};

struct pacer {
    struct pacer_options options;
    struct deck strata;
    struct rng rng;
    double ops_per_request;
    struct pacer_stream *streams; /* sfs */
    uint32_t *free_slots;         /* open, max: a stack */
    uint32_t n_free;
    mono_t next_due;       /* open */
    double line_ns;        /* open: where next_due would stand by the ops of all requests so far, relative to start */
    mono_t has_slot_since; /* open, while n_free > 0 */
    uint64_t n_taken, n_waited_for_slot, n_waited_for_us;
};

/* 0 or -ENOMEM. */
int pacer_init(struct pacer *pacer, const struct pacer_options *options);
void pacer_fini(struct pacer *pacer);

/* True and a ticket when a request is due at `now` and has a slot. */
bool pacer_take(struct pacer *pacer, mono_t now, struct pacer_ticket *ticket);

/* The request in `slot` ended at `now` and was n_ops ops as the workload counts (failed ones too: errors do not speed
 * the loop up). */
void pacer_release(struct pacer *pacer, uint32_t slot, mono_t now, double n_ops);

/* When pacer_take will say yes without a release before; MONO_NEVER when only a release can help. */
mono_t pacer_next(const struct pacer *pacer);

/* What a request is worth, as far as it is known by now. */
void pacer_set_ops_per_request(struct pacer *pacer, double ops_per_request);

/* The recorded run begins: what the warm-up lacked is not made up in it. Changes no due time. */
void pacer_rebase(struct pacer *pacer);

/* Open: how many requests fell due before `end` and were never taken; of Poisson arrivals the mean. By arithmetic: at a
 * load far beyond the server there are billions of them, and the last replies wait while they are counted. */
uint64_t pacer_count_waiting(const struct pacer *pacer, mono_t end);

#endif
