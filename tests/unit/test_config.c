#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lamp {
    bool is_on;
    int64_t brightness;
    double hours;
    char *room;
    int colour;
    uint32_t watts;
    uint64_t serial;
    double square; /* custom: the square of what the file says */
};

static void parse_square(const struct config_ctx *ctx, const json_t *value, void *field)
{
    if (!json_is_number(value)) {
        config_complain(ctx, "expected a number to square");
    } else {
        *(double *)field = json_number_value(value) * json_number_value(value);
    }
}

static json_t *dump_square(const void *field)
{
    return json_real(sqrt(*(const double *)field));
}

static const char *const colours[] = {"red", "green", "blue", NULL};

static const struct config_key lamp_keys[] = {
    {"is_on", CONFIG_BOOL, offsetof(struct lamp, is_on), NULL, 0, 0, "false", NULL, "Whether it shines", NULL, NULL},
    {"brightness_percent", CONFIG_INT, offsetof(struct lamp, brightness), "%", 0, 100, "50", NULL, "How much", NULL,
     NULL},
    {"run_hours", CONFIG_DOUBLE, offsetof(struct lamp, hours), "h", 0.5, 24, "1.5", NULL, "How long", NULL, NULL},
    {"room", CONFIG_STRING, offsetof(struct lamp, room), NULL, 1, 10, NULL, NULL, "where it hangs", NULL, NULL},
    {"colour", CONFIG_ENUM, offsetof(struct lamp, colour), NULL, 0, 0, "\"green\"", colours, "Which", NULL, NULL},
    {"watts", CONFIG_UINT32, offsetof(struct lamp, watts), "W", 0, 0, "5", NULL, "Power", NULL, NULL},
    {"serial", CONFIG_UINT64, offsetof(struct lamp, serial), NULL, 0, 0, "0", NULL, "Number", NULL, NULL},
    {"square", CONFIG_CUSTOM, offsetof(struct lamp, square), NULL, 0, 0, "3", NULL, "Squared", parse_square,
     dump_square},
    {.key = NULL},
};

/* One reading of a text by the lamp table. */
struct reading {
    struct config_source src;
    struct config_errors errors;
    struct lamp lamp;
    int error;
};

static void read_with(struct reading *r, const char *text, const char *const *assignments)
{
    memset(r, 0, sizeof *r);
    config_errors_init(&r->errors);
    r->error = config_load_text(&r->src, "lamp.json", text, &r->errors);
    for (; !r->error && assignments && *assignments; assignments++) {
        r->error = config_set(&r->src, *assignments, &r->errors);
    }
    if (!r->error) {
        r->error = config_parse(&r->src, r->src.root, "", lamp_keys, NULL, &r->lamp, &r->errors);
    }
}

static void done(struct reading *r)
{
    config_free(lamp_keys, &r->lamp);
    config_source_fini(&r->src);
    config_errors_fini(&r->errors);
}

static bool says(const struct config_errors *errors, const char *part)
{
    for (size_t i = 0; i < errors->n; i++) {
        if (strstr(errors->messages[i], part)) {
            return true;
        }
    }
    for (size_t i = 0; i < errors->n; i++) {
        fprintf(stderr, "  %s\n", errors->messages[i]);
    }
    return false;
}

/* The text must be refused with exactly one message that holds `part`. */
static void refuses(const char *text, const char *part)
{
    struct reading r;
    read_with(&r, text, NULL);
    cr_assert_neq(r.error, 0, "%s", text);
    cr_assert(says(&r.errors, part), "\"%s\" not said of %s", part, text);
    cr_assert_eq(r.errors.n, 1, "%zu messages for %s", r.errors.n, text);
    done(&r);
}

Test(config, absent_keys_get_their_defaults)
{
    struct reading r;
    read_with(&r, "{\"room\": \"attic\"}", NULL);
    cr_assert_eq(r.error, 0);
    cr_assert_eq(r.lamp.is_on, false);
    cr_assert_eq(r.lamp.brightness, 50);
    cr_assert_eq(r.lamp.hours, 1.5);
    cr_assert_str_eq(r.lamp.room, "attic");
    cr_assert_eq(r.lamp.colour, 1);
    cr_assert_eq(r.lamp.watts, 5);
    cr_assert_eq(r.lamp.square, 9);
    done(&r);
}

