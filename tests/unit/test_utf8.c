#include "utf8.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *in, size_t n, const char *expected)
{
    size_t length;
    char *out = utf8_repair(in, n, &length);
    cr_assert_str_eq(out, expected);
    cr_assert_eq(length, strlen(expected));
    free(out);
}

Test(utf8, valid_text_stays_as_it_is)
{
    const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    check(text, strlen(text), text);
}

Test(utf8, every_invalid_byte_becomes_a_replacement)
{
    check("a\xff"
          "b",
          3,
          "a\xef\xbf\xbd"
          "b");
    check("\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd");                 /* overlong slash */
    check("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
    check("\xf4\x90\x80\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check("\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd"); /* cut short */
    check("a\0b", 3,
          "a\xef\xbf\xbd"
          "b");
}

Test(utf8, nothing_is_read_behind_the_end)
{
    for (unsigned first = 0; first < 256; first++) {
        char *one = malloc(1); /* exact size: a sanitizer sees a step behind it */
        *one = (char)first;
        free(utf8_repair(one, 1, NULL));
        free(one);
    }
}
