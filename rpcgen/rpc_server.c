/* rpc_server.c - listening sockets and connections; what happens to a call is in rpc_call.c. */
#include "rpc_server.h"
#include "log.h"
#include "rpc_server_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SWEEP_MS           250
#define ACCEPTS_PER_TICK   64
#define HEADER_SLACK_BYTES 512 /* of an answer, for the RPC header */

void rpc_server_default_options(struct rpc_server_options *options)
{
    *options = (struct rpc_server_options){
        .max_connections = 1024,
        .max_calls_per_connection = 1024,
        .conn = {.max_record_bytes = (1 << 20) + 4096, .max_queued_bytes = 4 << 20, .read_buffer_bytes = 64 << 10},
        .max_answer_bytes = (1 << 20) + 4096,
        .first_record_timeout_ns = 30 * NS_PER_S,
        .record_timeout_ns = 60 * NS_PER_S,
        .send_timeout_ns = 120 * NS_PER_S,
    };
}

void rpc_peer_free_if_unused(struct rpc_peer *peer)
{
    if (!peer->conn && peer->n_calls == 0) {
        free(peer);
    }
}

static void disconnect(struct rpc_peer *peer)
{
    if (!peer->conn) {
        return;
    }
    struct rpc_server *server = peer->server;
    peer->n_calls++; /* keeps it while on_disconnect looks at it */
    rpc_conn_destroy(peer->conn);
    peer->conn = NULL;
    TAILQ_REMOVE(&server->peers, peer, entry);
    server->n_peers--;
    if (server->options.on_disconnect) {
        server->options.on_disconnect(peer, server->options.arg);
    }
    peer->n_calls--;
    rpc_peer_free_if_unused(peer);
}

static void on_close(struct rpc_conn *conn, int error, const char *message, void *arg)
{
    (void)conn;
    struct rpc_peer *peer = arg;
    if (error != 0 && error != -ECONNRESET && error != -EPIPE) {
        log_warn("connection from %s closed: %s", peer->address, message);
    }
    disconnect(peer);
}

void rpc_peer_close(struct rpc_peer *peer)
{
    disconnect(peer);
}

void rpc_peer_reset(struct rpc_peer *peer)
{
    if (peer->conn) {
        struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        setsockopt(rpc_conn_fd(peer->conn), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        disconnect(peer);
    }
}

const char *rpc_peer_address(const struct rpc_peer *peer)
{
    return peer->address;
}

void rpc_peer_set_data(struct rpc_peer *peer, void *data)
{
    peer->data = data;
}

void *rpc_peer_data(const struct rpc_peer *peer)
{
    return peer->data;
}

bool rpc_peer_is_connected(const struct rpc_peer *peer)
{
    return peer->conn != NULL;
}

static void on_record(struct rpc_conn *conn, uint8_t *record, size_t bytes, mono_t at, void *arg)
{
    (void)conn;
    struct rpc_peer *peer = arg;
    peer->had_record = true;
    if (rpc_call_receive(peer, record, bytes, at) < 0) {
        log_warn("connection from %s closed: %zu bytes that are no RPC call", peer->address, bytes);
        disconnect(peer);
    }
}

static void format_address(int fd, char out[static RPC_ADDRESS_TEXT])
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    char host[INET6_ADDRSTRLEN] = "";
    if (getpeername(fd, (struct sockaddr *)&address, &length) == 0) {
        if (address.ss_family == AF_INET) {
            const struct sockaddr_in *in = (const struct sockaddr_in *)&address;
            inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
            snprintf(out, RPC_ADDRESS_TEXT, "%s:%u", host, ntohs(in->sin_port));
            return;
        }
        if (address.ss_family == AF_INET6) {
            const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address;
            inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
            snprintf(out, RPC_ADDRESS_TEXT, "[%s]:%u", host, ntohs(in6->sin6_port));
            return;
        }
    }
    snprintf(out, RPC_ADDRESS_TEXT, "local");
}

int rpc_server_adopt(struct rpc_server *server, int fd)
{
    static const struct rpc_conn_handlers handlers = {.on_record = on_record, .on_close = on_close};
    int error = -ENOMEM;
    struct rpc_peer *peer = NULL;
    if (server->n_peers >= server->options.max_connections) {
        if (server->n_refused++ == 0) {
            log_warn("connection refused: %u connections are open, which is the limit", server->n_peers);
        }
        error = -EUSERS;
        goto fail;
    }
    peer = calloc(1, sizeof *peer);
    if (!peer) {
        goto fail;
    }
    peer->server = server;
    format_address(fd, peer->address);
    peer->conn = rpc_conn_create(server->base, fd, &server->options.conn, &handlers, peer);
    if (!peer->conn) {
        goto fail;
    }
    if (server->options.stamps_arrivals) {
        rpc_conn_stamp_arrivals(peer->conn);
    }
    peer->accepted_at = peer->progress_at = mono_now();
    TAILQ_INSERT_TAIL(&server->peers, peer, entry);
    server->n_peers++;
    if (server->options.on_connect) {
        server->options.on_connect(peer, server->options.arg);
    }
    return 0;

fail:
    free(peer);
    close(fd);
    return error;
}

static void arm_listeners(struct rpc_server *server, bool wanted)
{
    if (server->is_accepting == wanted) {
        return;
    }
    server->is_accepting = wanted;
    for (unsigned i = 0; i < server->n_listeners; i++) {
        if (wanted) {
            event_add(server->listeners[i], NULL);
        } else {
            event_del(server->listeners[i]);
        }
    }
}

