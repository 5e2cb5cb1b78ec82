/* rpc_conn.h - one TCP connection that carries ONC RPC records (RFC 5531 section 11), either side, any role.
 *
 *              kernel                                     kernel
 *                │ recv into one buffer                     ▲ writev, at most 64 iovecs
 *                ▼                                          │
 *   fragments reassembled in place ──on_record──> owner ──rpc_conn_send──> queue of segments (copied heads, referenced
 * data)
 *
 * - One receive buffer per connection; every complete record of a read is handed out in place, one after the other,
 * with the time of the read that completed it: when that returned (taken before the first record of the batch), or,
 * after rpc_conn_stamp_arrivals, when the last of its bytes came to this host.
 * - What is sent in one tick of the loop leaves in as few writev calls as possible, at the end of the tick, or at
 * rpc_conn_flush(). `on_sent` of a segment tells when its last byte was handed to the kernel.
 * - A record mark beyond max_record_bytes closes the connection before anything is allocated. A record of 0 bytes is
 * legal and ignored.
 * - Back-pressure: while more than max_queued_bytes wait to be sent, nothing is read and no further record is handed
 * out. A side that bounds its own calls in flight (a client) sets SIZE_MAX: if both sides stopped reading because the
 * other does, neither would go on.
 * - Closing is reported once by on_close, from the loop, never from inside a call into this module; the owner then
 * destroys it.
 */
#ifndef NFSCURVE_RPCGEN_RPC_CONN_H
#define NFSCURVE_RPCGEN_RPC_CONN_H

#include "clock.h"

#include <stddef.h>
#include <stdint.h>

struct event_base;
struct rpc_conn;

struct rpc_conn_limits {
    size_t max_record_bytes;  /* e.g. 1 MiB + 4 KiB */
    size_t max_queued_bytes;  /* back-pressure */
    size_t read_buffer_bytes; /* initial size; grows up to max_record_bytes + 4, shrinks when idle */
};

struct rpc_conn_handlers {
    /* A whole record, contiguous, valid only during the call; may be modified in place. `at`: when the last byte of its
     * read arrived or was read, see rpc_conn_stamp_arrivals. */
    void (*on_record)(struct rpc_conn *conn, uint8_t *record, size_t bytes, mono_t at, void *arg);
    /* After the last record of one read (may be NULL): the place to send answers of the whole batch. */
    void (*on_batch_end)(struct rpc_conn *conn, void *arg);
    /* error: 0 = the peer closed in order, else -errno; -EPROTO: broken record marking. Once. */
    void (*on_close)(struct rpc_conn *conn, int error, const char *message, void *arg);
};

/* Takes over a connected, non-blocking socket. NULL when memory is short (the fd is then still the caller's). */
struct rpc_conn *rpc_conn_create(struct event_base *base, int fd, const struct rpc_conn_limits *limits,
                                 const struct rpc_conn_handlers *handlers, void *arg);

/* Closes the socket and releases every referenced segment at once; on_close is not called. Allowed inside a handler (a
 * record handed out stays valid until that returns). */
void rpc_conn_destroy(struct rpc_conn *conn);

/* Data sent by reference: released exactly once, when it was handed to the kernel or the connection is gone. */
struct rpc_segment {
    const uint8_t *data;
    size_t bytes;
    void (*release)(void *arg); /* NULL: nothing to release (the data outlives the connection) */
    void *arg;
};

/* Queues one record: head (copied) followed by n segments by reference; the record mark is put before it.
 * sent_at (may be NULL) receives the time just before the write that handed over the record's last byte; it must stay
 * valid until then or until the connection is destroyed. 0 or -ENOMEM, -ENOTCONN (nothing was queued, the segments are
 * still the caller's). */
int rpc_conn_send(struct rpc_conn *conn, const uint8_t *head, size_t head_bytes, const struct rpc_segment *segments,
                  unsigned n, mono_t *sent_at);

/* Writes now what is queued instead of at the end of the tick. */
void rpc_conn_flush(struct rpc_conn *conn);

/* Hands out no further record until rpc_conn_resume (those of the present read stay in the buffer). */
void rpc_conn_pause(struct rpc_conn *conn);
void rpc_conn_resume(struct rpc_conn *conn);

/* From now on records carry the kernel's time of arrival instead of the time of the read (arrival.h): without the
 * wake-up of the process. */
void rpc_conn_stamp_arrivals(struct rpc_conn *conn);

/* When the last read returned: in on_record, when the record was read. */
mono_t rpc_conn_read_at(const struct rpc_conn *conn);

/* When the first byte of a record that is not whole yet was read; MONO_NEVER when there is none. */
mono_t rpc_conn_unfinished_since(const struct rpc_conn *conn);

/* Bytes handed to the kernel so far: shows whether the peer takes what is queued. */
uint64_t rpc_conn_sent_bytes(const struct rpc_conn *conn);

size_t rpc_conn_queued_bytes(const struct rpc_conn *conn);
int rpc_conn_fd(const struct rpc_conn *conn);

#endif
