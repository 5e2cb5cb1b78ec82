#include "curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_note(json_t *notes, const char *text)
{
    if (notes) {
        json_array_append_new(notes, json_string(text));
    }
}

/* Insertion sort: stable, and the points are few. */
static void sort_by(const struct curve_point *points, size_t n, size_t *order, bool by_request)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        double key = by_request ? points[i].requested_ops_per_s : points[i].ops_per_s;
        for (; j > 0; j--) {
            const struct curve_point *before = &points[order[j - 1]];
            if ((by_request ? before->requested_ops_per_s : before->ops_per_s) <= key) {
                break;
            }
            order[j] = order[j - 1];
        }
        order[j] = i;
    }
}

/* Without requested loads: can this order be that of a sweep? It can when throughput rises, and where it falls after
 * its highest point (an overloaded server) it does not rise again, and response times do not fall with it. */
static bool is_a_sweep(const struct curve_point *points, size_t n)
{
    bool has_fallen = false;
    for (size_t i = 1; i < n; i++) {
        if (points[i].ops_per_s < points[i - 1].ops_per_s) {
            if (i == 1 || points[i].response_ms < points[i - 1].response_ms) {
                return false;
            }
            has_fallen = true;
        } else if (has_fallen && points[i].ops_per_s > points[i - 1].ops_per_s) {
            return false;
        }
    }
    return true;
}

void curve_order(const struct curve_point *points, size_t n, size_t *order, bool *was_sorted)
{
    bool has_requests = n > 0;
    for (size_t i = 0; i < n; i++) {
        has_requests = has_requests && !isnan(points[i].requested_ops_per_s);
    }
    if (!has_requests && is_a_sweep(points, n)) {
        for (size_t i = 0; i < n; i++) {
            order[i] = i;
        }
    } else {
        sort_by(points, n, order, has_requests);
    }
    *was_sorted = true;
    for (size_t i = 0; i < n; i++) {
        *was_sorted = *was_sorted && order[i] == i;
    }
}

/* Area from (0, 0) to the last marked point at or before `last`. */
static double area_up_to(const struct curve_point *points, size_t last)
{
    double area = 0, x = 0, y = 0;
    for (size_t i = 0; i <= last; i++) {
        if (!points[i].is_on_curve) {
            continue;
        }
        area += (points[i].ops_per_s - x) * (points[i].response_ms + y) / 2;
        x = points[i].ops_per_s;
        y = points[i].response_ms;
    }
    return area;
}

static void note_left_out(const struct curve_point *points, size_t n, size_t i_peak, json_t *notes)
{
    size_t n_invalid = 0, n_idle = 0, n_back = 0, n_dips = 0, n_equal = 0;
    double before = NAN;
    char text[256];
    for (size_t i = 0; i < n; i++) {
        if (!points[i].is_valid) {
            n_invalid++;
        } else if (!(points[i].ops_per_s > 0)) {
            n_idle++;
        } else if (!points[i].is_on_curve) {
            *(i > i_peak ? &n_back : &n_dips) += 1;
        } else {
            n_equal += points[i].ops_per_s == before;
            before = points[i].ops_per_s;
        }
    }
    if (n_invalid) {
        snprintf(text, sizeof text, "%zu invalid point%s not counted for peak and overall response time", n_invalid,
                 n_invalid == 1 ? " is" : "s are");
        add_note(notes, text);
    }
    if (n_idle) {
        snprintf(text, sizeof text, "%zu point%s without throughput left out of the curve", n_idle,
                 n_idle == 1 ? "" : "s");
        add_note(notes, text);
    }
    if (n_back) {
        snprintf(text, sizeof text,
                 "the curve turns back: throughput falls after %.0f ops/s; %zu point%s beyond it not part of the "
                 "overall response "
                 "time",
                 points[i_peak].ops_per_s, n_back, n_back == 1 ? " is" : "s are");
        add_note(notes, text);
    }
    if (n_dips) {
        snprintf(text, sizeof text, "%zu point%s below an earlier throughput left out of the overall response time",
                 n_dips, n_dips == 1 ? "" : "s");
        add_note(notes, text);
    }
    if (n_equal) {
        add_note(notes, "some points have equal throughput; between them the area is zero");
    }
}

void curve_compute(struct curve_point *points, size_t n, double ceiling_ms, struct curve *out, json_t *notes)
{
    *out = (struct curve){.ort_ms = NAN, .peak_under_ceiling_ops_per_s = NAN, .ort_under_ceiling_ms = NAN};
    if (n == 0) {
        add_note(notes, "there is no point yet");
        return;
    }
    size_t *order = calloc(n, sizeof *order);
    struct curve_point *sorted = calloc(n, sizeof *sorted);
    if (order && sorted) {
        bool was_sorted;
        curve_order(points, n, order, &was_sorted);
        for (size_t i = 0; i < n; i++) {
            sorted[i] = points[order[i]];
        }
        memcpy(points, sorted, n * sizeof *points);
        if (!was_sorted) {
            add_note(notes, CURVE_NOTE_SORTED);
        }
    }
    free(order);
    free(sorted);

    double highest = 0;
    size_t i_peak = n;
    for (size_t i = 0; i < n; i++) {
        points[i].is_on_curve = points[i].is_valid && points[i].ops_per_s > 0 && points[i].ops_per_s >= highest &&
                                isfinite(points[i].response_ms);
        if (!points[i].is_on_curve) {
            continue;
        }
        if (points[i].ops_per_s > highest || i_peak == n) {
            i_peak = i;
        }
        highest = points[i].ops_per_s;
        out->n_points++;
    }
    note_left_out(points, n, i_peak == n ? 0 : i_peak, notes);
    if (i_peak == n) {
        add_note(notes, "no point counts, so there is no peak and no overall response time");
        return;
    }
    /* equal throughputs at the peak: the last of them closes the area, at no width */
    out->peak_ops_per_s = highest;
    out->ort_ms = area_up_to(points, n - 1) / highest;

    if (!(ceiling_ms > 0)) {
        return;
    }
    for (size_t i = n; i-- > 0;) {
        if (!points[i].is_on_curve || points[i].response_ms > ceiling_ms) {
            continue;
        }
        out->peak_under_ceiling_ops_per_s = points[i].ops_per_s;
        out->ort_under_ceiling_ms = area_up_to(points, i) / points[i].ops_per_s;
        return;
    }
}

double curve_response_at(const struct curve_point *points, size_t n, double ops_per_s)
{
    const struct curve_point *left = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct curve_point *p = &points[i];
        if (!p->is_on_curve) {
            continue;
        }
        if (p->ops_per_s == ops_per_s) {
            return p->response_ms;
        }
        if (left && left->ops_per_s < ops_per_s && p->ops_per_s > ops_per_s) {
            return left->response_ms + (p->response_ms - left->response_ms) * (ops_per_s - left->ops_per_s) /
                                           (p->ops_per_s - left->ops_per_s);
        }
        left = p;
    }
    return NAN;
}
