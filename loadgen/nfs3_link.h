/* nfs3_link.h - one connection of an NFSv3 client: its life, its calls, and what happens to them when it breaks.
 *
 *                     ┌──────────────── nfs3_link ────────────────┐
 *   nfs3_send ──────> │ waiting (while down) ──> in flight (FIFO) │ ──submit──> transport: native | libnfs
 *   on_done   <────── │ deadlines: the oldest call is looked at   │ <─complete──
 *                     └──down──backoff──connect──up───────────────┘ <─broken────
 *
 * All calls have the same time-out, so both lists are in the order of their deadlines and only their heads are ever
 * looked at. A transport knows how to put a call on a socket and how to make a reply of what comes back, nothing else.
 */
#ifndef NFSCURVE_LOADGEN_NFS3_LINK_H
#define NFSCURVE_LOADGEN_NFS3_LINK_H

#include "nfs3_client.h"
#include "rpc_connect.h"
#include "rpc_msg.h"

struct nfs3_link;

/* What struct nfs3_call keeps for the link and its transport. */
struct nfs3_call_state {
    struct nfs3_call *prev, *next; /* of the list that the call is in */
    bool is_in_flight;             /* else waiting */
    void *transport_private;
};

static inline struct nfs3_call_state *nfs3_call_state(struct nfs3_call *call)
{
    _Static_assert(sizeof(struct nfs3_call_state) <= sizeof call->engine_private, "fits");
    return (struct nfs3_call_state *)call->engine_private;
}

struct nfs3_transport {
    const char *name;
    /* Takes over the connected socket (also when it fails). 0 with *wire, or -errno with *why. */
    int (*open)(struct nfs3_link *link, int fd, void **wire, const char **why);
    /* Forgets all calls without a word, and closes the socket. May run inside a callback of the transport. */
    void (*close)(void *wire);
    /* Sends the call, by the end of the tick. 0, -ENOMEM, -ENOTCONN (broken; nfs3_link_broken follows from the loop).
     * Completes nothing. */
    int (*submit)(void *wire, struct nfs3_call *call);
    /* Brings bytes_sent and bytes_received of the counters up to date; NULL when they always are. */
    void (*count_bytes)(void *wire);
};

extern const struct nfs3_transport nfs3_native_transport, nfs3_libnfs_transport;

/* The same for all links of a client; borrowed from it. */
struct nfs3_link_config {
    struct event_base *base;
    const struct nfs3_transport *transport;
    struct rpc_connect_options connect;
    struct rpc_auth_sys auth;
    int64_t timeout_ns;
    struct nfs3_client_counters *counters;
};

/* The first connection is up (error 0), or could not be made; once. Later ones are the link's own business. */
typedef void (*nfs3_link_cb)(struct nfs3_link *link, int error, const char *message, void *arg);

struct nfs3_link *nfs3_link_create(const struct nfs3_link_config *config, nfs3_link_cb on_first, void *arg);

/* Completes every call with NFS3_CALL_BROKEN. Not from inside a callback. */
void nfs3_link_destroy(struct nfs3_link *link);

int nfs3_link_send(struct nfs3_link *link, struct nfs3_call *call);
bool nfs3_link_is_up(const struct nfs3_link *link);
void nfs3_link_count_bytes(const struct nfs3_link *link);

/* ---- for transports ---- */

const struct nfs3_link_config *nfs3_link_config(const struct nfs3_link *link);

/* Ends a call in flight: reply is filled in, call->done is set. Runs on_done, which may send and may not destroy. */
void nfs3_link_complete(struct nfs3_link *link, struct nfs3_call *call, const struct nfs3_reply *reply);

/* The stream is of no use any more: closes it, completes what was in flight, and reconnects. From the loop. */
void nfs3_link_broken(struct nfs3_link *link, const char *why);

#endif
