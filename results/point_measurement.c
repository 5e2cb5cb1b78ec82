/* point_measurement.c - from tallies to the figures of one point.
 *
 * Everything is computed from merged integers and histograms; nothing is an average of averages.
 */
#include "histogram_json.h"
#include "result.h"
#include "statistics.h"
#include "validity.h"
#include "workload.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct response_figures unknown_response = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static struct response_figures figures_of(const struct histogram *h)
{
    if (h->count == 0) {
        return unknown_response;
    }
    return (struct response_figures){
        .response_ms = histogram_mean_ns(h) / 1e6,
        .stddev_ms = histogram_stddev_ns(h) / 1e6,
        .p50_ms = ms(histogram_percentile_ns(h, 50)),
        .p90_ms = ms(histogram_percentile_ns(h, 90)),
        .p95_ms = ms(histogram_percentile_ns(h, 95)),
        .p99_ms = ms(histogram_percentile_ns(h, 99)),
        .p999_ms = ms(histogram_percentile_ns(h, 99.9)),
        .max_ms = ms(h->max_ns),
    };
}

static bool same_histogram(const struct histogram *a, const struct histogram *b)
{
    return a->count == b->count && a->n_beyond == b->n_beyond && a->sum_ns == b->sum_ns &&
           a->sum_sq_ns2 == b->sum_sq_ns2 && memcmp(a->buckets, b->buckets, sizeof a->buckets) == 0;
}

static void put_nonzero(json_t **object, const char *key, uint64_t n)
{
    if (n == 0) {
        return;
    }
    if (!*object) {
        *object = json_object();
    }
    json_object_set_new(*object, key, json_integer((json_int_t)n));
}

/* What the workload counts of this op: by-product COMMITs are part of their writes. */
static uint64_t counted(const struct workload *w, const struct tally *t, enum nfs_op op)
{
    if (op == NFS_OP_COMMIT && w->is_commit_byproduct) {
        return 0;
    }
    return w->counting == COUNTING_PHYSICAL ? t->ops[op].n_physical : t->ops[op].n_logical;
}

static void fill_op(struct op_figures *f, const struct op_tally *t)
{
    f->n_logical = t->n_logical;
    f->n_physical = t->n_physical;
    f->from_due = figures_of(&t->from_due);
    f->from_sent = figures_of(&t->from_sent);
    f->n_errors = 0;
    for (int o = 0; o < OP_OUTCOME_COUNT; o++) {
        put_nonzero(&f->outcomes, op_outcome_name(o), t->n_outcome[o]);
        f->n_errors += o == OP_OK ? 0 : t->n_outcome[o];
    }
    for (unsigned s = 0; s < NFS_STATUS_COUNT; s++) {
        put_nonzero(&f->statuses, nfs_status_name(s), t->n_status[s]);
    }
    if (t->from_sent.count == 0 && t->rpc.count == 0) {
        return;
    }
    f->histograms = json_object();
    json_object_set_new(f->histograms, "from_due", histogram_to_json(&t->from_due));
    json_object_set_new(f->histograms, "from_sent", histogram_to_json(&t->from_sent));
    if (!same_histogram(&t->rpc, &t->from_sent)) {
        json_object_set_new(f->histograms, "rpc", histogram_to_json(&t->rpc));
    }
}

static void fill_ops(struct point_result *p, const struct workload *w, const struct tally *t)
{
    p->n_ops = 0;
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        p->n_ops += counted(w, t, op);
    }
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        struct op_figures *f = &p->ops[op];
        uint64_t rpcs = 0;
        for (int o = 0; o < OP_OUTCOME_COUNT; o++) {
            rpcs += t->ops[op].n_outcome[o];
        }
        f->is_present = rpcs > 0 || t->ops[op].n_logical > 0 || t->ops[op].n_physical > 0 || w->mix_percent[op] > 0;
        if (!f->is_present) {
            continue;
        }
        bool is_byproduct = op == NFS_OP_COMMIT && w->is_commit_byproduct;
        f->target_percent = is_byproduct ? NAN : w->mix_percent[op];
        f->percent = is_byproduct ? NAN : p->n_ops ? 100.0 * (double)counted(w, t, op) / (double)p->n_ops : 0;
        fill_op(f, &t->ops[op]);
    }
}

