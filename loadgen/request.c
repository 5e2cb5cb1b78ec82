/* request.c - see request.h. */
#include "request.h"

#include "load.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_OK        0u
#define STATUS_NOENT     2u
#define STATUS_JUKEBOX   10008u
#define FIRST_PAUSE_NS   (100 * NS_PER_MS)
#define LONGEST_PAUSE_NS (5 * NS_PER_S)

int request_init(struct request *request, struct load *load, uint32_t number, uint32_t n_calls)
{
    memset(request, 0, sizeof *request);
    request->load = load;
    request->number = number;
    request->rpcs = calloc(n_calls, sizeof *request->rpcs);
    if (request->rpcs == NULL) {
        return -ENOMEM;
    }
    request->n_calls = n_calls;
    for (uint32_t i = 0; i < n_calls; i++) {
        request->rpcs[i].request = request;
    }
    return 0;
}

void request_fini(struct request *request)
{
    for (uint32_t i = 0; i < request->n_calls; i++) {
        if (request->rpcs[i].retry != NULL) {
            event_free(request->rpcs[i].retry);
        }
        free(request->rpcs[i].buffer);
    }
    free(request->rpcs);
    memset(request, 0, sizeof *request);
}

uint8_t *rpc_buffer(struct rpc *rpc, uint32_t bytes)
{
    if (rpc->buffer_bytes < bytes) {
        free(rpc->buffer);
        rpc->buffer = malloc(bytes);
        rpc->buffer_bytes = rpc->buffer != NULL ? bytes : 0;
    }
    return rpc->buffer;
}

void request_anomaly(struct request *request, enum anomaly anomaly)
{
    op_record_anomaly(&request->load->record, anomaly, mono_now());
}

static enum op_outcome classify(const struct rpc *rpc, const struct nfs3_reply *reply)
{
    switch (reply->result) {
    case NFS3_CALL_OK:
        return reply->status == rpc->expected_status ? OP_OK : OP_NFS_ERROR;
    case NFS3_CALL_TIMEOUT:
        return OP_TIMEOUT;
    case NFS3_CALL_MALFORMED:
        return OP_MALFORMED;
    case NFS3_CALL_RPC_ERROR:
    case NFS3_CALL_BROKEN:
        break;
    }
    return OP_RPC_ERROR;
}

/* The status says that a name is there that must not be, or the other way round. */
static enum op_outcome judge_names(struct request *request, const struct rpc *rpc, const struct nfs3_reply *reply,
                                   enum op_outcome outcome)
{
    if (reply->result != NFS3_CALL_OK) {
        return outcome;
    }
    if (rpc->expected_status == STATUS_NOENT && reply->status == STATUS_OK) {
        request_anomaly(request, ANOMALY_UNEXPECTED_OK);
        return OP_WRONG;
    }
    if (rpc->expected_status == STATUS_OK && reply->status == STATUS_NOENT) {
        request_anomaly(request, ANOMALY_MISSING_NAME);
    }
    return outcome;
}

static void end_if_idle(struct request *request)
{
    if (request->n_in_flight > 0) {
        return;
    }
    op_driver_of(request->op)->end(request);
    op_mix_settle(&request->load->mix, &request->charge, request->n_rpcs);
    request->state = REQUEST_IDLE;
    if (request->is_good && request->has_sent) {
        struct request_event event = {request->op, request->due, request->sent, request->done};
        op_record_request(&request->load->record, &event);
    }
    load_request_ended(request->load, request);
}

static void ask_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct rpc *rpc = arg;
    request_send(rpc);
    end_if_idle(rpc->request);
}

void request_abandon_retries(struct request *request)
{
    bool any = false;
    for (uint32_t i = 0; i < request->n_calls; i++) {
        struct rpc *rpc = &request->rpcs[i];
        if (rpc->is_used && rpc->retry != NULL && event_pending(rpc->retry, EV_TIMEOUT, NULL)) {
            event_del(rpc->retry);
            rpc->is_used = false;
            request->n_in_flight--;
            request->is_good = false;
            any = true;
        }
    }
    if (any) {
        end_if_idle(request);
    }
}

/* True when the call was put off and will be asked again. */
static bool put_off(struct rpc *rpc)
{
    struct load *load = rpc->request->load;
    if (load->is_stopping || !mono_before(mono_now(), rpc->give_up_at)) {
        return false;
    }
    rpc->pause_ns = rpc->pause_ns == 0 ? FIRST_PAUSE_NS : rpc->pause_ns * 2;
    if (rpc->pause_ns > LONGEST_PAUSE_NS) {
        rpc->pause_ns = LONGEST_PAUSE_NS;
    }
    if (rpc->retry == NULL) {
        rpc->retry = event_new(load->options.base, -1, 0, ask_again, rpc);
    }
    struct timeval tv = {rpc->pause_ns / NS_PER_S, rpc->pause_ns % NS_PER_S / NS_PER_US};
    return rpc->retry != NULL && event_add(rpc->retry, &tv) == 0;
}

