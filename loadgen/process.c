/* process.c - one load-generating process: commands in, one phase at a time, figures left in shared memory.
 *
 *   command ──> obey ──> (connect first when there is no connection) ──> validate | populate | load | clean
 *                                                                             │ on_end, from anywhere in the loop
 *                                                                             ▼
 *                                                         on_finish event: tears the phase down, IDLE or FAILED
 *
 * A stop asks the phase to end by itself. What is still in flight STOP_PATIENCE_NS later is cut off by closing the
 * connection under it; the next command connects again.
 */
#include "process.h"

#include "clean.h"
#include "load.h"
#include "log.h"
#include "populate.h"
#include "process_state.h"
#include "validate.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define STOP_PATIENCE_NS     (250 * NS_PER_MS)
#define UNMOUNT_PATIENCE_NS  (100 * NS_PER_MS) /* the daemon waits 300 ms before it kills */
#define POPULATE_BLOCK_BYTES 65536u
#define MAX_DIR_BYTES        32768u

void process_set_state(struct process *p, enum process_state state)
{
    atomic_store(&p->shared->state, (uint32_t)state);
}

static bool has_phase(const struct process *p)
{
    return p->populate != NULL || p->clean != NULL || p->validate != NULL || p->load != NULL;
}

static void phase_ended(struct process *p, int error, const char *message)
{
    p->end_error = error;
    snprintf(p->end_message, sizeof p->end_message, "%s", message);
    event_active(p->finish_event, EV_TIMEOUT, 0);
}

void process_finish_command(struct process *p, int error, const char *message)
{
    uint32_t serial = p->command.serial;
    p->has_command = false;
    p->is_stopping = false;
    event_del(p->patience_event);
    if (error != 0 && error != -ECANCELED) {
        snprintf(p->shared->message, sizeof p->shared->message, "%s", message);
        log_error("process %u: %s", p->setup->process, message);
        process_set_state(p, PROCESS_FAILED);
    } else {
        process_set_state(p, PROCESS_IDLE);
    }
    atomic_store(&p->shared->done_serial, serial);
}

static void on_finish(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct process *p = arg;
    if (!has_phase(p)) {
        return;
    }
    if (p->load != NULL) {
        if (load_n_active(p->load) > 0) {
            process_disconnect(p); /* the drain was given up: nothing may come back to a load that is gone */
        }
        p->shared->facts.n_files_touched = p->load->working_set.n_touched;
        p->shared->facts.fileset_bytes = p->fileset.io_bytes;
        p->shared->facts.working_set_bytes = fileset_ws_total_bytes(&p->fileset);
    }
    load_destroy(p->load);
    populate_destroy(p->populate);
    clean_destroy(p->clean);
    validate_destroy(p->validate);
    p->load = NULL;
    p->populate = NULL;
    p->clean = NULL;
    p->validate = NULL;
    process_finish_command(p, p->end_error, p->end_message);
}

static void on_populated(struct populate *populate, int error, const char *message, void *arg)
{
    (void)populate;
    struct process *p = arg;
    p->has_fileset = error == 0;
    phase_ended(p, error, message);
}

static void on_cleaned(struct clean *clean, int error, const char *message, void *arg)
{
    (void)clean;
    phase_ended(arg, error, message);
}

static void on_validated(struct validate *validate, int error, const char *message, void *arg)
{
    (void)validate;
    phase_ended(arg, error, message);
}

static void on_loaded(struct load *load, void *arg)
{
    (void)load;
    phase_ended(arg, 0, "");
}

/* Making files is not measured, so its WRITEs may be larger than the load's: fewer round trips, within what the server
 * takes. */
static uint32_t populate_block(const struct process *p)
{
    const struct process_facts *f = &p->shared->facts;
    uint32_t most = f->wtmax < POPULATE_BLOCK_BYTES ? f->wtmax : POPULATE_BLOCK_BYTES;
    return f->write_block_bytes > most ? f->write_block_bytes : most;
}

static void begin_populate(struct process *p)
{
    char message[PROCESS_MESSAGE_MAX];
    if (p->has_fileset || p->fileset.workload != NULL) {
        fileset_fini(&p->fileset);
    }
    p->has_fileset = false;
    int error = fileset_init(&p->fileset, p->workload, &p->command.layout, message, sizeof message);
    if (error != 0) {
        process_finish_command(p, error, message);
        return;
    }
    process_set_state(p, PROCESS_POPULATING);
    struct populate_options options = {.base = p->base,
                                       .client = p->client,
                                       .fileset = &p->fileset,
                                       .shared = p->shared,
                                       .where = p->where,
                                       .block_bytes = populate_block(p),
                                       .dir_bytes = MAX_DIR_BYTES,
                                       .timeout_ns = p->setup->client.timeout_ns,
                                       .root = p->root,
                                       .seed = p->command.layout.seed,
                                       .on_end = on_populated,
                                       .arg = p};
    p->populate = populate_start(&options);
    if (p->populate == NULL) {
        process_finish_command(p, -ENOMEM, "populate: not enough memory");
    }
}

