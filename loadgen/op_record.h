/* op_record.h - observes ops and counts them: histograms and counters of the recorded run, the per-second series, live
 * counters.
 *
 * The recorded run is [start, end). An RPC belongs to it when its reply arrived within (its `done`), a request when
 * its last reply was. So what was in flight at the start is in, what was in flight at the end is not, every op belongs
 * to exactly one side of each boundary, and good ops / length of the run is the achieved throughput also of a server
 * that falls behind. An RPC that never got a right reply (time-out, broken connection, malformed) belongs to the run
 * that it was sent in, also when that became known only while the last replies were awaited: no failure is lost. The
 * observer only compares times: the switch from warm-up to run touches nothing that is on the wire.
 *
 * The op that counts (histograms from_due, from_sent; intervals; live counters) is the request with logical counting,
 * every RPC with physical counting.
 */
#ifndef NFSCURVE_LOADGEN_OP_RECORD_H
#define NFSCURVE_LOADGEN_OP_RECORD_H

#include "clock.h"
#include "interval_log.h"
#include "process.h"
#include "tally.h"
#include "workload.h"

struct op_record {
    struct process_shared *shared;     /* (ref) */
    struct tally *tally;               /* (ref) shared->tally */
    struct interval_writer *intervals; /* (ref) */
    bool is_physical;
    bool is_headline_from_due;
    mono_t start, end; /* of the recorded run */
};

/* One RPC that has ended. */
struct rpc_event {
    enum nfs_op op;
    enum op_outcome outcome;
    bool has_status;
    uint32_t status;
    mono_t due, started, sent, done, read_at;
    uint64_t read_bytes, write_bytes; /* payload */
};

/* One request that has ended with everything right. */
struct request_event {
    enum nfs_op op;
    mono_t due, sent, done;
};

/* Clears the tally, the intervals and the live counters. */
void op_record_begin(struct op_record *record, struct process_shared *shared, struct interval_writer *intervals,
                     const struct workload *workload, mono_t start, mono_t end);

/* The run ends earlier than planned. */
void op_record_cut(struct op_record *record, mono_t end);

void op_record_rpc(struct op_record *record, const struct rpc_event *event);
void op_record_request(struct op_record *record, const struct request_event *event);
void op_record_anomaly(struct op_record *record, enum anomaly anomaly, mono_t at);
void op_record_lateness(struct op_record *record, mono_t taken, int64_t lateness_ns, bool waited_for_slot);

#endif
