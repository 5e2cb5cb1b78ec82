/* load_one.c - load-generating processes without a daemon or a prime: forks them, gives them their commands, and prints
 * what they measured as JSON.
 *
 *   load_one --server 127.0.0.1 --nfs-port 2049 --mount-port 2049 --export /export --workload sfs3 --set
 * '{"fileset_mb_per_op": 1}'
 *            --ops 200 --processes 4 --warmup-s 2 --run-s 8 [--validate 3] [--clean] [--stop-after-s 3] [--sweep
 * 100,200,300]
 */
#include "config.h"
#include "interval_log.h"
#include "layout.h"
#include "log.h"
#include "process.h"
#include "rng.h"
#include "supervisor.h"
#include "workload.h"

#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_PROCESSES 64
#define MAX_LOADS     32

struct options {
    const char *server, *export_path, *workload, *overrides, *engine, *before_load;
    uint16_t nfs_port, mount_port;
    double loads[MAX_LOADS];
    uint32_t n_loads, n_processes, validate_level, n_connections;
    double warmup_s, run_s, stop_after_s, timeout_s;
    uint64_t seed;
    bool clean, no_load, intervals;
};

struct state {
    struct options o;
    struct workload w;
    struct event_base *base;
    struct supervisor *supervisor;
    struct process_layout layouts[MAX_PROCESSES];
    uint32_t serial;
    const char *death;
    double stop_ms;
};

static void on_death(struct supervisor *s, uint32_t process, const char *reason, void *arg)
{
    (void)s;
    struct state *st = arg;
    fprintf(stderr, "process %u: %s\n", process, reason);
    st->death = reason;
    event_base_loopbreak(st->base);
}

static void lay_out(struct state *st, double ops_per_s)
{
    uint32_t n = st->o.n_processes;
    uint64_t n_files = (uint64_t)llround(ops_per_s * st->w.fileset_mb_per_op * 1e6 / workload_mean_file_bytes(&st->w));
    uint64_t n_ws = (uint64_t)llround((double)n_files * st->w.working_set_percent / 100);
    uint64_t unit = n_files / n >= 10000 ? 100 : 1,
             per_dir = st->w.files_per_directory > 0 ? st->w.files_per_directory : 1;
    for (uint32_t p = 0; p < n; p++) {
        uint64_t first = n_files / unit * p / n * unit,
                 end = p + 1 == n ? n_files : n_files / unit * (p + 1) / n * unit;
        struct rng rng;
        rng_seed(&rng, st->o.seed, p);
        struct process_layout *l = &st->layouts[p];
        *l = (struct process_layout){.process = p,
                                     .client = 1,
                                     .seed = rng_u64(&rng),
                                     .ops_per_s = ops_per_s / n,
                                     .first_file = first,
                                     .n_files = end - first,
                                     .lg_n_files = n_files,
                                     .lg_n_working_set = n_ws,
                                     .n_access_groups = (uint32_t)(12 + 12 * (n_ws / 1500)),
                                     .n_symlinks = st->w.symlinks_per_process};
        for (uint64_t j = first; j < end; j++) {
            l->file_bytes += workload_file_bytes(&st->w, j);
        }
        l->first_working_set = layout_working_set_from(n_files, n_ws, st->w.n_cycle, first);
        l->n_working_set = layout_working_set_from(n_files, n_ws, st->w.n_cycle, end) - l->first_working_set;
        l->n_directories = (l->n_files + per_dir - 1) / per_dir;
        uint64_t share = (uint64_t)llround((double)l->n_files * st->w.non_io_files_percent / 100);
        l->n_non_io_files = share > st->w.non_io_files_min ? share : st->w.non_io_files_min;
        l->memory_bytes = layout_memory_bytes(l);
    }
}

static void sleep_in_loop(struct state *st, double s)
{
    struct timeval tv = {(time_t)s, (suseconds_t)((s - floor(s)) * 1e6)};
    event_base_loopexit(st->base, &tv);
    event_base_dispatch(st->base);
}

static bool all(const struct state *st, bool (*is)(const struct process_shared *s, const struct state *st))
{
    for (uint32_t p = 0; p < st->o.n_processes; p++) {
        if (!is(supervisor_shared(st->supervisor, p), st)) {
            return false;
        }
    }
    return true;
}

static bool is_done(const struct process_shared *s, const struct state *st)
{
    return atomic_load(&s->done_serial) == st->serial;
}

static bool is_settled(const struct process_shared *s, const struct state *st)
{
    (void)st;
    return atomic_load(&s->state) == PROCESS_IDLE || atomic_load(&s->state) == PROCESS_FAILED;
}

