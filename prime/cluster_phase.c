/* cluster_phase.c - one phase on all load generators: layouts, one common start, progress, end. See cluster_node.h.
 *
 *   LAYOUT to each ──all have it──> START to each ──STATUS, every 250 ms──> every process done ──> step ends
 *                                                └─ dead, failed, lost, stopped ─> STOP to each ─> every process done
 * ─> step ends
 */
#include "cluster_node.h"

#include "log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PROGRESS_NS       (1000 * NS_PER_MS)
#define MIN_START_IN_NS   (250 * NS_PER_MS) /* the START calls and their commands have to be there before */
#define STOP_PATIENCE_NS  (3 * NS_PER_S)
#define DRAIN_PATIENCE_NS (15 * NS_PER_S)
#define STALL_PATIENCE_NS (120 * NS_PER_S) /* populating, validating and cleaning without any progress */

static bool is_load(const struct cluster *c)
{
    return c->phase.kind == CLUSTER_LOAD;
}

/* ---- start ---- */

static void on_started(struct control_client *client, int error, const char *message,
                       const struct control_answer *answer, void *arg)
{
    struct node *node = arg;

    (void)client;
    if (error) {
        node_failed(node, error, message);
        return;
    }
    node->start_rtt_ns = answer->rtt_ns;
}

static int64_t choose_start_in_ns(const struct cluster *c)
{
    int64_t longest_ns = 0;

    if (c->phase.start_in_ns > 0) {
        return c->phase.start_in_ns;
    }
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        if (c->nodes[i].facts.rtt_ns > longest_ns) {
            longest_ns = c->nodes[i].facts.rtt_ns;
        }
    }
    /* A process has megabytes of histograms to clear, all of a host at once. */
    return MIN_START_IN_NS + 8 * longest_ns + c->n_nodes * NS_PER_MS + c->n_processes * 4 * NS_PER_MS;
}

static void start_all(struct cluster *c)
{
    static const enum control_phase kinds[] = {
        [CLUSTER_VALIDATE] = CONTROL_VALIDATE,
        [CLUSTER_POPULATE] = CONTROL_POPULATE,
        [CLUSTER_LOAD] = CONTROL_LOAD,
        [CLUSTER_CLEAN] = CONTROL_CLEAN,
    };

    c->phase_began = c->last_progress = c->last_advance = mono_now();
    c->last_advance_done = 0;
    c->start_at = mono_plus_ns(c->phase_began, is_load(c) ? choose_start_in_ns(c) : 0);
    if (is_load(c)) {
        c->step_deadline =
            mono_plus_ns(c->start_at, c->phase.warmup_ns + c->phase.run_ns + c->timeout_ns + DRAIN_PATIENCE_NS);
    }
    for (uint32_t i = 0; i < c->n_nodes && !c->is_stopping; i++) {
        struct node *node = &c->nodes[i];
        struct control_start start = {
            .phase = kinds[c->phase.kind],
            .serial = c->serial,
            .validate_level = c->phase.validate_level,
            .warmup_ns = c->phase.warmup_ns,
            .run_ns = c->phase.run_ns,
        };
        if (node->is_lost) {
            continue;
        }
        /* All meet at start_at: what is left of the way there, less the call's own way. */
        if (is_load(c)) {
            start.start_in_ns = mono_since_ns(c->start_at, mono_now()) - node->facts.rtt_ns / 2;
            if (start.start_in_ns < 0) {
                start.start_in_ns = 0;
            }
        }
        node->is_started = true;
        node->live = node->live_before = (struct node_live){.at = c->start_at};
        int error = control_client_start(node->client, &start, CLUSTER_CALL_TIMEOUT_NS, on_started, node);
        if (error) {
            node_failed(node, error, strerror(-error));
        }
    }
}

static void layout_done(struct cluster *c)
{
    if (--c->n_to_start == 0 && !c->is_stopping) {
        start_all(c);
    }
}

static void on_layout(struct control_client *client, int error, const char *message,
                      const struct control_answer *answer, void *arg)
{
    struct node *node = arg;
    struct cluster *c = node->cluster;

    (void)client;
    (void)answer;
    if (error) {
        node_failed(node, error, message);
    }
    layout_done(c);
}

