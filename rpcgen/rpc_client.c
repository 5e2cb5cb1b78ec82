/* rpc_client.c - see rpc_client.h.
 *
 * Calls are kept in one list in the order they were made: a client has a handful in flight (heartbeat, step, mount), so
 * a walk finds the xid sooner than a table would. The NFS engine, which has thousands, has its own.
 *
 * Destroying: rpc_conn forbids it from inside its callbacks, so a destroyed client only falls silent at once and is
 * freed by an event of its own, right after the callback returned.
 */
#include "rpc_client.h"

#include "rpc_conn.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct call {
    struct call *next;
    struct rpc_client *client;
    uint32_t xid;
    rpc_reply_cb on_reply;
    void *arg;
    mono_t started, deadline;
    uint8_t *record; /* header and arguments, until it is sent */
    size_t record_bytes;
};

struct rpc_client {
    struct event_base *base; /* (ref) */
    struct rpc_client_handlers handlers;
    void *arg;
    struct rpc_connect *connecting;
    struct rpc_conn *conn;
    size_t max_record_bytes;
    bool has_auth;
    struct rpc_auth_sys auth;
    char machine_name[RPC_MSG_MACHINE_NAME_MAX + 1];

    struct call *first, **last; /* every call not completed */
    uint32_t n_calls;
    uint32_t next_xid;
    uint64_t n_unknown_xids;

    struct event *deadline_timer;
    struct event *reaper; /* frees a destroyed client, or ends one whose connection is gone */
    bool is_closed, is_destroyed;
    unsigned depth; /* callbacks under way */
    int close_error;
    char close_message[256];
};

static void free_call(struct call *call)
{
    free(call->record);
    free(call);
}

static void free_client(struct rpc_client *c)
{
    while (c->first) {
        struct call *call = c->first;
        c->first = call->next;
        free_call(call);
    }
    if (c->connecting)
        rpc_connect_cancel(c->connecting);
    if (c->conn)
        rpc_conn_destroy(c->conn);
    if (c->deadline_timer)
        event_free(c->deadline_timer);
    if (c->reaper)
        event_free(c->reaper);
    free(c);
}

static struct call *take_call(struct rpc_client *c, uint32_t xid)
{
    for (struct call **link = &c->first; *link; link = &(*link)->next) {
        struct call *call = *link;
        if (call->xid != xid)
            continue;
        *link = call->next;
        if (!call->next)
            c->last = link;
        c->n_calls--;
        return call;
    }
    return NULL;
}

/* The callback may destroy the client: callers check is_destroyed afterwards. */
static void complete(struct rpc_client *c, struct call *call, struct rpc_call_reply *reply)
{
    reply->xid = call->xid;
    reply->started = call->started;
    rpc_reply_cb on_reply = call->on_reply;
    void *arg = call->arg;
    free_call(call);
    c->depth++;
    on_reply(c, reply, arg);
    c->depth--;
}

static void fail_call(struct rpc_client *c, struct call *call, enum rpc_call_result result, const char *message)
{
    struct rpc_call_reply reply = {.result = result, .message = message, .done = mono_now()};
    complete(c, call, &reply);
}

static void arm_deadline(struct rpc_client *c)
{
    mono_t first = MONO_NEVER;
    for (struct call *call = c->first; call; call = call->next) {
        if (mono_before(call->deadline, first))
            first = call->deadline;
    }
    if (!c->first) {
        event_del(c->deadline_timer);
        return;
    }
    int64_t left_ns = mono_since_ns(first, mono_now());
    if (left_ns < 0)
        left_ns = 0;
    struct timeval tv = {left_ns / NS_PER_S, left_ns % NS_PER_S / NS_PER_US + 1};
    if (tv.tv_usec == 1000000)
        tv = (struct timeval){tv.tv_sec + 1, 0};
    event_add(c->deadline_timer, &tv);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct rpc_client *c = arg;
    (void)fd, (void)what;
    mono_t now = mono_now();
    for (;;) {
        struct call *late = c->first;
        while (late && mono_before(now, late->deadline))
            late = late->next;
        if (!late)
            break;
        fail_call(c, take_call(c, late->xid), RPC_CALL_TIMEOUT, c->conn ? "no reply in time" : "not connected in time");
        if (c->is_destroyed)
            return;
    }
    arm_deadline(c);
}

