/* launcher.h - the programs that the prime starts itself: local load generators and local targets.
 *
 *   launcher_add_* ──launcher_start──> children ──ready files──> on_ready once (all are up, or one is not)
 *                                         └──a child dies──────> on_death
 *
 * Children are in process groups of their own (Ctrl-C is for the prime alone), die with the prime whatever happens to
 * it (PR_SET_PDEATHSIG), write to log files, and are ended and waited for by launcher_destroy. A program is looked for
 * beside the prime's own, then in its build directory, then in PATH.
 */
#ifndef NFSCURVE_PRIME_LAUNCHER_H
#define NFSCURVE_PRIME_LAUNCHER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct launcher;

struct launcher_events {
    /* error: 0, or -errno with a message that names the program and its last words. Never from inside launcher_start.
     */
    void (*on_ready)(struct launcher *launcher, int error, const char *message, void *arg);
    /* A child ended after on_ready, without being asked to. Once a child. */
    void (*on_death)(struct launcher *launcher, const char *name, const char *how, void *arg);
};

/* Where a child listens; valid after on_ready with error 0. */
struct launched {
    const char *name;
    const char *address;
    uint16_t port;
    pid_t pid;
};

/* log_dir: where the children's output goes (NAME.log). NULL when memory is short. */
struct launcher *launcher_create(struct event_base *base, const char *log_dir, const struct launcher_events *events,
                                 void *arg);

/* Ends every child, waits for it (SIGTERM, after a second SIGKILL) and removes the ready files. */
void launcher_destroy(struct launcher *launcher);

/* argv without program name and without --ready-file; copied. Returns the child's index, or -ENOMEM. */
int launcher_add(struct launcher *launcher, const char *name, const char *program, const char *const *argv,
                 size_t argc);

void launcher_start(struct launcher *launcher);

/* NULL for an index that launcher_add did not return. */
const struct launched *launcher_child(const struct launcher *launcher, int index);

/* Heap: the path of a program of ours, or its bare name when only PATH can know it. */
char *launcher_find_program(const char *name);

#endif
