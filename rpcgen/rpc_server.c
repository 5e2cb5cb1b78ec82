#include "rpc_server.h"
#include "log.h"
#include "rpc_header.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_LISTENERS      8
#define SWEEP_MS           250
#define ACCEPTS_PER_TICK   64
#define ADDRESS_TEXT       64
#define HEADER_SLACK_BYTES 512 /* of an answer, for the RPC header */

struct rpc_peer {
    struct rpc_server *server;
    struct rpc_conn *conn; /* NULL when it is gone */
    void *data;
    char address[ADDRESS_TEXT];
    unsigned n_calls; /* not ended */
    bool had_record;
    bool is_paused;
    mono_t accepted_at;
    uint64_t sent_bytes; /* at the last sweep that saw progress */
    mono_t progress_at;
    TAILQ_ENTRY(rpc_peer) entry;
};

TAILQ_HEAD(peer_list, rpc_peer);

struct rpc_server {
    struct event_base *base;
    struct rpc_server_options options;
    struct event *listeners[MAX_LISTENERS];
    unsigned n_listeners;
    bool is_accepting; /* listeners are armed; not while file descriptors are short */
    bool is_stopped;
    struct event *sweep;
    struct peer_list peers;
    unsigned n_peers, n_calls;
    struct rpc_call *pool;
    uint8_t *scratch;
    size_t scratch_bytes;
    uint64_t n_refused; /* connections over the limit */
};

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

/* ---- peers ---- */

static void free_peer_if_unused(struct rpc_peer *peer)
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
    free_peer_if_unused(peer);
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

/* ---- calls ---- */

static struct rpc_call *get_call(struct rpc_peer *peer, mono_t at)
{
    struct rpc_server *server = peer->server;
    struct rpc_call *call = server->pool;
    if (call) {
        server->pool = call->next;
    } else {
        call = malloc(sizeof *call);
        if (!call) {
            return NULL;
        }
    }
    *call = (struct rpc_call){.server = server, .peer = peer, .at = at};
    peer->n_calls++;
    server->n_calls++;
    if (peer->n_calls >= server->options.max_calls_per_connection && !peer->is_paused) {
        peer->is_paused = true;
        rpc_conn_pause(peer->conn);
    }
    return call;
}

void rpc_call_end(struct rpc_call *call)
{
    struct rpc_server *server = call->server;
    struct rpc_peer *peer = call->peer;
    call->next = server->pool;
    server->pool = call;
    server->n_calls--;
    peer->n_calls--;
    if (peer->is_paused && peer->conn && peer->n_calls < server->options.max_calls_per_connection) {
        peer->is_paused = false;
        rpc_conn_resume(peer->conn);
    }
    free_peer_if_unused(peer);
}

static void release_segments(const struct rpc_answer *answer)
{
    for (unsigned i = 0; i < answer->n_segments; i++) {
        if (answer->segments[i].release) {
            answer->segments[i].release(answer->segments[i].arg);
        }
    }
}

int rpc_call_send(struct rpc_call *call, const struct rpc_answer *answer)
{
    int error = -ENOTCONN;
    if (call->peer->conn) {
        error = rpc_conn_send(call->peer->conn, answer->head, answer->head_bytes, answer->segments, answer->n_segments,
                              NULL);
    }
    if (error) {
        release_segments(answer);
    }
    return error;
}

void rpc_answer_begin(struct rpc_call *call, XDR *xdrs)
{
    struct rpc_server *server = call->server;
    xdrmem_create(xdrs, (char *)server->scratch, (u_int)server->scratch_bytes, XDR_ENCODE);
    bool fits = rpc_header_put_success(xdrs, call->xid);
    assert(fits);
}

void rpc_answer_finish(struct rpc_call *call, XDR *xdrs, struct rpc_answer *answer)
{
    answer->head = call->server->scratch;
    answer->head_bytes = xdr_getpos(xdrs);
    answer->n_segments = 0;
}

static void send_and_end(struct rpc_call *call, XDR *xdrs)
{
    struct rpc_answer answer;
    rpc_answer_finish(call, xdrs, &answer);
    rpc_call_send(call, &answer);
    rpc_call_end(call);
}

bool rpc_call_decode(struct rpc_call *call, xdrproc_t decode, void *args)
{
    XDR xdrs;
    xdrmem_create(&xdrs, (char *)(uintptr_t)call->args, (u_int)call->args_bytes, XDR_DECODE);
    return decode(&xdrs, args);
}

