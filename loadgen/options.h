/* options.h - the command line of nfscurve-loadgen: one table row per option for parsing, help and errors. */
#ifndef NFSCURVE_LOADGEN_OPTIONS_H
#define NFSCURVE_LOADGEN_OPTIONS_H

#include "target_filter.h"

#include <stdbool.h>
#include <stdint.h>

struct loadgen_options {
    char listen_address[64]; /* numeric */
    uint16_t listen_port;
    const char *key_file;     /* NULL: none */
    const char *ready_file;   /* NULL: none */
    bool is_insecure_allowed; /* --insecure-no-key */
    bool is_verbose;
    int64_t lease_ns;
    struct target_filter filter;
};

enum options_result {
    OPTIONS_RUN,
    OPTIONS_DONE, /* --help or --version was printed */
    OPTIONS_BAD   /* the message says what is wrong */
};

enum options_result options_parse(int argc, char **argv, struct loadgen_options *options, char *message, size_t cap);

/* "ADDR", "ADDR:PORT", "[ADDR]:PORT" with a numeric address. 0 or -EINVAL; the port stays as it was when none is given.
 */
int options_parse_listen(const char *text, char address[static 64], uint16_t *port);

/* Whether only this host can reach it. */
bool options_is_loopback(const char *address);

#endif
