/* cmd_hosts.c - nfscurve hosts: asks every load generator of a campaign who it is, and whether it is free. */
#include "campaign_args.h"
#include "campaign_config.h"
#include "campaign_layout.h"
#include "commands.h"
#include "exit_status.h"
#include "host_survey.h"
#include "key_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ASK_FOR_NS (5 * NS_PER_S)

static void print_finding(const struct cluster_host *host, const struct host_finding *f)
{
    const struct loadgen_facts *facts = &f->facts;

    printf("%-12s %s:%u", host->name, host->host, host->port);
    if (f->error) {
        printf("  NOT USABLE: %s\n", f->message);
        return;
    }
    /* "+ 0.0": a clock that agrees is not "-0.0" ms off */
    double skew_ms = round((double)facts->clock_skew_ns / 1e5) / 10 + 0.0;
    printf("  %s, nfscurve %s, round trip %.0f us, clock %+.1f ms\n", facts->hostname, facts->version,
           (double)facts->rtt_ns / 1e3, skew_ms);
    printf("%12s %u x %s, %.1f GiB, %s\n", "", facts->n_cpus, facts->cpu_model, (double)facts->memory_bytes / (1 << 30),
           facts->os);
    if (facts->addresses[0]) {
        printf("%12s addresses: %s\n", "", facts->addresses);
    }
    if (f->held_by_campaign[0]) {
        printf("%12s held by campaign %s from %s\n", "", f->held_by_campaign, f->held_by_host);
    }
}

/* Exit status: 0 when every load generator could take the campaign now. */
static int survey(const struct campaign_config *config, const uint8_t *key)
{
    struct cluster_host *hosts = calloc(config->n_loadgens + 1, sizeof *hosts);
    struct host_finding *findings = calloc(config->n_loadgens + 1, sizeof *findings);
    int status = EXIT_STATUS_VALID;
    uint32_t n = 0;

    for (size_t i = 0; hosts && i < config->n_loadgens; i++) {
        const struct campaign_loadgen *g = &config->loadgens[i];
        if (g->is_local) {
            printf("%-12s local: the prime starts it\n", g->name);
        } else {
            hosts[n++] = (struct cluster_host){g->name, g->host, (uint16_t)g->port};
        }
    }
    if (!hosts || !findings || host_survey_run(hosts, n, key, ASK_FOR_NS, findings) != 0) {
        fprintf(stderr, "nfscurve hosts: out of memory\n");
        status = EXIT_STATUS_COULD_NOT_RUN;
        n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        print_finding(&hosts[i], &findings[i]);
        if (findings[i].error || findings[i].held_by_campaign[0]) {
            status = EXIT_STATUS_COULD_NOT_RUN;
        }
    }
    free(hosts);
    free(findings);
    return status;
}

int cmd_hosts(int argc, char **argv)
{
    struct campaign_args args;
    int status = campaign_args_parse(argc, argv, "s", &args);
    if (status != 0) {
        return status < 0 ? EXIT_STATUS_VALID : status;
    }

    struct campaign_config config;
    struct campaign_layout *layouts;
    uint8_t key[SEAL_KEY_BYTES];
    char message[512];
    status = campaign_args_load(&args, &config, &layouts);
    bool has_key = status == 0 && config.key_file[0] != 0;
    if (has_key && key_file_load(config.key_file, key, message, sizeof message) != 0) {
        fprintf(stderr, "nfscurve hosts: %s\n", message);
        status = EXIT_STATUS_USAGE;
    }
    if (status == 0 && seal_library_init() != 0) {
        fprintf(stderr, "nfscurve hosts: libsodium finds no randomness on this host\n");
        status = EXIT_STATUS_COULD_NOT_RUN;
    }
    if (status == 0) {
        status = survey(&config, has_key ? key : NULL);
    }
    campaign_args_free_layouts(layouts, config.n_loads);
    campaign_config_fini(&config);
    return status;
}
