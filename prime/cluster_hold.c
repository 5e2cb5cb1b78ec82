/* cluster_hold.c - taking load generators and letting them go: connect, configure, release. See cluster_node.h. */
#include "cluster_node.h"
#include "log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_NS   (10 * NS_PER_S)
#define CONFIGURE_TIMEOUT_NS (30 * NS_PER_S) /* forks, and may look up names */
#define RELEASE_TIMEOUT_NS   (3 * NS_PER_S)
#define N_RTTS               3

static void on_closed(struct control_client *client, const char *why, void *arg)
{
    (void)client;
    node_lost(arg, ((struct node *)arg)->cluster->step == CLUSTER_CONNECTING ? -EHOSTUNREACH : -ENOTCONN, why);
}

/* ---- connect: HELLO, then FACTS, several times for the round trip ---- */

/* What does not stop a campaign, but whoever compares its results or reads its logs should know. */
static void warn_of_differences(const struct node *node)
{
    const struct loadgen_facts *f = &node->facts;

    if (strcmp(f->version, NFSCURVE_VERSION) != 0) {
        log_warn("load generator %s runs nfscurve %s, this prime %s", node->name, f->version, NFSCURVE_VERSION);
    }
    if (f->clock_skew_ns > NS_PER_S || f->clock_skew_ns < -NS_PER_S) {
        log_warn(
            "load generator %s: its clock is %+.1f s off this one; intervals are not affected, times in its log are",
            node->name, (double)f->clock_skew_ns / 1e9);
    }
}

static void on_facts(struct control_client *client, int error, const char *message, const struct control_answer *answer,
                     void *arg)
{
    struct node *node = arg;
    char text[640];

    if (error) {
        node_failed(node, error, message);
        return;
    }
    if (answer->facts.held_by_campaign[0]) {
        snprintf(text, sizeof(text), "busy: held by campaign %s from %s", answer->facts.held_by_campaign,
                 answer->facts.held_by_host);
        node_failed(node, -EBUSY, text);
        return;
    }
    node_note_rtt(node, answer->rtt_ns);
    loadgen_facts_take(&node->facts, &answer->facts, answer->rtt_ns);
    if (node->n_rtts >= N_RTTS) {
        warn_of_differences(node);
        node_finish(node);
        return;
    }
    error = control_client_facts(client, CLUSTER_CALL_TIMEOUT_NS, on_facts, node);
    if (error) {
        node_failed(node, error, strerror(-error));
    }
}

static void on_hello(struct control_client *client, int error, const char *message, const struct control_answer *answer,
                     void *arg)
{
    struct node *node = arg;

    (void)answer;
    if (!error) {
        error = control_client_facts(client, CLUSTER_CALL_TIMEOUT_NS, on_facts, node);
        message = strerror(-error);
    }
    if (error) {
        node_failed(node, error, message);
    }
}

void cluster_connect(struct cluster *c)
{
    if (!step_begin(c, CLUSTER_CONNECTING, true)) {
        return;
    }
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        struct node *node = &c->nodes[i];
        struct control_client_options options = {
            .host = node->host,
            .port = node->port,
            .key = c->has_key ? c->key : NULL,
            .connect_timeout_ns = CONNECT_TIMEOUT_NS,
        };
        node->client = control_client_create(c->base, &options, on_closed, node);
        int error = node->client ? control_client_hello(node->client, CONNECT_TIMEOUT_NS, on_hello, node) : -ENOMEM;
        if (error) {
            node_failed(node, error, strerror(-error));
        }
    }
}

/* ---- configure: processes forked, then STATUS until all are mounted ---- */

void configure_on_status(struct node *node, const struct control_answer *status)
{
    struct cluster *c = node->cluster;
    uint32_t n_idle = 0;

    for (uint32_t i = 0; i < status->n; i++) {
        const struct control_process_status *p = &status->processes[i];
        if (p->is_dead || p->state == CONTROL_PROCESS_FAILED) {
            if (p->is_dead) {
                node_tell_death(node, i, p->message);
            }
            step_fail(c, node, (int32_t)i, p->is_dead ? -ECHILD : -EIO, p->message);
            step_cancel(c);
            return;
        }
        n_idle += p->state == CONTROL_PROCESS_IDLE;
    }
    if (n_idle == status->n) {
        node_finish(node);
    }
}

static void on_configured(struct control_client *client, int error, const char *message,
                          const struct control_answer *answer, void *arg)
{
    struct node *node = arg;

    (void)client;
    (void)answer;
    if (!error) {
        node->has_lease = true; /* and configure_on_status goes on */
        return;
    }
    struct cluster *c = node->cluster;
    node_failed(node, error, message);
    step_cancel(c);
}

static int remember_targets(struct cluster *c, const struct cluster_config *config)
{
    for (uint32_t i = 0; i < c->n_targets; i++) {
        free(c->target_names[i]);
    }
    free(c->target_names);
    c->n_targets = 0;
    c->target_names = calloc(config->n_targets + 1, sizeof(*c->target_names));
    if (!c->target_names) {
        return -ENOMEM;
    }
    for (; c->n_targets < config->n_targets; c->n_targets++) {
        c->target_names[c->n_targets] = strdup(config->targets[c->n_targets].name);
        if (!c->target_names[c->n_targets]) {
            return -ENOMEM;
        }
    }
    return 0;
}

void cluster_configure(struct cluster *c, const struct cluster_config *config)
{
    if (!step_begin(c, CLUSTER_CONFIGURING, false)) {
        return;
    }
    c->n_processes = config->processes_per_loadgen;
    c->timeout_ns = config->timeout_ns;
    c->step_deadline = mono_plus_ns(mono_now(), 60 * NS_PER_S + 2 * config->timeout_ns);
    if (remember_targets(c, config) != 0) {
        step_fail(c, NULL, -1, -ENOMEM, "out of memory");
        step_cancel(c);
        return;
    }
    for (uint32_t i = 0; i < c->n_nodes && !c->error; i++) {
        struct node *node = &c->nodes[i];
        int error = control_client_configure(node->client, config, i, CONFIGURE_TIMEOUT_NS, on_configured, node);
        if (!error) {
            memset(node->has_told_death, 0, sizeof(node->has_told_death));
            node->is_asked = true;
            continue;
        }
        node_failed(node, error,
                    error == -E2BIG ? "a name or a list of the campaign is longer than the control protocol allows"
                                    : strerror(-error));
        step_cancel(c);
    }
}

/* ---- release ---- */

static void on_released(struct control_client *client, int error, const char *message,
                        const struct control_answer *answer, void *arg)
{
    struct node *node = arg;

    (void)client;
    (void)message;
    (void)answer;
    (void)error; /* a lease that is gone already is released as well */
    node_finish(node);
}

void cluster_release(struct cluster *c)
{
    if (!step_begin(c, CLUSTER_RELEASING, true)) {
        return;
    }
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        struct node *node = &c->nodes[i];
        if (!node->is_busy) {
            continue;
        }
        bool was_asked = node->is_asked;
        node->is_asked = node->has_lease = false;
        if (!was_asked || control_client_release(node->client, RELEASE_TIMEOUT_NS, on_released, node) != 0) {
            node_finish(node);
        }
    }
}
