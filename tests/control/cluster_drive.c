/* cluster_drive.c - drives a cluster of load generators from the command line, and says what happens as JSON, a line
 * per event.
 *
 *   cluster_drive [--key-file F] [--campaign NAME] [--export PATH] [--target HOST] [--processes N] [--warmup-ms N]
 * [--run-ms N]
 *                 [--steps connect,configure,validate,populate,load,collect,release] [--stop-after-ms N] [--linger-ms
 * N] HOST:PORT...
 *
 * Steps go on to the next only when they end well, but for `collect` and `release`, which always run. --stop-after-ms
 * stops the phase that runs so long after the load began. --linger-ms waits after the last step with everything open.
 * Exit status: 0 all ended well, 1 not.
 */
#include "clock.h"
#include "cluster.h"
#include "config.h"
#include "key_file.h"
#include "log.h"
#include "workload.h"

#include <event2/event.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HOSTS 256

struct drive {
    struct event_base *base;
    struct cluster *cluster;
    struct event *on_stop, *on_linger;
    const char *campaign, *export_path, *target, *key_file;
    char *steps, *step, *next;
    uint32_t n_hosts, n_processes;
    struct cluster_host hosts[MAX_HOSTS];
    int64_t warmup_ns, run_ns, stop_after_ns, linger_ns;
    mono_t began;
    bool has_failed;
    char *workload;
};

static void say(struct drive *d, const char *event, json_t *fields)
{
    json_t *o = json_object();

    json_object_set_new(o, "event", json_string(event));
    json_object_set_new(o, "t_ms", json_integer(mono_since_ns(mono_now(), d->began) / NS_PER_MS));
    if (fields) {
        json_object_update(o, fields);
        json_decref(fields);
    }
    char *text = json_dumps(o, JSON_COMPACT);
    puts(text);
    fflush(stdout);
    free(text);
    json_decref(o);
}

static void arm(struct event *e, int64_t in_ns)
{
    struct timeval tv = {.tv_sec = in_ns / NS_PER_S, .tv_usec = in_ns % NS_PER_S / NS_PER_US};
    evtimer_add(e, &tv);
}

static void begin_step(struct drive *d);

static void configure(struct drive *d)
{
    struct cluster_target target = {"t1", d->target, d->export_path, 2049, 2049};
    struct cluster_config config = {
        .campaign_name = d->campaign,
        .workload_json = d->workload,
        .engine = "native",
        .targets = &target,
        .n_targets = 1,
        .processes_per_loadgen = d->n_processes,
        .connections_per_process = 1,
        .timeout_ns = 5 * NS_PER_S,
        .process_targets = calloc((size_t)d->n_hosts * d->n_processes, sizeof(uint32_t)),
    };

    cluster_configure(d->cluster, &config);
    free((void *)(uintptr_t)config.process_targets);
}

static void run_phase(struct drive *d, enum cluster_phase_kind kind)
{
    struct cluster_phase phase = {.kind = kind, .validate_level = 1, .warmup_ns = d->warmup_ns, .run_ns = d->run_ns};
    struct process_layout *layouts = calloc((size_t)d->n_hosts * d->n_processes, sizeof(*layouts));

    for (uint32_t i = 0; i < d->n_hosts * d->n_processes; i++) {
        layouts[i].loadgen = i / d->n_processes;
        layouts[i].process = i % d->n_processes;
        layouts[i].ops_per_s = 1000;
        layouts[i].n_files = 10 + i;
        layouts[i].file_bytes = 1000;
    }
    cluster_run_phase(d->cluster, &phase, layouts);
    free(layouts);
    if (d->stop_after_ns >= 0 && kind != CLUSTER_VALIDATE) {
        arm(d->on_stop, d->stop_after_ns);
    }
}

static void tell_facts(struct drive *d)
{
    for (uint32_t i = 0; i < d->n_hosts; i++) {
        const struct loadgen_facts *f = cluster_facts(d->cluster, i);
        say(d, "facts",
            json_pack("{s:i,s:s,s:s,s:s,s:s,s:i,s:I,s:I}", "loadgen", i, "hostname", f->hostname, "version", f->version,
                      "cpu_model", f->cpu_model, "os", f->os, "n_cpus", f->n_cpus, "memory_bytes",
                      (json_int_t)f->memory_bytes, "rtt_ns", (json_int_t)f->rtt_ns));
    }
}

static void tell_findings(struct drive *d)
{
    const struct cluster_finding *findings;
    uint32_t n = cluster_findings(d->cluster, &findings);

    for (uint32_t i = 0; i < n; i++) {
        say(d, "finding",
            json_pack("{s:s,s:s,s:s,s:s}", "loadgen", findings[i].loadgen, "target", findings[i].target, "rule",
                      findings[i].rule, "got", findings[i].got));
    }
}

