#include "tally.h"

#include <assert.h>
#include <string.h>

const char *op_outcome_name(enum op_outcome o)
{
    static const char *const names[OP_OUTCOME_COUNT] = {
        [OP_OK] = "ok",           [OP_NFS_ERROR] = "nfs_error", [OP_RPC_ERROR] = "rpc_error",
        [OP_TIMEOUT] = "timeout", [OP_MALFORMED] = "malformed", [OP_WRONG] = "wrong",
    };
    assert((unsigned)o < OP_OUTCOME_COUNT);
    return names[o];
}

const char *anomaly_name(enum anomaly a)
{
    static const char *const names[ANOMALY_COUNT] = {
        [ANOMALY_UNEXPECTED_OK] = "unexpected_ok",
        [ANOMALY_MISSING_NAME] = "missing_name",
        [ANOMALY_SHORT_READ] = "short_read",
        [ANOMALY_SHORT_WRITE] = "short_write",
        [ANOMALY_VERIFIER_CHANGED] = "verifier_changed",
        [ANOMALY_REWRITE] = "rewrite",
        [ANOMALY_WRONG_DATA] = "wrong_data",
        [ANOMALY_BAD_COOKIE] = "bad_cookie",
        [ANOMALY_JUKEBOX] = "jukebox",
        [ANOMALY_RECONNECT] = "reconnect",
        [ANOMALY_UNKNOWN_XID] = "unknown_xid",
        [ANOMALY_WRONG_ATTRIBUTES] = "wrong_attributes",
    };
    assert((unsigned)a < ANOMALY_COUNT);
    return names[a];
}

static void op_tally_init(struct op_tally *t)
{
    memset(t, 0, sizeof *t);
    histogram_init(&t->from_due);
    histogram_init(&t->from_sent);
    histogram_init(&t->rpc);
}

void tally_init(struct tally *t)
{
    memset(t, 0, sizeof *t);
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        op_tally_init(&t->ops[i]);
    }
    histogram_init(&t->generator.lateness);
    histogram_init(&t->generator.send_wait);
    histogram_init(&t->generator.read_wait);
}

static uint64_t op_tally_merge(struct op_tally *dst, const struct op_tally *src)
{
    uint64_t n_beyond = histogram_merge(&dst->from_due, &src->from_due);
    n_beyond += histogram_merge(&dst->from_sent, &src->from_sent);
    n_beyond += histogram_merge(&dst->rpc, &src->rpc);
    dst->n_logical += src->n_logical;
    dst->n_physical += src->n_physical;
    for (unsigned i = 0; i < OP_OUTCOME_COUNT; i++) {
        dst->n_outcome[i] += src->n_outcome[i];
    }
    for (unsigned i = 0; i < NFS_STATUS_COUNT; i++) {
        dst->n_status[i] += src->n_status[i];
    }
    return n_beyond;
}

static uint64_t generator_tally_merge(struct generator_tally *dst, const struct generator_tally *src)
{
    uint64_t n_beyond = histogram_merge(&dst->lateness, &src->lateness);
    n_beyond += histogram_merge(&dst->send_wait, &src->send_wait);
    n_beyond += histogram_merge(&dst->read_wait, &src->read_wait);
    dst->n_due += src->n_due;
    dst->n_waited_for_slot += src->n_waited_for_slot;
    dst->n_waited_for_us += src->n_waited_for_us;
    dst->loop_busy_ns += src->loop_busy_ns;
    dst->loop_cpu_ns += src->loop_cpu_ns;
    if (src->run_ns > dst->run_ns) {
        dst->run_ns = src->run_ns;
    }
    return n_beyond;
}

uint64_t tally_merge(struct tally *dst, const struct tally *src)
{
    uint64_t n_beyond = 0;
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        n_beyond += op_tally_merge(&dst->ops[i], &src->ops[i]);
    }
    n_beyond += generator_tally_merge(&dst->generator, &src->generator);
    for (unsigned i = 0; i < ANOMALY_COUNT; i++) {
        dst->n_anomaly[i] += src->n_anomaly[i];
    }
    dst->read_bytes += src->read_bytes;
    dst->write_bytes += src->write_bytes;
    return n_beyond;
}

uint64_t tally_good_ops(const struct tally *t, int is_physical)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        n += is_physical ? t->ops[i].n_physical : t->ops[i].n_logical;
    }
    return n;
}

uint64_t tally_failed_rpcs(const struct tally *t)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        for (unsigned o = 0; o < OP_OUTCOME_COUNT; o++) {
            if (o != OP_OK) {
                n += t->ops[i].n_outcome[o];
            }
        }
    }
    return n;
}
