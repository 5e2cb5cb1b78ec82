#include "target_process.h"

#include <err.h>
#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_LIMIT_S 10
#define MAX_ARGUMENTS 16

void bench_pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        warn("cannot use cpu %d alone", cpu);
    }
}

/* build/bench/bench_ops -> build/target/nfscurve-target, or beside the program, or in bin/ beside build/. */
static void find_program(char path[PATH_MAX])
{
    static const char *const places[] = {"/../target/nfscurve-target", "/nfscurve-target",
                                         "/../../bin/nfscurve-target"};
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
        err(1, "/proc/self/exe");
    }
    const char *dir = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, PATH_MAX, "%s%s", dir, places[i]);
        if (access(path, X_OK) == 0) {
            return;
        }
    }
    errx(1, "no nfscurve-target beside %s: ./run build", dir);
}

static _Noreturn void run(const char *path, const char *ready_file, const char *const *arguments, int cpu)
{
    const char *argv[MAX_ARGUMENTS + 8] = {path,       "--listen", "127.0.0.1",    "--port",  "0",
                                           "--export", "/export",  "--ready-file", ready_file};
    size_t n = 9;
    for (; arguments && *arguments && n < sizeof argv / sizeof *argv - 1; arguments++) {
        argv[n++] = *arguments;
    }
    if (cpu >= 0) {
        bench_pin(cpu);
    }
    dup2(STDERR_FILENO, STDOUT_FILENO); /* figures go to stdout */
    execv(path, (char *const *)(uintptr_t)argv);
    _exit(127);
}

void target_process_start(struct target_process *target, const char *program, const char *const *arguments, int cpu)
{
    /* mkdtemp fills in the last six letters */
    char path[PATH_MAX], directory[] = "/tmp/nfscurve-bench-XXXXXX", file[sizeof directory + 16];
    if (program) {
        snprintf(path, sizeof path, "%s", program);
    } else {
        find_program(path);
    }
    if (!mkdtemp(directory)) {
        err(1, "%s", directory);
    }
    snprintf(file, sizeof file, "%s/ready", directory);
    pid_t parent = getpid();
    target->pid = fork();
    if (target->pid < 0) {
        err(1, "fork");
    }
    if (target->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        run(path, file, arguments, cpu);
    }
    json_t *facts = NULL;
    bool has_ended = false;
    for (int i = 0; i < READY_LIMIT_S * 100 && !facts && !has_ended; i++) {
        facts = json_load_file(file, 0, NULL);
        has_ended = !facts && waitpid(target->pid, NULL, WNOHANG) == target->pid;
        if (!facts && !has_ended) {
            usleep(10000);
        }
    }
    unlink(file);
    rmdir(directory);
    if (!facts) {
        errx(1, "%s %s", path, has_ended ? "ended" : "did not become ready");
    }
    target->port = (uint16_t)json_integer_value(json_object_get(facts, "port"));
    snprintf(target->export_path, sizeof target->export_path, "%s",
             json_string_value(json_object_get(facts, "export")));
    json_decref(facts);
}

int target_process_stop(struct target_process *target)
{
    int status = 0;
    kill(target->pid, SIGTERM);
    waitpid(target->pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
