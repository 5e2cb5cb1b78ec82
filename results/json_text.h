/* json_text.h - JSON as text in one canonical form, so that reading and writing again changes no byte.
 *
 * Keys keep their order. A number is printed with the fewest digits that read back as the same double (0.8, not
 * 0.80000000000000004), integers as integers. A value that fits on a line stays on it.
 */
#ifndef NFSCURVE_RESULTS_JSON_TEXT_H
#define NFSCURVE_RESULTS_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Ends with a newline. 0 or -errno. */
int json_text_write(const json_t *value, FILE *out);

/* Heap, *n bytes and a NUL; NULL when memory is short. */
char *json_text(const json_t *value, size_t *n);

/* Shortest decimal that reads back as v (finite), into out[>= 32]. Returns out. */
char *json_text_number(double v, char out[static 32]);

/* --- reading with defaults --- */
double json_double(const json_t *object, const char *key);       /* NAN when absent, no number, or not finite */
json_int_t json_count(const json_t *object, const char *key);    /* -1 when absent, not an integer, or negative */
const char *json_text_of(const json_t *object, const char *key); /* NULL when absent or no string */

/* --- writing: unknown values (NAN, NULL) are left out --- */
void json_put_double(json_t *object, const char *key, double v);
void json_put_count(json_t *object, const char *key, unsigned long long v); /* UINT64_MAX is unknown */
void json_put_text(json_t *object, const char *key, const char *v);
void json_put(json_t *object, const char *key, json_t *v /* borrowed */);
void json_put_real(json_t *object, const char *key, double v); /* NAN becomes null: the key is always there */

#endif
