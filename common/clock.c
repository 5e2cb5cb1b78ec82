#include "clock.h"

#include <stdio.h>

wall_t wall_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (wall_t){(int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec};
}

void wall_format(wall_t t, char out[static 25])
{
    time_t seconds = (time_t)(t.ns / NS_PER_S);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    char date[20];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, 25, "%s.%03uZ", date, (unsigned)(t.ns % NS_PER_S / NS_PER_MS) % 1000u);
}
