/* control_client.c - see control_client.h. */
#include "control_client.h"

#include "cluster.h"
#include "control_answer.h"
#include "loadgen_prot.h"
#include "rpc_client.h"
#include "seal.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#define MAX_RECORD_BYTES ((1u << 20) + 4096)
/* Sent bytes that stay unacknowledged for so long: the host is gone (library-facts: a blocked write has no other end).
 */
#define USER_TIMEOUT_NS (10 * NS_PER_S)

/* One call in flight. */
struct pending {
    struct control_client *client;
    uint32_t xid;
    uint64_t sequence; /* 0: HELLO */
    lg_step step;
    control_done_cb on_done;
    void *arg;
    struct control_sink sink;
    LIST_ENTRY(pending) entry;
};

struct control_client {
    struct rpc_client *rpc;
    uint8_t key[SEAL_KEY_BYTES];
    bool has_key, has_seal;
    uint8_t nonce[SEAL_NONCE_BYTES];
    struct seal seal;
    void (*on_closed)(struct control_client *client, const char *why, void *arg);
    void *arg;
    LIST_HEAD(, pending) pendings;
    uint8_t body[LG_MAX_BODY], record[LG_MAX_BODY + 64]; /* of the call being made */
};

static void on_rpc_closed(struct rpc_client *rpc, int error, const char *message, void *arg)
{
    struct control_client *c = arg;

    (void)rpc;
    (void)error;
    if (c->on_closed) {
        c->on_closed(c, message, c->arg);
    }
}

struct control_client *
control_client_create(struct event_base *base, const struct control_client_options *options,
                      void (*on_closed)(struct control_client *client, const char *why, void *arg), void *arg)
{
    static const struct rpc_client_handlers handlers = {.on_closed = on_rpc_closed};
    struct control_client *c = calloc(1, sizeof(*c));
    struct rpc_client_options rpc = {
        .connect = {.host = options->host,
                    .port = options->port,
                    .timeout_ns = options->connect_timeout_ns,
                    .user_timeout_ns = USER_TIMEOUT_NS},
        .max_record_bytes = MAX_RECORD_BYTES,
    };

    if (!c) {
        return NULL;
    }
    LIST_INIT(&c->pendings);
    c->on_closed = on_closed;
    c->arg = arg;
    c->has_key = options->key != NULL;
    if (options->key) {
        memcpy(c->key, options->key, sizeof(c->key));
    }
    seal_nonce(c->nonce);
    c->rpc = rpc_client_create(base, &rpc, &handlers, c);
    if (!c->rpc) {
        free(c);
        return NULL;
    }
    return c;
}

static void forget(struct pending *p)
{
    LIST_REMOVE(p, entry);
    free(p);
}

void control_client_abandon(struct control_client *c)
{
    while (!LIST_EMPTY(&c->pendings)) {
        struct pending *p = LIST_FIRST(&c->pendings);
        rpc_client_cancel(c->rpc, p->xid);
        forget(p);
    }
}

void control_client_destroy(struct control_client *c)
{
    if (!c) {
        return;
    }
    control_client_abandon(c);
    rpc_client_destroy(c->rpc);
    seal_fini(&c->seal);
    memset(c->key, 0, sizeof(c->key));
    free(c);
}

/* Ends a call. Nothing of the client is touched afterwards: on_done may have destroyed it. */
static void complete(struct pending *p, int error, const char *message, const struct control_answer *answer)
{
    struct control_client *c = p->client;
    control_done_cb on_done = p->on_done;
    void *arg = p->arg;

    forget(p);
    on_done(c, error, message, error ? NULL : answer, arg);
}

static int rpc_error(const struct rpc_call_reply *reply)
{
    switch (reply->result) {
    case RPC_CALL_OK:
        return 0;
    case RPC_CALL_TIMEOUT:
        return -ETIMEDOUT;
    case RPC_CALL_BROKEN:
        return -ENOTCONN;
    default:
        return -EPROTO;
    }
}

static int verdict_error(lg_verdict verdict)
{
    static const int errors[] = {
        [LG_OK] = 0,
        [LG_BUSY] = -EBUSY,
        [LG_NO_LEASE] = -ENOLCK,
        [LG_BAD_REQUEST] = -EINVAL,
        [LG_FORBIDDEN] = -EPERM,
        [LG_FAILED] = -EIO,
    };

    return verdict <= LG_FAILED ? errors[verdict] : -EPROTO;
}

