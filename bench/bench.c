/* bench.c - see bench.h. */
#include "bench.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_CONTESTANTS 4
#define READY_LIMIT_S 10

static const struct contestant *const everyone[N_CONTESTANTS] = {&contestant_native, &contestant_libnfs,
                                                                 &contestant_bare, &contestant_floor};
static const struct contestant *contestants[N_CONTESTANTS]; /* those that run; ratios are the first's to each other's */
static unsigned n_contestants;
static pid_t server_pid; /* killed by bench_die */

_Noreturn void bench_die(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    if (server_pid > 0)
        kill(server_pid, SIGKILL);
    exit(3);
}

int64_t bench_cpu_ns(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * NS_PER_US;
}

/* ---- options ---- */

_Noreturn static void usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--seconds S] [--repeats N] [--server ADDRESS:PORT/EXPORT] [--json FILE] [--op NAME] [--window "
            "N] [--cpus SERVER,CLIENT]\n"
            "Starts nfscurve-target on one cpu and measures the NFS clients on another; a table on stderr, JSON on "
            "stdout or in FILE.\n",
            program);
    exit(2);
}

/* A number of at least `least`, with nothing behind it but `end`; else the usage. *rest is what follows. */
static double number(const char *program, const char *text, double least, const char *end, const char **rest)
{
    char *stop;
    double v = strtod(text, &stop);
    if (stop == text || !(v >= least) || strncmp(stop, end, strlen(end)) != 0 || (!*end && *stop))
        usage(program);
    *rest = stop + strlen(end);
    return v;
}

void bench_parse(int argc, char **argv, struct bench_options *o)
{
    *o = (struct bench_options){.run_ns = NS_PER_S / 2, .n_repeats = 5, .server_cpu = 0, .client_cpu = 1};
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL, *rest;
        if (!value)
            usage(argv[0]);
        if (strcmp(argv[i], "--seconds") == 0)
            o->run_ns = (int64_t)(number(argv[0], value, 1e-3, "", &rest) * NS_PER_S);
        else if (strcmp(argv[i], "--repeats") == 0)
            o->n_repeats = (unsigned)number(argv[0], value, 1, "", &rest);
        else if (strcmp(argv[i], "--server") == 0)
            o->server = value;
        else if (strcmp(argv[i], "--json") == 0)
            o->json_path = value;
        else if (strcmp(argv[i], "--op") == 0)
            o->only_op = value;
        else if (strcmp(argv[i], "--window") == 0)
            o->only_window = (uint32_t)number(argv[0], value, 1, "", &rest);
        else if (strcmp(argv[i], "--client") == 0)
            o->only_client = value;
        else if (strcmp(argv[i], "--cpus") == 0) {
            o->server_cpu = (int)number(argv[0], value, 0, ",", &rest);
            o->client_cpu = (int)number(argv[0], rest, 0, "", &rest);
        } else
            usage(argv[0]);
    }
    if (o->n_repeats < 1 || o->n_repeats > BENCH_MAX_REPEATS || o->run_ns <= 0)
        usage(argv[0]);
}

/* ---- the server ---- */

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fprintf(stderr, "bench: cannot use cpu %d alone: %s\n", cpu, strerror(errno));
}

/* build/bench/bench_ops -> build/target/nfscurve-target, or beside the program, or in bin/ beside build/. */
static void find_target(char path[PATH_MAX])
{
    static const char *const places[] = {"/../target/nfscurve-target", "/nfscurve-target",
                                         "/../../bin/nfscurve-target"};
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        bench_die("cannot read /proc/self/exe");
    const char *dir = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, PATH_MAX, "%s%s", dir, places[i]);
        if (access(path, X_OK) == 0)
            return;
    }
    bench_die("no nfscurve-target beside %s: ./run build", dir);
}

