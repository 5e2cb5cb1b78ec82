/* test_campaign_config.c - what a campaign file may say, and what is said when it may not. */
#include "campaign_config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOOD_TARGETS  "\"targets\": [{\"name\": \"fs1\", \"server\": \"10.0.0.1\", \"export\": \"/fs1\"}]"
#define GOOD_LOADGENS "\"loadgens\": [{\"host\": \"lg1\"}]"
#define GOOD_LOADS    "\"load_ops_per_s\": [100, 200]"
#define GOOD          "{\"workload\": \"sfs2008\", " GOOD_LOADS ", " GOOD_TARGETS ", " GOOD_LOADGENS

static int load(const char *text, struct campaign_config *c, struct config_errors *errors)
{
    config_errors_init(errors);
    return campaign_config_from_text("c.json", text, NULL, 0, c, errors);
}

/* Expects exactly these messages, in any order; NULL ends the list. */
static void expect_errors(const char *text, const char *const *expected)
{
    struct campaign_config c;
    struct config_errors errors;
    size_t n = 0;
    cr_assert_eq(load(text, &c, &errors), -EINVAL);
    for (; expected[n] != NULL; n++) {
        bool is_there = false;
        for (size_t i = 0; i < errors.n; i++) {
            is_there |= strcmp(errors.messages[i], expected[n]) == 0;
        }
        cr_expect(is_there, "missing: %s", expected[n]);
    }
    for (size_t i = 0; i < errors.n && errors.n != n; i++) {
        cr_log_warn("got: %s", errors.messages[i]);
    }
    cr_assert_eq(errors.n, n);
    campaign_config_fini(&c);
    config_errors_fini(&errors);
}

Test(campaign_config, defaults_are_the_standard_values)
{
    struct campaign_config c;
    struct config_errors errors;
    cr_assert_eq(load(GOOD "}", &c, &errors), 0);
    cr_assert_eq(c.warmup_s, 300);
    cr_assert_eq(c.run_s, 300);
    cr_assert_eq(c.processes_per_loadgen, 8);
    cr_assert_eq(c.targets[0].nfs_port, 2049);
    cr_assert_eq(c.targets[0].mount_port, 0);
    cr_assert_eq(c.loadgens[0].port, 7049);
    cr_assert_str_eq(c.loadgens[0].name, "lg1");
    cr_assert_str_eq(campaign_engine_name(&c), "native");
    cr_assert(campaign_access_is_uniform(&c));
    campaign_config_fini(&c);
    config_errors_fini(&errors);
}

Test(campaign_config, load_generators_of_one_host_are_told_apart_by_port)
{
    struct campaign_config c;
    struct config_errors errors;
    cr_assert_eq(load("{\"workload\": \"sfs2008\", " GOOD_LOADS ", " GOOD_TARGETS
                      ", \"loadgens\": [{\"host\": \"lg1\"}, "
                      "{\"host\": \"lg1\", \"port\": 7050}, {\"host\": \"lg1\", \"port\": 7051}]}",
                      &c, &errors),
                 0);
    cr_assert_str_eq(c.loadgens[0].name, "lg1");
    cr_assert_str_eq(c.loadgens[1].name, "lg1:7050");
    cr_assert_str_eq(c.loadgens[2].name, "lg1:7051");
    campaign_config_fini(&c);
    config_errors_fini(&errors);
}

Test(campaign_config, a_load_beyond_all_servers_is_told_its_limit)
{
    expect_errors("{\"workload\": \"sfs2008\", \"load_ops_per_s\": [1e12], " GOOD_TARGETS ", " GOOD_LOADGENS "}",
                  (const char *const[]){"c.json:1: load_ops_per_s[0]: must be a number of ops/s greater than 0 and at "
                                        "most 1e+09",
                                        NULL});
}