static void fill_responses(struct point_result *p, const struct tally *t)
{
    struct histogram *due = calloc(2, sizeof *due), *sent = due + 1;
    if (!due) {
        return;
    }
    histogram_init(due);
    histogram_init(sent);
    uint64_t n_beyond = 0;
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        n_beyond += histogram_merge(due, &t->ops[op].from_due);
        histogram_merge(sent, &t->ops[op].from_sent);
    }
    p->from_due = figures_of(due);
    p->from_sent = figures_of(sent);
    if (n_beyond) {
        point_note(
            p,
            "%llu response times are beyond the histogram's range of 100 s: counted in means, the last in percentiles",
            (unsigned long long)n_beyond);
    }
    free(due);
}

static void fill_errors(struct point_result *p, const struct tally *t)
{
    json_t *outcomes = NULL, *anomalies = NULL;
    uint64_t n[OP_OUTCOME_COUNT] = {0};
    p->n_failed = 0;
    for (int o = 0; o < OP_OUTCOME_COUNT; o++) {
        for (int op = 0; op < NFS_OP_COUNT; op++) {
            n[o] += t->ops[op].n_outcome[o];
        }
        if (o == OP_OK) {
            continue;
        }
        put_nonzero(&outcomes, op_outcome_name(o), n[o]);
        p->n_failed += n[o];
    }
    for (int a = 0; a < ANOMALY_COUNT; a++) {
        put_nonzero(&anomalies, anomaly_name(a), t->n_anomaly[a]);
    }
    p->errors = json_object();
    json_object_set_new(p->errors, "failed", json_integer((json_int_t)p->n_failed));
    json_object_set_new(p->errors, "outcomes", outcomes ? outcomes : json_object());
    json_object_set_new(p->errors, "anomalies", anomalies ? anomalies : json_object());
}

static double per_cent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

static double larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

static double smaller(double a, double b)
{
    return isnan(a) || b < a ? b : a;
}

/* Busy share of the loops: busy time against processes * run. */
/* Starved share: busy time that was no CPU time. CPU time has coarse ticks and includes the waiting call itself: not
 * below 0. */
static double starved_percent(const struct generator_tally *g, double n_processes)
{
    double starved_ns = (double)(g->loop_busy_ns - g->loop_cpu_ns);
    return per_cent(starved_ns > 0 ? starved_ns : 0, n_processes * (double)g->run_ns);
}

static double busy_percent(const struct generator_tally *g, double n_processes)
{
    return per_cent((double)g->loop_busy_ns, n_processes * (double)g->run_ns);
}

static void fill_loadgen(struct point_loadgen *l, const struct point_input_loadgen *in, const struct workload *w)
{
    const struct generator_tally *g = &in->tally->generator;
    result_set(&l->name, in->name);
    l->n_processes = in->n_processes;
    l->n_ops = 0;
    double sum_ns = 0, n = 0;
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        const struct histogram *h =
            w->pacing == PACING_OPEN ? &in->tally->ops[op].from_due : &in->tally->ops[op].from_sent;
        l->n_ops += counted(w, in->tally, op);
        sum_ns += (double)h->sum_ns;
        n += (double)h->count;
    }
    l->n_errors = tally_failed_rpcs(in->tally);
    l->response_ms = n > 0 ? sum_ns / n / 1e6 : NAN;
    l->lateness_mean_us = histogram_mean_ns(&g->lateness) / 1e3;
    l->lateness_p99_us = (double)histogram_percentile_ns(&g->lateness, 99) / 1e3;
    l->waited_for_us_percent = per_cent((double)g->n_waited_for_us, (double)g->n_due);
    l->waited_for_slot_percent = per_cent((double)g->n_waited_for_slot, (double)g->n_due);
    l->busy_percent = busy_percent(g, in->n_processes);
    l->starved_percent = starved_percent(g, in->n_processes);
    l->cpu_percent_max = in->cpu_percent_max;
    l->host_cpu_percent = in->host_cpu_percent;
    l->skew_ms = ms(in->started_skew_ns);
    l->shortest_run_s = ms(in->shortest_run_ns) / 1e3;
    l->longest_run_s = ms(in->longest_run_ns) / 1e3;
    l->read_block_bytes = in->read_block_bytes;
    l->write_block_bytes = in->write_block_bytes;
}