static void begin_clean(struct process *p)
{
    process_set_state(p, PROCESS_CLEANING);
    p->has_fileset = false;
    atomic_store(&p->shared->progress_total, p->command.layout.n_files + p->command.layout.n_non_io_files);
    struct clean_options options = {.base = p->base,
                                    .client = p->client,
                                    .shared = p->shared,
                                    .where = p->where,
                                    .client_number = p->command.layout.client,
                                    .process = p->command.layout.process,
                                    .dir_bytes = MAX_DIR_BYTES,
                                    .timeout_ns = p->setup->client.timeout_ns,
                                    .root = p->root,
                                    .on_end = on_cleaned,
                                    .arg = p};
    p->clean = clean_start(&options);
    if (p->clean == NULL) {
        process_finish_command(p, -ENOMEM, "clean: not enough memory");
    }
}

static void begin_validate(struct process *p)
{
    process_set_state(p, PROCESS_VALIDATING);
    struct validate_options options = {.base = p->base,
                                       .client = p->client,
                                       .shared = p->shared,
                                       .where = p->where,
                                       .level = p->command.validate_level,
                                       .client_number = p->command.layout.client,
                                       .process = p->setup->process,
                                       .timeout_ns = p->setup->client.timeout_ns,
                                       .root = p->root,
                                       .on_end = on_validated,
                                       .arg = p};
    p->validate = validate_start(&options);
    if (p->validate == NULL) {
        process_finish_command(p, -ENOMEM, "validate: not enough memory");
    }
}

/* What a load needs and the layout may lack. NULL when nothing is missing. */
static const char *what_is_missing(const struct process *p)
{
    const struct workload *w = p->workload;
    static const enum nfs_op name_ops[] = {NFS_OP_CREATE, NFS_OP_REMOVE, NFS_OP_SYMLINK,
                                           NFS_OP_MKNOD,  NFS_OP_RENAME, NFS_OP_LINK};
    if (!p->has_fileset) {
        return "a load was asked for before its fileset was populated";
    }
    if (p->command.layout.n_files != p->fileset.layout.n_files ||
        p->command.layout.first_file != p->fileset.layout.first_file) {
        return "the layout of the load is not the one that was populated";
    }
    if (w->mix_percent[NFS_OP_READLINK] > 0 && p->fileset.n_symlinks == 0) {
        return "READLINK is in the op mix, but the fileset has no symlinks: set symlinks_per_process";
    }
    for (size_t i = 0; i < sizeof name_ops / sizeof name_ops[0]; i++) {
        if (w->mix_percent[name_ops[i]] > 0 && p->fileset.n_slots < 4) {
            return "ops that make or remove names are in the op mix, but there are fewer than 4 non-I/O files: set "
                   "non_io_files_min";
        }
    }
    return p->command.layout.ops_per_s > 0 ? NULL : "a load of 0 ops/s";
}

static void begin_load(struct process *p)
{
    const char *missing = what_is_missing(p);
    if (missing != NULL) {
        process_finish_command(p, -EINVAL, missing);
        return;
    }
    atomic_store(&p->shared->run_started_ns, 0);
    atomic_store(&p->shared->run_ended_ns, 0);
    struct load_options options = {.base = p->base,
                                   .client = p->client,
                                   .fileset = &p->fileset,
                                   .workload = p->workload,
                                   .shared = p->shared,
                                   .intervals = p->intervals,
                                   .read_block_bytes = p->shared->facts.read_block_bytes,
                                   .write_block_bytes = p->shared->facts.write_block_bytes,
                                   .dir_bytes = p->dir_bytes,
                                   .root = p->root,
                                   .timeout_ns = p->setup->client.timeout_ns,
                                   .start = p->command.start_at,
                                   .warmup_ns = p->command.warmup_ns,
                                   .run_ns = p->command.run_ns,
                                   .ops_per_s = p->command.layout.ops_per_s,
                                   .seed = p->command.layout.seed,
                                   .on_end = on_loaded,
                                   .arg = p};
    process_set_state(p, PROCESS_ARMED);
    int error = load_create(&p->load, &options);
    if (error != 0) {
        process_finish_command(p, error, "load: not enough memory");
    }
}

void process_begin_command(struct process *p)
{
    p->shared->message[0] = '\0';
    switch (p->command.kind) {
    case PROCESS_DO_VALIDATE:
        begin_validate(p);
        break;
    case PROCESS_DO_POPULATE:
        begin_populate(p);
        break;
    case PROCESS_DO_LOAD:
        begin_load(p);
        break;
    case PROCESS_DO_CLEAN:
        begin_clean(p);
        break;
    case PROCESS_DO_STOP:
    case PROCESS_DO_EXIT:
        break;
    }
}

