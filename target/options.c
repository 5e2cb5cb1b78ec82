#include "options.h"
#include "units.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYNTH_CAPACITY_BYTES (UINT64_C(1) << 50)
#define MAX_THREADS          64u

enum option_id {
    OPT_LISTEN = 256,
    OPT_PORT,
    OPT_EXPORT,
    OPT_DATA,
    OPT_LATENCY,
    OPT_FAULT,
    OPT_CONTROL_FILE,
    OPT_CONTROL_ANSWER,
    OPT_READY_FILE,
    OPT_STATS_FILE,
    OPT_THREADS,
    OPT_RTMAX,
    OPT_WTMAX,
    OPT_DTPREF,
    OPT_CAPACITY,
    OPT_MAX_FILES,
    OPT_ROOT_MODE,
    OPT_ROOT_SQUASH,
    OPT_READ_ONLY,
    OPT_MAX_CONNECTIONS,
    OPT_SEED,
    OPT_HELP,
    OPT_VERSION
};

/* One row an option: parsing and help come from it. */
static const struct {
    enum option_id id;
    const char *name;
    const char *value; /* NULL: takes none */
    const char *help;
} rows[] = {
    {OPT_LISTEN, "listen", "ADDR", "numeric IPv4 or IPv6 address, repeatable (default 127.0.0.1; :: takes both)"},
    {OPT_PORT, "port", "N", "TCP port of NFS and MOUNT (default 2049; 0: a free one)"},
    {OPT_EXPORT, "export", "/PATH", "exported directory, repeatable (default /export)"},
    {OPT_DATA, "data", "store|synth", "keep file data, or make it from (file, offset) (default store)"},
    {OPT_LATENCY, "latency", "MODEL",
     "none, fixed:200us, exponential:1ms, curve:FILE, OP=MODEL; see the manual (default none)"},
    {OPT_FAULT, "fault", "RULE", "misbehave, as in read:index=5:status=NFS3ERR_IO, repeatable; see the manual"},
    {OPT_CONTROL_FILE, "control-file", "FILE", "lines 'fault RULE' and 'latency MODEL', read at start and on SIGHUP"},
    {OPT_CONTROL_ANSWER, "control-answer", "FILE",
     "what became of each reading of the control file as JSON: reads, error (null: done)"},
    {OPT_READY_FILE, "ready-file", "FILE", "written as JSON when the server is ready"},
    {OPT_STATS_FILE, "stats-file", "FILE", "counters by operation as JSON, written on SIGUSR1 and at the end"},
    {OPT_THREADS, "threads", "N", "event loops that share the connections (default 1)"},
    {OPT_RTMAX, "rtmax", "SIZE", "largest READ (default 1024KiB, which is the limit)"},
    {OPT_WTMAX, "wtmax", "SIZE", "largest WRITE (default 1024KiB, which is the limit)"},
    {OPT_DTPREF, "dtpref", "SIZE", "preferred READDIR size (default 64KiB)"},
    {OPT_CAPACITY, "capacity", "SIZE", "of file data (default: half of the memory; synth: 1024TiB)"},
    {OPT_MAX_FILES, "max-files", "N", "files and directories at most (default 10000000)"},
    {OPT_ROOT_MODE, "root-mode", "OCTAL", "mode of the exported directories (default 0777)"},
    {OPT_ROOT_SQUASH, "root-squash", NULL, "uid 0 is nobody"},
    {OPT_READ_ONLY, "read-only", NULL, "changes are refused with NFS3ERR_ROFS"},
    {OPT_MAX_CONNECTIONS, "max-connections", "N", "per thread (default 4096)"},
    {OPT_SEED, "seed", "N", "of chance in latencies and faults (default 1)"},
    {OPT_HELP, "help", NULL, "print this"},
    {OPT_VERSION, "version", NULL, "print the version"},
};
#define N_ROWS (sizeof rows / sizeof *rows)

static void print_help(void)
{
    printf("usage: nfscurve-target [OPTION]...\nAn NFSv3 server in memory.\n\n");
    for (unsigned i = 0; i < N_ROWS; i++) {
        char left[40];
        snprintf(left, sizeof left, "--%s%s%s", rows[i].name, rows[i].value ? " " : "",
                 rows[i].value ? rows[i].value : "");
        printf("  %-24s %s\n", left, rows[i].help);
    }
}

static int parse_number(const char *text, uint64_t min, uint64_t max, int base, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, base);
    if (errno || end == text || *end || text[0] == '-' || value < min || value > max) {
        return -EINVAL;
    }
    *out = value;
    return 0;
}

static int parse_transfer(const char *text, uint32_t *out)
{
    uint64_t bytes;
    if (units_parse_bytes(text, &bytes) < 0 || bytes < 512 || bytes > FS_MAX_TRANSFER) {
        return -EINVAL;
    }
    *out = (uint32_t)bytes;
    return 0;
}

static int push(const char **list, unsigned *n, unsigned max, const char *text)
{
    if (*n == max) {
        return -E2BIG;
    }
    list[(*n)++] = text;
    return 0;
}

