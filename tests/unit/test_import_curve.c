#include "import_curve.h"
#include "report.h"
#include "result.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct result parse(const char *text)
{
    struct result r;
    struct result_error error;
    cr_assert_eq(result_from_text("dir/curve", text, strlen(text), &r, &error), 0, "%s", error.message);
    return r;
}

static void refuse(const char *text, const char *word)
{
    struct result r;
    struct result_error error;
    cr_assert_eq(result_from_text("dir/curve", text, strlen(text), &r, &error), -EINVAL, "%s", text);
    cr_assert(strstr(error.message, word), "%s", error.message);
}

Test(import_curve, sfs3_line_is_read_by_its_columns)
{
    struct result r = parse("              100      99     0.7     29832  300 3 T    1045812  4  8  2  3 3.0\n");
    cr_assert_eq(r.n_points, 1);
    cr_assert_eq(r.points[0].requested_ops_per_s, 100);
    cr_assert_eq(r.points[0].achieved_ops_per_s, 99);
    cr_assert_eq(r.points[0].response_ms, 0.7);
    cr_assert_eq(r.points[0].n_ops, 29832);
    cr_assert_eq(r.points[0].run_s, 300);
    cr_assert_eq(r.points[0].fileset_bytes, 1045812ull * 1024);
    cr_assert_str_eq(r.workload, "sfs3");
    cr_assert_eq(r.ceiling_ms, 40);
    json_t *parameters = json_object_get(r.disclosure, "benchmark_parameters");
    cr_assert_eq(json_integer_value(json_object_get(parameters, "load_generators")), 4);
    cr_assert_eq(json_integer_value(json_object_get(parameters, "processes_per_loadgen")), 8);
    cr_assert_eq(json_integer_value(json_object_get(parameters, "biod_max_write")), 3);
    result_fini(&r);
}

Test(import_curve, sfs2008_has_three_protocol_words)
{
    struct result r = parse("         1000    1003     1.2    300900  300 NFS3 T 4 118000000 32 8 2 2 2008\r\n");
    cr_assert_eq(r.points[0].fileset_bytes, 118000000ull * 1024);
    cr_assert_str_eq(r.workload, "sfs2008");
    cr_assert_eq(r.ceiling_ms, 20);
    result_fini(&r);
}

Test(import_curve, invalid_is_seen_at_either_end)
{
    struct result r = parse("        100  99 0.7 29832 300 3 T 1045812 4 8 2 2 3.0\n"
                            "INVALID 200 150 9.7 29832 300 3 T 1045812 4 8 2 2 3.0\n"
                            "#INVALID 250 150 9.7 29832 300 3 T 1045812 4 8 2 2 3.0\n"
                            "        300 160 9.9 29832 300 3 T 1045812 4 8 2 2 3.0 INVALID\n");
    cr_assert_eq(r.n_points, 4);
    cr_assert(r.points[0].is_valid);
    for (int i = 1; i < 4; i++) {
        cr_assert_not(r.points[i].is_valid);
    }
    cr_assert_not(r.is_valid);
    cr_assert_eq(r.peak_ops_per_s, 99);
    result_fini(&r);
}

Test(import_curve, csv_with_two_or_three_bare_columns)
{
    struct result r = parse("338,0.5\n683,0.9\n");
    cr_assert_eq(r.n_points, 2);
    cr_assert_eq(r.points[1].achieved_ops_per_s, 683);
    cr_assert(isnan(r.points[1].requested_ops_per_s));
    result_fini(&r);
    r = parse("350,338,0.5\n700,683,0.9\n");
    cr_assert_eq(r.points[1].requested_ops_per_s, 700);
    cr_assert_eq(r.points[1].response_ms, 0.9);
    result_fini(&r);
}