static void tell_outcome(struct drive *d)
{
    const struct interval_figures *intervals;
    uint32_t n = cluster_intervals(d->cluster, &intervals);

    for (uint32_t i = 0; i < d->n_hosts; i++) {
        const struct loadgen_outcome *o = cluster_outcome(d->cluster, i);
        const struct op_tally *t = o->tally ? &o->tally->ops[NFS_OP_GETATTR] : NULL;
        if (!t) {
            continue;
        }
        say(d, "outcome",
            json_pack("{s:i,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:f}", "loadgen", i, "n_ops",
                      (json_int_t)t->n_logical, "n_errors", (json_int_t)t->n_outcome[OP_NFS_ERROR], "histogram_count",
                      (json_int_t)t->from_sent.count, "sum_ns", (json_int_t)t->from_sent.sum_ns, "min_ns",
                      (json_int_t)t->from_sent.min_ns, "max_ns", (json_int_t)t->from_sent.max_ns, "p50_ns",
                      (json_int_t)histogram_percentile_ns(&t->from_sent, 50), "n_files", (json_int_t)o->n_files,
                      "skew_ns", (json_int_t)o->started_skew_ns, "cpu_percent_max", o->cpu_percent_max,
                      "host_cpu_percent", o->host_cpu_percent));
    }
    for (uint32_t i = 0; i < n; i++) {
        say(d, "interval",
            json_pack("{s:i,s:I,s:I,s:I,s:I}", "t_s", intervals[i].t_s, "n_ops", (json_int_t)intervals[i].all.n_ops,
                      "n_errors", (json_int_t)intervals[i].all.n_errors, "sum_ns", (json_int_t)intervals[i].all.sum_ns,
                      "p99_ns", (json_int_t)intervals[i].all.p99_ns));
    }
}

static void begin_step(struct drive *d)
{
    for (;;) {
        d->step = strtok_r(NULL, ",", &d->next);
        if (!d->step || !d->has_failed || !strcmp(d->step, "collect") || !strcmp(d->step, "release")) {
            break;
        }
    }
    if (!d->step) {
        arm(d->on_linger, d->linger_ns);
        return;
    }
    say(d, "begin", json_pack("{s:s}", "step", d->step));
    if (!strcmp(d->step, "connect")) {
        cluster_connect(d->cluster);
    } else if (!strcmp(d->step, "configure")) {
        configure(d);
    } else if (!strcmp(d->step, "validate")) {
        run_phase(d, CLUSTER_VALIDATE);
    } else if (!strcmp(d->step, "populate")) {
        run_phase(d, CLUSTER_POPULATE);
    } else if (!strcmp(d->step, "load")) {
        run_phase(d, CLUSTER_LOAD);
    } else if (!strcmp(d->step, "collect")) {
        cluster_collect(d->cluster);
    } else {
        cluster_release(d->cluster);
    }
}

static void on_step(struct cluster *cluster, int error, const char *message, void *arg)
{
    struct drive *d = arg;

    (void)cluster;
    event_del(d->on_stop);
    say(d, "step",
        json_pack("{s:s,s:s,s:s}", "step", d->step, "error", error ? strerrorname_np(-error) : "", "message", message));
    d->has_failed |= error != 0;
    if (!error && !strcmp(d->step, "connect")) {
        tell_facts(d);
    }
    if (!strcmp(d->step, "collect")) {
        tell_outcome(d);
    }
    if (!strcmp(d->step, "validate")) {
        tell_findings(d);
    }
    begin_step(d);
}

static void on_progress(struct cluster *cluster, const struct cluster_progress *p, void *arg)
{
    (void)cluster;
    say(arg, "progress",
        json_pack("{s:i,s:f,s:f,s:I,s:I,s:f}", "stage", p->stage, "ops_per_s", p->ops_per_s, "response_ms",
                  p->response_ms, "done", (json_int_t)p->done, "total", (json_int_t)p->total, "seconds_left",
                  p->seconds_left));
}

static void on_lost(struct cluster *cluster, uint32_t loadgen, int32_t process, const char *reason, void *arg)
{
    (void)cluster;
    say(arg, "lost", json_pack("{s:i,s:i,s:s}", "loadgen", loadgen, "process", process, "reason", reason));
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    struct drive *d = arg;

    (void)fd;
    (void)what;
    say(d, "stop", NULL);
    cluster_stop_phase(d->cluster);
}

static void on_linger(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    event_base_loopbreak(((struct drive *)arg)->base);
}

