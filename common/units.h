/* units.h - how people write durations, sizes and rates, and how we print them: one table for both directions.
 *
 *   durations  ns us ms s min h     "200us", "1.5ms", "300s"    -> nanoseconds
 *   sizes      B KiB MiB GiB TiB    "32KiB", "1.5 GiB"          -> bytes; also the decimal kB MB GB TB
 *   counts     k M G                "2.5k"                      -> as a double
 *
 * A single letter K, M, G or T for a size is refused, since nobody agrees whether it is 1000 or 1024.
 */
#ifndef NFSCURVE_COMMON_UNITS_H
#define NFSCURVE_COMMON_UNITS_H

#include <stdint.h>

#define UNITS_TEXT_MAX 32 /* longest text of a units_format_*, with its NUL */

/* The whole text must be a number (digits, optionally a point and more digits) with one of the units, optionally a
 * blank between. 0 and the value; -EINVAL when it does not read, -ERANGE when it does not fit. Results are rounded to
 * the nearest. */
int units_parse_duration_ns(const char *text, int64_t *ns);
int units_parse_bytes(const char *text, uint64_t *bytes);
int units_parse_count(const char *text, double *count); /* the unit may be missing */

/* The largest unit in which the figure is at least 1, with at most three decimals and no trailing zeros: "1.5 ms", "32
 * KiB". Returns out. */
char *units_format_duration(char out[static UNITS_TEXT_MAX], int64_t ns);
char *units_format_bytes(char out[static UNITS_TEXT_MAX], uint64_t bytes);
char *units_format_bytes_column(char out[static UNITS_TEXT_MAX], uint64_t bytes); /* three decimals: they line up */
char *units_format_count(char out[static UNITS_TEXT_MAX], double count);

#endif
