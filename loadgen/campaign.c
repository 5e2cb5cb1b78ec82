/* campaign.c - see campaign.h. */
#include "campaign.h"

#include "clock.h"
#include "config.h"
#include "target_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void campaign_destroy(struct campaign *c)
{
    if (!c) {
        return;
    }
    for (uint32_t i = 0; c->targets && i < c->n_targets; i++) {
        free(c->targets[i].server);
        free(c->targets[i].export_path);
    }
    if (c->has_workload) {
        workload_fini(&c->workload);
    }
    free(c->name);
    free(c->prime_host);
    free(c->source_address);
    free(c->machine_name);
    free(c->targets);
    free(c->process_targets);
    free(c->layouts);
    free(c->setups);
    free(c);
}

static int copy_targets(const struct target_filter *filter, struct campaign *c, const struct daemon_config *config,
                        char *message, size_t cap)
{
    char address[256];
    int error;

    c->targets = calloc(config->n_targets, sizeof(c->targets[0]));
    if (!c->targets) {
        return -ENOMEM;
    }
    c->n_targets = config->n_targets;
    for (uint32_t i = 0; i < config->n_targets; i++) {
        const struct daemon_target *t = &config->targets[i];
        error = target_filter_resolve(filter, t->server, address, sizeof(address), message, cap);
        if (error) {
            return error;
        }
        c->targets[i].server = strdup(address);
        c->targets[i].export_path = strdup(t->export_path);
        c->targets[i].nfs_port = t->nfs_port;
        c->targets[i].mount_port = t->mount_port;
        if (!c->targets[i].server || !c->targets[i].export_path) {
            return -ENOMEM;
        }
    }
    return 0;
}

static int read_workload(struct campaign *c, const char *text, char *message, size_t cap)
{
    struct config_errors errors;

    config_errors_init(&errors);
    int error = workload_from_text(text, &c->workload, &errors);
    c->has_workload = !error;
    if (error) {
        snprintf(message, cap, "the workload cannot be read: %s", errors.n ? errors.messages[0] : strerror(-error));
    }
    config_errors_fini(&errors);
    return error;
}

static int fill_setups(struct campaign *c, const struct daemon_config *config, char *message, size_t cap)
{
    bool is_native = strcmp(config->engine, "native") == 0;

    if (!is_native && strcmp(config->engine, "libnfs") != 0) {
        snprintf(message, cap, "engine \"%s\" is unknown; expected native or libnfs", config->engine);
        return -EINVAL;
    }
    c->setups = calloc(config->n_processes, sizeof(c->setups[0]));
    c->layouts = calloc(config->n_processes, sizeof(c->layouts[0]));
    c->process_targets = calloc(config->n_processes, sizeof(c->process_targets[0]));
    if (!c->setups || !c->layouts || !c->process_targets) {
        return -ENOMEM;
    }
    c->n_processes = config->n_processes;
    for (uint32_t i = 0; i < config->n_processes; i++) {
        uint32_t t = config->process_targets[i];
        if (t >= c->n_targets) {
            snprintf(message, cap, "process %u: target %u of %u does not exist", i, t, c->n_targets);
            return -EINVAL;
        }
        c->process_targets[i] = t;
        c->setups[i].workload = &c->workload;
        c->setups[i].client = (struct nfs3_client_options){
            .engine = is_native ? NFS3_ENGINE_NATIVE : NFS3_ENGINE_LIBNFS,
            .server = c->targets[t].server,
            .export_path = c->targets[t].export_path,
            .nfs_port = c->targets[t].nfs_port,
            .mount_port = c->targets[t].mount_port,
            .source_address = c->source_address[0] ? c->source_address : NULL,
            .reserved_port = config->reserved_port,
            .n_connections = config->n_connections,
            .timeout_ns = config->timeout_ns,
            .uid = config->uid,
            .gid = config->gid,
            .n_gids = config->n_gids,
            .machine_name = c->machine_name,
        };
        memcpy(c->setups[i].client.gids, config->gids, sizeof(config->gids));
    }
    return 0;
}

int campaign_create(const struct target_filter *filter, const struct daemon_config *config, struct campaign **out,
                    char *message, size_t cap)
{
    struct campaign *c = calloc(1, sizeof(*c));
    char host[256] = "loadgen";
    int error = -ENOMEM;

    snprintf(message, cap, "out of memory");
    if (!c) {
        return error;
    }
    gethostname(host, sizeof(host) - 1);
    c->name = strdup(config->campaign);
    c->prime_host = strdup(config->prime_host);
    c->source_address = strdup(config->source_address);
    c->machine_name = strdup(config->machine_name[0] ? config->machine_name : host);
    if (!c->name || !c->prime_host || !c->source_address || !c->machine_name) {
        goto out;
    }
    error = -EINVAL;
    if (config->n_processes == 0 || config->n_targets == 0 || config->n_connections == 0 ||
        config->n_connections > 64 || config->n_gids > 16 || config->timeout_ns < NS_PER_MS ||
        config->timeout_ns > 3600 * NS_PER_S) {
        snprintf(message, cap, "the configuration has no processes, no targets, or options out of range");
        goto out;
    }
    error = read_workload(c, config->workload_json, message, cap);
    if (!error) {
        error = copy_targets(filter, c, config, message, cap);
    }
    if (!error) {
        error = fill_setups(c, config, message, cap);
    }
out:
    if (error) {
        campaign_destroy(c);
        return error;
    }
    *out = c;
    return 0;
}
