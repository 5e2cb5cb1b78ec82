/* control_collect.c - see control_collect.h. */
#include "control_collect.h"

#include "daemon.h"
#include "interval_log.h"
#include "log.h"
#include "tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An answer is closed when it has grown beyond this; the largest single item (three histograms of an op, or four of a
 * second) has at most 4 * 3968 * 12 bytes = 190 KB, so that it still fits. */
#define ENOUGH_BYTES 700000u

#define BUCKET_BYTES    12u /* of one bucket on the wire */
#define MAX_SUMMARIES   128u
#define MAX_FINDINGS    256u
#define CPU_PERMILLE(p) ((u_int)((p)*10.0 + 0.5))

/* A heap copy of text that may come from a process's memory: bounded, terminated, printable. */
static char *copy_text(const char *text, size_t bytes, size_t max)
{
    char quoted[LG_MAX_TEXT + 1];

    log_quote(quoted, max < LG_MAX_TEXT ? max + 1 : sizeof(quoted), text, strnlen(text, bytes));
    return strdup(quoted);
}

static int fill_histogram(lg_histogram *out, const struct histogram *h, size_t *bytes)
{
    u_int n = 0;

    out->count = h->count;
    out->n_beyond = h->n_beyond;
    out->min_ns = h->min_ns;
    out->max_ns = h->max_ns;
    out->sum_high = (uint64_t)(h->sum_ns >> 64);
    out->sum_low = (uint64_t)h->sum_ns;
    out->sum_sq_high = (uint64_t)(h->sum_sq_ns2 >> 64);
    out->sum_sq_low = (uint64_t)h->sum_sq_ns2;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        n += h->buckets[i] != 0;
    }
    *bytes += 72 + n * BUCKET_BYTES;
    if (n == 0) {
        return 0;
    }
    out->buckets.buckets_val = calloc(n, sizeof(lg_bucket));
    if (!out->buckets.buckets_val) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (h->buckets[i]) {
            out->buckets.buckets_val[out->buckets.buckets_len++] = (lg_bucket){i, h->buckets[i]};
        }
    }
    return 0;
}

static int fill_u64s(u_int *len, u_quad_t **val, const uint64_t *from, u_int n)
{
    *val = calloc(n, sizeof(**val));
    if (!*val) {
        return -ENOMEM;
    }
    for (u_int i = 0; i < n; i++) {
        (*val)[i] = from[i];
    }
    *len = n;
    return 0;
}

/* ---- processes ---- */

static int fill_summary(const struct daemon *d, uint32_t i, lg_process_summary *out)
{
    const struct supervisor *s = daemon_supervisor(d);
    const struct process_shared *p = supervisor_shared(s, i);
    const struct process_facts *f = &p->facts;
    const char *reason = supervisor_death_reason(s, i);
    int64_t started = atomic_load(&p->run_started_ns), ended = atomic_load(&p->run_ended_ns);
    const struct generator_tally *g = &p->tally.generator;

    out->is_dead = reason != NULL;
    out->message =
        reason ? copy_text(reason, LG_MAX_TEXT, LG_MAX_TEXT) : copy_text(p->message, PROCESS_MESSAGE_MAX, LG_MAX_TEXT);
    out->started_late_ns = started ? started - daemon_run_start(d).ns : 0;
    out->run_ns = started && ended > started ? ended - started : 0;
    out->cpu_permille = g->run_ns > 0 ? CPU_PERMILLE(100.0 * (double)g->loop_cpu_ns / (double)g->run_ns) : 0;
    out->rtmax = f->rtmax;
    out->wtmax = f->wtmax;
    out->read_block_bytes = f->read_block_bytes;
    out->write_block_bytes = f->write_block_bytes;
    out->n_files = f->n_files;
    out->fileset_bytes = f->fileset_bytes;
    out->n_files_touched = f->n_files_touched;
    out->working_set_bytes = f->working_set_bytes;
    out->memory_bytes = f->memory_bytes;
    out->local_address = copy_text(f->local_address, sizeof(f->local_address), LG_MAX_NAME);
    out->server_address = copy_text(f->server_address, sizeof(f->server_address), LG_MAX_NAME);
    return out->message && out->local_address && out->server_address ? 0 : -ENOMEM;
}

static int collect_processes(const struct daemon *d, const lg_collect *question, lg_processes *out)
{
    uint32_t n = supervisor_n(daemon_supervisor(d));
    uint32_t from = question->from < n ? question->from : n;
    uint32_t count = n - from < MAX_SUMMARIES ? n - from : MAX_SUMMARIES;

    out->host_cpu_permille = CPU_PERMILLE(daemon_host_cpu_percent(d));
    out->next = from + count;
    out->processes.processes_val = calloc(count ? count : 1, sizeof(lg_process_summary));
    if (!out->processes.processes_val) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        out->processes.processes_len++;
        int error = fill_summary(d, from + i, &out->processes.processes_val[i]);
        if (error) {
            return error;
        }
    }
    return 0;
}

