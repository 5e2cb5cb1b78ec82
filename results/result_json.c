/* result_json.c - a whole result as JSON, both ways. docs/result-schema.md says what each key means.
 *
 * Reading is strict about what a curve needs (throughput and response time of every point) and lenient about the rest:
 * a figure that is not there is unknown. Keys of later versions are kept and written again.
 */
#include "curve.h"
#include "json_text.h"
#include "point_json.h"
#include "result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const result_keys[] = {"schema",
                                          "name",
                                          "started_at",
                                          "finished_at",
                                          "version",
                                          "source",
                                          "published",
                                          "workload",
                                          "derived",
                                          "pacing",
                                          "counting",
                                          "standard",
                                          "nonstandard_reasons",
                                          "campaign",
                                          "loadgens",
                                          "findings",
                                          "points",
                                          "points_planned",
                                          "stopped",
                                          "peak_ops_per_s",
                                          "ort_ms",
                                          "ceiling_ms",
                                          "peak_under_ceiling_ops_per_s",
                                          "ort_under_ceiling_ms",
                                          "curve_points",
                                          "curve_notes",
                                          "valid",
                                          "invalid_reasons",
                                          "notes",
                                          "disclosure",
                                          "trademark",
                                          NULL};

static json_t *loadgen_to_json(const struct result_loadgen *l)
{
    json_t *o = json_object();
    json_put_text(o, "host", l->host);
    json_put_text(o, "hostname", l->hostname);
    json_put_count(o, "processes", l->processes);
    json_put_text(o, "cpu_model", l->cpu_model);
    json_put_count(o, "cpus", l->cpus);
    json_put_count(o, "memory_bytes", l->memory_bytes);
    json_put_text(o, "os", l->os);
    json_put_text(o, "addresses", l->addresses);
    json_put_text(o, "version", l->version);
    json_put_double(o, "rtt_us", l->rtt_us);
    json_put_double(o, "clock_skew_ms", l->clock_skew_ms);
    json_put(o, "targets", l->targets);
    json_put(o, "processes_per_target", l->processes_per_target);
    return o;
}

static void loadgen_from_json(const json_t *o, struct result_loadgen *l)
{
    json_int_t processes = json_count(o, "processes"), cpus = json_count(o, "cpus"),
               memory = json_count(o, "memory_bytes");
    result_set(&l->host, json_text_of(o, "host"));
    result_set(&l->hostname, json_text_of(o, "hostname"));
    result_set(&l->cpu_model, json_text_of(o, "cpu_model"));
    result_set(&l->os, json_text_of(o, "os"));
    result_set(&l->addresses, json_text_of(o, "addresses"));
    result_set(&l->version, json_text_of(o, "version"));
    l->processes = processes < 0 ? RESULT_UNKNOWN : (uint64_t)processes;
    l->cpus = cpus < 0 ? RESULT_UNKNOWN : (uint64_t)cpus;
    l->memory_bytes = memory < 0 ? RESULT_UNKNOWN : (uint64_t)memory;
    l->rtt_us = json_double(o, "rtt_us");
    l->clock_skew_ms = json_double(o, "clock_skew_ms");
    l->targets = json_is_array(json_object_get(o, "targets")) ? json_incref(json_object_get(o, "targets")) : NULL;
    l->processes_per_target = json_is_object(json_object_get(o, "processes_per_target"))
                                  ? json_incref(json_object_get(o, "processes_per_target"))
                                  : NULL;
}

json_t *result_to_json(const struct result *r)
{
    json_t *o = json_object(), *points = json_array(), *loadgens = json_array();
    json_put_text(o, "schema", RESULT_SCHEMA);
    json_put_text(o, "name", r->name ? r->name : "");
    json_put_text(o, "trademark", RESULT_TRADEMARK);
    json_put_text(o, "started_at", r->started_at);
    json_put_text(o, "finished_at", r->finished_at);
    json_put_text(o, "version", r->version);
    json_put_text(o, "source", r->source);
    if (r->is_published) {
        json_object_set_new(o, "published", json_true());
    }
    json_put_text(o, "workload", r->workload);
    json_put_text(o, "derived", r->derived);
    json_put_text(o, "pacing", r->pacing);
    json_put_text(o, "counting", r->counting);
    json_object_set_new(o, "standard", json_boolean(r->is_standard));
    json_put(o, "nonstandard_reasons", r->nonstandard_reasons);
    json_object_set_new(o, "peak_ops_per_s", json_real(r->peak_ops_per_s));
    json_put_real(o, "ort_ms", r->ort_ms);
    json_put_real(o, "ceiling_ms", r->ceiling_ms);
    json_put_real(o, "peak_under_ceiling_ops_per_s", r->peak_under_ceiling_ops_per_s);
    json_put_real(o, "ort_under_ceiling_ms", r->ort_under_ceiling_ms);
    json_put_count(o, "curve_points", r->n_curve_points);
    json_put(o, "curve_notes", r->curve_notes);
    json_object_set_new(o, "valid", json_boolean(r->is_valid));
    json_put(o, "invalid_reasons", r->invalid_reasons);
    json_put(o, "notes", r->notes);
    json_put_count(o, "points_planned", r->n_points_planned);
    json_put_text(o, "stopped", r->stopped);
    for (size_t i = 0; i < r->n_points; i++) {
        json_array_append_new(points, point_to_json(&r->points[i]));
    }
    json_object_set_new(o, "points", points);
    for (size_t i = 0; i < r->n_loadgens; i++) {
        json_array_append_new(loadgens, loadgen_to_json(&r->loadgens[i]));
    }
    json_object_set_new(o, "loadgens", loadgens);
    json_put(o, "findings", r->findings);
    json_put(o, "campaign", r->campaign);
    json_put(o, "disclosure", r->disclosure);
    if (r->extra) {
        json_object_update(o, r->extra);
    }
    return o;
}