Test(config, present_keys_win_and_edges_of_ranges_belong_to_them)
{
    struct reading r;
    read_with(&r,
              "{\"is_on\": true, \"brightness_percent\": 100, \"run_hours\": 24, \"room\": \"0123456789\", \"colour\": "
              "\"blue\", \"watts\": 4294967295, \"serial\": 9223372036854775807, \"square\": -2}",
              NULL);
    cr_assert_eq(r.error, 0);
    cr_assert(r.lamp.is_on);
    cr_assert_eq(r.lamp.brightness, 100);
    cr_assert_eq(r.lamp.hours, 24);
    cr_assert_eq(r.lamp.colour, 2);
    cr_assert_eq(r.lamp.watts, UINT32_MAX);
    cr_assert_eq(r.lamp.serial, UINT64_C(9223372036854775807));
    cr_assert_eq(r.lamp.square, 4);
    done(&r);
}

Test(config, wrong_types_say_what_came_and_what_was_expected)
{
    refuses("{\"room\": \"a\", \"is_on\": 1}", "is_on: is 1; expected true or false");
    refuses("{\"room\": \"a\", \"brightness_percent\": \"5\"}", "is \"5\"; expected a whole number of % from 0 to 100");
    refuses("{\"room\": \"a\", \"brightness_percent\": 5.5}", "is 5.5; expected a whole number");
    refuses("{\"room\": \"a\", \"run_hours\": [1]}", "is a list; expected a number of h from 0.5 to 24");
    refuses("{\"room\": \"a\", \"run_hours\": null}", "is null; expected a number");
    refuses("{\"room\": 7}", "room: is 7; expected a string");
    refuses("{\"room\": \"a\", \"square\": {}}", "square: expected a number to square");
}

Test(config, impossible_values_are_refused)
{
    refuses("{\"room\": \"a\", \"brightness_percent\": 101}", "is 101; expected a whole number of % from 0 to 100");
    refuses("{\"room\": \"a\", \"brightness_percent\": -1}", "is -1");
    refuses("{\"room\": \"a\", \"run_hours\": 0.49}", "is 0.49");
    refuses("{\"room\": \"\"}", "is 0 bytes long; expected a string of 1 to 10 bytes");
    refuses("{\"room\": \"01234567890\"}", "is 11 bytes long");
    refuses("{\"room\": \"a\", \"watts\": -1}", "is -1");
    refuses("{\"room\": \"a\", \"watts\": 4294967296}", "is 4294967296");
    refuses("{\"room\": \"a\", \"serial\": -1}", "is -1");
}

Test(config, whole_numbers_may_be_written_with_a_point_or_exponent)
{
    struct reading r;
    read_with(&r, "{\"room\": \"a\", \"brightness_percent\": 2e1, \"watts\": 7.0}", NULL);
    cr_assert_eq(r.error, 0);
    cr_assert_eq(r.lamp.brightness, 20);
    cr_assert_eq(r.lamp.watts, 7);
    done(&r);
}

Test(config, huge_numbers_neither_wrap_nor_crash)
{
    refuses("{\"room\": \"a\", \"serial\": 9223372036854775808}", "not valid JSON"); /* 2^63: jansson says too big */
    refuses("{\"room\": \"a\", \"serial\": 1e300}", "expected a whole number");
    refuses("{\"room\": \"a\", \"run_hours\": 1e999}", "not valid JSON");
    refuses("{\"room\": \"a\", \"watts\": 1e19}", "expected a whole number");
    refuses("{\"room\": \"a\", \"brightness_percent\": 99999999999999999999999999}", "not valid JSON");
}

