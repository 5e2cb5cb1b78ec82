#include "nfs3_service.h"
#include "nfs3_request.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY 65534u

/* One row a procedure: who carries it out, and how many "no attributes follow" its failed result consists of behind the
 * status (RFC 1813 section 3.3). */
static const struct {
    int (*run)(struct nfs3_request *rq);
    unsigned n_absent;
} procedures[NFS3_N_PROCS] = {
    [NFS_OP_NULL] = {NULL, 0},
    [NFS_OP_GETATTR] = {nfs3_getattr, 0},
    [NFS_OP_SETATTR] = {nfs3_setattr, 2},
    [NFS_OP_LOOKUP] = {nfs3_lookup, 1},
    [NFS_OP_ACCESS] = {nfs3_access, 1},
    [NFS_OP_READLINK] = {nfs3_readlink, 1},
    [NFS_OP_READ] = {nfs3_read, 1},
    [NFS_OP_WRITE] = {nfs3_write, 2},
    [NFS_OP_CREATE] = {nfs3_create, 2},
    [NFS_OP_MKDIR] = {nfs3_mkdir, 2},
    [NFS_OP_SYMLINK] = {nfs3_symlink, 2},
    [NFS_OP_MKNOD] = {nfs3_mknod, 2},
    [NFS_OP_REMOVE] = {nfs3_remove, 2},
    [NFS_OP_RMDIR] = {nfs3_rmdir, 2},
    [NFS_OP_RENAME] = {nfs3_rename, 4},
    [NFS_OP_LINK] = {nfs3_link, 3},
    [NFS_OP_READDIR] = {nfs3_readdir, 1},
    [NFS_OP_READDIRPLUS] = {nfs3_readdirplus, 1},
    [NFS_OP_FSSTAT] = {nfs3_fsstat, 1},
    [NFS_OP_FSINFO] = {nfs3_fsinfo, 1},
    [NFS_OP_PATHCONF] = {nfs3_pathconf, 1},
    [NFS_OP_COMMIT] = {nfs3_commit, 2},
};

int nfs3_encode(struct nfs3_request *rq, xdrproc_t encode, const void *result, enum fs_status status)
{
    return encode(&rq->out, (void *)(uintptr_t)result) ? (int)status : NFS3_SYSTEM_ERR;
}

void nfs3_put_attributes(const struct nfs3_request *rq, const struct fs_attributes *in, fattr3 *out)
{
    nfs3_wire_attributes(in, rq->service->shared->fsid, out);
    if (rq->has_wrong_attributes) {
        out->size++;
        out->type = out->type == NF3FIFO ? NF3REG : (ftype3)(out->type + 1);
    }
}

void nfs3_put_post_op(const struct nfs3_request *rq, const struct fs_object *in, post_op_attr *out)
{
    out->attributes_follow = in->has_attributes;
    if (in->has_attributes) {
        nfs3_put_attributes(rq, &in->attributes, &out->post_op_attr_u.attributes);
    }
}

enum fs_status nfs3_get_handle(const struct nfs3_request *rq, const nfs_fh3 *fh, struct fs_handle *handle)
{
    return nfs3_wire_get_handle(fh, rq->service->shared->instance, handle);
}

void nfs3_who(const struct nfs3_shared *shared, const struct rpc_credential *credential, struct fs_who *who)
{
    bool is_squashed = credential->flavor != AUTH_SYS || (shared->squashes_root && credential->uid == 0);
    *who = (struct fs_who){.uid = NOBODY, .gid = NOBODY};
    if (!is_squashed) {
        who->uid = credential->uid;
        who->gid = credential->gid;
        who->n_gids = credential->n_gids;
        memcpy(who->gids, credential->gids, credential->n_gids * sizeof *credential->gids);
    }
}

/* A result with this status and nothing known about attributes. */
static int encode_bare_failure(struct nfs3_request *rq, enum nfs_op op, uint32_t status)
{
    bool_t absent = FALSE;
    xdr_uint32_t(&rq->out, &status);
    for (unsigned i = 0; i < procedures[op].n_absent; i++) {
        xdr_bool(&rq->out, &absent);
    }
    return (int)status;
}

static void release_segments(struct nfs3_request *rq)
{
    for (unsigned i = 0; i < rq->n_segments; i++) {
        if (rq->segments[i].release) {
            rq->segments[i].release(rq->segments[i].arg);
        }
    }
    rq->n_segments = 0;
}

static int run(struct nfs3_request *rq, enum nfs_op op, const struct fault_hits *hits)
{
    const struct fault_action *status_fault = fault_find(hits, FAULT_STATUS);
    const struct fault_action *short_read = fault_find(hits, FAULT_SHORT_READ);
    if (op == NFS_OP_NULL) {
        return NFS3_OK;
    }
    if (status_fault) {
        return encode_bare_failure(rq, op, status_fault->status);
    }
    rq->ignores_cookie = fault_find(hits, FAULT_IGNORE_COOKIE);
    rq->finds_missing = fault_find(hits, FAULT_FOUND);
    rq->has_wrong_attributes = fault_find(hits, FAULT_WRONG_ATTRIBUTES);
    rq->has_short_read = short_read;
    if (short_read) {
        rq->has_short_read_bytes = short_read->has_bytes;
        rq->short_read_bytes = short_read->bytes;
    }
    return procedures[op].run(rq);
}

static void randomise(struct rng *rng, uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)rng_u64(rng);
    }
}