void rpc_call_reply(struct rpc_call *call, xdrproc_t encode, void *result)
{
    XDR xdrs;
    rpc_answer_begin(call, &xdrs);
    if (!encode(&xdrs, result)) {
        log_error("procedure %u of program %u: the result does not fit into %zu bytes", call->proc, call->prog,
                  call->server->scratch_bytes);
        rpc_call_fail(call, SYSTEM_ERR);
        return;
    }
    send_and_end(call, &xdrs);
}

static void begin_bare(struct rpc_call *call, XDR *xdrs)
{
    xdrmem_create(xdrs, (char *)call->server->scratch, (u_int)call->server->scratch_bytes, XDR_ENCODE);
}

static void fail_with_range(struct rpc_call *call, enum accept_stat stat, uint32_t low, uint32_t high)
{
    XDR xdrs;
    begin_bare(call, &xdrs);
    rpc_header_put_fail(&xdrs, call->xid, stat, low, high);
    send_and_end(call, &xdrs);
}

void rpc_call_fail(struct rpc_call *call, enum accept_stat stat)
{
    fail_with_range(call, stat, 0, 0);
}

void rpc_call_refuse(struct rpc_call *call, enum auth_stat why)
{
    XDR xdrs;
    begin_bare(call, &xdrs);
    rpc_header_put_auth_error(&xdrs, call->xid, why);
    send_and_end(call, &xdrs);
}

static void refuse_version(struct rpc_call *call)
{
    XDR xdrs;
    begin_bare(call, &xdrs);
    rpc_header_put_rpc_mismatch(&xdrs, call->xid);
    send_and_end(call, &xdrs);
}

/* RFC 5531 section 9: an unknown program, else a version out of its range, else an unknown procedure. */
static void dispatch(struct rpc_call *call)
{
    const struct rpc_server_options *options = &call->server->options;
    uint32_t low = UINT32_MAX, high = 0;
    for (unsigned i = 0; i < options->n_programs; i++) {
        const struct rpc_program *program = &options->programs[i];
        if (program->prog != call->prog) {
            continue;
        }
        if (program->vers == call->vers) {
            if (call->proc >= program->n_procs) {
                rpc_call_fail(call, PROC_UNAVAIL);
            } else {
                program->handler(call, program->arg);
            }
            return;
        }
        low = program->vers < low ? program->vers : low;
        high = program->vers > high ? program->vers : high;
    }
    if (low > high) {
        rpc_call_fail(call, PROG_UNAVAIL);
    } else {
        fail_with_range(call, PROG_MISMATCH, low, high);
    }
}

static void on_record(struct rpc_conn *conn, uint8_t *record, size_t bytes, mono_t at, void *arg)
{
    (void)conn;
    struct rpc_peer *peer = arg;
    peer->had_record = true;
    struct rpc_call *call = get_call(peer, at);
    if (!call) {
        log_error("connection from %s closed: no memory for a call", peer->address);
        disconnect(peer);
        return;
    }
    enum auth_stat why;
    switch (rpc_header_decode(call, record, bytes, &why)) {
    case RPC_HEADER_OK:
        dispatch(call);
        break;
    case RPC_HEADER_MISMATCH:
        refuse_version(call);
        break;
    case RPC_HEADER_BAD_CRED:
        rpc_call_refuse(call, why);
        break;
    case RPC_HEADER_GARBAGE:
        log_warn("connection from %s closed: %zu bytes that are no RPC call", peer->address, bytes);
        disconnect(peer);
        rpc_call_end(call);
        break;
    }
}

/* ---- accepting ---- */

static void format_address(int fd, char out[static ADDRESS_TEXT])
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    char host[INET6_ADDRSTRLEN] = "";
    if (getpeername(fd, (struct sockaddr *)&address, &length) == 0) {
        if (address.ss_family == AF_INET) {
            const struct sockaddr_in *in = (const struct sockaddr_in *)&address;
            inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
            snprintf(out, ADDRESS_TEXT, "%s:%u", host, ntohs(in->sin_port));
            return;
        }
        if (address.ss_family == AF_INET6) {
            const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address;
            inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
            snprintf(out, ADDRESS_TEXT, "[%s]:%u", host, ntohs(in6->sin6_port));
            return;
        }
    }
    snprintf(out, ADDRESS_TEXT, "local");
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
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
        return 0;
    }
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
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
    if (server->n_listeners == MAX_LISTENERS) {
        snprintf(message, cap, "listen on %s: at most %d addresses", address, MAX_LISTENERS);
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

/* ---- life ---- */

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
