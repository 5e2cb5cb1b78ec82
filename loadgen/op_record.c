/* op_record.c - see op_record.h. */
#include "op_record.h"

#include "pacer.h"

void op_record_begin(struct op_record *record, struct process_shared *shared, struct interval_writer *intervals,
                     const struct workload *workload, mono_t start, mono_t end)
{
    *record = (struct op_record){.shared = shared,
                                 .tally = &shared->tally,
                                 .intervals = intervals,
                                 .is_physical = workload->counting == COUNTING_PHYSICAL,
                                 .is_headline_from_due = workload->pacing == PACING_OPEN,
                                 .start = start,
                                 .end = end};
    tally_init(record->tally);
    interval_writer_reset(intervals);
    atomic_store_explicit(&shared->live_ops, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->live_response_sum_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->live_errors, 0, memory_order_relaxed);
}

void op_record_cut(struct op_record *record, mono_t end)
{
    if (mono_before(end, record->end)) {
        record->end = end;
    }
}

static bool is_in_run(const struct op_record *record, mono_t at)
{
    return !mono_before(at, record->start) && mono_before(at, record->end);
}

static uint32_t second_of(const struct op_record *record, mono_t at)
{
    return (uint32_t)(mono_since_ns(at, record->start) / NS_PER_S);
}

/* The only writer is this process, so a load and a store are enough: no locked instruction in every op. */
static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* A good op as the workload counts. */
static void count_op(struct op_record *record, enum nfs_op op, mono_t due, mono_t sent, mono_t done)
{
    int64_t from_due = mono_since_ns(done, due), from_sent = mono_since_ns(done, sent);
    int64_t headline = record->is_headline_from_due ? from_due : from_sent;
    add(&record->shared->live_ops, 1);
    add(&record->shared->live_response_sum_ns, (uint64_t)(headline > 0 ? headline : 0));
    if (!is_in_run(record, done)) {
        return;
    }
    histogram_record(&record->tally->ops[op].from_due, from_due);
    histogram_record(&record->tally->ops[op].from_sent, from_sent);
    interval_writer_good(record->intervals, second_of(record, done), nfs_op_class(op), headline);
}

/* When an RPC happened, for the question whether it belongs to the run: when its reply arrived; without a right reply
 * when it was sent, since the end of a time-out says nothing about when the server failed, and may lie behind the run.
 */
static mono_t moment_of(const struct rpc_event *event)
{
    bool has_reply = event->outcome != OP_TIMEOUT && event->outcome != OP_RPC_ERROR && event->outcome != OP_MALFORMED;
    return has_reply ? event->done : event->sent;
}

void op_record_rpc(struct op_record *record, const struct rpc_event *event)
{
    bool is_good = event->outcome == OP_OK;
    mono_t at = moment_of(event);
    if (!is_good) {
        add(&record->shared->live_errors, 1);
    }
    if (is_in_run(record, at)) {
        struct op_tally *t = &record->tally->ops[event->op];
        t->n_outcome[event->outcome]++;
        if (event->has_status) {
            t->n_status[nfs_status_index(event->status)]++;
        }
        histogram_record(&record->tally->generator.send_wait, mono_since_ns(event->sent, event->started));
        if (is_good) {
            t->n_physical++;
            histogram_record(&t->rpc, mono_since_ns(event->done, event->sent));
            histogram_record(&record->tally->generator.read_wait, mono_since_ns(event->read_at, event->done));
            record->tally->read_bytes += event->read_bytes;
            record->tally->write_bytes += event->write_bytes;
        } else {
            interval_writer_error(record->intervals, second_of(record, at), nfs_op_class(event->op));
        }
    }
    if (is_good && record->is_physical) {
        count_op(record, event->op, event->due, event->sent, event->done);
    }
}

void op_record_request(struct op_record *record, const struct request_event *event)
{
    if (is_in_run(record, event->done)) {
        record->tally->ops[event->op].n_logical++;
    }
    if (!record->is_physical) {
        count_op(record, event->op, event->due, event->sent, event->done);
    }
}

void op_record_anomaly(struct op_record *record, enum anomaly anomaly, mono_t at)
{
    if (is_in_run(record, at)) {
        record->tally->n_anomaly[anomaly]++;
    }
}

void op_record_lateness(struct op_record *record, mono_t taken, int64_t lateness_ns, bool waited_for_slot)
{
    if (!is_in_run(record, taken)) {
        return;
    }
    struct generator_tally *g = &record->tally->generator;
    g->n_due++;
    g->n_waited_for_slot += waited_for_slot;
    g->n_waited_for_us += lateness_ns > PACER_LATE_NS;
    if (lateness_ns >= 0) {
        histogram_record(&g->lateness, lateness_ns);
    }
}
