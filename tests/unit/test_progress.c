/* test_progress.c - the time left, by arithmetic; lines on something that is no terminal. */
#include "cluster.h"
#include "progress.h"
#include "result.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mono_t at(double s)
{
    return (mono_t){(int64_t)(s * 1e9)};
}

static struct progress make(FILE *out)
{
    struct progress p;
    progress_init(&p, out, false, 10, 300 + 300, at(0)); /* ten points of 600 s */
    return p;
}

static void finish_point(struct progress *p, mono_t now)
{
    struct point_result r;
    point_init(&r);
    progress_point_done(p, &r, now);
    point_fini(&r);
}

Test(progress, while_populating_the_phases_are_still_to_come)
{
    FILE *out = fopen("/dev/null", "w");
    struct progress p = make(out);
    progress_point(&p, 1, 100, at(0));
    progress_phase(&p, "populate", at(0));
    /* 40 s of populating left, then 600 s here and nine times 600 s with as much populating as this one, 50 s */
    cr_assert_float_eq(progress_campaign_left_s(&p, 40, at(10)), 40 + 600 + 9 * (600 + 50), 1e-6);
    fclose(out);
}

Test(progress, earlier_points_tell_what_later_ones_cost)
{
    FILE *out = fopen("/dev/null", "w");
    struct progress p = make(out);
    progress_point(&p, 1, 100, at(0));
    finish_point(&p, at(650)); /* 50 s beyond its phases */
    progress_point(&p, 2, 200, at(650));
    progress_phase(&p, "load", at(660));
    cr_assert_float_eq(progress_campaign_left_s(&p, 120, at(1000)), 120 + 8 * (600 + 50), 1e-6);
    fclose(out);
}

Test(progress, the_last_point_leaves_only_its_phase)
{
    FILE *out = fopen("/dev/null", "w");
    struct progress p = make(out);
    progress_point(&p, 10, 1000, at(0));
    progress_phase(&p, "load", at(0));
    cr_assert_float_eq(progress_campaign_left_s(&p, 33, at(0)), 33, 1e-6);
    fclose(out);
}

Test(progress, a_point_without_a_good_op_has_no_response_time)
{
    char line[256] = "";
    FILE *out = fmemopen(line, sizeof line, "w");
    struct progress p = make(out);
    struct point_result r;
    point_init(&r);
    r.requested_ops_per_s = 100;
    r.achieved_ops_per_s = 0;
    r.n_failed = 7;
    r.is_valid = false;
    p.point = 1;
    progress_point_done(&p, &r, at(1));
    cr_assert_str_eq(line, "point 1/10: 100 ops/s asked, 0.0 achieved, no response time, 7 failed, INVALID\n");
    point_fini(&r);
    fclose(out);
}

Test(progress, without_a_terminal_a_line_comes_every_ten_seconds)
{
    char *text = NULL;
    size_t size;
    FILE *out = tmpfile();
    struct progress p = make(out);
    struct cluster_progress doing = {
        .stage = CLUSTER_STEP_RUN, .ops_per_s = 99.6, .response_ms = 1.234, .n_errors = 2, .seconds_left = 65};
    progress_point(&p, 10, 100, at(0));
    progress_phase(&p, "load", at(0));
    for (int s = 1; s <= 25; s++) {
        progress_update(&p, &doing, at(s));
    }
    rewind(out);
    FILE *copy = open_memstream(&text, &size);
    for (int c = fgetc(out); c != EOF; c = fgetc(out)) {
        fputc(c, copy);
    }
    fclose(copy);
    fclose(out);
    cr_assert_str_eq(
        text, "point 10/10 load      100 ops/s asked\n"
              "point 10/10 run       100 ops/s asked, 100 now, 1.23 ms, 2 errors; left: phase 1:05, campaign 1:05\n"
              "point 10/10 run       100 ops/s asked, 100 now, 1.23 ms, 2 errors; left: phase 1:05, campaign 1:05\n");
    free(text);
}
