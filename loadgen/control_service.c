/* control_service.c - see control_service.h. */
#include "control_service.h"

#include "clock.h"
#include "control_steps.h"
#include "daemon.h"
#include "loadgen_prot.h"
#include "log.h"
#include "rpc_server.h"
#include "seal.h"

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
#define MESSAGE_BYTES      LG_MAX_TEXT

_Static_assert(SEAL_NONCE_BYTES == LG_NONCE_BYTES && SEAL_MAC_BYTES == LG_MAC_BYTES, "seal.h and loadgen_prot.x agree");
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
    struct control_steps steps;
    struct event *on_sweep;
    struct rpc_program program;
    TAILQ_HEAD(, session) sessions; /* oldest first */
    uint8_t body[LG_MAX_BODY];
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
        error = control_steps_serve(&v->steps, session->id, at, &request, answer, message, cap);
        if (error) {
            log_warn("%s: %s refused: %s", rpc_peer_address(session->peer), control_steps_name(request.step), message);
        }
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
    if (!xdr_lg_reply(&xdrs, reply)) {
        return false;
    }
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
    if (reply.verdict == LG_OK) {
        reply.lg_reply_u.answer = answer;
    } else {
        reply.lg_reply_u.message = message;
    }
    if (seal_answer(v, session, sealed.sequence, &reply, &sealed_reply.lg_sealed_reply_u.sealed)) {
        rpc_call_reply(call, (xdrproc_t)xdr_lg_sealed_reply, &sealed_reply);
    } else {
        rpc_call_fail(call, SYSTEM_ERR);
    }
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

    if (!session || session->is_doomed) {
        rpc_call_end(call);
    } else if (call->proc == LOADGEN_NULL) {
        rpc_call_reply(call, (xdrproc_t)(void (*)(void))xdr_void, NULL);
    } else if (call->proc == LOADGEN_HELLO) {
        serve_hello(v, call, session);
    } else {
        serve_sealed(v, call, session);
    }
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
        if (s->is_proved) {
            continue;
        }
        n_strangers++;
        if (!oldest) {
            oldest = s;
        }
    }
    session->id = ++v->last_session;
    session->peer = peer;
    session->connected = session->last_call = mono_now();
    TAILQ_INSERT_TAIL(&v->sessions, session, entry);
    rpc_peer_set_data(peer, session);
    if (n_strangers >= MAX_STRANGERS) {
        rpc_peer_close(oldest->peer);
    }
}

static void on_disconnect(struct rpc_peer *peer, void *arg)
{
    struct control_service *v = arg;
    struct session *session = rpc_peer_data(peer);

    if (!session) {
        return;
    }
    rpc_peer_set_data(peer, NULL);
    TAILQ_REMOVE(&v->sessions, session, entry);
    daemon_session_ended(v->daemon, session->id);
    seal_fini(&session->seal);
    free(session);
}

static bool is_overdue(const struct session *s, mono_t now)
{
    if (s->is_doomed) {
        return true;
    }
    if (!s->is_proved) {
        return mono_since_ns(now, s->connected) > PROOF_PATIENCE_NS;
    }
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
        if (is_overdue(s, now)) {
            rpc_peer_close(s->peer);
        }
    }
}

struct control_service *control_service_create(struct event_base *base, struct daemon *daemon, const uint8_t *key)
{
    static const struct timeval sweep = {.tv_sec = 0, .tv_usec = SWEEP_NS / NS_PER_US};
    struct control_service *v = calloc(1, sizeof(*v));
    struct rpc_server_options options;

    if (!v) {
        return NULL;
    }
    v->base = base;
    v->daemon = daemon;
    v->has_key = key != NULL;
    if (key) {
        memcpy(v->key, key, sizeof(v->key));
    }
    TAILQ_INIT(&v->sessions);
    control_steps_init(&v->steps, daemon);
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
    if (v->server) {
        rpc_server_destroy(v->server);
    }
    if (v->on_sweep) {
        event_free(v->on_sweep);
    }
    control_steps_fini(&v->steps);
    free(v);
}

int control_service_listen(struct control_service *v, const char *address, uint16_t port, uint16_t *bound_port,
                           char *message, size_t cap)
{
    return rpc_server_listen(v->server, address, port, bound_port, message, cap);
}
