/* test_supervisor.c - processes are commanded, their deaths are noticed and named, and none is left.
 *
 * The processes are a small fake that obeys PROCESS_DO_EXIT and dies as its layout's seed says.
 */
#include "supervisor.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIE_BY_EXIT = 1, DIE_BY_ABORT, COUNT_FDS, IGNORE_EXIT };

static struct event_base *base;
static struct supervisor *supervisor;
static unsigned n_deaths;
static uint32_t dead_process;
static char death[1024];

static uint64_t count_open_fds(void)
{
    uint64_t n = 0;
    DIR *d = opendir("/proc/self/fd");

    while (d && readdir(d)) {
        n++;
    }
    if (d) {
        closedir(d);
    }
    return n - 3; /* ".", ".." and the directory itself */
}

static int fake_main(const struct process_setup *setup)
{
    struct process_command c;

    atomic_store(&setup->shared->state, PROCESS_IDLE);
    for (;;) {
        ssize_t n = read(setup->command_fd, &c, sizeof(c));
        if (n == 0) {
            return 0;
        }
        if (n < 0) {
            struct pollfd pollfd = {.fd = setup->command_fd, .events = POLLIN}; /* the pair is non-blocking */
            poll(&pollfd, 1, -1);
            continue;
        }
        if (c.kind == PROCESS_DO_EXIT && c.layout.seed != IGNORE_EXIT && setup->shared->facts.n_files != IGNORE_EXIT) {
            return 0;
        }
        atomic_store(&setup->shared->last_op, 1 + NFS_OP_READ);
        atomic_store(&setup->shared->live_ops, 41 + setup->process);
        switch (c.layout.seed) {
        case DIE_BY_EXIT:
            strcpy(setup->shared->message, "no\nserver");
            return 3;
        case DIE_BY_ABORT:
            signal(SIGABRT, SIG_DFL);
            raise(SIGABRT);
            break;
        case COUNT_FDS:
            atomic_store(&setup->shared->progress_total, count_open_fds());
            break;
        case IGNORE_EXIT:
            setup->shared->facts.n_files = IGNORE_EXIT;
            break;
        default:
            break;
        }
        atomic_store(&setup->shared->done_serial, c.serial);
    }
}

static void on_death(struct supervisor *s, uint32_t process, const char *reason, void *arg)
{
    cr_assert_eq(arg, &death);
    cr_assert_str_eq(supervisor_death_reason(s, process), reason);
    n_deaths++;
    dead_process = process;
    snprintf(death, sizeof(death), "%s", reason);
    event_base_loopbreak(base);
}

static void create(uint32_t n)
{
    static struct process_setup setups[8];
    struct supervisor_options options = {
        .process_main = fake_main, .interval_log_bytes = 4096, .on_death = on_death, .arg = &death};
    char message[256];

    base = event_base_new();
    supervisor = supervisor_create(base, &options, setups, n, message, sizeof(message));
    cr_assert_not_null(supervisor, "%s", message);
}

static int command(uint32_t process, uint64_t seed)
{
    struct process_command c = {.kind = PROCESS_DO_POPULATE, .serial = 7, .layout = {.seed = seed}};

    return supervisor_command(supervisor, process, &c);
}

static void await_done(uint32_t process)
{
    while (atomic_load(&supervisor_shared(supervisor, process)->done_serial) != 7) {
        sched_yield();
    }
}

static void check_none_left(void)
{
    supervisor_destroy(supervisor, 200 * NS_PER_MS);
    cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1);
    cr_assert_eq(errno, ECHILD);
    event_base_free(base);
}

TestSuite(supervisor, .timeout = 20);

Test(supervisor, commands_arrive_and_figures_come_back)
{
    create(3);
    cr_assert_eq(command(2, 0), 0);
    await_done(2);
    cr_assert_eq(atomic_load(&supervisor_shared(supervisor, 2)->live_ops), 43);
    cr_assert_null(supervisor_death_reason(supervisor, 2));
    check_none_left();
    cr_assert_eq(n_deaths, 0, "an ordered end is no death");
}