/* 0, or a negative errno: the value does not fit the option. */
static int apply(struct target_options *o, enum option_id id, const char *text)
{
    uint64_t number = 0;
    int error = 0;
    switch (id) {
    case OPT_LISTEN:
        return push(o->listen, &o->n_listen, OPTIONS_MAX_LISTEN, text);
    case OPT_EXPORT:
        return push(o->exports, &o->n_exports, MOUNT_MAX_EXPORTS, text);
    case OPT_FAULT:
        return push(o->faults, &o->n_faults, OPTIONS_MAX_FAULTS, text);
    case OPT_PORT:
        error = parse_number(text, 0, 65535, 10, &number);
        o->port = (uint16_t)number;
        return error;
    case OPT_DATA:
        o->is_synth = strcmp(text, "synth") == 0;
        return o->is_synth || strcmp(text, "store") == 0 ? 0 : -EINVAL;
    case OPT_LATENCY:
        o->latency = text;
        return 0;
    case OPT_CONTROL_FILE:
        o->control_file = text;
        return 0;
    case OPT_CONTROL_ANSWER:
        o->control_answer = text;
        return 0;
    case OPT_READY_FILE:
        o->ready_file = text;
        return 0;
    case OPT_STATS_FILE:
        o->stats_file = text;
        return 0;
    case OPT_THREADS:
        error = parse_number(text, 1, MAX_THREADS, 10, &number);
        o->n_threads = (unsigned)number;
        return error;
    case OPT_RTMAX:
        return parse_transfer(text, &o->rtmax);
    case OPT_WTMAX:
        return parse_transfer(text, &o->wtmax);
    case OPT_DTPREF:
        return parse_transfer(text, &o->dtpref);
    case OPT_CAPACITY:
        return units_parse_bytes(text, &o->capacity_bytes);
    case OPT_MAX_FILES:
        error = parse_number(text, 1, 1u << 30, 10, &number);
        o->max_files = (uint32_t)number;
        return error;
    case OPT_ROOT_MODE:
        error = parse_number(text, 0, 07777, 8, &number);
        o->root_mode = (uint32_t)number;
        return error;
    case OPT_ROOT_SQUASH:
        o->squashes_root = true;
        return 0;
    case OPT_READ_ONLY:
        o->is_read_only = true;
        return 0;
    case OPT_MAX_CONNECTIONS:
        error = parse_number(text, 1, 1u << 20, 10, &number);
        o->max_connections = (unsigned)number;
        return error;
    case OPT_SEED:
        return parse_number(text, 0, UINT64_MAX, 10, &o->seed);
    case OPT_HELP:
    case OPT_VERSION:
        break;
    }
    return 0;
}

static void fill_defaults(struct target_options *o)
{
    if (o->n_listen == 0) {
        o->listen[o->n_listen++] = "127.0.0.1";
    }
    if (o->n_exports == 0) {
        o->exports[o->n_exports++] = "/export";
    }
    if (o->capacity_bytes == 0) {
        uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
        o->capacity_bytes = o->is_synth ? SYNTH_CAPACITY_BYTES : memory / 2;
    }
}

enum options_verdict options_parse(int argc, char **argv, struct target_options *options)
{
    struct option table[N_ROWS + 1];
    memset(table, 0, sizeof table);
    for (unsigned i = 0; i < N_ROWS; i++) {
        table[i] =
            (struct option){rows[i].name, rows[i].value ? required_argument : no_argument, NULL, (int)rows[i].id};
    }
    *options = (struct target_options){.port = 2049,
                                       .latency = "none",
                                       .n_threads = 1,
                                       .rtmax = FS_MAX_TRANSFER,
                                       .wtmax = FS_MAX_TRANSFER,
                                       .dtpref = 65536,
                                       .max_files = 10000000,
                                       .root_mode = 0777,
                                       .max_connections = 4096,
                                       .seed = 1};
    for (int id = getopt_long(argc, argv, "h", table, NULL); id != -1; id = getopt_long(argc, argv, "h", table, NULL)) {
        if (id == OPT_HELP || id == 'h') {
            print_help();
            return OPTIONS_SHOWN;
        }
        if (id == OPT_VERSION) {
            printf("nfscurve-target %s\n", NFSCURVE_VERSION);
            return OPTIONS_SHOWN;
        }
        if (id == '?') {
            fprintf(stderr, "nfscurve-target: --help lists the options\n");
            return OPTIONS_WRONG;
        }
        if (apply(options, (enum option_id)id, optarg) < 0) {
            fprintf(stderr, "nfscurve-target: --%s: '%s' does not fit; expected %s: %s\n", rows[id - OPT_LISTEN].name,
                    optarg, rows[id - OPT_LISTEN].value, rows[id - OPT_LISTEN].help);
            return OPTIONS_WRONG;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "nfscurve-target: '%s' is no option\n", argv[optind]);
        return OPTIONS_WRONG;
    }
    fill_defaults(options);
    return OPTIONS_OK;
}
