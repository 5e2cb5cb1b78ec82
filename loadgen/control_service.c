/* control_service.c - see control_service.h. */
#include "control_service.h"

#include "clock.h"
#include "control_collect.h"
#include "daemon.h"
#include "host_facts.h"
#include "loadgen_prot.h"
#include "log.h"
#include "rpc_server.h"
#include "seal.h"
#include "tally.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define MAX_CONNECTIONS    256u
#define MAX_STRANGERS      64u /* connections that have not proved the key yet */
#define PROOF_PATIENCE_NS  (5 * NS_PER_S)
#define RECORD_PATIENCE_NS (10 * NS_PER_S)
#define SEND_PATIENCE_NS   (10 * NS_PER_S)
#define IDLE_PATIENCE_NS   (60 * NS_PER_S) /* without a lease; a holder has the lease's patience */
#define SWEEP_NS           (250 * NS_PER_MS)
#define MAX_RECORD_BYTES   (1u << 20)
#define MAX_START_IN_NS    (60 * NS_PER_S)
#define MESSAGE_BYTES      LG_MAX_TEXT

_Static_assert(SEAL_NONCE_BYTES == LG_NONCE_BYTES && SEAL_MAC_BYTES == LG_MAC_BYTES, "seal.h and loadgen_prot.x agree");
_Static_assert(HISTOGRAM_BUCKETS == LG_MAX_BUCKETS && NFS_OP_COUNT == LG_MAX_OPS,
               "histogram.h and loadgen_prot.x agree");
_Static_assert(NFS_STATUS_COUNT <= LG_MAX_STATUS && OP_OUTCOME_COUNT <= LG_MAX_OUTCOMES &&
                   ANOMALY_COUNT <= LG_MAX_ANOMALIES && OP_CLASS_COUNT <= LG_MAX_CLASSES,
               "tally.h fits loadgen_prot.x");

/* One connection. */
struct session {
    uint64_t id; /* never 0 */
    struct rpc_peer *peer;
    struct seal seal;
    bool has_hello;
    bool is_proved; /* a sealed call has passed */
    bool is_doomed; /* nothing it sends is looked at; closed at the next sweep, when the last answer has left */
    mono_t connected, last_call;
    TAILQ_ENTRY(session) entry;
};

struct control_service {
    struct event_base *base;
    struct rpc_server *server;
    struct daemon *daemon;
    uint8_t key[SEAL_KEY_BYTES];
    bool has_key;
    uint64_t last_session;
    struct host_facts facts;
    struct tally *merged; /* of the last load, while it is collected */
    struct event *on_sweep;
    struct rpc_program program;
    TAILQ_HEAD(, session) sessions; /* oldest first */
    uint8_t body[LG_MAX_BODY];
};

/* ---- the steps: each is told that the call is genuine and that the lease is held where it is needed ---- */

typedef int (*step_fn)(struct control_service *v, struct session *session, mono_t at, const lg_request *request,
                       lg_answer *answer, char *message, size_t cap);

static char *text_of(const char *text, size_t max)
{
    char cut[LG_MAX_TEXT + 1];

    snprintf(cut, max < LG_MAX_TEXT ? max + 1 : sizeof(cut), "%s", text ? text : "");
    return strdup(cut);
}

static int step_facts(struct control_service *v, struct session *session, mono_t at, const lg_request *request,
                      lg_answer *answer, char *message, size_t cap)
{
    struct daemon_holder holder = daemon_holder(v->daemon);
    lg_facts *out = &answer->lg_answer_u.facts;

    (void)session;
    (void)at;
    (void)request;
    (void)message;
    (void)cap;
    out->hostname = text_of(v->facts.hostname, LG_MAX_NAME);
    out->software = text_of(NFSCURVE_VERSION, LG_MAX_NAME);
    out->cpu_model = text_of(v->facts.cpu_model, LG_MAX_NAME);
    out->os = text_of(v->facts.os, LG_MAX_NAME);
    out->addresses = text_of(v->facts.addresses, LG_MAX_TEXT);
    out->held_by_campaign = text_of(holder.campaign, LG_MAX_NAME);
    out->held_by_host = text_of(holder.prime_host, LG_MAX_NAME);
    out->n_cpus = v->facts.n_cpus;
    out->memory_bytes = v->facts.memory_bytes;
    out->wall_ns = wall_now().ns;
    out->lease_ns = daemon_lease_ns(v->daemon);
    return 0;
}

static void forget_merged(struct control_service *v)
{
    free(v->merged);
    v->merged = NULL;
}

