/* test_options.c - the command line of the load generator. */
#include "options.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static struct loadgen_options options;
static char message[512];

static enum options_result parse(const char *a, const char *b)
{
    char *argv[] = {(char *)"nfscurve-loadgen", (char *)a, (char *)b, NULL};

    return options_parse(1 + (a != NULL) + (b != NULL), argv, &options, message, sizeof message);
}

Test(options, defaults_listen_on_loopback)
{
    cr_assert_eq(parse(NULL, NULL), OPTIONS_RUN);
    cr_assert_str_eq(options.listen_address, "127.0.0.1");
    cr_assert_eq(options.listen_port, 7049);
    cr_assert_eq(options.lease_ns, 10 * NS_PER_S);
}

Test(options, listen_takes_both_families_with_and_without_port)
{
    cr_assert_eq(parse("--listen", "127.0.0.2:0"), OPTIONS_RUN);
    cr_assert_str_eq(options.listen_address, "127.0.0.2");
    cr_assert_eq(options.listen_port, 0);
    cr_assert_eq(parse("--listen", "[::1]:65535"), OPTIONS_RUN);
    cr_assert_str_eq(options.listen_address, "::1");
    cr_assert_eq(options.listen_port, 65535);
    cr_assert_eq(parse("--listen", "::1"), OPTIONS_RUN);
    cr_assert_eq(options.listen_port, 7049);
    cr_assert_eq(parse("--listen=127.9.9.9", NULL), OPTIONS_RUN);
    cr_assert_str_eq(options.listen_address, "127.9.9.9");
}

Test(options, broken_addresses_are_named)
{
    const char *texts[] = {
        "",     ":",         "localhost:1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:1x",
        "[::1", "[::1]7049", "1.2.3"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_assert_eq(parse("--listen", texts[i]), OPTIONS_BAD, "%s passed", texts[i]);
        cr_assert_not_null(strstr(message, "--listen"));
    }
}

Test(options, open_address_needs_a_key_or_the_word)
{
    const char *open[] = {"0.0.0.0:0", "10.0.0.1", "::", "[::]:0", "128.0.0.1"};

    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        cr_assert_eq(parse("--listen", open[i]), OPTIONS_BAD, "%s passed", open[i]);
    }
    cr_assert_eq(parse("--listen=0.0.0.0", "--insecure-no-key"), OPTIONS_RUN);
    cr_assert_eq(parse("--listen=0.0.0.0", "--key-file=k"), OPTIONS_RUN);
    cr_assert_str_eq(options.key_file, "k");
}

Test(options, missing_values_and_unknown_words_are_named)
{
    cr_assert_eq(parse("--key-file", NULL), OPTIONS_BAD);
    cr_assert_not_null(strstr(message, "--key-file needs a value"));
    cr_assert_eq(parse("--frobnicate", NULL), OPTIONS_BAD);
    cr_assert_not_null(strstr(message, "--frobnicate"));
    cr_assert_eq(parse("word", NULL), OPTIONS_BAD);
    cr_assert_not_null(strstr(message, "word"));
}

Test(options, lease_has_bounds)
{
    cr_assert_eq(parse("--lease-s", "1.5"), OPTIONS_RUN);
    cr_assert_eq(options.lease_ns, 1500 * NS_PER_MS);
    const char *texts[] = {"0", "0.5", "3601", "nan", "inf", "", "5s"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_assert_eq(parse("--lease-s", texts[i]), OPTIONS_BAD, "%s passed", texts[i]);
    }
}