static int check(const struct state *st)
{
    if (st->death != NULL) {
        return -ECHILD;
    }
    for (uint32_t p = 0; p < st->o.n_processes; p++) {
        const struct process_shared *s = supervisor_shared(st->supervisor, p);
        if (atomic_load(&s->state) == PROCESS_FAILED) {
            fprintf(stderr, "process %u failed: %s\n", p, s->message);
            return -EIO;
        }
    }
    return 0;
}

static int command(struct state *st, enum process_command_kind kind)
{
    st->serial++;
    mono_t start = mono_plus_ns(mono_now(), 50 * NS_PER_MS);
    for (uint32_t p = 0; p < st->o.n_processes; p++) {
        struct process_command c = {.kind = kind,
                                    .serial = st->serial,
                                    .layout = st->layouts[p],
                                    .validate_level = st->o.validate_level,
                                    .start_at = start,
                                    .warmup_ns = (int64_t)(st->o.warmup_s * 1e9),
                                    .run_ns = (int64_t)(st->o.run_s * 1e9)};
        int error = supervisor_command(st->supervisor, p, &c);
        if (error != 0) {
            return error;
        }
    }
    if (kind == PROCESS_DO_LOAD && st->o.stop_after_s > 0) {
        sleep_in_loop(st, st->o.stop_after_s);
        mono_t asked = mono_now();
        for (uint32_t p = 0; p < st->o.n_processes; p++) {
            struct process_command c = {.kind = PROCESS_DO_STOP, .serial = st->serial};
            supervisor_command(st->supervisor, p, &c);
        }
        while (!all(st, is_done) && st->death == NULL) {
            sleep_in_loop(st, 0.002);
        }
        st->stop_ms = (double)mono_since_ns(mono_now(), asked) / 1e6;
        return check(st);
    }
    while (!all(st, is_done) && st->death == NULL) {
        sleep_in_loop(st, 0.01);
    }
    return check(st);
}

static json_t *histogram_json(const struct histogram *h)
{
    return json_pack("{s:I,s:f,s:f,s:f,s:f,s:f}", "n", (json_int_t)h->count, "mean_us", histogram_mean_ns(h) / 1e3,
                     "p50_us", (double)histogram_percentile_ns(h, 50) / 1e3, "p90_us",
                     (double)histogram_percentile_ns(h, 90) / 1e3, "p99_us",
                     (double)histogram_percentile_ns(h, 99) / 1e3, "max_us", (double)h->max_ns / 1e3);
}

static json_t *intervals_json(const struct state *st)
{
    json_t *list = json_array();
    uint32_t n = 0;
    static struct histogram h;
    for (uint32_t p = 0; p < st->o.n_processes; p++) {
        uint32_t s = interval_log_seconds(supervisor_intervals(st->supervisor, p));
        n = s > n ? s : n;
    }
    for (uint32_t t = 0; t < n; t++) {
        uint64_t n_ops = 0, n_errors = 0;
        histogram_init(&h);
        for (uint32_t p = 0; p < st->o.n_processes; p++) {
            for (int c = 0; c < OP_CLASS_COUNT; c++) {
                interval_log_read(supervisor_intervals(st->supervisor, p), t, (enum op_class)c, &n_ops, &n_errors, &h);
            }
        }
        json_array_append_new(list, json_pack("{s:I,s:I,s:f}", "ops", (json_int_t)n_ops, "errors", (json_int_t)n_errors,
                                              "p99_us", (double)histogram_percentile_ns(&h, 99) / 1e3));
    }
    return list;
}

static json_t *ops_json(const struct state *st, const struct tally *t)
{
    json_t *ops = json_object();
    uint64_t good = tally_good_ops(t, st->w.counting == COUNTING_PHYSICAL);
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        const struct op_tally *o = &t->ops[i];
        uint64_t n = 0;
        json_t *statuses = json_object(), *outcomes = json_object();
        for (unsigned k = 0; k < OP_OUTCOME_COUNT; k++) {
            n += o->n_outcome[k];
            if (o->n_outcome[k] > 0) {
                json_object_set_new(outcomes, op_outcome_name((enum op_outcome)k),
                                    json_integer((json_int_t)o->n_outcome[k]));
            }
        }
        for (unsigned k = 0; k < NFS_STATUS_COUNT; k++) {
            if (o->n_status[k] > 0) {
                json_object_set_new(statuses, nfs_status_name(k), json_integer((json_int_t)o->n_status[k]));
            }
        }
        if (n > 0 || st->w.mix_percent[i] > 0) {
            uint64_t counted = st->w.counting == COUNTING_PHYSICAL ? o->n_physical : o->n_logical;
            json_object_set_new(ops, nfs_op_name((enum nfs_op)i),
                                json_pack("{s:f,s:f,s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "target_percent",
                                          st->w.mix_percent[i], "percent",
                                          good > 0 ? 100.0 * (double)counted / (double)good : 0.0, "logical",
                                          (json_int_t)o->n_logical, "physical", (json_int_t)o->n_physical, "outcomes",
                                          outcomes, "statuses", statuses, "from_due", histogram_json(&o->from_due),
                                          "from_sent", histogram_json(&o->from_sent), "rpc", histogram_json(&o->rpc)));
        } else {
            json_decref(statuses);
            json_decref(outcomes);
        }
    }
    return ops;
}

