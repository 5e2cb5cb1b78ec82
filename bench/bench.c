/* bench.c - see bench.h. */
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define N_CONTESTANTS 4
#define RUN_NS        (300 * NS_PER_MS) /* two servers, 15 cases, 4 contestants, 5 repeats: 3 min */

static const struct contestant *const everyone[N_CONTESTANTS] = {&contestant_native, &contestant_libnfs,
                                                                 &contestant_bare, &contestant_floor};
static const struct contestant *contestants[N_CONTESTANTS]; /* those that run; ratios are the first's to each other's */
static unsigned n_contestants;

_Noreturn void bench_die(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
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
            "usage: %s [--seconds S] [--repeats N] [--server SERVER] [--json FILE] [--op NAME] [--window N]\n"
            "       [--client NAME] [--cpus SERVER,CLIENT]\n"
            "Starts the servers on one cpu and measures the NFS clients on another; a table on stderr, JSON on stdout\n"
            "or in FILE.\n"
            "  " BENCH_TARGET_NAME "  a real server: what clients carry together with it. For small operations it is\n"
            "                   slower than the native client, so ops/s say little about the client then\n"
            "  " BENCH_CANNED_NAME
            "           (ops only) replies encoded beforehand: what a client carries when the server is no limit\n"
            "  ADDRESS:PORT/EXPORT  a server that runs already\n"
            "Without --server all that the benchmark has are measured, in turns.\n",
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

static void choose_server(const char *program, const char *name, struct bench_options *o)
{
    unsigned all = o->servers;
    o->servers = 0;
    if (strcmp(name, BENCH_TARGET_NAME) == 0)
        o->servers = all & BENCH_TARGET;
    else if (strcmp(name, BENCH_CANNED_NAME) == 0)
        o->servers = all & BENCH_CANNED;
    else
        o->address = strchr(name, ':') ? name : NULL;
    if (!o->servers && !o->address)
        usage(program);
}

void bench_parse(int argc, char **argv, unsigned servers, struct bench_options *o)
{
    *o = (struct bench_options){.servers = servers, .run_ns = RUN_NS, .n_repeats = 5, .server_cpu = 0, .client_cpu = 1};
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL, *rest;
        if (!value)
            usage(argv[0]);
        if (strcmp(argv[i], "--seconds") == 0)
            o->run_ns = (int64_t)(number(argv[0], value, 1e-3, "", &rest) * NS_PER_S);
        else if (strcmp(argv[i], "--repeats") == 0)
            o->n_repeats = (unsigned)number(argv[0], value, 1, "", &rest);
        else if (strcmp(argv[i], "--server") == 0)
            choose_server(argv[0], value, o);
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

/* A server, the clients that are connected to it, and what they did in the present case. */
struct bench_place {
    const struct bench_server *server;
    void *clients[N_CONTESTANTS];
    struct figures figures;
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

static json_t *figures_to_json(const struct bench_case *c, const char *server, struct figures *f, unsigned n)
{
    json_t *out = json_pack("{s:s, s:s, s:i, s:i}", "server", server, "op", nfs_op_name(c->op), "window",
                            (int)c->window, "bytes", (int)c->bytes);
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

static void print_case(const struct bench_case *c, const char *server, struct figures *f, unsigned n)
{
    char what[48];
    snprintf(what, sizeof what, c->bytes ? "%s %u KiB" : "%s", nfs_op_name(c->op), c->bytes / 1024);
    for (unsigned k = 0; k < n_contestants; k++) {
        double ops = median(f->ops_per_s[k], n), cpu = median(f->cpu_us_per_op[k], n);
        fprintf(stderr, "%-16s %-14s %6u  %-14s %12.0f %10.3f", k ? "" : server, k ? "" : what, c->window,
                contestants[k]->name, ops, cpu);
        if (c->bytes)
            fprintf(stderr, " %8.2f %8.2f", ops * c->bytes / 1e9, c->bytes / cpu / 1e3);
        if (k)
            fprintf(stderr, "   %s: %.2fx the CPU per op, %.2fx the ops/s", contestants[0]->name,
                    ratio(f->cpu_us_per_op, 0, k, n), ratio(f->ops_per_s, 0, k, n));
        fprintf(stderr, "\n");
    }
}

static void measure(struct bench_place *place, const struct bench_case *c, int64_t run_ns, unsigned repeat)
{
    for (unsigned k = 0; k < n_contestants; k++) {
        struct bench_sample sample;
        contestants[k]->run(place->clients[k], c, run_ns, &sample);
        place->figures.ops_per_s[k][repeat] = (double)sample.n_ops * 1e9 / (double)sample.wall_ns;
        place->figures.cpu_us_per_op[k][repeat] = (double)sample.cpu_ns / 1e3 / (double)sample.n_ops;
    }
}

static void run_case(const struct bench_options *o, const struct bench_case *c, struct bench_place *places, unsigned n,
                     json_t *out)
{
    for (unsigned s = 0; s < n; s++)
        measure(&places[s], c, o->run_ns / 10, 0); /* warm: caches, buffers, TCP windows; the figures are replaced */
    for (unsigned r = 0; r < o->n_repeats; r++) {
        for (unsigned s = 0; s < n; s++)
            measure(&places[s], c, o->run_ns, r);
    }
    for (unsigned s = 0; s < n; s++) {
        print_case(c, places[s].server->name, &places[s].figures, o->n_repeats);
        json_array_append_new(out, figures_to_json(c, places[s].server->name, &places[s].figures, o->n_repeats));
    }
}

static bool is_wanted(const struct bench_options *o, const struct bench_case *c)
{
    return (!o->only_op || strcmp(o->only_op, nfs_op_name(c->op)) == 0) &&
           (!o->only_window || o->only_window == c->window);
}

static int write_document(const char *name, const struct bench_options *o, json_t *cases)
{
    json_t *document = json_pack("{s:s, s:f, s:i, s:o}", "benchmark", name, "seconds", (double)o->run_ns / 1e9,
                                 "repeats", (int)o->n_repeats, "cases", cases);
    int status = o->json_path ? json_dump_file(document, o->json_path, JSON_INDENT(2))
                              : json_dumpf(document, stdout, JSON_INDENT(2));
    if (!o->json_path)
        putchar('\n');
    json_decref(document);
    return status;
}

int bench_run(const char *name, const struct bench_options *o, const struct bench_case *cases, unsigned n_cases)
{
    struct bench_server servers[BENCH_MAX_SERVERS];
    struct bench_place places[BENCH_MAX_SERVERS];
    json_t *out = json_array();
    for (unsigned k = 0; k < N_CONTESTANTS; k++) {
        if (!o->only_client || strcmp(o->only_client, everyone[k]->name) == 0)
            contestants[n_contestants++] = everyone[k];
    }
    if (n_contestants == 0)
        bench_die("no client is called %s", o->only_client);
    unsigned n = bench_begin(o, servers);
    for (unsigned s = 0; s < n; s++) {
        places[s].server = &servers[s];
        for (unsigned k = 0; k < n_contestants; k++)
            places[s].clients[k] = contestants[k]->open(&servers[s]);
    }
    fprintf(stderr, "%-16s %-14s %6s  %-14s %12s %10s %8s %8s\n", "server", "op", "window", "client", "ops/s",
            "cpu us/op", "GB/s", "GB/s/core");
    for (unsigned i = 0; i < n_cases; i++) {
        if (is_wanted(o, &cases[i]))
            run_case(o, &cases[i], places, n, out);
    }
    for (unsigned s = 0; s < n; s++) {
        for (unsigned k = 0; k < n_contestants; k++)
            contestants[k]->close(places[s].clients[k]);
        bench_end(&servers[s]);
    }
    return write_document(name, o, out) ? 3 : 0;
}
