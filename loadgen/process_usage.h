/* process_usage.h - what this process has taken of its CPU. */
#ifndef NFSCURVE_LOADGEN_PROCESS_USAGE_H
#define NFSCURVE_LOADGEN_PROCESS_USAGE_H

#include <stdint.h>

/* cpu_ns: CPU time so far, user and system. busy_ns: that and the time it was ready to run and had to wait for a CPU:
 * all the time in which its loop was not waiting for events. The difference is what others took from it. */
void process_usage(int64_t *cpu_ns, int64_t *busy_ns);

#endif
