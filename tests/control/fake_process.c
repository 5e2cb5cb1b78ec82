/* fake_process.c - a process_main() without NFS, to test what supervises it: figures that can be foretold, and deaths
 * on demand.
 *
 * In a load it "does" one GETATTR every millisecond of the run, each of (100 us) * (1 + process number), and every
 * 100th is an error. What it does otherwise is told by the export of its target:
 *
 *   /mount-fails     FAILED, with a message            /populate-hangs   never done populating, heeds STOP
 *   /dies-in-run     abort() 300 ms into the run       /ignores-stop     heeds nothing in a load
 *   /finds           VALIDATE has three findings       /spins            uses the CPU in a load
 */
#include "process.h"

#include "clock.h"
#include "interval_log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct fake {
    const struct process_setup *setup;
    struct process_shared *shared;
    struct interval_writer *seconds;
    struct process_command command;
    enum { RESTING, POPULATING, LOADING } doing;
    uint64_t n_ops;
};

static bool exports(const struct fake *f, const char *path)
{
    return strcmp(f->setup->client.export_path, path) == 0;
}

static void set_state(struct fake *f, enum process_state state)
{
    atomic_store(&f->shared->state, state);
}

static void finish(struct fake *f)
{
    f->doing = RESTING;
    set_state(f, PROCESS_IDLE);
    atomic_store(&f->shared->done_serial, f->command.serial);
}

static void one_op(struct fake *f, uint32_t t_s)
{
    int64_t response_ns = 100 * NS_PER_US * (1 + f->setup->process);
    struct op_tally *t = &f->shared->tally.ops[NFS_OP_GETATTR];

    atomic_store(&f->shared->last_op, 1 + NFS_OP_GETATTR);
    if (++f->n_ops % 100 == 0) {
        t->n_outcome[OP_NFS_ERROR]++;
        atomic_fetch_add(&f->shared->live_errors, 1);
        interval_writer_error(f->seconds, t_s, OP_CLASS_METADATA);
        return;
    }
    histogram_record(&t->from_due, response_ns);
    histogram_record(&t->from_sent, response_ns);
    histogram_record(&t->rpc, response_ns);
    t->n_logical++;
    t->n_physical++;
    t->n_outcome[OP_OK]++;
    t->n_status[0]++;
    atomic_fetch_add(&f->shared->live_ops, 1);
    atomic_fetch_add(&f->shared->live_response_sum_ns, (uint64_t)response_ns);
    interval_writer_good(f->seconds, t_s, OP_CLASS_METADATA, response_ns);
}

static void end_load(struct fake *f, mono_t run_end)
{
    interval_writer_flush(f->seconds);
    f->shared->tally.generator.run_ns = f->command.run_ns;
    f->shared->tally.generator.loop_cpu_ns = f->command.run_ns / 4;
    atomic_store(&f->shared->run_ended_ns, run_end.ns);
    finish(f);
}

static void go_on_loading(struct fake *f, mono_t now)
{
    mono_t run_start = mono_plus_ns(f->command.start_at, f->command.warmup_ns);
    mono_t run_end = mono_plus_ns(run_start, f->command.run_ns);

    if (mono_before(now, f->command.start_at)) {
        return;
    }
    if (mono_before(now, run_start)) {
        set_state(f, PROCESS_WARMUP);
        return;
    }
    if (!atomic_load(&f->shared->run_started_ns)) {
        atomic_store(&f->shared->run_started_ns, now.ns);
    }
    set_state(f, PROCESS_RUN);
    if (exports(f, "/dies-in-run") && f->setup->process == 1 && mono_since_ns(now, run_start) > 300 * NS_PER_MS) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    int64_t until_ns = mono_since_ns(mono_before(now, run_end) ? now : run_end, run_start);
    while ((int64_t)f->n_ops * NS_PER_MS < until_ns) {
        one_op(f, (uint32_t)((int64_t)f->n_ops * NS_PER_MS / NS_PER_S));
    }
    if (!mono_before(now, run_end)) {
        end_load(f, run_end);
    }
}

static void begin_load(struct fake *f)
{
    f->n_ops = 0;
    tally_init(&f->shared->tally);
    interval_writer_reset(f->seconds);
    atomic_store(&f->shared->run_started_ns, 0);
    atomic_store(&f->shared->run_ended_ns, 0);
    atomic_store(&f->shared->live_ops, 0);
    atomic_store(&f->shared->live_response_sum_ns, 0);
    atomic_store(&f->shared->live_errors, 0);
    f->doing = LOADING;
    set_state(f, PROCESS_ARMED);
}

static void validate(struct fake *f)
{
    f->shared->n_findings = 0;
    while (exports(f, "/finds") && f->shared->n_findings < 3) {
        struct process_finding *p = &f->shared->findings[f->shared->n_findings++];
        snprintf(p->rule, sizeof(p->rule), "rule-%u", f->shared->n_findings);
        snprintf(p->op, sizeof(p->op), "readdir");
        snprintf(p->expected, sizeof(p->expected), "a rising cookie");
        snprintf(p->got, sizeof(p->got), "a falling one");
    }
    finish(f);
}

static void populate(struct fake *f)
{
    atomic_store(&f->shared->progress_total, f->command.layout.n_files);
    if (exports(f, "/populate-hangs")) {
        f->doing = POPULATING;
        set_state(f, PROCESS_POPULATING);
        return;
    }
    atomic_store(&f->shared->progress_done, f->command.layout.n_files);
    f->shared->facts.n_files = f->command.layout.n_files;
    f->shared->facts.fileset_bytes = f->command.layout.file_bytes;
    finish(f);
}

static void stop(struct fake *f, mono_t now)
{
    if (f->doing == LOADING) {
        end_load(f, now);
    } else if (f->doing == POPULATING) {
        finish(f);
    }
}

static bool obey(struct fake *f, const struct process_command *c, mono_t now)
{
    if (c->kind == PROCESS_DO_EXIT) {
        return false;
    }
    if (c->kind == PROCESS_DO_STOP) {
        if (!exports(f, "/ignores-stop")) {
            stop(f, now);
        }
        return true;
    }
    f->command = *c;
    switch (c->kind) {
    case PROCESS_DO_VALIDATE:
        validate(f);
        break;
    case PROCESS_DO_POPULATE:
        populate(f);
        break;
    case PROCESS_DO_LOAD:
        begin_load(f);
        break;
    default:
        finish(f);
    }
    return true;
}

int process_main(const struct process_setup *setup)
{
    struct fake f = {.setup = setup, .shared = setup->shared, .seconds = interval_writer_create(setup->intervals)};
    struct process_command c;

    if (!f.seconds) {
        return 1;
    }
    if (exports(&f, "/mount-fails")) {
        snprintf(f.shared->message, sizeof(f.shared->message), "mount %s:/mount-fails refused: %s",
                 setup->client.server, "permission denied (MNT3ERR_ACCES)");
        set_state(&f, PROCESS_FAILED);
    } else {
        set_state(&f, PROCESS_IDLE);
    }
    for (;;) {
        struct pollfd p = {.fd = setup->command_fd, .events = POLLIN};
        poll(&p, 1, f.doing != LOADING ? -1 : exports(&f, "/spins") ? 0 : 2);
        ssize_t n = recv(setup->command_fd, &c, sizeof(c), MSG_DONTWAIT);
        mono_t now = mono_now();
        if (n == 0 || (n == (ssize_t)sizeof(c) && !obey(&f, &c, now))) {
            break;
        }
        if (f.doing == LOADING) {
            go_on_loading(&f, now);
        }
    }
    interval_writer_destroy(f.seconds);
    return 0;
}
