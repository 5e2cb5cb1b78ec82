/* latency_curve.h - a published curve as a model of a server: the response time follows the offered load, throughput
 * ends at the peak.
 *
 *   response time   interpolated between the curve's points at the load offered in the last second; below the first
 * point the first point's time, above the last point the last point's. throughput      answers leave at most at the
 * rate of the peak (+ 0.5 %, see the .c file), so what is offered beyond it queues, first in first out, and everybody's
 * response time grows as it would at a real server.
 *
 * File: two columns, ops/s and ms, blank or comma between, # comments; or JSON with points[].achieved_ops_per_s and
 * .response_ms.
 */
#ifndef NFSCURVE_TARGET_LATENCY_CURVE_H
#define NFSCURVE_TARGET_LATENCY_CURVE_H

#include "clock.h"

#include <stddef.h>
#include <stdint.h>

struct latency_curve;

/* NULL with the reason in message[cap]. */
struct latency_curve *latency_curve_load(const char *path, char *message, size_t cap);

/* From n points (ops/s ascending). NULL when memory is short or they do not ascend. */
struct latency_curve *latency_curve_create(const double *ops_per_s, const double *response_ms, unsigned n);
void latency_curve_destroy(struct latency_curve *curve);

/* Response time of the curve at a load. */
int64_t latency_curve_response_ns(const struct latency_curve *curve, double ops_per_s);

/* Counts an op that arrives now and says when its answer is due. Not thread-safe. */
mono_t latency_curve_due(struct latency_curve *curve, mono_t now);

/* The load offered in the last second, ops/s. */
double latency_curve_offered(const struct latency_curve *curve, mono_t now);

#endif
