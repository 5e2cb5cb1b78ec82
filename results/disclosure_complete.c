/* disclosure_complete.c - a run fills in what it can see by itself; what the campaign disclosed stays as it is. */
#include "disclosure.h"
#include "json_text.h"
#include "report.h"
#include "result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The record of a section, made when it is not there; NULL when the campaign put something else there. */
static json_t *record_of(json_t *disclosure, const char *section)
{
    if (!json_object_get(disclosure, section)) {
        json_object_set_new(disclosure, section, json_object());
    }
    json_t *record = json_object_get(disclosure, section);
    return json_is_object(record) ? record : NULL;
}

static void fill_number(json_t *record, const char *key, double v)
{
    if (!record || !isfinite(v) || json_object_get(record, key)) {
        return;
    }
    json_object_set_new(record, key, floor(v) == v && fabs(v) < 9e15 ? json_integer((json_int_t)v) : json_real(v));
}

static void fill_text(json_t *record, const char *key, const char *text)
{
    if (record && text && *text && !json_object_get(record, key)) {
        json_object_set_new(record, key, json_string(text));
    }
}

static double campaign_number(const struct result *r, const char *key)
{
    double v = json_double(r->campaign, key);
    return isnan(v) ? json_double(json_object_get(r->campaign, "workload"), key) : v;
}

static void fill_parameters(struct result *r)
{
    json_t *record = record_of(r->disclosure, "benchmark_parameters");
    fill_text(record, "nas_type", "NFS V3");
    fill_number(record, "load_generators", r->n_loadgens ? (double)r->n_loadgens : NAN);
    fill_number(record, "processes_per_loadgen",
                r->n_loadgens && r->loadgens[0].processes != RESULT_UNKNOWN ? (double)r->loadgens[0].processes : NAN);
    fill_number(record, "biod_max_read", campaign_number(r, "biod_max_read"));
    fill_number(record, "biod_max_write", campaign_number(r, "biod_max_write"));
    for (size_t i = 0; i < r->n_points && r->points[i].n_loadgens; i++) {
        if (r->points[i].loadgens[0].read_block_bytes > 0 &&
            r->points[i].loadgens[0].read_block_bytes != RESULT_UNKNOWN) {
            fill_number(record, "block_size_kib", (double)r->points[i].loadgens[0].read_block_bytes / 1024);
        }
    }
}

static void fill_filesystems(struct result *r)
{
    double largest = 0;
    json_t *record = record_of(r->disclosure, "filesystems");
    size_t n_targets = json_array_size(json_object_get(r->campaign, "targets"));
    for (size_t i = 0; i < r->n_points; i++) {
        if (r->points[i].fileset_bytes != RESULT_UNKNOWN) {
            largest = fmax(largest, (double)r->points[i].fileset_bytes);
        }
    }
    fill_number(record, "count", n_targets ? (double)n_targets : NAN);
    /* one decimal of a GB, more for small ones */
    double gb = largest / 1e9, unit = gb >= 10 ? 10 : 10000;
    fill_number(record, "fileset_gb", largest > 0 ? round(gb * unit) / unit : NAN);
}

static bool same_host(const struct result_loadgen *a, const struct result_loadgen *b)
{
    return a->cpus == b->cpus && a->memory_bytes == b->memory_bytes &&
           strcmp(a->cpu_model ? a->cpu_model : "", b->cpu_model ? b->cpu_model : "") == 0 &&
           strcmp(a->os ? a->os : "", b->os ? b->os : "") == 0;
}

/* The first load generator on a host like that of load generator i: i itself when there is none before it. */
static size_t first_like(const struct result *r, size_t i)
{
    size_t first = 0;
    while (!same_host(&r->loadgens[first], &r->loadgens[i])) {
        first++;
    }
    return first;
}

/* Load generators on equal hosts are of one type; types are numbered from 1 in the order of their first load generator.
 */
