/* launcher.c - see launcher.h. */
#include "launcher.h"

#include "clock.h"
#include "log.h"
#include "text.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_WITHIN_NS  (20 * NS_PER_S)
#define READY_POLL_US    5000
#define TERM_PATIENCE_NS NS_PER_S

struct child {
    char *name, *program, *ready_file, *log_file, *address;
    char **argv; /* as execvp wants it */
    pid_t pid;   /* 0: not running */
    bool is_ready, is_reported;
    int wait_status;
    struct launched launched;
};

struct launcher {
    struct event_base *base;
    struct launcher_events events;
    void *arg;
    char *log_dir, *ready_dir;
    struct child *children;
    int n_children;
    struct event *poll_timer, *child_signal;
    mono_t give_up_at;
    bool is_reported; /* on_ready was called */
    int start_error;
    char message[1024];
};

char *launcher_find_program(const char *name)
{
    /* Installed or copied programs are siblings; in the build tree each has a directory: build/prime, build/loadgen,
     * build/target. */
    static const char *const places[][2] = {
        {"", ""}, {"../loadgen/", "nfscurve-loadgen"}, {"../target/", "nfscurve-target"}};
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    char *slash = NULL;
    if (n > 0) {
        exe[n] = '\0';
        slash = strrchr(exe, '/');
    }
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        if (places[i][1][0] != '\0' && strcmp(places[i][1], name) != 0) {
            continue;
        }
        char *path = text_format("%.*s/%s%s", (int)(slash - exe), exe, places[i][0], name);
        if (path != NULL && access(path, X_OK) == 0) {
            return path;
        }
        free(path);
    }
    return strdup(name);
}

/* --- starting --- */

/* Child's side: never returns. Only async-signal-safe calls. */
static void exec_child(const struct child *child, pid_t prime)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != prime) {
        _exit(127); /* the prime died before prctl */
    }
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int log = open(child->log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) {
        _exit(126);
    }
    execvp(child->argv[0], child->argv);
    _exit(127);
}

static int start_child(struct launcher *launcher, struct child *child)
{
    pid_t prime = getpid(), pid = fork();
    if (pid < 0) {
        snprintf(launcher->message, sizeof launcher->message, "%s cannot be started: %s", child->program,
                 strerror(errno));
        return -errno;
    }
    if (pid == 0) {
        exec_child(child, prime);
    }
    child->pid = pid;
    return 0;
}

