/* cluster_node.h - inside the cluster: its load generators and the step under way. Only cluster*.c include it.
 *
 *   cluster.c          nodes, steps, polling, losses
 *   cluster_hold.c     connect, configure, release
 *   cluster_phase.c    layouts, the common start, progress, the end of a phase
 *   cluster_collect.c  summaries, tallies, seconds, findings
 *
 * A step is a chain of calls on every node, side by side. A node's chain ends with node_finish(); the step ends when
 * every chain has. The first thing that goes wrong decides the step's error. A phase that goes wrong anywhere is
 * stopped everywhere, and its step ends when all load has ended.
 */
#ifndef NFSCURVE_PRIME_CLUSTER_NODE_H
#define NFSCURVE_PRIME_CLUSTER_NODE_H

#include "cluster.h"
#include "control_client.h"

#define CLUSTER_CALL_TIMEOUT_NS (8 * NS_PER_S) /* of a call whose answer needs no waiting for anything */

enum cluster_step {
    CLUSTER_AT_REST,
    CLUSTER_CONNECTING,
    CLUSTER_CONFIGURING,
    CLUSTER_IN_PHASE,
    CLUSTER_COLLECTING,
    CLUSTER_RELEASING
};

/* Live figures of a node at one poll. */
struct node_live {
    mono_t at;
    uint64_t ops, response_sum_ns, errors, done, total;
};

struct node {
    struct cluster *cluster;
    uint32_t index;
    char *name, *host;
    uint16_t port;
    struct control_client *client; /* NULL: never connected, or lost */
    bool is_lost;
    bool is_asked;  /* CONFIGURE was sent: RELEASE is due at the end */
    bool has_lease; /* CONFIGURE was answered: heartbeats are due */
    bool is_busy;   /* its chain of the present step is under way */
    bool is_polled; /* a STATUS is in flight */
    bool has_told_death[1024];
    struct loadgen_facts facts;
    uint32_t n_rtts;

    /* phase */
    bool is_started;
    int64_t start_rtt_ns; /* of the START call */
    struct node_live live, live_before;
    int32_t silent_process; /* the first whose loop does not turn; -1: none */
    char silent_message[128];

    /* collect */
    struct loadgen_outcome outcome;
    struct tally *tally;
    struct process_blocks *blocks; /* by process */
    uint32_t n_seconds, next_second;
    bool has_window; /* its seconds of the present window are merged */
};

struct cluster {
    struct event_base *base;
    struct cluster_events events;
    void *arg;
    uint8_t key[32];
    bool has_key;
    struct node *nodes;
    uint32_t n_nodes;

    enum cluster_step step;
    uint32_t n_busy; /* nodes whose chain is under way */
    int error;       /* of the step */
    char message[2048];
    bool is_stopping; /* STOP was sent: chains end when the load has */
    mono_t step_deadline, stop_deadline;
    struct event *on_step_end, *on_poll;
    mono_t last_poll;

    /* configure */
    uint32_t n_processes; /* per node */
    char **target_names;
    uint32_t n_targets;
    int64_t timeout_ns;

    /* phase */
    struct cluster_phase phase;
    uint32_t serial;
    uint32_t n_to_start; /* nodes that still lack their layout */
    mono_t phase_began, start_at, last_progress, last_advance;
    uint64_t last_advance_done;

    /* collect */
    struct interval_merge *merge;
    struct interval_figures *intervals;
    uint32_t n_intervals;
    struct cluster_finding *findings;
    uint32_t n_findings;
};

/* Begins a step: every node that is left is busy until node_finish(). False, with the step's end on its way, when a
 * node was lost before (unless is_for_the_rest) or memory is short. */
bool step_begin(struct cluster *cluster, enum cluster_step step, bool is_for_the_rest);

/* Records the step's error unless it has one already. `node` NULL: no node's. process -1: no process's. */
void step_fail(struct cluster *cluster, const struct node *node, int32_t process, int error, const char *message);

/* Ends the step of everyone at once: what is in flight is forgotten. */
void step_cancel(struct cluster *cluster);

/* The node's chain of this step has ended. */
void node_finish(struct node *node);

/* A call could not be made or was answered by an error. Broken connections lose the node; everything else fails the
 * step. */
void node_failed(struct node *node, int error, const char *message);
void node_lost(struct node *node, int error, const char *reason);

/* Smallest round trip so far. */
void node_note_rtt(struct node *node, int64_t rtt_ns);

/* A dead process: reported once. */
void node_tell_death(struct node *node, uint32_t process, const char *reason);

void node_poll(struct node *node);

/* cluster_hold.c: looks at a STATUS of a node that is being configured. */
void configure_on_status(struct node *node, const struct control_answer *status);

/* cluster_phase.c: looks at a STATUS of a node in a phase. */
void phase_on_status(struct node *node, const struct control_answer *status);
/* Sends STOP to everyone; the step ends when all load has ended. */
void phase_stop(struct cluster *cluster);
/* Every poll: progress, deadlines. */
void phase_on_poll(struct cluster *cluster, mono_t now);

/* cluster_collect.c */
void collect_findings(struct node *node); /* ends with node_finish */
/* A node's chain of COLLECT has ended before its time: the others may have waited for it. */
void collect_on_loss(struct cluster *cluster);
void collect_fini(struct cluster *cluster);

#endif
