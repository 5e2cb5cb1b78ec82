/* rpc_send_queue.h - what one connection has yet to send: records of copied heads and referenced data, in order.
 *
 *   push ──> ring of segments ──iovecs──> sendmsg ──advance──> released, and sent_at set
 *
 * Heads are copied into chunks; heads that follow each other in a chunk are one segment, so a batch of small answers is
 * one iovec. The times of sending are kept apart, by stream offset: sent_total says which records have left.
 */
#ifndef NFSCURVE_RPCGEN_RPC_SEND_QUEUE_H
#define NFSCURVE_RPCGEN_RPC_SEND_QUEUE_H

#include "clock.h"
#include "record_buffer.h"
#include "rpc_conn.h"

#include <stdbool.h>
#include <sys/uio.h>

struct rpc_chunk;
struct rpc_out_segment;
struct rpc_sent_mark;

struct rpc_send_queue {
    size_t bytes; /* to be sent */
    uint64_t queued_total, sent_total;

    struct rpc_out_segment *segments; /* ring, capacity a power of two */
    size_t capacity, first, n;
    struct rpc_chunk *chunk;     /* heads are copied here */
    struct rpc_sent_mark *marks; /* ring, capacity a power of two */
    size_t marks_capacity, marks_first, n_marks;
};

/* All zero is an empty queue. */
void rpc_send_queue_clear(struct rpc_send_queue *queue); /* releases everything that waits */
void rpc_send_queue_fini(struct rpc_send_queue *queue);  /* of a cleared one */

/* As rpc_conn_send: 0, or -ENOMEM with nothing taken. */
int rpc_send_queue_push(struct rpc_send_queue *queue, const uint8_t *head, size_t head_bytes,
                        const struct rpc_segment *segments, unsigned n, mono_t *sent_at);

/* The front of the queue. Returns how many iovecs, at most max; 0: empty. */
size_t rpc_send_queue_iovecs(const struct rpc_send_queue *queue, struct iovec *iov, size_t max);

/* Is somebody waiting to know when a record left? */
bool rpc_send_queue_is_timed(const struct rpc_send_queue *queue);

/* The kernel took n bytes in a write that began at `at`. */
void rpc_send_queue_advance(struct rpc_send_queue *queue, size_t n, mono_t at);

#endif
