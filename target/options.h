/* options.h - what the command line of nfscurve-target asks for. */
#ifndef NFSCURVE_TARGET_OPTIONS_H
#define NFSCURVE_TARGET_OPTIONS_H

#include "mount_service.h"

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_MAX_LISTEN 8u
#define OPTIONS_MAX_FAULTS 64u

struct target_options {
    const char *listen[OPTIONS_MAX_LISTEN];
    unsigned n_listen;
    uint16_t port;
    const char *exports[MOUNT_MAX_EXPORTS];
    unsigned n_exports;
    bool is_synth, is_read_only, squashes_root;
    const char *latency;
    const char *faults[OPTIONS_MAX_FAULTS];
    unsigned n_faults;
    const char *control_file, *control_answer, *ready_file, *stats_file; /* NULL: none */
    unsigned n_threads;
    uint32_t rtmax, wtmax, dtpref;
    uint64_t capacity_bytes; /* 0: by the kind of data */
    uint32_t max_files;
    uint32_t root_mode;
    unsigned max_connections;
    uint64_t seed;
};

enum options_verdict { OPTIONS_OK, OPTIONS_SHOWN, OPTIONS_WRONG }; /* SHOWN: help or version was printed */

/* Strings point into argv. Complains on stderr. */
enum options_verdict options_parse(int argc, char **argv, struct target_options *options);

#endif