static void fill_generator(struct point_result *p, const struct tally *t)
{
    struct generator_figures *g = &p->generator;
    double n_processes = 0;
    for (size_t i = 0; i < p->n_loadgens; i++) {
        const struct point_loadgen *l = &p->loadgens[i];
        n_processes += (double)l->n_processes;
        g->cpu_percent_max = larger(g->cpu_percent_max, l->cpu_percent_max);
        g->host_cpu_percent_max = larger(g->host_cpu_percent_max, l->host_cpu_percent);
        g->skew_ms = larger(g->skew_ms, l->skew_ms);
        /* a load generator that was lost may have recorded no run at all: the loss says so, not its length */
        if (l->longest_run_s > 0) {
            p->shortest_run_s = smaller(p->shortest_run_s, l->shortest_run_s);
            p->longest_run_s = larger(p->longest_run_s, l->longest_run_s);
        }
    }
    g->lateness_mean_us = histogram_mean_ns(&t->generator.lateness) / 1e3;
    g->lateness_p99_us = (double)histogram_percentile_ns(&t->generator.lateness, 99) / 1e3;
    g->send_wait_p99_us = (double)histogram_percentile_ns(&t->generator.send_wait, 99) / 1e3;
    g->read_wait_p99_us = (double)histogram_percentile_ns(&t->generator.read_wait, 99) / 1e3;
    g->waited_for_us_percent = per_cent((double)t->generator.n_waited_for_us, (double)t->generator.n_due);
    g->waited_for_slot_percent = per_cent((double)t->generator.n_waited_for_slot, (double)t->generator.n_due);
    g->busy_percent = busy_percent(&t->generator, n_processes);
    g->starved_percent = starved_percent(&t->generator, n_processes);
}

/* The verdict is taken for every load generator on its own: one that starves among many that do not must not be
 * averaged away. */
static void judge_generator(struct point_result *p, const struct point_input *in)
{
    char why[256];
    bool is_limit = false;
    double achieved =
        in->workload->pacing == PACING_MAX ? NAN : per_cent(p->achieved_ops_per_s, p->requested_ops_per_s);
    for (size_t i = 0; i < p->n_loadgens; i++) {
        const struct point_loadgen *l = &p->loadgens[i];
        struct generator_evidence e = {
            .achieved_percent = achieved,
            .response_mean_us = p->from_sent.response_ms * 1e3,
            .lateness_mean_us = l->lateness_mean_us,
            .lateness_p99_us = l->lateness_p99_us,
            .busy_percent = l->busy_percent,
            .starved_percent = l->starved_percent,
            .waited_for_us_percent = l->waited_for_us_percent,
            .waited_for_slot_percent = l->waited_for_slot_percent,
            .cpu_percent_max = l->cpu_percent_max,
        };
        if (!validity_is_generator_limited(&e, why, sizeof why)) {
            continue;
        }
        point_invalidate(p, "%s (load generator %s)", why, l->name);
        is_limit = true;
    }
    result_set(&p->generator.verdict, is_limit ? "generator-limited" : "server");
}

static struct interval_response interval_response(const struct interval_class_figures *f)
{
    return (struct interval_response){
        .n_ops = f->n_ops,
        .n_errors = f->n_errors,
        .response_ms = f->n_ops ? (double)f->sum_ns / (double)f->n_ops / 1e6 : NAN,
        .p99_ms = f->n_ops ? ms(f->p99_ns) : NAN,
    };
}

static int fill_intervals(struct point_result *p, const struct point_input *in)
{
    if (in->n_intervals == 0) {
        return 0;
    }
    p->intervals = calloc(in->n_intervals, sizeof *p->intervals);
    if (!p->intervals) {
        return -ENOMEM;
    }
    p->n_intervals = in->n_intervals;
    for (size_t i = 0; i < in->n_intervals; i++) {
        const struct interval_figures *from = &in->intervals[i];
        struct point_interval *to = &p->intervals[i];
        to->t_s = from->t_s;
        for (int c = 0; c < OP_CLASS_COUNT; c++) {
            to->by_class[c] = interval_response(&from->by_class[c]);
        }
        to->all = interval_response(&from->all);
    }
    return 0;
}

