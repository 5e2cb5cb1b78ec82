/* wakeup.h - being awake at a given time, although a timer wakes a process 20 to 130 us late.
 *
 *   due ──wakeup_ask──> timer set ahead by the lateness learned so far ──wakeup_came──> learns
 *                                                     └─ woken a little early: wakeup_wait_out looks at the clock
 *
 * The lateness is a running mean, so about every second wake-up is early and is waited out, for WAKEUP_WAIT_OUT_NS at
 * the most; earlier than that the timer is set again.
 */
#ifndef NFSCURVE_COMMON_WAKEUP_H
#define NFSCURVE_COMMON_WAKEUP_H

#include "clock.h"

#define WAKEUP_WAIT_OUT_NS  (25 * NS_PER_US)  /* shorter than this is waited for by looking at the clock */
#define WAKEUP_AHEAD_MAX_NS (200 * NS_PER_US) /* the most that is asked ahead: a deeply idle processor takes 130 us */

struct wakeup {
    mono_t asked_for; /* MONO_NEVER: nothing */
    int64_t lateness_ns;
};

#define WAKEUP_INIT ((struct wakeup){.asked_for = MONO_NEVER})

/* For which time the timer must be set to be awake at `due`. */
mono_t wakeup_ask(struct wakeup *wakeup, mono_t due, mono_t now);

/* The timer has fired. */
void wakeup_came(struct wakeup *wakeup, mono_t now);

/* Waits for `due` when that is near or past; else returns at once. The time it is then. */
mono_t wakeup_wait_out(mono_t due, mono_t now);

#endif
