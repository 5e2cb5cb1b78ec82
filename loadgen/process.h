/* process.h - one load-generating process: what the daemon tells it, and where it leaves what it measured.
 *
 *   daemon ──struct process_command over a SOCK_SEQPACKET pair──> process
 *   daemon <──── struct process_shared (MAP_SHARED memory) ────── process
 *
 * The shared memory is written by the process only. It survives the process, so a process that dies loses
 * nothing that it had measured. The process never outlives the daemon (PR_SET_PDEATHSIG, and end of file on its
 * socket).
 */
#ifndef NFSCURVE_LOADGEN_PROCESS_H
#define NFSCURVE_LOADGEN_PROCESS_H

#include "clock.h"
#include "layout.h"
#include "nfs3_client.h"
#include "tally.h"
#include "workload.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PROCESS_MESSAGE_MAX  512
#define PROCESS_FINDINGS_MAX 64
#define PROCESS_BEAT_NS      (1000 * NS_PER_MS)

enum process_state {
    PROCESS_CONNECTING, /* mounting its target */
    PROCESS_IDLE,       /* ready for a command; the last one is done */
    PROCESS_VALIDATING,
    PROCESS_POPULATING, /* topping up the fileset to the layout */
    PROCESS_ARMED,      /* load commanded, waiting for its start */
    PROCESS_WARMUP,
    PROCESS_RUN,
    PROCESS_DRAINING, /* run is over, waiting for the last replies */
    PROCESS_CLEANING,
    PROCESS_FAILED /* cannot go on; message says why */
};

enum process_command_kind {
    PROCESS_DO_VALIDATE,
    PROCESS_DO_POPULATE,
    PROCESS_DO_LOAD,
    PROCESS_DO_STOP,  /* end the present phase at once (within 500 ms), keep what was measured */
    PROCESS_DO_CLEAN, /* remove the fileset */
    PROCESS_DO_EXIT
};

struct process_command {
    enum process_command_kind kind;
    uint32_t serial;              /* of the command; process_shared.done_serial follows */
    struct process_layout layout; /* POPULATE, LOAD, CLEAN */
    uint32_t validate_level;      /* VALIDATE: 1..3 */
    mono_t start_at;              /* LOAD: same host, same clock */
    int64_t warmup_ns, run_ns;    /* LOAD */
};

/* A rule that the server broke, found by validation. */
struct process_finding {
    char rule[64]; /* "readdir-cookie-order" */
    char op[16];
    char expected[160];
    char got[160];
};

/* What the process found out about its target. */
struct process_facts {
    uint32_t rtmax, rtpref, wtmax, wtpref, dtpref; /* FSINFO */
    uint32_t read_block_bytes, write_block_bytes;  /* chosen */
    uint64_t n_files, fileset_bytes;               /* after the last POPULATE or at the end of a LOAD */
    uint64_t n_files_created, n_files_kept, n_files_removed;
    uint64_t n_files_touched, working_set_bytes; /* in the last LOAD */
    uint64_t memory_bytes;                       /* of the fileset table */
    char local_address[64], server_address[64];
};

/* Per second and op class, of the run only; appended, never rewritten. See interval_log.h. */
struct interval_log;

struct process_shared {
    _Atomic uint32_t state;                         /* enum process_state */
    _Atomic uint32_t done_serial;                   /* of the last command that ended */
    _Atomic uint64_t progress_done, progress_total; /* VALIDATE: checks, POPULATE, CLEAN: files */
    _Atomic uint64_t live_ops; /* good ops as counted, since LOAD began, warm-up included: never reset within a LOAD */
    _Atomic uint64_t live_response_sum_ns, live_errors;
    _Atomic int64_t run_started_ns, run_ended_ns; /* CLOCK_MONOTONIC of the recorded run; 0 before */
    _Atomic int64_t beat_ns; /* CLOCK_MONOTONIC, every PROCESS_BEAT_NS from its loop; 0: before the first */
    _Atomic uint32_t
        last_op; /* 1 + enum nfs_op of the call or reply handled last; 0: none. Named when the process dies */

    /* plain memory: read by the daemon only when state is IDLE or FAILED, or when the process is dead */
    char message[PROCESS_MESSAGE_MAX];
    struct process_facts facts;
    uint32_t n_findings;
    struct process_finding findings[PROCESS_FINDINGS_MAX];
    struct tally tally; /* of the recorded run of the last LOAD */
};

/* What does not change over a campaign. Lives in the daemon's memory before the fork. */
struct process_setup {
    const struct workload *workload;
    struct nfs3_client_options client;
    uint32_t process; /* number on this load generator */
    struct process_shared *shared;
    struct interval_log *intervals; /* shared memory too */
    int command_fd;
};

/* The whole life of the forked process: returns its exit status (0 after PROCESS_DO_EXIT or the daemon's end). The
 * caller _exit()s. */
int process_main(const struct process_setup *setup);

#endif
