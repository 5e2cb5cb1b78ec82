/* nfs3_link.c - see nfs3_link.h.
 *
 *            connect ok                        broken, or the oldest call is late
 *   DOWN ──────────────────> UP ──────────────────────────────────────────────┐
 *    ^  │ connect failed: backoff 10 ms, doubling to 2 s                       │ close, complete all in flight
 *    └──┴──────────────────────────────────────────────────────────────────────┘
 *
 * The backoff starts again from nothing with the first good reply, not with the connection: a server that accepts and
 * hangs up is not hammered.
 */
#include "nfs3_link.h"

#include "log.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST_NS   (10 * NS_PER_MS)
#define BACKOFF_LAST_NS    (2 * NS_PER_S)
#define CONNECT_TIMEOUT_NS (10 * NS_PER_S)

struct call_list {
    struct nfs3_call *first, *last;
};

struct nfs3_link {
    const struct nfs3_link_config *config; /* (ref) the client's */
    nfs3_link_cb on_first;                 /* NULL once it has run */
    void *arg;
    void *wire; /* the transport's; NULL: down */
    struct rpc_connect *connecting;
    struct event *deadline_timer, *reconnect_timer;
    struct call_list in_flight, waiting;
    bool is_timer_set;
    int64_t backoff_ns;
    char why[256]; /* the connection broke last; told to the calls */
};

static void list_push(struct call_list *list, struct nfs3_call *call)
{
    struct nfs3_call_state *s = nfs3_call_state(call);
    s->prev = list->last;
    s->next = NULL;
    if (list->last)
        nfs3_call_state(list->last)->next = call;
    else
        list->first = call;
    list->last = call;
}

static void list_remove(struct call_list *list, struct nfs3_call *call)
{
    struct nfs3_call_state *s = nfs3_call_state(call);
    if (s->prev)
        nfs3_call_state(s->prev)->next = s->next;
    else
        list->first = s->next;
    if (s->next)
        nfs3_call_state(s->next)->prev = s->prev;
    else
        list->last = s->prev;
}

static struct timeval timeval_of(int64_t ns)
{
    ns = ns < 0 ? 0 : ns + NS_PER_US - 1; /* up: a timer that fires early would only fire twice */
    return (struct timeval){ns / NS_PER_S, ns % NS_PER_S / NS_PER_US};
}

static mono_t deadline_of(const struct nfs3_link *link, const struct nfs3_call *call)
{
    return mono_plus_ns(call->started, link->config->timeout_ns);
}

/* The timer runs while there are calls, for the oldest as it was when it was set: calls that complete meanwhile do not
 * touch it. */
static void set_deadline_timer(struct nfs3_link *link)
{
    mono_t first = MONO_NEVER;
    if (link->in_flight.first)
        first = deadline_of(link, link->in_flight.first);
    if (link->waiting.first && mono_before(deadline_of(link, link->waiting.first), first))
        first = deadline_of(link, link->waiting.first);
    if (first.ns == MONO_NEVER.ns)
        return;
    struct timeval tv = timeval_of(mono_since_ns(first, mono_now()));
    link->is_timer_set = event_add(link->deadline_timer, &tv) == 0;
}

/* ---- completing ---- */

static void complete(struct nfs3_link *link, struct nfs3_call *call, const struct nfs3_reply *reply)
{
    struct nfs3_call_state *s = nfs3_call_state(call);
    if (s->is_in_flight) {
        list_remove(&link->in_flight, call);
        link->config->counters->n_in_flight--;
    } else {
        list_remove(&link->waiting, call);
        link->config->counters->n_queued--;
    }
    if (call->sent.ns == 0)
        call->sent = call->started;
    call->on_done(call, reply);
}

void nfs3_link_complete(struct nfs3_link *link, struct nfs3_call *call, const struct nfs3_reply *reply)
{
    if (reply->result == NFS3_CALL_OK)
        link->backoff_ns = 0;
    link->config->counters->n_replies++;
    complete(link, call, reply);
}

static void fail(struct nfs3_link *link, struct nfs3_call *call, enum nfs3_call_result result, const char *message)
{
    struct nfs3_reply reply = {.result = result, .message = message};
    call->done = call->read_at = mono_now();
    complete(link, call, &reply);
}

static void reconnect_later(struct nfs3_link *link)
{
    struct timeval tv = timeval_of(link->backoff_ns);
    event_add(link->reconnect_timer, &tv);
    link->backoff_ns = link->backoff_ns ? 2 * link->backoff_ns : BACKOFF_FIRST_NS;
    if (link->backoff_ns > BACKOFF_LAST_NS)
        link->backoff_ns = BACKOFF_LAST_NS;
}

/* Closes the stream. Every call that is in flight now completes once: those past their deadline as TIMEOUT when `late`
 * is set. What on_done sends meanwhile waits for the next connection. */
static void go_down(struct nfs3_link *link, const char *why, bool is_late)
{
    char reason[sizeof link->why]; /* `why` may lie in what is closed here */
    snprintf(reason, sizeof reason, "%s", why);
    memcpy(link->why, reason, sizeof reason);
    link->config->transport->close(link->wire);
    link->wire = NULL;
    mono_t now = mono_now();
    while (link->in_flight.first) {
        struct nfs3_call *call = link->in_flight.first;
        bool is_timeout = is_late && !mono_before(now, deadline_of(link, call));
        fail(link, call, is_timeout ? NFS3_CALL_TIMEOUT : NFS3_CALL_BROKEN, reason);
    }
    reconnect_later(link);
}

