/* campaign.c - see campaign.h. One function a transition; on_step is the only switch over states. */
#include "campaign.h"

#include "campaign_config.h"
#include "campaign_layout.h"
#include "campaign_result.h"
#include "cluster.h"
#include "exit_status.h"
#include "key_file.h"
#include "launcher.h"
#include "log.h"
#include "monitor.h"
#include "progress.h"
#include "report.h"
#include "run_dir.h"
#include "text.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* How long an interrupted campaign waits for the load generators before it leaves them to their leases. */
#define STOP_PATIENCE_MS    900
#define SAVE_PATIENCE_MS    1500
#define RELEASE_PATIENCE_MS 2000
#define HURRY_PATIENCE_MS   300

/* The monitor's START comes so much before the recorded run. */
#define MONITOR_AHEAD_S 1.0

enum campaign_state {
    CAMPAIGN_LAUNCHING,   /* local programs are starting */
    CAMPAIGN_CONNECTING,  /* hello to every load generator */
    CAMPAIGN_CONFIGURING, /* processes forked, targets mounted */
    CAMPAIGN_VALIDATING,  /* every NFS procedure is checked */
    CAMPAIGN_POPULATING,  /* the fileset is topped up for the next point */
    CAMPAIGN_LOADING,     /* warm-up and run */
    CAMPAIGN_COLLECTING,  /* histograms and counters come in */
    CAMPAIGN_MONITORING,  /* the monitor script's DONE has not ended yet */
    CAMPAIGN_CLEANING,    /* the fileset is removed */
    CAMPAIGN_STOPPING,    /* interrupted: the phase under way is being ended */
    CAMPAIGN_SAVING,      /* interrupted: what the unfinished point measured is collected */
    CAMPAIGN_RELEASING,   /* leases given back */
    CAMPAIGN_ENDED
};

struct campaign {
    const struct campaign_config *config; /* (ref) as everything of the options */
    const struct campaign_layout *layouts;
    const struct run_dir *dir;
    enum campaign_goal goal;
    uint32_t validate_level;

    enum campaign_state state;
    bool is_step_running;  /* the cluster owes an on_step */
    int repeat;            /* of dir->n_repeats, from 0 */
    uint32_t point;        /* index into layouts */
    double best_ops_per_s; /* of the present sweep */

    struct event_base *base;
    struct event *signals[3], *patience, *monitor_start;
    struct launcher *launcher;
    struct monitor *monitor; /* NULL without a script */
    struct cluster *cluster; /* NULL before connecting */
    struct progress progress;

    /* children of the launcher, -1 when the campaign names a real host */
    int *target_children, *loadgen_children;

    /* the point under way */
    mono_t load_started;
    wall_t point_started_at;
    bool is_run_recorded; /* its recorded run has begun */
    bool is_point_cut;    /* interrupted after that */
    bool is_monitor_due;  /* the monitor's START is still to be scheduled */
    bool is_point_broken; /* it cannot be finished; broken says why */
    char *broken;
    struct campaign_loss *losses;
    size_t n_losses;

    /* the outcome */
    enum exit_status status;
    bool is_interrupted;
    char *stopped; /* why the sweep ended early; NULL */
    struct loadgen_facts *facts;
    json_t *findings;
    wall_t started_at;
};

static void begin_populate(struct campaign *c);
static void begin_release(struct campaign *c);
static void next_point(struct campaign *c);

/* --- ending --- */

static void end_campaign(struct campaign *c)
{
    c->state = CAMPAIGN_ENDED;
    event_base_loopbreak(c->base);
}

static void arm_patience(struct campaign *c, int ms)
{
    struct timeval tv = {ms / 1000, (ms % 1000) * 1000};
    event_add(c->patience, &tv);
}

/* Ends the campaign early with one message; the first reason counts. */
static void fail(struct campaign *c, enum exit_status status, const char *message)
{
    if (c->stopped == NULL) {
        progress_clear(&c->progress);
        log_error("%s", message);
        c->stopped = strdup(message);
        c->status = status;
    }
    begin_release(c);
}