static void end_connection(struct rpc_client *c)
{
    if (c->conn)
        rpc_conn_destroy(c->conn);
    c->conn = NULL;
    while (c->first && !c->is_destroyed)
        fail_call(c, take_call(c, c->first->xid), RPC_CALL_BROKEN, c->close_message);
    if (c->is_destroyed)
        return;
    event_del(c->deadline_timer);
    if (c->handlers.on_closed) {
        c->depth++;
        c->handlers.on_closed(c, c->close_error, c->close_message, c->arg);
        c->depth--;
    }
}

static void on_reaper(evutil_socket_t fd, short what, void *arg)
{
    struct rpc_client *c = arg;
    (void)fd, (void)what;
    if (!c->is_destroyed)
        end_connection(c);
    if (c->is_destroyed)
        free_client(c);
}

/* From now on no call is accepted; what is in flight completes from the loop. */
static void close_later(struct rpc_client *c, int error, const char *message)
{
    if (c->is_closed)
        return;
    c->is_closed = true;
    c->close_error = error;
    snprintf(c->close_message, sizeof c->close_message, "%s", message);
    event_active(c->reaper, EV_TIMEOUT, 0);
}

static void on_record(struct rpc_conn *conn, uint8_t *record, size_t bytes, mono_t at, void *arg)
{
    struct rpc_client *c = arg;
    (void)conn;
    if (c->is_destroyed || c->is_closed)
        return;
    struct rpc_reply_header header;
    rpc_msg_parse_reply(record, bytes, &header);
    struct call *call = header.has_xid && header.kind != RPC_REPLY_NOT_REPLY ? take_call(c, header.xid) : NULL;
    if (!call) {
        c->n_unknown_xids++; /* unknown, duplicate, late, or not a reply at all */
        return;
    }
    char why[160] = "";
    struct rpc_call_reply reply = {.message = why, .done = at};
    if (header.kind == RPC_REPLY_SUCCESS) {
        reply.result = RPC_CALL_OK;
        reply.results = header.results;
        reply.results_bytes = header.results_bytes;
    } else if (header.kind == RPC_REPLY_REFUSED) {
        reply.result = RPC_CALL_REFUSED;
        reply.is_denied = header.is_denied;
        reply.accept_stat = header.stat;
        rpc_msg_refusal(&header, why, sizeof why);
    } else {
        reply.result = RPC_CALL_MALFORMED;
        snprintf(why, sizeof why, "malformed RPC reply header");
    }
    complete(c, call, &reply);
}

static void on_conn_close(struct rpc_conn *conn, int error, const char *message, void *arg)
{
    (void)conn;
    close_later(arg, error, message);
}

/* Sends what the call holds; the record is rpc_conn's copy afterwards. */
static void send_call(struct rpc_client *c, struct call *call)
{
    int error = rpc_conn_send(c->conn, call->record, call->record_bytes, NULL, 0, NULL);
    free(call->record);
    call->record = NULL;
    if (error)
        close_later(c, error, strerror(-error));
}

static int use_socket(struct rpc_client *c, int fd)
{
    static const struct rpc_conn_handlers handlers = {.on_record = on_record, .on_close = on_conn_close};
    struct rpc_conn_limits limits = {
        .max_record_bytes = c->max_record_bytes, .max_queued_bytes = SIZE_MAX, .read_buffer_bytes = 16384};
    c->conn = rpc_conn_create(c->base, fd, &limits, &handlers, c);
    if (c->conn)
        return 0;
    close(fd);
    return -ENOMEM;
}

static void on_connect_done(int fd, int error, const char *message, void *arg)
{
    struct rpc_client *c = arg;
    c->connecting = NULL;
    if (!error && use_socket(c, fd)) {
        error = -ENOMEM;
        message = "out of memory";
    }
    if (error) {
        close_later(c, error, message);
        return;
    }
    if (c->handlers.on_connected) {
        c->depth++;
        c->handlers.on_connected(c, c->arg);
        c->depth--;
    }
    for (struct call *call = c->first; call && !c->is_destroyed; call = call->next) {
        if (call->record)
            send_call(c, call);
    }
}

