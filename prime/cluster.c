/* cluster.c - see cluster.h and cluster_node.h. */
#include "cluster.h"

#include "cluster_node.h"
#include "log.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS       (50 * NS_PER_MS)
#define POLL_FAST_NS  (50 * NS_PER_MS) /* while a step waits for processes to stop or to mount */
#define POLL_PHASE_NS (250 * NS_PER_MS)
#define POLL_REST_NS  (1000 * NS_PER_MS) /* heartbeats between steps */

/* ---- steps ---- */

static void schedule_step_end(struct cluster *c)
{
    event_active(c->on_step_end, EV_TIMEOUT, 0);
}

static void on_step_end(evutil_socket_t fd, short what, void *arg)
{
    struct cluster *c = arg;
    char message[sizeof(c->message)];

    (void)fd;
    (void)what;
    if (c->step == CLUSTER_AT_REST || c->n_busy > 0) {
        return;
    }
    int error = c->error;
    memcpy(message, c->message, sizeof(message));
    c->step = CLUSTER_AT_REST;
    c->is_stopping = false;
    c->events.on_step(c, error, message, c->arg);
}

bool step_begin(struct cluster *c, enum cluster_step step, bool is_for_the_rest)
{
    assert(c->step == CLUSTER_AT_REST);
    c->step = step;
    c->error = 0;
    c->message[0] = 0;
    c->n_busy = 0;
    c->is_stopping = false;
    c->step_deadline = c->stop_deadline = MONO_NEVER;
    for (uint32_t i = 0; i < c->n_nodes && !is_for_the_rest; i++) {
        if (c->nodes[i].is_lost) {
            step_fail(c, &c->nodes[i], -1, -ENOTCONN, "it was lost before");
        }
    }
    for (uint32_t i = 0; i < c->n_nodes && !c->error; i++) {
        c->nodes[i].is_busy = !c->nodes[i].is_lost;
        c->n_busy += c->nodes[i].is_busy;
    }
    if (c->n_busy == 0) {
        schedule_step_end(c);
    }
    return c->n_busy > 0;
}

void step_fail(struct cluster *c, const struct node *node, int32_t process, int error, const char *message)
{
    char what[512] = "";
    size_t used = strlen(c->message);

    if (node && process >= 0) {
        snprintf(what, sizeof(what), "load generator %s process %d: ", node->name, process);
    } else if (node) {
        snprintf(what, sizeof(what), "load generator %s (%s port %u): ", node->name, node->host, node->port);
    }
    if (!c->error) {
        c->error = error;
        snprintf(c->message, sizeof(c->message), "%s%s", what, message);
    } else if (c->step == CLUSTER_CONNECTING && error != -ECANCELED && used < sizeof(c->message) / 2) {
        /* All that are unreachable at once: they are put right at once. */
        snprintf(c->message + used, sizeof(c->message) - used, "; %s%s", what, message);
    }
}

void node_finish(struct node *node)
{
    struct cluster *c = node->cluster;

    if (!node->is_busy) {
        return;
    }
    node->is_busy = false;
    if (--c->n_busy == 0) {
        schedule_step_end(c);
    }
}

void step_cancel(struct cluster *c)
{
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        struct node *node = &c->nodes[i];
        if (node->client) {
            control_client_abandon(node->client);
            node->is_polled = false;
        }
        node_finish(node);
    }
}

/* ---- nodes ---- */

void node_note_rtt(struct node *node, int64_t rtt_ns)
{
    if (node->n_rtts == 0 || rtt_ns < node->facts.rtt_ns) {
        node->facts.rtt_ns = rtt_ns;
    }
    node->n_rtts++;
}