/* Ends what the cluster is doing; on_step goes on from there, or patience does. */
static void begin_stop(struct campaign *c)
{
    c->state = CAMPAIGN_STOPPING;
    arm_patience(c, STOP_PATIENCE_MS);
    cluster_stop_phase(c->cluster);
}

static void begin_release(struct campaign *c)
{
    if (c->state >= CAMPAIGN_RELEASING) {
        return;
    }
    if (c->cluster == NULL) {
        end_campaign(c);
    } else if (c->is_step_running) {
        begin_stop(c);
    } else {
        c->state = CAMPAIGN_RELEASING;
        arm_patience(c, c->is_interrupted ? HURRY_PATIENCE_MS : RELEASE_PATIENCE_MS);
        c->is_step_running = true;
        cluster_release(c->cluster);
    }
}

/* A load generator that does not answer must not hold up the end: its lease runs out by itself. */
static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end_campaign(arg);
}

/* --- interrupts --- */

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    (void)what;
    struct campaign *c = arg;
    if (c->is_interrupted || c->state >= CAMPAIGN_RELEASING) {
        end_campaign(c); /* the second time means now, and so does the first when nothing is left to keep */
        return;
    }
    progress_clear(&c->progress);
    fprintf(stderr, "nfscurve: interrupted, stopping the load (once more leaves at once)\n");
    log_info("interrupted by signal %d", (int)number);
    c->is_interrupted = true;
    c->status = EXIT_STATUS_INTERRUPTED;
    if (c->stopped == NULL) {
        c->stopped = strdup("interrupted");
    }
    /* A point that is being collected is finished: a moment, and it is on disk. */
    if (c->state != CAMPAIGN_COLLECTING) {
        c->is_point_cut = c->state == CAMPAIGN_LOADING && c->is_run_recorded;
        begin_release(c);
    }
}

/* --- launch, connect, configure --- */

static int add_local_target(struct campaign *c, const struct campaign_target *t)
{
    const char **argv = calloc(t->local.n_args + 10, sizeof *argv);
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
    if (latency != NULL) {
        argv[n++] = latency;
    }
    for (size_t i = 0; i < t->local.n_args; i++) {
        argv[n++] = t->local.args[i];
    }
    char *name = text_format("target-%s", t->name);
    int child = name != NULL ? launcher_add(c->launcher, name, "nfscurve-target", argv, n) : -ENOMEM;
    free(name);
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

static void begin_launch(struct campaign *c)
{
    const struct campaign_config *config = c->config;
    int rc = 0;
    c->state = CAMPAIGN_LAUNCHING;
    for (size_t i = 0; i < config->n_targets && rc >= 0; i++) {
        c->target_children[i] = config->targets[i].is_local ? (rc = add_local_target(c, &config->targets[i])) : -1;
    }
    for (size_t i = 0; i < config->n_loadgens && rc >= 0; i++) {
        c->loadgen_children[i] = config->loadgens[i].is_local ? (rc = add_local_loadgen(c, &config->loadgens[i])) : -1;
    }
    if (rc < 0) {
        fail(c, EXIT_STATUS_COULD_NOT_RUN, "out of memory");
        return;
    }
    progress_phase(&c->progress, "launch", mono_now());
    launcher_start(c->launcher);
}

static void begin_connect(struct campaign *c);

static void on_launched(struct launcher *launcher, int error, const char *message, void *arg)
{
    (void)launcher;
    struct campaign *c = arg;
    if (c->state != CAMPAIGN_LAUNCHING) {
        return;
    }
    if (error != 0) {
        fail(c, EXIT_STATUS_COULD_NOT_RUN, message);
    } else {
        begin_connect(c);
    }
}

static void on_step(struct cluster *cluster, int error, const char *message, void *arg);
static void on_progress(struct cluster *cluster, const struct cluster_progress *doing, void *arg);
static void on_lost(struct cluster *cluster, uint32_t loadgen, int32_t process, const char *reason, void *arg);

static struct cluster *make_cluster(struct campaign *c, const uint8_t *key)
{
    const struct cluster_events events = {.on_step = on_step, .on_progress = on_progress, .on_lost = on_lost};
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
        fail(c, EXIT_STATUS_USAGE, message);
        return;
    }
    c->cluster = make_cluster(c, has_key ? key : NULL);
    if (c->cluster == NULL) {
        fail(c, EXIT_STATUS_COULD_NOT_RUN, "out of memory");
        return;
    }
    c->state = CAMPAIGN_CONNECTING;
    progress_phase(&c->progress, "connect", mono_now());
    c->is_step_running = true;
    cluster_connect(c->cluster);
}