Test(import_curve, csv_header_of_a_spreadsheet)
{
    struct result r = parse(
        "\xef\xbb\xbf\"Throughput (ops/sec)\";\"Response (msec)\";comment\r\n\"1,027\";0.8;\"a;b\"\r\n2055;1.8;\r\n");
    cr_assert_eq(r.n_points, 2);
    cr_assert_eq(r.points[0].achieved_ops_per_s, 1027);
    cr_assert_eq(r.points[1].response_ms, 1.8);
    result_fini(&r);
}

Test(import_curve, what_is_no_curve_is_refused_with_its_line)
{
    refuse("", "empty");
    refuse("1,2\n3,x\n", "curve:2");
    refuse("1,2\n-3,4\n", "curve:2");
    refuse("1,2\n3,inf\n", "curve:2");
    refuse("a,b\n1,2\n", "columns");
    refuse("1 2 3 4 5 6 7 8 9 10 11 12 13\n", "sfssum");
    refuse("100 99 0.7 x 300 3 T 1045812 4 8 2 2 3.0\n", "number");
}

static char *render(const struct result *r, enum report_format format)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert_eq(report_render(r, format, out), 0);
    fclose(out);
    return text;
}

Test(import_curve, own_csv_and_sfssum_come_back_as_the_same_curve)
{
    struct result r = parse("100,100,0.8\n200,199,1.234\n300,250,40\n");
    point_invalidate(&r.points[2], "because, \"why not\"");
    result_finish(&r);
    static const enum report_format formats[] = {REPORT_CSV, REPORT_SFSSUM};
    for (int f = 0; f < 2; f++) {
        char *text = render(&r, formats[f]);
        struct result again = parse(text);
        cr_assert_eq(again.n_points, 3);
        for (int i = 0; i < 3; i++) {
            cr_assert_eq(again.points[i].requested_ops_per_s, r.points[i].requested_ops_per_s);
            cr_assert_eq(again.points[i].achieved_ops_per_s, r.points[i].achieved_ops_per_s);
            cr_assert_eq(again.points[i].response_ms, r.points[i].response_ms);
            cr_assert_eq(again.points[i].is_valid, r.points[i].is_valid);
        }
        cr_assert_float_eq(again.ort_ms, r.ort_ms, 1e-12);
        free(text);
        result_fini(&again);
    }
    result_fini(&r);
}

Test(import_curve, invalid_moves_no_column_of_sfssum)
{
    struct result r = parse("100,100,0.8\n200,199,1.2\n");
    point_invalidate(&r.points[0], "x");
    char *text = render(&r, REPORT_SFSSUM), *save;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        double requested, achieved, ms;
        if (*line == '#') {
            continue;
        }
        cr_assert_eq(sscanf(line, "%lf %lf %lf", &requested, &achieved, &ms), 3);
        cr_assert(achieved == 100 || achieved == 199);
        cr_assert(ms == 0.8 || ms == 1.2);
    }
    free(text);
    result_fini(&r);
}

Test(import_curve, nonstandard_stays_nonstandard)
{
    const char *texts[] = {
        "# non-standard: not measured by the rules of the benchmark\n"
        "100 99 0.7 29832 300 3 T 1045812 4 8 2 2 3.0\n",
        "requested,achieved,ms,valid,standard\n100,99,0.7,true,true\n200,199,0.9,true,false\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct result r = parse(texts[i]);
        cr_assert_not(r.is_standard);
        cr_assert_eq(json_array_size(r.nonstandard_reasons), 1);
        result_fini(&r);
    }
    struct result r = parse("requested,achieved,ms,valid,standard\n100,99,0.7,true,true\n");
    cr_assert(r.is_standard);
    result_fini(&r);
}

Test(import_curve, no_point_that_counts_is_no_peak_of_0)
{
    struct result r = parse("INVALID 100 99 0.7 29832 300 3 T 1045812 4 8 2 2 3.0\n");
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert_eq(report_render(&r, REPORT_TEXT, out), 0);
    fclose(out);
    cr_assert(strstr(text, "nfscurve sfs3 = \xe2\x80\x93 ops/s"), "%s", text);
    free(text);
    result_fini(&r);
}