Test(campaign_config, names_are_there_and_cannot_steer_a_terminal)
{
    static const char *const bad[][2] = {{"", ""}, {"a\\nb", "a\\x0ab"}, {"\\u001b[2J", "\\x1b[2J"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[512], expected[512];
        snprintf(text, sizeof text, GOOD ", \"name\": \"%s\"}", bad[i][0]);
        snprintf(expected, sizeof expected,
                 "c.json: name: the name \"%s\" cannot be shown; expected 1 to 128 bytes without control characters",
                 bad[i][1]);
        expect_errors(text, (const char *const[]){expected, NULL});
    }
    expect_errors("{\"workload\": \"sfs2008\", " GOOD_LOADS ", " GOOD_TARGETS
                  ", \"loadgens\": [{\"host\": \"lg1\", \"name\": \"\\u009b1m\"}]}",
                  (const char *const[]){"c.json: loadgens: the name \"\\xc2\\x9b1m\" cannot be shown; expected 1 to "
                                        "128 bytes without control characters",
                                        NULL});
}

Test(campaign_config, a_disclosure_that_could_not_be_read_again_is_refused)
{
    static const struct {
        int depth;
        bool is_good;
    } cases[] = {{1, true}, {32, true}, {33, false}, {2000, false}};
    static char text[16384];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct campaign_config c;
        struct config_errors errors;
        int n = snprintf(text, sizeof text, GOOD ", \"disclosure\": ");
        for (int d = 0; d < cases[i].depth; d++) {
            n += snprintf(text + n, sizeof text - (size_t)n, "{\"a\":");
        }
        n += snprintf(text + n, sizeof text - (size_t)n, "1");
        for (int d = 0; d <= cases[i].depth; d++) {
            text[n++] = '}';
        }
        text[n] = '\0';
        cr_expect_eq(load(text, &c, &errors), cases[i].is_good ? 0 : -EINVAL, "%d levels", cases[i].depth);
        campaign_config_fini(&c);
        config_errors_fini(&errors);
    }

    enum { N = 200000 }; /* 400 kB on one line, more than a MiB one value a line */
    char *large = malloc(2 * N + 1024);
    cr_assert_not_null(large);
    int n = snprintf(large, 1024, GOOD ", \"disclosure\": {\"a\": [1");
    for (int i = 0; i < N; i++) {
        large[n++] = ',';
        large[n++] = '1';
    }
    snprintf(large + n, 16, "]}}");
    expect_errors(large, (const char *[]){"c.json:1: disclosure: is larger than 1 MiB, one value a line", NULL});
    free(large);
}

Test(campaign_config, every_error_is_reported_at_once)
{
    expect_errors("{\n\"workload\": \"sfs2008\", \"wrkload\": 1,\n"
                  "\"load_ops_per_s\": {\"first\": -100, \"increment\": 100, \"points\": 10},\n"
                  "\"run_s\": \"long\",\n"
                  "\"targets\": [{\"name\": \"fs1\", \"server\": \"10.0.0.1\"}],\n"
                  "\"loadgens\": [{\"host\": \"lg1\", \"targets\": [\"fs9\"]}, {\"local\": 0}]\n}",
                  (const char *const[]){
                      "c.json:2: wrkload: unknown key; did you mean \"workload\"?",
                      "c.json:3: load_ops_per_s.first: is -100; expected a number of ops/s from 0.001 to 1000000000",
                      "c.json:4: run_s: is \"long\"; expected a number of s from 1 to 86400",
                      "c.json:5: targets[0]: has no export; expected the path that the server exports",
                      "c.json:6: loadgens[0]: targets names \"fs9\"; expected the name of a target of this campaign",
                      "c.json:6: loadgens[1]: must have either \"host\" or \"local\" (a number greater than 0)", NULL});
}

Test(campaign_config, a_mix_must_sum_to_100)
{
    expect_errors(GOOD ", \"op_mix_percent\": {\"lookup\": 50, \"read\": 40}}",
                  (const char *const[]){"c.json:1: op_mix_percent: sums to 90; the shares must sum to 100", NULL});
}

Test(campaign_config, points_go_from_low_to_high)
{
    expect_errors("{\"workload\": \"sfs2008\", \"load_ops_per_s\": [200, 100], " GOOD_TARGETS ", " GOOD_LOADGENS "}",
                  (const char *const[]){
                      "c.json:1: load_ops_per_s[1]: 100 ops/s does not follow 200: points go from low to high", NULL});
}