static void keep_facts(struct campaign *c)
{
    c->facts = calloc(c->config->n_loadgens, sizeof *c->facts);
    for (size_t g = 0; c->facts != NULL && g < c->config->n_loadgens; g++) {
        c->facts[g] = *cluster_facts(c->cluster, (uint32_t)g);
    }
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

static void begin_configure(struct campaign *c)
{
    const struct campaign_config *config = c->config;
    size_t n = config->n_loadgens * (size_t)config->processes_per_loadgen;
    struct cluster_target *targets = calloc(config->n_targets, sizeof *targets);
    uint32_t *process_targets = calloc(n, sizeof *process_targets);
    const char **sources = calloc(config->n_loadgens, sizeof *sources);
    json_t *workload = workload_dump(&config->workload);
    char *workload_json = json_dumps(workload, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (targets == NULL || process_targets == NULL || sources == NULL || workload_json == NULL) {
        fail(c, EXIT_STATUS_COULD_NOT_RUN, "out of memory");
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

/* --- validation --- */

static void begin_validate(struct campaign *c)
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

static void end_validation(struct campaign *c)
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
        fprintf(stderr, "validation at level %u: the server broke %u rule%s\n", c->validate_level, n,
                n == 1 ? "" : "s");
        for (uint32_t i = 0; i < n; i++) {
            print_finding(&findings[i]);
        }
        fail(c, EXIT_STATUS_INVALID, "the server does not answer as RFC 1813 asks: no load was sent");
    } else if (c->goal == CAMPAIGN_VALIDATE_ONLY) {
        printf("validation at level %u: no rule broken\n", c->validate_level);
        begin_release(c);
    } else {
        log_info("validated at level %u", c->validate_level);
        next_point(c);
    }
}

/* --- points --- */

static size_t point_number(const struct campaign *c)
{
    return (size_t)c->repeat * c->config->n_loads + c->point + 1;
}

static void begin_clean(struct campaign *c)
{
    struct cluster_phase phase = {.kind = CLUSTER_CLEAN};
    c->state = CAMPAIGN_CLEANING;
    c->progress.point = 0; /* it belongs to none */
    progress_phase(&c->progress, "clean up", mono_now());
    c->is_step_running = true;
    cluster_run_phase(c->cluster, &phase, c->layouts[c->config->n_loads - 1].processes);
}

static bool point_has_file(const struct campaign *c)
{
    char *path = run_dir_of_repeat(c->dir, c->repeat);
    bool is_done = path != NULL && campaign_point_is_done(path, c->point);
    free(path);
    return is_done;
}

/* The first point at or after the present one that is to be measured, or the end of the sweep. */
static void next_point(struct campaign *c)
{
    while (c->repeat < c->dir->n_repeats) {
        while (c->point < c->config->n_loads && c->dir->is_resumed && point_has_file(c)) {
            c->point++;
        }
        if (c->point < c->config->n_loads) {
            progress_point(&c->progress, point_number(c), c->layouts[c->point].requested_ops_per_s, mono_now());
            begin_populate(c);
            return;
        }
        c->repeat++;
        c->point = 0;
        c->best_ops_per_s = 0;
    }
    if (c->config->clean_up) {
        begin_clean(c);
    } else {
        begin_release(c);
    }
}

static void begin_populate(struct campaign *c)
{
    struct cluster_phase phase = {.kind = CLUSTER_POPULATE};
    c->state = CAMPAIGN_POPULATING;
    log_info("point %zu: %g ops/s: populate", point_number(c), c->layouts[c->point].requested_ops_per_s);
    progress_phase(&c->progress, "populate", mono_now());
    c->is_step_running = true;
    cluster_run_phase(c->cluster, &phase, c->layouts[c->point].processes);
}

static void forget_losses(struct campaign *c)
{
    for (size_t i = 0; i < c->n_losses; i++) {
        free(c->losses[i].reason);
    }
    free(c->losses);
    c->losses = NULL;
    c->n_losses = 0;
}

static void begin_load(struct campaign *c)
{
    struct cluster_phase phase = {.kind = CLUSTER_LOAD,
                                  .warmup_ns = (int64_t)(c->config->warmup_s * 1e9),
                                  .run_ns = (int64_t)(c->config->run_s * 1e9)};
    forget_losses(c);
    c->is_run_recorded = false;
    c->is_point_broken = false;
    c->is_monitor_due = c->monitor != NULL;
    c->load_started = mono_now();
    c->point_started_at = wall_now();
    c->state = CAMPAIGN_LOADING;
    log_info("point %zu: load", point_number(c));
    progress_phase(&c->progress, "load", mono_now());
    c->is_step_running = true;
    cluster_run_phase(c->cluster, &phase, c->layouts[c->point].processes);
}

static void begin_collect(struct campaign *c, enum campaign_state state)
{
    c->state = state;
    event_del(c->monitor_start);
    if (state == CAMPAIGN_COLLECTING) {
        progress_phase(&c->progress, "collect", mono_now());
    }
    c->is_step_running = true;
    cluster_collect(c->cluster);
}

/* The load ended: as it should, or broken with `message`. What was measured is collected either way. */
static void end_load(struct campaign *c, int error, const char *message)
{
    if (error != 0 && !c->is_point_broken) {
        c->is_point_broken = true;
        free(c->broken);
        c->broken = strdup(message);
    }
    if (c->monitor != NULL) {
        monitor_call(c->monitor, "DONE", point_number(c), c->layouts[c->point].requested_ops_per_s);
    }
    begin_collect(c, CAMPAIGN_COLLECTING);
}

static int write_point(struct campaign *c, const char *run_dir, struct point_result *point)
{
    struct campaign_point facts = {.index = c->point,
                                   .layout = &c->layouts[c->point],
                                   .started_at = c->point_started_at,
                                   .losses = c->losses,
                                   .n_losses = c->n_losses,
                                   /* a loss says it all; anything else has to be said */
                                   .broken = c->n_losses == 0 ? c->broken : NULL};
    int rc = campaign_build_point(c->config, c->cluster, &facts, point);
    if (rc != 0) {
        return rc;
    }
    return point_write(run_dir, point);
}

static void after_point(struct campaign *c, double achieved_ops_per_s)
{
    double fall = c->config->stop_after_fall_percent;
    bool has_fallen = fall > 0 && achieved_ops_per_s < c->best_ops_per_s * (1 - fall / 100);
    if (has_fallen && c->point + 1 < c->config->n_loads) {
        char *message =
            text_format("throughput fell by more than %g %% after %.1f ops/s: the rest of the sweep was left out "
                        "(stop_after_fall_percent)",
                        fall, c->best_ops_per_s);
        log_info("%s", message);
        if (c->stopped == NULL) {
            c->stopped = strdup(message);
        }
        free(message);
        c->point = (uint32_t)c->config->n_loads;
    } else {
        c->point++;
    }
    if (achieved_ops_per_s > c->best_ops_per_s) {
        c->best_ops_per_s = achieved_ops_per_s;
    }
}

static void go_on(struct campaign *c)
{
    if (c->is_interrupted) {
        begin_release(c);
    } else if (c->is_point_broken) {
        fail(c, EXIT_STATUS_INVALID, c->broken);
    } else if (c->monitor != NULL && monitor_is_busy(c->monitor)) {
        c->state = CAMPAIGN_MONITORING;
    } else {
        next_point(c);
    }
}

/* The point is complete, or as complete as it will ever be: on disk before anything else happens. */
static void end_collect(struct campaign *c, int error, const char *message)
{
    struct point_result point;
    char *path = run_dir_of_repeat(c->dir, c->repeat);
    if (error != 0 && !c->is_point_broken) {
        c->is_point_broken = true;
        free(c->broken);
        c->broken = strdup(message);
    }
    int rc = path != NULL ? write_point(c, path, &point) : -ENOMEM;
    free(path);
    if (rc != 0) {
        char *text = text_format("point %zu cannot be written to %s: %s", point_number(c), c->dir->path, strerror(-rc));
        fail(c, EXIT_STATUS_COULD_NOT_RUN, text);
        free(text);
        return;
    }
    progress_point_done(&c->progress, &point, mono_now());
    log_info("point %zu: %.1f ops/s achieved, %.3f ms, %s", point_number(c), point.achieved_ops_per_s,
             point.response_ms, point.is_valid ? "valid" : "invalid");
    after_point(c, point.achieved_ops_per_s);
    point_fini(&point);
    go_on(c);
}

static void on_monitor_idle(void *arg)
{
    struct campaign *c = arg;
    if (c->state == CAMPAIGN_MONITORING) {
        next_point(c);
    }
}

/* --- the end of an interrupted point --- */

static void end_stop(struct campaign *c)
{
    if (!c->is_point_cut) {
        begin_release(c);
        return;
    }
    if (c->monitor != NULL) {
        monitor_call(c->monitor, "DONE", point_number(c), c->layouts[c->point].requested_ops_per_s);
    }
    arm_patience(c, SAVE_PATIENCE_MS);
    begin_collect(c, CAMPAIGN_SAVING);
}

static void end_saving(struct campaign *c)
{
    struct point_result point;
    char *path = run_dir_file(c->dir, "interrupted");
    free(c->broken);
    c->broken = strdup("interrupted before the run was over");
    if (path != NULL && run_dir_make_points(c->dir, "interrupted") == 0 && write_point(c, path, &point) == 0) {
        log_info("the interrupted point is kept in %s", path);
        point_fini(&point);
    }
    free(path);
    begin_release(c);
}

/* --- what the cluster reports --- */

static void fail_step(struct campaign *c, int error, const char *message)
{
    char *text = NULL;
    if (error == -EHOSTUNREACH) {
        text = text_format("%s; start nfscurve-loadgen there, or correct host and port in the campaign", message);
    }
    fail(c, EXIT_STATUS_COULD_NOT_RUN, text != NULL ? text : message);
    free(text);
}

static void on_step(struct cluster *cluster, int error, const char *message, void *arg)
{
    (void)cluster;
    struct campaign *c = arg;
    c->is_step_running = false;
    switch (c->state) {
    case CAMPAIGN_LOADING:
        end_load(c, error, message);
        return;
    case CAMPAIGN_COLLECTING:
        end_collect(c, error, message);
        return;
    case CAMPAIGN_STOPPING:
        end_stop(c);
        return;
    case CAMPAIGN_SAVING:
        end_saving(c);
        return;
    case CAMPAIGN_RELEASING:
        end_campaign(c);
        return;
    case CAMPAIGN_LAUNCHING:
    case CAMPAIGN_MONITORING:
    case CAMPAIGN_ENDED:
        return; /* no step is under way */
    default:
        break;
    }
    if (error != 0) {
        fail_step(c, error, message);
        return;
    }
    switch (c->state) {
    case CAMPAIGN_CONNECTING:
        keep_facts(c);
        begin_configure(c);
        return;
    case CAMPAIGN_CONFIGURING:
        if (c->validate_level > 0) {
            begin_validate(c);
        } else {
            next_point(c);
        }
        return;
    case CAMPAIGN_VALIDATING:
        end_validation(c);
        return;
    case CAMPAIGN_POPULATING:
        begin_load(c);
        return;
    default: /* CAMPAIGN_CLEANING */
        begin_release(c);
        return;
    }
}

static void schedule_monitor(struct campaign *c, double seconds_left)
{
    double wait_s = seconds_left - c->config->run_s - MONITOR_AHEAD_S;
    if (wait_s < 0) {
        wait_s = 0;
    }
    struct timeval tv = {(time_t)wait_s, (suseconds_t)((wait_s - (double)(time_t)wait_s) * 1e6)};
    event_add(c->monitor_start, &tv);
    c->is_monitor_due = false;
}

static void on_monitor_start(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct campaign *c = arg;
    if (c->state == CAMPAIGN_LOADING) {
        monitor_call(c->monitor, "START", point_number(c), c->layouts[c->point].requested_ops_per_s);
    }
}

static void on_progress(struct cluster *cluster, const struct cluster_progress *doing, void *arg)
{
    (void)cluster;
    struct campaign *c = arg;
    if (c->state == CAMPAIGN_LOADING) {
        if (c->is_monitor_due && doing->stage != CLUSTER_STEP_PREPARING) {
            schedule_monitor(c, doing->seconds_left);
        }
        if (doing->stage == CLUSTER_STEP_RUN || doing->stage == CLUSTER_STEP_DRAINING) {
            c->is_run_recorded = true;
        }
    }
    progress_update(&c->progress, doing, mono_now());
}

static void on_lost(struct cluster *cluster, uint32_t loadgen, int32_t process, const char *reason, void *arg)
{
    (void)cluster;
    struct campaign *c = arg;
    progress_clear(&c->progress);
    const char *name = c->config->loadgens[loadgen].name;
    /* Only for the log: the step that it breaks ends with the message for the user. */
    if (process < 0) {
        log_info("load generator %s lost: %s", name, reason);
    } else {
        log_info("load generator %s process %d lost: %s", name, process, reason);
    }
    if (c->state != CAMPAIGN_LOADING && c->state != CAMPAIGN_COLLECTING) {
        return;
    }
    struct campaign_loss *grown = realloc(c->losses, (c->n_losses + 1) * sizeof *grown);
    if (grown == NULL) {
        return;
    }
    c->losses = grown;
    grown[c->n_losses++] = (struct campaign_loss){.loadgen = loadgen,
                                                  .process = process,
                                                  .reason = strdup(reason),
                                                  .at_ns = mono_since_ns(mono_now(), c->load_started)};
}

/* --- what the launcher reports --- */

static void on_child_death(struct launcher *launcher, const char *name, const char *how, void *arg)
{
    (void)launcher;
    struct campaign *c = arg;
    char *message = text_format("%s: %s", name, how);
    progress_clear(&c->progress);
    bool is_target = strncmp(name, "target-", 7) == 0;
    if (!is_target || c->state >= CAMPAIGN_STOPPING) {
        log_error("%s", message); /* a load generator's end is told by its connection, too */
    } else if (c->state == CAMPAIGN_LOADING) {
        c->is_point_broken = true;
        free(c->broken);
        c->broken = strdup(message);
        cluster_stop_phase(c->cluster); /* then end_load, with what was measured */
    } else {
        fail(c, EXIT_STATUS_COULD_NOT_RUN, message);
    }
    free(message);
}

/* --- making, running, reporting --- */

static int campaign_init(struct campaign *c, const struct campaign_options *options)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct launcher_events launcher_events = {.on_ready = on_launched, .on_death = on_child_death};
    *c = (struct campaign){.config = options->config,
                           .layouts = options->layouts,
                           .dir = options->dir,
                           .goal = options->goal,
                           .validate_level = options->validate_level,
                           .status = EXIT_STATUS_VALID,
                           .started_at = wall_now()};
    c->base = event_base_new();
    c->target_children = calloc(options->config->n_targets, sizeof *c->target_children);
    c->loadgen_children = calloc(options->config->n_loadgens, sizeof *c->loadgen_children);
    if (c->base == NULL || c->target_children == NULL || c->loadgen_children == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        c->signals[i] = evsignal_new(c->base, numbers[i], on_signal, c);
        if (c->signals[i] == NULL || event_add(c->signals[i], NULL) != 0) {
            return -ENOMEM;
        }
    }
    c->patience = evtimer_new(c->base, on_patience, c);
    c->monitor_start = evtimer_new(c->base, on_monitor_start, c);
    c->launcher = launcher_create(c->base, options->dir->path, &launcher_events, c);
    if (c->patience == NULL || c->monitor_start == NULL || c->launcher == NULL) {
        return -ENOMEM;
    }
    if (options->config->monitor_script[0] != '\0' && options->goal == CAMPAIGN_MEASURE) {
        char *log_file = run_dir_file(options->dir, "monitor.log");
        c->monitor = log_file != NULL ? monitor_create(c->base, options->config, log_file, on_monitor_idle, c) : NULL;
        free(log_file);
        if (c->monitor == NULL) {
            return -ENOMEM;
        }
    }
    double phases_s = options->config->warmup_s + options->config->run_s;
    size_t n_points = options->config->n_loads * (size_t)options->dir->n_repeats;
    progress_init(&c->progress, stderr, options->is_quiet, n_points, phases_s, mono_now());
    return 0;
}

static void campaign_fini(struct campaign *c)
{
    forget_losses(c);
    free(c->broken);
    free(c->stopped);
    free(c->facts);
    json_decref(c->findings);
    free(c->target_children);
    free(c->loadgen_children);
}

/* Everything that runs or listens is gone after this. */
static void stop_everything(struct campaign *c)
{
    cluster_destroy(c->cluster);
    c->cluster = NULL;
    monitor_destroy(c->monitor);
    c->monitor = NULL;
    launcher_destroy(c->launcher);
    c->launcher = NULL;
    for (size_t i = 0; i < sizeof c->signals / sizeof c->signals[0]; i++) {
        if (c->signals[i] != NULL) {
            event_free(c->signals[i]);
        }
    }
    if (c->patience != NULL) {
        event_free(c->patience);
    }
    if (c->monitor_start != NULL) {
        event_free(c->monitor_start);
    }
    if (c->base != NULL) {
        event_base_free(c->base);
    }
}

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 100;
}