static void start_target(struct bench_server *server, int cpu)
{
    char path[PATH_MAX], ready[] = "/tmp/nfscurve-bench-XXXXXX", file[sizeof ready + 16];
    find_target(path);
    if (!mkdtemp(ready))
        bench_die("mkdtemp: %s", strerror(errno));
    snprintf(file, sizeof file, "%s/ready", ready);
    pid_t parent = getpid();
    server_pid = fork();
    if (server_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        pin(cpu);
        dup2(2, 1);
        execl(path, path, "--listen", "127.0.0.1", "--port", "0", "--export", "/export", "--data", "synth",
              "--ready-file", file, (char *)NULL);
        _exit(127);
    }
    json_t *facts = NULL;
    for (int i = 0; i < READY_LIMIT_S * 100 && !facts; i++) {
        facts = json_load_file(file, 0, NULL);
        if (!facts && waitpid(server_pid, NULL, WNOHANG) == server_pid)
            bench_die("nfscurve-target ended");
        if (!facts)
            usleep(10000);
    }
    unlink(file);
    rmdir(ready);
    if (!facts)
        bench_die("nfscurve-target is not ready after %d s", READY_LIMIT_S);
    snprintf(server->address, sizeof server->address, "127.0.0.1");
    server->port = (uint16_t)json_integer_value(json_object_get(facts, "port"));
    snprintf(server->export_path, sizeof server->export_path, "%s",
             json_string_value(json_object_get(facts, "export")));
    server->pid = server_pid;
    json_decref(facts);
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

void bench_begin(const struct bench_options *options, struct bench_server *server)
{
    signal(SIGPIPE, SIG_IGN);
    memset(server, 0, sizeof *server);
    if (!options->server) {
        start_target(server, options->server_cpu);
    } else {
        const char *colon = strchr(options->server, ':'), *rest;
        if (!colon || (size_t)(colon - options->server) >= sizeof server->address)
            bench_die("--server wants ADDRESS:PORT/EXPORT");
        memcpy(server->address, options->server, (size_t)(colon - options->server));
        server->port = (uint16_t)number("bench", colon + 1, 1, "/", &rest);
        snprintf(server->export_path, sizeof server->export_path, "/%s", rest);
    }
    pin(options->client_cpu);
    make_file(server);
}

void bench_end(struct bench_server *server)
{
    if (server->pid <= 0)
        return;
    kill(server->pid, SIGTERM);
    waitpid(server->pid, NULL, 0);
    server_pid = 0;
}

/* ---- figures ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, unsigned n)
{
    double sorted[BENCH_MAX_REPEATS];
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* Per contestant and repeat. */
struct figures {
    double ops_per_s[N_CONTESTANTS][BENCH_MAX_REPEATS];
    double cpu_us_per_op[N_CONTESTANTS][BENCH_MAX_REPEATS];
};

static double ratio(double values[][BENCH_MAX_REPEATS], unsigned a, unsigned b, unsigned n)
{
    double ratios[BENCH_MAX_REPEATS] = {0};
    for (unsigned i = 0; i < n; i++)
        ratios[i] = values[a][i] / values[b][i];
    return median(ratios, n);
}

static json_t *array_of(const double *values, unsigned n)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(array, json_real(values[i]));
    return array;
}

static json_t *figures_to_json(const struct bench_case *c, struct figures *f, unsigned n)
{
    json_t *out =
        json_pack("{s:s, s:i, s:i}", "op", nfs_op_name(c->op), "window", (int)c->window, "bytes", (int)c->bytes);
    json_t *by_name = json_object();
    for (unsigned k = 0; k < n_contestants; k++) {
        double ops = median(f->ops_per_s[k], n), cpu = median(f->cpu_us_per_op[k], n);
        json_t *one =
            json_pack("{s:f, s:f, s:o, s:o}", "ops_per_s", ops, "cpu_us_per_op", cpu, "ops_per_s_repeats",
                      array_of(f->ops_per_s[k], n), "cpu_us_per_op_repeats", array_of(f->cpu_us_per_op[k], n));
        if (c->bytes) {
            json_object_set_new(one, "gb_per_s", json_real(ops * c->bytes / 1e9));
            json_object_set_new(one, "gb_per_s_per_core", json_real(c->bytes / cpu / 1e3));
        }
        json_object_set_new(by_name, contestants[k]->name, one);
    }
    json_object_set_new(out, "contestants", by_name);
    json_t *ratios = json_object();
    for (unsigned k = 1; k < n_contestants; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s/%s", contestants[0]->name, contestants[k]->name);
        json_object_set_new(ratios, name,
                            json_pack("{s:f, s:f}", "cpu_per_op", ratio(f->cpu_us_per_op, 0, k, n), "ops_per_s",
                                      ratio(f->ops_per_s, 0, k, n)));
    }
    json_object_set_new(out, "ratios", ratios);
    return out;
}

