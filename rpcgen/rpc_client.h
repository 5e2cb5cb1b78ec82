/* rpc_client.h - calls an ONC RPC program over one TCP connection, any number in flight, from an event loop.
 *
 *   rpc_client_call ──> queue (until connected) ──> in flight, by xid ──reply | refusal | deadline | broken──>
 * on_reply, once
 *
 * - on_reply runs exactly once for every call that was accepted, from the loop, never from inside rpc_client_call,
 * unless the call is cancelled or the client destroyed first: then it never runs.
 * - A deadline does not close the connection; its late reply is counted as unknown and ignored. Calls in flight when
 * the connection ends complete with RPC_CALL_BROKEN before on_closed runs. A client never reconnects: make another one.
 * - The client may be destroyed from inside any of its callbacks.
 */
#ifndef NFSCURVE_RPCGEN_RPC_CLIENT_H
#define NFSCURVE_RPCGEN_RPC_CLIENT_H

#include "clock.h"
#include "rpc_connect.h"
#include "rpc_msg.h"

#include <stddef.h>
#include <stdint.h>

struct rpc_client;

enum rpc_call_result {
    RPC_CALL_OK,       /* results are there, not yet decoded */
    RPC_CALL_REFUSED,  /* the server's RPC layer refused; message says how, accept_stat or denied */
    RPC_CALL_BROKEN,   /* the connection ended first, or was never made */
    RPC_CALL_TIMEOUT,  /* no reply within the call's timeout_ns, connecting included */
    RPC_CALL_MALFORMED /* a reply that is none */
};

struct rpc_call_reply {
    enum rpc_call_result result;
    uint32_t xid;
    const uint8_t *results; /* XDR of the procedure's result; valid during on_reply; NULL unless RPC_CALL_OK */
    size_t results_bytes;
    bool is_denied;       /* REFUSED: MSG_DENIED */
    uint32_t accept_stat; /* REFUSED: accept_stat (2 = PROG_MISMATCH, ...), or reject_stat when denied */
    const char *message;  /* why, when result is not RPC_CALL_OK; "" then */
    mono_t started, done; /* the call was made; the read that completed its reply returned */
};

typedef void (*rpc_reply_cb)(struct rpc_client *client, const struct rpc_call_reply *reply, void *arg);

struct rpc_client_options {
    struct rpc_connect_options connect;
    const struct rpc_auth_sys *auth; /* copied; NULL: AUTH_NONE */
    size_t max_record_bytes;         /* longest reply accepted */
};

struct rpc_client_handlers {
    /* The connection is up (may be NULL). Once, before anything is sent. */
    void (*on_connected)(struct rpc_client *client, void *arg);
    /* It could not be made or has ended (may be NULL): error 0 = the peer closed in order, else -errno. Once. The
     * client remains to be destroyed. */
    void (*on_closed)(struct rpc_client *client, int error, const char *message, void *arg);
};

/* Begins to connect. Copies options. NULL when memory is short. */
struct rpc_client *rpc_client_create(struct event_base *base, const struct rpc_client_options *options,
                                     const struct rpc_client_handlers *handlers, void *arg);

/* The same over a connected socket, which it takes over (also when it fails). */
struct rpc_client *rpc_client_adopt(struct event_base *base, int fd, const struct rpc_client_options *options,
                                    const struct rpc_client_handlers *handlers, void *arg);

/* No callback runs any more. Calls in flight are forgotten. */
void rpc_client_destroy(struct rpc_client *client);

/* args: the XDR of the procedure's arguments, copied. timeout_ns > 0. *xid (may be NULL) names the call for
 * rpc_client_cancel and logs. 0, -ENOTCONN after the connection ended, -ENOMEM. */
int rpc_client_call(struct rpc_client *client, uint32_t program, uint32_t version, uint32_t procedure,
                    const uint8_t *args, size_t args_bytes, int64_t timeout_ns, rpc_reply_cb on_reply, void *arg,
                    uint32_t *xid);

/* on_reply will not run; a reply that comes is ignored. Nothing happens when the call is done already. */
void rpc_client_cancel(struct rpc_client *client, uint32_t xid);

uint32_t rpc_client_in_flight(const struct rpc_client *client);
uint64_t rpc_client_unknown_xids(const struct rpc_client *client);
int rpc_client_fd(const struct rpc_client *client); /* -1 unless connected */

#endif