Test(config, what_is_not_json_is_refused_with_line_and_column)
{
    refuses("{\"room\": NaN}", "lamp.json:1: not valid JSON");
    refuses("{\"room\": Infinity}", "not valid JSON");
    refuses("{\n\"room\": \"a\",\n}", "lamp.json:3: not valid JSON");
    refuses("{\"room\": \"a\" // where\n}", "JSON has no comments");
    refuses("", "not valid JSON");
    refuses("{", "not valid JSON");
    refuses("[]", "the outermost value must be an object");
    refuses("{\"room\": \"a\"} x", "not valid JSON");
    refuses("{\"room\": \"\xff\"}", "not valid JSON");         /* no UTF-8 */
    refuses("{\"room\": \"\xc0\xaf\"}", "not valid JSON");     /* overlong */
    refuses("{\"room\": \"\xed\xa0\x80\"}", "not valid JSON"); /* surrogate */
    refuses("{\"room\": \"a\\u0000b\"}", "not valid JSON");    /* would be cut short as a C string */
    refuses("{\"room\": \"a\", \"room\": \"b\"}", "duplicate");
}

Test(config, byte_order_mark_is_passed_over_and_only_one)
{
    struct config_source src;
    struct config_errors errors;
    config_errors_init(&errors);
    cr_assert_eq(config_load_text(&src, "lamp.json", "\xef\xbb\xbf{\n\"room\": 7}", &errors), 0);
    cr_assert_eq(config_line_of(&src, "room"), 2);
    config_source_fini(&src);
    config_errors_fini(&errors);
    refuses("\xef\xbb\xbf\xef\xbb\xbf{\"room\": \"a\"}", "not valid JSON");
}

Test(config, messages_cannot_carry_terminal_escapes)
{
    struct reading r;
    read_with(&r, "{\"room\": \"a\", \"\\u001b[31mred\\n\": 1, \"colour\": \"\\u001b[2J\"}", NULL);
    cr_assert_eq(r.errors.n, 2);
    for (size_t i = 0; i < r.errors.n; i++) {
        for (const char *c = r.errors.messages[i]; *c; c++) {
            cr_assert((unsigned char)*c >= 0x20, "%s", r.errors.messages[i]);
        }
    }
    done(&r);
    refuses("{\x1b[2J}", "not valid JSON");
}

static char *nested(const char *open, const char *middle, const char *close, size_t n)
{
    char *text = calloc(1, n * (strlen(open) + strlen(close)) + strlen(middle) + 1), *end = text;
    for (size_t i = 0; i < n; i++) {
        end = stpcpy(end, open);
    }
    end = stpcpy(end, middle);
    for (size_t i = 0; i < n; i++) {
        end = stpcpy(end, close);
    }
    return text;
}

Test(config, deep_nesting_is_refused_and_does_not_exhaust_the_stack)
{
    char *text = nested("{\"a\":", "1", "}", 1000000);
    refuses(text, "not valid JSON");
    free(text);
    text = nested("[", "", "]", 1000000);
    refuses(text, "not valid JSON");
    free(text);

    /* As deep as the parser allows: an unknown key, and its line is found. */
    text = nested("{\"a\":", "1", "}", 2000);
    struct reading r;
    read_with(&r, text, NULL);
    cr_assert_eq(r.errors.n, 2);
    cr_assert(says(&r.errors, "lamp.json:1: a: unknown key"));
    done(&r);
    free(text);
}

Test(config, all_errors_are_reported_at_once_each_with_its_line)
{
    struct reading r;
    read_with(&r,
              "{\n"
              "  \"is_on\": \"yes\",\n"
              "  \"brightnes_percent\": 5,\n"
              "  \"run_hours\":\n"
              "     99,\n"
              "  \"colour\": \"gren\"\n"
              "}\n",
              NULL);
    cr_assert_eq(r.error, -EINVAL);
    cr_assert_eq(r.errors.n, 5);
    cr_assert(says(&r.errors, "lamp.json:2: is_on: is \"yes\"; expected true or false"));
    cr_assert(says(&r.errors, "lamp.json:3: brightnes_percent: unknown key; did you mean \"brightness_percent\"?"));
    cr_assert(says(&r.errors, "lamp.json:5: run_hours: is 99"));
    cr_assert(
        says(&r.errors,
             "lamp.json:6: colour: is \"gren\"; expected \"red\", \"green\" or \"blue\" (did you mean \"green\"?)"));
    cr_assert(says(&r.errors, "the required key \"room\" is missing; where it hangs"));
    done(&r);
}

