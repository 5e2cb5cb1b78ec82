/* local_latency.h - local targets answer at once while they are filled, and as their latency model says under load.
 *
 * Under a model such as "curve:FILE" a fileset would be made at the pace of the server that is played: minutes a point
 * that nobody measures. A target that the prime started itself may be told: its control file is written, and SIGHUP
 * makes the target read it and write into its answer file what became of that. A load begins when the answer is there:
 * a target that refused its model would be measured without it.
 *
 * Reading the file replaces fault rules, so targets with further arguments are left as they are.
 */
#ifndef NFSCURVE_PRIME_LOCAL_LATENCY_H
#define NFSCURVE_PRIME_LOCAL_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct local_target;

/* False also for a model that a control file cannot say, as one whose curve's name holds a '#': it is on all the time.
 */
bool local_latency_is_switched(const struct local_target *target);

/* The file that the target is to write its answers to. Heap, or NULL. */
char *local_latency_answer_file(const char *control_file);

/* Writes the control file: the target's model, or none. `pid` 0: the target is yet to start, and starts with the file
 * or not at all; otherwise the old answer is removed and a new one asked for. 0 or -errno. */
int local_latency_set(const struct local_target *target, const char *control_file, bool is_on, pid_t pid);

/* 0: the target did as the control file says. -EAGAIN: no answer yet. Else -errno with the target's words, or why they
 * cannot be read, in message[cap]. */
int local_latency_answer(const char *control_file, char *message, size_t cap);

#endif
