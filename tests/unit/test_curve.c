#include "curve.h"

#include <criterion/criterion.h>
#include <math.h>

#define POINT(x, y)                                                                                                    \
    {                                                                                                                  \
        NAN, x, y, true, false                                                                                         \
    }

static struct curve compute(struct curve_point *points, size_t n, double ceiling_ms)
{
    struct curve c;
    curve_compute(points, n, ceiling_ms, &c, NULL);
    return c;
}

static void check_printed(struct curve_point *points, size_t n, double peak, const char *ort)
{
    char text[32];
    struct curve c = compute(points, n, NAN);
    snprintf(text, sizeof text, "%.2f", c.ort_ms);
    cr_assert_eq(c.peak_ops_per_s, peak);
    cr_assert_str_eq(text, ort);
}

Test(curve, nexis_9000_has_the_published_overall_response_time)
{
    struct curve_point points[] = {POINT(1027, 0.8),  POINT(2055, 1.8),   POINT(3086, 2.6),  POINT(4093, 3.1),
                                   POINT(5139, 2.3),  POINT(6169, 2.7),   POINT(7196, 3.4),  POINT(8259, 4.5),
                                   POINT(9389, 11.8), POINT(10117, 12.0), POINT(10305, 12.2)};
    check_printed(points, 11, 10305, "3.86");
}

Test(curve, reference_platform_has_the_published_overall_response_time)
{
    struct curve_point points[] = {POINT(338, 0.5),  POINT(683, 0.9),  POINT(1037, 1.3), POINT(1371, 1.5),
                                   POINT(1707, 1.8), POINT(2070, 2.3), POINT(2419, 2.9), POINT(2749, 3.5),
                                   POINT(3101, 5.1), POINT(3459, 7.1)};
    check_printed(points, 10, 3459, "2.35");
}

Test(curve, one_point_has_half_its_response_time)
{
    /* triangle (0,0) (500,0) (500,8): area 500 * 8 / 2, divided by 500 */
    struct curve_point points[] = {POINT(500, 8)};
    struct curve c = compute(points, 1, NAN);
    cr_assert_eq(c.ort_ms, 4);
    cr_assert_eq(c.peak_ops_per_s, 500);
    cr_assert_eq(c.n_points, 1);
}

Test(curve, straight_line_from_zero_has_half_the_last_response_time)
{
    for (size_t n = 1; n <= 100; n++) {
        struct curve_point points[100];
        for (size_t i = 0; i < n; i++) {
            points[i] = (struct curve_point)POINT(100.0 * (double)(i + 1), 2.0 * (double)(i + 1));
        }
        cr_assert_float_eq(compute(points, n, NAN).ort_ms, (double)n, 1e-9);
    }
}

Test(curve, flat_line_counts_the_added_first_segment)
{
    /* triangle of 100 x 6 / 2 and rectangle of 200 x 6: (300 + 1200) / 300 */
    struct curve_point points[] = {POINT(100, 6), POINT(200, 6), POINT(300, 6)};
    cr_assert_float_eq(compute(points, 3, NAN).ort_ms, 5, 1e-12);
}

Test(curve, scaling_an_axis_scales_only_what_it_should)
{
    struct curve_point a[] = {POINT(120, 1.5), POINT(260, 2.25), POINT(391, 7)},
                       b[] = {POINT(1200, 4.5), POINT(2600, 6.75), POINT(3910, 21)};
    struct curve ca = compute(a, 3, NAN), cb = compute(b, 3, NAN);
    cr_assert_float_eq(cb.ort_ms, 3 * ca.ort_ms, 1e-12);
    cr_assert_float_eq(cb.peak_ops_per_s, 10 * ca.peak_ops_per_s, 1e-12);
}

Test(curve, a_point_on_a_segment_changes_nothing)
{
    struct curve_point a[] = {POINT(100, 1), POINT(300, 5)}, b[] = {POINT(100, 1), POINT(150, 2), POINT(300, 5)};
    cr_assert_float_eq(compute(a, 2, NAN).ort_ms, compute(b, 3, NAN).ort_ms, 1e-12);
}

Test(curve, response_times_may_fall)
{
    /* 100*1/2 + 100*(1+4)/2 + 100*(4+2)/2 = 50 + 250 + 300 = 600; / 300 */
    struct curve_point points[] = {POINT(100, 1), POINT(200, 4), POINT(300, 2)};
    cr_assert_float_eq(compute(points, 3, NAN).ort_ms, 2, 1e-12);
}