static void on_acceptable(evutil_socket_t listener, short what, void *arg)
{
    (void)what;
    struct rpc_server *server = arg;
    for (int i = 0; i < ACCEPTS_PER_TICK; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                /* The backlog keeps the listener readable: without a pause the loop would spin. The next sweep tries
                 * again. */
                log_warn("accept: %s; waiting", strerror(errno));
                arm_listeners(server, false);
            }
            return;
        }
        if (server->options.on_accept) {
            server->options.on_accept(fd, server->options.arg);
        } else {
            rpc_server_adopt(server, fd);
        }
    }
}

static const char *overdue(const struct rpc_server *server, struct rpc_peer *peer, mono_t now)
{
    const struct rpc_server_options *o = &server->options;
    if (o->first_record_timeout_ns && !peer->had_record &&
        mono_since_ns(now, peer->accepted_at) > o->first_record_timeout_ns) {
        return "no call since it was opened";
    }
    mono_t since = rpc_conn_unfinished_since(peer->conn);
    if (o->record_timeout_ns && mono_before(since, now) && mono_since_ns(now, since) > o->record_timeout_ns) {
        return "a call that does not become whole";
    }
    uint64_t sent = rpc_conn_sent_bytes(peer->conn);
    if (rpc_conn_queued_bytes(peer->conn) == 0 || sent != peer->sent_bytes) {
        peer->sent_bytes = sent;
        peer->progress_at = now;
    } else if (o->send_timeout_ns && mono_since_ns(now, peer->progress_at) > o->send_timeout_ns) {
        return "answers that the client does not take";
    }
    return NULL;
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct rpc_server *server = arg;
    mono_t now = mono_now();
    struct rpc_peer *peer = TAILQ_FIRST(&server->peers);
    while (peer) {
        struct rpc_peer *next = TAILQ_NEXT(peer, entry);
        const char *why = overdue(server, peer, now);
        if (why) {
            log_warn("connection from %s closed: %s", peer->address, why);
            disconnect(peer);
        }
        peer = next;
    }
    if (!server->is_stopped) {
        arm_listeners(server, true);
    }
}

static int open_listener(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (info->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(fd, info->ai_addr, info->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

static uint16_t local_port(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } address = {0};
    socklen_t length = sizeof address;
    if (getsockname(fd, &address.any, &length) < 0) {
        return 0;
    }
    uint16_t port = address.any.sa_family == AF_INET6 ? address.in6.sin6_port : address.in.sin_port;
    return ntohs(port);
}

int rpc_server_listen(struct rpc_server *server, const char *address, uint16_t port, uint16_t *bound_port,
                      char *message, size_t cap)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *info = NULL;
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    int error = 0, fd = -1;
    int gai = getaddrinfo(address, service, &hints, &info);
    if (gai != 0) {
        snprintf(message, cap, "listen on %s: not a numeric IPv4 or IPv6 address (%s)", address, gai_strerror(gai));
        return -EINVAL;
    }
    if (server->n_listeners == RPC_MAX_LISTENERS) {
        snprintf(message, cap, "listen on %s: at most %d addresses", address, RPC_MAX_LISTENERS);
        error = -E2BIG;
        goto out;
    }
    fd = open_listener(info);
    if (fd < 0) {
        error = fd;
        snprintf(message, cap, "listen on %s port %u: %s", address, port, strerror(-error));
        goto out;
    }
    struct event *event = event_new(server->base, fd, EV_READ | EV_PERSIST, on_acceptable, server);
    if (!event || event_add(event, NULL) < 0) {
        if (event) {
            event_free(event);
        }
        close(fd);
        error = -ENOMEM;
        snprintf(message, cap, "listen on %s port %u: %s", address, port, strerror(-error));
        goto out;
    }
    server->listeners[server->n_listeners++] = event;
    server->is_accepting = true;
    if (bound_port) {
        *bound_port = local_port(fd);
    }
out:
    freeaddrinfo(info);
    return error;
}

void rpc_server_stop_listening(struct rpc_server *server)
{
    server->is_stopped = true;
    for (unsigned i = 0; i < server->n_listeners; i++) {
        evutil_socket_t fd = event_get_fd(server->listeners[i]);
        event_free(server->listeners[i]);
        close(fd);
    }
    server->n_listeners = 0;
}

struct rpc_server *rpc_server_create(struct event_base *base, const struct rpc_server_options *options)
{
    struct rpc_server *server = calloc(1, sizeof *server);
    if (!server) {
        return NULL;
    }
    server->base = base;
    server->options = *options;
    TAILQ_INIT(&server->peers);
    server->scratch_bytes = options->max_answer_bytes + HEADER_SLACK_BYTES;
    server->scratch = malloc(server->scratch_bytes);
    server->sweep = event_new(base, -1, EV_PERSIST, on_sweep, server);
    struct timeval period = {.tv_usec = SWEEP_MS * 1000};
    if (!server->scratch || !server->sweep || event_add(server->sweep, &period) < 0) {
        rpc_server_destroy(server);
        return NULL;
    }
    return server;
}

void rpc_server_destroy(struct rpc_server *server)
{
    if (!server) {
        return;
    }
    rpc_server_stop_listening(server);
    while (!TAILQ_EMPTY(&server->peers)) {
        disconnect(TAILQ_FIRST(&server->peers));
    }
    assert(server->n_calls == 0);
    while (server->pool) {
        struct rpc_call *call = server->pool;
        server->pool = call->next;
        free(call);
    }
    if (server->sweep) {
        event_free(server->sweep);
    }
    free(server->scratch);
    free(server);
}

unsigned rpc_server_n_connections(const struct rpc_server *server)
{
    return server->n_peers;
}
