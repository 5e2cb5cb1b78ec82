/* bench_target.c - what nfscurve-target carries: throughput by procedure, and its CPU time per operation.
 *
 *   ./run bench target [--data store|synth] [--threads N] [--run-s S] [--target PROGRAM] [--json FILE]
 *
 *   bare client, pinned to cpu 1 ──W calls outstanding on one connection──> nfscurve-target, pinned to cpu 0 (free with
 * --threads 2 and up)
 *
 * The client writes words by hand and costs a fraction of what the target does, so the target is what is measured:
 * "ops/s" is what came back, "us/op" the target's own CPU time (user and system) per call, "ops/s/cpu" what one
 * processor of it would carry.
 */
#include "bare_client.h"
#include "target_process.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES   (64u << 20)
#define DIR_FILES    30u
#define WARMUP_SHARE 0.2

enum {
    NULLPROC = 0,
    GETATTR = 1,
    SETATTR = 2,
    LOOKUP = 3,
    ACCESS = 4,
    READ = 6,
    WRITE = 7,
    CREATE = 8,
    REMOVE = 12,
    READDIR = 16,
    READDIRPLUS = 17,
    FSSTAT = 18,
    COMMIT = 21
};

static const struct row {
    const char *name;
    uint32_t procedure;
    uint32_t bytes;
    unsigned window;
} rows[] = {
    {"null", NULLPROC, 0, 128},  {"getattr", GETATTR, 0, 128},
    {"getattr", GETATTR, 0, 1},  {"lookup", LOOKUP, 0, 128},
    {"access", ACCESS, 0, 128},  {"setattr", SETATTR, 0, 128},
    {"create", CREATE, 0, 128},  {"remove", REMOVE, 0, 128},
    {"readdir", READDIR, 0, 64}, {"readdirplus", READDIRPLUS, 0, 64},
    {"fsstat", FSSTAT, 0, 128},  {"commit", COMMIT, 0, 128},
    {"read", READ, 4096, 64},    {"read", READ, 65536, 16},
    {"read", READ, 1 << 20, 4},  {"write", WRITE, 4096, 64},
    {"write", WRITE, 65536, 16}, {"write", WRITE, 1 << 20, 4},
};
#define N_ROWS (sizeof rows / sizeof *rows)

/* The client, and what it works on. */
struct caller {
    struct bare b;
    struct bare_fh root, file, dir, names; /* names: where CREATE and REMOVE work */
    uint64_t n_created, n_removed;
};

static uint8_t data[1 << 20];

static void fatal(const char *what)
{
    fprintf(stderr, "bench_target: %s: %s\n", what, strerror(errno));
    exit(3);
}

static int64_t cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec ts;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) != 0) {
        return 0;
    }
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void put_zeros(struct bare *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        bare_u32(b, 0);
    }
}

static void put_name(struct bare *b, uint64_t number)
{
    char name[32];
    bare_opaque(b, name, (uint32_t)snprintf(name, sizeof name, "file_en.%08llu", (unsigned long long)number));
}

static void put_call(struct caller *s, const struct row *row, uint64_t i)
{
    struct bare *b = &s->b;
    const struct bare_fh *fh = &s->file;
    uint64_t offset = row->bytes ? i * row->bytes % FILE_BYTES : 0;
    bare_begin(b, BARE_NFS, row->procedure);
    if (row->procedure == LOOKUP || row->procedure == READDIR || row->procedure == READDIRPLUS) {
        fh = &s->dir;
    } else if (row->procedure == CREATE || row->procedure == REMOVE) {
        fh = &s->names;
    } else if (row->procedure == FSSTAT) {
        fh = &s->root;
    }
    if (row->procedure != NULLPROC) {
        bare_opaque(b, fh->data, fh->len);
    }
    switch (row->procedure) {
    case SETATTR:
        bare_u32(b, 1);
        bare_u32(b, 0644);
        put_zeros(b, 6);
        break;
    case LOOKUP:
        put_name(b, i % DIR_FILES);
        break;
    case ACCESS:
        bare_u32(b, 0x3f);
        break;
    case READ:
        bare_u64(b, offset);
        bare_u32(b, row->bytes);
        break;
    case WRITE:
        bare_u64(b, offset);
        bare_u32(b, row->bytes);
        bare_u32(b, 0);
        bare_opaque(b, data, row->bytes);
        break;
    case CREATE:
        put_name(b, s->n_created++);
        bare_u32(b, 1);
        put_zeros(b, 6);
        break;
    case REMOVE:
        put_name(b, s->n_removed++);
        break;
    case READDIR:
        put_zeros(b, 4);
        bare_u32(b, 8192);
        break;
    case READDIRPLUS:
        put_zeros(b, 4);
        bare_u32(b, 8192);
        bare_u32(b, 8192);
        break;
    case COMMIT:
        put_zeros(b, 3);
        break;
    default:
        break;
    }
    bare_end(b);
}

static void take_reply(struct caller *s, const struct row *row)
{
    struct bare_reply reply;
    bare_receive(&s->b, &reply);
    if (row->procedure != NULLPROC && bare_word(&reply, 0) != 0) {
        fprintf(stderr, "bench_target: %s: status %u\n", row->name, bare_word(&reply, 0));
        exit(3);
    }
}