static void on_sealed(struct rpc_client *rpc, const struct rpc_call_reply *reply, void *arg)
{
    struct pending *p = arg;
    struct control_answer answer = {.rtt_ns = mono_since_ns(reply->done, reply->started)};
    const char *message = reply->message;
    int error = rpc_error(reply);
    void *scratch = NULL;
    lg_sealed_reply sealed;
    lg_reply body;
    XDR xdrs;

    (void)rpc;
    memset(&sealed, 0, sizeof(sealed));
    memset(&body, 0, sizeof(body));
    if (error) {
        goto out;
    }
    error = -EPROTO;
    message = "an answer that does not decode";
    xdrmem_create(&xdrs, (char *)(uintptr_t)reply->results, (u_int)reply->results_bytes, XDR_DECODE);
    if (!xdr_lg_sealed_reply(&xdrs, &sealed)) {
        goto out;
    }
    if (sealed.status == LG_SEAL_REFUSED) {
        error = -EACCES;
        message = sealed.lg_sealed_reply_u.why;
        goto out;
    }
    lg_sealed *s = &sealed.lg_sealed_reply_u.sealed;
    error = s->sequence != p->sequence ? -EBADMSG
                                       : seal_check_answer(&p->client->seal, p->sequence, (uint8_t *)s->body.body_val,
                                                           s->body.body_len, (uint8_t *)s->mac);
    message = "the seal of its answer is wrong: another key, or somebody is in between";
    if (error) {
        goto out;
    }
    error = -EPROTO;
    message = "an answer that does not decode";
    xdrmem_create(&xdrs, s->body.body_val, s->body.body_len, XDR_DECODE);
    if (!xdr_lg_reply(&xdrs, &body) || xdr_getpos(&xdrs) != s->body.body_len) {
        goto out;
    }
    error = verdict_error(body.verdict);
    if (error) {
        message = body.lg_reply_u.message;
    } else {
        error = body.lg_reply_u.answer.step != p->step
                    ? -EPROTO
                    : control_answer_take(&body.lg_reply_u.answer, &p->sink, &answer, &scratch);
    }
out:
    complete(p, error, error ? message : "", &answer);
    free(scratch);
    xdr_free((xdrproc_t)xdr_lg_reply, &body);
    xdr_free((xdrproc_t)xdr_lg_sealed_reply, &sealed);
}

static void on_hello(struct rpc_client *rpc, const struct rpc_call_reply *reply, void *arg)
{
    struct pending *p = arg;
    struct control_client *c = p->client;
    struct control_answer answer = {.rtt_ns = mono_since_ns(reply->done, reply->started)};
    char text[256];
    const char *message = reply->message;
    int error = rpc_error(reply);
    lg_hello hello;
    XDR xdrs;

    (void)rpc;
    memset(&hello, 0, sizeof(hello));
    if (error) {
        goto out;
    }
    xdrmem_create(&xdrs, (char *)(uintptr_t)reply->results, (u_int)reply->results_bytes, XDR_DECODE);
    if (!xdr_lg_hello(&xdrs, &hello)) {
        error = -EPROTO;
        message = "its greeting does not decode";
    } else if (hello.revision != LG_REVISION) {
        error = -EPROTO;
        snprintf(text, sizeof(text),
                 "it speaks revision %u of the control protocol (nfscurve %.64s), this prime revision %d; "
                 "install the same nfscurve on both",
                 hello.revision, hello.software, LG_REVISION);
        message = text;
    } else {
        seal_init(&c->seal, c->has_key ? c->key : NULL, c->nonce, (uint8_t *)hello.nonce);
        c->has_seal = true;
    }
out:
    complete(p, error, error ? message : "", &answer);
    xdr_free((xdrproc_t)xdr_lg_hello, &hello);
}

/* ---- calls ---- */

static struct pending *new_pending(struct control_client *c, control_done_cb on_done, void *arg)
{
    struct pending *p = calloc(1, sizeof(*p));

    if (!p) {
        return NULL;
    }
    p->client = c;
    p->on_done = on_done;
    p->arg = arg;
    LIST_INSERT_HEAD(&c->pendings, p, entry);
    return p;
}

