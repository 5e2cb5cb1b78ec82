/* latency_curve.c - see latency_curve.h.
 *
 * Offered load: arrivals in the last 20 slots of 50 ms plus the running one, over the time that they span. A load that
 * has just begun (nothing for a second before) is divided by the time since it began, so that the first second is not
 * taken for a small load.
 *
 * The peak: each answer moves a "next departure" on by 1/rate. An answer is held back only when departures run ahead of
 * that schedule by more than BURST_NS: a closed loop that offers exactly the peak on average has random excursions that
 * a real server of that published peak absorbed too; without the tolerance the model would queue at its own peak and
 * the measured point would not be the published one.
 */
#include "latency_curve.h"

#include "path_kind.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POINTS  256u
#define MAX_BYTES   (64u << 20) /* a result with all its histograms */
#define SLOT_NS     (50 * NS_PER_MS)
#define N_SLOTS     20
#define BURST_NS    (200 * NS_PER_MS)
#define PEAK_MARGIN 1.005

struct latency_curve {
    unsigned n;
    double ops_per_s[MAX_POINTS];
    double response_ns[MAX_POINTS];
    double departure_ns; /* between two answers at the peak */

    int64_t slot; /* number of the running slot */
    uint32_t counts[N_SLOTS + 1];
    mono_t load_since;        /* the first arrival after a silent second */
    double next_departure_ns; /* CLOCK_MONOTONIC */
};

struct latency_curve *latency_curve_create(const double *ops_per_s, const double *response_ms, unsigned n)
{
    struct latency_curve *curve = n > 0 && n <= MAX_POINTS ? calloc(1, sizeof *curve) : NULL;
    if (!curve) {
        return NULL;
    }
    for (unsigned i = 0; i < n; i++) {
        bool ascends = i == 0 ? ops_per_s[i] > 0 : ops_per_s[i] > ops_per_s[i - 1];
        if (!ascends || !(response_ms[i] >= 0)) {
            free(curve);
            return NULL;
        }
        curve->ops_per_s[i] = ops_per_s[i];
        curve->response_ns[i] = response_ms[i] * NS_PER_MS;
    }
    curve->n = n;
    curve->departure_ns = (double)NS_PER_S / (ops_per_s[n - 1] * PEAK_MARGIN);
    curve->slot = INT64_MIN / 2;
    return curve;
}

void latency_curve_destroy(struct latency_curve *curve)
{
    free(curve);
}

static int read_json(const char *path, double *ops_per_s, double *response_ms, unsigned *n, char *message, size_t cap)
{
    json_error_t where;
    json_t *root = json_load_file(path, 0, &where);
    if (!root) {
        snprintf(message, cap, "curve %s:%d: %s", path, where.line, where.text);
        return -EINVAL;
    }
    int error = 0;
    size_t i;
    json_t *point;
    json_array_foreach(json_object_get(root, "points"), i, point)
    {
        const json_t *load = json_object_get(point, "achieved_ops_per_s");
        const json_t *response = json_object_get(point, "response_ms");
        if (*n == MAX_POINTS || !json_is_number(load) || !json_is_number(response)) {
            snprintf(message, cap,
                     "curve %s: points[%zu] has no achieved_ops_per_s and response_ms, or there are more than %u", path,
                     i, MAX_POINTS);
            error = -EINVAL;
            break;
        }
        ops_per_s[*n] = json_number_value(load);
        response_ms[(*n)++] = json_number_value(response);
    }
    json_decref(root);
    return error;
}

/* "1027 0.8" or "1027, 0.8", and nothing else. */
static bool read_pair(const char *line, double *load, double *response)
{
    char *at, *end;
    *load = strtod(line, &at);
    if (at == line) {
        return false;
    }
    at += strspn(at, " \t");
    at += *at == ',';
    *response = strtod(at, &end);
    return end != at && end[strspn(end, " \t\r")] == '\0';
}

