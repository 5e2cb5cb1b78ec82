/* nfs3_libnfs.c - the libnfs engine: libnfs's raw asynchronous calls over a socket of our own.
 *
 *   call ──args──> libnfs queue ──rpc_service(POLLOUT) at the end of the tick──> our socket, put in place by dup2
 *        <──checked reply── callback <──rpc_service(POLLIN)──
 *
 * What is known of libnfs 4 (library facts, section 5) shapes all of this:
 * - As root it binds a reserved port for every connection and hunts all 512 when they run out. So it is connected to a
 * listening socket of our own, with the capability for reserved ports laid down meanwhile, and then our connected
 * socket takes the place of its by dup2.
 * - Its time-outs corrupt the stream and its counters, its reconnect re-sends: neither is used. The link has deadlines
 * and reconnects.
 * - Destroying a context calls back every call with CANCEL, when those calls have long been completed: such callbacks
 * touch nothing.
 * - A status of ERROR is either one bad reply or the end of the stream; only rpc_service's result tells. So errors wait
 * for it.
 * - A hostile server can still corrupt its memory. Processes are made for that: one that dies is a named result.
 */
#include "nfs3_libnfs.h"
#include "nfs3_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <linux/capability.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RENDEZVOUS_TIMEOUT_MS 1000

/* A call in libnfs's hands. */
struct pending {
    struct nfs3_call *call;
    struct wire *wire;
    struct pending *prev, *next; /* of the unsent list */
    struct pending *next_free;   /* of the free or the failed list */
    bool is_unsent;
    void *buffer; /* READ data, where libnfs wants a buffer */
};

struct wire {
    struct nfs3_link *link; /* (ref) */
    struct rpc_context *rpc;
    struct event *read_event, *write_event, *tick_event;
    bool is_ticking, is_writing;
    mono_t flushed_at;     /* the last write began */
    struct pending unsent; /* ring head, oldest first */
    struct pending *free_list, *failed, **all;
    size_t n_all, all_capacity;
    struct nfs3_decoder decoder;
    uint64_t bytes_sent, bytes_received; /* as told to the counters */
};

/* ---- calls in libnfs's hands ---- */

static struct pending *pending_get(struct wire *w)
{
    struct pending *p = w->free_list;
    if (p) {
        w->free_list = p->next_free;
        return p;
    }
    if (w->n_all == w->all_capacity) {
        size_t capacity = w->all_capacity ? 2 * w->all_capacity : 64;
        struct pending **all = realloc(w->all, capacity * sizeof *all);
        if (!all)
            return NULL;
        w->all = all;
        w->all_capacity = capacity;
    }
    p = calloc(1, sizeof *p);
    if (p)
        w->all[w->n_all++] = p;
    return p;
}

static void pending_put(struct pending *p)
{
    struct wire *w = p->wire;
    free(p->buffer);
    p->buffer = NULL;
    p->call = NULL;
    p->next_free = w->free_list;
    w->free_list = p;
}

static void note_sent(struct pending *p, mono_t at)
{
    p->prev->next = p->next;
    p->next->prev = p->prev;
    p->is_unsent = false;
    p->call->sent = at;
}

/* ---- replies ---- */

static void on_reply(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    mono_t now = mono_now();
    struct pending *p = private_data;
    (void)rpc;
    if (status == RPC_STATUS_CANCEL)
        return;
    p->call->done = p->call->read_at = now;
    if (p->is_unsent)
        note_sent(p, p->wire->flushed_at); /* a part of the queue has left and this was in it */
    if (status != RPC_STATUS_SUCCESS) {
        p->next_free = p->wire->failed;
        p->wire->failed = p;
        return;
    }
    struct nfs3_reply reply;
    struct nfs3_call *call = p->call;
    struct wire *w = p->wire;
    nfs3_libnfs_reply(&w->decoder, call, data, p->buffer, &reply);
    void *buffer = p->buffer; /* must outlive on_done, and on_done may take the pending for its next call */
    p->buffer = NULL;
    pending_put(p);
    nfs3_link_complete(w->link, call, &reply);
    free(buffer);
}

