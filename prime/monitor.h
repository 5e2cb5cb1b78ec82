/* monitor.h - the user's program around every run phase: "SCRIPT START ARGS..." before, "SCRIPT DONE ARGS..." after.
 *
 * It gets NFSCURVE_POINT (from 1) and NFSCURVE_OPS_PER_S in its environment, never holds up the load, and is killed
 * when it takes longer than it may. Its output goes to monitor.log in the run directory.
 */
#ifndef NFSCURVE_PRIME_MONITOR_H
#define NFSCURVE_PRIME_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct campaign_config;
struct monitor;

/* NULL when memory is short. `on_idle` runs from the loop whenever the last call under way has ended. */
struct monitor *monitor_create(struct event_base *base, const struct campaign_config *config, const char *log_file,
                               void (*on_idle)(void *arg), void *arg);

/* Kills a call under way and waits for it. */
void monitor_destroy(struct monitor *monitor);

/* what: "START" or "DONE". A call still under way is killed first. 0 or -errno. */
int monitor_call(struct monitor *monitor, const char *what, size_t point, double ops_per_s);

bool monitor_is_busy(const struct monitor *monitor);

#endif
