/* nfs3_client.c - the engine-neutral front of nfs3_client.h: mount first, then connections, then calls spread over
 * them.
 *
 *   create ──mount_client──> root handle, NFS port ──nfs3_link x n_connections──> on_ready
 *   nfs3_send ──round robin over the links that are up──> nfs3_link ──> engine
 */
#include "nfs3_client.h"

#include "mount_client.h"
#include "nfs3_encode.h"
#include "nfs3_link.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SPARE_DESCRIPTORS 256 /* for everything else in the process */
#define MOUNT_TIMEOUT_NS  (10 * NS_PER_S)

struct nfs3_client {
    struct event_base *base; /* (ref) */
    struct nfs3_client_options options;
    char *server, *export_path, *source_address, *machine_name; /* what options points to */
    nfs3_ready_cb on_ready;
    void *arg;
    struct mount_client *mount;
    struct nfs3_fh root;
    struct nfs3_link_config config;
    struct nfs3_link **links;
    uint32_t n_links, n_up, next_link;
    struct nfs3_client_counters counters;
    struct event *ready_event; /* on_ready may destroy nothing, but it must come from the loop */
    bool is_ready_told, is_closing;
    int ready_error;
    char ready_message[1024];
};

static void tell_ready(struct nfs3_client *c, int error, const char *message)
{
    if (c->is_ready_told)
        return;
    c->is_ready_told = true;
    c->ready_error = error;
    snprintf(c->ready_message, sizeof c->ready_message, "%s", message);
    event_active(c->ready_event, EV_TIMEOUT, 0);
}

static void on_ready_event(evutil_socket_t fd, short what, void *arg)
{
    struct nfs3_client *c = arg;
    (void)fd, (void)what;
    c->on_ready(c, c->ready_error, c->ready_message, c->arg);
}

static void on_link(struct nfs3_link *link, int error, const char *message, void *arg)
{
    struct nfs3_client *c = arg;
    (void)link;
    if (error) {
        char why[1024];
        snprintf(why, sizeof why, "NFS at %s:%s: %s", c->server, c->export_path, message);
        tell_ready(c, error, why);
    } else if (++c->n_up == c->n_links) {
        tell_ready(c, 0, "");
    }
}

static void on_mounted(int error, const char *message, const struct nfs3_fh *root, uint16_t nfs_port, void *arg)
{
    struct nfs3_client *c = arg;
    c->mount = NULL;
    if (error) {
        tell_ready(c, error, message);
        return;
    }
    c->root = *root;
    c->config.connect.port = nfs_port;
    for (uint32_t i = 0; i < c->n_links; i++) {
        c->links[i] = nfs3_link_create(&c->config, on_link, c);
        if (!c->links[i]) {
            tell_ready(c, -ENOMEM, "out of memory");
            return;
        }
    }
}

/* The usual soft limit of 1024 descriptors is less than some ask for in connections. When the hard limit is less too,
 * the connections beyond it say so. */
static void allow_descriptors(uint32_t n)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)n + SPARE_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static struct mount_options mount_options_of(const struct nfs3_client *c)
{
    return (struct mount_options){.connect = c->config.connect,
                                  .auth = c->config.auth,
                                  .export_path = c->export_path,
                                  .nfs_port = c->options.nfs_port,
                                  .mount_port = c->options.mount_port};
}

static int start_mount(struct nfs3_client *c)
{
    const struct nfs3_client_options *o = &c->options;
    c->config = (struct nfs3_link_config){
        .base = c->base,
        .transport = o->engine == NFS3_ENGINE_LIBNFS ? &nfs3_libnfs_transport : &nfs3_native_transport,
        .connect = {.host = c->server,
                    .source_address = c->source_address,
                    .reserved_port = o->reserved_port,
                    .timeout_ns = o->timeout_ns < MOUNT_TIMEOUT_NS ? o->timeout_ns : MOUNT_TIMEOUT_NS,
                    .user_timeout_ns = o->timeout_ns},
        .auth = {.machine_name = c->machine_name, .uid = o->uid, .gid = o->gid, .n_gids = o->n_gids},
        .timeout_ns = o->timeout_ns,
        .counters = &c->counters};
    memcpy(c->config.auth.gids, o->gids, sizeof o->gids);
    struct mount_options mount = mount_options_of(c);
    c->mount = mount_client_start(c->base, &mount, on_mounted, c);
    return c->mount ? 0 : -ENOMEM;
}

static void free_client(struct nfs3_client *c)
{
    c->is_closing = true;
    if (c->mount)
        mount_client_cancel(c->mount);
    for (uint32_t i = 0; c->links && i < c->n_links; i++)
        nfs3_link_destroy(c->links[i]);
    if (c->ready_event)
        event_free(c->ready_event);
    free(c->links);
    free(c->server);
    free(c->export_path);
    free(c->source_address);
    free(c->machine_name);
    free(c);
}

struct nfs3_client *nfs3_client_create(struct event_base *base, const struct nfs3_client_options *options,
                                       nfs3_ready_cb on_ready, void *arg)
{
    assert(options->n_connections >= 1 && options->timeout_ns > 0 && options->n_gids <= 16);
    struct nfs3_client *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->base = base;
    c->options = *options;
    c->on_ready = on_ready;
    c->arg = arg;
    c->n_links = options->n_connections;
    allow_descriptors(c->n_links);
    c->links = calloc(c->n_links, sizeof *c->links);
    c->server = strdup(options->server);
    c->export_path = strdup(options->export_path);
    c->source_address = options->source_address ? strdup(options->source_address) : NULL;
    c->machine_name = strdup(options->machine_name ? options->machine_name : "nfscurve");
    c->ready_event = event_new(base, -1, 0, on_ready_event, c);
    bool is_copied = c->links && c->server && c->export_path && c->machine_name && c->ready_event &&
                     (c->source_address || !options->source_address);
    if (is_copied && start_mount(c) == 0)
        return c;
    free_client(c);
    return NULL;
}

void nfs3_client_destroy(struct nfs3_client *client)
{
    if (client)
        free_client(client);
}

void nfs3_client_unmount(struct nfs3_client *client, int64_t within_ns)
{
    struct mount_options mount = mount_options_of(client);
    if (client->root.len > 0)
        mount_client_unmount(&mount, within_ns);
}

const struct nfs3_fh *nfs3_client_root(const struct nfs3_client *client)
{
    return &client->root;
}

int nfs3_send(struct nfs3_client *client, struct nfs3_call *call)
{
    if (client->is_closing || !client->is_ready_told || client->ready_error)
        return -ENOTCONN;
    int error = nfs3_call_check(call);
    if (error)
        return error;
    /* The next link that is up; when none is, the next one anyway: the call waits there. */
    struct nfs3_link *link = client->links[client->next_link];
    for (uint32_t i = 0; i < client->n_links; i++) {
        struct nfs3_link *candidate = client->links[client->next_link];
        client->next_link = client->next_link + 1 < client->n_links ? client->next_link + 1 : 0;
        if (nfs3_link_is_up(candidate)) {
            link = candidate;
            break;
        }
    }
    return nfs3_link_send(link, call);
}

void nfs3_client_counters(const struct nfs3_client *client, struct nfs3_client_counters *out)
{
    for (uint32_t i = 0; i < client->n_links; i++) {
        if (client->links[i])
            nfs3_link_count_bytes(client->links[i]);
    }
    *out = client->counters;
}
