/* result.h - what was measured, as it is kept for ever: points, and the result that they make.
 *
 *   struct point_input ──point_from_measurement──> struct point_result ──point_write──> points/NN.json
 *                                                        │ result_add_point
 *   points/NN.json ──point_read─────────────────────────>│
 *                                                        v
 *   result.json <──result_save── struct result <──result_finish (curve, ORT, peak, ceilings, validity)
 *   any file    ──result_load──> struct result ──report_render──> html, text, csv, svg, ... (report.h)
 *
 * Invariants: a figure that is not known is NAN (doubles), RESULT_UNKNOWN (counts) or NULL (strings, JSON), and is left
 * out of the file: a published curve holds nothing but throughputs and response times. Reading a file that was written
 * here and writing it again gives the same bytes. Every string is valid UTF-8: what came from outside was made so on
 * its way in.
 */
#ifndef NFSCURVE_RESULTS_RESULT_H
#define NFSCURVE_RESULTS_RESULT_H

#include "clock.h"
#include "interval_figures.h"
#include "tally.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curve_point;
struct workload;

#define RESULT_SCHEMA  "nfscurve-result/1"
#define RESULT_UNKNOWN UINT64_MAX

/* The line that every report carries. */
#define RESULT_TRADEMARK                                                                                               \
    "Not a SPEC result. SPEC and SPECsfs are registered trademarks of the Standard Performance Evaluation "            \
    "Corporation; figures of "                                                                                         \
    "nfscurve are not comparable with published SPECsfs results."

/* Why a file could not be read, for the person who named it: "FILE: what is wrong". */
struct result_error {
    char message[512];
};

/* One response time: mean and percentiles of one set of ops. */
struct response_figures {
    double response_ms; /* mean */
    double stddev_ms;
    double p50_ms, p90_ms, p95_ms, p99_ms, p999_ms, max_ms;
};

struct op_figures {
    bool is_present;
    double target_percent; /* of the mix */
    double percent;        /* of all good ops as the workload counts */
    uint64_t n_logical, n_physical;
    uint64_t n_errors; /* failed RPCs: the sum of n_outcome but for "ok" */
    struct response_figures from_due, from_sent;
    json_t *outcomes;   /* {"nfs_error": n, ...}: those that are not 0 */
    json_t *statuses;   /* {"NFS3ERR_STALE": n, ...}: those that are not 0 */
    json_t *histograms; /* {"from_due", "from_sent", "rpc"}: see histogram_json.h */
};

/* A load generator or process that did not live to the end of the point. */
struct lost_process {
    char *loadgen;
    int64_t process; /* number on its load generator; -1: the whole load generator */
    char *reason;
    double at_s; /* since the point's load (warm-up included) began */
};

/* What one load generator did at one point. */
struct point_loadgen {
    char *name;
    uint64_t n_processes, n_ops, n_errors; /* good ops as counted, failed RPCs */
    double response_ms;
    double lateness_mean_us, lateness_p99_us;
    double waited_for_us_percent;   /* of the ops that fell due: issued late though a slot was free */
    double waited_for_slot_percent; /* ... had to wait for the server or the concurrency limit */
    double starved_percent;         /* mean share of the run in which its loops had work and no CPU */
    double busy_percent;            /* mean share of the run in which its loops did not wait */
    double cpu_percent_max;         /* CPU of its busiest loop */
    double host_cpu_percent;
    double skew_ms;
    double shortest_run_s, longest_run_s;
    uint64_t read_block_bytes, write_block_bytes;
};

struct generator_figures {
    double lateness_mean_us, lateness_p99_us;
    double send_wait_p99_us;
    double read_wait_p99_us;
    double waited_for_us_percent, waited_for_slot_percent;
    double starved_percent;
    double busy_percent;
    double cpu_percent_max;
    double host_cpu_percent_max;
    double skew_ms; /* latest against intended start, over all load generators */
    char *verdict;  /* "server", "generator-limited", or NULL when unknown */
};

struct interval_response {
    uint64_t n_ops, n_errors;
    double response_ms, p99_ms; /* NAN without ops */
};

struct point_interval {
    uint32_t t_s;
    struct interval_response by_class[OP_CLASS_COUNT], all;
};

