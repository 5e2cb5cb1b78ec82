/* report_words.c - how every form of a report says its names and numbers. */
#include "report_internal.h"

#include <math.h>
#include <string.h>

void report_metric_name(const struct result *r, char *out, size_t cap)
{
    snprintf(out, cap, "nfscurve %.60s%s", r->workload ? r->workload : "curve",
             r->is_standard ? "" : " (non-standard)");
}

/* No point that counts: no peak, rather than one of 0 ops/s. */
double report_peak(const struct result *r)
{
    return r->n_curve_points ? r->peak_ops_per_s : NAN;
}

/* Plain digits, as the published pages have them and as people search for them. */
const char *report_ops(double v, char out[static 48])
{
    if (!isfinite(v)) {
        memcpy(out, "\xe2\x80\x93", 4);
    } else if (v > 0 && v < 99.95) {
        chart_number(v, 3, out);
    } else {
        snprintf(out, 48, "%.0f", floor(v + 0.5));
    }
    return out;
}

const char *report_limit(double v, char out[static 48])
{
    return chart_number(v, 4, out);
}

const char *report_ms(double v, char out[static 48])
{
    if (!isfinite(v)) {
        memcpy(out, "\xe2\x80\x93", 4);
        return out;
    }
    /* 1 us resolution below 10 ms; a published 0.8 stays 0.8 */
    int decimals = v >= 100 ? 1 : v >= 10 ? 2 : 3;
    snprintf(out, 48, "%.*f", decimals, v);
    for (size_t n = strlen(out); n > 2 && out[n - 1] == '0' && out[n - 2] != '.'; n--) {
        out[n - 1] = '\0';
    }
    return out;
}

/* One decimal when every response time has no more (published curves), else three: whole microseconds. */
int report_decimals(const struct result *r)
{
    for (size_t i = 0; i < r->n_points; i++) {
        double tenths = r->points[i].response_ms * 10;
        if (isfinite(tenths) && fabs(tenths - round(tenths)) > 1e-9 * fabs(tenths)) {
            return 3;
        }
    }
    return 1;
}

const char *report_ms_column(double v, int decimals, char out[static 48])
{
    if (isfinite(v)) {
        snprintf(out, 48, "%.*f", decimals, v);
    } else {
        memcpy(out, "\xe2\x80\x93", 4);
    }
    return out;
}

const char *report_ort(double v, char out[static 48])
{
    if (isfinite(v)) {
        snprintf(out, 48, v != 0 && v < 0.1 ? "%.3f" : "%.2f", v);
    } else {
        memcpy(out, "\xe2\x80\x93", 4);
    }
    return out;
}

const char *report_bytes(double v, char out[static 48])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t u = 0;
    while (v >= 9999.5 && u + 1 < sizeof units / sizeof units[0]) {
        v /= 1000;
        u++;
    }
    if (isfinite(v)) {
        snprintf(out, 48, u ? "%.1f %s" : "%.0f %s", v, units[u]);
    } else {
        memcpy(out, "\xe2\x80\x93", 4);
    }
    return out;
}

const char *report_response_label(const struct result *r)
{
    if (r->n_points == 0 || r->points[0].n_ops == RESULT_UNKNOWN || r->is_published) {
        return "response time";
    }
    return r->points[0].is_headline_from_due ? "response time from due" : "response time from sent";
}

bool report_has_percentiles(const struct result *r)
{
    for (size_t i = 0; i < r->n_points; i++) {
        if (!isnan(point_headline(&r->points[i])->p99_ms)) {
            return true;
        }
    }
    return false;
}

bool report_has_ops(const struct result *r)
{
    for (size_t i = 0; i < r->n_points; i++) {
        for (int op = 0; op < NFS_OP_COUNT; op++) {
            if (r->points[i].ops[op].is_present) {
                return true;
            }
        }
    }
    return false;
}

const char *report_point_state(const struct point_result *p)
{
    return !p->is_valid ? "INVALID" : p->is_saturated ? "saturated" : "valid";
}

void report_each_string(const json_t *array, FILE *out, const char *before, const char *after,
                        void (*put)(FILE *, const char *))
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (!text) {
            continue;
        }
        fputs(before, out);
        put(out, text);
        fputs(after, out);
    }
}
