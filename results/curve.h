/* curve.h - how points become a curve: order, ascending part, area, ceilings.
 *
 * Overall response time = area under (throughput, response time) by trapezoids from an added first point (0 ops/s, 0
 * ms), divided by the peak: the rule that gives every published figure at its printed precision
 * (docs/result-schema.md).
 *
 *   response │            ·turned back: throughput falls, not part of the area
 *            │          o
 *            │        o   <- peak: the highest throughput
 *            │   o  o
 *            │ o
 *            └──────────── throughput
 */
#ifndef NFSCURVE_RESULTS_CURVE_H
#define NFSCURVE_RESULTS_CURVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The note that says so; kept with the points, which are written in their new order. */
#define CURVE_NOTE_SORTED "the points were not in order of load and have been sorted"

struct curve_point {
    double requested_ops_per_s; /* NAN: unknown */
    double ops_per_s, response_ms;
    bool is_valid;
    bool is_on_curve; /* filled in: part of the ascending curve */
};

struct curve {
    double peak_ops_per_s;                                     /* 0 without points */
    double ort_ms;                                             /* NAN without points, or when the peak is 0 */
    double peak_under_ceiling_ops_per_s, ort_under_ceiling_ms; /* NAN without a ceiling or without a point under it */
    size_t n_points;                                           /* on the ascending curve */
};

/* Sorts the points into the order of the curve (requested load where known, else as given when they can be a sweep,
 * else by throughput; stable) and marks those on the ascending part. Invalid points and points without throughput are
 * never on it. ceiling_ms: NAN or <= 0 for none. notes (array, borrowed, may be NULL) gets what a reader must know. */
void curve_compute(struct curve_point *points, size_t n, double ceiling_ms, struct curve *out, json_t *notes);

/* Response time at a load on the ascending part by linear interpolation; NAN outside of what was measured. */
double curve_response_at(const struct curve_point *points, size_t n, double ops_per_s);

/* order[i] = index in the input of what curve_compute would place at i. */
void curve_order(const struct curve_point *points, size_t n, size_t *order, bool *was_sorted);

#endif
