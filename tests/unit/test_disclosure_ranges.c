#include "disclosure_ranges.h"

#include <criterion/criterion.h>
#include <errno.h>

static int add(const char *text, size_t *n)
{
    struct ranges r;
    ranges_init(&r);
    int status = ranges_add(&r, text);
    *n = r.n;
    ranges_fini(&r);
    return status;
}

Test(disclosure_ranges, lists_and_ranges_are_sets)
{
    size_t n;
    cr_assert_eq(add("1..4", &n), 0);
    cr_assert_eq(n, 4);
    cr_assert_eq(add("1-4, 7 , 9..10", &n), 0);
    cr_assert_eq(n, 7);
    cr_assert_eq(add("3", &n), 0);
    cr_assert_eq(n, 1);
}

Test(disclosure_ranges, twice_is_seen)
{
    size_t n;
    cr_assert_eq(add("1..4,3", &n), -EEXIST);
    cr_assert_eq(n, 4);
}

Test(disclosure_ranges, what_is_no_list_is_refused)
{
    static const char *const texts[] = {"", "0", "a", "4..1", "1..", "1,,2", "1;2", "99999999999999999999", "1..70000"};
    size_t n;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_assert_eq(add(texts[i], &n), -EINVAL, "%s", texts[i]);
    }
}
