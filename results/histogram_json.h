/* histogram_json.h - a histogram in a result file, without loss.
 *
 * {"count": n, "beyond": n, "min_ns": ns, "max_ns": ns, "sum_ns": "ns", "sum_sq_ns2": "ns^2", "buckets": [index, count,
 * index, count, ...]}
 *
 * Only the buckets that hold something are written, by their index (histogram.h gives the bounds). The two sums may
 * need more than 64 bits and are decimal strings.
 */
#ifndef NFSCURVE_RESULTS_HISTOGRAM_JSON_H
#define NFSCURVE_RESULTS_HISTOGRAM_JSON_H

#include "histogram.h"

#include <jansson.h>

json_t *histogram_to_json(const struct histogram *h); /* new reference; NULL when memory is short */

/* 0, or -EINVAL when the object is no histogram or contradicts itself (counts that do not add up, an index out of
 * range). */
int histogram_from_json(const json_t *value, struct histogram *out);

#endif
