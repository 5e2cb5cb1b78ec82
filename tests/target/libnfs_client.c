/* libnfs_client.c - the connection, and how a call is made. The calls: libnfs_nfs3.c, libnfs_mount.c. */
#include "libnfs_call.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void call_fatal(const char *what)
{
    fprintf(stderr, "libnfs client: %s\n", what);
    exit(3);
}

static void run_until_done(struct client *c)
{
    while (!c->is_done) {
        struct pollfd pfd = {.fd = rpc_get_fd(c->rpc), .events = (short)rpc_which_events(c->rpc)};
        if (poll(&pfd, 1, 20000) <= 0) {
            call_fatal("no reply for 20 s");
        }
        if (rpc_service(c->rpc, pfd.revents) < 0) {
            c->reply.rpc_error = true;
            c->is_done = true;
        }
    }
}

void call_on_reply(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct pending *p = private_data;
    p->c->is_done = true;
    if (status != RPC_STATUS_SUCCESS) {
        p->c->reply.rpc_error = true;
        return;
    }
    if (p->copy) {
        p->copy(p->c, data);
    } else {
        p->c->reply.status = 0;
    }
}

static void on_connected(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    (void)data;
    struct client *c = private_data;
    c->is_done = true;
    c->reply.rpc_error = status != RPC_STATUS_SUCCESS;
}

struct client *client_connect(const char *address, int port)
{
    struct client *c = calloc(1, sizeof *c);
    c->entries = calloc(MAX_ENTRIES, sizeof *c->entries);
    c->rpc = rpc_init_context();
    if (rpc_connect_async(c->rpc, address, port, on_connected, c) < 0) {
        call_fatal("cannot connect");
    }
    run_until_done(c);
    if (c->reply.rpc_error) {
        call_fatal("cannot connect");
    }
    client_be(c, 0, 0);
    return c;
}

void client_close(struct client *c)
{
    rpc_destroy_context(c->rpc);
    free(c->reply.data);
    free(c->entries);
    free(c);
}

void client_be(struct client *c, uint32_t uid, uint32_t gid)
{
    rpc_set_auth(c->rpc, libnfs_authunix_create("tester", uid, gid, 0, NULL));
}

struct pending call_start(struct client *c, copy_fn copy)
{
    free(c->reply.data);
    memset(&c->reply, 0, sizeof c->reply);
    c->reply.status = UINT32_MAX;
    c->is_done = false;
    return (struct pending){.c = c, .copy = copy};
}

uint32_t call_finish(struct client *c, int queued)
{
    if (queued != 0) {
        call_fatal("the call was not queued");
    }
    run_until_done(c);
    return c->reply.status;
}