static void report(struct campaign *c)
{
    struct campaign_result_facts facts = {.config = c->config,
                                          .loadgens = c->facts,
                                          .findings = c->findings,
                                          .stopped = c->stopped,
                                          .started_at = c->started_at,
                                          .finished_at = wall_now()};
    struct result result;
    int rc = campaign_write_results(&facts, c->dir, &result);
    if (rc != 0) {
        log_error("results cannot be written to %s: %s; finished points are in its points directory", c->dir->path,
                  strerror(-rc));
        if (c->status == EXIT_STATUS_VALID) {
            c->status = EXIT_STATUS_COULD_NOT_RUN;
        }
    }
    if (result.n_points > 0) {
        report_render_text(&result, terminal_columns(), isatty(STDOUT_FILENO) == 1, stdout);
        printf("\nrun directory %s: result.json, report.html, curve.svg, curve.csv, sfssum\n", c->dir->path);
        if (c->stopped != NULL) {
            printf("stopped early: %s\ngo on with: nfscurve run --resume %s\n", c->stopped, c->dir->path);
        }
    }
    if (c->status == EXIT_STATUS_VALID && !result.is_valid) {
        c->status = EXIT_STATUS_INVALID;
    }
    result_fini(&result);
}

int campaign_run(const struct campaign_options *options)
{
    struct campaign c;
    if (campaign_init(&c, options) != 0) {
        log_error("out of memory");
        c.status = EXIT_STATUS_COULD_NOT_RUN;
    } else {
        begin_launch(&c);
        if (c.state != CAMPAIGN_ENDED) {
            event_base_dispatch(c.base);
        }
        progress_clear(&c.progress);
    }
    stop_everything(&c);
    if (options->goal == CAMPAIGN_MEASURE) {
        report(&c);
    }
    int status = c.status;
    campaign_fini(&c);
    return status;
}
