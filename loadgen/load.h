/* load.h - one LOAD phase of a process: paced requests over the fileset, from the start of the warm-up to the last
 * reply.
 *
 *   pacer ──due──> op_mix ──op──> request (fileset, working set, biods) ──> nfs3_client
 *                                    │ events
 *                                    ▼
 *                                 op_record
 *
 * Between warm-up and run nothing happens but that the recorder starts to keep what it sees. At the end of the run no
 * request is begun any more; the load is over when the last reply has come. A stop lets no further RPC out.
 */
#ifndef NFSCURVE_LOADGEN_LOAD_H
#define NFSCURVE_LOADGEN_LOAD_H

#include "data_pattern.h"
#include "deck.h"
#include "fileset.h"
#include "nfs3_client.h"
#include "op_mix.h"
#include "op_record.h"
#include "pacer.h"
#include "request.h"
#include "wakeup.h"
#include "working_set.h"

struct event;
struct event_base;

struct load_options {
    struct event_base *base;
    struct nfs3_client *client;
    struct fileset *fileset;
    const struct workload *workload;
    struct process_shared *shared;
    struct interval_writer *intervals;
    uint32_t read_block_bytes, write_block_bytes, dir_bytes;
    struct nfs3_fh root;
    int64_t timeout_ns;
    mono_t start;
    int64_t warmup_ns, run_ns;
    double ops_per_s;
    uint64_t seed;
    /* The last reply has come (or the drain was given up). Once, from the loop. */
    void (*on_end)(struct load *load, void *arg);
    void *arg;
};

struct load {
    struct load_options options;
    struct pacer pacer;
    struct op_mix mix;
    struct working_set working_set;
    struct file_use *uses;
    struct data_pattern pattern;
    struct op_record record;
    struct rng rng;
    struct deck missing, append, read_sizes, write_sizes;
    struct request *requests;
    uint32_t n_requests, n_active; /* n_active: not idle */
    uint32_t n_pausing;            /* of them: waiting or cooling */
    int timer_fd;
    struct event *timer_event;
    mono_t timer_at;
    struct wakeup wakeup;
    bool is_ahead; /* the timer is set ahead and waited out: arrivals on a schedule */
    mono_t end;    /* no request begins at or after it */
    bool is_run, is_draining, is_stopping, has_ended, is_pumping;
    mono_t drain_until;
    uint64_t generation;
    uint32_t n_truncations_in_a_row, n_warnings;
    /* the next WRITE, drawn but not begun because a truncation goes before it */
    bool has_write, is_append;
    uint64_t write_bytes;
    /* at the start of the run, for the differences */
    int64_t cpu_at_start_ns, busy_at_start_ns;
    struct nfs3_client_counters counters_at_start;
};

/* 0 or negative errno. The options are copied; everything they point to is borrowed until load_destroy. */
int load_create(struct load **out, const struct load_options *options);
void load_destroy(struct load *load);

/* No further RPC leaves; the run ends now when it had begun. on_end follows when the replies under way are here. */
void load_stop(struct load *load);

/* Requests that are not over yet. */
uint32_t load_n_active(const struct load *load);

/* For requests: one has ended. */
void load_request_ended(struct load *load, struct request *request);

#endif