static struct rpc_client *new_client(struct event_base *base, const struct rpc_client_options *options,
                                     const struct rpc_client_handlers *handlers, void *arg)
{
    static uint32_t n_clients;
    struct rpc_client *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->base = base;
    c->handlers = *handlers;
    c->arg = arg;
    c->last = &c->first;
    c->max_record_bytes = options->max_record_bytes;
    /* Different from connection to connection, so that a server's duplicate request cache cannot take one's call for
     * another's. */
    c->next_xid = (uint32_t)mono_now().ns ^ (uint32_t)getpid() << 16 ^ ++n_clients << 20;
    if (options->auth) {
        c->has_auth = true;
        c->auth = *options->auth;
        snprintf(c->machine_name, sizeof c->machine_name, "%s", options->auth->machine_name);
        c->auth.machine_name = c->machine_name;
    }
    c->deadline_timer = event_new(base, -1, 0, on_deadline, c);
    c->reaper = event_new(base, -1, 0, on_reaper, c);
    if (c->deadline_timer && c->reaper)
        return c;
    free_client(c);
    return NULL;
}

struct rpc_client *rpc_client_create(struct event_base *base, const struct rpc_client_options *options,
                                     const struct rpc_client_handlers *handlers, void *arg)
{
    struct rpc_client *c = new_client(base, options, handlers, arg);
    if (!c)
        return NULL;
    c->connecting = rpc_connect_start(base, &options->connect, on_connect_done, c);
    if (c->connecting)
        return c;
    free_client(c);
    return NULL;
}

struct rpc_client *rpc_client_adopt(struct event_base *base, int fd, const struct rpc_client_options *options,
                                    const struct rpc_client_handlers *handlers, void *arg)
{
    struct rpc_client *c = new_client(base, options, handlers, arg);
    if (!c) {
        close(fd);
        return NULL;
    }
    if (use_socket(c, fd) == 0)
        return c;
    free_client(c);
    return NULL;
}

void rpc_client_destroy(struct rpc_client *client)
{
    if (!client || client->is_destroyed)
        return;
    client->is_destroyed = true;
    if (client->depth == 0)
        free_client(client);
    else
        event_active(client->reaper, EV_TIMEOUT, 0);
}

int rpc_client_call(struct rpc_client *client, uint32_t program, uint32_t version, uint32_t procedure,
                    const uint8_t *args, size_t args_bytes, int64_t timeout_ns, rpc_reply_cb on_reply, void *arg,
                    uint32_t *xid)
{
    assert(timeout_ns > 0 && on_reply);
    if (client->is_closed || client->is_destroyed)
        return -ENOTCONN;
    struct call *call = calloc(1, sizeof *call);
    uint8_t *record = malloc(RPC_MSG_CALL_HEADER_MAX + args_bytes);
    if (!call || !record) {
        free(call);
        free(record);
        return -ENOMEM;
    }
    call->client = client;
    call->xid = client->next_xid++;
    call->on_reply = on_reply;
    call->arg = arg;
    call->started = mono_now();
    call->deadline = mono_plus_ns(call->started, timeout_ns);
    call->record = record;
    call->record_bytes =
        rpc_msg_call_header(record, call->xid, program, version, procedure, client->has_auth ? &client->auth : NULL);
    if (args_bytes)
        memcpy(record + call->record_bytes, args, args_bytes);
    call->record_bytes += args_bytes;
    *client->last = call;
    client->last = &call->next;
    client->n_calls++;
    if (xid)
        *xid = call->xid;
    if (client->conn)
        send_call(client, call);
    arm_deadline(client);
    return 0;
}

void rpc_client_cancel(struct rpc_client *client, uint32_t xid)
{
    struct call *call = take_call(client, xid);
    if (call)
        free_call(call);
    arm_deadline(client);
}

uint32_t rpc_client_in_flight(const struct rpc_client *client)
{
    return client->n_calls;
}

uint64_t rpc_client_unknown_xids(const struct rpc_client *client)
{
    return client->n_unknown_xids;
}

int rpc_client_fd(const struct rpc_client *client)
{
    return client->conn ? rpc_conn_fd(client->conn) : -1;
}
