/* control_answer.c - see control_answer.h. */
#include "control_answer.h"

#include "tally.h"

#include <errno.h>
#include <stdlib.h>

static int add_histogram(struct histogram *into, const lg_histogram *from)
{
    for (u_int i = 0; i < from->buckets.buckets_len; i++) {
        if (from->buckets.buckets_val[i].index >= HISTOGRAM_BUCKETS) {
            return -EPROTO;
        }
    }
    for (u_int i = 0; i < from->buckets.buckets_len; i++) {
        into->buckets[from->buckets.buckets_val[i].index] += from->buckets.buckets_val[i].count;
    }
    into->count += from->count;
    into->n_beyond += from->n_beyond;
    into->sum_ns += ((unsigned __int128)from->sum_high << 64) | from->sum_low;
    into->sum_sq_ns2 += ((unsigned __int128)from->sum_sq_high << 64) | from->sum_sq_low;
    if (from->min_ns < into->min_ns) {
        into->min_ns = from->min_ns;
    }
    if (from->max_ns > into->max_ns) {
        into->max_ns = from->max_ns;
    }
    return 0;
}

static void add_u64s(uint64_t *into, unsigned n, const u_quad_t *from, u_int len)
{
    for (unsigned i = 0; i < n && i < len; i++) {
        into[i] += from[i];
    }
}

static int add_op(struct tally *into, const lg_op *op)
{
    if (op->op >= NFS_OP_COUNT) {
        return -EPROTO;
    }
    struct op_tally *t = &into->ops[op->op];
    t->n_logical += op->n_logical;
    t->n_physical += op->n_physical;
    add_u64s(t->n_outcome, OP_OUTCOME_COUNT, op->n_outcome.n_outcome_val, op->n_outcome.n_outcome_len);
    add_u64s(t->n_status, NFS_STATUS_COUNT, op->n_status.n_status_val, op->n_status.n_status_len);
    int error = add_histogram(&t->from_due, &op->from_due);
    if (!error) {
        error = add_histogram(&t->from_sent, &op->from_sent);
    }
    if (!error) {
        error = add_histogram(&t->rpc, &op->rpc);
    }
    return error;
}

/* Spans are added up and subtracted later: beyond some centuries they are no spans. */
static bool is_span(int64_t ns)
{
    return ns > -(INT64_C(1) << 60) && ns < INT64_C(1) << 60;
}

static int add_generator(struct tally *into, const lg_ops *ops)
{
    const lg_generator *from = ops->generator;
    struct generator_tally *g = &into->generator;

    if (!is_span(from->loop_busy_ns) || !is_span(from->loop_cpu_ns) || !is_span(from->run_ns) ||
        !is_span(g->loop_busy_ns) || !is_span(g->loop_cpu_ns)) {
        return -EPROTO;
    }
    g->n_due += from->n_due;
    g->n_waited_for_slot += from->n_waited_for_slot;
    g->n_waited_for_us += from->n_waited_for_us;
    g->loop_busy_ns += from->loop_busy_ns;
    g->loop_cpu_ns += from->loop_cpu_ns;
    if (from->run_ns > g->run_ns) {
        g->run_ns = from->run_ns;
    }
    into->read_bytes += ops->read_bytes;
    into->write_bytes += ops->write_bytes;
    add_u64s(into->n_anomaly, ANOMALY_COUNT, ops->n_anomaly.n_anomaly_val, ops->n_anomaly.n_anomaly_len);
    int error = add_histogram(&g->lateness, &from->lateness);
    if (!error) {
        error = add_histogram(&g->send_wait, &from->send_wait);
    }
    if (!error) {
        error = add_histogram(&g->read_wait, &from->read_wait);
    }
    return error;
}

static int take_ops(const struct control_sink *sink, const lg_ops *ops, struct control_answer *answer)
{
    int error = 0;

    answer->next = ops->next;
    for (u_int i = 0; i < ops->ops.ops_len && !error; i++) {
        error = add_op(sink->tally, &ops->ops.ops_val[i]);
    }
    if (!error && ops->generator) {
        error = add_generator(sink->tally, ops);
    }
    return error;
}

static int take_intervals(const struct control_sink *sink, const lg_intervals *intervals, struct control_answer *answer)
{
    answer->next = intervals->next;
    answer->n_seconds = intervals->n_seconds;
    for (u_int i = 0; i < intervals->seconds.seconds_len; i++) {
        const lg_interval *s = &intervals->seconds.seconds_val[i];
        for (u_int k = 0; k < s->classes.classes_len; k++) {
            const lg_interval_class *c = &s->classes.classes_val[k];
            if (c->op_class >= OP_CLASS_COUNT) {
                return -EPROTO;
            }
            struct control_interval_cell *cell = sink->cell(s->t_s, (enum op_class)c->op_class, sink->cell_arg);
            if (!cell) {
                continue;
            }
            cell->n_ops += c->n_ops;
            cell->n_errors += c->n_errors;
            int error = add_histogram(cell->response, &c->response);
            if (error) {
                return error;
            }
        }
    }
    return 0;
}

