/* portmap_client.c - see portmap_client.h. */
#include "portmap_client.h"

#include "clock.h"
#include "rpc_client.h"
#include "xdr_cursor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PORTMAP_PORT    111
#define PORTMAP_PROGRAM 100000
#define PORTMAP_GETPORT 3 /* version 2 */
#define RPCBIND_GETADDR 3 /* versions 3 and 4 */
#define TRANSPORT_TCP   6
#define UADDR_MAX       256

struct portmap_client {
    struct rpc_client *rpc;
    char *host;
    uint32_t program, version;
    int64_t timeout_ns;
    portmap_cb on_done;
    void *arg;
    bool is_ipv6;
    const uint32_t *ask_version; /* the next to ask; ends with 0 */
    bool is_known_absent;        /* one of them said that the program is not there */
};

static void ask(struct portmap_client *p);

static void free_client(struct portmap_client *p)
{
    rpc_client_destroy(p->rpc);
    free(p->host);
    free(p);
}

static void finish(struct portmap_client *p, uint16_t port, int error, const char *why)
{
    char message[512];
    snprintf(message, sizeof message, "portmapper of %s: program %u version %u: %s", p->host, p->program, p->version,
             why);
    portmap_cb on_done = p->on_done;
    void *arg = p->arg;
    free_client(p);
    on_done(port, error, error ? message : "", arg);
}

static bool parse_byte(const char **at, const char *end, unsigned *out)
{
    unsigned v = 0, n = 0;
    while (*at < end && **at >= '0' && **at <= '9' && n < 3) {
        v = v * 10 + (unsigned)(**at - '0');
        ++*at;
        n++;
    }
    *out = v;
    return n > 0 && v <= 255;
}

uint16_t portmap_port_of_uaddr(const char *uaddr, size_t len)
{
    size_t dot[2], n = 0;
    for (size_t i = len; i > 0 && n < 2; i--) {
        if (uaddr[i - 1] == '.')
            dot[n++] = i - 1;
    }
    if (n < 2)
        return 0;
    unsigned high, low;
    const char *at = uaddr + dot[1] + 1;
    if (!parse_byte(&at, uaddr + dot[0], &high) || at != uaddr + dot[0])
        return 0;
    at = uaddr + dot[0] + 1;
    if (!parse_byte(&at, uaddr + len, &low) || at != uaddr + len)
        return 0;
    return (uint16_t)(high << 8 | low);
}

/* True when the reply decodes; *port is 0 for "not registered". */
static bool decode(uint32_t version, const struct rpc_call_reply *reply, uint16_t *port)
{
    struct xdr_reader r = xdr_reader_of(reply->results, reply->results_bytes);
    if (version == 2) {
        uint32_t v = xdr_get_u32(&r);
        *port = (uint16_t)v;
        return !r.is_bad && v <= UINT16_MAX;
    }
    uint32_t len;
    const uint8_t *uaddr = xdr_get_opaque(&r, UADDR_MAX, &len);
    *port = len ? portmap_port_of_uaddr((const char *)uaddr, len) : 0;
    return !r.is_bad && (len == 0 || *port != 0);
}

static void on_reply(struct rpc_client *rpc, const struct rpc_call_reply *reply, void *arg)
{
    struct portmap_client *p = arg;
    uint16_t port = 0;
    (void)rpc;
    switch (reply->result) {
    case RPC_CALL_OK:
        if (!decode(*p->ask_version, reply, &port)) {
            finish(p, 0, -EPROTO, "its reply does not decode");
        } else if (port) {
            finish(p, port, 0, "");
        } else {
            p->is_known_absent = true;
            p->ask_version++;
            ask(p);
        }
        return;
    case RPC_CALL_REFUSED:
        p->ask_version++;
        ask(p);
        return;
    case RPC_CALL_TIMEOUT:
        finish(p, 0, -ETIMEDOUT, "no reply; give nfs_port and mount_port of the target to go without it");
        return;
    case RPC_CALL_BROKEN:
        return; /* on_closed follows and knows why */
    default:
        finish(p, 0, -EPROTO, reply->message);
    }
}

static void ask(struct portmap_client *p)
{
    uint32_t version = *p->ask_version;
    if (!version) {
        if (p->is_known_absent)
            finish(p, 0, -ENXIO,
                   "not registered: is the service running? Or give nfs_port and mount_port of the target");
        else
            finish(p, 0, -EPROTONOSUPPORT,
                   "it offers none of the versions 2, 3 and 4; give nfs_port and mount_port of the target");
        return;
    }
    uint8_t args[64];
    struct xdr_writer w = xdr_writer_of(args, sizeof args);
    xdr_put_u32(&w, p->program);
    xdr_put_u32(&w, p->version);
    if (version == 2) {
        xdr_put_u32(&w, TRANSPORT_TCP);
        xdr_put_u32(&w, 0);
    } else {
        const char *netid = p->is_ipv6 ? "tcp6" : "tcp"; /* RFC 5665 5.2.2 */
        xdr_put_opaque(&w, netid, (uint32_t)strlen(netid));
        xdr_put_opaque(&w, "", 0); /* address and owner are ignored by GETADDR */
        xdr_put_opaque(&w, "", 0);
    }
    uint32_t procedure = version == 2 ? PORTMAP_GETPORT : RPCBIND_GETADDR;
    int error = rpc_client_call(p->rpc, PORTMAP_PROGRAM, version, procedure, args, (size_t)(w.at - args), p->timeout_ns,
                                on_reply, p, NULL);
    if (error)
        finish(p, 0, error, "its connection closed");
}

static void on_connected(struct rpc_client *rpc, void *arg)
{
    static const uint32_t order_ipv4[] = {2, 4, 3, 0}, order_ipv6[] = {4, 3, 2, 0};
    struct portmap_client *p = arg;
    char peer[64];
    rpc_connect_peer_name(rpc_client_fd(rpc), peer);
    p->is_ipv6 = peer[0] == '[';
    p->ask_version = p->is_ipv6 ? order_ipv6 : order_ipv4;
    ask(p);
}

static void on_closed(struct rpc_client *rpc, int error, const char *message, void *arg)
{
    struct portmap_client *p = arg;
    char why[400];
    (void)rpc;
    snprintf(why, sizeof why, "%s; give nfs_port and mount_port of the target to go without a portmapper", message);
    finish(p, 0, error ? error : -ECONNRESET, why);
}

struct portmap_client *portmap_client_start(struct event_base *base, const struct rpc_connect_options *connect,
                                            uint32_t program, uint32_t version, portmap_cb on_done, void *arg)
{
    static const struct rpc_client_handlers handlers = {.on_connected = on_connected, .on_closed = on_closed};
    struct portmap_client *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->program = program;
    p->version = version;
    p->timeout_ns = connect->timeout_ns;
    p->on_done = on_done;
    p->arg = arg;
    p->host = strdup(connect->host);
    struct rpc_client_options options = {.connect = *connect, .max_record_bytes = 4096};
    if (options.connect.port == 0)
        options.connect.port = PORTMAP_PORT;
    p->rpc = p->host ? rpc_client_create(base, &options, &handlers, p) : NULL;
    if (p->rpc)
        return p;
    free(p->host);
    free(p);
    return NULL;
}

void portmap_client_cancel(struct portmap_client *p)
{
    free_client(p);
}