static int send_call(struct control_client *c, struct pending *p, uint32_t procedure, size_t bytes, int64_t timeout_ns,
                     rpc_reply_cb on_reply)
{
    int error = rpc_client_call(c->rpc, LOADGEN_PROG, LOADGEN_V1, procedure, c->record, bytes, timeout_ns, on_reply, p,
                                &p->xid);

    if (error) {
        forget(p);
    }
    return error;
}

int control_client_hello(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    char software[] = NFSCURVE_VERSION;
    lg_hello hello = {.revision = LG_REVISION, .software = software};
    struct pending *p = new_pending(c, on_done, arg);
    XDR xdrs;

    if (!p) {
        return -ENOMEM;
    }
    memcpy(hello.nonce, c->nonce, sizeof(hello.nonce));
    xdrmem_create(&xdrs, (char *)c->record, sizeof(c->record), XDR_ENCODE);
    if (!xdr_lg_hello(&xdrs, &hello)) {
        forget(p);
        return -EINVAL;
    }
    return send_call(c, p, LOADGEN_HELLO, xdr_getpos(&xdrs), timeout_ns, on_hello);
}

static int call_sealed(struct control_client *c, lg_request *request, const struct control_sink *sink,
                       int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    lg_sealed sealed = {0};
    XDR xdrs;

    if (!c->has_seal) {
        return -ENOTCONN;
    }
    xdrmem_create(&xdrs, (char *)c->body, sizeof(c->body), XDR_ENCODE);
    /* Only a name or a list beyond its bound in loadgen_prot.x does not encode. */
    if (!xdr_lg_request(&xdrs, request)) {
        return -E2BIG;
    }
    sealed.body.body_val = (char *)c->body;
    sealed.body.body_len = xdr_getpos(&xdrs);
    struct pending *p = new_pending(c, on_done, arg);
    if (!p) {
        return -ENOMEM;
    }
    p->step = request->step;
    if (sink) {
        p->sink = *sink;
    }
    p->sequence = seal_sign_call(&c->seal, c->body, sealed.body.body_len, (uint8_t *)sealed.mac);
    sealed.sequence = p->sequence;
    xdrmem_create(&xdrs, (char *)c->record, sizeof(c->record), XDR_ENCODE);
    if (!xdr_lg_sealed(&xdrs, &sealed)) {
        forget(p);
        return -E2BIG;
    }
    return send_call(c, p, LOADGEN_SEALED, xdr_getpos(&xdrs), timeout_ns, on_sealed);
}

static int call_plain(struct control_client *c, lg_step step, int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    lg_request request = {.step = step};

    return call_sealed(c, &request, NULL, timeout_ns, on_done, arg);
}

int control_client_facts(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    return call_plain(c, LG_FACTS, timeout_ns, on_done, arg);
}

int control_client_status(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    return call_plain(c, LG_STATUS, timeout_ns, on_done, arg);
}

int control_client_stop(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    return call_plain(c, LG_STOP, timeout_ns, on_done, arg);
}

int control_client_release(struct control_client *c, int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    return call_plain(c, LG_RELEASE, timeout_ns, on_done, arg);
}

/* XDR takes char * even where it only reads. */
static char *text(const char *s)
{
    return (char *)(uintptr_t)(s ? s : "");
}

int control_client_configure(struct control_client *c, const struct cluster_config *config, uint32_t loadgen,
                             int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    char host[256] = "?";
    lg_target *targets = calloc(config->n_targets + 1, sizeof(*targets));
    lg_request request = {.step = LG_CONFIGURE};
    lg_configure *out = &request.lg_request_u.configure;
    uint32_t n = config->processes_per_loadgen;

    if (!targets) {
        return -ENOMEM;
    }
    gethostname(host, sizeof(host) - 1);
    for (uint32_t i = 0; i < config->n_targets; i++) {
        const struct cluster_target *t = &config->targets[i];
        targets[i] = (lg_target){text(t->name), text(t->server), text(t->export_path), t->nfs_port, t->mount_port};
    }
    out->campaign = text(config->campaign_name);
    out->prime_host = host;
    out->workload = text(config->workload_json);
    out->engine = text(config->engine);
    out->targets.targets_len = config->n_targets;
    out->targets.targets_val = targets;
    out->process_targets.process_targets_len = n;
    out->process_targets.process_targets_val = (u_int *)(uintptr_t)&config->process_targets[(size_t)loadgen * n];
    out->n_connections = config->connections_per_process;
    out->timeout_ns = config->timeout_ns;
    out->uid = config->uid;
    out->gid = config->gid;
    out->gids.gids_len = config->n_gids;
    out->gids.gids_val = (u_int *)(uintptr_t)config->gids;
    out->reserved_port = config->reserved_port;
    out->source_address = text(config->source_addresses ? config->source_addresses[loadgen] : NULL);
    out->machine_name = text("");
    int error = call_sealed(c, &request, NULL, timeout_ns, on_done, arg);
    free(targets);
    return error;
}