static void print_case(const struct bench_case *c, struct figures *f, unsigned n)
{
    char what[48];
    snprintf(what, sizeof what, c->bytes ? "%s %u KiB" : "%s", nfs_op_name(c->op), c->bytes / 1024);
    for (unsigned k = 0; k < n_contestants; k++) {
        double ops = median(f->ops_per_s[k], n), cpu = median(f->cpu_us_per_op[k], n);
        fprintf(stderr, "%-16s %6u  %-14s %12.0f %10.3f", k ? "" : what, c->window, contestants[k]->name, ops, cpu);
        if (c->bytes)
            fprintf(stderr, " %8.2f %8.2f", ops * c->bytes / 1e9, c->bytes / cpu / 1e3);
        if (k)
            fprintf(stderr, "   %s: %.2fx the CPU per op, %.2fx the ops/s", contestants[0]->name,
                    ratio(f->cpu_us_per_op, 0, k, n), ratio(f->ops_per_s, 0, k, n));
        fprintf(stderr, "\n");
    }
}

int bench_run(const char *name, const struct bench_options *o, const struct bench_case *cases, unsigned n_cases)
{
    struct bench_server server;
    void *self[N_CONTESTANTS];
    json_t *out = json_array();
    for (unsigned k = 0; k < N_CONTESTANTS; k++) {
        if (!o->only_client || strcmp(o->only_client, everyone[k]->name) == 0)
            contestants[n_contestants++] = everyone[k];
    }
    if (n_contestants == 0)
        bench_die("no client is called %s", o->only_client);
    bench_begin(o, &server);
    for (unsigned k = 0; k < n_contestants; k++)
        self[k] = contestants[k]->open(&server);
    fprintf(stderr, "%-16s %6s  %-14s %12s %10s %8s %8s\n", "op", "window", "client", "ops/s", "cpu us/op", "GB/s",
            "GB/s/core");
    for (unsigned i = 0; i < n_cases; i++) {
        const struct bench_case *c = &cases[i];
        if ((o->only_op && strcmp(o->only_op, nfs_op_name(c->op)) != 0) ||
            (o->only_window && o->only_window != c->window))
            continue;
        struct figures f;
        struct bench_sample sample;
        for (unsigned k = 0; k < n_contestants; k++)
            contestants[k]->run(self[k], c, o->run_ns / 10, &sample); /* warm: caches, buffers, TCP windows */
        for (unsigned r = 0; r < o->n_repeats; r++) {
            for (unsigned k = 0; k < n_contestants; k++) {
                contestants[k]->run(self[k], c, o->run_ns, &sample);
                f.ops_per_s[k][r] = (double)sample.n_ops * 1e9 / (double)sample.wall_ns;
                f.cpu_us_per_op[k][r] = (double)sample.cpu_ns / 1e3 / (double)sample.n_ops;
            }
        }
        print_case(c, &f, o->n_repeats);
        json_array_append_new(out, figures_to_json(c, &f, o->n_repeats));
    }
    for (unsigned k = 0; k < n_contestants; k++)
        contestants[k]->close(self[k]);
    bench_end(&server);
    json_t *document =
        json_pack("{s:s, s:f, s:i, s:s, s:o}", "benchmark", name, "seconds", (double)o->run_ns / 1e9, "repeats",
                  (int)o->n_repeats, "server", o->server ? o->server : "nfscurve-target", "cases", out);
    int status = o->json_path ? json_dump_file(document, o->json_path, JSON_INDENT(2))
                              : json_dumpf(document, stdout, JSON_INDENT(2));
    if (!o->json_path)
        putchar('\n');
    json_decref(document);
    return status ? 3 : 0;
}
