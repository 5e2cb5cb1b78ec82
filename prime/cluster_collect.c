/* cluster_collect.c - what a phase has measured, from all load generators. See cluster_node.h.
 *
 * Each node: processes ─> ops ─> waits for the window; when all wait, the window's figures are made and all go on with
 * the next, until nobody has a second left. Lost load generators are left out; what the others have is delivered all
 * the same.
 */
#include "cluster_node.h"

#include "interval_merge.h"
#include "log.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLLECT_TIMEOUT_NS (15 * NS_PER_S) /* merges the tallies of many processes */

static void ask_processes(struct node *node, uint32_t from);
static void ask_ops(struct node *node, uint32_t from);
static void ask_seconds(struct node *node);

static void failed(struct node *node, int error, const char *message)
{
    node_failed(node, error, message ? message : strerror(-error));
}

/* ---- processes ---- */

static void add_summary(struct loadgen_outcome *o, const struct control_process_summary *p)
{
    o->n_files += p->n_files;
    o->fileset_bytes += p->fileset_bytes;
    o->n_files_touched += p->n_files_touched;
    o->working_set_bytes += p->working_set_bytes;
    o->memory_bytes += p->memory_bytes;
    o->read_block_bytes = p->read_block_bytes > o->read_block_bytes ? p->read_block_bytes : o->read_block_bytes;
    o->write_block_bytes = p->write_block_bytes > o->write_block_bytes ? p->write_block_bytes : o->write_block_bytes;
    o->rtmax = p->rtmax > o->rtmax ? p->rtmax : o->rtmax;
    o->wtmax = p->wtmax > o->wtmax ? p->wtmax : o->wtmax;
    o->cpu_percent_max = p->cpu_percent > o->cpu_percent_max ? p->cpu_percent : o->cpu_percent_max;
    if (p->started_late_ns > o->started_skew_ns) {
        o->started_skew_ns = p->started_late_ns;
    }
    if (p->run_ns < o->shortest_run_ns || o->longest_run_ns == 0) {
        o->shortest_run_ns = p->run_ns;
    }
    if (p->run_ns > o->longest_run_ns) {
        o->longest_run_ns = p->run_ns;
    }
}

static void on_processes(struct control_client *client, int error, const char *message,
                         const struct control_answer *answer, void *arg)
{
    struct node *node = arg;

    (void)client;
    if (error) {
        failed(node, error, message);
        return;
    }
    uint32_t first = answer->next >= answer->n ? answer->next - answer->n : 0;
    for (uint32_t i = 0; i < answer->n; i++) {
        const struct control_process_summary *p = &answer->summaries[i];
        add_summary(&node->outcome, p);
        if (first + i < node->cluster->n_processes) {
            node->blocks[first + i] =
                (struct process_blocks){p->rtmax, p->wtmax, p->read_block_bytes, p->write_block_bytes};
        }
    }
    node->outcome.host_cpu_percent = answer->host_cpu_percent;
    if (answer->n > 0 && answer->next < node->cluster->n_processes) {
        ask_processes(node, answer->next);
        return;
    }
    /* Its own clock tells how late it was; how well the clocks were brought together is the START call's round trip. */
    node->outcome.started_skew_ns += node->start_rtt_ns / 2;
    ask_ops(node, 0);
}

static void ask_processes(struct node *node, uint32_t from)
{
    int error = control_client_collect_processes(node->client, from, COLLECT_TIMEOUT_NS, on_processes, node);

    if (error) {
        failed(node, error, NULL);
    }
}

/* ---- ops ---- */

static void on_ops(struct control_client *client, int error, const char *message, const struct control_answer *answer,
                   void *arg)
{
    struct node *node = arg;

    (void)client;
    if (error) {
        failed(node, error, message);
    } else if (answer->next < NFS_OP_COUNT && answer->next > 0) {
        ask_ops(node, answer->next);
    } else {
        ask_seconds(node);
    }
}

static void ask_ops(struct node *node, uint32_t from)
{
    int error = control_client_collect_ops(node->client, from, node->tally, COLLECT_TIMEOUT_NS, on_ops, node);

    if (error) {
        failed(node, error, NULL);
    }
}

/* ---- seconds ---- */

static bool keep_window(struct cluster *c, uint32_t n_seconds)
{
    uint32_t first = interval_merge_first(c->merge);
    uint32_t n = n_seconds - first < INTERVAL_MERGE_SECONDS ? n_seconds - first : INTERVAL_MERGE_SECONDS;
    struct interval_figures *all = realloc(c->intervals, (first + n) * sizeof(*all));

    if (!all) {
        return false;
    }
    c->intervals = all;
    for (uint32_t i = 0; i < n; i++) {
        interval_merge_figures(c->merge, first + i, &c->intervals[first + i]);
    }
    c->n_intervals = first + n;
    return true;
}

/* When every node that is still busy has given its share of the window: on to the next one, or done. */
static void advance_window(struct cluster *c)
{
    uint32_t end = interval_merge_first(c->merge) + INTERVAL_MERGE_SECONDS, n_seconds = 0;

    if (c->n_busy == 0) {
        return;
    }
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        const struct node *node = &c->nodes[i];
        if (node->is_busy && !node->has_window) {
            return;
        }
        if (node->n_seconds > n_seconds) {
            n_seconds = node->n_seconds;
        }
    }
    if (n_seconds > interval_merge_first(c->merge) && !keep_window(c, n_seconds)) {
        step_fail(c, NULL, -1, -ENOMEM, "out of memory");
    }
    bool is_last = n_seconds <= end || c->error;
    if (!is_last) {
        interval_merge_begin(c->merge, end);
    }
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        struct node *node = &c->nodes[i];
        if (!node->is_busy) {
            continue;
        }
        node->has_window = false;
        if (is_last) {
            node_finish(node);
        } else {
            ask_seconds(node);
        }
    }
}