static int read_columns(FILE *file, const char *path, double *ops_per_s, double *response_ms, unsigned *n,
                        char *message, size_t cap)
{
    char line[256];
    unsigned number = 0;
    while (fgets(line, sizeof line, file)) {
        number++;
        line[strcspn(line, "#\n")] = '\0';
        if (line[strspn(line, " \t\r")] == '\0') {
            continue;
        }
        double load, response;
        if (*n == MAX_POINTS || !read_pair(line, &load, &response)) {
            snprintf(message, cap, "curve %s:%u: expected ops/s and ms (at most %u lines)", path, number, MAX_POINTS);
            return -EINVAL;
        }
        ops_per_s[*n] = load;
        response_ms[(*n)++] = response;
    }
    return 0;
}

struct latency_curve *latency_curve_load(const char *path, char *message, size_t cap)
{
    double ops_per_s[MAX_POINTS], response_ms[MAX_POINTS];
    unsigned n = 0;
    if (path_is_endless(path, MAX_BYTES)) {
        snprintf(message, cap, "curve %s: expected a regular file of at most %u MiB", path, MAX_BYTES >> 20);
        return NULL;
    }
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(message, cap, "curve %s: %s", path, strerror(errno));
        return NULL;
    }
    int first = fgetc(file);
    while (first == ' ' || first == '\n' || first == '\t') {
        first = fgetc(file);
    }
    rewind(file);
    int error = first == '{' ? read_json(path, ops_per_s, response_ms, &n, message, cap)
                             : read_columns(file, path, ops_per_s, response_ms, &n, message, cap);
    fclose(file);
    if (error) {
        return NULL;
    }
    struct latency_curve *curve = latency_curve_create(ops_per_s, response_ms, n);
    if (!curve) {
        snprintf(message, cap, "curve %s: expected points whose ops/s ascend from above 0, and no negative ms", path);
    }
    return curve;
}

int64_t latency_curve_response_ns(const struct latency_curve *curve, double ops_per_s)
{
    if (ops_per_s <= curve->ops_per_s[0]) {
        return (int64_t)curve->response_ns[0];
    }
    for (unsigned i = 1; i < curve->n; i++) {
        if (ops_per_s <= curve->ops_per_s[i]) {
            double part = (ops_per_s - curve->ops_per_s[i - 1]) / (curve->ops_per_s[i] - curve->ops_per_s[i - 1]);
            return (int64_t)(curve->response_ns[i - 1] + part * (curve->response_ns[i] - curve->response_ns[i - 1]));
        }
    }
    return (int64_t)curve->response_ns[curve->n - 1];
}

/* Forgets slots that have passed. */
static void move_to(struct latency_curve *curve, mono_t now)
{
    int64_t slot = now.ns / SLOT_NS;
    if (slot - curve->slot > N_SLOTS) {
        memset(curve->counts, 0, sizeof curve->counts);
        curve->load_since = now;
        curve->slot = slot;
    }
    while (curve->slot < slot) {
        curve->slot++;
        curve->counts[curve->slot % (N_SLOTS + 1)] = 0;
    }
}

double latency_curve_offered(const struct latency_curve *curve, mono_t now)
{
    uint64_t n = 0;
    for (unsigned i = 0; i <= N_SLOTS; i++) {
        n += curve->counts[i];
    }
    int64_t span = N_SLOTS * SLOT_NS + now.ns % SLOT_NS;
    int64_t since = mono_since_ns(now, curve->load_since);
    span = since < span ? since : span;
    return (double)n * NS_PER_S / (double)(span > SLOT_NS ? span : SLOT_NS);
}

mono_t latency_curve_due(struct latency_curve *curve, mono_t now)
{
    move_to(curve, now);
    curve->counts[curve->slot % (N_SLOTS + 1)]++;
    double due = (double)now.ns + (double)latency_curve_response_ns(curve, latency_curve_offered(curve, now));
    if (curve->next_departure_ns < due - BURST_NS) {
        curve->next_departure_ns = due - BURST_NS;
    }
    if (curve->next_departure_ns > due) {
        due = curve->next_departure_ns;
    }
    curve->next_departure_ns += curve->departure_ns;
    return (mono_t){(int64_t)due};
}
