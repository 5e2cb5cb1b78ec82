/* contestant_engine.c - the product's engines, through nfs3_client.h as a load-generating process uses them. */
#include "bench.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

struct engine {
    struct event_base *base;
    struct nfs3_client *client;
    const struct bench_server *server;
    struct nfs3_call calls[BENCH_MAX_WINDOW];
    mono_t end;
    uint64_t n_ops;
    uint32_t n_in_flight;
    uint64_t offset;
    uint32_t bytes;
    int ready_error;
    uint8_t *data;
};

static void on_ready(struct nfs3_client *client, int error, const char *message, void *arg)
{
    struct engine *e = arg;
    (void)client;
    e->ready_error = error;
    if (error)
        bench_die("%s", message);
    event_base_loopbreak(e->base);
}

static void *open_engine(const struct bench_server *server, enum nfs3_engine_kind kind)
{
    struct engine *e = calloc(1, sizeof *e);
    struct nfs3_client_options options = {.engine = kind,
                                          .server = server->address,
                                          .export_path = server->export_path,
                                          .nfs_port = server->port,
                                          .mount_port = server->port,
                                          .n_connections = 1,
                                          .timeout_ns = 60 * NS_PER_S,
                                          .machine_name = "bench"};
    e->base = event_base_new(); /* as in loadgen/process.c */
    e->server = server;
    e->data = calloc(1, NFS3_TRANSFER_MAX);
    e->client = nfs3_client_create(e->base, &options, on_ready, e);
    event_base_dispatch(e->base);
    return e;
}

static void *open_native(const struct bench_server *server)
{
    return open_engine(server, NFS3_ENGINE_NATIVE);
}

static void *open_libnfs(const struct bench_server *server)
{
    return open_engine(server, NFS3_ENGINE_LIBNFS);
}

static void send_call(struct engine *e, struct nfs3_call *call)
{
    if (call->op == NFS_OP_READ || call->op == NFS_OP_WRITE) {
        e->offset = e->offset + 2 * e->bytes <= BENCH_FILE_BYTES ? e->offset + e->bytes : 0;
        if (call->op == NFS_OP_READ)
            call->read.offset = e->offset;
        else
            call->write.offset = e->offset;
    }
    if (nfs3_send(e->client, call) != 0)
        bench_die("nfs3_send failed");
}

static void on_done(struct nfs3_call *call, const struct nfs3_reply *reply)
{
    struct engine *e = call->owner;
    if (reply->result != NFS3_CALL_OK || reply->status)
        bench_die("%s: %s, status %u", nfs_op_name(call->op), reply->message ? reply->message : "ok", reply->status);
    if (call->op == NFS_OP_READ && reply->read.count != e->bytes)
        bench_die("READ of %u bytes gave %u", e->bytes, reply->read.count);
    e->n_ops++;
    if (mono_before(call->done, e->end))
        send_call(e, call);
    else if (--e->n_in_flight == 0)
        event_base_loopbreak(e->base);
}

static void run_engine(void *self, const struct bench_case *c, int64_t run_ns, struct bench_sample *out)
{
    struct engine *e = self;
    int64_t cpu = bench_cpu_ns();
    mono_t started = mono_now();
    e->n_ops = e->offset = 0;
    e->bytes = c->bytes;
    e->end = mono_plus_ns(started, run_ns);
    e->n_in_flight = c->window;
    for (uint32_t i = 0; i < c->window; i++) {
        struct nfs3_call *call = &e->calls[i];
        bool is_root = c->op == NFS_OP_LOOKUP || c->op == NFS_OP_GETATTR;
        *call = (struct nfs3_call){.op = c->op,
                                   .fh = is_root ? &e->server->root : &e->server->file,
                                   .name = BENCH_FILE,
                                   .on_done = on_done,
                                   .owner = e};
        if (c->op == NFS_OP_READ)
            call->read.count = c->bytes;
        if (c->op == NFS_OP_WRITE) {
            call->write.count = c->bytes;
            call->write.data = e->data;
        }
        send_call(e, call);
    }
    event_base_dispatch(e->base);
    *out = (struct bench_sample){e->n_ops, mono_since_ns(mono_now(), started), bench_cpu_ns() - cpu};
}

static void close_engine(void *self)
{
    struct engine *e = self;
    nfs3_client_destroy(e->client);
    event_base_free(e->base);
    free(e->data);
    free(e);
}

const struct contestant contestant_native = {"native", open_native, run_engine, close_engine};
const struct contestant contestant_libnfs = {"libnfs_engine", open_libnfs, run_engine, close_engine};