void node_lost(struct node *node, int error, const char *reason)
{
    struct cluster *c = node->cluster;
    char text[512];

    if (node->is_lost) {
        return;
    }
    snprintf(text, sizeof(text), "%s", reason); /* it may belong to the client */
    node->is_lost = true;
    node->has_lease = false;
    node->is_polled = false;
    control_client_destroy(node->client);
    node->client = NULL;
    if (c->events.on_lost && c->step != CLUSTER_CONNECTING) {
        c->events.on_lost(c, node->index, -1, text, c->arg);
    }
    if (node->is_busy && c->step != CLUSTER_RELEASING) {
        step_fail(c, node, -1, error, text);
    }
    if (c->step == CLUSTER_IN_PHASE) {
        step_fail(c, node, -1, error, text);
        phase_stop(c);
    } else if (c->step == CLUSTER_CONFIGURING) {
        step_cancel(c);
    }
    node_finish(node);
    if (c->step == CLUSTER_COLLECTING) {
        collect_on_loss(c);
    }
}

void node_failed(struct node *node, int error, const char *message)
{
    struct cluster *c = node->cluster;

    switch (error) {
    case -ENOTCONN:
        node_lost(node, c->step == CLUSTER_CONNECTING ? -EHOSTUNREACH : -ENOTCONN, message);
        return;
    case -ETIMEDOUT:
        node_lost(node, -ETIMEDOUT, "no answer in time; the host or its nfscurve-loadgen hangs");
        return;
    case -EACCES:
    case -EBADMSG: {
        char text[512];
        snprintf(text, sizeof(text),
                 "%s (nfscurve-loadgen --key-file and the campaign's control.key_file have to be the same)", message);
        node_lost(node, -EACCES, text);
        return;
    }
    case -EPROTO:
    case -ENOLCK:
        node_lost(node, error == -EPROTO ? -EPROTO : -ENOTCONN, message);
        return;
    default:
        step_fail(c, node, -1, error, message);
        if (c->step == CLUSTER_IN_PHASE) {
            phase_stop(c);
        }
        node_finish(node);
        if (c->step == CLUSTER_COLLECTING) {
            collect_on_loss(c);
        }
    }
}

void node_tell_death(struct node *node, uint32_t process, const char *reason)
{
    struct cluster *c = node->cluster;

    if (process < sizeof(node->has_told_death) && node->has_told_death[process]) {
        return;
    }
    if (process < sizeof(node->has_told_death)) {
        node->has_told_death[process] = true;
    }
    if (c->events.on_lost) {
        c->events.on_lost(c, node->index, (int32_t)process, reason, c->arg);
    }
}

/* ---- polling ---- */

static void on_status(struct control_client *client, int error, const char *message,
                      const struct control_answer *answer, void *arg)
{
    struct node *node = arg;
    struct cluster *c = node->cluster;

    (void)client;
    node->is_polled = false;
    if (error) {
        node_failed(node, error, message);
        return;
    }
    node_note_rtt(node, answer->rtt_ns);
    if (c->step == CLUSTER_CONFIGURING && node->is_busy) {
        configure_on_status(node, answer);
    } else if (c->step == CLUSTER_IN_PHASE) {
        phase_on_status(node, answer);
    } else {
        for (uint32_t i = 0; i < answer->n; i++) {
            if (answer->processes[i].is_dead) {
                node_tell_death(node, i, answer->processes[i].message);
            }
        }
    }
}

void node_poll(struct node *node)
{
    if (!node->has_lease || node->is_lost || node->is_polled) {
        return;
    }
    int error = control_client_status(node->client, CLUSTER_CALL_TIMEOUT_NS, on_status, node);
    if (error) {
        node_failed(node, error, strerror(-error));
    } else {
        node->is_polled = true;
    }
}

static int64_t poll_every_ns(const struct cluster *c)
{
    if (c->is_stopping || c->step == CLUSTER_CONFIGURING) {
        return POLL_FAST_NS;
    }
    return c->step == CLUSTER_IN_PHASE ? POLL_PHASE_NS : POLL_REST_NS;
}

static void on_poll(evutil_socket_t fd, short what, void *arg)
{
    struct cluster *c = arg;
    mono_t now = mono_now();

    (void)fd;
    (void)what;
    if (c->step == CLUSTER_CONFIGURING && mono_before(c->step_deadline, now)) {
        step_fail(c, NULL, -1, -ETIMEDOUT, "the processes could not mount their targets in time");
        step_cancel(c);
    }
    if (c->step == CLUSTER_IN_PHASE) {
        phase_on_poll(c, now);
    }
    if (mono_since_ns(now, c->last_poll) < poll_every_ns(c) - TICK_NS / 2) {
        return;
    }
    c->last_poll = now;
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        node_poll(&c->nodes[i]);
    }
}

