#include "wakeup.h"

#define LATENESS_WEIGHT 16 /* of the running mean */

mono_t wakeup_ask(struct wakeup *wakeup, mono_t due, mono_t now)
{
    mono_t at = mono_plus_ns(due, -wakeup->lateness_ns);
    /* A timer set for the past fires at once and teaches nothing. */
    wakeup->asked_for = mono_before(now, at) ? at : MONO_NEVER;
    return at;
}

void wakeup_came(struct wakeup *wakeup, mono_t now)
{
    if (wakeup->asked_for.ns == MONO_NEVER.ns) {
        return;
    }
    int64_t late = mono_since_ns(now, wakeup->asked_for);
    late = late < 0 ? 0 : late > WAKEUP_AHEAD_MAX_NS ? WAKEUP_AHEAD_MAX_NS : late;
    wakeup->lateness_ns += (late - wakeup->lateness_ns) / LATENESS_WEIGHT;
    wakeup->asked_for = MONO_NEVER;
}

mono_t wakeup_wait_out(mono_t due, mono_t now)
{
    if (mono_since_ns(due, now) >= WAKEUP_WAIT_OUT_NS) {
        return now;
    }
    while (mono_before(now, due)) {
        now = mono_now();
    }
    return now;
}