Test(supervisor, killed_process_is_noticed_at_once_and_named)
{
    create(3);
    command(1, 0);
    await_done(1);
    mono_t before = mono_now();
    kill(supervisor_pid(supervisor, 1), SIGKILL);
    event_base_dispatch(base);
    cr_assert_lt(mono_since_ns(mono_now(), before), NS_PER_S);
    cr_assert_eq(n_deaths, 1);
    cr_assert_eq(dead_process, 1);
    cr_assert_str_eq(death, "killed by signal 9 (SIGKILL), last op read");
    cr_assert_eq(command(1, 0), -ESRCH);
    cr_assert_eq(command(0, 0), 0);
    check_none_left();
}

Test(supervisor, figures_outlive_the_process)
{
    create(2);
    command(0, 0);
    await_done(0);
    kill(supervisor_pid(supervisor, 0), SIGKILL);
    event_base_dispatch(base);
    cr_assert_eq(atomic_load(&supervisor_shared(supervisor, 0)->live_ops), 41);
    check_none_left();
}

Test(supervisor, exit_status_and_last_words_are_told)
{
    create(1);
    command(0, DIE_BY_EXIT);
    event_base_dispatch(base);
    cr_assert_str_eq(death, "exited with status 3, last op read; it said: no\\x0aserver");
    check_none_left();
}

Test(supervisor, abort_is_told_by_name)
{
    create(1);
    command(0, DIE_BY_ABORT);
    event_base_dispatch(base);
    cr_assert_not_null(strstr(death, "signal 6 (SIGABRT)"), "%s", death);
    check_none_left();
}

Test(supervisor, kill_gives_its_own_reason)
{
    create(2);
    supervisor_kill(supervisor, 1, "it did not stop");
    event_base_dispatch(base);
    cr_assert_str_eq(death, "killed by signal 9 (SIGKILL): it did not stop");
    check_none_left();
}

Test(supervisor, process_holds_nothing_of_the_daemon_open)
{
    int fds[20];

    for (int i = 0; i < 20; i++) {
        fds[i] = dup(0);
    }
    create(4);
    command(3, COUNT_FDS);
    await_done(3);
    /* stdin, stdout, stderr, its command socket */
    cr_assert_eq(atomic_load(&supervisor_shared(supervisor, 3)->progress_total), 4);
    for (int i = 0; i < 20; i++) {
        close(fds[i]);
    }
    check_none_left();
}

Test(supervisor, who_does_not_exit_is_killed)
{
    create(2);
    command(0, IGNORE_EXIT);
    await_done(0);
    check_none_left();
}

Test(supervisor, processes_die_with_the_daemon)
{
    int pipe_fds[2];
    pid_t pids[2];

    cr_assert_eq(pipe(pipe_fds), 0);
    pid_t daemon = fork();
    if (daemon == 0) {
        struct supervisor_options options = {.process_main = fake_main};
        static struct process_setup setups[2];
        char message[64];
        struct supervisor *s = supervisor_create(event_base_new(), &options, setups, 2, message, sizeof(message));
        for (uint32_t i = 0; s && i < 2; i++) {
            while (atomic_load(&supervisor_shared(s, i)->state) != PROCESS_IDLE) {
                sched_yield();
            }
            pids[i] = supervisor_pid(s, i);
        }
        if (write(pipe_fds[1], pids, sizeof(pids)) != sizeof(pids)) {
            _exit(1);
        }
        pause();
        _exit(0);
    }
    cr_assert_eq(read(pipe_fds[0], pids, sizeof(pids)), (ssize_t)sizeof(pids));
    kill(daemon, SIGKILL);
    waitpid(daemon, NULL, 0);
    for (int i = 0; i < 2; i++) {
        char state = '?', path[64];
        do { /* gone, or a zombie that init has not yet reaped */
            snprintf(path, sizeof(path), "/proc/%d/stat", (int)pids[i]);
            FILE *f = fopen(path, "r");
            if (!f) {
                break;
            }
            if (fscanf(f, "%*d %*s %c", &state) != 1) {
                state = '?';
            }
            fclose(f);
            sched_yield();
        } while (state != 'Z' && state != 'X');
    }
}