Test(campaign_config, names_are_unique)
{
    expect_errors(
        "{\"workload\": \"sfs2008\", " GOOD_LOADS ", \"loadgens\": [{\"host\": \"lg1\"}, {\"host\": \"lg1\"}], "
        "\"targets\": [{\"name\": \"a\", \"server\": \"s\", \"export\": \"/a\"}, {\"name\": \"a\", \"server\": "
        "\"s\", \"export\": \"/b\"}]}",
        (const char *const[]){
            "c.json:1: targets[1]: name \"a\" is used by another target; expected a name of its own",
            "c.json:1: loadgens[1]: name \"lg1\" is used by another load generator; expected a name of its own", NULL});
}

Test(campaign_config, a_host_is_no_path_and_no_port)
{
    expect_errors(
        "{\"workload\": \"sfs2008\", " GOOD_LOADS ", \"loadgens\": [{\"host\": \"lg1:7050\"}], "
        "\"targets\": [{\"name\": \"a\", \"server\": \"nas:/a\", \"export\": \"/a\"}, {\"name\": \"b\", "
        "\"server\": \"fd00::1\", \"export\": \"/b\"}, {\"name\": \"c\", \"server\": \"fe80::1%eth0\", "
        "\"export\": \"/c\"}, {\"name\": \"d\", \"server\": \"[fd00::1]\", \"export\": \"/d\"}]}",
        (const char *const[]){"c.json:1: targets[0]: server is \"nas:/a\"; expected a host name or address alone: the "
                              "path belongs in \"export\", a port in \"nfs_port\"",
                              "c.json:1: targets[3]: server is \"[fd00::1]\"; expected a host name or address alone: "
                              "the path belongs in \"export\", a port in \"nfs_port\"",
                              "c.json:1: loadgens[0]: host is \"lg1:7050\"; expected a host name or address alone: a "
                              "port belongs in \"port\"",
                              NULL});
}

Test(campaign_config, a_missing_file_is_named)
{
    expect_errors(GOOD ", \"control\": {\"key_file\": \"no/such.key\"}}",
                  (const char *const[]){"c.json:1: control.key_file: names the file \"no/such.key\", which cannot be "
                                        "found: No such file or directory; nfscurve keygen makes it",
                                        NULL});
}

Test(campaign_config, broken_json_is_refused)
{
    struct campaign_config c;
    struct config_errors errors;
    cr_assert_lt(load("{\"name\": ", &c, &errors), 0);
    cr_assert_eq(errors.n, 1);
    campaign_config_fini(&c);
    config_errors_fini(&errors);
}

Test(campaign_config, set_wins_over_the_file)
{
    struct campaign_config c;
    struct config_errors errors;
    const char *const assignments[] = {"run_s=12.5", "targets[0].server=nas", "biod_max_read=7"};
    config_errors_init(&errors);
    cr_assert_eq(campaign_config_from_text("c.json", GOOD "}", assignments, 3, &c, &errors), 0);
    cr_assert_eq(c.run_s, 12.5);
    cr_assert_str_eq(c.targets[0].server, "nas");
    cr_assert_eq(c.workload.biod_max_read, 7);
    campaign_config_fini(&c);
    config_errors_fini(&errors);
}

