/* bench.h - the parts that bench_ops and bench_bytes share.
 *
 *   server (nfscurve-target, pinned to one cpu) <──TCP── contestants, one after the other, pinned to another cpu
 *
 *   repeat 1:  native, libnfs, bare, floor      every contestant keeps its connection; repeats alternate, so that a
 * noisy moment repeat 2:  native, libnfs, bare, floor      hits all of them; figures are medians, ratios are medians of
 * the ratios within a
 *   ...                                         repeat.
 */
#ifndef NFSCURVE_BENCH_BENCH_H
#define NFSCURVE_BENCH_BENCH_H

#include "nfs3_client.h"

#include <jansson.h>

#define BENCH_MAX_WINDOW  512
#define BENCH_MAX_REPEATS 32
#define BENCH_FILE        "bench.file"
#define BENCH_FILE_BYTES  (64u << 20)

/* Where the server is and what to work on there. */
struct bench_server {
    char address[64];
    uint16_t port;
    char export_path[256];
    int pid; /* 0: not ours */
    struct nfs3_fh root, file;
};

/* One thing to do, W at a time. */
struct bench_case {
    enum nfs_op op; /* GETATTR, LOOKUP, READ, WRITE */
    uint32_t window;
    uint32_t bytes; /* READ, WRITE */
};

struct bench_sample {
    uint64_t n_ops;
    int64_t wall_ns, cpu_ns;
};

struct contestant {
    const char *name;
    /* Connects. NULL: could not, the reason is on stderr. */
    void *(*open)(const struct bench_server *server);
    /* Does the case for `run_ns` and leaves nothing in flight. Exits when the server answers wrongly. */
    void (*run)(void *self, const struct bench_case *c, int64_t run_ns, struct bench_sample *out);
    void (*close)(void *self);
};

extern const struct contestant contestant_native, contestant_libnfs, contestant_bare, contestant_floor;

struct bench_options {
    int64_t run_ns;
    unsigned n_repeats;
    const char *server;    /* "ADDRESS:PORT/EXPORT", NULL: start nfscurve-target */
    const char *json_path; /* NULL: stdout */
    int server_cpu, client_cpu;
    const char *only_op;
    uint32_t only_window;
    const char *only_client;
};

/* Command line to options; prints usage and exits when it is wrong. */
void bench_parse(int argc, char **argv, struct bench_options *options);

/* Starts or finds the server, pins both, makes the file. Exits with a reason when that fails. */
void bench_begin(const struct bench_options *options, struct bench_server *server);
void bench_end(struct bench_server *server);

/* Runs every case with all contestants; writes a table to stderr and the figures as JSON. Returns the exit status. */
int bench_run(const char *name, const struct bench_options *options, const struct bench_case *cases, unsigned n_cases);

/* CPU time of this process. */
int64_t bench_cpu_ns(void);

_Noreturn void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
