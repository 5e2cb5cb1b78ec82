/* campaign_config.h - a campaign as the user wrote it, checked and with every default filled in.
 *
 *   CAMPAIGN.json ──config_load_file──> --set assignments ──tables──> struct campaign_config ──campaign_config_dump──>
 * campaign.json
 *
 * Every error of a file is reported at once. Names are resolved to indices, file names to absolute paths (relative ones
 * are looked up beside the campaign file), so that the dump is itself a campaign that repeats the run from anywhere.
 */
#ifndef NFSCURVE_PRIME_CAMPAIGN_CONFIG_H
#define NFSCURVE_PRIME_CAMPAIGN_CONFIG_H

#include "config.h"
#include "workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CAMPAIGN_MAX_POINTS   1000u
#define CAMPAIGN_MAX_LOADGENS 1024u
#define CAMPAIGN_MAX_TARGETS  256u
#define CAMPAIGN_MAX_GIDS     16u

/* Of one point; no server comes near. */
#define CAMPAIGN_MAX_OPS_PER_S 1e9

/* A target that the prime starts itself on loopback. */
struct local_target {
    char *export_path;
    char *data;    /* "store" | "synth" */
    char *latency; /* a model of nfscurve-target, "" for none; the file of "curve:FILE" is absolute */
    char **args;   /* further arguments of nfscurve-target */
    size_t n_args;
};

struct campaign_target {
    char *name, *server, *export_path; /* server is "" while is_local */
    int64_t nfs_port, mount_port;      /* 0: ask the server's portmapper */
    bool is_local;
    struct local_target local;
};

struct campaign_loadgen {
    char *name, *host;
    int64_t port;
    char *source_address; /* "" for any */
    bool is_local;
    uint32_t *targets; /* indices; every target unless is_mapped */
    size_t n_targets;
    bool is_mapped;
};

struct campaign_config {
    char *name;
    struct workload workload;
    struct workload preset; /* of the same name, as published; valid when has_preset */
    bool has_preset;

    double *loads; /* requested ops/s of each point, ascending */
    size_t n_loads;
    double warmup_s, run_s;
    int64_t repeats;
    double stop_after_fall_percent; /* 0: never */

    int64_t processes_per_loadgen, connections_per_process;
    int engine; /* 0 native, 1 libnfs */
    double timeout_s;
    int64_t seed;
    int64_t validate_level; /* 0: not validated */
    bool clean_up;

    int64_t uid, gid;
    uint32_t gids[CAMPAIGN_MAX_GIDS];
    size_t n_gids;
    bool reserved_port;

    struct campaign_target *targets;
    size_t n_targets;
    struct campaign_loadgen *loadgens;
    size_t n_loadgens;

    char *key_file;       /* "" for none */
    char *monitor_script; /* "" for none */
    char **monitor_args;
    size_t n_monitor_args;
    double monitor_timeout_s;

    json_t *disclosure;  /* object */
    json_t *nonstandard; /* array of strings: everything that makes the result non-standard; empty when standard */
};

/* Reads and checks `path` with the --set assignments applied. 0, or -EINVAL (or what opening the file gave) with every
 * error in `errors`. `out` is filled from zero; free with campaign_config_fini, also after an error. */
int campaign_config_load(const char *path, const char *const *assignments, size_t n_assignments,
                         struct campaign_config *out, struct config_errors *errors);

/* Same from text; `name` stands for the file in messages and tells where relative file names start. */
int campaign_config_from_text(const char *name, const char *text, const char *const *assignments, size_t n_assignments,
                              struct campaign_config *out, struct config_errors *errors);

void campaign_config_fini(struct campaign_config *c);

/* The whole campaign, every key present. New reference. Reading it again gives the same campaign. */
json_t *campaign_config_dump(const struct campaign_config *c);

const char *campaign_engine_name(const struct campaign_config *c);

/* True when every load generator drives every target with the same number of processes. */
bool campaign_access_is_uniform(const struct campaign_config *c);

/* Target of a process: round robin over the targets of its load generator. */
uint32_t campaign_process_target(const struct campaign_config *c, uint32_t loadgen, uint32_t process);

/* The tables of keys as Markdown, for the documentation. */
void campaign_config_print_docs(FILE *file);

#endif