void nfs3_link_broken(struct nfs3_link *link, const char *why)
{
    log_debug("connection to %s: %s", link->config->connect.host, why);
    go_down(link, why, false);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct nfs3_link *link = arg;
    (void)fd, (void)what;
    link->is_timer_set = false;
    mono_t now = mono_now();
    if (link->in_flight.first && !mono_before(now, deadline_of(link, link->in_flight.first))) {
        char why[96];
        snprintf(why, sizeof why, "no reply for %.3f s; connection closed",
                 (double)link->config->timeout_ns / NS_PER_S);
        go_down(link, why, true);
    }
    /* on_done may send again at once: those are not late, so this ends. */
    while (link->waiting.first && !mono_before(now, deadline_of(link, link->waiting.first)))
        fail(link, link->waiting.first, NFS3_CALL_TIMEOUT, link->why[0] ? link->why : "not connected in time");
    if (!link->is_timer_set)
        set_deadline_timer(link);
}

/* ---- connecting ---- */

/* 0, -ENOMEM, or -ENOTCONN. */
static int submit(struct nfs3_link *link, struct nfs3_call *call)
{
    int error = link->config->transport->submit(link->wire, call);
    if (error)
        return error;
    nfs3_call_state(call)->is_in_flight = true;
    list_push(&link->in_flight, call);
    link->config->counters->n_in_flight++;
    return 0;
}

static void submit_waiting(struct nfs3_link *link)
{
    while (link->waiting.first) {
        struct nfs3_call *call = link->waiting.first;
        list_remove(&link->waiting, call);
        int error = submit(link, call);
        if (!error) {
            link->config->counters->n_queued--;
            continue;
        }
        /* Back to the head of the list: order by deadline is kept. */
        struct call_list rest = link->waiting;
        link->waiting = (struct call_list){0};
        list_push(&link->waiting, call);
        if (rest.first) {
            nfs3_call_state(call)->next = rest.first;
            nfs3_call_state(rest.first)->prev = call;
            link->waiting.last = rest.last;
        }
        if (error == -ENOTCONN)
            return; /* broken is on its way */
        fail(link, call, NFS3_CALL_BROKEN, "out of memory");
    }
}

static void on_connected(int fd, int error, const char *message, void *arg)
{
    struct nfs3_link *link = arg;
    const char *why = message;
    bool is_first = link->on_first != NULL;
    nfs3_link_cb on_first = link->on_first;
    link->connecting = NULL;
    link->on_first = NULL;
    if (!error)
        error = link->config->transport->open(link, fd, &link->wire, &why);
    if (error) {
        snprintf(link->why, sizeof link->why, "%s", why);
        if (is_first)
            on_first(link, error, why, link->arg);
        else
            reconnect_later(link);
        return;
    }
    if (is_first)
        on_first(link, 0, "", link->arg);
    else
        link->config->counters->n_reconnects++;
    submit_waiting(link);
}

static void start_connect(struct nfs3_link *link)
{
    struct rpc_connect_options options = link->config->connect;
    options.timeout_ns = CONNECT_TIMEOUT_NS;
    link->connecting = rpc_connect_start(link->config->base, &options, on_connected, link);
    if (!link->connecting)
        reconnect_later(link);
}

static void on_reconnect(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    start_connect(arg);
}

/* ---- the link ---- */

struct nfs3_link *nfs3_link_create(const struct nfs3_link_config *config, nfs3_link_cb on_first, void *arg)
{
    struct nfs3_link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->config = config;
    link->on_first = on_first;
    link->arg = arg;
    link->deadline_timer = event_new(config->base, -1, 0, on_deadline, link);
    link->reconnect_timer = event_new(config->base, -1, 0, on_reconnect, link);
    if (link->deadline_timer && link->reconnect_timer) {
        start_connect(link);
        return link;
    }
    nfs3_link_destroy(link);
    return NULL;
}

void nfs3_link_destroy(struct nfs3_link *link)
{
    if (!link)
        return;
    if (link->connecting)
        rpc_connect_cancel(link->connecting);
    if (link->wire)
        link->config->transport->close(link->wire);
    link->wire = NULL;
    /* Only what is there now: on_done may send again, and that call is refused by the client, which is closing. */
    while (link->in_flight.first)
        fail(link, link->in_flight.first, NFS3_CALL_BROKEN, "client closed");
    while (link->waiting.first)
        fail(link, link->waiting.first, NFS3_CALL_BROKEN, "client closed");
    if (link->deadline_timer)
        event_free(link->deadline_timer);
    if (link->reconnect_timer)
        event_free(link->reconnect_timer);
    free(link);
}

int nfs3_link_send(struct nfs3_link *link, struct nfs3_call *call)
{
    call->started = mono_now();
    call->sent = (mono_t){0};
    int error = link->wire ? submit(link, call) : -ENOTCONN;
    if (error == -ENOTCONN) {
        nfs3_call_state(call)->is_in_flight = false;
        list_push(&link->waiting, call);
        link->config->counters->n_queued++;
    } else if (error) {
        return error;
    }
    link->config->counters->n_calls++;
    if (!link->is_timer_set)
        set_deadline_timer(link);
    return 0;
}

bool nfs3_link_is_up(const struct nfs3_link *link)
{
    return link->wire != NULL;
}

const struct nfs3_link_config *nfs3_link_config(const struct nfs3_link *link)
{
    return link->config;
}

void nfs3_link_count_bytes(const struct nfs3_link *link)
{
    if (link->wire && link->config->transport->count_bytes)
        link->config->transport->count_bytes(link->wire);
}
