/* bench.h - the parts that bench_ops and bench_bytes share.
 *
 *   servers, pinned to one cpu <──TCP── contestants, one after the other, pinned to another cpu
 *
 *   repeat 1:  target: native, libnfs, bare, floor   canned: native, libnfs, bare, floor
 *   repeat 2:  target: native, libnfs, bare, floor   canned: native, libnfs, bare, floor
 *   ...
 *
 * Every contestant keeps a connection to every server; repeats alternate, so that a noisy moment hits all of them;
 * figures are medians, ratios are medians of the ratios within a repeat.
 *
 * nfscurve-target is a real server: what is measured there is client and server together, and for small operations it
 * is the slower of the two. The canned server (canned.c) costs next to nothing: there the client is the limit.
 */
#ifndef NFSCURVE_BENCH_BENCH_H
#define NFSCURVE_BENCH_BENCH_H

#include "nfs3_client.h"

#include <jansson.h>
#include <sys/types.h>

#define BENCH_MAX_WINDOW  512
#define BENCH_MAX_REPEATS 32
#define BENCH_MAX_SERVERS 2
#define BENCH_TARGET_NAME "nfscurve-target"
#define BENCH_CANNED_NAME "canned"
#define BENCH_FILE        "bench.file"
#define BENCH_FILE_BYTES  (64u << 20)

/* Where the server is and what to work on there. */
struct bench_server {
    const char *name;
    char address[64];
    uint16_t port;
    char export_path[256];
    pid_t pid; /* 0: not ours */
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

/* Servers that a benchmark starts: bits. */
enum { BENCH_TARGET = 1, BENCH_CANNED = 2 };

struct bench_options {
    unsigned servers;
    int64_t run_ns;
    unsigned n_repeats;
    const char *address;   /* "ADDRESS:PORT/EXPORT" of one that runs already, or NULL */
    const char *json_path; /* NULL: stdout */
    int server_cpu, client_cpu;
    const char *only_op;
    uint32_t only_window;
    const char *only_client;
};

/* Command line to options; prints usage and exits when it is wrong. `servers`: those that the benchmark has. */
void bench_parse(int argc, char **argv, unsigned servers, struct bench_options *options);

/* Starts or finds the servers, pins them and this process, makes the file on each. How many; exits with a reason when
 * that fails. They end with this process, or by bench_end. */
unsigned bench_begin(const struct bench_options *options, struct bench_server servers[static BENCH_MAX_SERVERS]);
void bench_end(struct bench_server *server);

/* Starts the canned server of 127.0.0.1 as a process of its own. Its pid, or a negative errno. */
pid_t canned_start(int cpu, uint16_t *port);

/* Runs every case with all contestants; writes a table to stderr and the figures as JSON. Returns the exit status. */
int bench_run(const char *name, const struct bench_options *options, const struct bench_case *cases, unsigned n_cases);

/* CPU time of this process. */
int64_t bench_cpu_ns(void);

_Noreturn void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