/* ---- ops ---- */

static int merge_all(const struct daemon *d, struct tally **merged)
{
    const struct supervisor *s = daemon_supervisor(d);

    if (*merged) {
        return 0;
    }
    *merged = malloc(sizeof(**merged));
    if (!*merged) {
        return -ENOMEM;
    }
    tally_init(*merged);
    for (uint32_t i = 0; i < supervisor_n(s); i++) {
        tally_merge(*merged, &supervisor_shared(s, i)->tally);
    }
    return 0;
}

static bool did_nothing(const struct op_tally *t)
{
    for (int i = 0; i < OP_OUTCOME_COUNT; i++) {
        if (t->n_outcome[i]) {
            return false;
        }
    }
    return t->n_logical == 0 && t->n_physical == 0 && t->rpc.count == 0;
}

static int fill_op(lg_op *out, u_int op, const struct op_tally *t, size_t *bytes)
{
    out->op = op;
    out->n_logical = t->n_logical;
    out->n_physical = t->n_physical;
    *bytes += 32 + 8 * (OP_OUTCOME_COUNT + NFS_STATUS_COUNT);
    int error = fill_histogram(&out->from_due, &t->from_due, bytes);
    if (!error) {
        error = fill_histogram(&out->from_sent, &t->from_sent, bytes);
    }
    if (!error) {
        error = fill_histogram(&out->rpc, &t->rpc, bytes);
    }
    if (!error) {
        error = fill_u64s(&out->n_outcome.n_outcome_len, &out->n_outcome.n_outcome_val, t->n_outcome, OP_OUTCOME_COUNT);
    }
    if (!error) {
        error = fill_u64s(&out->n_status.n_status_len, &out->n_status.n_status_val, t->n_status, NFS_STATUS_COUNT);
    }
    return error;
}

static int fill_generator(lg_ops *out, const struct tally *t)
{
    const struct generator_tally *g = &t->generator;
    size_t bytes = 0;

    out->read_bytes = t->read_bytes;
    out->write_bytes = t->write_bytes;
    out->generator = calloc(1, sizeof(lg_generator));
    if (!out->generator) {
        return -ENOMEM;
    }
    out->generator->n_due = g->n_due;
    out->generator->n_waited_for_slot = g->n_waited_for_slot;
    out->generator->n_waited_for_us = g->n_waited_for_us;
    out->generator->loop_busy_ns = g->loop_busy_ns;
    out->generator->loop_cpu_ns = g->loop_cpu_ns;
    out->generator->run_ns = g->run_ns;
    int error = fill_histogram(&out->generator->lateness, &g->lateness, &bytes);
    if (!error) {
        error = fill_histogram(&out->generator->send_wait, &g->send_wait, &bytes);
    }
    if (!error) {
        error = fill_histogram(&out->generator->read_wait, &g->read_wait, &bytes);
    }
    if (!error) {
        error = fill_u64s(&out->n_anomaly.n_anomaly_len, &out->n_anomaly.n_anomaly_val, t->n_anomaly, ANOMALY_COUNT);
    }
    return error;
}

static int collect_ops(const struct daemon *d, const lg_collect *question, struct tally **merged, lg_ops *out)
{
    size_t bytes = 0;
    u_int op = question->from < NFS_OP_COUNT ? question->from : NFS_OP_COUNT;
    int error = merge_all(d, merged);

    if (error) {
        return error;
    }
    out->ops.ops_val = calloc(NFS_OP_COUNT, sizeof(lg_op));
    if (!out->ops.ops_val) {
        return -ENOMEM;
    }
    for (; op < NFS_OP_COUNT && bytes < ENOUGH_BYTES; op++) {
        if (did_nothing(&(*merged)->ops[op])) {
            continue;
        }
        error = fill_op(&out->ops.ops_val[out->ops.ops_len++], op, &(*merged)->ops[op], &bytes);
        if (error) {
            return error;
        }
    }
    out->next = op;
    return op == NFS_OP_COUNT ? fill_generator(out, *merged) : 0;
}

/* ---- intervals ---- */

