#include "target.h"
#include "control_file.h"
#include "log.h"
#include "path_kind.h"
#include "worker.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MESSAGE_BYTES 512

struct target {
    const struct target_options *options;
    struct nfs3_shared shared;
    struct mount_table *mounts;
    struct worker *workers; /* [0] runs in the main thread and listens */
    unsigned n_workers, next_worker;
    struct event *signals[4];
    uint16_t port;
    unsigned n_control_reads;
};

/* Accepted sockets go to the threads in turn. */
static void on_accept(int fd, void *arg)
{
    struct target *target = arg;
    struct worker *worker = &target->workers[target->next_worker++ % target->n_workers];
    if (worker == target->workers) {
        rpc_server_adopt(worker->server, fd);
    } else {
        worker_hand_over(worker, fd);
    }
}

/* Writes a JSON document so that a reader sees all of it or nothing (a device or FIFO is written into); steals the
 * document. */
static int write_json(const char *path, json_t *document)
{
    char *temporary = NULL;
    int error = document ? 0 : -ENOMEM;
    if (!error && asprintf(&temporary, "%s.%ld", path, (long)getpid()) < 0) {
        temporary = NULL;
        error = -ENOMEM;
    }
    bool is_renamed = path_is_replaceable(path);
    if (!error && (json_dump_file(document, is_renamed ? temporary : path, JSON_COMPACT) < 0 ||
                   (is_renamed && rename(temporary, path) < 0))) {
        error = errno ? -errno : -EIO;
        if (is_renamed) {
            unlink(temporary);
        }
    }
    free(temporary);
    json_decref(document);
    return error;
}

/* To --stats-file, or else to the log. */
static void write_stats(struct target *target)
{
    struct counters *sum = calloc(1, sizeof *sum);
    if (!sum) {
        return;
    }
    for (unsigned i = 0; i < target->n_workers; i++) {
        counters_add(sum, &target->workers[i].counters);
    }
    json_t *document = counters_to_json(sum);
    free(sum);
    if (target->options->stats_file) {
        int error = write_json(target->options->stats_file, json_incref(document));
        if (error) {
            log_error("--stats-file %s: %s", target->options->stats_file, strerror(-error));
        }
    } else {
        char *text = json_dumps(document, JSON_COMPACT);
        log_info("counters %s", text ? text : "?");
        free(text);
    }
    json_decref(document);
}

/* SIGHUP: who sent it may read in --control-answer what became of it. */
static void load_control_file(struct target *target)
{
    char message[MESSAGE_BYTES], quoted[MESSAGE_BYTES * 4]; /* JSON holds UTF-8, and a file may hold any byte */
    int error = control_file_load(target->options->control_file, &target->shared, target->options->seed, message,
                                  sizeof message);
    target->n_control_reads++;
    if (error) {
        log_error("%s", message);
    } else {
        log_info("read %s", target->options->control_file);
    }
    if (target->options->control_answer) {
        int rc = write_json(target->options->control_answer,
                            json_pack("{s:i, s:s?}", "reads", (int)target->n_control_reads, "error",
                                      error ? log_quote(quoted, sizeof quoted, message, strlen(message)) : NULL));
        if (rc) {
            log_error("--control-answer %s: %s", target->options->control_answer, strerror(-rc));
        }
    }
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    (void)what;
    struct target *target = arg;
    switch (number) {
    case SIGUSR1:
        write_stats(target);
        break;
    case SIGHUP:
        if (target->options->control_file) {
            load_control_file(target);
        }
        break;
    default:
        event_base_loopbreak(target->workers[0].base);
    }
}

static int init_shared(struct target *target, char *message, size_t cap)
{
    const struct target_options *o = target->options;
    struct nfs3_shared *shared = &target->shared;
    wall_t now = wall_now();
    /* Another instance for every start: a client that outlives a restart must see other handles and another write
     * verifier. */
    shared->instance = ((uint64_t)now.ns << 8) ^ (uint64_t)getpid();
    shared->fsid = 0x6e667363;
    shared->rtmax = o->rtmax;
    shared->wtmax = o->wtmax;
    shared->dtpref = o->dtpref;
    shared->squashes_root = o->squashes_root;
    shared->fs = memory_fs_create(&(struct memory_fs_options){.is_synth = o->is_synth,
                                                              .is_read_only = o->is_read_only,
                                                              .is_threaded = o->n_threads > 1,
                                                              .capacity_bytes = o->capacity_bytes,
                                                              .max_files = o->max_files,
                                                              .verifier = shared->instance});
    shared->faults = fault_set_create(o->seed);
    target->mounts = mount_table_create();
    if (!shared->fs || !shared->faults || !target->mounts) {
        snprintf(message, cap, "no memory");
        return -ENOMEM;
    }
    shared->latency = latency_create(o->latency, message, cap);
    if (!shared->latency) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < o->n_faults; i++) {
        if (fault_add(shared->faults, o->faults[i], message, cap) < 0) {
            return -EINVAL;
        }
    }
    for (unsigned i = 0; i < o->n_exports; i++) {
        struct fs_handle root;
        int error = memory_fs_add_root(shared->fs, o->root_mode, &root);
        error = error ? error : mount_table_export(target->mounts, o->exports[i], root);
        if (error) {
            snprintf(message, cap, "--export %s: %s", o->exports[i],
                     error == -EINVAL ? "expected an absolute path without a slash at the end" : strerror(-error));
            return -EINVAL;
        }
    }
    return o->control_file ? control_file_load(o->control_file, shared, o->seed, message, cap) : 0;
}

