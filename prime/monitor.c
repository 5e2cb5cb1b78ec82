/* monitor.c - see monitor.h. */
#include "monitor.h"

#include "campaign_config.h"
#include "log.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct monitor {
    const struct campaign_config *config; /* (ref) the campaign's */
    char *log_file;
    void (*on_idle)(void *arg);
    void *arg;
    struct event *child_signal, *deadline;
    pid_t pid; /* 0: no call under way */
    const char *what;
};

static void log_end(const struct monitor *m, int status)
{
    if (WIFSIGNALED(status)) {
        log_warn("monitor script %s %s died of signal %d", m->config->monitor_script, m->what, WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        log_warn("monitor script %s %s ended with status %d", m->config->monitor_script, m->what, WEXITSTATUS(status));
    }
}

static void on_child_signal(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct monitor *m = arg;
    int status;
    if (m->pid == 0 || waitpid(m->pid, &status, WNOHANG) != m->pid) {
        return;
    }
    m->pid = 0;
    event_del(m->deadline);
    log_end(m, status);
    m->on_idle(m->arg);
}

static void end_call(struct monitor *m)
{
    if (m->pid == 0) {
        return;
    }
    int status;
    kill(-m->pid, SIGKILL);
    while (waitpid(m->pid, &status, 0) < 0 && errno == EINTR) {
        ;
    }
    m->pid = 0;
    event_del(m->deadline);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct monitor *m = arg;
    log_warn("monitor script %s %s took longer than %g s and was killed", m->config->monitor_script, m->what,
             m->config->monitor_timeout_s);
    end_call(m);
    m->on_idle(m->arg);
}

struct monitor *monitor_create(struct event_base *base, const struct campaign_config *config, const char *log_file,
                               void (*on_idle)(void *arg), void *arg)
{
    struct monitor *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return NULL;
    }
    m->config = config;
    m->on_idle = on_idle;
    m->arg = arg;
    m->log_file = strdup(log_file);
    m->child_signal = evsignal_new(base, SIGCHLD, on_child_signal, m);
    m->deadline = evtimer_new(base, on_deadline, m);
    if (m->log_file == NULL || m->child_signal == NULL || m->deadline == NULL ||
        event_add(m->child_signal, NULL) != 0) {
        monitor_destroy(m);
        return NULL;
    }
    return m;
}

void monitor_destroy(struct monitor *m)
{
    if (m == NULL) {
        return;
    }
    if (m->deadline != NULL) {
        end_call(m);
    }
    if (m->child_signal != NULL) {
        event_free(m->child_signal);
    }
    if (m->deadline != NULL) {
        event_free(m->deadline);
    }
    free(m->log_file);
    free(m);
}

static void exec_script(const struct monitor *m, char **argv, pid_t prime)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != prime) {
        _exit(127);
    }
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int log = open(m->log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) {
        _exit(126);
    }
    execv(argv[0], argv);
    _exit(127);
}

int monitor_call(struct monitor *m, const char *what, size_t point, double ops_per_s)
{
    end_call(m);
    char number[32], load[32];
    snprintf(number, sizeof number, "%zu", point);
    snprintf(load, sizeof load, "%g", ops_per_s);
    setenv("NFSCURVE_POINT", number, 1);
    setenv("NFSCURVE_OPS_PER_S", load, 1);

    char **argv = calloc(m->config->n_monitor_args + 3, sizeof *argv);
    if (argv == NULL) {
        return -ENOMEM;
    }
    argv[0] = m->config->monitor_script;
    argv[1] = (char *)what;
    for (size_t i = 0; i < m->config->n_monitor_args; i++) {
        argv[2 + i] = m->config->monitor_args[i];
    }
    m->what = what;
    pid_t prime = getpid(), pid = fork();
    if (pid == 0) {
        exec_script(m, argv, prime);
    }
    int rc = pid < 0 ? -errno : 0;
    free(argv);
    if (rc != 0) {
        return rc;
    }
    setpgid(pid, pid); /* in both, so that the group exists before the first kill */
    m->pid = pid;
    double seconds = m->config->monitor_timeout_s;
    struct timeval tv = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)};
    event_add(m->deadline, &tv);
    return 0;
}

bool monitor_is_busy(const struct monitor *m)
{
    return m->pid != 0;
}
