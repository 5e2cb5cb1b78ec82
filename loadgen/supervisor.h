/* supervisor.h - forks the processes of one campaign, commands them, and notices at once when one dies.
 *
 *   control service ──supervisor_command──> SOCK_SEQPACKET pair ──> process
 *                   <──supervisor_shared─── MAP_SHARED memory <──── process
 *   pidfd readable (the process ended) ──> waitid ──> on_death(reason), once per process
 *
 * - Shared memory belongs to the supervisor: what a dead process had measured can be read until supervisor_destroy().
 * - A process never outlives the daemon: PR_SET_PDEATHSIG, and end of file on its command socket.
 * - Everything that is forked is waited for. After supervisor_destroy() no process is left.
 */
#ifndef NFSCURVE_LOADGEN_SUPERVISOR_H
#define NFSCURVE_LOADGEN_SUPERVISOR_H

#include "process.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct supervisor;

typedef int (*supervisor_process_fn)(const struct process_setup *setup);

/* reason: "killed by signal 9 (SIGKILL), last op read". Not called for ends that supervisor_destroy() brought about. */
typedef void (*supervisor_death_cb)(struct supervisor *supervisor, uint32_t process, const char *reason, void *arg);

struct supervisor_options {
    supervisor_process_fn process_main; /* the whole life of a forked process */
    size_t interval_log_bytes;          /* of shared memory for its seconds; 0: none */
    supervisor_death_cb on_death;
    void *arg;
};

/* Forks n processes. Of setups[i] the fields process, shared, intervals and command_fd are filled in here; what its
 * pointers point to is borrowed until supervisor_destroy(). NULL with a message when memory or processes are short;
 * nothing is left then. */
struct supervisor *supervisor_create(struct event_base *base, const struct supervisor_options *options,
                                     const struct process_setup *setups, uint32_t n, char *message, size_t cap);

/* Asks all to exit, kills after grace_ns who has not, waits for all. Not from inside on_death. */
void supervisor_destroy(struct supervisor *s, int64_t grace_ns);

/* 0, -ESRCH when it is dead, -EAGAIN when it does not read its commands. */
int supervisor_command(struct supervisor *s, uint32_t process, const struct process_command *command);

/* SIGKILL; on_death follows, with `why` as the reason. */
void supervisor_kill(struct supervisor *s, uint32_t process, const char *why);

uint32_t supervisor_n(const struct supervisor *s);
pid_t supervisor_pid(const struct supervisor *s, uint32_t process);
/* Its loop has not turned for long, though it lives: why, in words, in out[cap]. False when it turns; out is as it was
 * then. */
bool supervisor_is_silent(const struct supervisor *s, uint32_t process, mono_t now, char *out, size_t cap);
/* NULL while it lives. */
const char *supervisor_death_reason(const struct supervisor *s, uint32_t process);
const struct process_shared *supervisor_shared(const struct supervisor *s, uint32_t process);
const struct interval_log *supervisor_intervals(const struct supervisor *s, uint32_t process);

#endif
