/* rpc_connect.h - from a host name to a connected TCP socket, without blocking the loop.
 *
 *   start ──(numeric? at once : look-up on a helper thread)──> address 1 ──refused──> address 2 ... ──> on_done(fd),
 * once
 *
 * - A numeric address never leaves the loop. A name is looked up by getaddrinfo() on a short-lived detached thread with
 * all signals blocked; a cancelled look-up is left to finish by itself and frees what it holds.
 * - Addresses are tried in getaddrinfo's order (IPv6 and IPv4) until one answers or timeout_ns is over.
 * - The socket is non-blocking, TCP_NODELAY, with keepalive (30 s idle, then 3 probes 10 s apart) and TCP_USER_TIMEOUT.
 * - Without reserved_port no port below 1024 is ever tried; with it, ports 1023 down to 600 are tried from a rotating
 * start, each at most once, and a port that something else holds is left alone.
 */
#ifndef NFSCURVE_RPCGEN_RPC_CONNECT_H
#define NFSCURVE_RPCGEN_RPC_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct rpc_connect;

struct rpc_connect_options {
    const char *host; /* name or numeric address, IPv6 without brackets */
    uint16_t port;
    const char *source_address; /* numeric; NULL: any */
    bool reserved_port;
    int64_t timeout_ns; /* for look-up and all addresses together */
    int64_t
        user_timeout_ns; /* TCP_USER_TIMEOUT: how long sent bytes may stay unacknowledged; 0: the system's default */
};

/* Runs exactly once, from the loop, never from inside rpc_connect_start. fd >= 0 and error 0 (the socket is the
 * callee's), or fd -1 and a negative errno with a message that names host and port. The rpc_connect is gone when this
 * runs. */
typedef void (*rpc_connect_cb)(int fd, int error, const char *message, void *arg);

/* Copies the options. NULL when memory is short. */
struct rpc_connect *rpc_connect_start(struct event_base *base, const struct rpc_connect_options *options,
                                      rpc_connect_cb on_done, void *arg);

/* on_done will not run. Not after on_done ran. */
void rpc_connect_cancel(struct rpc_connect *c);

/* "127.0.0.1:2049", "[::1]:2049" of either end of a socket into out[64]; "?" when it has none. Returns out. */
char *rpc_connect_local_name(int fd, char out[static 64]);
char *rpc_connect_peer_name(int fd, char out[static 64]);

#endif
