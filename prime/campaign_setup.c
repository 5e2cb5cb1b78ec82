/* campaign_setup.c - from nothing to load generators that are ready: launch, connect, configure, validate. */
#include "campaign_internal.h"

#include "campaign_config.h"
#include "campaign_layout.h"
#include "cluster.h"
#include "key_file.h"
#include "launcher.h"
#include "local_latency.h"
#include "log.h"
#include "run_dir.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin_connect(struct campaign *c);

static int add_local_target(struct campaign *c, const struct campaign_target *t)
{
    const char **argv = calloc(t->local.n_args + 16, sizeof *argv);
    if (argv == NULL) {
        return -ENOMEM;
    }
    size_t n = 0;
    const char *const fixed[] = {"--listen", "127.0.0.1",          "--port", "0",
                                 "--export", t->local.export_path, "--data", t->local.data};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        argv[n++] = fixed[i];
    }
    char *latency = t->local.latency[0] != '\0' ? text_format("--latency=%s", t->local.latency) : NULL;
    char *control_file = local_latency_is_switched(&t->local) ? campaign_control_file(c, t) : NULL;
    char *answer_file = control_file != NULL ? local_latency_answer_file(control_file) : NULL;
    if (latency != NULL) {
        argv[n++] = latency;
    }
    if (control_file != NULL) {
        argv[n++] = "--control-file";
        argv[n++] = control_file;
    }
    if (answer_file != NULL) {
        argv[n++] = "--control-answer";
        argv[n++] = answer_file;
    }
    for (size_t i = 0; i < t->local.n_args; i++) {
        argv[n++] = t->local.args[i];
    }
    char *name = text_format("target-%s", t->name);
    int child = name != NULL ? launcher_add(c->launcher, name, "nfscurve-target", argv, n) : -ENOMEM;
    free(name);
    free(answer_file);
    free(control_file);
    free(latency);
    free(argv);
    return child;
}

static int add_local_loadgen(struct campaign *c, const struct campaign_loadgen *lg)
{
    const char *argv[] = {"--listen", "127.0.0.1:0", "--key-file", c->config->key_file};
    char *name = text_format("loadgen-%s", lg->name);
    int child = name != NULL ? launcher_add(c->launcher, name, "nfscurve-loadgen", argv, c->config->key_file[0] ? 4 : 2)
                             : -ENOMEM;
    free(name);
    return child;
}

void campaign_begin_launch(struct campaign *c)
{
    const struct campaign_config *config = c->config;
    int rc = 0;
    c->state = CAMPAIGN_LAUNCHING;
    for (size_t i = 0; i < config->n_targets; i++) {
        c->target_children[i] = -1;
    }
    if (!campaign_write_local_latency(c, false)) {
        return;
    }
    for (size_t i = 0; i < config->n_targets && rc >= 0; i++) {
        c->target_children[i] = config->targets[i].is_local ? (rc = add_local_target(c, &config->targets[i])) : -1;
    }
    for (size_t i = 0; i < config->n_loadgens && rc >= 0; i++) {
        c->loadgen_children[i] = config->loadgens[i].is_local ? (rc = add_local_loadgen(c, &config->loadgens[i])) : -1;
    }
    if (rc < 0) {
        campaign_fail(c, EXIT_STATUS_COULD_NOT_RUN, "out of memory");
        return;
    }
    progress_phase(&c->progress, "launch", mono_now());
    launcher_start(c->launcher);
}

void campaign_on_launched(struct launcher *launcher, int error, const char *message, void *arg)
{
    (void)launcher;
    struct campaign *c = arg;
    if (c->state != CAMPAIGN_LAUNCHING) {
        return;
    }
    if (error != 0) {
        campaign_fail(c, EXIT_STATUS_COULD_NOT_RUN, message);
    } else {
        begin_connect(c);
    }
}

static struct cluster *make_cluster(struct campaign *c, const uint8_t *key)
{
    const struct cluster_events events = {
        .on_step = campaign_on_step, .on_progress = campaign_on_progress, .on_lost = campaign_on_lost};
    struct cluster_host *hosts = calloc(c->config->n_loadgens, sizeof *hosts);
    if (hosts == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < c->config->n_loadgens; i++) {
        const struct campaign_loadgen *lg = &c->config->loadgens[i];
        const struct launched *child = launcher_child(c->launcher, c->loadgen_children[i]);
        hosts[i].name = lg->name;
        hosts[i].host = child != NULL ? child->address : lg->host;
        hosts[i].port = child != NULL ? child->port : (uint16_t)lg->port;
    }
    struct cluster *cluster = cluster_create(c->base, hosts, (uint32_t)c->config->n_loadgens, key, &events, c);
    free(hosts);
    return cluster;
}

static void begin_connect(struct campaign *c)
{
    uint8_t key[SEAL_KEY_BYTES];
    char message[512];
    bool has_key = c->config->key_file[0] != '\0';
    if (has_key && key_file_load(c->config->key_file, key, message, sizeof message) != 0) {
        campaign_fail(c, EXIT_STATUS_USAGE, message);
        return;
    }
    c->cluster = make_cluster(c, has_key ? key : NULL);
    if (c->cluster == NULL) {
        campaign_fail(c, EXIT_STATUS_COULD_NOT_RUN, "out of memory");
        return;
    }
    c->state = CAMPAIGN_CONNECTING;
    progress_phase(&c->progress, "connect", mono_now());
    c->is_step_running = true;
    cluster_connect(c->cluster);
}