int control_client_layout(struct control_client *c, const struct process_layout *layouts, uint32_t n,
                          int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    lg_layout *out = calloc(n + 1, sizeof(*out));
    lg_request request = {.step = LG_LAYOUT};

    if (!out) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct process_layout *l = &layouts[i];
        out[i] = (lg_layout){
            .loadgen = l->loadgen,
            .process = l->process,
            .target = l->target,
            .client = l->client,
            .seed = l->seed,
            .ops_per_s = l->ops_per_s,
            .first_file = l->first_file,
            .n_files = l->n_files,
            .file_bytes = l->file_bytes,
            .lg_n_files = l->lg_n_files,
            .lg_n_working_set = l->lg_n_working_set,
            .first_working_set = l->first_working_set,
            .n_working_set = l->n_working_set,
            .n_access_groups = l->n_access_groups,
            .n_directories = l->n_directories,
            .n_symlinks = l->n_symlinks,
            .n_non_io_files = l->n_non_io_files,
            .memory_bytes = l->memory_bytes,
        };
    }
    request.lg_request_u.layout.layouts.layouts_len = n;
    request.lg_request_u.layout.layouts.layouts_val = out;
    int error = call_sealed(c, &request, NULL, timeout_ns, on_done, arg);
    free(out);
    return error;
}

int control_client_start(struct control_client *c, const struct control_start *start, int64_t timeout_ns,
                         control_done_cb on_done, void *arg)
{
    static const lg_phase phases[] = {
        [CONTROL_VALIDATE] = LG_PHASE_VALIDATE,
        [CONTROL_POPULATE] = LG_PHASE_POPULATE,
        [CONTROL_LOAD] = LG_PHASE_LOAD,
        [CONTROL_CLEAN] = LG_PHASE_CLEAN,
    };
    lg_request request = {.step = LG_START};

    request.lg_request_u.start = (lg_start){
        .phase = phases[start->phase],
        .serial = start->serial,
        .validate_level = start->validate_level,
        .start_in_ns = start->start_in_ns,
        .warmup_ns = start->warmup_ns,
        .run_ns = start->run_ns,
    };
    return call_sealed(c, &request, NULL, timeout_ns, on_done, arg);
}

static int collect(struct control_client *c, lg_part part, uint32_t from, uint32_t n, const struct control_sink *sink,
                   int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    lg_request request = {.step = LG_COLLECT};

    request.lg_request_u.collect = (lg_collect){part, from, n};
    return call_sealed(c, &request, sink, timeout_ns, on_done, arg);
}

int control_client_collect_processes(struct control_client *c, uint32_t from, int64_t timeout_ns,
                                     control_done_cb on_done, void *arg)
{
    return collect(c, LG_PART_PROCESSES, from, UINT32_MAX, NULL, timeout_ns, on_done, arg);
}

int control_client_collect_ops(struct control_client *c, uint32_t from, struct tally *into, int64_t timeout_ns,
                               control_done_cb on_done, void *arg)
{
    const struct control_sink sink = {.tally = into};

    return collect(c, LG_PART_OPS, from, UINT32_MAX, &sink, timeout_ns, on_done, arg);
}

int control_client_collect_intervals(struct control_client *c, uint32_t from, uint32_t n, control_cell_fn cell,
                                     void *cell_arg, int64_t timeout_ns, control_done_cb on_done, void *arg)
{
    const struct control_sink sink = {.cell = cell, .cell_arg = cell_arg};

    return collect(c, LG_PART_INTERVALS, from, n, &sink, timeout_ns, on_done, arg);
}

int control_client_collect_findings(struct control_client *c, uint32_t from, int64_t timeout_ns,
                                    control_done_cb on_done, void *arg)
{
    return collect(c, LG_PART_FINDINGS, from, UINT32_MAX, NULL, timeout_ns, on_done, arg);
}
