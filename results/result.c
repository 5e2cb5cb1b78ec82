/* result.c - the life of a result in memory, and what its points make of it. */
#include "result.h"
#include "curve.h"
#include "utf8.h"
#include "workload.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void result_init(struct result *r)
{
    memset(r, 0, sizeof *r);
    r->nonstandard_reasons = json_array();
    r->curve_notes = json_array();
    r->invalid_reasons = json_array();
    r->notes = json_array();
    r->n_points_planned = RESULT_UNKNOWN;
    r->ceiling_ms = r->ort_ms = NAN;
    r->peak_under_ceiling_ops_per_s = r->ort_under_ceiling_ms = NAN;
    r->is_standard = true;
    r->is_valid = true;
}

static void loadgen_fini(struct result_loadgen *l)
{
    free(l->host);
    free(l->hostname);
    free(l->cpu_model);
    free(l->os);
    free(l->addresses);
    free(l->version);
    json_decref(l->targets);
    json_decref(l->processes_per_target);
}

void result_fini(struct result *r)
{
    char **texts[] = {&r->name,   &r->started_at, &r->finished_at, &r->workload, &r->derived,
                      &r->pacing, &r->counting,   &r->version,     &r->source,   &r->stopped};
    json_t *values[] = {r->nonstandard_reasons, r->campaign,        r->disclosure, r->findings,
                        r->curve_notes,         r->invalid_reasons, r->notes,      r->extra};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        free(*texts[i]);
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        json_decref(values[i]);
    }
    for (size_t i = 0; i < r->n_loadgens; i++) {
        loadgen_fini(&r->loadgens[i]);
    }
    for (size_t i = 0; i < r->n_points; i++) {
        point_fini(&r->points[i]);
    }
    free(r->loadgens);
    free(r->points);
    memset(r, 0, sizeof *r);
}

int result_add_point(struct result *r, struct point_result *p)
{
    for (size_t i = 0; i < r->n_points; i++) {
        if (r->points[i].index == p->index) {
            point_fini(&r->points[i]);
            r->points[i] = *p;
            memset(p, 0, sizeof *p);
            return 0;
        }
    }
    struct point_result *bigger = realloc(r->points, (r->n_points + 1) * sizeof *bigger);
    if (!bigger) {
        return -ENOMEM;
    }
    r->points = bigger;
    r->points[r->n_points++] = *p;
    memset(p, 0, sizeof *p);
    return 0;
}

struct result_loadgen *result_add_loadgen(struct result *r)
{
    struct result_loadgen *bigger = realloc(r->loadgens, (r->n_loadgens + 1) * sizeof *bigger);
    if (!bigger) {
        return NULL;
    }
    r->loadgens = bigger;
    struct result_loadgen *l = &r->loadgens[r->n_loadgens++];
    memset(l, 0, sizeof *l);
    l->processes = l->cpus = l->memory_bytes = RESULT_UNKNOWN;
    l->rtt_us = l->clock_skew_ms = NAN;
    return l;
}

void result_set_workload(struct result *r, const struct workload *w)
{
    static const char *const pacing[] = {[PACING_SFS] = "sfs", [PACING_OPEN] = "open", [PACING_MAX] = "max"};
    result_set(&r->workload, w->name);
    result_set(&r->derived, w->derived && *w->derived ? w->derived : NULL);
    result_set(&r->pacing, pacing[w->pacing]);
    result_set(&r->counting, w->counting == COUNTING_PHYSICAL ? "physical" : "logical");
    r->ceiling_ms = w->response_ceiling_ms > 0 ? w->response_ceiling_ms : NAN;
}

static void append(json_t *array, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append(json_t *array, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    char *clean = utf8_repair(text, strlen(text), NULL); /* vsnprintf may have cut a character */
    if (clean) {
        json_array_append_new(array, json_string(clean));
    }
    free(clean);
}

static void judge(struct result *r)
{
    json_array_clear(r->invalid_reasons);
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        size_t n = json_array_size(p->invalid_reasons);
        if (p->is_valid) {
            continue;
        }
        const char *first = json_string_value(json_array_get(p->invalid_reasons, 0));
        append(r->invalid_reasons, "point %zu (%.0f ops/s): %.600s%s", i + 1,
               isnan(p->requested_ops_per_s) ? p->achieved_ops_per_s : p->requested_ops_per_s,
               first ? first : "invalid", n > 1 ? ", and more" : "");
    }
    if (r->stopped) {
        append(r->invalid_reasons, "the sweep stopped early: %.700s", r->stopped);
    }
    if (r->n_points == 0) {
        append(r->invalid_reasons, "no point was measured");
    } else if (r->n_points_planned != RESULT_UNKNOWN && r->n_points < r->n_points_planned) {
        append(r->invalid_reasons, "%zu of %llu points were measured", r->n_points,
               (unsigned long long)r->n_points_planned);
    }
    r->is_valid = json_array_size(r->invalid_reasons) == 0;
    if (!r->is_published) {
        r->is_standard = json_array_size(r->nonstandard_reasons) == 0;
    }
}

static int sort_points(struct result *r, struct curve_point *points)
{
    bool was_sorted;
    size_t *order = calloc(r->n_points + 1, sizeof *order);
    struct point_result *sorted = calloc(r->n_points + 1, sizeof *sorted);
    if (!order || !sorted) {
        free(order);
        free(sorted);
        return -ENOMEM;
    }
    curve_order(points, r->n_points, order, &was_sorted);
    r->was_unsorted = r->was_unsorted || !was_sorted;
    for (size_t i = 0; i < r->n_points; i++) {
        sorted[i] = r->points[order[i]];
    }
    free(r->points);
    r->points = sorted;
    free(order);
    return 0;
}

struct curve_point *result_curve_points(const struct result *r)
{
    struct curve_point *points = calloc(r->n_points + 1, sizeof *points);
    for (size_t i = 0; points && i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        points[i] =
            (struct curve_point){p->requested_ops_per_s, p->achieved_ops_per_s, p->response_ms, p->is_valid, false};
    }
    return points;
}

void result_finish(struct result *r)
{
    struct curve c = {0};
    struct curve_point *points = result_curve_points(r);
    json_array_clear(r->curve_notes);
    if (!points || sort_points(r, points)) {
        free(points);
        append(r->invalid_reasons, "not enough memory to compute the curve");
        r->is_valid = false;
        return;
    }
    free(points);
    points = result_curve_points(r); /* in their new order */
    if (!points) {
        return;
    }
    if (r->was_unsorted) {
        append(r->curve_notes, "%s", CURVE_NOTE_SORTED);
    }
    curve_compute(points, r->n_points, r->ceiling_ms, &c, r->curve_notes);
    free(points);
    r->peak_ops_per_s = c.peak_ops_per_s;
    r->ort_ms = c.ort_ms;
    r->peak_under_ceiling_ops_per_s = c.peak_under_ceiling_ops_per_s;
    r->ort_under_ceiling_ms = c.ort_under_ceiling_ms;
    r->n_curve_points = c.n_points;
    judge(r);
}
