/* supervisor.c - see supervisor.h. */
#include "supervisor.h"

#include "clock.h"
#include "log.h"
#include "nfs_op.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define REASON_BYTES 1024
#define SILENT_NS    (15 * NS_PER_S) /* a busy machine delays a loop, but not so long */

struct child {
    struct supervisor *supervisor;
    uint32_t number;
    pid_t pid; /* 0: never forked */
    int pid_fd, command_fd;
    struct event *on_end;
    struct process_shared *shared;
    struct interval_log *intervals;
    bool is_dead;
    const char *kill_why;
    char reason[REASON_BYTES];
};

struct supervisor {
    struct event_base *base;
    struct supervisor_options options;
    bool is_ending;
    uint32_t n;
    struct child children[];
};

static void *map_shared(size_t bytes)
{
    /* NORESERVE: the seconds of a long run are mapped for the longest run and touched as they come. */
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* What the daemon has open or handles is not the process's business. */
static void become_process(int command_fd)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2};
    sigset_t none;

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        signal(signals[i], SIG_DFL);
    }
    /* A terminal's Ctrl-C reaches the whole process group; the daemon alone decides what it means. */
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (command_fd > 3) {
        close_range(3, (unsigned)command_fd - 1, 0);
    }
    close_range((unsigned)command_fd + 1, ~0U, 0);
}

static void tell_death(struct child *c, const siginfo_t *info)
{
    char last[48] = "", said[PROCESS_MESSAGE_MAX * 2] = "", how[160];
    uint32_t op = atomic_load_explicit(&c->shared->last_op, memory_order_relaxed);

    if (op >= 1 && op <= NFS_OP_COUNT) {
        snprintf(last, sizeof(last), ", last op %s", nfs_op_name((enum nfs_op)(op - 1)));
    }
    if (info->si_code == CLD_EXITED) {
        snprintf(how, sizeof(how), "exited with status %d", info->si_status);
    } else {
        snprintf(how, sizeof(how), "killed by signal %d (SIG%s)%s", info->si_status,
                 sigabbrev_np(info->si_status) ? sigabbrev_np(info->si_status) : "?",
                 info->si_code == CLD_DUMPED ? ", core dumped" : "");
    }
    if (c->shared->message[0]) {
        log_quote(said, sizeof(said), c->shared->message, strnlen(c->shared->message, PROCESS_MESSAGE_MAX));
    }
    snprintf(c->reason, sizeof(c->reason), "%s%s%s%s%s%s", how, last, c->kill_why ? ": " : "",
             c->kill_why ? c->kill_why : "", said[0] ? "; it said: " : "", said);
}

static void on_child_end(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;
    struct supervisor *s = c->supervisor;
    siginfo_t info = {0};

    (void)fd;
    (void)what;
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0) {
        return;
    }
    event_del(c->on_end);
    tell_death(c, &info);
    c->is_dead = true;
    if (!s->is_ending && s->options.on_death) {
        s->options.on_death(s, c->number, c->reason, s->options.arg);
    }
}

static int fork_child(struct supervisor *s, struct child *c, struct process_setup *setup)
{
    int pair[2];
    pid_t daemon_pid = getpid();

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
        return -errno;
    }
    setup->process = c->number;
    setup->shared = c->shared;
    setup->intervals = c->intervals;
    setup->command_fd = pair[1];
    fflush(NULL); /* or buffered lines would be written twice */
    c->pid = fork();
    if (c->pid < 0) {
        int error = -errno;
        c->pid = 0;
        close(pair[0]);
        close(pair[1]);
        return error;
    }
    if (c->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != daemon_pid) { /* it died before the line above */
            _exit(1);
        }
        become_process(pair[1]);
        _exit(s->options.process_main(setup));
    }
    close(pair[1]);
    c->command_fd = pair[0];
    c->pid_fd = pidfd_open(c->pid, 0);
    if (c->pid_fd < 0) {
        return -errno;
    }
    c->on_end = event_new(s->base, c->pid_fd, EV_READ | EV_PERSIST, on_child_end, c);
    if (!c->on_end || event_add(c->on_end, NULL) < 0) {
        return -ENOMEM;
    }
    return 0;
}

static int map_memory(struct child *c, size_t interval_log_bytes)
{
    c->shared = map_shared(sizeof(*c->shared));
    if (interval_log_bytes) {
        c->intervals = map_shared(interval_log_bytes);
    }
    return c->shared && (c->intervals || !interval_log_bytes) ? 0 : -ENOMEM;
}

/* The processes forked later do not see it: none can spoil another's figures, and a fork does not grow dearer with
 * their number. */
static void keep_to_itself(struct child *c, size_t interval_log_bytes)
{
    if (c->shared) {
        madvise(c->shared, sizeof(*c->shared), MADV_DONTFORK);
    }
    if (c->intervals) {
        madvise(c->intervals, interval_log_bytes, MADV_DONTFORK);
    }
}