static json_t *copy_if(const json_t *o, const char *key, json_type type)
{
    json_t *v = json_object_get(o, key);
    return v && json_typeof(v) == type ? json_incref(v) : NULL;
}

static void replace_strings(json_t **field, const json_t *array)
{
    json_decref(*field);
    *field = json_copy_strings(array);
}

static int check_schema(const json_t *root, struct result_error *error)
{
    const json_t *schema = json_object_get(root, "schema");
    if (!schema) {
        return 0; /* a bare curve: {"points": [...]} */
    }
    const char *text = json_string_value(schema);
    if (text && strcmp(text, RESULT_SCHEMA) == 0) {
        return 0;
    }
    static const char family[] = "nfscurve-result/";
    if (text && strncmp(text, family, sizeof family - 1) == 0) {
        snprintf(error->message, sizeof error->message, "schema %.60s: written by a newer nfscurve; this one reads %s",
                 text, RESULT_SCHEMA);
    } else {
        snprintf(error->message, sizeof error->message, "schema: expected \"%s\"", RESULT_SCHEMA);
    }
    return -EINVAL;
}

static void texts_from_json(const json_t *root, struct result *r)
{
    result_set(&r->name, json_text_of(root, "name"));
    result_set(&r->started_at, json_text_of(root, "started_at"));
    result_set(&r->finished_at, json_text_of(root, "finished_at"));
    result_set(&r->version, json_text_of(root, "version"));
    result_set(&r->source, json_text_of(root, "source"));
    result_set(&r->workload, json_text_of(root, "workload"));
    result_set(&r->derived, json_text_of(root, "derived"));
    result_set(&r->pacing, json_text_of(root, "pacing"));
    result_set(&r->counting, json_text_of(root, "counting"));
    result_set(&r->stopped, json_text_of(root, "stopped"));
    r->campaign = copy_if(root, "campaign", JSON_OBJECT);
    r->disclosure = copy_if(root, "disclosure", JSON_OBJECT);
    r->findings = copy_if(root, "findings", JSON_ARRAY);
    replace_strings(&r->nonstandard_reasons, json_object_get(root, "nonstandard_reasons"));
    replace_strings(&r->notes, json_object_get(root, "notes"));
    r->extra = json_unknown_members(root, result_keys);
}

int result_from_json(const json_t *root, struct result *r, struct result_error *error)
{
    char why[400];
    result_init(r);
    const json_t *points = json_object_get(root, "points");
    int status = -EINVAL;
    if (!json_is_object(root) || !json_is_array(points)) {
        snprintf(error->message, sizeof error->message, "not a result: expected an object with an array \"points\"");
        goto out;
    }
    if (check_schema(root, error)) {
        goto out;
    }
    texts_from_json(root, r);
    r->is_published =
        json_is_true(json_object_get(root, "published")) || (!r->campaign && !json_object_get(root, "schema"));
    r->is_standard = !json_is_false(json_object_get(root, "standard"));
    r->ceiling_ms = json_double(root, "ceiling_ms");
    if (json_count(root, "points_planned") >= 0) {
        r->n_points_planned = (uint64_t)json_count(root, "points_planned");
    }
    for (size_t i = 0; i < json_array_size(points); i++) {
        struct point_result p;
        status = point_from_json(json_array_get(points, i), i, &p, why, sizeof why);
        if (status) {
            snprintf(error->message, sizeof error->message, "points[%zu].%.400s", i, why);
            goto out;
        }
        /* two points of one index would be one: then the order counts, not the numbers */
        for (size_t k = 0; k < r->n_points; k++) {
            if (r->points[k].index == p.index) {
                p.index = 1000000 + i;
            }
        }
        status = result_add_point(r, &p);
        if (status) {
            goto out;
        }
    }
    const json_t *curve_notes = json_object_get(root, "curve_notes");
    for (size_t i = 0; i < json_array_size(curve_notes); i++) {
        const char *note = json_string_value(json_array_get(curve_notes, i));
        r->was_unsorted = r->was_unsorted || (note && strcmp(note, CURVE_NOTE_SORTED) == 0);
    }
    const json_t *loadgens = json_object_get(root, "loadgens");
    for (size_t i = 0; i < json_array_size(loadgens); i++) {
        struct result_loadgen *l = result_add_loadgen(r);
        status = l ? 0 : -ENOMEM;
        if (status) {
            goto out;
        }
        loadgen_from_json(json_array_get(loadgens, i), l);
    }
    result_finish(r);
    status = 0;
out:
    if (status) {
        result_fini(r);
    }
    return status;
}