static int step_configure(struct control_service *v, struct session *session, mono_t at, const lg_request *request,
                          lg_answer *answer, char *message, size_t cap)
{
    const lg_configure *c = &request->lg_request_u.configure;
    char campaign[LG_MAX_NAME + 1], prime_host[LG_MAX_NAME + 1];
    struct daemon_target *targets = calloc(c->targets.targets_len + 1, sizeof(*targets));
    int error = -ENOMEM;

    (void)at;
    (void)answer;
    snprintf(message, cap, "out of memory");
    if (!targets)
        return error;
    for (u_int i = 0; i < c->targets.targets_len; i++) {
        const lg_target *t = &c->targets.targets_val[i];
        if (t->nfs_port > UINT16_MAX || t->mount_port > UINT16_MAX) {
            snprintf(message, cap, "target %u: a port is beyond 65535", i);
            error = -EINVAL;
            goto out;
        }
        targets[i] =
            (struct daemon_target){t->name, t->server, t->export_path, (uint16_t)t->nfs_port, (uint16_t)t->mount_port};
    }
    /* They are shown to others (busy: held by ...) and logged. */
    log_quote(campaign, sizeof(campaign), c->campaign, strlen(c->campaign));
    log_quote(prime_host, sizeof(prime_host), c->prime_host, strlen(c->prime_host));
    struct daemon_config config = {
        .campaign = campaign,
        .prime_host = prime_host,
        .workload_json = c->workload,
        .engine = c->engine,
        .n_targets = c->targets.targets_len,
        .targets = targets,
        .n_processes = c->process_targets.process_targets_len,
        .process_targets = c->process_targets.process_targets_val,
        .n_connections = c->n_connections,
        .timeout_ns = c->timeout_ns,
        .uid = c->uid,
        .gid = c->gid,
        .n_gids = c->gids.gids_len,
        .reserved_port = c->reserved_port,
        .source_address = c->source_address,
        .machine_name = c->machine_name,
    };
    for (u_int i = 0; i < c->gids.gids_len; i++)
        config.gids[i] = c->gids.gids_val[i];
    error = daemon_configure(v->daemon, session->id, &config, message, cap);
    if (!error)
        forget_merged(v);
out:
    free(targets);
    return error;
}