void cluster_run_phase(struct cluster *c, const struct cluster_phase *phase, const struct process_layout *layouts)
{
    if (!step_begin(c, CLUSTER_IN_PHASE, false)) {
        return;
    }
    c->phase = *phase;
    if (++c->serial == 0) {
        c->serial = 1;
    }
    c->n_to_start = layouts ? c->n_nodes : 0;
    c->phase_began = c->start_at = c->last_progress = c->last_advance = mono_now();
    collect_fini(c);
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        c->nodes[i].is_started = false;
        c->nodes[i].silent_process = -1;
    }
    if (!layouts) { /* VALIDATE needs none */
        start_all(c);
        return;
    }
    for (uint32_t i = 0; i < c->n_nodes && !c->is_stopping; i++) {
        struct node *node = &c->nodes[i];
        int error = control_client_layout(node->client, layouts + (size_t)i * c->n_processes, c->n_processes,
                                          CLUSTER_CALL_TIMEOUT_NS, on_layout, node);
        if (error) {
            node_failed(node, error, strerror(-error)); /* stops the phase */
        }
    }
}

/* ---- stop ---- */

static void on_stopped(struct control_client *client, int error, const char *message,
                       const struct control_answer *answer, void *arg)
{
    (void)client;
    (void)answer;
    if (error) {
        node_failed(arg, error, message);
    }
}

void phase_stop(struct cluster *c)
{
    if (c->is_stopping) {
        return;
    }
    c->is_stopping = true;
    c->stop_deadline = mono_plus_ns(mono_now(), STOP_PATIENCE_NS);
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        struct node *node = &c->nodes[i];
        if (!node->is_busy || node->is_lost) {
            continue;
        }
        if (!node->is_started) { /* its LAYOUT may be under way: nothing that still comes counts */
            control_client_abandon(node->client);
            node->is_polled = false;
            node_finish(node);
            continue;
        }
        int error = control_client_stop(node->client, STOP_PATIENCE_NS, on_stopped, node);
        if (error) {
            node_failed(node, error, strerror(-error));
        } else {
            node_poll(node); /* or it would be asked only at the next tick */
        }
    }
}

/* ---- status ---- */

/* A process that was stopped looks like a server that does not answer, until its host says that it does not turn. */
static void note_silent(struct node *node, const struct control_answer *status)
{
    node->silent_process = -1;
    for (uint32_t i = 0; i < status->n && node->silent_process < 0; i++) {
        const struct control_process_status *p = &status->processes[i];
        if (!p->is_dead && p->state != CONTROL_PROCESS_FAILED && p->message[0] != '\0') {
            node->silent_process = (int32_t)i;
            snprintf(node->silent_message, sizeof node->silent_message, "%s", p->message);
        }
    }
}

/* NULL when every process is heard of. */
static const struct node *find_silent(const struct cluster *c)
{
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        const struct node *node = &c->nodes[i];
        if (node->is_started && node->is_busy && !node->is_lost && node->silent_process >= 0) {
            return node;
        }
    }
    return NULL;
}

static bool is_done(const struct cluster *c, const struct control_process_status *p)
{
    return p->is_dead || p->state == CONTROL_PROCESS_FAILED || p->done_serial == c->serial;
}

void phase_on_status(struct node *node, const struct control_answer *status)
{
    struct cluster *c = node->cluster;
    struct node_live live = {.at = mono_now()};
    uint32_t n_done = 0;

    if (!node->is_started || !node->is_busy) {
        return;
    }
    for (uint32_t i = 0; i < status->n; i++) {
        const struct control_process_status *p = &status->processes[i];
        live.ops += p->live_ops;
        live.response_sum_ns += p->live_response_sum_ns;
        live.errors += p->live_errors;
        live.done += p->progress_done;
        live.total += p->progress_total;
        n_done += is_done(c, p);
        if (!p->is_dead && p->state != CONTROL_PROCESS_FAILED) {
            continue;
        }
        if (p->is_dead) {
            node_tell_death(node, i, p->message);
        }
        step_fail(c, node, (int32_t)i, p->is_dead ? -ECHILD : -EIO, p->message);
        phase_stop(c);
    }
    node->live = live;
    note_silent(node, status);
    if (n_done < status->n || !node->is_busy) {
        return;
    }
    if (c->phase.kind == CLUSTER_VALIDATE && !c->error) {
        collect_findings(node);
    } else {
        node_finish(node);
    }
}