Test(config, number_of_messages_is_limited)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    fputs("{\"room\": \"a\"", out);
    for (unsigned i = 0; i < 5000; i++) {
        fprintf(out, ",\n\"key%u\": %u", i, i);
    }
    fputs("}", out);
    fclose(out);
    struct reading r;
    read_with(&r, text, NULL);
    cr_assert_eq(r.errors.n, CONFIG_ERRORS_MAX + 1);
    cr_assert_str_eq(r.errors.messages[CONFIG_ERRORS_MAX], "more errors than can be listed; correct these first");
    done(&r);
    free(text);
}

Test(config, far_words_are_not_taken_for_what_was_meant)
{
    static const char *const words[] = {"run_s", "warmup_s", "load_ops_per_s"};
    cr_assert_str_eq(config_did_you_mean("runs", words, 3), "run_s");
    cr_assert_str_eq(config_did_you_mean("run", words, 3), "run_s");
    cr_assert_str_eq(config_did_you_mean("run_ms", words, 3), "run_s");
    cr_assert_str_eq(config_did_you_mean("wramup_s", words, 3), "warmup_s");
    cr_assert_str_eq(config_did_you_mean("load", words, 3), "load_ops_per_s");
    cr_assert_null(config_did_you_mean("targets", words, 3));
    cr_assert_null(config_did_you_mean("", words, 3));
    cr_assert_null(config_did_you_mean("x", words, 3));
}

Test(config, extra_keys_are_the_caller_s)
{
    static const char *const extra[] = {"shade", NULL};
    struct config_source src;
    struct config_errors errors;
    struct lamp lamp = {0};
    config_errors_init(&errors);
    cr_assert_eq(config_load_text(&src, "x", "{\"room\": \"a\", \"shade\": {\"any\": 1}}", &errors), 0);
    cr_assert_eq(config_parse(&src, src.root, "", lamp_keys, extra, &lamp, &errors), 0);
    config_free(lamp_keys, &lamp);
    config_source_fini(&src);
    config_errors_fini(&errors);
}

Test(config, line_of_finds_values_through_objects_lists_and_dotted_keys)
{
    static const char text[] = "{\"a\": {\"}\": \"]\\\"\",\n" /* 1 */
                               "  \"b\": [1, {\"x\": [\n"     /* 2 */
                               "    10, 20],\n"               /* 3 */
                               "   \"y\": null},\n"           /* 4 */
                               "   \"s\"]},\n"                /* 5 */
                               " \"p99.9\": {\n"              /* 6 */
                               "  \"c\": -1.5e3},\n"          /* 7 */
                               " \"p99\": true}\n";           /* 8 */
    struct config_source src;
    struct config_errors errors;
    config_errors_init(&errors);
    cr_assert_eq(config_load_text(&src, "x", text, &errors), 0);
    cr_assert_eq(config_line_of(&src, ""), 1);
    cr_assert_eq(config_line_of(&src, "a"), 1);
    cr_assert_eq(config_line_of(&src, "a.b"), 2);
    cr_assert_eq(config_line_of(&src, "a.b[0]"), 2);
    cr_assert_eq(config_line_of(&src, "a.b[1].x[0]"), 3);
    cr_assert_eq(config_line_of(&src, "a.b[1].x[1]"), 3);
    cr_assert_eq(config_line_of(&src, "a.b[1].y"), 4);
    cr_assert_eq(config_line_of(&src, "a.b[2]"), 5);
    cr_assert_eq(config_line_of(&src, "p99.9"), 6);
    cr_assert_eq(config_line_of(&src, "p99.9.c"), 7);
    cr_assert_eq(config_line_of(&src, "p99"), 8);
    cr_assert_eq(config_line_of(&src, "a.b[3]"), 0);
    cr_assert_eq(config_line_of(&src, "a.b[1].z"), 0);
    cr_assert_eq(config_line_of(&src, "a.b.x"), 0);
    cr_assert_eq(config_line_of(&src, "a[0]"), 0);
    cr_assert_eq(config_line_of(&src, "p99.9[0]"), 0);
    cr_assert_eq(config_line_of(&src, "q"), 0);
    cr_assert_eq(config_line_of(&src, "a.b[x]"), 0);
    config_source_fini(&src);
    config_errors_fini(&errors);
}