static void read_last_words(const struct child *child, char *out, size_t cap)
{
    char buffer[2048], *line = buffer;
    out[0] = '\0';
    int fd = open(child->log_file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t n =
        pread(fd, buffer, sizeof buffer - 1, size > (off_t)sizeof buffer - 1 ? size - (off_t)sizeof buffer + 1 : 0);
    close(fd);
    while (n > 0 && buffer[n - 1] == '\n') {
        n--;
    }
    if (n <= 0) {
        return;
    }
    buffer[n] = '\0';
    if (strrchr(buffer, '\n') != NULL) {
        line = strrchr(buffer, '\n') + 1;
    }
    log_quote(out, cap, line, strlen(line));
}

static void describe_death(const struct child *child, char *out, size_t cap)
{
    if (WIFSIGNALED(child->wait_status)) {
        snprintf(out, cap, "pid %d died of signal %d (%s)", (int)child->launched.pid, WTERMSIG(child->wait_status),
                 strsignal(WTERMSIG(child->wait_status)));
    } else if (WEXITSTATUS(child->wait_status) == 127) {
        snprintf(out, cap, "%s cannot be executed; expected beside nfscurve or in PATH", child->argv[0]);
    } else {
        snprintf(out, cap, "pid %d ended with status %d", (int)child->launched.pid, WEXITSTATUS(child->wait_status));
    }
}

/* The ready files have told what they had to; gone at once, they are not left behind by a prime that is killed. */
static void remove_ready_files(struct launcher *launcher)
{
    for (int i = 0; i < launcher->n_children; i++) {
        if (launcher->children[i].ready_file != NULL) {
            unlink(launcher->children[i].ready_file);
        }
    }
    if (launcher->ready_dir != NULL) {
        rmdir(launcher->ready_dir);
    }
}

static void report_ready(struct launcher *launcher, int error)
{
    launcher->is_reported = true;
    event_del(launcher->poll_timer);
    remove_ready_files(launcher);
    launcher->events.on_ready(launcher, error, launcher->message, launcher->arg);
}

/* True when the child's ready file is there and makes sense. */
static bool read_ready_file(struct child *child)
{
    json_t *root = json_load_file(child->ready_file, 0, NULL);
    const char *address = json_string_value(json_object_get(root, "address"));
    json_int_t port = json_integer_value(json_object_get(root, "port"));
    if (address != NULL && port > 0 && port <= UINT16_MAX) {
        child->address = strdup(address);
        child->launched.address = child->address;
        child->launched.port = (uint16_t)port;
        child->is_ready = child->address != NULL;
    }
    json_decref(root);
    return child->is_ready;
}

static void fail_child(struct launcher *launcher, const struct child *child, const char *what)
{
    char words[512];
    read_last_words(child, words, sizeof words);
    snprintf(launcher->message, sizeof launcher->message, "%s: %s%s%s", child->name, what, words[0] ? ": " : "", words);
    report_ready(launcher, -ECHILD);
}

static void on_poll(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct launcher *launcher = arg;
    bool are_all_ready = true;
    if (launcher->start_error != 0) {
        report_ready(launcher, launcher->start_error);
        return;
    }
    for (int i = 0; i < launcher->n_children; i++) {
        struct child *child = &launcher->children[i];
        if (child->is_ready || read_ready_file(child)) {
            continue;
        }
        are_all_ready = false;
        if (child->pid == 0) {
            char how[256];
            describe_death(child, how, sizeof how);
            fail_child(launcher, child, how);
            return;
        }
        if (mono_before(launcher->give_up_at, mono_now())) {
            fail_child(launcher, child, "was not ready within 20 s");
            return;
        }
    }
    if (are_all_ready) {
        report_ready(launcher, 0);
    }
}

static void on_child_signal(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct launcher *launcher = arg;
    for (int i = 0; i < launcher->n_children; i++) {
        struct child *child = &launcher->children[i];
        if (child->pid == 0 || waitpid(child->pid, &child->wait_status, WNOHANG) != child->pid) {
            continue;
        }
        child->pid = 0;
        if (!launcher->is_reported || child->is_reported) {
            continue; /* on_poll tells it */
        }
        char how[256];
        describe_death(child, how, sizeof how);
        child->is_reported = true;
        launcher->events.on_death(launcher, child->name, how, launcher->arg);
    }
}

void launcher_start(struct launcher *launcher)
{
    launcher->give_up_at = mono_plus_ns(mono_now(), READY_WITHIN_NS);
    for (int i = 0; i < launcher->n_children && launcher->start_error == 0; i++) {
        struct child *child = &launcher->children[i];
        launcher->start_error = start_child(launcher, child);
        child->launched.pid = child->pid;
    }
    struct timeval period = {0, READY_POLL_US};
    event_add(launcher->poll_timer, &period);
}

/* --- making and ending --- */

struct launcher *launcher_create(struct event_base *base, const char *log_dir, const struct launcher_events *events,
                                 void *arg)
{
    struct launcher *launcher = calloc(1, sizeof *launcher);
    if (launcher == NULL) {
        return NULL;
    }
    launcher->base = base;
    launcher->events = *events;
    launcher->arg = arg;
    const char *tmp = getenv("TMPDIR");
    launcher->log_dir = strdup(log_dir);
    launcher->ready_dir = text_format("%s/nfscurve-XXXXXX", tmp != NULL && tmp[0] == '/' ? tmp : "/tmp");
    launcher->poll_timer = event_new(base, -1, EV_PERSIST, on_poll, launcher);
    launcher->child_signal = evsignal_new(base, SIGCHLD, on_child_signal, launcher);
    if (launcher->ready_dir == NULL || mkdtemp(launcher->ready_dir) == NULL) {
        free(launcher->ready_dir);
        launcher->ready_dir = NULL;
    }
    if (launcher->log_dir == NULL || launcher->ready_dir == NULL || launcher->poll_timer == NULL ||
        launcher->child_signal == NULL || event_add(launcher->child_signal, NULL) != 0) {
        launcher_destroy(launcher);
        return NULL;
    }
    return launcher;
}

/* File names are made of what the campaign calls a child: anything but letters, digits, '-' and '.' becomes '_'. */
static char *file_name(const char *dir, const char *name, const char *suffix)
{
    char *path = text_format("%s/%s%s", dir, name, suffix);
    for (char *p = path != NULL ? path + strlen(dir) + 1 : NULL; p != NULL && *p != '\0'; p++) {
        bool is_plain =
            (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '-' || *p == '.';
        if (!is_plain) {
            *p = '_';
        }
    }
    return path;
}

int launcher_add(struct launcher *launcher, const char *name, const char *program, const char *const *argv, size_t argc)
{
    struct child *grown = realloc(launcher->children, (size_t)(launcher->n_children + 1) * sizeof *grown);
    if (grown == NULL) {
        return -ENOMEM;
    }
    launcher->children = grown;
    struct child *child = &grown[launcher->n_children];
    char number[32];
    snprintf(number, sizeof number, "%d.ready", launcher->n_children);
    memset(child, 0, sizeof *child);
    child->name = strdup(name);
    child->program = strdup(program);
    child->ready_file = file_name(launcher->ready_dir, number, "");
    child->log_file = file_name(launcher->log_dir, name, ".log");
    child->argv = calloc(argc + 4, sizeof *child->argv);
    launcher->n_children++;
    if (child->name == NULL || child->program == NULL || child->ready_file == NULL || child->log_file == NULL ||
        child->argv == NULL) {
        return -ENOMEM;
    }
    size_t n = 0;
    child->argv[n++] = launcher_find_program(program);
    for (size_t i = 0; i < argc; i++) {
        child->argv[n++] = strdup(argv[i]);
    }
    child->argv[n++] = strdup("--ready-file");
    child->argv[n++] = strdup(child->ready_file);
    child->launched.name = child->name;
    return launcher->n_children - 1;
}

const struct launched *launcher_child(const struct launcher *launcher, int index)
{
    return index >= 0 && index < launcher->n_children ? &launcher->children[index].launched : NULL;
}

static bool reap_children(struct launcher *launcher)
{
    bool is_any_left = false;
    for (int i = 0; i < launcher->n_children; i++) {
        struct child *child = &launcher->children[i];
        if (child->pid == 0) {
            continue;
        }
        pid_t rc = waitpid(child->pid, &child->wait_status, WNOHANG);
        if (rc == child->pid || (rc < 0 && errno == ECHILD)) {
            child->pid = 0;
        } else {
            is_any_left = true;
        }
    }
    return is_any_left;
}

static void signal_children(const struct launcher *launcher, int number)
{
    for (int i = 0; i < launcher->n_children; i++) {
        if (launcher->children[i].pid > 0) {
            kill(launcher->children[i].pid, number);
        }
    }
}

static void end_children(struct launcher *launcher)
{
    mono_t kill_at = mono_plus_ns(mono_now(), TERM_PATIENCE_NS);
    signal_children(launcher, SIGTERM);
    bool is_killed = false;
    while (reap_children(launcher)) {
        if (!is_killed && mono_before(kill_at, mono_now())) {
            signal_children(launcher, SIGKILL);
            is_killed = true;
        }
        usleep(2000);
    }
}

void launcher_destroy(struct launcher *launcher)
{
    if (launcher == NULL) {
        return;
    }
    if (launcher->child_signal != NULL) {
        event_free(launcher->child_signal);
    }
    if (launcher->poll_timer != NULL) {
        event_free(launcher->poll_timer);
    }
    end_children(launcher);
    remove_ready_files(launcher);
    for (int i = 0; i < launcher->n_children; i++) {
        struct child *child = &launcher->children[i];
        for (char **a = child->argv; a != NULL && *a != NULL; a++) {
            free(*a);
        }
        free(child->argv);
        free(child->name);
        free(child->program);
        free(child->ready_file);
        free(child->log_file);
        free(child->address);
    }
    free(launcher->children);
    free(launcher->ready_dir);
    free(launcher->log_dir);
    free(launcher);
}
