/* local_latency.h - local targets answer at once while they are filled, and as their latency model says under load.
 *
 * Under a model such as "curve:FILE" a fileset would be made at the pace of the server that is played: minutes a point
 * that nobody measures. A target that the prime started itself may be told: its control file is written, and SIGHUP
 * makes the target read it (within milliseconds; a load starts a quarter of a second after it was asked for).
 *
 * Reading the file replaces fault rules, so targets with further arguments are left as they are.
 */
#ifndef NFSCURVE_PRIME_LOCAL_LATENCY_H
#define NFSCURVE_PRIME_LOCAL_LATENCY_H

#include <stdbool.h>
#include <sys/types.h>

struct local_target;

/* False also for a model that a control file cannot say, as one whose curve's name holds a '#': it is on all the time.
 */
bool local_latency_is_switched(const struct local_target *target);

/* Writes the control file: the target's model, or none. `pid` 0: the target is yet to start. 0 or -errno. */
int local_latency_set(const struct local_target *target, const char *control_file, bool is_on, pid_t pid);

#endif