/* Drift and correlation over the run's seconds: statistics.h. */
struct steady_state {
    double throughput_drift_percent; /* fitted change from the start to the end of the run, of the mean */
    double response_drift_percent;
    bool is_drifting;
};

struct point_result {
    uint64_t index; /* from 0 */
    char *started_at;
    double requested_ops_per_s;
    double achieved_ops_per_s;
    bool is_headline_from_due; /* open pacing; else the headline is from sent */
    double response_ms; /* headline: from_sent with closed-loop pacing, from_due with "open", from_sent with "max" */
    double response_stddev_ms;
    double response_ci95_ms; /* half-width */
    char *ci95_method;       /* "independent ops" or "batch means of N intervals" */
    struct response_figures from_due, from_sent;
    double spread_percent; /* of repeats: (max - min) / mean of the achieved throughput; NAN without */

    struct op_figures ops[NFS_OP_COUNT];
    json_t *errors;    /* {"failed": n, "outcomes": {...}, "anomalies": {...}} */
    uint64_t n_ops;    /* good ops as counted */
    uint64_t n_failed; /* failed RPCs */

    uint64_t fileset_bytes, fileset_files, working_set_bytes, files_touched;
    double warmup_s, run_s;               /* as asked */
    double shortest_run_s, longest_run_s; /* as it was, over all processes */
    uint64_t read_bytes, write_bytes;

    struct point_interval *intervals;
    size_t n_intervals;
    struct generator_figures generator;
    struct point_loadgen *loadgens;
    size_t n_loadgens;
    json_t *targets; /* array: what each target allowed (FSINFO) and the block sizes used; NULL: unknown */
    struct lost_process *lost;
    size_t n_lost;
    struct steady_state steady;

    bool is_cut_short; /* something else than a loss ended it before its time, as the end of the target does */
    bool is_saturated; /* achieved under 95 % of the request */
    bool is_valid;
    json_t *invalid_reasons, *notes; /* arrays of strings, never NULL */
    json_t *extra;                   /* keys of the file that are not ours: kept as they were; NULL: none */
};

/* The response times that count as the headline; their mean is p->response_ms. */
const struct response_figures *point_headline(const struct point_result *p);

/* --- building a point from what was measured --- */

/* Per load generator; strings borrowed. */
struct point_input_loadgen {
    const char *name;
    const struct tally *tally; /* merged over its processes */
    uint32_t n_processes;
    double cpu_percent_max;  /* busiest process loop */
    double host_cpu_percent; /* NAN: unknown */
    int64_t started_skew_ns, shortest_run_ns, longest_run_ns;
    uint32_t read_block_bytes, write_block_bytes;
    uint64_t n_files, fileset_bytes, n_files_touched, working_set_bytes;
};

struct point_input_lost {
    const char *loadgen;
    int64_t process; /* -1: the whole load generator */
    const char *reason;
    int64_t at_ns; /* since the load began */
};

/* Everything borrowed for the call. The point's tally is the merge of the load generators'. */
struct point_input {
    uint32_t index;
    double requested_ops_per_s;
    const struct workload *workload;
    wall_t started_at;
    int64_t warmup_ns, run_ns; /* as asked */
    const struct point_input_loadgen *loadgens;
    size_t n_loadgens;
    const struct point_input_lost *lost;
    size_t n_lost;
    const struct interval_figures *intervals;
    size_t n_intervals;
    const char *const *notes; /* further remarks for this point */
    size_t n_notes;
};

/* Computes every figure and the validity of the point. 0 or -ENOMEM. `out` is filled from zero; free with point_fini.
 */
int point_from_measurement(const struct point_input *in, struct point_result *out);

void point_init(struct point_result *p); /* everything unknown, valid */
void point_fini(struct point_result *p);