static void fill_targets(const struct campaign *c, struct cluster_target *targets)
{
    for (size_t i = 0; i < c->config->n_targets; i++) {
        const struct campaign_target *t = &c->config->targets[i];
        const struct launched *child = launcher_child(c->launcher, c->target_children[i]);
        targets[i].name = t->name;
        targets[i].server = child != NULL ? child->address : t->server;
        targets[i].export_path = t->export_path;
        targets[i].nfs_port = child != NULL ? child->port : (uint16_t)t->nfs_port;
        targets[i].mount_port = child != NULL ? child->port : (uint16_t)t->mount_port;
    }
}

static void fill_process_targets(const struct campaign *c, uint32_t *out)
{
    uint32_t n_processes = (uint32_t)c->config->processes_per_loadgen;
    for (uint32_t g = 0; g < (uint32_t)c->config->n_loadgens; g++) {
        for (uint32_t p = 0; p < n_processes; p++) {
            out[g * n_processes + p] = campaign_process_target(c->config, g, p);
        }
    }
}

void campaign_begin_configure(struct campaign *c)
{
    const struct campaign_config *config = c->config;
    size_t n = config->n_loadgens * (size_t)config->processes_per_loadgen;
    struct cluster_target *targets = calloc(config->n_targets, sizeof *targets);
    uint32_t *process_targets = calloc(n, sizeof *process_targets);
    const char **sources = calloc(config->n_loadgens, sizeof *sources);
    json_t *workload = workload_dump(&config->workload);
    char *workload_json = json_dumps(workload, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (targets == NULL || process_targets == NULL || sources == NULL || workload_json == NULL) {
        campaign_fail(c, EXIT_STATUS_COULD_NOT_RUN, "out of memory");
        goto out;
    }
    fill_targets(c, targets);
    fill_process_targets(c, process_targets);
    for (size_t g = 0; g < config->n_loadgens; g++) {
        sources[g] = config->loadgens[g].source_address[0] ? config->loadgens[g].source_address : NULL;
    }

    struct cluster_config cluster_config = {.campaign_name = config->name,
                                            .workload_json = workload_json,
                                            .engine = campaign_engine_name(config),
                                            .targets = targets,
                                            .n_targets = (uint32_t)config->n_targets,
                                            .processes_per_loadgen = (uint32_t)config->processes_per_loadgen,
                                            .connections_per_process = (uint32_t)config->connections_per_process,
                                            .timeout_ns = (int64_t)(config->timeout_s * 1e9),
                                            .uid = (uint32_t)config->uid,
                                            .gid = (uint32_t)config->gid,
                                            .n_gids = (uint32_t)config->n_gids,
                                            .reserved_port = config->reserved_port,
                                            .source_addresses = sources,
                                            .process_targets = process_targets};
    memcpy(cluster_config.gids, config->gids, sizeof config->gids);
    c->state = CAMPAIGN_CONFIGURING;
    progress_phase(&c->progress, "configure", mono_now());
    c->is_step_running = true;
    cluster_configure(c->cluster, &cluster_config);
out:
    free(workload_json);
    json_decref(workload);
    free(sources);
    free(process_targets);
    free(targets);
}

void campaign_begin_validate(struct campaign *c)
{
    struct cluster_phase phase = {.kind = CLUSTER_VALIDATE, .validate_level = c->validate_level};
    c->state = CAMPAIGN_VALIDATING;
    progress_phase(&c->progress, "validate", mono_now());
    c->is_step_running = true;
    cluster_run_phase(c->cluster, &phase, c->layouts[0].processes);
}

static void print_finding(const struct cluster_finding *f)
{
    char rule[256], expected[700], got[700];
    fprintf(stderr, "  %s (%s, by %s): %s: expected %s, got %s\n",
            log_quote(rule, sizeof rule, f->rule, strlen(f->rule)), f->target, f->loadgen, f->op,
            log_quote(expected, sizeof expected, f->expected, strlen(f->expected)),
            log_quote(got, sizeof got, f->got, strlen(f->got)));
}

/* Every process finds the same rules broken: each is told once a target. */
static bool is_told_before(const struct cluster_finding *findings, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (strcmp(findings[k].rule, findings[i].rule) == 0 && strcmp(findings[k].op, findings[i].op) == 0 &&
            strcmp(findings[k].target, findings[i].target) == 0) {
            return true;
        }
    }
    return false;
}

void campaign_end_validation(struct campaign *c)
{
    const struct cluster_finding *findings;
    uint32_t n = cluster_findings(c->cluster, &findings);
    progress_clear(&c->progress);
    c->findings = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_array_append_new(c->findings,
                              json_pack("{s:s%, s:s%, s:s%, s:s%, s:s%, s:s%}", "loadgen", findings[i].loadgen,
                                        strlen(findings[i].loadgen), "target", findings[i].target,
                                        strlen(findings[i].target), "rule", findings[i].rule, strlen(findings[i].rule),
                                        "op", findings[i].op, strlen(findings[i].op), "expected", findings[i].expected,
                                        strlen(findings[i].expected), "got", findings[i].got, strlen(findings[i].got)));
    }
    if (n > 0) {
        uint32_t n_rules = 0;
        for (uint32_t i = 0; i < n; i++) {
            n_rules += !is_told_before(findings, i);
        }
        fprintf(stderr, "validation at level %u: the server broke %u rule%s\n", c->validate_level, n_rules,
                n_rules == 1 ? "" : "s");
        for (uint32_t i = 0; i < n; i++) {
            if (!is_told_before(findings, i)) {
                print_finding(&findings[i]);
            }
        }
        campaign_fail(c, EXIT_STATUS_INVALID, "the server does not answer as RFC 1813 asks: no load was sent");
    } else if (c->goal == CAMPAIGN_VALIDATE_ONLY) {
        printf("validation at level %u: no rule broken\n", c->validate_level);
        campaign_begin_release(c);
    } else {
        log_info("validated at level %u", c->validate_level);
        campaign_next_point(c);
    }
}
