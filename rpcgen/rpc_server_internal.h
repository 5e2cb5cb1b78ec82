/* rpc_server_internal.h - what rpc_server.c (connections) and rpc_call.c (calls) share. */
#ifndef NFSCURVE_RPCGEN_RPC_SERVER_INTERNAL_H
#define NFSCURVE_RPCGEN_RPC_SERVER_INTERNAL_H

#include "rpc_server.h"

#include <sys/queue.h>

#define RPC_MAX_LISTENERS 8
#define RPC_ADDRESS_TEXT  64

struct event;

struct rpc_peer {
    struct rpc_server *server;
    struct rpc_conn *conn; /* NULL when it is gone */
    void *data;
    char address[RPC_ADDRESS_TEXT];
    unsigned n_calls; /* not ended */
    bool had_record;
    bool is_paused;
    mono_t accepted_at;
    uint64_t sent_bytes; /* at the last sweep that saw progress */
    mono_t progress_at;
    TAILQ_ENTRY(rpc_peer) entry;
};

TAILQ_HEAD(rpc_peer_list, rpc_peer);

struct rpc_server {
    struct event_base *base;
    struct rpc_server_options options;
    struct event *listeners[RPC_MAX_LISTENERS];
    unsigned n_listeners;
    bool is_accepting; /* listeners are armed; not while file descriptors are short */
    bool is_stopped;
    struct event *sweep;
    struct rpc_peer_list peers;
    unsigned n_peers, n_calls;
    struct rpc_call *pool;
    uint8_t *scratch;
    size_t scratch_bytes;
    uint64_t n_refused; /* connections over the limit */
};

/* A peer goes when its connection and its last call have. */
void rpc_peer_free_if_unused(struct rpc_peer *peer);

/* A whole record: decodes its header and has its program answer it, or answers with the RPC error. 0, -EPROTO: no call
 * at all, -ENOMEM; the peer is to be closed then. */
int rpc_call_receive(struct rpc_peer *peer, uint8_t *record, size_t bytes, mono_t at);

#endif
