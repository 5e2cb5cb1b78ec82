/* campaign.h - what the processes of a campaign are forked with: a copy of its configuration that outlives them. */
#ifndef NFSCURVE_LOADGEN_CAMPAIGN_H
#define NFSCURVE_LOADGEN_CAMPAIGN_H

#include "daemon.h"
#include "workload.h"

struct campaign {
    char *name, *prime_host, *source_address, *machine_name;
    struct workload workload;
    bool has_workload;
    uint32_t n_targets;
    struct {
        char *server, *export_path;
        uint16_t nfs_port, mount_port;
    } * targets;
    uint32_t n_processes;
    uint32_t *process_targets;
    struct process_layout *layouts;
    struct process_setup *setups;
};

/* 0 and *out, or an errno of daemon.h with the reason in message. Target names are looked up here when there is a
 * filter. */
int campaign_create(const struct target_filter *filter, const struct daemon_config *config, struct campaign **out,
                    char *message, size_t cap);
void campaign_destroy(struct campaign *c);

#endif
