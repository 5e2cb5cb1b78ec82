#include "wakeup.h"

#include <criterion/criterion.h>

#define US NS_PER_US

static mono_t at_us(int64_t us)
{
    return (mono_t){NS_PER_S + us * US};
}

Test(wakeup, first_one_is_asked_for_its_time)
{
    struct wakeup w = WAKEUP_INIT;
    cr_assert_eq(wakeup_ask(&w, at_us(500), at_us(0)).ns, at_us(500).ns);
}

Test(wakeup, asks_ahead_by_what_it_is_late)
{
    struct wakeup w = WAKEUP_INIT;
    for (int64_t t = 0; t < 200000; t += 1000) {
        mono_t asked = wakeup_ask(&w, at_us(t + 500), at_us(t));
        wakeup_came(&w, mono_plus_ns(asked, 40 * US));
    }
    int64_t ahead = mono_since_ns(at_us(500), wakeup_ask(&w, at_us(500), at_us(0)));
    cr_assert(ahead > 39 * US && ahead <= 40 * US, "%ld ns", (long)ahead);
}

Test(wakeup, one_stall_moves_it_by_no_more_than_a_sixteenth_of_the_most)
{
    struct wakeup w = WAKEUP_INIT;
    wakeup_ask(&w, at_us(1), at_us(0));
    wakeup_came(&w, at_us(1000000));
    cr_assert_eq(w.lateness_ns, WAKEUP_AHEAD_MAX_NS / 16);
}

Test(wakeup, timer_set_for_the_past_teaches_nothing)
{
    struct wakeup w = WAKEUP_INIT;
    wakeup_ask(&w, at_us(0), at_us(300));
    wakeup_came(&w, at_us(310));
    cr_assert_eq(w.lateness_ns, 0);
}

Test(wakeup, coming_without_having_been_asked_teaches_nothing)
{
    struct wakeup w = WAKEUP_INIT;
    wakeup_came(&w, at_us(50));
    cr_assert_eq(w.lateness_ns, 0);
}

Test(wakeup, waits_out_what_is_near_and_nothing_else)
{
    mono_t now = mono_now(), due = mono_plus_ns(now, 10 * US);
    cr_assert(!mono_before(wakeup_wait_out(due, now), due));
    mono_t far = mono_plus_ns(now, 3600 * NS_PER_S);
    cr_assert_eq(wakeup_wait_out(far, now).ns, now.ns);
    cr_assert_eq(wakeup_wait_out(now, far).ns, far.ns, "past already");
}