/* Wrong bytes instead of the file's: each is inverted, in a copy that goes out behind the head. */
static void falsify_data(struct nfs3_request *rq, struct rpc_answer *answer)
{
    size_t bytes = 0, at = 0;
    for (unsigned i = 0; i < answer->n_segments; i++) {
        bytes += answer->segments[i].bytes;
    }
    uint8_t *copy = malloc(bytes ? bytes : 1);
    if (!copy) {
        return;
    }
    for (unsigned i = 0; i < answer->n_segments; i++) {
        for (size_t j = 0; j < answer->segments[i].bytes; j++) {
            copy[at++] = (uint8_t)~answer->segments[i].data[j];
        }
    }
    release_segments(rq);
    answer->n_segments = 1;
    answer->segments[0] = (struct rpc_segment){.data = copy, .bytes = bytes, .release = free, .arg = copy};
}

/* What the faults do to the encoded answer. */
static void spoil(struct nfs3_request *rq, struct rpc_answer *answer, const struct fault_hits *hits)
{
    const struct fault_action *truncate = fault_find(hits, FAULT_TRUNCATE);
    if (fault_find(hits, FAULT_WRONG_DATA) && answer->n_segments > 0) {
        falsify_data(rq, answer);
    }
    if (fault_find(hits, FAULT_GARBAGE)) {
        /* The xid stays, so that the client has to look at the rest; data by reference does too, as part of the
         * rubbish. */
        randomise(&rq->service->rng, answer->head + 4, answer->head_bytes - 4);
    }
    if (fault_find(hits, FAULT_WRONG_XID)) {
        answer->head[0] ^= 0x55;
        answer->head[3] ^= 0xaa;
    }
    if (truncate) {
        size_t keep = truncate->has_bytes ? truncate->bytes : answer->head_bytes / 2;
        for (unsigned i = 0; i < answer->n_segments; i++) {
            if (answer->segments[i].release) {
                answer->segments[i].release(answer->segments[i].arg);
            }
        }
        answer->n_segments = 0;
        answer->head_bytes = keep < answer->head_bytes ? keep : answer->head_bytes;
    }
}

static mono_t model_due(struct nfs3_request *rq, enum nfs_op op)
{
    struct nfs3_shared *shared = rq->service->shared;
    struct latency_call call = {
        .op = op, .at = rq->call->at, .fileid = rq->fileid, .offset = rq->offset, .count = rq->count};
    struct latency *latency = atomic_load_explicit(&shared->latency, memory_order_acquire);
    return latency_due(latency, &call, &rq->service->rng);
}

void nfs3_deliver(struct nfs3_service *service, struct rpc_call *call, const struct rpc_answer *answer, mono_t due,
                  const struct fault_hits *hits)
{
    struct nfs3_shared *shared = service->shared;
    const struct fault_action *delay = fault_find(hits, FAULT_DELAY);
    const struct fault_action *pause = fault_find(hits, FAULT_PAUSE);
    struct delayed_fate fate = {.is_dropped = fault_find(hits, FAULT_DROP),
                                .is_reset = fault_find(hits, FAULT_RESET),
                                .n_copies = fault_find(hits, FAULT_DUPLICATE) ? 2 : 1};
    if (delay) {
        due = mono_plus_ns(due, delay->duration_ns);
    }
    if (pause) {
        atomic_store(&shared->paused_until_ns, mono_plus_ns(mono_now(), pause->duration_ns).ns);
    }
    int64_t paused_until_ns = atomic_load_explicit(&shared->paused_until_ns, memory_order_relaxed);
    due.ns = due.ns < paused_until_ns ? paused_until_ns : due.ns;
    if (due.ns <= call->at.ns) {
        delay_queue_carry_out(call, answer, fate);
        return;
    }
    counter_add(&service->counters->n_delayed, 1);
    delay_queue_add(service->delays, call, answer, fate, due);
}

void nfs3_handle(struct rpc_call *call, void *arg)
{
    struct nfs3_service *service = arg;
    enum nfs_op op = (enum nfs_op)call->proc;
    struct nfs3_request rq;
    struct fault_hits hits;
    fault_match(service->shared->faults, op, &hits);
    counter_add(&service->counters->ops[op].n_calls, 1);
    if (hits.n > 0) {
        counter_add(&service->counters->ops[op].n_faults, 1);
    }
    if (fault_find(&hits, FAULT_NEW_VERIFIER)) {
        memory_fs_lose_unstable(service->shared->fs);
    }

    rq.service = service;
    rq.call = call;
    rq.n_segments = 0;
    rq.fileid = 0;
    rq.offset = 0;
    rq.count = 0;
    nfs3_who(service->shared, &call->credential, &rq.who);
    xdrmem_create(&rq.in, (char *)(uintptr_t)call->args, (u_int)call->args_bytes, XDR_DECODE);
    rpc_answer_begin(call, &rq.out);
    rq.results_at = xdr_getpos(&rq.out);

    int status = run(&rq, op, &hits);
    if (status < 0) {
        release_segments(&rq);
        if (status == NFS3_GARBAGE_ARGS) {
            counter_add(&service->counters->n_garbage, 1);
        }
        rpc_call_fail(call, status == NFS3_GARBAGE_ARGS ? GARBAGE_ARGS : SYSTEM_ERR);
        return;
    }
    if (status != NFS3_OK) {
        counter_add(&service->counters->ops[op].n_errors, 1);
    }
    struct rpc_answer answer;
    rpc_answer_finish(call, &rq.out, &answer);
    memcpy(answer.segments, rq.segments, rq.n_segments * sizeof *rq.segments);
    answer.n_segments = rq.n_segments;
    spoil(&rq, &answer, &hits);
    nfs3_deliver(service, call, &answer, model_due(&rq, op), &hits);
}