/* ---- progress ---- */

static void fill_load_progress(const struct cluster *c, mono_t now, struct cluster_progress *p)
{
    int64_t since_ns = mono_since_ns(now, c->start_at);
    int64_t left_ns = c->phase.warmup_ns + c->phase.run_ns - since_ns;

    if (since_ns < 0) {
        p->stage = CLUSTER_STEP_PREPARING;
    } else if (since_ns < c->phase.warmup_ns) {
        p->stage = CLUSTER_STEP_WARMUP;
    } else {
        p->stage = left_ns > 0 ? CLUSTER_STEP_RUN : CLUSTER_STEP_DRAINING;
    }
    p->seconds_left = left_ns > 0 ? (double)left_ns / 1e9 : 0;
}

static void tell_progress(struct cluster *c, mono_t now)
{
    struct cluster_progress p = {.stage = CLUSTER_STEP_PREPARING};
    uint64_t n_ops = 0, sum_ns = 0;

    for (uint32_t i = 0; i < c->n_nodes; i++) {
        struct node *node = &c->nodes[i];
        const struct node_live *from = &node->live_before, *to = &node->live;
        int64_t span_ns = mono_since_ns(to->at, from->at);
        if (!node->is_started) {
            continue;
        }
        p.done += to->done;
        p.total += to->total;
        p.n_errors += to->errors;
        /* A count that went down began anew with this load. */
        if (span_ns > 0 && to->ops >= from->ops && to->response_sum_ns >= from->response_sum_ns) {
            p.ops_per_s += (double)(to->ops - from->ops) * 1e9 / (double)span_ns;
            n_ops += to->ops - from->ops;
            sum_ns += to->response_sum_ns - from->response_sum_ns;
        }
        node->live_before = node->live;
    }
    p.response_ms = n_ops ? (double)sum_ns / (double)n_ops / 1e6 : 0;
    if (is_load(c)) {
        fill_load_progress(c, now, &p);
    } else if (p.done > 0 && p.total > p.done) {
        p.seconds_left = (double)mono_since_ns(now, c->phase_began) / 1e9 * (double)(p.total - p.done) / (double)p.done;
    }
    if (p.done != c->last_advance_done) {
        c->last_advance_done = p.done;
        c->last_advance = now;
    }
    if (c->events.on_progress) {
        c->events.on_progress(c, &p, c->arg);
    }
}

static void lose_who_hangs(struct cluster *c, const char *why)
{
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        if (c->nodes[i].is_busy) {
            node_lost(&c->nodes[i], -ETIMEDOUT, why);
        }
    }
}

void phase_on_poll(struct cluster *c, mono_t now)
{
    if (c->is_stopping && mono_before(c->stop_deadline, now)) {
        lose_who_hangs(c, "its load did not stop in time");
        return;
    }
    const struct node *silent = c->is_stopping ? NULL : find_silent(c);
    if (!c->is_stopping && mono_before(c->step_deadline, now)) {
        char what[256];
        snprintf(what, sizeof what, "did not end its load in time: %s", silent ? silent->silent_message : "");
        step_fail(c, silent, silent ? silent->silent_process : -1, -ETIMEDOUT,
                  silent ? what : "the load did not end in time: operations are still outstanding");
        phase_stop(c);
    }
    /* Under load its heartbeat may come back, and the verdict says what the pause spoilt. */
    if (!c->is_stopping && !is_load(c) && silent) {
        step_fail(c, silent, silent->silent_process, -ETIMEDOUT, silent->silent_message);
        phase_stop(c);
    }
    if (!c->is_stopping && !is_load(c) && mono_since_ns(now, c->last_advance) > STALL_PATIENCE_NS + c->timeout_ns) {
        step_fail(c, NULL, -1, -ETIMEDOUT, "no progress for two minutes: the server does not answer");
        phase_stop(c);
    }
    if (c->n_to_start == 0 && mono_since_ns(now, c->last_progress) >= PROGRESS_NS) {
        c->last_progress = mono_plus_ns(c->last_progress, PROGRESS_NS);
        tell_progress(c, now);
    }
}