static void take_facts(const lg_facts *f, struct control_answer *answer)
{
    answer->facts = (struct control_facts){
        .hostname = f->hostname,
        .software = f->software,
        .cpu_model = f->cpu_model,
        .os = f->os,
        .addresses = f->addresses,
        .held_by_campaign = f->held_by_campaign,
        .held_by_host = f->held_by_host,
        .n_cpus = f->n_cpus,
        .memory_bytes = f->memory_bytes,
        .wall = {f->wall_ns < 0 ? 0 : f->wall_ns}, /* so that a difference to ours fits */
        .lease_ns = f->lease_ns,
    };
}

static int take_status(const lg_status *s, struct control_answer *answer, void **scratch)
{
    struct control_process_status *out = calloc(s->processes.processes_len + 1, sizeof(*out));

    *scratch = out;
    if (!out) {
        return -ENOMEM;
    }
    for (u_int i = 0; i < s->processes.processes_len; i++) {
        const lg_process_status *p = &s->processes.processes_val[i];
        if (p->state > CONTROL_PROCESS_FAILED) {
            return -EPROTO;
        }
        out[i] = (struct control_process_status){
            .state = (enum control_process_state)p->state,
            .is_dead = p->is_dead,
            .done_serial = p->done_serial,
            .progress_done = p->progress_done,
            .progress_total = p->progress_total,
            .live_ops = p->live_ops,
            .live_response_sum_ns = p->live_response_sum_ns,
            .live_errors = p->live_errors,
            .message = p->message,
        };
    }
    answer->since_start_ns = s->since_start_ns;
    answer->n = s->processes.processes_len;
    answer->processes = out;
    return 0;
}

static int take_summaries(const lg_processes *s, struct control_answer *answer, void **scratch)
{
    struct control_process_summary *out = calloc(s->processes.processes_len + 1, sizeof(*out));

    *scratch = out;
    if (!out) {
        return -ENOMEM;
    }
    for (u_int i = 0; i < s->processes.processes_len; i++) {
        const lg_process_summary *p = &s->processes.processes_val[i];
        if (!is_span(p->started_late_ns) || !is_span(p->run_ns)) {
            return -EPROTO;
        }
        out[i] = (struct control_process_summary){
            .is_dead = p->is_dead,
            .message = p->message,
            .local_address = p->local_address,
            .server_address = p->server_address,
            .started_late_ns = p->started_late_ns,
            .run_ns = p->run_ns,
            .cpu_percent = p->cpu_permille / 10.0,
            .rtmax = p->rtmax,
            .wtmax = p->wtmax,
            .read_block_bytes = p->read_block_bytes,
            .write_block_bytes = p->write_block_bytes,
            .n_files = p->n_files,
            .fileset_bytes = p->fileset_bytes,
            .n_files_touched = p->n_files_touched,
            .working_set_bytes = p->working_set_bytes,
            .memory_bytes = p->memory_bytes,
        };
    }
    answer->next = s->next;
    answer->n = s->processes.processes_len;
    answer->host_cpu_percent = s->host_cpu_permille / 10.0;
    answer->summaries = out;
    return 0;
}

static int take_findings(const lg_findings *f, struct control_answer *answer, void **scratch)
{
    struct control_finding *out = calloc(f->findings.findings_len + 1, sizeof(*out));

    *scratch = out;
    if (!out) {
        return -ENOMEM;
    }
    for (u_int i = 0; i < f->findings.findings_len; i++) {
        const lg_finding *g = &f->findings.findings_val[i];
        out[i] = (struct control_finding){g->process, g->target, g->rule, g->op, g->expected, g->got};
    }
    answer->next = f->next;
    answer->n = f->findings.findings_len;
    answer->n_findings = f->n;
    answer->findings = out;
    return 0;
}

int control_answer_take(const lg_answer *from, const struct control_sink *sink, struct control_answer *answer,
                        void **scratch)
{
    if (from->step == LG_FACTS) {
        take_facts(&from->lg_answer_u.facts, answer);
    } else if (from->step == LG_STATUS) {
        return take_status(&from->lg_answer_u.status, answer, scratch);
    } else if (from->step == LG_COLLECT) {
        const lg_collected *c = &from->lg_answer_u.collected;
        if (c->part == LG_PART_PROCESSES) {
            return take_summaries(&c->lg_collected_u.processes, answer, scratch);
        }
        if (c->part == LG_PART_OPS && sink->tally) {
            return take_ops(sink, &c->lg_collected_u.ops, answer);
        }
        if (c->part == LG_PART_INTERVALS && sink->cell) {
            return take_intervals(sink, &c->lg_collected_u.intervals, answer);
        }
        if (c->part == LG_PART_FINDINGS) {
            return take_findings(&c->lg_collected_u.findings, answer, scratch);
        }
        return -EPROTO;
    }
    return 0;
}
