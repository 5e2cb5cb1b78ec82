/* point_json.h - one point as JSON, both ways. docs/result-schema.md says what each key means. */
#ifndef NFSCURVE_RESULTS_POINT_JSON_H
#define NFSCURVE_RESULTS_POINT_JSON_H

#include <jansson.h>
#include <stddef.h>

struct point_result;

json_t *point_to_json(const struct point_result *p); /* new reference */

/* 0 or -EINVAL with the reason; `index` is the point's number when the object does not say. *p is filled from zero.
 */
int point_from_json(const json_t *o, size_t index, struct point_result *p, char *why, size_t cap);

/* The members of `o` that are in none of the NULL-terminated `known` keys: new reference, or NULL when there is none.
 */
json_t *json_unknown_members(const json_t *o, const char *const *known);

/* A new array of the strings in `array`; empty for anything else. */
json_t *json_copy_strings(const json_t *array);

#endif
