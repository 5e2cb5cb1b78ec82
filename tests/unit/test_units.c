#include "units.h"

#include <criterion/criterion.h>
#include <errno.h>

static int64_t duration(const char *text)
{
    int64_t ns = -1;
    cr_assert_eq(units_parse_duration_ns(text, &ns), 0, "%s", text);
    return ns;
}

static uint64_t bytes(const char *text)
{
    uint64_t n = 0;
    cr_assert_eq(units_parse_bytes(text, &n), 0, "%s", text);
    return n;
}

Test(units, durations_are_nanoseconds)
{
    cr_assert_eq(duration("0s"), 0);
    cr_assert_eq(duration("200us"), 200000);
    cr_assert_eq(duration("1.5ms"), 1500000);
    cr_assert_eq(duration("1ms"), 1000000);
    cr_assert_eq(duration("300s"), INT64_C(300000000000));
    cr_assert_eq(duration("2 min"), INT64_C(120000000000));
    cr_assert_eq(duration("1h"), INT64_C(3600000000000));
    cr_assert_eq(duration("0.4ns"), 0);
    cr_assert_eq(duration("0.6ns"), 1);
}

Test(units, sizes_tell_1000_from_1024)
{
    cr_assert_eq(bytes("17B"), 17);
    cr_assert_eq(bytes("32KiB"), 32768);
    cr_assert_eq(bytes("1.5 MiB"), 1572864);
    cr_assert_eq(bytes("120MB"), 120000000);
    cr_assert_eq(bytes("2GiB"), UINT64_C(2147483648));
}

Test(units, what_is_not_a_number_and_a_unit_is_refused)
{
    static const char *const wrong[] = {"",      "ms",   "-1ms",  "+1ms",    "1",     "1 ",     "1xs",   "1.ms",
                                        ".5ms",  "1e3s", "0x1s",  "infs",    "nans",  "1  ms",  "1ms ",  " 1ms",
                                        "1,5ms", "1m",   "1 M s", "1.5.5ms", "1ms\n", "1KiBms", "1\tms", "1MS"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t ns;
        cr_assert_eq(units_parse_duration_ns(wrong[i], &ns), -EINVAL, "\"%s\"", wrong[i]);
    }
    uint64_t n;
    cr_assert_eq(units_parse_bytes("1K", &n), -EINVAL);
    cr_assert_eq(units_parse_bytes("1M", &n), -EINVAL);
    cr_assert_eq(units_parse_bytes("1", &n), -EINVAL);
}

Test(units, what_does_not_fit_is_out_of_range)
{
    int64_t ns;
    uint64_t n;
    cr_assert_eq(units_parse_duration_ns("9999999999999h", &ns), -ERANGE);
    cr_assert_eq(units_parse_bytes("99999999999TiB", &n), -ERANGE);
    cr_assert_eq(units_parse_bytes("11111111111111111111111111111111111111111111111111B", &n), -EINVAL);
}

Test(units, counts_need_no_unit)
{
    double count;
    cr_assert_eq(units_parse_count("2.5k", &count), 0);
    cr_assert_eq(count, 2500);
    cr_assert_eq(units_parse_count("12", &count), 0);
    cr_assert_eq(count, 12);
    cr_assert_eq(units_parse_count("k", &count), -EINVAL);
}

Test(units, figures_print_in_the_largest_unit_that_leaves_at_least_one)
{
    char out[UNITS_TEXT_MAX];
    cr_assert_str_eq(units_format_duration(out, 0), "0 ns");
    cr_assert_str_eq(units_format_duration(out, 999), "999 ns");
    cr_assert_str_eq(units_format_duration(out, 1500000), "1.5 ms");
    cr_assert_str_eq(units_format_duration(out, -1500000), "-1.5 ms");
    cr_assert_str_eq(units_format_duration(out, INT64_C(300000000000)), "5 min");
    cr_assert_str_eq(units_format_bytes(out, 32768), "32 KiB");
    cr_assert_str_eq(units_format_bytes(out, 1000), "1000 B");
    cr_assert_str_eq(units_format_bytes_column(out, 1000), "1000 B");
    cr_assert_str_eq(units_format_bytes_column(out, 32768), "32.000 KiB");
    cr_assert_str_eq(units_format_bytes_column(out, UINT64_C(22354) << 30), "21.830 TiB");
    cr_assert_str_eq(units_format_bytes(out, UINT64_MAX), "16777216 TiB");
    cr_assert_str_eq(units_format_count(out, 12), "12");
    cr_assert_str_eq(units_format_count(out, 2500), "2.5 k");
    cr_assert_str_eq(units_format_count(out, 1e30), "1e+30");
}

Test(units, what_is_printed_parses_back)
{
    char out[UNITS_TEXT_MAX];
    for (int64_t ns = 1; ns <= INT64_C(10000000000); ns *= 10) {
        cr_assert_eq(duration(units_format_duration(out, ns)), ns, "%s", out);
    }
    for (uint64_t n = 1; n < UINT64_C(1) << 50; n *= 2) {
        cr_assert_eq(bytes(units_format_bytes(out, n)), n, "%s", out);
    }
}