Test(config, set_replaces_adds_and_reaches_into_lists)
{
    static const char text[] = "{\"a\": 1, \"list\": [{\"server\": \"x\"}], \"deep\": {}}";
    static const char *const assignments[] = {"a=2",
                                              "list[0].server=10.0.0.1",
                                              "list[1]={\"server\":\"y\"}",
                                              "new.b.c=0.5",
                                              "deep.list[0]=true",
                                              "text=two words=three",
                                              "empty=",
                                              "quoted=\"5\""};
    struct config_source src;
    struct config_errors errors;
    config_errors_init(&errors);
    cr_assert_eq(config_load_text(&src, "x", text, &errors), 0);
    for (size_t i = 0; i < sizeof assignments / sizeof *assignments; i++) {
        cr_assert_eq(config_set(&src, assignments[i], &errors), 0, "%s", assignments[i]);
    }
    char *dump = json_dumps(src.root, JSON_COMPACT);
    cr_assert_str_eq(dump,
                     "{\"a\":2,\"list\":[{\"server\":\"10.0.0.1\"},{\"server\":\"y\"}],\"deep\":{\"list\":[true]},"
                     "\"new\":{\"b\":{\"c\":0.5}},\"text\":\"two words=three\",\"empty\":\"\",\"quoted\":\"5\"}");
    free(dump);
    config_source_fini(&src);
    config_errors_fini(&errors);
}

Test(config, set_refuses_what_makes_no_sense)
{
    static const char *const wrong[] = {
        "",       "a",          "=1",     "a.=1",     ".a=1",         "a..b=1",
        "[0]=1",  "a[=1",       "a[x]=1", "a[-1]=1",  "a[9999999]=1", "list[7]=1",
        "a.b=1",  "list.x=1",   "a[0]=1", "a={\"x\"", "a=[1,",        "a={\"x\":1,\"x\":2}",
        "\xff=1", "n.\xff.b=1", "a=\xff"};
    struct config_source src;
    struct config_errors errors;
    config_errors_init(&errors);
    cr_assert_eq(config_load_text(&src, "x", "{\"a\": 1, \"list\": []}", &errors), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_eq(config_set(&src, wrong[i], &errors), -EINVAL, "%s", wrong[i]);
        cr_assert_eq(errors.n, i + 1);
        cr_assert(strncmp(errors.messages[i], "--set", 5) == 0, "%s", errors.messages[i]);
    }
    cr_assert_eq(json_integer_value(json_object_get(src.root, "a")), 1);

    char *path = nested("a.", "a=1", "", 10000);
    cr_assert_eq(config_set(&src, path, &errors), -EINVAL);
    free(path);
    config_source_fini(&src);
    config_errors_fini(&errors);
}

Test(config, messages_about_set_values_name_set_instead_of_a_line)
{
    static const char *const assignments[] = {"run_hours=99", "colour=gren", NULL};
    struct reading r;
    read_with(&r, "{\"room\": \"a\",\n \"run_hours\": 1,\n \"is_on\": 3}", assignments);
    cr_assert_eq(r.errors.n, 3);
    cr_assert(says(&r.errors, "--set: run_hours: is 99"));
    cr_assert(says(&r.errors, "--set: colour: is \"gren\""));
    cr_assert(says(&r.errors, "lamp.json:3: is_on"));
    done(&r);
}

