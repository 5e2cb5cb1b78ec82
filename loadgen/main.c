/* main.c - nfscurve-loadgen: options, key, port, loop; SIGTERM and SIGINT end it and everything that it started. */
#include "clock.h"
#include "control_service.h"
#include "daemon.h"
#include "key_file.h"
#include "log.h"
#include "options.h"
#include "path_kind.h"
#include "process.h"
#include "seal.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_CANNOT_RUN = 3 };

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    (void)what;
    log_info("signal %d: ending", (int)number);
    event_base_loopbreak(arg);
}

/* Atomically, so that who waits for the file never reads half of it; a device or FIFO is written into. */
static int write_ready_file(const char *path, const char *address, uint16_t port, bool has_key)
{
    char tmp[4096];

    bool is_renamed = path_is_replaceable(path);

    if (snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", path, (long)getpid()) >= (int)sizeof(tmp)) {
        return -ENAMETOOLONG;
    }
    FILE *f = fopen(is_renamed ? tmp : path, "we");
    if (!f) {
        return -errno;
    }
    fprintf(f, "{\"address\":\"%s\",\"port\":%u,\"pid\":%ld,\"keyed\":%s}\n", address, port, (long)getpid(),
            has_key ? "true" : "false");
    if (fclose(f) != 0 || (is_renamed && rename(tmp, path) < 0)) {
        int error = -errno;
        if (is_renamed) {
            unlink(tmp);
        }
        return error;
    }
    return 0;
}

static int serve(const struct loadgen_options *options, const uint8_t *key)
{
    struct event_base *base = event_base_new();
    struct event *signals[2] = {NULL, NULL};
    struct daemon_options daemon_options = {
        .lease_ns = options->lease_ns,
        .filter = &options->filter,
        .process_main = process_main,
    };
    struct daemon *daemon = base ? daemon_create(base, &daemon_options) : NULL;
    struct control_service *service = daemon ? control_service_create(base, daemon, key) : NULL;
    char message[512] = "out of memory";
    int status = EXIT_CANNOT_RUN;
    uint16_t port = 0;

    if (!service) {
        goto out;
    }
    signals[0] = evsignal_new(base, SIGTERM, on_signal, base);
    signals[1] = evsignal_new(base, SIGINT, on_signal, base);
    if (!signals[0] || !signals[1] || event_add(signals[0], NULL) < 0 || event_add(signals[1], NULL) < 0) {
        goto out;
    }
    if (control_service_listen(service, options->listen_address, options->listen_port, &port, message,
                               sizeof(message)) != 0) {
        goto out;
    }
    if (!key && !options_is_loopback(options->listen_address)) {
        log_warn("no key: whoever reaches %s port %u can make this host send load", options->listen_address, port);
    }
    log_info("listening on %s port %u%s", options->listen_address, port, key ? ", keyed" : "");
    if (options->ready_file) {
        int error = write_ready_file(options->ready_file, options->listen_address, port, key != NULL);
        if (error) {
            snprintf(message, sizeof(message), "ready file %s: %s", options->ready_file, strerror(-error));
            goto out;
        }
    }
    status = event_base_dispatch(base) < 0 ? EXIT_CANNOT_RUN : EXIT_SUCCESS;
    snprintf(message, sizeof(message), "the event loop failed");
out:
    if (status != EXIT_SUCCESS) {
        log_error("%s", message);
    }
    /* The service first: its sessions end their campaign in the daemon. */
    if (service) {
        control_service_destroy(service);
    }
    if (daemon) {
        daemon_destroy(daemon);
    }
    for (int i = 0; i < 2; i++) {
        if (signals[i]) {
            event_free(signals[i]);
        }
    }
    if (base) {
        event_base_free(base);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct loadgen_options options;
    uint8_t key[SEAL_KEY_BYTES];
    char message[1024];

    log_init("nfscurve-loadgen", LOG_LEVEL_INFO);
    switch (options_parse(argc, argv, &options, message, sizeof(message))) {
    case OPTIONS_DONE:
        return EXIT_SUCCESS;
    case OPTIONS_BAD:
        log_error("%s", message);
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    if (options.is_verbose) {
        log_init("nfscurve-loadgen", LOG_LEVEL_DEBUG);
    }
    signal(SIGPIPE, SIG_IGN);
    if (seal_library_init() != 0) {
        log_error("libsodium finds no randomness on this host");
        return EXIT_CANNOT_RUN;
    }
    if (options.key_file && key_file_load(options.key_file, key, message, sizeof(message)) != 0) {
        log_error("%s", message);
        return EXIT_USAGE;
    }
    return serve(&options, options.key_file ? key : NULL);
}