Test(campaign_config, the_dump_is_the_same_campaign)
{
    struct campaign_config c, again;
    struct config_errors errors;
    cr_assert_eq(load("{\"name\": \"n\", \"workload\": \"sfs3\", \"fileset_mb_per_op\": 1.5, \"load_ops_per_s\": "
                      "{\"first\": 10, \"increment\": 5, \"points\": 3}, \"processes_per_loadgen\": 2, \"targets\": "
                      "[{\"name\": \"a\", \"server\": \"s\", \"export\": \"/a\"}, {\"name\": \"b\", \"local\": "
                      "{\"args\": [\"--fault\", \"x\"]}}], \"loadgens\": [{\"host\": \"lg1\", \"targets\": [\"b\"]}, "
                      "{\"local\": 2}], \"gids\": [4, 5], \"disclosure\": {\"x\": 1}}",
                      &c, &errors),
                 0);
    json_t *first = campaign_config_dump(&c);
    char *text = json_dumps(first, JSON_REAL_PRECISION(17));
    struct config_errors more;
    cr_assert_eq(load(text, &again, &more), 0, "%s", more.n > 0 ? more.messages[0] : "");
    json_t *second = campaign_config_dump(&again);
    char *text_again = json_dumps(second, JSON_REAL_PRECISION(17));
    cr_assert_str_eq(text, text_again);
    cr_assert_eq(again.n_loadgens, 3);
    cr_assert_str_eq(again.loadgens[2].name, "local-2");
    free(text);
    free(text_again);
    json_decref(first);
    json_decref(second);
    campaign_config_fini(&c);
    campaign_config_fini(&again);
    config_errors_fini(&errors);
    config_errors_fini(&more);
}

static size_t n_nonstandard(const char *text)
{
    struct campaign_config c;
    struct config_errors errors;
    cr_assert_eq(load(text, &c, &errors), 0, "%s", errors.n > 0 ? errors.messages[0] : "");
    size_t n = json_array_size(c.nonstandard);
    campaign_config_fini(&c);
    config_errors_fini(&errors);
    return n;
}

#define TEN                                                                                                            \
    "\"load_ops_per_s\": {\"first\": 1000, \"increment\": 1000, \"points\": 10}, " GOOD_TARGETS ", " GOOD_LOADGENS

Test(campaign_config, standard_values_are_standard_and_each_other_one_is_named)
{
    cr_assert_eq(n_nonstandard("{\"workload\": \"sfs2008\", " TEN "}"), 0);
    cr_assert_eq(n_nonstandard("{\"workload\": \"sfs2008\", \"run_s\": 60, " TEN "}"), 1);
    cr_assert_eq(n_nonstandard("{\"workload\": \"sfs2008\", \"run_s\": 60, \"warmup_s\": 9, " TEN "}"), 2);
    cr_assert_eq(n_nonstandard("{\"workload\": \"sfs2008\", \"fileset_mb_per_op\": 1, " TEN "}"), 1);
    cr_assert_eq(n_nonstandard("{\"workload\": \"sfs2008\", \"append_percent\": 10, " TEN "}"), 1);
    cr_assert_eq(n_nonstandard("{\"workload\": \"sfs2008\", \"processes_per_loadgen\": 7, " TEN "}"), 1);
    cr_assert_eq(n_nonstandard(GOOD "}"), 1); /* two points */
    cr_assert_eq(n_nonstandard("{\"workload\": \"sfs2008\", \"load_ops_per_s\": [1,2,3,4,5,6,7,8,9,20], " GOOD_TARGETS
                               ", " GOOD_LOADGENS "}"),
                 1); /* not evenly spaced */
}

Test(campaign_config, uniform_access_needs_as_many_processes_for_each_target)
{
    static const char *const two =
        "{\"workload\": \"sfs2008\", \"processes_per_loadgen\": %d, " GOOD_LOADS ", " GOOD_LOADGENS
        ", \"targets\": [{\"name\": \"a\", \"server\": \"s\", \"export\": \"/a\"}, "
        "{\"name\": \"b\", \"server\": \"s\", \"export\": \"/b\"}]}";
    for (int processes = 2; processes <= 5; processes++) {
        char *text;
        struct campaign_config c;
        struct config_errors errors;
        cr_assert(asprintf(&text, two, processes) > 0);
        cr_assert_eq(load(text, &c, &errors), 0);
        cr_assert_eq(campaign_access_is_uniform(&c), processes % 2 == 0);
        cr_assert_eq(campaign_process_target(&c, 0, 0), 0);
        cr_assert_eq(campaign_process_target(&c, 0, 1), 1);
        campaign_config_fini(&c);
        config_errors_fini(&errors);
        free(text);
    }
}