/* Adds a reason and makes the point invalid. Text from outside is made valid UTF-8. */
void point_invalidate(struct point_result *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void point_note(struct point_result *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* DIR/points/NN.json, on disk (written, synced, renamed, directory synced) when this returns 0; else -errno. */
int point_write(const char *run_dir, const struct point_result *p);

/* 0; -ENOENT when the point has no file; -EINVAL when the file is no point (error says why). */
int point_read(const char *run_dir, uint32_t index, struct point_result *out, struct result_error *error);

/* --- a result --- */

/* A load generator of the campaign. */
struct result_loadgen {
    char *host; /* name in the campaign */
    char *hostname, *cpu_model, *os, *addresses, *version;
    uint64_t processes, cpus, memory_bytes;
    double rtt_us, clock_skew_ms;
    json_t *targets;              /* array of target names that its processes drive */
    json_t *processes_per_target; /* {"fs1": 4, ...} or NULL */
};

struct result {
    char *name;
    char *started_at, *finished_at; /* RFC 3339 UTC */
    char *workload;                 /* preset's name */
    char *derived;                  /* what of the workload is derived rather than published; NULL or "" */
    char *pacing;                   /* "sfs", "open", "max"; NULL: unknown (published curve: "sfs") */
    char *counting;                 /* "logical" or "physical" */
    char *version;                  /* of nfscurve */
    char *source;                   /* where an imported or published curve comes from */
    bool is_published;              /* a published curve: no campaign of ours ran */
    bool is_standard;               /* result_finish: every value of sfs-facts section 6 is the standard one */
    json_t *nonstandard_reasons; /* array of strings; the caller may add before result_finish (workload_differences) */
    json_t *campaign;            /* resolved, every default filled in; NULL: unknown */
    json_t *disclosure;          /* docs/result-schema.md; NULL: none */
    json_t *findings;            /* of the validation phase: array of objects; NULL: none */

    struct result_loadgen *loadgens;
    size_t n_loadgens;
    struct point_result *points;
    size_t n_points;
    uint64_t n_points_planned; /* RESULT_UNKNOWN: as many as there are */
    char *stopped;             /* why the sweep ended early: "interrupted", "load generator lg2 lost: ..."; NULL */

    /* filled in by result_finish */
    double ceiling_ms; /* set by the caller from the workload; NAN or 0: none */
    double peak_ops_per_s, ort_ms;
    double peak_under_ceiling_ops_per_s, ort_under_ceiling_ms;
    bool was_unsorted;     /* the points came in another order, now or when the file was first written */
    size_t n_curve_points; /* of the ascending part */
    json_t *curve_notes;   /* turned back, unsorted, points left out, ...: array of strings */
    bool is_valid;
    json_t *invalid_reasons, *notes;
    json_t *extra; /* as in a point */
};

void result_init(struct result *r);
void result_fini(struct result *r);

/* Sets a string field (r->name, ...) to a copy of text made valid UTF-8; NULL clears. */
void result_set(char **field, const char *text);

/* Takes the insides of *p (p is empty afterwards). 0 or -ENOMEM. A point of the same index is replaced. */
int result_add_point(struct result *r, struct point_result *p);

/* A new element at the end of r->loadgens, everything unknown; the caller fills it with result_set(). NULL when memory
 * is short. */
struct result_loadgen *result_add_loadgen(struct result *r);

/* What the workload says of a result: name, derived, pacing, counting, ceiling. */
void result_set_workload(struct result *r, const struct workload *w);

/* Sorts the points by requested load, computes curve, ORT, peak, ceilings, standard, validity. May be called again
 * after more points. */
void result_finish(struct result *r);

/* The points as curve.h wants them, in order, ascending part not yet marked. Heap; NULL when memory is short. */
struct curve_point *result_curve_points(const struct result *r);

json_t *result_to_json(const struct result *r); /* new reference */
/* 0 or -EINVAL with the reason. result_finish has been called on `r`. */
int result_from_json(const json_t *root, struct result *r, struct result_error *error);

/* Writes atomically and synced. 0 or -errno. */
int result_save(const struct result *r, const char *path);

/* Reads a result file (JSON of any version, CSV, sfssum) or a run directory: its result.json, or, when that is missing,
 * campaign.json and points/. 0 or -errno with the reason. */
int result_load(const char *path, struct result *out, struct result_error *error);

/* The same from text: `name` is for messages and the result's name. Format by content. */
int result_from_text(const char *name, const char *text, size_t n, struct result *out, struct result_error *error);

/* Writes result.json, report.html, curve.svg, curve.csv and sfssum into a run directory. 0 or the first -errno. */
int result_write_run_dir(const struct result *r, const char *run_dir);

#endif