/* Asked to stop and still busy: what the server has not answered is cut off. */
static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct process *p = arg;
    process_disconnect(p);
    if (p->has_command && !has_phase(p)) {
        process_finish_command(p, -ECANCELED, "");
    }
}

static void stop(struct process *p)
{
    if (!p->has_command || p->is_stopping) {
        return;
    }
    p->is_stopping = true;
    struct timeval tv = {0, STOP_PATIENCE_NS / NS_PER_US};
    event_add(p->patience_event, &tv);
    if (p->load != NULL) {
        load_stop(p->load);
    }
    if (p->populate != NULL) {
        populate_stop(p->populate);
    }
    if (p->clean != NULL) {
        clean_stop(p->clean);
    }
    if (p->validate != NULL) {
        validate_stop(p->validate);
    }
}

static void obey(struct process *p, const struct process_command *command)
{
    if (command->kind == PROCESS_DO_EXIT) {
        p->is_exiting = p->is_dismissed = true;
        event_base_loopbreak(p->base);
        return;
    }
    if (command->kind == PROCESS_DO_STOP) {
        stop(p);
        return;
    }
    if (p->has_command) {
        log_error("process %u: a command came before the last one had ended", p->setup->process);
        return;
    }
    p->command = *command;
    p->has_command = true;
    if (p->is_connected) {
        process_begin_command(p);
    } else if (p->client == NULL || atomic_load(&p->shared->state) == PROCESS_FAILED) {
        process_connect(p);
    }
}

static void on_command(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    struct process *p = arg;
    struct process_command command;
    ssize_t n = recv(fd, &command, sizeof command, MSG_DONTWAIT);
    if (n == (ssize_t)sizeof command) {
        obey(p, &command);
    } else if (n >= 0 || (errno != EAGAIN && errno != EINTR)) {
        p->is_exiting = true; /* the daemon is gone */
        event_base_loopbreak(p->base);
    }
}

/* Ends whatever is under way without waiting for anyone, but for the server's MOUNT a moment. */
static void tear_down(struct process *p)
{
    stop(p);
    if (p->is_dismissed && p->client != NULL) {
        nfs3_client_unmount(p->client, UNMOUNT_PATIENCE_NS);
    }
    process_disconnect(p);
    for (int turns = 0; has_phase(p) && turns < 100; turns++) {
        event_base_loop(p->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }
}

/* That its loop turns: whoever waits for a reply beats, a process that was stopped does not. */
static void on_beat(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct process *p = arg;
    atomic_store(&p->shared->beat_ns, mono_now().ns);
}

static int init(struct process *p)
{
    /* No precise timers: they cost a system call each turn, and what must be precise has a timer of its own (load.c).
     */
    p->base = event_base_new();
    if (p->base == NULL) {
        return -ENOMEM;
    }
    p->command_event = event_new(p->base, p->setup->command_fd, EV_READ | EV_PERSIST, on_command, p);
    p->finish_event = event_new(p->base, -1, 0, on_finish, p);
    p->patience_event = event_new(p->base, -1, 0, on_patience, p);
    p->beat_event = event_new(p->base, -1, EV_PERSIST, on_beat, p);
    p->intervals = interval_writer_create(p->setup->intervals);
    if (p->command_event == NULL || p->finish_event == NULL || p->patience_event == NULL || p->beat_event == NULL ||
        p->intervals == NULL) {
        return -ENOMEM;
    }
    static const struct timeval every = {PROCESS_BEAT_NS / NS_PER_S, PROCESS_BEAT_NS % NS_PER_S / 1000};
    on_beat(-1, 0, p);
    return event_add(p->command_event, NULL) == 0 && event_add(p->beat_event, &every) == 0 ? 0 : -ENOMEM;
}

int process_main(const struct process_setup *setup)
{
    struct process process = {.setup = setup, .workload = setup->workload, .shared = setup->shared};
    struct process *p = &process;
    snprintf(p->where, sizeof p->where, "%s:%s", setup->client.server, setup->client.export_path);
    process_note_inherited(p);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    int error = init(p);
    if (error != 0) {
        snprintf(p->shared->message, sizeof p->shared->message, "not enough memory to start");
        process_set_state(p, PROCESS_FAILED);
        goto out;
    }
    process_connect(p);
    while (!p->is_exiting) {
        if (event_base_loop(p->base, EVLOOP_ONCE) < 0) {
            error = -EIO;
            break;
        }
    }
    tear_down(p);
    fileset_fini(&p->fileset);
out:
    interval_writer_destroy(p->intervals);
    if (p->command_event != NULL) {
        event_free(p->command_event);
    }
    if (p->finish_event != NULL) {
        event_free(p->finish_event);
    }
    if (p->patience_event != NULL) {
        event_free(p->patience_event);
    }
    if (p->beat_event != NULL) {
        event_free(p->beat_event);
    }
    if (p->base != NULL) {
        event_base_free(p->base);
    }
    return error == 0 ? 0 : 1;
}
