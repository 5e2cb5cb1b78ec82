/* contestant_bare.c - libnfs as its own examples use it: raw asynchronous calls and poll(), nothing of ours. */
#include "bench.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <sys/time.h>
#include <sys/uio.h>

#include <nfsc/libnfs.h>

#include <nfsc/libnfs-raw.h>

#include <nfsc/libnfs-raw-nfs.h>

#ifdef LIBNFS_API_V2
#define QUEUE(procedure, args) (rpc_nfs3_##procedure##_task(b->rpc, on_reply, args, b) != NULL)
#else
#define QUEUE(procedure, args) (rpc_nfs3_##procedure##_async(b->rpc, on_reply, args, b) == 0)
#endif

struct bare {
    struct rpc_context *rpc;
    const struct bench_server *server;
    struct bench_case c;
    bool is_connected, is_over;
    uint64_t n_ops, offset;
    uint32_t n_in_flight;
    mono_t end;
    char *data;
};

static void on_reply(struct rpc_context *rpc, int status, void *data, void *private_data);

static nfs_fh3 fh_of(const struct nfs3_fh *fh)
{
    nfs_fh3 out = {.data = {.data_len = fh->len, .data_val = (char *)(uintptr_t)fh->data}};
    return out;
}

static void send_next(struct bare *b)
{
    bool is_queued = false;
    b->offset = b->offset + 2 * b->c.bytes <= BENCH_FILE_BYTES ? b->offset + b->c.bytes : 0;
    if (b->c.op == NFS_OP_GETATTR) {
        GETATTR3args args = {.object = fh_of(&b->server->root)};
        is_queued = QUEUE(getattr, &args);
    } else if (b->c.op == NFS_OP_LOOKUP) {
        char name[] = BENCH_FILE;
        LOOKUP3args args = {.what = {.dir = fh_of(&b->server->root), .name = name}};
        is_queued = QUEUE(lookup, &args);
    } else if (b->c.op == NFS_OP_READ) {
        READ3args args = {.file = fh_of(&b->server->file), .offset = b->offset, .count = b->c.bytes};
#ifdef LIBNFS_API_V2
        is_queued = rpc_nfs3_read_task(b->rpc, on_reply, b->data, b->c.bytes, &args, b) != NULL;
#else
        is_queued = QUEUE(read, &args);
#endif
    } else {
        WRITE3args args = {.file = fh_of(&b->server->file),
                           .offset = b->offset,
                           .count = b->c.bytes,
                           .data = {.data_len = b->c.bytes, .data_val = b->data}};
        is_queued = QUEUE(write, &args);
    }
    if (!is_queued)
        bench_die("bare libnfs: %s", rpc_get_error(b->rpc));
}

static void on_reply(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    struct bare *b = private_data;
    if (status == RPC_STATUS_CANCEL)
        return;
    /* Every result begins with its status. */
    if (status != RPC_STATUS_SUCCESS || *(nfsstat3 *)data != NFS3_OK)
        bench_die("bare libnfs: %s", rpc_get_error(rpc));
    b->n_ops++;
    /* One look at the clock per reply, as the engines do. */
    if (!b->is_over && !mono_before(mono_now(), b->end))
        b->is_over = true;
    if (b->is_over)
        b->n_in_flight--;
    else
        send_next(b);
}

static void turn(struct bare *b)
{
    struct pollfd pfd = {.fd = rpc_get_fd(b->rpc), .events = (short)rpc_which_events(b->rpc)};
    if (poll(&pfd, 1, 10000) != 1 || rpc_service(b->rpc, pfd.revents) < 0)
        bench_die("bare libnfs: %s", rpc_get_error(b->rpc));
}

static void on_connected(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    struct bare *b = private_data;
    (void)rpc, (void)data;
    if (status != RPC_STATUS_SUCCESS)
        bench_die("bare libnfs cannot connect");
    b->is_connected = true;
}

static void *open_bare(const struct bench_server *server)
{
    struct bare *b = calloc(1, sizeof *b);
    b->server = server;
    b->data = calloc(1, NFS3_TRANSFER_MAX);
    b->rpc = rpc_init_context();
    if (rpc_connect_async(b->rpc, server->address, server->port, on_connected, b) != 0)
        bench_die("bare libnfs cannot connect");
    while (!b->is_connected)
        turn(b);
    return b;
}

static void run_bare(void *self, const struct bench_case *c, int64_t run_ns, struct bench_sample *out)
{
    struct bare *b = self;
    int64_t cpu = bench_cpu_ns();
    mono_t started = mono_now();
    b->c = *c;
    b->n_ops = b->offset = 0;
    b->is_over = false;
    b->end = mono_plus_ns(started, run_ns);
    b->n_in_flight = c->window;
    for (uint32_t i = 0; i < c->window; i++)
        send_next(b);
    while (b->n_in_flight > 0)
        turn(b);
    *out = (struct bench_sample){b->n_ops, mono_since_ns(mono_now(), started), bench_cpu_ns() - cpu};
}

static void close_bare(void *self)
{
    struct bare *b = self;
    rpc_destroy_context(b->rpc);
    free(b->data);
    free(b);
}

const struct contestant contestant_bare = {"bare_libnfs", open_bare, run_bare, close_bare};
