/* clock.h - two kinds of time that cannot be mistaken for each other.
 *
 * mono_t is CLOCK_MONOTONIC: every interval, deadline and schedule. wall_t is CLOCK_REALTIME: only ever a label in a
 * log or a result. They are different structs, so passing one for the other does not compile. Intervals are int64_t
 * nanoseconds with the suffix _ns.
 */
#ifndef NFSCURVE_COMMON_CLOCK_H
#define NFSCURVE_COMMON_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

typedef struct mono {
    int64_t ns;
} mono_t;

typedef struct wall {
    int64_t ns;
} wall_t;

/* The instant that is never reached; also "no deadline". */
#define MONO_NEVER ((mono_t){INT64_MAX})

static inline mono_t mono_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (mono_t){(int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec};
}

/* later - earlier, in nanoseconds; negative when `later` is the earlier one. */
static inline int64_t mono_since_ns(mono_t later, mono_t earlier)
{
    return later.ns - earlier.ns;
}

static inline mono_t mono_plus_ns(mono_t t, int64_t ns)
{
    return (mono_t){t.ns + ns};
}

static inline bool mono_before(mono_t a, mono_t b)
{
    return a.ns < b.ns;
}

wall_t wall_now(void);

/* Writes RFC 3339 UTC with milliseconds ("2026-11-30T20:06:28.123Z", 24 bytes and the NUL) into out[>= 25]. */
void wall_format(wall_t t, char out[static 25]);

#endif