/* The calls that libnfs could not make sense of, when the stream lives on. */
static void complete_failed(struct wire *w)
{
    while (w->failed) {
        struct pending *p = w->failed;
        struct nfs3_call *call = p->call;
        struct nfs3_reply reply = {.result = NFS3_CALL_RPC_ERROR,
                                   .message =
                                       "refused by the server's RPC layer, or a reply that libnfs cannot decode"};
        w->failed = p->next_free;
        pending_put(p);
        nfs3_link_complete(w->link, call, &reply);
    }
}

/* False when the stream has ended; the wire is gone then. */
static bool service(struct wire *w, int events)
{
    if (rpc_service(w->rpc, events) < 0) {
        char why[200];
        snprintf(why, sizeof why, "libnfs: %s", rpc_get_error(w->rpc));
        nfs3_link_broken(w->link, why);
        return false;
    }
    complete_failed(w);
    return true;
}

/* ---- sending ---- */

/* Writes what is queued. False when the stream has ended. */
static bool flush(struct wire *w)
{
    /* Before, not after, as in rpc_conn.c: a response may look too long, by the write, and never too short. */
    w->flushed_at = mono_now();
    if (rpc_which_events(w->rpc) & POLLOUT && !service(w, POLLOUT))
        return false;
    bool is_wanted = rpc_which_events(w->rpc) & POLLOUT;
    while (!is_wanted && w->unsent.next != &w->unsent)
        note_sent(w->unsent.next, w->flushed_at);
    if (is_wanted && !w->is_writing)
        event_add(w->write_event, NULL);
    else if (!is_wanted && w->is_writing)
        event_del(w->write_event);
    w->is_writing = is_wanted;
    return true;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct wire *w = arg;
    (void)fd, (void)what;
    w->is_ticking = false;
    if (!w->is_writing)
        flush(w);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    flush(arg);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    service(arg, POLLIN);
}

static int libnfs_submit(void *wire, struct nfs3_call *call)
{
    struct wire *w = wire;
    struct pending *p = pending_get(w);
    if (!p)
        return -ENOMEM;
    p->call = call;
    p->wire = w;
#ifdef LIBNFS_API_V2
    p->buffer = call->op == NFS_OP_READ ? malloc(call->read.count + 1) : NULL;
#endif
    int error = nfs3_libnfs_submit(w->rpc, on_reply, call, p->buffer, p);
    if (error) {
        pending_put(p);
        return error;
    }
    p->is_unsent = true;
    p->prev = w->unsent.prev;
    p->next = &w->unsent;
    p->prev->next = p->next->prev = p;
    if (!w->is_ticking) {
        w->is_ticking = true;
        event_active(w->tick_event, EV_TIMEOUT, 0);
    }
    return 0;
}

/* ---- opening ---- */

/* Lays down CAP_NET_BIND_SERVICE for this thread, or takes it up again. What it was before is in *saved. */
static void set_bind_capability(bool is_allowed, struct __user_cap_data_struct saved[2])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (is_allowed) {
        syscall(SYS_capset, &header, saved);
        return;
    }
    if (syscall(SYS_capget, &header, saved) != 0)
        memset(saved, 0, 2 * sizeof *saved);
    memcpy(data, saved, sizeof data);
    data[0].effective &= ~(1u << CAP_NET_BIND_SERVICE);
    syscall(SYS_capset, &header, data);
}

static void on_rendezvous(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc, (void)data;
    if (status != RPC_STATUS_CANCEL)
        *(int *)private_data = status == RPC_STATUS_SUCCESS ? 0 : -ECONNREFUSED;
}

/* Makes libnfs believe that it has connected: to a listening socket that nobody else knows, on loopback, which takes
 * microseconds. */
