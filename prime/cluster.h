/* cluster.h - the prime's side of the control protocol: every load generator from one event loop.
 *
 *   campaign ──one step for all──> cluster ──one control_client each──> load generators
 *            <──on_step once, when all have answered or one has failed──
 *
 * Neutral types only: XDR stops at control_client.c. One step at a time. Every call has its own deadline. Heartbeats
 * (status polls) are the cluster's own business. A load generator that is lost at any time is reported once by on_lost,
 * with the reason; a step that is under way then ends with -ENOTCONN.
 */
#ifndef NFSCURVE_PRIME_CLUSTER_H
#define NFSCURVE_PRIME_CLUSTER_H

#include "clock.h"
#include "interval_figures.h"
#include "layout.h"
#include "tally.h"

#include <stdbool.h>
#include <stdint.h>

struct control_facts;
struct event_base;
struct cluster;

struct cluster_host {
    const char *name; /* as in the campaign: "lg1", "local-0" */
    const char *host; /* name or address */
    uint16_t port;
};

/* A target as the load generators see it. */
struct cluster_target {
    const char *name, *server, *export_path;
    uint16_t nfs_port, mount_port;
};

/* What a load generator says of itself in HELLO. */
struct loadgen_facts {
    char hostname[256], version[64], cpu_model[128], os[128], addresses[512];
    uint32_t n_cpus;
    uint64_t memory_bytes;
    int64_t rtt_ns;        /* smallest measured round trip of the control connection */
    int64_t clock_skew_ns; /* wall clock against the prime's; a label only */
};

/* Copies what a FACTS answer told, but for rtt_ns, which the caller measures. */
void loadgen_facts_take(struct loadgen_facts *to, const struct control_facts *from, int64_t rtt_ns);

/* The parts of a campaign that do not change between points. Borrowed during the call. */
struct cluster_config {
    const char *campaign_name;
    const char *workload_json; /* workload_dump() as text */
    const char *engine;        /* "native" | "libnfs" */
    const struct cluster_target *targets;
    uint32_t n_targets;
    uint32_t processes_per_loadgen;
    uint32_t connections_per_process;
    int64_t timeout_ns;
    uint32_t uid, gid, n_gids, gids[16];
    bool reserved_port;
    const char *const *source_addresses; /* per load generator, NULL entries: any */
    /* per load generator and process: index of its target, [loadgen * processes_per_loadgen + process] */
    const uint32_t *process_targets;
};

enum cluster_phase_kind { CLUSTER_VALIDATE, CLUSTER_POPULATE, CLUSTER_LOAD, CLUSTER_CLEAN };

struct cluster_phase {
    enum cluster_phase_kind kind;
    uint32_t validate_level;
    int64_t start_in_ns; /* LOAD: chosen by the cluster when 0 */
    int64_t warmup_ns, run_ns;
};

/* Sum over all processes, about once a second while a phase runs. */
struct cluster_progress {
    enum { CLUSTER_STEP_PREPARING, CLUSTER_STEP_WARMUP, CLUSTER_STEP_RUN, CLUSTER_STEP_DRAINING } stage;
    uint64_t done, total; /* VALIDATE, POPULATE, CLEAN */
    double ops_per_s;     /* over the last second */
    double response_ms;   /* mean over the last second */
    uint64_t n_errors;    /* since the phase began */
    double seconds_left;  /* of the phase */
};

struct cluster_finding {
    char loadgen[64], target[64], rule[64], op[16], expected[160], got[160];
};

/* What a process and its target agreed upon (FSINFO). */
struct process_blocks {
    uint32_t rtmax, wtmax, read_block_bytes, write_block_bytes;
};

/* Per load generator, after a LOAD. */
struct loadgen_outcome {
    const struct process_blocks *blocks; /* by process; zeros: it told nothing. Owned by the cluster */
    struct tally *tally;                 /* merged over its processes; owned by the cluster until the next step */
    uint64_t n_files, fileset_bytes, n_files_touched, working_set_bytes, memory_bytes;
    uint32_t read_block_bytes, write_block_bytes, rtmax, wtmax;
    int64_t started_skew_ns; /* estimate: latest minus intended start, half the control round trip included */
    double cpu_percent_max;  /* busiest process loop */
    double host_cpu_percent; /* of the whole host over the run */
    int64_t shortest_run_ns, longest_run_ns;
};

struct cluster_events {
    /* The step that was begun last has ended: 0, or -errno with a message naming load generator, process and remedy. */
    void (*on_step)(struct cluster *cluster, int error, const char *message, void *arg);
    void (*on_progress)(struct cluster *cluster, const struct cluster_progress *progress, void *arg);
    /* process: the one that died, by number on its load generator; -1: the whole load generator. Before the step's
     * on_step. */
    void (*on_lost)(struct cluster *cluster, uint32_t loadgen, int32_t process, const char *reason, void *arg);
};

/* key: NULL, or 32 bytes of the shared key. NULL when memory is short. Hosts are copied. */
struct cluster *cluster_create(struct event_base *base, const struct cluster_host *hosts, uint32_t n_hosts,
                               const uint8_t *key, const struct cluster_events *events, void *arg);
void cluster_destroy(struct cluster *cluster);

/* Steps. Each ends with on_step, never from inside the call. */
void cluster_connect(struct cluster *cluster); /* hello, keys, versions, clock check */
void cluster_configure(struct cluster *cluster,
                       const struct cluster_config *config); /* processes forked, targets mounted */
/* layouts: n_hosts * processes_per_loadgen, in that order. */
void cluster_run_phase(struct cluster *cluster, const struct cluster_phase *phase,
                       const struct process_layout *layouts);
void cluster_collect(struct cluster *cluster); /* after a LOAD: tallies, intervals, facts */
void cluster_stop_phase(
    struct cluster *cluster); /* ends the running phase within a second; its on_step comes with -ECANCELED */
void cluster_release(struct cluster *cluster); /* leases given back, processes ended */

/* After the matching step. */
const struct loadgen_facts *cluster_facts(const struct cluster *cluster, uint32_t loadgen);
const struct loadgen_outcome *cluster_outcome(const struct cluster *cluster, uint32_t loadgen);
uint32_t cluster_intervals(const struct cluster *cluster, const struct interval_figures **intervals); /* t_s = index */
uint32_t cluster_findings(const struct cluster *cluster, const struct cluster_finding **findings);

#endif
