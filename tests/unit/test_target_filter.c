/* test_target_filter.c - a target outside the ranges is never driven. */
#include "target_filter.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static struct target_filter filter;

Test(target_filter, without_ranges_every_address_is_allowed)
{
    cr_assert(target_filter_allows(&filter, "10.0.0.1"));
    cr_assert(target_filter_allows(&filter, "fd00::1"));
    cr_assert_not(target_filter_allows(&filter, "not an address"));
}

Test(target_filter, range_ends_where_its_prefix_says)
{
    cr_assert_eq(target_filter_add(&filter, "10.1.4.0/22"), 0);
    cr_assert(target_filter_allows(&filter, "10.1.4.0"));
    cr_assert(target_filter_allows(&filter, "10.1.7.255"));
    cr_assert_not(target_filter_allows(&filter, "10.1.3.255"));
    cr_assert_not(target_filter_allows(&filter, "10.1.8.0"));
    cr_assert_not(target_filter_allows(&filter, "fd00::1"));
}

Test(target_filter, single_addresses_and_ipv6_ranges)
{
    cr_assert_eq(target_filter_add(&filter, "192.0.2.7"), 0);
    cr_assert_eq(target_filter_add(&filter, "fd00:1::/33"), 0);
    cr_assert(target_filter_allows(&filter, "192.0.2.7"));
    cr_assert_not(target_filter_allows(&filter, "192.0.2.6"));
    cr_assert(target_filter_allows(&filter, "fd00:1:7fff::1"));
    cr_assert_not(target_filter_allows(&filter, "fd00:1:8000::1"));
}

Test(target_filter, mapped_ipv4_is_judged_as_ipv4)
{
    cr_assert_eq(target_filter_add(&filter, "10.0.0.0/8"), 0);
    cr_assert(target_filter_allows(&filter, "::ffff:10.1.2.3"));
    cr_assert_not(target_filter_allows(&filter, "::ffff:11.1.2.3"));
    memset(&filter, 0, sizeof filter);
    cr_assert_eq(target_filter_add(&filter, "::/0"), 0);
    cr_assert_not(target_filter_allows(&filter, "::ffff:10.1.2.3"));
}

Test(target_filter, everything_has_prefix_zero)
{
    cr_assert_eq(target_filter_add(&filter, "0.0.0.0/0"), 0);
    cr_assert(target_filter_allows(&filter, "255.255.255.255"));
    cr_assert_not(target_filter_allows(&filter, "::1"));
}

Test(target_filter, what_is_no_range_is_refused)
{
    const char *texts[] = {"",           "/8",     "10.0.0.0/",  "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x",
                           "10.1.0.0/8", "10.0.0", "fd00::/129", "host/8",      "10.0.0.0/+8"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_assert_eq(target_filter_add(&filter, texts[i]), -EINVAL, "%s passed", texts[i]);
    }
    cr_assert_eq(filter.n, 0);
}

Test(target_filter, no_more_ranges_than_there_is_room)
{
    for (int i = 0; i < TARGET_FILTER_MAX_RANGES; i++) {
        cr_assert_eq(target_filter_add(&filter, "10.0.0.0/8"), 0);
    }
    cr_assert_eq(target_filter_add(&filter, "10.0.0.0/8"), -ENOSPC);
}

Test(target_filter, refusal_names_target_and_option)
{
    char out[64], message[256];

    cr_assert_eq(target_filter_resolve(&filter, "any.name", out, sizeof out, message, sizeof message), 0);
    cr_assert_str_eq(out, "any.name");
    cr_assert_eq(target_filter_add(&filter, "127.0.0.0/8"), 0);
    cr_assert_eq(target_filter_resolve(&filter, "127.0.0.1", out, sizeof out, message, sizeof message), 0);
    cr_assert_str_eq(out, "127.0.0.1");
    cr_assert_eq(target_filter_resolve(&filter, "192.0.2.1", out, sizeof out, message, sizeof message), -EACCES);
    cr_assert_not_null(strstr(message, "192.0.2.1"));
    cr_assert_not_null(strstr(message, "--allow-target"));
}
