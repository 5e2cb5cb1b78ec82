/* process_usage.c - see process_usage.h. */
#include "process_usage.h"

#include "clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Time spent on a run queue: the second figure of schedstat (Documentation/scheduler/sched-stats.rst of the kernel). 0
 * when the kernel keeps none. */
static int64_t run_queue_ns(void)
{
    int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    char text[128];
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) {
        return 0;
    }
    text[n] = '\0';
    char *wait = strchr(text, ' '); /* behind the time on a processor */
    return wait ? (int64_t)strtoll(wait, NULL, 10) : 0;
}

void process_usage(int64_t *cpu_ns, int64_t *busy_ns)
{
    struct timespec ts = {0, 0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    *cpu_ns = (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
    *busy_ns = *cpu_ns + run_queue_ns();
}
