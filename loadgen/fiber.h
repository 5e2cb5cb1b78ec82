/* fiber.h - code that reads as if its NFS calls blocked, many at once in one event loop.
 *
 *   fiber A: ── call ──┐           ┌── reply ── call ──┐
 *   fiber B:           └── call ──┐│                   └── ...
 *   loop:                         └┘ on_done resumes the fiber that waits
 *
 * For what is long and is not measured: populating, cleaning, validation. Each fiber has a stack of its own (ucontext)
 * and runs until it waits for a reply or a pause. Nothing is preempted, so data shared by fibers needs no locks between
 * two waits.
 */
#ifndef NFSCURVE_LOADGEN_FIBER_H
#define NFSCURVE_LOADGEN_FIBER_H

#include "nfs3_client.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct fiber;
struct fiber_group;

struct fiber_group_options {
    struct event_base *base;
    struct nfs3_client *client;
    int64_t timeout_ns;        /* how long a JUKEBOX is asked again */
    _Atomic uint32_t *last_op; /* (ref) told which op is under way; may be NULL */
    /* Every fiber has returned. Once, from the loop. */
    void (*on_end)(struct fiber_group *group, void *arg);
    void *arg;
};

struct fiber_group *fiber_group_create(const struct fiber_group_options *options);

/* Starts fn(group, arg) in a fiber of the group; it runs at the next turn of the loop. 0 or -ENOMEM. */
int fiber_start(struct fiber_group *group, void (*fn)(struct fiber_group *group, void *arg), void *arg);

/* Every fiber_call from now on returns -ECANCELED without sending, and pauses end at once. What is in flight still has
 * to complete. */
void fiber_group_stop(struct fiber_group *group);
bool fiber_group_is_stopping(const struct fiber_group *group);
void *fiber_group_arg(const struct fiber_group *group);

/* Only when every fiber has returned. */
void fiber_group_destroy(struct fiber_group *group);

/* From inside a fiber. Sends the call (call->op and arguments set by the caller) and waits for its reply. JUKEBOX is
 * asked again after pauses. 0 when a reply was decoded, whatever its status, and *reply, valid until the fiber's next
 * call or pause; else -ECANCELED, -ETIMEDOUT, -EBADMSG (malformed), -ECONNRESET, -EPROTO (RPC refused), with *reply set
 * except for -ECANCELED. */
int fiber_call(struct fiber_group *group, struct nfs3_call *call, const struct nfs3_reply **reply);

/* 0, or -ECANCELED. */
int fiber_pause(struct fiber_group *group, int64_t pause_ns);

#endif