void collect_on_loss(struct cluster *c)
{
    if (c->merge) {
        advance_window(c);
    }
}

static void window_done(struct node *node)
{
    node->has_window = true;
    advance_window(node->cluster);
}

static void on_seconds(struct control_client *client, int error, const char *message,
                       const struct control_answer *answer, void *arg)
{
    struct node *node = arg;
    struct cluster *c = node->cluster;
    uint32_t end = interval_merge_first(c->merge) + INTERVAL_MERGE_SECONDS;

    (void)client;
    if (error) {
        failed(node, error, message);
        return;
    }
    bool is_stuck = answer->next <= node->next_second;
    node->n_seconds = answer->n_seconds;
    node->next_second = answer->next;
    if (is_stuck || answer->next >= end || answer->next >= answer->n_seconds) {
        window_done(node);
    } else {
        ask_seconds(node);
    }
}

static void ask_seconds(struct node *node)
{
    struct cluster *c = node->cluster;
    uint32_t first = interval_merge_first(c->merge), end = first + INTERVAL_MERGE_SECONDS;

    if (node->next_second < first) {
        node->next_second = first;
    }
    int error = control_client_collect_intervals(node->client, node->next_second, end - node->next_second,
                                                 interval_merge_cell, c->merge, COLLECT_TIMEOUT_NS, on_seconds, node);
    if (error) {
        failed(node, error, NULL);
    }
}

/* ---- the step ---- */

static bool prepare(struct node *node)
{
    if (!node->tally) {
        node->tally = malloc(sizeof(*node->tally));
    }
    free(node->blocks);
    node->blocks = calloc(node->cluster->n_processes + UINT64_C(1), sizeof(*node->blocks));
    if (!node->tally || !node->blocks) {
        return false;
    }
    tally_init(node->tally);
    node->outcome = (struct loadgen_outcome){.tally = node->tally, .blocks = node->blocks};
    node->n_seconds = node->next_second = 0;
    node->has_window = false;
    return true;
}

void cluster_collect(struct cluster *c)
{
    bool has_memory = true;

    collect_fini(c);
    c->merge = interval_merge_create();
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        has_memory = prepare(&c->nodes[i]) && has_memory;
    }
    if (!step_begin(c, CLUSTER_COLLECTING, true)) {
        return;
    }
    if (!c->merge || !has_memory) {
        step_fail(c, NULL, -1, -ENOMEM, "out of memory");
        for (uint32_t i = 0; i < c->n_nodes; i++) {
            node_finish(&c->nodes[i]);
        }
        return;
    }
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        if (c->nodes[i].is_busy) {
            ask_processes(&c->nodes[i], 0);
        }
    }
}

/* ---- findings: at the end of VALIDATE ---- */

static void add_finding(struct node *node, const struct control_finding *from, struct cluster_finding *to)
{
    struct cluster *c = node->cluster;

    snprintf(to->loadgen, sizeof(to->loadgen), "%s", node->name);
    snprintf(to->target, sizeof(to->target), "%s", from->target < c->n_targets ? c->target_names[from->target] : "?");
    snprintf(to->rule, sizeof(to->rule), "%s", from->rule);
    snprintf(to->op, sizeof(to->op), "%s", from->op);
    snprintf(to->expected, sizeof(to->expected), "%s", from->expected);
    snprintf(to->got, sizeof(to->got), "%s", from->got);
}

static void ask_findings(struct node *node, uint32_t from);

static void on_findings(struct control_client *client, int error, const char *message,
                        const struct control_answer *answer, void *arg)
{
    struct node *node = arg;
    struct cluster *c = node->cluster;

    (void)client;
    if (error) {
        failed(node, error, message);
        return;
    }
    struct cluster_finding *all = realloc(c->findings, (c->n_findings + answer->n + 1) * sizeof(*all));
    if (!all) {
        failed(node, -ENOMEM, NULL);
        return;
    }
    c->findings = all;
    for (uint32_t i = 0; i < answer->n; i++) {
        add_finding(node, &answer->findings[i], &c->findings[c->n_findings++]);
    }
    if (answer->n > 0 && answer->next < answer->n_findings) {
        ask_findings(node, answer->next);
    } else {
        node_finish(node);
    }
}

static void ask_findings(struct node *node, uint32_t from)
{
    int error = control_client_collect_findings(node->client, from, COLLECT_TIMEOUT_NS, on_findings, node);

    if (error) {
        failed(node, error, NULL);
    }
}

void collect_findings(struct node *node)
{
    node->is_started = false; /* further STATUS answers change nothing any more */
    ask_findings(node, 0);
}

void collect_fini(struct cluster *c)
{
    interval_merge_destroy(c->merge);
    free(c->intervals);
    free(c->findings);
    c->merge = NULL;
    c->intervals = NULL;
    c->findings = NULL;
    c->n_intervals = c->n_findings = 0;
}

const struct loadgen_outcome *cluster_outcome(const struct cluster *c, uint32_t loadgen)
{
    assert(loadgen < c->n_nodes);
    return &c->nodes[loadgen].outcome;
}

uint32_t cluster_intervals(const struct cluster *c, const struct interval_figures **intervals)
{
    *intervals = c->intervals;
    return c->n_intervals;
}

uint32_t cluster_findings(const struct cluster *c, const struct cluster_finding **findings)
{
    *findings = c->findings;
    return c->n_findings;
}