static json_t *all_ops_json(const struct tally *t, size_t offset)
{
    static struct histogram h;
    histogram_init(&h);
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        histogram_merge(&h, (const struct histogram *)((const char *)&t->ops[i] + offset));
    }
    return histogram_json(&h);
}

static json_t *load_json(const struct state *st, double asked)
{
    struct tally *t = malloc(sizeof *t);
    if (t == NULL) {
        abort();
    }
    tally_init(t);
    json_t *processes = json_array(), *anomalies = json_object();
    uint64_t touched = 0, bytes = 0, files = 0, ws_bytes = 0;
    for (uint32_t p = 0; p < st->o.n_processes; p++) {
        const struct process_shared *s = supervisor_shared(st->supervisor, p);
        tally_merge(t, &s->tally);
        touched += s->facts.n_files_touched;
        bytes += s->facts.fileset_bytes;
        files += s->facts.n_files;
        ws_bytes += s->facts.working_set_bytes;
        double run_s = (double)s->tally.generator.run_ns / 1e9;
        json_array_append_new(
            processes,
            json_pack("{s:f,s:f}", "run_s", run_s, "achieved_ops_per_s",
                      run_s > 0 ? (double)tally_good_ops(&s->tally, st->w.counting == COUNTING_PHYSICAL) / run_s
                                : 0.0));
    }
    for (int a = 0; a < ANOMALY_COUNT; a++) {
        json_object_set_new(anomalies, anomaly_name((enum anomaly)a), json_integer((json_int_t)t->n_anomaly[a]));
    }
    const struct generator_tally *g = &t->generator;
    double run_s = (double)g->run_ns / 1e9;
    uint64_t good = tally_good_ops(t, st->w.counting == COUNTING_PHYSICAL);
    json_t *j = json_pack("{s:f,s:f,s:I,s:I,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "requested_ops_per_s",
                          asked, "achieved_ops_per_s", run_s > 0 ? (double)good / run_s : 0.0, "good", (json_int_t)good,
                          "failed", (json_int_t)tally_failed_rpcs(t), "run_s", run_s, "read_bytes",
                          (json_int_t)t->read_bytes, "write_bytes", (json_int_t)t->write_bytes, "files",
                          (json_int_t)files, "files_touched", (json_int_t)touched, "fileset_bytes", (json_int_t)bytes,
                          "working_set_bytes", (json_int_t)ws_bytes, "ops", ops_json(st, t), "anomalies", anomalies,
                          "processes", processes, "from_due", all_ops_json(t, offsetof(struct op_tally, from_due)),
                          "from_sent", all_ops_json(t, offsetof(struct op_tally, from_sent)));
    json_object_set_new(
        j, "generator",
        json_pack("{s:o,s:o,s:I,s:I,s:I,s:f,s:f}", "lateness", histogram_json(&g->lateness), "send_wait",
                  histogram_json(&g->send_wait), "due", (json_int_t)g->n_due, "waited_for_slot",
                  (json_int_t)g->n_waited_for_slot, "waited_for_us", (json_int_t)g->n_waited_for_us, "busy_share",
                  run_s > 0 ? (double)g->loop_busy_ns / 1e9 / run_s / st->o.n_processes : 0.0, "cpu_share",
                  run_s > 0 ? (double)g->loop_cpu_ns / 1e9 / run_s / st->o.n_processes : 0.0));
    json_object_set_new(j, "stop_ms", json_real(st->stop_ms));
    if (st->o.intervals) {
        json_object_set_new(j, "intervals", intervals_json(st));
    }
    free(t);
    return j;
}

