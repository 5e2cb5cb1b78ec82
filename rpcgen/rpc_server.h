/* rpc_server.h - the server side of ONC RPC (RFC 5531) over TCP: listening sockets, connections, calls, answers.
 *
 *   rpc_conn ──record──> header checked and decoded ──> program table ──> handler(call)
 *                                 │ wrong version, program, procedure, credential: the right RPC error
 *   rpc_conn <──writev── answers (now, or any time later, in any order) <── rpc_call_reply / rpc_call_send
 *
 * - One server lives in one event loop and is touched by that loop's thread only.
 * - Every call that reaches a handler is ended exactly once: by rpc_call_reply, rpc_call_fail, rpc_call_refuse or
 * rpc_call_end. Until then it stays valid, also when its connection is gone (answers then go nowhere). Its arguments
 * are valid only inside the handler.
 * - Bounds: connections, unanswered calls per connection, record size, queued bytes, time for the first record, time
 * for a record to become whole, time without the peer taking an answer. A peer that passes one is closed and logged; no
 * other peer waits for it.
 * - A handler may close or reset the peer it was called for.
 */
#ifndef NFSCURVE_RPCGEN_RPC_SERVER_H
#define NFSCURVE_RPCGEN_RPC_SERVER_H

#include "clock.h"
#include "rpc_conn.h"

#include <rpc/rpc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct rpc_server;
struct rpc_peer; /* one accepted connection */

#define RPC_MAX_GIDS        16 /* RFC 5531 appendix A: gids<16> */
#define RPC_ANSWER_SEGMENTS 36 /* data of one answer by reference: a list of blocks and holes, and its padding */

/* Who calls: AUTH_NONE (uid and gid of nobody) or AUTH_SYS, decoded within bounds. */
struct rpc_credential {
    uint32_t flavor;
    uint32_t uid, gid;
    uint32_t n_gids;
    uint32_t gids[RPC_MAX_GIDS];
};

struct rpc_call {
    struct rpc_server *server;
    struct rpc_peer *peer;
    uint32_t xid, prog, vers, proc;
    struct rpc_credential credential;
    mono_t at; /* when the call was read, or with stamps_arrivals came to this host */

    /* only inside the handler */
    const uint8_t *args;
    size_t args_bytes;

    void *data;            /* the owner's */
    struct rpc_call *next; /* the module's: pool */
};

typedef void (*rpc_handler)(struct rpc_call *call, void *arg);

struct rpc_program {
    uint32_t prog, vers;
    uint32_t n_procs; /* procedures 0..n_procs-1 reach the handler */
    rpc_handler handler;
    void *arg;
};

struct rpc_server_options {
    const struct rpc_program *programs; /* borrowed; several versions of a program are several rows */
    unsigned n_programs;
    unsigned max_connections;
    unsigned max_calls_per_connection; /* unanswered; further ones are not read */
    struct rpc_conn_limits conn;
    bool stamps_arrivals;            /* a call's `at` is when it came to this host, not when it was read */
    size_t max_answer_bytes;         /* of the encoded part of an answer; data by reference comes on top */
    int64_t first_record_timeout_ns; /* from accept to the first whole record; 0: none */
    int64_t record_timeout_ns;       /* for a begun record to become whole; 0: none */
    int64_t send_timeout_ns;         /* without the peer taking anything of what is queued; 0: none */
    void (*on_connect)(struct rpc_peer *peer, void *arg);    /* may be NULL; may close the peer */
    void (*on_disconnect)(struct rpc_peer *peer, void *arg); /* may be NULL; once for each on_connect */
    /* May be NULL. Set: accepted sockets are handed over (to another loop's rpc_server_adopt) instead of served here.
     */
    void (*on_accept)(int fd, void *arg);
    void *arg; /* of the three */
};

/* Sensible limits for everything but the program table: 1 MiB records, 1024 connections, 30 s for the first record. */
void rpc_server_default_options(struct rpc_server_options *options);

struct rpc_server *rpc_server_create(struct event_base *base, const struct rpc_server_options *options);

/* Closes everything. Every call must have been ended. */
void rpc_server_destroy(struct rpc_server *server);

/* Listens on a numeric IPv4 or IPv6 address ("::" takes IPv4 too); may be called several times. Port 0 picks a free
 * one; *bound_port (may be NULL) is the port. 0 or -errno with the reason in message[cap]. */
int rpc_server_listen(struct rpc_server *server, const char *address, uint16_t port, uint16_t *bound_port,
                      char *message, size_t cap);

/* Serves a connected socket; owns it from here on, also on error. 0 or -errno. */
int rpc_server_adopt(struct rpc_server *server, int fd);

/* No further connections; those that exist are served on. */
void rpc_server_stop_listening(struct rpc_server *server);

unsigned rpc_server_n_connections(const struct rpc_server *server);

const char *rpc_peer_address(const struct rpc_peer *peer); /* "127.0.0.1:4711", "[::1]:4711" */
void rpc_peer_set_data(struct rpc_peer *peer, void *data);
void *rpc_peer_data(const struct rpc_peer *peer);
bool rpc_peer_is_connected(const struct rpc_peer *peer);
void rpc_peer_close(struct rpc_peer *peer); /* in order; unsent answers are lost */
void rpc_peer_reset(struct rpc_peer *peer); /* the client sees ECONNRESET */

/* Decodes the arguments into zeroed *args (free with xdr_free whatever comes back). False: answer with
 * rpc_call_fail(GARBAGE_ARGS). */
bool rpc_call_decode(struct rpc_call *call, xdrproc_t decode, void *args);

/* Encodes a successful answer, sends it at the end of the tick and ends the call. A result that does not fit is
 * SYSTEM_ERR. */
void rpc_call_reply(struct rpc_call *call, xdrproc_t encode, void *result);

/* Accepted, but: PROC_UNAVAIL, GARBAGE_ARGS, SYSTEM_ERR. Ends the call. */
void rpc_call_fail(struct rpc_call *call, enum accept_stat stat);

/* Denied: AUTH_ERROR with the given reason. Ends the call. */
void rpc_call_refuse(struct rpc_call *call, enum auth_stat why);

/* An answer in the making: head is encoded, segments follow it by reference. */
struct rpc_answer {
    uint8_t *head;
    size_t head_bytes;
    struct rpc_segment segments[RPC_ANSWER_SEGMENTS];
    unsigned n_segments;
};

/* An XDR stream that already holds the header of a successful answer, over the server's one scratch buffer: encode the
 * results, then rpc_answer_finish, then send or copy it before anything else is encoded. */
void rpc_answer_begin(struct rpc_call *call, XDR *xdrs);
void rpc_answer_finish(struct rpc_call *call, XDR *xdrs, struct rpc_answer *answer); /* no segments yet */

/* Sends one answer; the call goes on. The segments are released in every case. 0 or -errno. */
int rpc_call_send(struct rpc_call *call, const struct rpc_answer *answer);

/* Ends the call without (further) answer. */
void rpc_call_end(struct rpc_call *call);

#endif
