/* portmap_client.h - on which TCP port does a server offer a program?
 *
 * Asks port 111 of the server: portmapper version 2 (GETPORT), then rpcbind 4 and 3 (GETADDR) when the one before it is
 * not offered; for an IPv6 server the other way round, because version 2 cannot speak of IPv6 (RFC 1833).
 */
#ifndef NFSCURVE_LOADGEN_PORTMAP_CLIENT_H
#define NFSCURVE_LOADGEN_PORTMAP_CLIENT_H

#include "rpc_connect.h"

#include <stddef.h>

struct portmap_client;

/* Once, from the loop. error 0 and the port, or a negative errno (-ENXIO: not registered) with a message that names the
 * remedy. The portmap_client is gone when this runs. */
typedef void (*portmap_cb)(uint16_t port, int error, const char *message, void *arg);

/* `connect` gives host, source address and time limit; its port is the portmapper's (0: 111). NULL when memory is
 * short. */
struct portmap_client *portmap_client_start(struct event_base *base, const struct rpc_connect_options *connect,
                                            uint32_t program, uint32_t version, portmap_cb on_done, void *arg);

/* on_done will not run. */
void portmap_client_cancel(struct portmap_client *p);

/* Port of a universal address "h1.h2.h3.h4.p1.p2" or "v6.p1.p2" of `len` bytes (RFC 5665 5.2.3); 0 when it is none. */
uint16_t portmap_port_of_uaddr(const char *uaddr, size_t len);

#endif
