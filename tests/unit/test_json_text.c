#include "json_text.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void check_number(double v, const char *expected)
{
    char text[32];
    cr_assert_str_eq(json_text_number(v, text), expected);
}

Test(json_text, numbers_have_the_fewest_digits_that_read_back)
{
    check_number(0.8, "0.8");
    check_number(12, "12");
    check_number(0.1 + 0.2, "0.30000000000000004");
    check_number(1.0 / 3, "0.3333333333333333");
    check_number(-0.0, "0"); /* "-0" would read back as the integer 0 */
    check_number(1e300, "1e+300");
}

Test(json_text, reading_and_writing_again_changes_no_byte)
{
    const char *text = "{\"b\": 1, \"a\": [0.1, 1e-7, 2.5], \"c\": {\"x\": \"\\\"\\\\\\n\\u0001\\u00e9\"}, \"d\": [], "
                       "\"e\": {}, \"f\": [null, true, false]}";
    json_t *root = json_loads(text, 0, NULL);
    char *first = json_text(root, NULL);
    json_t *again = json_loads(first, 0, NULL);
    char *second = json_text(again, NULL);
    cr_assert_str_eq(first, second);
    cr_assert(json_equal(root, again));
    free(first);
    free(second);
    json_decref(root);
    json_decref(again);
}

Test(json_text, unknown_figures_are_left_out)
{
    json_t *o = json_object();
    json_put_double(o, "a", NAN);
    json_put_double(o, "b", INFINITY);
    json_put_count(o, "c", UINT64_MAX);
    json_put_text(o, "d", NULL);
    cr_assert_eq(json_object_size(o), 0);
    cr_assert(isnan(json_double(o, "a")));
    cr_assert_eq(json_count(o, "c"), -1);
    json_decref(o);
}

Test(json_text, counts_are_whole_and_not_negative)
{
    json_t *o = json_loads("{\"a\": 1e9, \"b\": 1.5, \"c\": -1, \"d\": 7}", 0, NULL);
    cr_assert_eq(json_count(o, "a"), 1000000000);
    cr_assert_eq(json_count(o, "b"), -1);
    cr_assert_eq(json_count(o, "c"), -1);
    cr_assert_eq(json_count(o, "d"), 7);
    json_decref(o);
}