static json_t *facts_json(const struct state *st)
{
    const struct process_facts *f = &supervisor_shared(st->supervisor, 0)->facts;
    uint64_t n[6] = {0};
    for (uint32_t p = 0; p < st->o.n_processes; p++) {
        const struct process_facts *g = &supervisor_shared(st->supervisor, p)->facts;
        uint64_t add[6] = {g->n_files,      g->fileset_bytes,   g->n_files_created,
                           g->n_files_kept, g->n_files_removed, g->memory_bytes};
        for (int i = 0; i < 6; i++) {
            n[i] += add[i];
        }
    }
    uint64_t foretold = 0, ws = 0;
    for (uint32_t p = 0; p < st->o.n_processes; p++) {
        foretold += st->layouts[p].memory_bytes;
        ws += st->layouts[p].n_working_set;
    }
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "files", (json_int_t)n[0], "bytes",
                     (json_int_t)n[1], "created", (json_int_t)n[2], "kept", (json_int_t)n[3], "removed",
                     (json_int_t)n[4], "memory_bytes", (json_int_t)n[5], "foretold_memory_bytes", (json_int_t)foretold,
                     "working_set_files", (json_int_t)ws, "rtmax", (json_int_t)f->rtmax, "wtmax", (json_int_t)f->wtmax,
                     "read_block_bytes", (json_int_t)f->read_block_bytes, "write_block_bytes",
                     (json_int_t)f->write_block_bytes);
}

static json_t *findings_json(const struct state *st)
{
    json_t *list = json_array();
    for (uint32_t p = 0; p < st->o.n_processes; p++) {
        const struct process_shared *s = supervisor_shared(st->supervisor, p);
        for (uint32_t i = 0; i < s->n_findings; i++) {
            json_array_append_new(list,
                                  json_pack("{s:s,s:s,s:s,s:s}", "rule", s->findings[i].rule, "op", s->findings[i].op,
                                            "expected", s->findings[i].expected, "got", s->findings[i].got));
        }
    }
    return list;
}

static int run(struct state *st, json_t *out)
{
    while (!all(st, is_settled) && st->death == NULL) {
        sleep_in_loop(st, 0.01);
    }
    int error = check(st);
    if (error == 0 && st->o.validate_level > 0) {
        error = command(st, PROCESS_DO_VALIDATE);
        json_object_set_new(out, "findings", findings_json(st));
    }
    json_t *loads = json_array();
    for (uint32_t i = 0; error == 0 && i < st->o.n_loads; i++) {
        lay_out(st, st->o.loads[i]);
        mono_t begin = mono_now();
        error = command(st, PROCESS_DO_POPULATE);
        double populate_s = (double)mono_since_ns(mono_now(), begin) / 1e9;
        if (error == 0) {
            json_t *facts = facts_json(st), *load = json_object();
            if (st->o.before_load != NULL && system(st->o.before_load) != 0) {
                fprintf(stderr, "failed: %s\n", st->o.before_load);
            }
            if (!st->o.no_load) {
                error = command(st, PROCESS_DO_LOAD);
                json_decref(load);
                load = load_json(st, st->o.loads[i]);
            }
            json_object_set_new(facts, "populate_s", json_real(populate_s));
            json_object_set_new(load, "fileset", facts);
            json_array_append_new(loads, load);
        }
    }
    json_object_set_new(out, "loads", loads);
    if (error == 0 && st->o.clean) {
        error = command(st, PROCESS_DO_CLEAN);
    }
    return error;
}