/* ---- life ---- */

void cluster_stop_phase(struct cluster *c)
{
    switch (c->step) {
    case CLUSTER_IN_PHASE:
        step_fail(c, NULL, -1, -ECANCELED, "stopped");
        phase_stop(c);
        break;
    case CLUSTER_CONNECTING:
    case CLUSTER_CONFIGURING:
    case CLUSTER_COLLECTING:
        step_fail(c, NULL, -1, -ECANCELED, "stopped");
        step_cancel(c);
        break;
    case CLUSTER_AT_REST:
    case CLUSTER_RELEASING: /* ends soon by itself */
        break;
    }
}

struct cluster *cluster_create(struct event_base *base, const struct cluster_host *hosts, uint32_t n_hosts,
                               const uint8_t *key, const struct cluster_events *events, void *arg)
{
    static const struct timeval tick = {.tv_usec = TICK_NS / NS_PER_US};
    struct cluster *c = calloc(1, sizeof(*c));

    if (!c) {
        return NULL;
    }
    c->base = base;
    c->events = *events;
    c->arg = arg;
    c->has_key = key != NULL;
    if (key) {
        memcpy(c->key, key, sizeof(c->key));
    }
    c->nodes = calloc(n_hosts + 1, sizeof(*c->nodes));
    c->on_step_end = event_new(base, -1, 0, on_step_end, c);
    c->on_poll = event_new(base, -1, EV_PERSIST, on_poll, c);
    if (!c->nodes || !c->on_step_end || !c->on_poll || event_add(c->on_poll, &tick) < 0) {
        goto failed;
    }
    for (; c->n_nodes < n_hosts; c->n_nodes++) {
        struct node *node = &c->nodes[c->n_nodes];
        node->cluster = c;
        node->index = c->n_nodes;
        node->port = hosts[c->n_nodes].port;
        node->name = strdup(hosts[c->n_nodes].name);
        node->host = strdup(hosts[c->n_nodes].host);
        if (!node->name || !node->host) {
            c->n_nodes++;
            goto failed;
        }
    }
    return c;
failed:
    cluster_destroy(c);
    return NULL;
}

void cluster_destroy(struct cluster *c)
{
    if (!c) {
        return;
    }
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        struct node *node = &c->nodes[i];
        control_client_destroy(node->client);
        free(node->tally);
        free(node->blocks);
        free(node->name);
        free(node->host);
    }
    for (uint32_t i = 0; i < c->n_targets; i++) {
        free(c->target_names[i]);
    }
    free(c->target_names);
    collect_fini(c);
    if (c->on_step_end) {
        event_free(c->on_step_end);
    }
    if (c->on_poll) {
        event_free(c->on_poll);
    }
    memset(c->key, 0, sizeof(c->key));
    free(c->nodes);
    free(c);
}

void loadgen_facts_take(struct loadgen_facts *to, const struct control_facts *from, int64_t rtt_ns)
{
    snprintf(to->hostname, sizeof(to->hostname), "%s", from->hostname);
    snprintf(to->version, sizeof(to->version), "%s", from->software);
    snprintf(to->cpu_model, sizeof(to->cpu_model), "%s", from->cpu_model);
    snprintf(to->os, sizeof(to->os), "%s", from->os);
    snprintf(to->addresses, sizeof(to->addresses), "%s", from->addresses);
    to->n_cpus = from->n_cpus;
    to->memory_bytes = from->memory_bytes;
    /* Its clock was read about half a round trip ago. */
    to->clock_skew_ns = from->wall.ns - (wall_now().ns - rtt_ns / 2);
}

const struct loadgen_facts *cluster_facts(const struct cluster *c, uint32_t loadgen)
{
    assert(loadgen < c->n_nodes);
    return &c->nodes[loadgen].facts;
}
