/* rpc_call.c - the life of a call at the server: taken, dispatched, answered, ended. */
#include "log.h"
#include "rpc_header.h"
#include "rpc_server_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static struct rpc_call *get_call(struct rpc_peer *peer, mono_t at)
{
    struct rpc_server *server = peer->server;
    struct rpc_call *call = server->pool;
    if (call) {
        server->pool = call->next;
    } else {
        call = malloc(sizeof *call);
        if (!call) {
            return NULL;
        }
    }
    *call = (struct rpc_call){.server = server, .peer = peer, .at = at};
    peer->n_calls++;
    server->n_calls++;
    if (peer->n_calls >= server->options.max_calls_per_connection && !peer->is_paused) {
        peer->is_paused = true;
        rpc_conn_pause(peer->conn);
    }
    return call;
}

void rpc_call_end(struct rpc_call *call)
{
    struct rpc_server *server = call->server;
    struct rpc_peer *peer = call->peer;
    call->next = server->pool;
    server->pool = call;
    server->n_calls--;
    peer->n_calls--;
    if (peer->is_paused && peer->conn && peer->n_calls < server->options.max_calls_per_connection) {
        peer->is_paused = false;
        rpc_conn_resume(peer->conn);
    }
    rpc_peer_free_if_unused(peer);
}

static void release_segments(const struct rpc_answer *answer)
{
    for (unsigned i = 0; i < answer->n_segments; i++) {
        if (answer->segments[i].release) {
            answer->segments[i].release(answer->segments[i].arg);
        }
    }
}

int rpc_call_send(struct rpc_call *call, const struct rpc_answer *answer)
{
    int error = -ENOTCONN;
    if (call->peer->conn) {
        error = rpc_conn_send(call->peer->conn, answer->head, answer->head_bytes, answer->segments, answer->n_segments,
                              NULL);
    }
    if (error) {
        release_segments(answer);
    }
    return error;
}

void rpc_answer_begin(struct rpc_call *call, XDR *xdrs)
{
    struct rpc_server *server = call->server;
    xdrmem_create(xdrs, (char *)server->scratch, (u_int)server->scratch_bytes, XDR_ENCODE);
    bool fits = rpc_header_put_success(xdrs, call->xid);
    assert(fits);
}

void rpc_answer_finish(struct rpc_call *call, XDR *xdrs, struct rpc_answer *answer)
{
    answer->head = call->server->scratch;
    answer->head_bytes = xdr_getpos(xdrs);
    answer->n_segments = 0;
}

static void send_and_end(struct rpc_call *call, XDR *xdrs)
{
    struct rpc_answer answer;
    rpc_answer_finish(call, xdrs, &answer);
    rpc_call_send(call, &answer);
    rpc_call_end(call);
}

bool rpc_call_decode(struct rpc_call *call, xdrproc_t decode, void *args)
{
    XDR xdrs;
    xdrmem_create(&xdrs, (char *)(uintptr_t)call->args, (u_int)call->args_bytes, XDR_DECODE);
    return decode(&xdrs, args);
}

void rpc_call_reply(struct rpc_call *call, xdrproc_t encode, void *result)
{
    XDR xdrs;
    rpc_answer_begin(call, &xdrs);
    if (!encode(&xdrs, result)) {
        log_error("procedure %u of program %u: the result does not fit into %zu bytes", call->proc, call->prog,
                  call->server->scratch_bytes);
        rpc_call_fail(call, SYSTEM_ERR);
        return;
    }
    send_and_end(call, &xdrs);
}

static void begin_bare(struct rpc_call *call, XDR *xdrs)
{
    xdrmem_create(xdrs, (char *)call->server->scratch, (u_int)call->server->scratch_bytes, XDR_ENCODE);
}

static void fail_with_range(struct rpc_call *call, enum accept_stat stat, uint32_t low, uint32_t high)
{
    XDR xdrs;
    begin_bare(call, &xdrs);
    rpc_header_put_fail(&xdrs, call->xid, stat, low, high);
    send_and_end(call, &xdrs);
}

void rpc_call_fail(struct rpc_call *call, enum accept_stat stat)
{
    fail_with_range(call, stat, 0, 0);
}

void rpc_call_refuse(struct rpc_call *call, enum auth_stat why)
{
    XDR xdrs;
    begin_bare(call, &xdrs);
    rpc_header_put_auth_error(&xdrs, call->xid, why);
    send_and_end(call, &xdrs);
}

static void refuse_version(struct rpc_call *call)
{
    XDR xdrs;
    begin_bare(call, &xdrs);
    rpc_header_put_rpc_mismatch(&xdrs, call->xid);
    send_and_end(call, &xdrs);
}

/* RFC 5531 section 9: an unknown program, else a version out of its range, else an unknown procedure. */
static void dispatch(struct rpc_call *call)
{
    const struct rpc_server_options *options = &call->server->options;
    uint32_t low = UINT32_MAX, high = 0;
    for (unsigned i = 0; i < options->n_programs; i++) {
        const struct rpc_program *program = &options->programs[i];
        if (program->prog != call->prog) {
            continue;
        }
        if (program->vers == call->vers) {
            if (call->proc >= program->n_procs) {
                rpc_call_fail(call, PROC_UNAVAIL);
            } else {
                program->handler(call, program->arg);
            }
            return;
        }
        low = program->vers < low ? program->vers : low;
        high = program->vers > high ? program->vers : high;
    }
    if (low > high) {
        rpc_call_fail(call, PROG_UNAVAIL);
    } else {
        fail_with_range(call, PROG_MISMATCH, low, high);
    }
}

int rpc_call_receive(struct rpc_peer *peer, uint8_t *record, size_t bytes, mono_t at)
{
    struct rpc_call *call = get_call(peer, at);
    if (!call) {
        return -ENOMEM;
    }
    enum auth_stat why;
    switch (rpc_header_decode(call, record, bytes, &why)) {
    case RPC_HEADER_OK:
        dispatch(call);
        break;
    case RPC_HEADER_MISMATCH:
        refuse_version(call);
        break;
    case RPC_HEADER_BAD_CRED:
        rpc_call_refuse(call, why);
        break;
    case RPC_HEADER_GARBAGE:
        rpc_call_end(call);
        return -EPROTO;
    }
    return 0;
}
