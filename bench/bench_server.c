/* bench_server.c - starts the servers, or finds one, and makes the file to work on. */
#include "bench.h"
#include "target_process.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void start_target(struct bench_server *server, int cpu)
{
    static const char *const arguments[] = {"--data", "synth", NULL};
    struct target_process target;
    target_process_start(&target, NULL, arguments, cpu);
    server->pid = target.pid;
    server->port = target.port;
    snprintf(server->address, sizeof server->address, "127.0.0.1");
    snprintf(server->export_path, sizeof server->export_path, "%s", target.export_path);
}

/* ---- the file ---- */

struct maker {
    struct event_base *base;
    struct nfs3_client *client;
    struct bench_server *server;
};

static void on_made(struct nfs3_call *call, const struct nfs3_reply *reply)
{
    struct maker *m = call->owner;
    if (reply->result != NFS3_CALL_OK || reply->status || (call->op == NFS_OP_CREATE && !reply->fh))
        bench_die("cannot make %s: %s, status %u", BENCH_FILE, reply->message ? reply->message : "ok", reply->status);
    if (call->op == NFS_OP_CREATE)
        m->server->file = *reply->fh;
    event_base_loopbreak(m->base);
}

static void on_ready(struct nfs3_client *client, int error, const char *message, void *arg)
{
    struct maker *m = arg;
    if (error)
        bench_die("%s", message);
    m->server->root = *nfs3_client_root(client);
    event_base_loopbreak(m->base);
}

static void make_file(struct bench_server *server)
{
    struct maker m = {.base = event_base_new(), .server = server};
    struct nfs3_client_options options = {.server = server->address,
                                          .export_path = server->export_path,
                                          .nfs_port = server->port,
                                          .mount_port = server->port,
                                          .n_connections = 1,
                                          .timeout_ns = 10 * NS_PER_S,
                                          .machine_name = "bench"};
    m.client = nfs3_client_create(m.base, &options, on_ready, &m);
    event_base_dispatch(m.base);
    struct nfs3_set set = {.has_mode = true, .mode = 0644, .has_size = true, .size = BENCH_FILE_BYTES};
    struct nfs3_call create = {.op = NFS_OP_CREATE,
                               .fh = &server->root,
                               .name = BENCH_FILE,
                               .create = {.how = NFS3_CREATE_UNCHECKED, .set = set},
                               .on_done = on_made,
                               .owner = &m};
    if (nfs3_send(m.client, &create))
        bench_die("cannot make %s", BENCH_FILE);
    event_base_dispatch(m.base);
    /* A size given to CREATE may be ignored for a file that exists. */
    struct nfs3_call size = {
        .op = NFS_OP_SETATTR, .fh = &server->file, .setattr = {.set = set}, .on_done = on_made, .owner = &m};
    if (nfs3_send(m.client, &size))
        bench_die("cannot size %s", BENCH_FILE);
    event_base_dispatch(m.base);
    nfs3_client_destroy(m.client);
    event_base_free(m.base);
}

static void find_server(struct bench_server *server, const char *text)
{
    const char *colon = strchr(text, ':');
    char *rest;
    size_t n = (size_t)(colon - text);
    if (n >= sizeof server->address)
        bench_die("--server wants ADDRESS:PORT/EXPORT");
    memcpy(server->address, text, n);
    server->port = (uint16_t)strtoul(colon + 1, &rest, 10);
    if (!server->port || *rest != '/')
        bench_die("--server wants ADDRESS:PORT/EXPORT");
    snprintf(server->export_path, sizeof server->export_path, "%s", rest);
}

static void start_canned(struct bench_server *server, int cpu)
{
    server->pid = canned_start(cpu, &server->port);
    if (server->pid < 0)
        bench_die("canned: %s", strerror(-server->pid));
    snprintf(server->address, sizeof server->address, "127.0.0.1");
    snprintf(server->export_path, sizeof server->export_path, "/export");
}

unsigned bench_begin(const struct bench_options *options, struct bench_server servers[static BENCH_MAX_SERVERS])
{
    unsigned n = 0;
    signal(SIGPIPE, SIG_IGN);
    memset(servers, 0, BENCH_MAX_SERVERS * sizeof *servers);
    if (options->address) {
        servers[n].name = options->address;
        find_server(&servers[n++], options->address);
    }
    if (options->servers & BENCH_TARGET) {
        servers[n].name = BENCH_TARGET_NAME;
        start_target(&servers[n++], options->server_cpu);
    }
    if (options->servers & BENCH_CANNED) {
        servers[n].name = BENCH_CANNED_NAME;
        start_canned(&servers[n++], options->server_cpu);
    }
    bench_pin(options->client_cpu);
    for (unsigned i = 0; i < n; i++)
        make_file(&servers[i]);
    return n;
}

void bench_end(struct bench_server *server)
{
    if (server->pid <= 0)
        return;
    kill(server->pid, SIGTERM);
    waitpid(server->pid, NULL, 0);
}