static int fill_second(const struct supervisor *s, uint32_t t_s, struct histogram *scratch, lg_interval *out,
                       size_t *bytes)
{
    out->t_s = t_s;
    out->classes.classes_val = calloc(OP_CLASS_COUNT, sizeof(lg_interval_class));
    if (!out->classes.classes_val) {
        return -ENOMEM;
    }
    for (u_int c = 0; c < OP_CLASS_COUNT; c++) {
        uint64_t n_ops = 0, n_errors = 0;
        histogram_init(scratch);
        for (uint32_t i = 0; i < supervisor_n(s); i++) {
            interval_log_read(supervisor_intervals(s, i), t_s, (enum op_class)c, &n_ops, &n_errors, scratch);
        }
        if (n_ops == 0 && n_errors == 0) {
            continue;
        }
        lg_interval_class *k = &out->classes.classes_val[out->classes.classes_len++];
        *k = (lg_interval_class){.op_class = c, .n_ops = n_ops, .n_errors = n_errors};
        int error = fill_histogram(&k->response, scratch, bytes);
        if (error) {
            return error;
        }
    }
    *bytes += 128;
    return 0;
}

static int collect_intervals(const struct daemon *d, const lg_collect *question, lg_intervals *out)
{
    const struct supervisor *s = daemon_supervisor(d);
    struct histogram *scratch = malloc(sizeof(*scratch));
    uint32_t n_seconds = 0, t = question->from;
    size_t bytes = 0;
    int error = 0;

    for (uint32_t i = 0; i < supervisor_n(s); i++) {
        uint32_t n = interval_log_seconds(supervisor_intervals(s, i));
        n_seconds = n > n_seconds ? n : n_seconds;
    }
    out->n_seconds = n_seconds;
    out->seconds.seconds_val = calloc(LG_MAX_SECONDS, sizeof(lg_interval));
    if (!scratch || !out->seconds.seconds_val) {
        error = -ENOMEM;
    }
    while (!error && t < n_seconds && out->seconds.seconds_len < LG_MAX_SECONDS &&
           out->seconds.seconds_len < question->n && bytes < ENOUGH_BYTES) {
        error = fill_second(s, t++, scratch, &out->seconds.seconds_val[out->seconds.seconds_len++], &bytes);
    }
    out->next = t;
    free(scratch);
    return error;
}

/* ---- findings ---- */

static int fill_finding(const struct daemon *d, uint32_t process, const struct process_finding *f, lg_finding *out)
{
    out->process = process;
    out->target = daemon_process_target(d, process);
    out->rule = copy_text(f->rule, sizeof(f->rule), LG_MAX_NAME);
    out->op = copy_text(f->op, sizeof(f->op), LG_MAX_NAME);
    out->expected = copy_text(f->expected, sizeof(f->expected), LG_MAX_NAME);
    out->got = copy_text(f->got, sizeof(f->got), LG_MAX_NAME);
    return out->rule && out->op && out->expected && out->got ? 0 : -ENOMEM;
}

static int collect_findings(const struct daemon *d, const lg_collect *question, lg_findings *out)
{
    const struct supervisor *s = daemon_supervisor(d);
    uint32_t number = 0;

    out->findings.findings_val = calloc(MAX_FINDINGS, sizeof(lg_finding));
    if (!out->findings.findings_val) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < supervisor_n(s); i++) {
        const struct process_shared *p = supervisor_shared(s, i);
        uint32_t n = p->n_findings < PROCESS_FINDINGS_MAX ? p->n_findings : PROCESS_FINDINGS_MAX;
        for (uint32_t k = 0; k < n; k++, number++) {
            if (number < question->from || out->findings.findings_len == MAX_FINDINGS) {
                continue;
            }
            int error = fill_finding(d, i, &p->findings[k], &out->findings.findings_val[out->findings.findings_len++]);
            if (error) {
                return error;
            }
        }
    }
    out->n = number;
    out->next = question->from + out->findings.findings_len;
    return 0;
}

static int check_at_rest(const struct supervisor *s, char *message, size_t cap)
{
    for (uint32_t i = 0; i < supervisor_n(s); i++) {
        uint32_t state = atomic_load(&supervisor_shared(s, i)->state);
        if (!supervisor_death_reason(s, i) && state != PROCESS_IDLE && state != PROCESS_FAILED) {
            snprintf(message, cap, "process %u is still at work", i);
            return -EINVAL;
        }
    }
    return 0;
}

int control_collect(const struct daemon *d, const lg_collect *question, struct tally **merged, lg_collected *answer,
                    char *message, size_t cap)
{
    int error = check_at_rest(daemon_supervisor(d), message, cap);

    if (error) {
        return error;
    }
    answer->part = question->part;
    switch (question->part) {
    case LG_PART_PROCESSES:
        return collect_processes(d, question, &answer->lg_collected_u.processes);
    case LG_PART_OPS:
        return collect_ops(d, question, merged, &answer->lg_collected_u.ops);
    case LG_PART_INTERVALS:
        return collect_intervals(d, question, &answer->lg_collected_u.intervals);
    case LG_PART_FINDINGS:
        return collect_findings(d, question, &answer->lg_collected_u.findings);
    }
    return -EINVAL;
}
