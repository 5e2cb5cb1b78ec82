#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ascending. Rows that are not printed are only understood. */
struct unit {
    const char *suffix;
    double factor;
    bool is_printed;
};

static const struct unit durations[] = {
    {"ns", 1, true},     {"us", 1e3, true},   {"ms", 1e6, true}, {"s", 1e9, true},
    {"min", 60e9, true}, {"h", 3600e9, true}, {NULL, 0, false},
};

static const struct unit sizes[] = {
    {"B", 1, true},     {"kB", 1e3, false},    {"KiB", 0x1p10, true}, {"MB", 1e6, false},    {"MiB", 0x1p20, true},
    {"GB", 1e9, false}, {"GiB", 0x1p30, true}, {"TB", 1e12, false},   {"TiB", 0x1p40, true}, {NULL, 0, false},
};

static const struct unit counts[] = {
    {"", 1, true}, {"k", 1e3, true}, {"M", 1e6, true}, {"G", 1e9, true}, {NULL, 0, false},
};

static int parse(const char *text, const struct unit *units, double *value)
{
    /* strtod alone would take signs, hexadecimals, exponents, infinities and blanks. */
    size_t digits = strspn(text, "0123456789");
    size_t length = digits;
    if (text[length] == '.') {
        size_t decimals = strspn(text + length + 1, "0123456789");
        if (decimals == 0) {
            return -EINVAL;
        }
        length += 1 + decimals;
    }
    if (digits == 0 || length > 40) {
        return -EINVAL;
    }
    char number[48];
    memcpy(number, text, length);
    number[length] = '\0';

    const char *suffix = text + length;
    if (*suffix == ' ') {
        suffix++;
    }
    for (const struct unit *u = units; u->suffix; u++) {
        if (strcmp(suffix, u->suffix) == 0) {
            *value = strtod(number, NULL) * u->factor;
            return 0;
        }
    }
    return -EINVAL;
}

static int parse_integer(const char *text, const struct unit *units, uint64_t *value)
{
    double exact;
    int error = parse(text, units, &exact);
    if (error) {
        return error;
    }
    exact = nearbyint(exact);
    if (exact >= 0x1p63) {
        return -ERANGE;
    }
    *value = (uint64_t)exact;
    return 0;
}

int units_parse_duration_ns(const char *text, int64_t *ns)
{
    uint64_t value;
    int error = parse_integer(text, durations, &value);
    if (!error) {
        *ns = (int64_t)value;
    }
    return error;
}

int units_parse_bytes(const char *text, uint64_t *bytes)
{
    return parse_integer(text, sizes, bytes);
}

int units_parse_count(const char *text, double *count)
{
    return parse(text, counts, count);
}

static char *format(char *out, const struct unit *units, double value, bool keeps_zeros)
{
    double magnitude = fabs(value);
    const struct unit *best = units;
    for (const struct unit *u = units; u->suffix; u++) {
        if (u->is_printed && magnitude >= u->factor) {
            best = u;
        }
    }

    int length = snprintf(out, UNITS_TEXT_MAX, "%.3f", value / best->factor);
    while (!keeps_zeros && length > 0 && out[length - 1] == '0') {
        length--;
    }
    if (length > 0 && out[length - 1] == '.') {
        length--;
    }
    bool has_suffix = best->suffix && *best->suffix;
    snprintf(out + length, UNITS_TEXT_MAX - (size_t)length, "%s%s", has_suffix ? " " : "",
             has_suffix ? best->suffix : "");
    return out;
}

char *units_format_duration(char out[static UNITS_TEXT_MAX], int64_t ns)
{
    return format(out, durations, (double)ns, false);
}

char *units_format_bytes(char out[static UNITS_TEXT_MAX], uint64_t bytes)
{
    return format(out, sizes, (double)bytes, false);
}

char *units_format_bytes_column(char out[static UNITS_TEXT_MAX], uint64_t bytes)
{
    return format(out, sizes, (double)bytes, bytes >= 1024);
}

char *units_format_count(char out[static UNITS_TEXT_MAX], double count)
{
    if (!isfinite(count) || fabs(count) >= 1e18) {
        snprintf(out, UNITS_TEXT_MAX, "%.4g", count);
        return out;
    }
    return format(out, counts, count, false);
}