/* `row` for run_s seconds, or until every created name is removed. Returns the calls answered. */
static uint64_t drive(struct caller *s, const struct row *row, double run_s)
{
    uint64_t n_sent = 0, n_done = 0, limit = row->procedure == REMOVE ? s->n_created - s->n_removed : UINT64_MAX;
    int64_t end = bare_now_ns() + (int64_t)(run_s * 1e9);
    bool is_over = false;
    while (!is_over || n_done < n_sent) {
        while (!is_over && n_sent - n_done < row->window && n_sent < limit) {
            put_call(s, row, n_sent++);
        }
        bare_flush(&s->b);
        if (n_done == n_sent) {
            break;
        }
        do {
            take_reply(s, row);
            n_done++;
        } while (bare_has_reply(&s->b));
        is_over = bare_now_ns() >= end || n_sent == limit;
    }
    return n_done;
}

static void prepare(struct caller *s, int port)
{
    struct bare_fh ignored;
    char name[32];
    bare_connect(&s->b, "127.0.0.1", port);
    bare_mount(&s->b, "/export", &s->root);
    bare_make_file(&s->b, &s->root, "data", &s->file);
    bare_make_dir(&s->b, &s->root, "dir", &s->dir);
    bare_make_dir(&s->b, &s->root, "names", &s->names);
    for (unsigned i = 0; i < DIR_FILES; i++) {
        snprintf(name, sizeof name, "file_en.%08u", i);
        bare_make_file(&s->b, &s->dir, name, &ignored);
    }
    const struct row fill = {"write", WRITE, 1 << 20, 4};
    for (unsigned i = 0; i < FILE_BYTES >> 20; i++) {
        put_call(s, &fill, i);
        bare_flush(&s->b);
        take_reply(s, &fill);
    }
}

static void measure(struct caller *s, const struct target_process *server, const struct row *row, double run_s,
                    FILE *json, bool is_first)
{
    if (row->procedure != REMOVE) {
        drive(s, row, run_s * WARMUP_SHARE);
    }
    int64_t begin = bare_now_ns(), cpu = cpu_ns(server->pid);
    uint64_t n = drive(s, row, run_s);
    double wall_s = (double)(bare_now_ns() - begin) / 1e9, us = (double)(cpu_ns(server->pid) - cpu) / 1e3 / (double)n;
    double ops_per_s = (double)n / wall_s;
    printf("%-12s %8u %7u %12.0f %9.3f %12.0f %9.2f\n", row->name, row->bytes, row->window, ops_per_s, us, 1e6 / us,
           ops_per_s * row->bytes / 1e9);
    fflush(stdout);
    if (json) {
        fprintf(json,
                "%s\n  {\"op\": \"%s\", \"bytes\": %u, \"window\": %u, \"ops_per_s\": %.1f, \"cpu_us_per_op\": %.4f}",
                is_first ? "" : ",", row->name, row->bytes, row->window, ops_per_s, us);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"data", required_argument, NULL, 'd'},  {"threads", required_argument, NULL, 't'},
        {"run-s", required_argument, NULL, 'r'}, {"target", required_argument, NULL, 'p'},
        {"json", required_argument, NULL, 'j'},  {0}};
    const char *kind = "store", *threads = "1", *json_path = NULL;
    const char *program = NULL;
    char *end;
    double run_s = 1;
    for (int c = getopt_long(argc, argv, "", options, NULL); c != -1; c = getopt_long(argc, argv, "", options, NULL)) {
        switch (c) {
        case 'd':
            kind = optarg;
            break;
        case 't':
            threads = optarg;
            break;
        case 'r':
            run_s = strtod(optarg, &end);
            if (*end != '\0' || !(run_s > 0 && run_s <= 3600)) {
                fprintf(stderr, "bench_target: --run-s %s: seconds, up to 3600\n", optarg);
                return 2;
            }
            break;
        case 'p':
            program = optarg;
            break;
        case 'j':
            json_path = optarg;
            break;
        default:
            fprintf(stderr, "usage: bench_target [--data store|synth] [--threads N] [--run-s S] [--target PROGRAM] "
                            "[--json FILE]\n");
            return 2;
        }
    }
    struct target_process server;
    const char *const arguments[] = {"--data", kind, "--threads", threads, NULL};
    struct caller *s = calloc(1, sizeof *s);
    FILE *json = json_path ? fopen(json_path, "w") : NULL;
    if (!s || (json_path && !json)) {
        fatal(json_path ? json_path : "memory");
    }
    target_process_start(&server, program, arguments, strcmp(threads, "1") == 0 ? 0 : -1);
    bench_pin(1);
    prepare(s, server.port);
    if (json) {
        fprintf(json, "[");
    }
    printf("%-12s %8s %7s %12s %9s %12s %9s\n", "op", "bytes", "window", "ops/s", "us/op", "ops/s/cpu", "GB/s");
    for (unsigned i = 0; i < N_ROWS; i++) {
        measure(s, &server, &rows[i], run_s, json, i == 0);
    }
    if (json) {
        fprintf(json, "\n]\n");
        fclose(json);
    }
    bare_close(&s->b);
    free(s);
    return target_process_stop(&server) == 0 ? 0 : 1;
}