Test(curve, what_turns_back_is_not_part_of_the_area_and_is_said)
{
    json_t *notes = json_array();
    struct curve c;
    struct curve_point points[] = {{100, 100, 1, true, false}, {200, 200, 3, true, false}, {300, 150, 40, true, false}};
    curve_compute(points, 3, NAN, &c, notes);
    cr_assert_eq(c.peak_ops_per_s, 200);
    /* 100*1/2 + 100*(1+3)/2 = 250; / 200 */
    cr_assert_float_eq(c.ort_ms, 1.25, 1e-12);
    cr_assert_eq(c.n_points, 2);
    cr_assert_not(points[2].is_on_curve);
    cr_assert_eq(json_array_size(notes), 1);
    cr_assert(strstr(json_string_value(json_array_get(notes, 0)), "turns back"));
    json_decref(notes);
}

Test(curve, turning_back_is_seen_without_requested_loads)
{
    struct curve_point points[] = {POINT(100, 1), POINT(200, 3), POINT(150, 40)};
    struct curve c = compute(points, 3, NAN);
    cr_assert_eq(c.n_points, 2);
    cr_assert_eq(points[2].ops_per_s, 150);
}

Test(curve, unsorted_points_are_sorted_and_that_is_said)
{
    json_t *notes = json_array();
    struct curve c;
    struct curve_point points[] = {POINT(300, 5), POINT(100, 1), POINT(200, 2)};
    curve_compute(points, 3, NAN, &c, notes);
    /* 50 + 150 + 350 = 550; / 300 */
    cr_assert_float_eq(c.ort_ms, 550.0 / 300, 1e-12);
    cr_assert_eq(points[0].ops_per_s, 100);
    cr_assert(strstr(json_string_value(json_array_get(notes, 0)), "sorted"));
    json_decref(notes);
}

Test(curve, equal_throughputs_have_no_area_between_them)
{
    struct curve_point points[] = {POINT(100, 2), POINT(200, 4), POINT(200, 6)};
    /* 100 + 300 + 0; / 200 */
    struct curve c = compute(points, 3, NAN);
    cr_assert_float_eq(c.ort_ms, 2, 1e-12);
    cr_assert_eq(c.n_points, 3);
}

Test(curve, zero_throughput_and_invalid_points_do_not_count)
{
    struct curve_point points[] = {{100, 0, NAN, true, false},
                                   {200, 100, 2, true, false},
                                   {300, 250, 3, false, false},
                                   {400, 300, 4, true, false}};
    struct curve c = compute(points, 4, NAN);
    /* 100*2/2 + 200*(2+4)/2 = 700; / 300 */
    cr_assert_float_eq(c.ort_ms, 700.0 / 300, 1e-12);
    cr_assert_eq(c.n_points, 2);
}

Test(curve, no_points_no_figures)
{
    struct curve c = compute(NULL, 0, 20);
    cr_assert_eq(c.peak_ops_per_s, 0);
    cr_assert(isnan(c.ort_ms));
    cr_assert(isnan(c.peak_under_ceiling_ops_per_s));
}

Test(curve, ceiling_ends_the_reportable_curve)
{
    struct curve_point points[] = {POINT(100, 10), POINT(200, 20), POINT(300, 20.5)};
    struct curve c = compute(points, 3, 20);
    cr_assert_eq(c.peak_ops_per_s, 300);
    cr_assert_eq(c.peak_under_ceiling_ops_per_s, 200);
    /* 500 + 1500 = 2000; / 200: a point at the ceiling is under it */
    cr_assert_float_eq(c.ort_under_ceiling_ms, 10, 1e-12);
}

Test(curve, no_point_under_the_ceiling_gives_no_figure)
{
    struct curve_point points[] = {POINT(100, 30)};
    cr_assert(isnan(compute(points, 1, 20).peak_under_ceiling_ops_per_s));
}

Test(curve, response_between_points_is_on_the_line)
{
    struct curve_point points[] = {POINT(100, 1), POINT(200, 3)};
    compute(points, 2, NAN);
    cr_assert_float_eq(curve_response_at(points, 2, 150), 2, 1e-12);
    cr_assert_eq(curve_response_at(points, 2, 200), 3);
    cr_assert(isnan(curve_response_at(points, 2, 50)));
    cr_assert(isnan(curve_response_at(points, 2, 201)));
}