Test(config, override_changes_only_what_is_there)
{
    struct reading r;
    read_with(&r, "{\"room\": \"attic\", \"brightness_percent\": 70}", NULL);
    struct config_source src;
    cr_assert_eq(config_load_text(&src, "o", "{\"room\": \"hall\", \"unknown\": 1}", &r.errors), 0);
    cr_assert_eq(config_override(&src, src.root, "", lamp_keys, &r.lamp, &r.errors), 0);
    cr_assert_str_eq(r.lamp.room, "hall");
    cr_assert_eq(r.lamp.brightness, 70);
    config_source_fini(&src);
    cr_assert_eq(config_load_text(&src, "o", "{\"brightness_percent\": 700}", &r.errors), 0);
    cr_assert_eq(config_override(&src, src.root, "", lamp_keys, &r.lamp, &r.errors), -EINVAL);
    config_source_fini(&src);
    done(&r);
}

Test(config, dump_holds_every_key_in_table_order_and_reads_back)
{
    struct reading r, again;
    read_with(&r, "{\"colour\": \"blue\", \"room\": \"a\"}", NULL);
    json_t *dump = config_dump(lamp_keys, &r.lamp);
    char *text = json_dumps(dump, JSON_COMPACT);
    cr_assert_str_eq(text,
                     "{\"is_on\":false,\"brightness_percent\":50,\"run_hours\":1.5,\"room\":\"a\",\"colour\":\"blue\","
                     "\"watts\":5,\"serial\":0,\"square\":3.0}");
    read_with(&again, text, NULL);
    cr_assert_eq(again.error, 0);
    cr_assert_eq(again.lamp.colour, r.lamp.colour);
    cr_assert_eq(again.lamp.square, r.lamp.square);
    done(&again);
    json_decref(dump);
    free(text);
    done(&r);
}

static int load_file(const char *path, struct config_errors *errors)
{
    struct config_source src;
    int error = config_load_file(&src, path, errors);
    config_source_fini(&src);
    return error;
}

Test(config, files_that_cannot_be_read_say_why)
{
    struct config_errors errors;
    char path[] = P_tmpdir "/test_config.XXXXXX";
    int fd = mkstemp(path);
    config_errors_init(&errors);

    cr_assert_eq(load_file("/nonexistent-directory/x.json", &errors), -ENOENT);
    cr_assert(says(&errors, "/nonexistent-directory/x.json: No such file or directory"));
    cr_assert_neq(load_file("/", &errors), 0);
    cr_assert(says(&errors, "is it a directory?"));

    cr_assert_eq(write(fd, "{\"a\": 1}\0", 9), 9);
    cr_assert_eq(load_file(path, &errors), -EILSEQ);
    cr_assert(says(&errors, "NUL byte"));

    cr_assert_eq(ftruncate(fd, (off_t)CONFIG_TEXT_MAX * 4), 0);
    cr_assert_eq(load_file(path, &errors), -EFBIG);
    cr_assert_eq(load_file("/dev/zero", &errors), -ENXIO); /* endless, and still an answer */

    cr_assert_eq(ftruncate(fd, 0), 0);
    cr_assert_eq(pwrite(fd, "{\"a\": 1}\n", 9, 0), 9);
    cr_assert_eq(load_file(path, &errors), 0);
    config_errors_fini(&errors);
    close(fd);
    unlink(path);
}

Test(config, docs_hold_a_row_per_key)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    config_print_docs(lamp_keys, "Lamps", out);
    fclose(out);
    cr_assert(strstr(text, "## Lamps\n"));
    cr_assert(strstr(text, "| `brightness_percent` | % | `50` | 0 to 100 | How much |\n"));
    cr_assert(strstr(text, "| `room` |  | required | 1 to 10 bytes | where it hangs |\n"));
    cr_assert(strstr(text, "| `colour` |  | `\"green\"` | `\"red\"`, `\"green\"`, `\"blue\"` | Which |\n"));
    free(text);
}