static int rendezvous(struct rpc_context *rpc)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    struct __user_cap_data_struct saved[2];
    int result = -ETIMEDOUT;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0)
        return -errno;
    if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &len)) {
        result = -errno;
        goto out;
    }
    set_bind_capability(false, saved);
    int started = rpc_connect_async(rpc, "127.0.0.1", ntohs(address.sin_port), on_rendezvous, &result);
    set_bind_capability(true, saved);
    if (started != 0) {
        result = -ECONNREFUSED;
        goto out;
    }
    struct pollfd pfd = {.fd = rpc_get_fd(rpc), .events = POLLOUT};
    if (poll(&pfd, 1, RENDEZVOUS_TIMEOUT_MS) == 1 && rpc_service(rpc, pfd.revents) < 0)
        result = -ECONNREFUSED;
out:
    close(listener);
    return result;
}

static void libnfs_count_bytes(void *wire)
{
    struct wire *w = wire;
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    if (getsockopt(rpc_get_fd(w->rpc), IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return;
    struct nfs3_client_counters *counters = nfs3_link_config(w->link)->counters;
    counters->bytes_sent += info.tcpi_bytes_acked - w->bytes_sent;
    counters->bytes_received += info.tcpi_bytes_received - w->bytes_received;
    w->bytes_sent = info.tcpi_bytes_acked;
    w->bytes_received = info.tcpi_bytes_received;
}

static void free_wire(struct wire *w)
{
    if (w->read_event)
        event_free(w->read_event);
    if (w->write_event)
        event_free(w->write_event);
    if (w->tick_event)
        event_free(w->tick_event);
    if (w->rpc)
        rpc_destroy_context(w->rpc);
    for (size_t i = 0; i < w->n_all; i++) {
        free(w->all[i]->buffer);
        free(w->all[i]);
    }
    free(w->all);
    nfs3_decoder_fini(&w->decoder);
    free(w);
}

static void libnfs_close(void *wire)
{
    libnfs_count_bytes(wire);
    free_wire(wire);
}

static int set_auth(struct wire *w)
{
    const struct rpc_auth_sys *auth = &nfs3_link_config(w->link)->auth;
    uint32_t gids[RPC_MSG_GIDS_MAX];
    memcpy(gids, auth->gids, sizeof gids);
    struct AUTH *made = libnfs_authunix_create(auth->machine_name, auth->uid, auth->gid, auth->n_gids, gids);
    if (!made)
        return -ENOMEM;
    rpc_set_auth(w->rpc, made); /* freed with the context */
    return 0;
}

static int open_context(struct wire *w, int fd)
{
    struct event_base *base = nfs3_link_config(w->link)->base;
    w->rpc = rpc_init_context();
    if (!w->rpc)
        return -ENOMEM;
    int error = set_auth(w);
    if (!error)
        error = rendezvous(w->rpc);
    if (error)
        return error;
    int own = rpc_get_fd(w->rpc);
    if (dup2(fd, own) < 0)
        return -errno;
    w->read_event = event_new(base, own, EV_READ | EV_PERSIST, on_readable, w);
    w->write_event = event_new(base, own, EV_WRITE | EV_PERSIST, on_writable, w);
    w->tick_event = event_new(base, -1, 0, on_tick, w);
    bool is_made = w->read_event && w->write_event && w->tick_event && event_add(w->read_event, NULL) == 0;
    return is_made ? 0 : -ENOMEM;
}

static int libnfs_open(struct nfs3_link *link, int fd, void **wire, const char **why)
{
    struct wire *w = calloc(1, sizeof *w);
    int error = -ENOMEM;
    if (w) {
        w->link = link;
        w->unsent.prev = w->unsent.next = &w->unsent;
        nfs3_decoder_init(&w->decoder);
        error = open_context(w, fd);
    }
    close(fd); /* libnfs has its own by dup2 */
    if (error) {
        *why = "libnfs took no connection";
        if (w)
            free_wire(w);
        return error;
    }
    *wire = w;
    return 0;
}

const struct nfs3_transport nfs3_libnfs_transport = {.name = "libnfs",
                                                     .open = libnfs_open,
                                                     .close = libnfs_close,
                                                     .submit = libnfs_submit,
                                                     .count_bytes = libnfs_count_bytes};
