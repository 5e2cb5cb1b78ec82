/* nfs3_service.h - the NFSv3 program of one thread: calls in, answers out, with faults and latency in between.
 *
 *   rpc_call ──> fault rules ──> decode ──> memory_fs ──> encode ──> faults on the answer ──> latency: now, or the
 * delay queue
 */
#ifndef NFSCURVE_TARGET_NFS3_SERVICE_H
#define NFSCURVE_TARGET_NFS3_SERVICE_H

#include "counters.h"
#include "delay_queue.h"
#include "fault.h"
#include "latency.h"
#include "memory_fs.h"
#include "rng.h"
#include "rpc_server.h"

#include <stdatomic.h>

/* What all threads share. */
struct nfs3_shared {
    struct memory_fs *fs;
    struct fault_set *faults;
    struct latency *_Atomic latency; /* may be replaced at any time; what was replaced lives on in `retired` */
    struct latency *retired;         /* the main thread's */
    uint64_t instance;               /* in handles */
    uint64_t fsid;
    uint32_t rtmax, wtmax, dtpref;
    bool squashes_root;
    _Atomic int64_t paused_until_ns; /* CLOCK_MONOTONIC */
};

/* What a thread has of its own. */
struct nfs3_service {
    struct nfs3_shared *shared;
    struct counters *counters;
    struct delay_queue *delays;
    struct rng rng;
};

/* rpc_handler of the NFS program; arg is the struct nfs3_service. */
void nfs3_handle(struct rpc_call *call, void *arg);

/* Delivers an encoded answer when it is due, or what its faults make of that: later, twice, never, or a reset. Ends the
 * call. */
void nfs3_deliver(struct nfs3_service *service, struct rpc_call *call, const struct rpc_answer *answer, mono_t due,
                  const struct fault_hits *hits);

/* Who a credential is to the file system. */
void nfs3_who(const struct nfs3_shared *shared, const struct rpc_credential *credential, struct fs_who *who);

#endif