struct supervisor *supervisor_create(struct event_base *base, const struct supervisor_options *options,
                                     const struct process_setup *setups, uint32_t n, char *message, size_t cap)
{
    struct supervisor *s = calloc(1, sizeof(*s) + n * sizeof(s->children[0]));
    int error = s ? 0 : -ENOMEM;
    uint32_t i = 0;

    if (!s) {
        goto out;
    }
    s->base = base;
    s->options = *options;
    s->n = n;
    for (i = 0; i < n; i++) {
        s->children[i] = (struct child){.supervisor = s, .number = i, .pid_fd = -1, .command_fd = -1};
    }
    for (i = 0; i < n && !error; i++) {
        struct process_setup setup = setups[i];
        error = map_memory(&s->children[i], options->interval_log_bytes);
        if (!error) {
            error = fork_child(s, &s->children[i], &setup);
        }
        keep_to_itself(&s->children[i], options->interval_log_bytes);
    }
out:
    if (error) {
        snprintf(message, cap, "process %u of %u cannot be started: %s", i ? i - 1 : 0, n, strerror(-error));
        if (s) {
            supervisor_destroy(s, 0);
        }
        return NULL;
    }
    return s;
}

/* Waits until all have ended or the time is over. */
static void await_ends(struct supervisor *s, mono_t until)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct child *c = &s->children[i];
        while (c->pid && !c->is_dead) {
            int64_t left_ns = mono_since_ns(until, mono_now());
            struct pollfd p = {.fd = c->pid_fd, .events = POLLIN};
            siginfo_t info = {0};
            if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0) {
                c->is_dead = true;
                break;
            }
            if (left_ns <= 0) {
                return;
            }
            poll(&p, 1, (int)(left_ns / NS_PER_MS) + 1);
        }
    }
}

void supervisor_destroy(struct supervisor *s, int64_t grace_ns)
{
    static const struct process_command leave = {.kind = PROCESS_DO_EXIT};

    if (!s) {
        return;
    }
    s->is_ending = true;
    if (grace_ns > 0) {
        for (uint32_t i = 0; i < s->n; i++) {
            supervisor_command(s, i, &leave);
        }
        await_ends(s, mono_plus_ns(mono_now(), grace_ns));
    }
    for (uint32_t i = 0; i < s->n; i++) {
        struct child *c = &s->children[i];
        if (c->pid && !c->is_dead) {
            kill(c->pid, SIGKILL);
        }
    }
    for (uint32_t i = 0; i < s->n; i++) {
        struct child *c = &s->children[i];
        if (c->pid && !c->is_dead) {
            while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
                ;
            }
        }
        if (c->on_end) {
            event_free(c->on_end);
        }
        if (c->pid_fd >= 0) {
            close(c->pid_fd);
        }
        if (c->command_fd >= 0) {
            close(c->command_fd);
        }
        if (c->shared) {
            munmap(c->shared, sizeof(*c->shared));
        }
        if (c->intervals) {
            munmap(c->intervals, s->options.interval_log_bytes);
        }
    }
    free(s);
}

int supervisor_command(struct supervisor *s, uint32_t process, const struct process_command *command)
{
    assert(process < s->n);
    struct child *c = &s->children[process];

    if (!c->pid || c->is_dead) {
        return -ESRCH;
    }
    if (send(c->command_fd, command, sizeof(*command), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        return errno == EPIPE || errno == ECONNRESET ? -ESRCH : -errno;
    }
    return 0;
}

void supervisor_kill(struct supervisor *s, uint32_t process, const char *why)
{
    assert(process < s->n);
    struct child *c = &s->children[process];

    if (!c->pid || c->is_dead) {
        return;
    }
    c->kill_why = why;
    kill(c->pid, SIGKILL);
}

uint32_t supervisor_n(const struct supervisor *s)
{
    return s->n;
}

pid_t supervisor_pid(const struct supervisor *s, uint32_t process)
{
    assert(process < s->n);
    return s->children[process].pid;
}

/* The letter of proc(5)'s "state"; '?' when it cannot be read. */
static char kernel_state(pid_t pid)
{
    char path[64], text[512], state = '?';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    const char *behind_name = strrchr(text, ')'); /* the name may hold anything */
    if (behind_name && behind_name[1] == ' ') {
        state = behind_name[2];
    }
    if (file) {
        fclose(file);
    }
    return state;
}

bool supervisor_is_silent(const struct supervisor *s, uint32_t process, mono_t now, char *out, size_t cap)
{
    int64_t beat_ns = atomic_load(&supervisor_shared(s, process)->beat_ns);
    if (supervisor_death_reason(s, process) || beat_ns == 0 || now.ns - beat_ns < SILENT_NS) {
        return false;
    }
    char state = kernel_state(supervisor_pid(s, process));
    snprintf(out, cap, "no heartbeat for %lld s%s", (long long)((now.ns - beat_ns) / NS_PER_S),
             state == 'T'   ? ": it is stopped (SIGSTOP; SIGCONT continues it)"
             : state == 't' ? ": a debugger holds it"
             : state == 'D' ? ": it hangs in the kernel"
                            : "");
    return true;
}

const char *supervisor_death_reason(const struct supervisor *s, uint32_t process)
{
    assert(process < s->n);
    return s->children[process].is_dead ? s->children[process].reason : NULL;
}

const struct process_shared *supervisor_shared(const struct supervisor *s, uint32_t process)
{
    assert(process < s->n);
    return s->children[process].shared;
}

const struct interval_log *supervisor_intervals(const struct supervisor *s, uint32_t process)
{
    assert(process < s->n);
    return s->children[process].intervals;
}