static void parse(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = {
        {"server", 1, NULL, 's'},      {"nfs-port", 1, NULL, 'n'},    {"mount-port", 1, NULL, 'm'},
        {"export", 1, NULL, 'e'},      {"workload", 1, NULL, 'w'},    {"set", 1, NULL, 'S'},
        {"ops", 1, NULL, 'o'},         {"processes", 1, NULL, 'p'},   {"warmup-s", 1, NULL, 'W'},
        {"run-s", 1, NULL, 'r'},       {"seed", 1, NULL, 'x'},        {"engine", 1, NULL, 'E'},
        {"validate", 1, NULL, 'v'},    {"clean", 0, NULL, 'c'},       {"stop-after-s", 1, NULL, 'T'},
        {"no-load", 0, NULL, 'N'},     {"intervals", 0, NULL, 'i'},   {"timeout-s", 1, NULL, 't'},
        {"connections", 1, NULL, 'C'}, {"before-load", 1, NULL, 'B'}, {NULL, 0, NULL, 0}};
    *o = (struct options){.server = "127.0.0.1",
                          .export_path = "/export",
                          .workload = "sfs3",
                          .engine = "native",
                          .n_processes = 1,
                          .warmup_s = 1,
                          .run_s = 3,
                          .seed = 1,
                          .timeout_s = 10,
                          .n_connections = 1};
    int c;
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case 's':
            o->server = optarg;
            break;
        case 'n':
            o->nfs_port = (uint16_t)atoi(optarg);
            break;
        case 'm':
            o->mount_port = (uint16_t)atoi(optarg);
            break;
        case 'e':
            o->export_path = optarg;
            break;
        case 'w':
            o->workload = optarg;
            break;
        case 'S':
            o->overrides = optarg;
            break;
        case 'o':
            for (char *t = strtok(optarg, ","); t != NULL && o->n_loads < MAX_LOADS; t = strtok(NULL, ",")) {
                o->loads[o->n_loads++] = atof(t);
            }
            break;
        case 'p':
            o->n_processes = (uint32_t)atoi(optarg);
            break;
        case 'W':
            o->warmup_s = atof(optarg);
            break;
        case 'r':
            o->run_s = atof(optarg);
            break;
        case 'x':
            o->seed = strtoull(optarg, NULL, 10);
            break;
        case 'E':
            o->engine = optarg;
            break;
        case 'v':
            o->validate_level = (uint32_t)atoi(optarg);
            break;
        case 'c':
            o->clean = true;
            break;
        case 'T':
            o->stop_after_s = atof(optarg);
            break;
        case 'B':
            o->before_load = optarg;
            break;
        case 'N':
            o->no_load = true;
            break;
        case 'i':
            o->intervals = true;
            break;
        case 't':
            o->timeout_s = atof(optarg);
            break;
        case 'C':
            o->n_connections = (uint32_t)atoi(optarg);
            break;
        default:
            exit(2);
        }
    }
    if (o->n_processes == 0 || o->n_processes > MAX_PROCESSES) {
        fprintf(stderr, "--processes: 1 to %d\n", MAX_PROCESSES);
        exit(2);
    }
}

static void read_workload(struct state *st)
{
    struct config_errors errors;
    struct config_source source = {0};
    config_errors_init(&errors);
    int error = config_load_text(&source, "--set", st->o.overrides != NULL ? st->o.overrides : "{}", &errors);
    json_t *name = json_string(st->o.workload);
    if (error == 0) {
        error = workload_resolve(&source, name, source.root, &st->w, &errors);
    }
    for (size_t i = 0; i < errors.n; i++) {
        fprintf(stderr, "%s\n", errors.messages[i]);
    }
    json_decref(name);
    config_source_fini(&source);
    config_errors_fini(&errors);
    if (error != 0) {
        exit(2);
    }
}

int main(int argc, char **argv)
{
    static struct state st;
    parse(argc, argv, &st.o);
    log_init("load_one", LOG_LEVEL_WARN);
    read_workload(&st);
    st.base = event_base_new();
    struct process_setup setups[MAX_PROCESSES];
    for (uint32_t p = 0; p < st.o.n_processes; p++) {
        setups[p] = (struct process_setup){
            .workload = &st.w,
            .client = {.engine = strcmp(st.o.engine, "libnfs") == 0 ? NFS3_ENGINE_LIBNFS : NFS3_ENGINE_NATIVE,
                       .server = st.o.server,
                       .export_path = st.o.export_path,
                       .nfs_port = st.o.nfs_port,
                       .mount_port = st.o.mount_port,
                       .n_connections = st.o.n_connections,
                       .timeout_ns = (int64_t)(st.o.timeout_s * 1e9),
                       .uid = getuid(),
                       .gid = getgid(),
                       .machine_name = "load_one"}};
    }
    struct supervisor_options options = {
        .process_main = process_main, .interval_log_bytes = interval_log_bytes(), .on_death = on_death, .arg = &st};
    char message[512];
    st.supervisor = supervisor_create(st.base, &options, setups, st.o.n_processes, message, sizeof message);
    if (st.supervisor == NULL) {
        fprintf(stderr, "%s\n", message);
        return 3;
    }
    json_t *out = json_object();
    int error = run(&st, out);
    json_object_set_new(out, "error", json_integer(error));
    if (error != 0) {
        const char *why = st.death;
        for (uint32_t p = 0; p < st.o.n_processes && why == NULL; p++) {
            const struct process_shared *s = supervisor_shared(st.supervisor, p);
            why = atomic_load(&s->state) == PROCESS_FAILED ? s->message : NULL;
        }
        json_object_set_new(out, "message", json_string(why != NULL ? why : ""));
    }
    json_dumpf(out, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(8));
    printf("\n");
    json_decref(out);
    supervisor_destroy(st.supervisor, NS_PER_S);
    event_base_free(st.base);
    workload_fini(&st.w);
    return error == 0 ? 0 : 1;
}