static size_t type_of(const struct result *r, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k <= first_like(r, i); k++) {
        n += first_like(r, k) == k;
    }
    return n;
}

static void fill_load_generators(struct result *r)
{
    if (json_object_get(r->disclosure, "load_generators") || r->n_loadgens == 0) {
        return;
    }
    json_t *rows = json_array();
    for (size_t i = 0; i < r->n_loadgens; i++) {
        const struct result_loadgen *l = &r->loadgens[i];
        char type[24], speed[32] = "";
        snprintf(type, sizeof type, "LG%zu", type_of(r, i));
        if (first_like(r, i) != i) {
            continue;
        }
        json_t *row = json_object();
        const char *at = l->cpu_model ? strstr(l->cpu_model, "@ ") : NULL;
        if (at) {
            snprintf(speed, sizeof speed, "%.31s", at + 2);
        }
        fill_text(row, "type", type);
        fill_text(row, "processor", l->cpu_model);
        fill_text(row, "speed", speed);
        fill_number(row, "memory_gb",
                    l->memory_bytes == RESULT_UNKNOWN ? NAN : round((double)l->memory_bytes / 1e8) / 10);
        fill_text(row, "os", l->os);
        fill_text(row, "addresses", l->addresses);
        json_array_append_new(rows, row);
    }
    json_object_set_new(r->disclosure, "load_generators", rows);
}

static void fill_testbed(struct result *r)
{
    if (json_object_get(r->disclosure, "testbed") || r->n_loadgens == 0) {
        return;
    }
    json_t *rows = json_array();
    for (size_t i = 0; i < r->n_loadgens; i++) {
        char number[24], type[24], targets[512] = "";
        size_t n = 0;
        const json_t *names = r->loadgens[i].targets;
        snprintf(number, sizeof number, "%zu", i + 1);
        snprintf(type, sizeof type, "LG%zu", type_of(r, i));
        for (size_t k = 0; k < json_array_size(names) && n < sizeof targets; k++) {
            n += (size_t)snprintf(targets + n, sizeof targets - n, "%s%.60s", k ? ", " : "",
                                  json_string_value(json_array_get(names, k)));
        }
        json_t *row = json_object();
        fill_text(row, "loadgens", number);
        fill_text(row, "type", type);
        fill_text(row, "targets", targets);
        fill_text(row, "notes", r->loadgens[i].host);
        json_array_append_new(rows, row);
    }
    json_object_set_new(r->disclosure, "testbed", rows);
}

static void fill_uniform_access(struct result *r)
{
    size_t n_targets = json_array_size(json_object_get(r->campaign, "targets"));
    if (json_object_get(r->disclosure, "uniform_access") || n_targets == 0 || r->n_loadgens == 0) {
        return;
    }
    for (size_t i = 0; i < r->n_loadgens; i++) {
        if (json_array_size(r->loadgens[i].targets) != n_targets) {
            return;
        }
    }
    char text[128];
    snprintf(text, sizeof text, "Each of the %zu load generators drove all %zu target%s.", r->n_loadgens, n_targets,
             n_targets == 1 ? "" : "s");
    fill_text(r->disclosure, "uniform_access", text);
}

int disclosure_complete(struct result *r)
{
    if (!r->disclosure) {
        r->disclosure = json_object();
    } else {
        /* the campaign's own copy stays as the user wrote it */
        json_t *copy = json_deep_copy(r->disclosure);
        json_decref(r->disclosure);
        r->disclosure = copy;
    }
    if (!r->disclosure) {
        return -ENOMEM;
    }
    char date[11] = "";
    if (r->started_at && strlen(r->started_at) >= 10) {
        memcpy(date, r->started_at, 10);
    }
    fill_text(record_of(r->disclosure, "product_and_test"), "date_tested", date);
    fill_filesystems(r);
    fill_load_generators(r);
    fill_parameters(r);
    fill_testbed(r);
    fill_uniform_access(r);
    return 0;
}