static void on_done(struct nfs3_call *call, const struct nfs3_reply *reply)
{
    struct rpc *rpc = call->owner;
    struct request *request = rpc->request;
    struct load *load = request->load;
    atomic_store_explicit(&load->options.shared->last_op, 1u + call->op, memory_order_relaxed);

    /* The times are taken first: on_reply may send this very call again. */
    struct rpc_event event = {.op = call->op,
                              .has_status = reply->result == NFS3_CALL_OK,
                              .status = reply->status,
                              .due = rpc->due,
                              .started = call->started,
                              .sent = call->sent,
                              .done = call->done,
                              .read_at = call->read_at};
    if (!request->has_sent) {
        request->has_sent = true;
        request->sent = call->sent;
    } else if (mono_before(call->sent, request->sent)) {
        request->sent = call->sent;
    }
    request->done = call->done;

    event.outcome = classify(rpc, reply);
    if (event.outcome == OP_NFS_ERROR && reply->status == STATUS_JUKEBOX) {
        request_anomaly(request, ANOMALY_JUKEBOX);
        if (put_off(rpc)) {
            op_record_rpc(&load->record, &event);
            return; /* still in flight as far as the request is concerned */
        }
    }
    event.outcome = judge_names(request, rpc, reply, event.outcome);
    request->n_in_flight--;
    rpc->is_used = false;
    if (event.op == NFS_OP_READ && event.outcome == OP_OK) {
        event.read_bytes = reply->read.count;
    }
    if (event.op == NFS_OP_WRITE && event.outcome == OP_OK) {
        event.write_bytes = reply->write.count;
    }
    event.outcome = op_driver_of(request->op)->on_reply(request, rpc, reply, event.outcome);
    if (event.outcome != OP_OK) {
        request->is_good = false;
        event.read_bytes = event.write_bytes = 0;
    }
    /* A stop closes the connection under what is still in flight: that is our doing and no error of the server. */
    if (!(load->is_stopping && reply->result == NFS3_CALL_BROKEN)) {
        op_record_rpc(&load->record, &event);
    }
    end_if_idle(request);
}

struct rpc *request_rpc(struct request *request, enum nfs_op op)
{
    for (uint32_t i = 0; i < request->n_calls; i++) {
        struct rpc *rpc = &request->rpcs[i];
        if (rpc->is_used) {
            continue;
        }
        memset(&rpc->call, 0, sizeof rpc->call);
        rpc->is_used = true;
        rpc->call.op = op;
        rpc->call.on_done = on_done;
        rpc->call.owner = rpc;
        rpc->expected_status = STATUS_OK;
        rpc->pause_ns = 0;
        rpc->give_up_at = (mono_t){0};
        rpc->due = (mono_t){0};
        return rpc;
    }
    assert(!"a request has more RPCs than its biods allow");
    return NULL;
}

bool request_send(struct rpc *rpc)
{
    struct request *request = rpc->request;
    struct load *load = request->load;
    bool is_again = rpc->pause_ns > 0;
    if (!is_again) {
        /* The first RPC of a request is due with it; the others when they could be sent. */
        mono_t now = mono_now();
        bool is_first = !request->has_sent && request->n_in_flight == 0;
        rpc->due = is_first ? request->due : now;
        rpc->give_up_at = mono_plus_ns(now, load->options.timeout_ns);
        request->n_in_flight++;
    }
    atomic_store_explicit(&load->options.shared->last_op, 1u + rpc->call.op, memory_order_relaxed);
    int error = load->is_stopping ? -ECANCELED : nfs3_send(load->options.client, &rpc->call);
    if (error == 0) {
        request->n_rpcs[rpc->call.op]++;
        return true;
    }
    request->n_in_flight--;
    rpc->is_used = false;
    request->is_good = false;
    if (load->is_stopping) {
        return false;
    }
    mono_t now = mono_now();
    request->n_rpcs[rpc->call.op]++;
    struct rpc_event event = {.op = rpc->call.op,
                              .outcome = OP_RPC_ERROR,
                              .due = rpc->due,
                              .started = now,
                              .sent = now,
                              .done = now,
                              .read_at = now};
    op_record_rpc(&load->record, &event);
    return false;
}

bool request_begin(struct request *request)
{
    request->state = REQUEST_ACTIVE;
    request->has_sent = false;
    request->is_good = true;
    request->n_in_flight = 0;
    memset(request->n_rpcs, 0, sizeof request->n_rpcs);
    request->step = 0;
    request->row = request->slot = request->to_slot = FILESET_NONE;
    request->is_truncation = request->has_verifier = request->verifier_changed = false;
    request->n_rounds = 0;
    request->n_entries = 0;
    int error = op_driver_of(request->op)->begin(request);
    if (error == -EAGAIN) {
        return false;
    }
    end_if_idle(request); /* when not even the first RPC could be sent */
    return true;
}
