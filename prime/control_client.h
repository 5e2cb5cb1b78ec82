/* control_client.h - one load generator as the prime sees it: the calls of loadgen_prot.x in neutral types. XDR stops
 * here.
 *
 *   cluster ──control_client_status(...)──> encode, seal ──> rpc_client ──> load generator
 *           <──on_done(error, answer)────── check seal, decode, bounds <──
 *
 * - on_done runs exactly once for every call, from the loop, never from inside the call, unless the client is destroyed
 * or control_client_abandon() forgot it. The client may be destroyed from inside on_done.
 * - The answer and all it points to is valid only during on_done, and NULL when error is not 0.
 * - Errors: -ENOTCONN broken or never connected, -ETIMEDOUT no answer in time, -EACCES the seal was refused (another
 * key), -EBADMSG the answer's seal is wrong, -EPROTO another protocol or an answer that can't be, -EBUSY held by
 * another campaign, -ENOLCK the lease is lost, -EPERM a target that it may not drive, -EINVAL and -EIO refused for the
 * reason told. After the first five the connection is useless; destroy the client.
 */
#ifndef NFSCURVE_PRIME_CONTROL_CLIENT_H
#define NFSCURVE_PRIME_CONTROL_CLIENT_H

#include "clock.h"
#include "layout.h"
#include "nfs_op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster_config;
struct control_client;
struct event_base;
struct histogram;
struct tally;

/* States of a process as they cross the wire (enum process_state of the load generator). */
enum control_process_state {
    CONTROL_PROCESS_CONNECTING,
    CONTROL_PROCESS_IDLE,
    CONTROL_PROCESS_VALIDATING,
    CONTROL_PROCESS_POPULATING,
    CONTROL_PROCESS_ARMED,
    CONTROL_PROCESS_WARMUP,
    CONTROL_PROCESS_RUN,
    CONTROL_PROCESS_DRAINING,
    CONTROL_PROCESS_CLEANING,
    CONTROL_PROCESS_FAILED
};

struct control_facts {
    const char *hostname, *software, *cpu_model, *os, *addresses;
    const char *held_by_campaign, *held_by_host; /* "": free */
    uint32_t n_cpus;
    uint64_t memory_bytes;
    wall_t wall;
    int64_t lease_ns;
};

struct control_process_status {
    enum control_process_state state;
    bool is_dead;
    uint32_t done_serial;
    uint64_t progress_done, progress_total, live_ops, live_response_sum_ns, live_errors;
    const char *message;
};

struct control_process_summary {
    bool is_dead;
    const char *message, *local_address, *server_address;
    int64_t started_late_ns, run_ns;
    double cpu_percent;
    uint32_t rtmax, wtmax, read_block_bytes, write_block_bytes;
    uint64_t n_files, fileset_bytes, n_files_touched, working_set_bytes, memory_bytes;
};

struct control_finding {
    uint32_t process, target;
    const char *rule, *op, *expected, *got;
};

/* What one answer brought; which member counts is the call's. */
struct control_answer {
    int64_t rtt_ns; /* of this call */
    uint32_t next;  /* collect: where to go on */
    uint32_t n;     /* processes or findings in this answer */
    struct control_facts facts;
    int64_t since_start_ns;                          /* status */
    const struct control_process_status *processes;  /* status */
    double host_cpu_percent;                         /* collect_processes */
    const struct control_process_summary *summaries; /* collect_processes */
    uint32_t n_seconds;                              /* collect_intervals: in all */
    uint32_t n_findings;                             /* collect_findings: in all */
    const struct control_finding *findings;
};

typedef void (*control_done_cb)(struct control_client *client, int error, const char *message,
                                const struct control_answer *answer, void *arg);

/* Where collect_intervals puts second t_s of a class: counts to add to and a histogram to merge into; NULL to leave it
 * out. */
struct control_interval_cell {
    uint64_t n_ops, n_errors;
    struct histogram *response;
};
typedef struct control_interval_cell *(*control_cell_fn)(uint32_t t_s, enum op_class c, void *arg);

struct control_client_options {
    const char *host; /* name or numeric address */
    uint16_t port;
    const uint8_t *key; /* 32 bytes, copied; NULL: the public key */
    int64_t connect_timeout_ns;
};

/* Begins to connect. on_closed (may be NULL) runs once when the connection could not be made or has ended; calls in
 * flight have completed before. NULL when memory is short. */
struct control_client *
control_client_create(struct event_base *base, const struct control_client_options *options,
                      void (*on_closed)(struct control_client *client, const char *why, void *arg), void *arg);
void control_client_destroy(struct control_client *c);

/* No on_done of the calls in flight runs. */
void control_client_abandon(struct control_client *c);

/* All calls: 0, or -errno when the call could not be made; on_done then does not run. */
int control_client_hello(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg);
int control_client_facts(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg);
/* loadgen: whose source address and process targets of `config` count. */
int control_client_configure(struct control_client *c, const struct cluster_config *config, uint32_t loadgen,
                             int64_t timeout_ns, control_done_cb on_done, void *arg);
int control_client_layout(struct control_client *c, const struct process_layout *layouts, uint32_t n,
                          int64_t timeout_ns, control_done_cb on_done, void *arg);

enum control_phase { CONTROL_VALIDATE, CONTROL_POPULATE, CONTROL_LOAD, CONTROL_CLEAN };
struct control_start {
    enum control_phase phase;
    uint32_t serial, validate_level;
    int64_t start_in_ns, warmup_ns, run_ns;
};
int control_client_start(struct control_client *c, const struct control_start *start, int64_t timeout_ns,
                         control_done_cb on_done, void *arg);
int control_client_status(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg);
int control_client_stop(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg);
int control_client_release(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg);

/* from: 0, then answer->next until it is the number of processes. */
int control_client_collect_processes(struct control_client *c, uint32_t from, int64_t timeout_ns,
                                     control_done_cb on_done, void *arg);
/* Adds into `into`, which must stay put until on_done; until next is NFS_OP_COUNT. */
int control_client_collect_ops(struct control_client *c, uint32_t from, struct tally *into, int64_t timeout_ns,
                               control_done_cb on_done, void *arg);
/* Seconds from .. from + n - 1 at most. */
int control_client_collect_intervals(struct control_client *c, uint32_t from, uint32_t n, control_cell_fn cell,
                                     void *cell_arg, int64_t timeout_ns, control_done_cb on_done, void *arg);
int control_client_collect_findings(struct control_client *c, uint32_t from, int64_t timeout_ns,
                                    control_done_cb on_done, void *arg);

#endif