static int step_layout(struct control_service *v, struct session *session, mono_t at, const lg_request *request,
                       lg_answer *answer, char *message, size_t cap)
{
    u_int n = request->lg_request_u.layout.layouts.layouts_len;
    struct process_layout *layouts = calloc(n + 1, sizeof(*layouts));

    (void)session;
    (void)at;
    (void)answer;
    if (!layouts) {
        snprintf(message, cap, "out of memory");
        return -ENOMEM;
    }
    for (u_int i = 0; i < n; i++) {
        const lg_layout *l = &request->lg_request_u.layout.layouts.layouts_val[i];
        layouts[i] = (struct process_layout){
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
    int error = daemon_set_layouts(v->daemon, layouts, n, message, cap);
    free(layouts);
    return error;
}

static int step_start(struct control_service *v, struct session *session, mono_t at, const lg_request *request,
                      lg_answer *answer, char *message, size_t cap)
{
    static const enum daemon_phase_kind kinds[] = {
        [LG_PHASE_VALIDATE] = DAEMON_VALIDATE,
        [LG_PHASE_POPULATE] = DAEMON_POPULATE,
        [LG_PHASE_LOAD] = DAEMON_LOAD,
        [LG_PHASE_CLEAN] = DAEMON_CLEAN,
    };
    const lg_start *s = &request->lg_request_u.start;

    (void)session;
    (void)answer;
    if (s->phase > LG_PHASE_CLEAN || s->start_in_ns < 0 || s->start_in_ns > MAX_START_IN_NS) {
        snprintf(message, cap, "an unknown phase, or a start that is too far away");
        return -EINVAL;
    }
    struct daemon_phase phase = {
        .kind = kinds[s->phase],
        .serial = s->serial,
        .validate_level = s->validate_level,
        .start_at = mono_plus_ns(at, s->start_in_ns), /* from when the call was read, not from now */
        .warmup_ns = s->warmup_ns,
        .run_ns = s->run_ns,
    };
    forget_merged(v);
    return daemon_start(v->daemon, &phase, message, cap);
}

static int step_status(struct control_service *v, struct session *session, mono_t at, const lg_request *request,
                       lg_answer *answer, char *message, size_t cap)
{
    const struct supervisor *s = daemon_supervisor(v->daemon);
    lg_status *out = &answer->lg_answer_u.status;
    mono_t start = daemon_load_start(v->daemon);
    uint32_t n = supervisor_n(s);

    (void)session;
    (void)request;
    snprintf(message, cap, "out of memory");
    out->since_start_ns = start.ns == MONO_NEVER.ns ? 0 : mono_since_ns(at, start);
    out->processes.processes_val = calloc(n, sizeof(lg_process_status));
    if (!out->processes.processes_val)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct process_shared *p = supervisor_shared(s, i);
        lg_process_status *o = &out->processes.processes_val[out->processes.processes_len++];
        const char *reason = supervisor_death_reason(s, i);
        char said[LG_MAX_TEXT + 1] = "";
        o->state = atomic_load(&p->state);
        o->is_dead = reason != NULL;
        o->done_serial = atomic_load(&p->done_serial);
        o->progress_done = atomic_load(&p->progress_done);
        o->progress_total = atomic_load(&p->progress_total);
        o->live_ops = atomic_load(&p->live_ops);
        o->live_response_sum_ns = atomic_load(&p->live_response_sum_ns);
        o->live_errors = atomic_load(&p->live_errors);
        if (!reason && o->state == PROCESS_FAILED)
            log_quote(said, sizeof(said), p->message, strnlen(p->message, PROCESS_MESSAGE_MAX));
        o->message = text_of(reason ? reason : said, LG_MAX_TEXT);
        if (!o->message)
            return -ENOMEM;
    }
    return 0;
}

static int step_collect(struct control_service *v, struct session *session, mono_t at, const lg_request *request,
                        lg_answer *answer, char *message, size_t cap)
{
    (void)session;
    (void)at;
    return control_collect(v->daemon, &request->lg_request_u.collect, &v->merged, &answer->lg_answer_u.collected,
                           message, cap);
}

static int step_stop(struct control_service *v, struct session *session, mono_t at, const lg_request *request,
                     lg_answer *answer, char *message, size_t cap)
{
    (void)session;
    (void)at;
    (void)request;
    (void)answer;
    (void)message;
    (void)cap;
    daemon_stop(v->daemon);
    return 0;
}

static int step_release(struct control_service *v, struct session *session, mono_t at, const lg_request *request,
                        lg_answer *answer, char *message, size_t cap)
{
    (void)session;
    (void)at;
    (void)request;
    (void)answer;
    (void)message;
    (void)cap;
    forget_merged(v);
    daemon_release(v->daemon, "released by the prime");
    return 0;
}

static const struct step {
    const char *name;
    bool needs_lease;
    step_fn serve;
} STEPS[] = {
    [LG_FACTS] = {"FACTS", false, step_facts},   [LG_CONFIGURE] = {"CONFIGURE", false, step_configure},
    [LG_LAYOUT] = {"LAYOUT", true, step_layout}, [LG_START] = {"START", true, step_start},
    [LG_STATUS] = {"STATUS", true, step_status}, [LG_COLLECT] = {"COLLECT", true, step_collect},
    [LG_STOP] = {"STOP", true, step_stop},       [LG_RELEASE] = {"RELEASE", true, step_release},
};

static lg_verdict verdict_of(int error)
{
    switch (error) {
    case 0:
        return LG_OK;
    case -EBUSY:
        return LG_BUSY;
    case -ENOLCK:
        return LG_NO_LEASE;
    case -EACCES:
    case -EHOSTUNREACH:
        return LG_FORBIDDEN;
    case -EINVAL:
    case -EBADMSG:
        return LG_BAD_REQUEST;
    default:
        return LG_FAILED;
    }
}

/* ---- the choke point ---- */

static int decode_and_serve(struct control_service *v, struct session *session, mono_t at, lg_sealed *sealed,
                            lg_answer *answer, char *message, size_t cap)
{
    lg_request request;
    XDR xdrs;
    int error = -EBADMSG;

    memset(&request, 0, sizeof(request));
    xdrmem_create(&xdrs, sealed->body.body_val, sealed->body.body_len, XDR_DECODE);
    /* Decoded, and nothing left over: what was sealed is what is served. */
    if (!xdr_lg_request(&xdrs, &request) || xdr_getpos(&xdrs) != sealed->body.body_len) {
        snprintf(message, cap, "the request does not decode");
    } else {
        const struct step *step = &STEPS[request.step];
        answer->step = request.step;
        error = step->needs_lease ? daemon_check_lease(v->daemon, session->id, message, cap) : 0;
        if (!error)
            error = step->serve(v, session, at, &request, answer, message, cap);
        if (error)
            log_warn("%s: %s refused: %s", rpc_peer_address(session->peer), step->name, message);
    }
    xdr_free((xdrproc_t)xdr_lg_request, &request);
    return error;
}

/* Encodes and seals the answer into *out, whose body stays in v->body. */
static bool seal_answer(struct control_service *v, struct session *session, uint64_t sequence, lg_reply *reply,
                        lg_sealed *out)
{
    XDR xdrs;

    xdrmem_create(&xdrs, (char *)v->body, sizeof(v->body), XDR_ENCODE);
    if (!xdr_lg_reply(&xdrs, reply))
        return false;
    out->sequence = sequence;
    out->body.body_val = (char *)v->body;
    out->body.body_len = xdr_getpos(&xdrs);
    seal_sign_answer(&session->seal, sequence, v->body, out->body.body_len, (uint8_t *)out->mac);
    return true;
}

static void refuse_seal(struct rpc_call *call, struct session *session, const char *why)
{
    lg_sealed_reply refused = {.status = LG_SEAL_REFUSED};
    char text[256];

    log_warn("%s: a sealed call is refused: %s", rpc_peer_address(session->peer), why);
    snprintf(text, sizeof(text), "%s", why);
    refused.lg_sealed_reply_u.why = text;
    session->is_doomed = true;
    rpc_call_reply(call, (xdrproc_t)xdr_lg_sealed_reply, &refused);
}

static void serve_sealed(struct control_service *v, struct rpc_call *call, struct session *session)
{
    char message[MESSAGE_BYTES] = "";
    lg_sealed_reply sealed_reply = {.status = LG_SEAL_OK};
    lg_sealed sealed;
    lg_reply reply;
    lg_answer answer;

    memset(&sealed, 0, sizeof(sealed));
    memset(&answer, 0, sizeof(answer));
    if (!rpc_call_decode(call, (xdrproc_t)xdr_lg_sealed, &sealed)) {
        rpc_call_fail(call, GARBAGE_ARGS);
        goto out;
    }
    int error = session->has_hello ? seal_accept_call(&session->seal, sealed.sequence, (uint8_t *)sealed.body.body_val,
                                                      sealed.body.body_len, (uint8_t *)sealed.mac)
                                   : -EPROTO;
    if (error) {
        refuse_seal(call, session, error == -EPROTO ? "HELLO has to come first" : seal_strerror(error));
        goto out;
    }
    session->is_proved = true;
    session->last_call = call->at;
    error = decode_and_serve(v, session, call->at, &sealed, &answer, message, sizeof(message));
    memset(&reply, 0, sizeof(reply));
    reply.verdict = verdict_of(error);
    if (reply.verdict == LG_OK)
        reply.lg_reply_u.answer = answer;
    else
        reply.lg_reply_u.message = message;
    if (seal_answer(v, session, sealed.sequence, &reply, &sealed_reply.lg_sealed_reply_u.sealed))
        rpc_call_reply(call, (xdrproc_t)xdr_lg_sealed_reply, &sealed_reply);
    else
        rpc_call_fail(call, SYSTEM_ERR);
out:
    xdr_free((xdrproc_t)xdr_lg_answer, &answer);
    xdr_free((xdrproc_t)xdr_lg_sealed, &sealed);
}

static void serve_hello(struct control_service *v, struct rpc_call *call, struct session *session)
{
    char software[] = NFSCURVE_VERSION;
    lg_hello in, out = {.revision = LG_REVISION, .software = software};

    memset(&in, 0, sizeof(in));
    if (session->has_hello || !rpc_call_decode(call, (xdrproc_t)xdr_lg_hello, &in)) {
        rpc_call_fail(call, GARBAGE_ARGS);
    } else {
        /* Another revision gets ours, and can say so to its user; its sealed calls are refused. */
        seal_nonce((uint8_t *)out.nonce);
        session->has_hello = in.revision == LG_REVISION;
        seal_init(&session->seal, v->has_key ? v->key : NULL, (const uint8_t *)in.nonce, (const uint8_t *)out.nonce);
        rpc_call_reply(call, (xdrproc_t)xdr_lg_hello, &out);
    }
    xdr_free((xdrproc_t)xdr_lg_hello, &in);
}

static void on_call(struct rpc_call *call, void *arg)
{
    struct control_service *v = arg;
    struct session *session = rpc_peer_data(call->peer);

    if (!session || session->is_doomed)
        rpc_call_end(call);
    else if (call->proc == LOADGEN_NULL)
        rpc_call_reply(call, (xdrproc_t)(void (*)(void))xdr_void, NULL);
    else if (call->proc == LOADGEN_HELLO)
        serve_hello(v, call, session);
    else
        serve_sealed(v, call, session);
}

/* ---- connections ---- */

static void on_connect(struct rpc_peer *peer, void *arg)
{
    struct control_service *v = arg;
    struct session *session = calloc(1, sizeof(*session)), *s, *oldest = NULL;
    unsigned n_strangers = 0;

    if (!session) {
        rpc_peer_close(peer);
        return;
    }
    TAILQ_FOREACH(s, &v->sessions, entry)
    {
        if (s->is_proved)
            continue;
        n_strangers++;
        if (!oldest)
            oldest = s;
    }
    session->id = ++v->last_session;
    session->peer = peer;
    session->connected = session->last_call = mono_now();
    TAILQ_INSERT_TAIL(&v->sessions, session, entry);
    rpc_peer_set_data(peer, session);
    if (n_strangers >= MAX_STRANGERS)
        rpc_peer_close(oldest->peer);
}

static void on_disconnect(struct rpc_peer *peer, void *arg)
{
    struct control_service *v = arg;
    struct session *session = rpc_peer_data(peer);

    if (!session)
        return;
    rpc_peer_set_data(peer, NULL);
    TAILQ_REMOVE(&v->sessions, session, entry);
    daemon_session_ended(v->daemon, session->id);
    seal_fini(&session->seal);
    free(session);
}

static bool is_overdue(const struct session *s, mono_t now)
{
    if (s->is_doomed)
        return true;
    if (!s->is_proved)
        return mono_since_ns(now, s->connected) > PROOF_PATIENCE_NS;
    return mono_since_ns(now, s->last_call) > IDLE_PATIENCE_NS;
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
    struct control_service *v = arg;
    struct session *s, *next;
    mono_t now = mono_now();

    (void)fd;
    (void)what;
    for (s = TAILQ_FIRST(&v->sessions); s; s = next) {
        next = TAILQ_NEXT(s, entry);
        if (is_overdue(s, now))
            rpc_peer_close(s->peer);
    }
}

struct control_service *control_service_create(struct event_base *base, struct daemon *daemon, const uint8_t *key)
{
    static const struct timeval sweep = {.tv_sec = 0, .tv_usec = SWEEP_NS / NS_PER_US};
    struct control_service *v = calloc(1, sizeof(*v));
    struct rpc_server_options options;

    if (!v)
        return NULL;
    v->base = base;
    v->daemon = daemon;
    v->has_key = key != NULL;
    if (key)
        memcpy(v->key, key, sizeof(v->key));
    TAILQ_INIT(&v->sessions);
    host_facts_read(&v->facts);
    v->program = (struct rpc_program){LOADGEN_PROG, LOADGEN_V1, LOADGEN_SEALED + 1, on_call, v};
    rpc_server_default_options(&options);
    options.programs = &v->program;
    options.n_programs = 1;
    options.max_connections = MAX_CONNECTIONS;
    options.max_calls_per_connection = 8;
    options.conn = (struct rpc_conn_limits){MAX_RECORD_BYTES, 2 * MAX_RECORD_BYTES, 4096};
    options.max_answer_bytes = MAX_RECORD_BYTES;
    options.first_record_timeout_ns = PROOF_PATIENCE_NS;
    options.record_timeout_ns = RECORD_PATIENCE_NS;
    options.send_timeout_ns = SEND_PATIENCE_NS;
    options.on_connect = on_connect;
    options.on_disconnect = on_disconnect;
    options.arg = v;
    v->server = rpc_server_create(base, &options);
    v->on_sweep = event_new(base, -1, EV_PERSIST, on_sweep, v);
    if (!v->server || !v->on_sweep || event_add(v->on_sweep, &sweep) < 0) {
        control_service_destroy(v);
        return NULL;
    }
    return v;
}

void control_service_destroy(struct control_service *v)
{
    if (v->server)
        rpc_server_destroy(v->server);
    if (v->on_sweep)
        event_free(v->on_sweep);
    forget_merged(v);
    free(v);
}

int control_service_listen(struct control_service *v, const char *address, uint16_t port, uint16_t *bound_port,
                           char *message, size_t cap)
{
    return rpc_server_listen(v->server, address, port, bound_port, message, cap);
}
