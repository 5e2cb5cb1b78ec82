/* target_process.h - the nfscurve-target that a benchmark measures against, as a child that ends with it. */
#ifndef NFSCURVE_BENCH_TARGET_PROCESS_H
#define NFSCURVE_BENCH_TARGET_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

struct target_process {
    pid_t pid;
    uint16_t port; /* of 127.0.0.1 */
    char export_path[256];
};

/* program: NULL for that of this build, or of bin/. arguments: further ones, NULL-terminated. cpu: alone on it; -1:
 * any. Returns when it is ready; exits with a reason when it does not become so. */
void target_process_start(struct target_process *target, const char *program, const char *const *arguments, int cpu);

/* Its exit status; -1 when a signal ended it. */
int target_process_stop(struct target_process *target);

/* This process alone on a cpu; a warning where that can't be. */
void bench_pin(int cpu);

#endif
