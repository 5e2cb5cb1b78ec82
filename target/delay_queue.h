/* delay_queue.h - answers that wait for their time, and leave at it within tens of microseconds.
 *
 *   delay_queue_add(call, answer, due) ──> heap by due time ──one timer of the loop──> rpc_call_send, rpc_call_end
 *
 * The timer is set ahead by what it is late as a rule (wakeup.h); nothing is sent early. The loop must use
 * EVENT_BASE_FLAG_PRECISE_TIMER.
 */
#ifndef NFSCURVE_TARGET_DELAY_QUEUE_H
#define NFSCURVE_TARGET_DELAY_QUEUE_H

#include "clock.h"
#include "rpc_server.h"

#include <stdatomic.h>

struct delay_queue;

/* paused_until (borrowed, CLOCK_MONOTONIC ns, shared between threads): nothing leaves earlier. */
struct delay_queue *delay_queue_create(struct event_base *base, const _Atomic int64_t *paused_until);

/* Ends every call that waits, without sending. */
void delay_queue_destroy(struct delay_queue *queue);

/* What happens to the answer when its time has come. */
struct delayed_fate {
    bool is_dropped;   /* nothing is sent */
    bool is_reset;     /* the connection is reset */
    unsigned n_copies; /* how often it is sent; 1 as a rule */
};

/* Takes the answer (head is copied, segments are moved) and the call. When memory is short the answer leaves at once.
 */
void delay_queue_add(struct delay_queue *queue, struct rpc_call *call, const struct rpc_answer *answer,
                     struct delayed_fate fate, mono_t due);

/* Carries out a fate now. Ends the call. */
void delay_queue_carry_out(struct rpc_call *call, const struct rpc_answer *answer, struct delayed_fate fate);

#endif
