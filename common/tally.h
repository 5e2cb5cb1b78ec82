/* tally.h - everything measured in one phase of one process, and its exact merge.
 *
 *   process ──records──> struct tally (shared memory) ──merge──> per load generator ──wire──> merge──> point
 *
 * Only integers and histograms: any order of merging gives the same bits. No averages are ever merged.
 *
 * An *op* is counted as the workload counts (counting: logical = the request; physical = every RPC); both counts are
 * kept.
 */
#ifndef NFSCURVE_COMMON_TALLY_H
#define NFSCURVE_COMMON_TALLY_H

#include "histogram.h"
#include "nfs_op.h"

#include <stdint.h>

/* What became of one operation. Only OP_OK is a good op. What the server did is data, never dropped. */
enum op_outcome {
    OP_OK,        /* decoded, and NFS3_OK or the NOENT that was asked for */
    OP_NFS_ERROR, /* a status that was not asked for */
    OP_RPC_ERROR, /* RPC rejected it, the connection broke, or the call could not be sent */
    OP_TIMEOUT,   /* no reply within timeout_s */
    OP_MALFORMED, /* a reply that does not decode within its bounds */
    OP_WRONG,     /* decoded, NFS3_OK, and yet not right: see enum anomaly */
    OP_OUTCOME_COUNT
};

/* What a server did wrong (or had to be worked around), named. */
enum anomaly {
    ANOMALY_UNEXPECTED_OK,    /* success for a name that must not exist */
    ANOMALY_MISSING_NAME,     /* NOENT for a name that exists */
    ANOMALY_SHORT_READ,       /* fewer bytes than asked, not at end of file (continued) */
    ANOMALY_SHORT_WRITE,      /* fewer bytes than asked (continued) */
    ANOMALY_VERIFIER_CHANGED, /* COMMIT or WRITE verifier changed: unstable data lost, written again */
    ANOMALY_REWRITE,          /* a request's data written again after a changed verifier */
    ANOMALY_WRONG_DATA,       /* verify_data: not the bytes that were written */
    ANOMALY_BAD_COOKIE,       /* READDIR(PLUS) cookies that repeat or do not advance */
    ANOMALY_JUKEBOX,          /* NFS3ERR_JUKEBOX: asked again */
    ANOMALY_RECONNECT,        /* a connection was closed and opened again */
    ANOMALY_UNKNOWN_XID,      /* a reply that matches no call in flight: unknown, duplicate or late */
    ANOMALY_WRONG_ATTRIBUTES, /* type, size or count that cannot be */
    ANOMALY_COUNT
};

const char *op_outcome_name(enum op_outcome o);
const char *anomaly_name(enum anomaly a); /* "verifier_changed": the key in results */

struct op_tally {
    struct histogram from_due;            /* good ops as the workload counts them: done - due */
    struct histogram from_sent;           /* the same ops: done - sent */
    struct histogram rpc;                 /* every good RPC of this procedure from its own send: what a capture shows */
    uint64_t n_logical;                   /* good requests */
    uint64_t n_physical;                  /* good RPCs */
    uint64_t n_outcome[OP_OUTCOME_COUNT]; /* RPCs by outcome */
    uint64_t n_status[NFS_STATUS_COUNT];  /* RPCs by NFS status index, NFS3_OK and expected NOENT included */
};

/* How the generator itself did: from these comes the verdict "generator-limited". */
struct generator_tally {
    struct histogram
        lateness; /* wake-up lateness: op issued - op due, for ops that had a free slot at their due time */
    struct histogram send_wait; /* sent - started: own send queue */
    struct histogram read_wait; /* read_at - done: good replies that lay in the kernel until the process read them */
    uint64_t n_due;             /* ops that fell due */
    uint64_t n_waited_for_slot; /* due ops that found no free slot (the server's or the concurrency limit's doing) */
    uint64_t n_waited_for_us;   /* due ops issued late although a slot was free (our doing) */
    int64_t loop_busy_ns;       /* time the event loop was not waiting */
    int64_t loop_cpu_ns;        /* CPU time of the process in the run */
    int64_t run_ns;             /* length of the recorded run */
};

struct tally {
    struct op_tally ops[NFS_OP_COUNT];
    struct generator_tally generator;
    uint64_t n_anomaly[ANOMALY_COUNT];
    uint64_t read_bytes;  /* payload of good READs */
    uint64_t write_bytes; /* payload of good WRITEs */
};

void tally_init(struct tally *t);

/* dst += src, exactly. run_ns: the maximum; everything else: sums and histogram merges. Returns samples beyond the
 * histograms' range. */
uint64_t tally_merge(struct tally *dst, const struct tally *src);

/* Good ops as counted: logical or physical. */
uint64_t tally_good_ops(const struct tally *t, int is_physical);
uint64_t tally_failed_rpcs(const struct tally *t);

#endif