static bool parse(struct drive *d, int argc, char **argv)
{
    static const struct option longs[] = {{"key-file", required_argument, NULL, 'k'},
                                          {"campaign", required_argument, NULL, 'c'},
                                          {"export", required_argument, NULL, 'e'},
                                          {"target", required_argument, NULL, 't'},
                                          {"processes", required_argument, NULL, 'p'},
                                          {"warmup-ms", required_argument, NULL, 'w'},
                                          {"run-ms", required_argument, NULL, 'r'},
                                          {"steps", required_argument, NULL, 's'},
                                          {"stop-after-ms", required_argument, NULL, 'x'},
                                          {"linger-ms", required_argument, NULL, 'l'},
                                          {NULL, 0, NULL, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case 'k':
            d->key_file = optarg;
            break;
        case 'c':
            d->campaign = optarg;
            break;
        case 'e':
            d->export_path = optarg;
            break;
        case 't':
            d->target = optarg;
            break;
        case 'p':
            d->n_processes = (uint32_t)atoi(optarg);
            break;
        case 'w':
            d->warmup_ns = atoi(optarg) * NS_PER_MS;
            break;
        case 'r':
            d->run_ns = atoi(optarg) * NS_PER_MS;
            break;
        case 's':
            d->steps = optarg;
            break;
        case 'x':
            d->stop_after_ns = atoi(optarg) * NS_PER_MS;
            break;
        case 'l':
            d->linger_ns = atoi(optarg) * NS_PER_MS;
            break;
        default:
            return false;
        }
    }
    for (; optind < argc && d->n_hosts < MAX_HOSTS; optind++) {
        char *colon = strrchr(argv[optind], ':'), name[32];
        if (!colon) {
            return false;
        }
        *colon = 0;
        snprintf(name, sizeof(name), "lg%u", d->n_hosts);
        d->hosts[d->n_hosts++] = (struct cluster_host){strdup(name), argv[optind], (uint16_t)atoi(colon + 1)};
    }
    return d->n_hosts > 0;
}

static char *preset_text(void)
{
    struct config_errors errors;
    struct workload w;
    char *text = NULL;

    config_errors_init(&errors);
    json_t *name = json_string("sfs2008");
    if (workload_resolve(NULL, name, NULL, &w, &errors) == 0) {
        json_t *dump = workload_dump(&w);
        text = json_dumps(dump, JSON_COMPACT);
        json_decref(dump);
        workload_fini(&w);
    } else if (errors.n) {
        fprintf(stderr, "%s\n", errors.messages[0]);
    }
    json_decref(name);
    config_errors_fini(&errors);
    return text;
}

int main(int argc, char **argv)
{
    char all_steps[] = "connect,configure,populate,load,collect,release", *steps, message[512];
    struct cluster_events events = {on_step, on_progress, on_lost};
    uint8_t key[32];
    static struct drive d;

    d = (struct drive){.base = event_base_new(),
                       .campaign = "drive",
                       .export_path = "/export",
                       .target = "127.0.0.1",
                       .n_processes = 2,
                       .warmup_ns = 100 * NS_PER_MS,
                       .run_ns = NS_PER_S,
                       .stop_after_ns = -1,
                       .steps = all_steps,
                       .began = mono_now()};
    log_init("cluster_drive", LOG_LEVEL_INFO);
    signal(SIGPIPE, SIG_IGN);
    if (!parse(&d, argc, argv) || seal_library_init() != 0) {
        return 2;
    }
    if (d.key_file && key_file_load(d.key_file, key, message, sizeof(message)) != 0) {
        fprintf(stderr, "%s\n", message);
        return 2;
    }
    d.workload = preset_text();
    d.on_stop = evtimer_new(d.base, on_stop, &d);
    d.on_linger = evtimer_new(d.base, on_linger, &d);
    d.cluster = cluster_create(d.base, d.hosts, d.n_hosts, d.key_file ? key : NULL, &events, &d);
    if (!d.cluster || !d.workload) {
        return 2;
    }
    /* strtok_r's first call takes the text: a comma before it gives an empty first token that is skipped. */
    if (asprintf(&steps, ",%s", d.steps) < 0) {
        return 2;
    }
    d.next = steps;
    begin_step(&d);
    event_base_dispatch(d.base);
    cluster_destroy(d.cluster);
    event_free(d.on_stop);
    event_free(d.on_linger);
    event_base_free(d.base);
    for (uint32_t i = 0; i < d.n_hosts; i++) {
        free((char *)(uintptr_t)d.hosts[i].name);
    }
    free(steps);
    free(d.workload);
    return d.has_failed;
}
