/* options.c - see options.h. */
#include "options.h"

#include "clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT    7049
#define DEFAULT_LEASE_S 10

static int set_listen(struct loadgen_options *o, const char *value)
{
    return options_parse_listen(value, o->listen_address, &o->listen_port);
}

static int set_key_file(struct loadgen_options *o, const char *value)
{
    o->key_file = value;
    return 0;
}

static int set_insecure(struct loadgen_options *o, const char *value)
{
    (void)value;
    o->is_insecure_allowed = true;
    return 0;
}

static int add_target(struct loadgen_options *o, const char *value)
{
    return target_filter_add(&o->filter, value);
}

static int set_lease(struct loadgen_options *o, const char *value)
{
    char *end;
    double seconds = strtod(value, &end);

    if (end == value || *end || !isfinite(seconds) || seconds < 1 || seconds > 3600) {
        return -EINVAL;
    }
    o->lease_ns = (int64_t)(seconds * 1e9);
    return 0;
}

static int set_ready_file(struct loadgen_options *o, const char *value)
{
    o->ready_file = value;
    return 0;
}

static int set_verbose(struct loadgen_options *o, const char *value)
{
    (void)value;
    o->is_verbose = true;
    return 0;
}

static const struct row {
    const char *name, *value; /* value: NULL when it takes none */
    int (*set)(struct loadgen_options *o, const char *value);
    const char *expected, *help;
} ROWS[] = {
    {"listen", "ADDR[:PORT]", set_listen, "a numeric address, an IPv6 address in brackets when a port follows",
     "where primes connect (127.0.0.1:7049); port 0 picks a free one"},
    {"key-file", "FILE", set_key_file, "a file",
     "the shared key (nfscurve keygen FILE), mode 0600; only who has it is served"},
    {"insecure-no-key", NULL, set_insecure, "",
     "listen on other than loopback without a key: whoever reaches the port can make this\n"
     "                          host send load anywhere"},
    {"allow-target", "CIDR", add_target,
     "an address or range such as 10.1.0.0/16, without bits behind the prefix; at most 64",
     "servers that may be driven; may be repeated (any server)"},
    {"lease-s", "SECONDS", set_lease, "1 to 3600", "load stops by itself when the prime is silent for so long (10)"},
    {"ready-file", "FILE", set_ready_file, "a file", "written as JSON when the port is open: address, port, pid"},
    {"verbose", NULL, set_verbose, "", "log more"},
};
#define N_ROWS (sizeof(ROWS) / sizeof(ROWS[0]))

static void print_help(void)
{
    printf("usage: nfscurve-loadgen [options]\n\nThe load-generating daemon: waits for a prime (nfscurve run), forks "
           "its processes and drives NFSv3\n"
           "operations at the servers that the campaign names.\n\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        char head[64];
        snprintf(head, sizeof(head), "--%s %s", ROWS[i].name, ROWS[i].value ? ROWS[i].value : "");
        printf("  %-23s %s\n", head, ROWS[i].help);
    }
    printf("  %-23s %s\n  %-23s %s\n", "--help", "this text", "--version", "the version");
}

int options_parse_listen(const char *text, char address[static 64], uint16_t *port)
{
    char host[64];
    const char *port_text = NULL;
    uint8_t scratch[16];

    if (snprintf(host, sizeof(host), "%s", text) >= (int)sizeof(host)) {
        return -EINVAL;
    }
    char *at = host, *close = strchr(host, ']'), *colon = strchr(host, ':');
    if (host[0] == '[' && close) {
        at = host + 1;
        *close = 0;
        if (close[1] == ':') {
            port_text = text + (close - host) + 2;
        } else if (close[1]) {
            return -EINVAL;
        }
    } else if (colon && colon == strrchr(host, ':')) { /* one colon: IPv4 and a port; more: bare IPv6 */
        *colon = 0;
        port_text = text + (colon - host) + 1;
    }
    if (inet_pton(AF_INET, at, scratch) != 1 && inet_pton(AF_INET6, at, scratch) != 1) {
        return -EINVAL;
    }
    if (port_text) {
        char *end;
        unsigned long value = strtoul(port_text, &end, 10);
        if (*port_text < '0' || *port_text > '9' || *end || value > UINT16_MAX) {
            return -EINVAL;
        }
        *port = (uint16_t)value;
    }
    memmove(address, at, strlen(at) + 1);
    return 0;
}

bool options_is_loopback(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (inet_pton(AF_INET, address, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24) == 127;
    }
    return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

enum options_result options_parse(int argc, char **argv, struct loadgen_options *o, char *message, size_t cap)
{
    struct option longs[N_ROWS + 3] = {0};
    int c, index;

    *o = (struct loadgen_options){
        .listen_address = "127.0.0.1", .listen_port = DEFAULT_PORT, .lease_ns = DEFAULT_LEASE_S * NS_PER_S};
    for (size_t i = 0; i < N_ROWS; i++) {
        longs[i] = (struct option){ROWS[i].name, ROWS[i].value ? required_argument : no_argument, NULL, 'r'};
    }
    longs[N_ROWS] = (struct option){"help", no_argument, NULL, 'h'};
    longs[N_ROWS + 1] = (struct option){"version", no_argument, NULL, 'v'};
    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, ":", longs, &index)) != -1) {
        switch (c) {
        case 'r':
            if (ROWS[index].set(o, optarg) != 0) {
                snprintf(message, cap, "--%s %s: expected %s", ROWS[index].name, optarg, ROWS[index].expected);
                return OPTIONS_BAD;
            }
            break;
        case 'h':
            print_help();
            return OPTIONS_DONE;
        case 'v':
            printf("nfscurve-loadgen %s\n", NFSCURVE_VERSION);
            return OPTIONS_DONE;
        case ':':
            snprintf(message, cap, "%s needs a value; see --help", argv[optind - 1]);
            return OPTIONS_BAD;
        default:
            snprintf(message, cap, "%s is no option; see --help", argv[optind - 1]);
            return OPTIONS_BAD;
        }
    }
    if (optind < argc) {
        snprintf(message, cap, "%s: nfscurve-loadgen takes options only; see --help", argv[optind]);
        return OPTIONS_BAD;
    }
    if (!o->key_file && !o->is_insecure_allowed && !options_is_loopback(o->listen_address)) {
        snprintf(
            message, cap,
            "--listen %s: without a key only this host may connect; give --key-file FILE (nfscurve keygen FILE makes "
            "one), or say --insecure-no-key",
            o->listen_address);
        return OPTIONS_BAD;
    }
    return OPTIONS_RUN;
}