static int fill_statistics(struct point_result *p, const struct point_input *in)
{
    struct batch *batches = calloc(in->n_intervals + 1, sizeof *batches);
    if (!batches) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < in->n_intervals; i++) {
        batches[i] = (struct batch){(double)in->intervals[i].all.n_ops, ms((int64_t)in->intervals[i].all.sum_ns)};
    }
    const struct response_figures *headline = point_headline(p);
    p->response_ms = headline->response_ms;
    p->response_stddev_ms = headline->stddev_ms;
    struct confidence c = statistics_confidence(headline->stddev_ms, (double)p->n_ops, batches, in->n_intervals);
    p->response_ci95_ms = c.half_width_ms;
    char method[64] = "independent ops";
    if (c.is_batch_means) {
        snprintf(method, sizeof method, "batch means of %zu intervals", in->n_intervals);
    }
    if (isfinite(c.half_width_ms)) {
        result_set(&p->ci95_method, method);
    }
    struct drift d = statistics_drift(batches, in->n_intervals);
    p->steady = (struct steady_state){d.throughput_percent, d.response_percent, d.is_drifting};
    if (d.is_drifting) {
        point_note(p,
                   "not steady: over the run throughput changed by %+.1f %%, response time by %+.1f %%; the warm-up "
                   "may have been too short",
                   d.throughput_percent, d.response_percent);
    }
    free(batches);
    return 0;
}

static int fill_loadgens(struct point_result *p, const struct point_input *in)
{
    p->loadgens = calloc(in->n_loadgens + 1, sizeof *p->loadgens);
    p->lost = calloc(in->n_lost + 1, sizeof *p->lost);
    if (!p->loadgens || !p->lost) {
        return -ENOMEM;
    }
    p->fileset_bytes = p->fileset_files = p->working_set_bytes = p->files_touched = 0;
    for (size_t i = 0; i < in->n_loadgens; i++) {
        const struct point_input_loadgen *l = &in->loadgens[i];
        fill_loadgen(&p->loadgens[p->n_loadgens++], l, in->workload);
        p->fileset_bytes += l->fileset_bytes;
        p->fileset_files += l->n_files;
        p->working_set_bytes += l->working_set_bytes;
        p->files_touched += l->n_files_touched;
    }
    for (size_t i = 0; i < in->n_lost; i++) {
        struct lost_process *l = &p->lost[p->n_lost++];
        result_set(&l->loadgen, in->lost[i].loadgen);
        result_set(&l->reason, in->lost[i].reason);
        l->process = in->lost[i].process;
        l->at_s = ms(in->lost[i].at_ns) / 1e3;
    }
    return 0;
}

int point_from_measurement(const struct point_input *in, struct point_result *out)
{
    struct tally *total = calloc(1, sizeof *total);
    char started_at[25];
    int error = -ENOMEM;

    point_init(out);
    if (!total) {
        goto out;
    }
    tally_init(total);
    for (size_t i = 0; i < in->n_loadgens; i++) {
        tally_merge(total, in->loadgens[i].tally);
    }

    out->index = in->index;
    wall_format(in->started_at, started_at);
    result_set(&out->started_at, started_at);
    out->requested_ops_per_s = in->requested_ops_per_s;
    out->is_headline_from_due = in->workload->pacing == PACING_OPEN;
    out->warmup_s = ms(in->warmup_ns) / 1e3;
    out->run_s = ms(in->run_ns) / 1e3;
    out->read_bytes = total->read_bytes;
    out->write_bytes = total->write_bytes;
    fill_ops(out, in->workload, total);
    fill_responses(out, total);
    fill_errors(out, total);
    if (fill_loadgens(out, in) || fill_intervals(out, in) || fill_statistics(out, in)) {
        goto out;
    }
    fill_generator(out, total);
    int64_t run_ns = total->generator.run_ns > 0 ? total->generator.run_ns : in->run_ns;
    out->achieved_ops_per_s = run_ns > 0 ? (double)out->n_ops / (ms(run_ns) / 1e3) : 0;

    double n_good_rpcs = 0;
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        n_good_rpcs += (double)total->ops[op].n_physical;
    }
    validity_check_point(out, n_good_rpcs);
    judge_generator(out, in);
    for (size_t i = 0; i < in->n_notes; i++) {
        point_note(out, "%s", in->notes[i]);
    }
    error = 0;
out:
    free(total);
    if (error) {
        point_fini(out);
    }
    return error;
}