static int init_workers(struct target *target)
{
    target->workers = calloc(target->options->n_threads, sizeof *target->workers);
    if (!target->workers) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < target->options->n_threads; i++) {
        struct worker_options options = {.shared = &target->shared,
                                         .mounts = target->mounts,
                                         .max_connections = target->options->max_connections,
                                         .seed = target->options->seed,
                                         .number = i,
                                         .on_accept = i == 0 ? on_accept : NULL,
                                         .arg = target};
        target->n_workers++;
        int error = worker_init(&target->workers[i], &options);
        if (error) {
            return error;
        }
    }
    return 0;
}

static int listen_all(struct target *target, char *message, size_t cap)
{
    target->port = target->options->port;
    for (unsigned i = 0; i < target->options->n_listen; i++) {
        /* A port that was picked for the first address is the port of all. */
        int error = rpc_server_listen(target->workers[0].server, target->options->listen[i], target->port,
                                      &target->port, message, cap);
        if (error) {
            return error;
        }
    }
    return 0;
}

static int tell_ready(struct target *target)
{
    const struct target_options *o = target->options;
    printf("ready: %s port %u export %s, NFSv3 and MOUNT, data %s, latency %s\n", o->listen[0], target->port,
           o->exports[0], o->is_synth ? "synth" : "store", o->latency);
    fflush(stdout);
    if (!o->ready_file) {
        return 0;
    }
    json_t *exports = json_array();
    for (unsigned i = 0; i < o->n_exports; i++) {
        json_array_append_new(exports, json_string(o->exports[i]));
    }
    int error = write_json(o->ready_file,
                           json_pack("{s:s, s:i, s:i, s:s, s:o}", "address", o->listen[0], "port", (int)target->port,
                                     "pid", (int)getpid(), "export", o->exports[0], "exports", exports));
    if (error) {
        log_error("--ready-file %s: %s", o->ready_file, strerror(-error));
    }
    return error;
}

static int arm_signals(struct target *target)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
    signal(SIGPIPE, SIG_IGN);
    for (unsigned i = 0; i < 4; i++) {
        target->signals[i] = evsignal_new(target->workers[0].base, numbers[i], on_signal, target);
        if (!target->signals[i] || event_add(target->signals[i], NULL) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void fini(struct target *target)
{
    for (unsigned i = 1; i < target->n_workers; i++) {
        worker_stop(&target->workers[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        if (target->signals[i]) {
            event_free(target->signals[i]);
        }
    }
    for (unsigned i = 0; i < target->n_workers; i++) {
        worker_fini(&target->workers[i]);
    }
    free(target->workers);
    mount_table_destroy(target->mounts);
    latency_destroy(target->shared.latency);
    latency_destroy(target->shared.retired);
    fault_set_destroy(target->shared.faults);
    memory_fs_destroy(target->shared.fs);
}

int target_run(const struct target_options *options)
{
    struct target target = {.options = options};
    char message[MESSAGE_BYTES] = "no memory";
    int status = 2;
    raise_file_limit();
    if (init_shared(&target, message, sizeof message) < 0) {
        log_error("%s", message);
        goto out;
    }
    status = 3;
    if (init_workers(&target) < 0 || listen_all(&target, message, sizeof message) < 0 || arm_signals(&target) < 0) {
        log_error("%s", message);
        goto out;
    }
    for (unsigned i = 1; i < target.n_workers; i++) {
        if (worker_start(&target.workers[i]) < 0) {
            log_error("cannot start thread %u", i);
            goto out;
        }
    }
    if (tell_ready(&target) < 0) {
        goto out;
    }
    event_base_dispatch(target.workers[0].base);
    if (options->stats_file) {
        write_stats(&target);
    }
    status = 0;
out:
    fini(&target);
    return status;
}
