#include "point_json.h"
#include "histogram_json.h"
#include "json_text.h"
#include "result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t count_or_unknown(const json_t *o, const char *key)
{
    json_int_t v = json_count(o, key);
    return v < 0 ? RESULT_UNKNOWN : (uint64_t)v;
}

json_t *json_unknown_members(const json_t *o, const char *const *known)
{
    json_t *extra = NULL;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)o, key, value)
    {
        bool is_known = false;
        for (size_t i = 0; known[i] && !is_known; i++) {
            is_known = strcmp(known[i], key) == 0;
        }
        if (is_known) {
            continue;
        }
        if (!extra) {
            extra = json_object();
        }
        json_object_set(extra, key, value);
    }
    return extra;
}

json_t *json_copy_strings(const json_t *array)
{
    json_t *copy = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (json_is_string(json_array_get(array, i))) {
            json_array_append(copy, json_array_get(array, i));
        }
    }
    return copy;
}

static void put_object(json_t *o, const char *key, json_t *value)
{
    if (value && json_object_size(value) > 0) {
        json_object_set(o, key, value);
    }
    json_decref(value);
}

static json_t *percentiles_to_json(const struct response_figures *f)
{
    json_t *o = json_object();
    json_put_double(o, "p50", f->p50_ms);
    json_put_double(o, "p90", f->p90_ms);
    json_put_double(o, "p95", f->p95_ms);
    json_put_double(o, "p99", f->p99_ms);
    json_put_double(o, "p99.9", f->p999_ms);
    json_put_double(o, "max", f->max_ms);
    return o;
}

static json_t *response_to_json(const struct response_figures *f)
{
    json_t *o = json_object();
    json_put_double(o, "response_ms", f->response_ms);
    json_put_double(o, "stddev_ms", f->stddev_ms);
    put_object(o, "percentiles_ms", percentiles_to_json(f));
    return o;
}

static void percentiles_from_json(const json_t *o, struct response_figures *f)
{
    f->p50_ms = json_double(o, "p50");
    f->p90_ms = json_double(o, "p90");
    f->p95_ms = json_double(o, "p95");
    f->p99_ms = json_double(o, "p99");
    f->p999_ms = json_double(o, "p99.9");
    f->max_ms = json_double(o, "max");
}

static void response_from_json(const json_t *o, struct response_figures *f)
{
    f->response_ms = json_double(o, "response_ms");
    f->stddev_ms = json_double(o, "stddev_ms");
    percentiles_from_json(json_object_get(o, "percentiles_ms"), f);
}

static json_t *op_to_json(const struct op_figures *f, bool from_due)
{
    const struct response_figures *headline = from_due ? &f->from_due : &f->from_sent;
    json_t *o = json_object();
    json_put_double(o, "target_percent", f->target_percent);
    json_put_double(o, "percent", f->percent);
    json_put_count(o, "logical", f->n_logical);
    json_put_count(o, "physical", f->n_physical);
    json_put_count(o, "errors", f->n_errors);
    json_put_double(o, "response_ms", headline->response_ms);
    put_object(o, "percentiles_ms", percentiles_to_json(headline));
    put_object(o, "from_due", response_to_json(&f->from_due));
    put_object(o, "from_sent", response_to_json(&f->from_sent));
    json_put(o, "outcomes", f->outcomes);
    json_put(o, "statuses", f->statuses);
    json_put(o, "histogram", f->histograms);
    return o;
}

static json_t *ops_to_json(const struct point_result *p)
{
    json_t *o = json_object();
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        if (p->ops[op].is_present) {
            json_object_set_new(o, nfs_op_name(op), op_to_json(&p->ops[op], p->is_headline_from_due));
        }
    }
    return o;
}

static json_t *interval_response_to_json(const struct interval_response *f)
{
    json_t *o = json_object();
    json_put_count(o, "ops", f->n_ops);
    json_put_double(o, "response_ms", f->response_ms);
    json_put_double(o, "p99_ms", f->p99_ms);
    json_put_count(o, "errors", f->n_errors);
    return o;
}

static json_t *intervals_to_json(const struct point_result *p)
{
    json_t *array = json_array();
    for (size_t i = 0; i < p->n_intervals; i++) {
        const struct point_interval *from = &p->intervals[i];
        json_t *o = json_object();
        json_put_count(o, "t_s", from->t_s);
        json_t *all = interval_response_to_json(&from->all);
        json_object_update(o, all);
        json_decref(all);
        json_t *classes = json_object();
        for (int c = 0; c < OP_CLASS_COUNT; c++) {
            if (from->by_class[c].n_ops || from->by_class[c].n_errors) {
                json_object_set_new(classes, op_class_name(c), interval_response_to_json(&from->by_class[c]));
            }
        }
        put_object(o, "classes", classes);
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *generator_to_json(const struct generator_figures *g)
{
    json_t *o = json_object();
    json_put_text(o, "verdict", g->verdict);
    json_put_double(o, "lateness_mean_us", g->lateness_mean_us);
    json_put_double(o, "lateness_p99_us", g->lateness_p99_us);
    json_put_double(o, "send_wait_p99_us", g->send_wait_p99_us);
    json_put_double(o, "read_wait_p99_us", g->read_wait_p99_us);
    json_put_double(o, "waited_for_us_percent", g->waited_for_us_percent);
    json_put_double(o, "waited_for_slot_percent", g->waited_for_slot_percent);
    json_put_double(o, "starved_percent", g->starved_percent);
    json_put_double(o, "busy_percent", g->busy_percent);
    json_put_double(o, "cpu_percent_max", g->cpu_percent_max);
    json_put_double(o, "host_cpu_percent_max", g->host_cpu_percent_max);
    json_put_double(o, "skew_ms", g->skew_ms);
    return o;
}

static void generator_from_json(const json_t *o, struct generator_figures *g)
{
    result_set(&g->verdict, json_text_of(o, "verdict"));
    g->lateness_mean_us = json_double(o, "lateness_mean_us");
    g->lateness_p99_us = json_double(o, "lateness_p99_us");
    g->send_wait_p99_us = json_double(o, "send_wait_p99_us");
    g->read_wait_p99_us = json_double(o, "read_wait_p99_us");
    g->waited_for_us_percent = json_double(o, "waited_for_us_percent");
    g->waited_for_slot_percent = json_double(o, "waited_for_slot_percent");
    g->starved_percent = json_double(o, "starved_percent");
    g->busy_percent = json_double(o, "busy_percent");
    g->cpu_percent_max = json_double(o, "cpu_percent_max");
    g->host_cpu_percent_max = json_double(o, "host_cpu_percent_max");
    g->skew_ms = json_double(o, "skew_ms");
}

static json_t *loadgen_to_json(const struct point_loadgen *l)
{
    json_t *o = json_object();
    json_put_text(o, "name", l->name);
    json_put_count(o, "processes", l->n_processes);
    json_put_count(o, "ops", l->n_ops);
    json_put_count(o, "errors", l->n_errors);
    json_put_double(o, "response_ms", l->response_ms);
    json_put_double(o, "lateness_mean_us", l->lateness_mean_us);
    json_put_double(o, "lateness_p99_us", l->lateness_p99_us);
    json_put_double(o, "waited_for_us_percent", l->waited_for_us_percent);
    json_put_double(o, "waited_for_slot_percent", l->waited_for_slot_percent);
    json_put_double(o, "starved_percent", l->starved_percent);
    json_put_double(o, "busy_percent", l->busy_percent);
    json_put_double(o, "cpu_percent_max", l->cpu_percent_max);
    json_put_double(o, "host_cpu_percent", l->host_cpu_percent);
    json_put_double(o, "skew_ms", l->skew_ms);
    json_put_double(o, "shortest_run_s", l->shortest_run_s);
    json_put_double(o, "longest_run_s", l->longest_run_s);
    json_put_count(o, "read_block_bytes", l->read_block_bytes);
    json_put_count(o, "write_block_bytes", l->write_block_bytes);
    return o;
}

static void loadgen_from_json(const json_t *o, struct point_loadgen *l)
{
    result_set(&l->name, json_text_of(o, "name") ? json_text_of(o, "name") : "");
    l->n_processes = count_or_unknown(o, "processes");
    l->n_ops = count_or_unknown(o, "ops");
    l->n_errors = count_or_unknown(o, "errors");
    l->response_ms = json_double(o, "response_ms");
    l->lateness_mean_us = json_double(o, "lateness_mean_us");
    l->lateness_p99_us = json_double(o, "lateness_p99_us");
    l->waited_for_us_percent = json_double(o, "waited_for_us_percent");
    l->waited_for_slot_percent = json_double(o, "waited_for_slot_percent");
    l->starved_percent = json_double(o, "starved_percent");
    l->busy_percent = json_double(o, "busy_percent");
    l->cpu_percent_max = json_double(o, "cpu_percent_max");
    l->host_cpu_percent = json_double(o, "host_cpu_percent");
    l->skew_ms = json_double(o, "skew_ms");
    l->shortest_run_s = json_double(o, "shortest_run_s");
    l->longest_run_s = json_double(o, "longest_run_s");
    l->read_block_bytes = count_or_unknown(o, "read_block_bytes");
    l->write_block_bytes = count_or_unknown(o, "write_block_bytes");
}

static json_t *lost_to_json(const struct lost_process *l)
{
    json_t *o = json_object();
    json_put_text(o, "loadgen", l->loadgen);
    if (l->process >= 0) {
        json_put_count(o, "process", (uint64_t)l->process);
    }
    json_put_text(o, "reason", l->reason);
    json_put_double(o, "at_s", l->at_s);
    return o;
}

static void put_array(json_t *o, const char *key, json_t *array)
{
    if (json_array_size(array) > 0) {
        json_object_set(o, key, array);
    }
    json_decref(array);
}

json_t *point_to_json(const struct point_result *p)
{
    json_t *o = json_object(), *loadgens = json_array(), *lost = json_array();
    json_put_count(o, "index", p->index);
    json_put_text(o, "started_at", p->started_at);
    json_put_double(o, "requested_ops_per_s", p->requested_ops_per_s);
    json_put_double(o, "achieved_ops_per_s", p->achieved_ops_per_s);
    json_put_double(o, "response_ms", p->response_ms);
    if (p->n_ops != RESULT_UNKNOWN) {
        json_put_text(o, "response_from", p->is_headline_from_due ? "due" : "sent");
    }
    json_put_double(o, "response_ci95_ms", p->response_ci95_ms);
    json_put_text(o, "response_ci95_method", p->ci95_method);
    json_put_double(o, "response_stddev_ms", p->response_stddev_ms);
    put_object(o, "percentiles_ms", percentiles_to_json(point_headline(p)));
    put_object(o, "from_due", response_to_json(&p->from_due));
    put_object(o, "from_sent", response_to_json(&p->from_sent));
    json_put_double(o, "spread_percent", p->spread_percent);
    json_put_count(o, "good_ops", p->n_ops);
    json_put_count(o, "failed_rpcs", p->n_failed);
    put_object(o, "ops", ops_to_json(p));
    json_put(o, "errors", p->errors);
    json_put_count(o, "fileset_bytes", p->fileset_bytes);
    json_put_count(o, "fileset_files", p->fileset_files);
    json_put_count(o, "working_set_bytes", p->working_set_bytes);
    json_put_count(o, "files_touched", p->files_touched);
    json_put_double(o, "warmup_s", p->warmup_s);
    json_put_double(o, "run_s", p->run_s);
    json_put_double(o, "shortest_run_s", p->shortest_run_s);
    json_put_double(o, "longest_run_s", p->longest_run_s);
    json_put_count(o, "read_bytes", p->read_bytes);
    json_put_count(o, "write_bytes", p->write_bytes);
    put_array(o, "intervals", intervals_to_json(p));
    put_object(o, "generator", generator_to_json(&p->generator));
    for (size_t i = 0; i < p->n_loadgens; i++) {
        json_array_append_new(loadgens, loadgen_to_json(&p->loadgens[i]));
    }
    put_array(o, "loadgens", loadgens);
    json_put(o, "targets", p->targets);
    for (size_t i = 0; i < p->n_lost; i++) {
        json_array_append_new(lost, lost_to_json(&p->lost[i]));
    }
    put_array(o, "lost", lost);
    if (p->is_cut_short) {
        json_object_set_new(o, "cut_short", json_true());
    }
    json_put_double(o, "throughput_drift_percent", p->steady.throughput_drift_percent);
    json_put_double(o, "response_drift_percent", p->steady.response_drift_percent);
    if (!isnan(p->steady.throughput_drift_percent)) {
        json_object_set_new(o, "drifting", json_boolean(p->steady.is_drifting));
    }
    if (p->requested_ops_per_s > 0) {
        json_object_set_new(o, "saturated", json_boolean(p->is_saturated));
    }
    json_object_set_new(o, "valid", json_boolean(p->is_valid));
    json_put(o, "invalid_reasons", p->invalid_reasons);
    json_put(o, "notes", p->notes);
    if (p->extra) {
        json_object_update(o, p->extra);
    }
    return o;
}

static const char *const point_keys[] = {"index",
                                         "started_at",
                                         "requested_ops_per_s",
                                         "achieved_ops_per_s",
                                         "response_ms",
                                         "response_from",
                                         "response_ci95_ms",
                                         "response_ci95_method",
                                         "response_stddev_ms",
                                         "percentiles_ms",
                                         "from_due",
                                         "from_sent",
                                         "spread_percent",
                                         "good_ops",
                                         "failed_rpcs",
                                         "ops",
                                         "errors",
                                         "fileset_bytes",
                                         "fileset_files",
                                         "working_set_bytes",
                                         "files_touched",
                                         "warmup_s",
                                         "run_s",
                                         "shortest_run_s",
                                         "longest_run_s",
                                         "read_bytes",
                                         "write_bytes",
                                         "intervals",
                                         "generator",
                                         "loadgens",
                                         "targets",
                                         "lost",
                                         "cut_short",
                                         "throughput_drift_percent",
                                         "response_drift_percent",
                                         "drifting",
                                         "saturated",
                                         "valid",
                                         "invalid_reasons",
                                         "notes",
                                         NULL};

static json_t *copy_object(const json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    return json_is_object(v) ? json_incref(v) : NULL;
}

/* Histograms that contradict themselves are refused, not carried on. */
static int histograms_from_json(const json_t *o, struct op_figures *f)
{
    f->histograms = copy_object(o, "histogram");
    const char *key;
    json_t *value;
    int error = 0;
    struct histogram *h = f->histograms ? malloc(sizeof *h) : NULL;
    if (!h) {
        return 0;
    }
    json_object_foreach(f->histograms, key, value)
    {
        if (histogram_from_json(value, h)) {
            error = -EINVAL;
        }
    }
    free(h);
    return error;
}

static int ops_from_json(const json_t *ops, struct point_result *p, char *why, size_t cap)
{
    const char *key;
    json_t *o;
    json_object_foreach((json_t *)ops, key, o)
    {
        enum nfs_op op;
        if (nfs_op_parse(key, &op)) {
            snprintf(why, cap, "ops: \"%.40s\" is no NFSv3 operation", key);
            return -EINVAL;
        }
        struct op_figures *f = &p->ops[op];
        f->is_present = true;
        f->target_percent = json_double(o, "target_percent");
        f->percent = json_double(o, "percent");
        f->n_logical = count_or_unknown(o, "logical");
        f->n_physical = count_or_unknown(o, "physical");
        f->n_errors = count_or_unknown(o, "errors");
        response_from_json(json_object_get(o, "from_due"), &f->from_due);
        response_from_json(json_object_get(o, "from_sent"), &f->from_sent);
        struct response_figures *headline = p->is_headline_from_due ? &f->from_due : &f->from_sent;
        if (isnan(headline->response_ms)) {
            response_from_json(o, headline);
        }
        f->outcomes = copy_object(o, "outcomes");
        f->statuses = copy_object(o, "statuses");
        if (histograms_from_json(o, f)) {
            snprintf(why, cap, "ops.%s.histogram contradicts itself or is none", nfs_op_name(op));
            return -EINVAL;
        }
    }
    return 0;
}

static void interval_response_from_json(const json_t *o, struct interval_response *f)
{
    json_int_t ops = json_count(o, "ops"), errors = json_count(o, "errors");
    f->n_ops = ops > 0 ? (uint64_t)ops : 0;
    f->n_errors = errors > 0 ? (uint64_t)errors : 0;
    f->response_ms = json_double(o, "response_ms");
    f->p99_ms = json_double(o, "p99_ms");
}

static int arrays_from_json(const json_t *o, struct point_result *p)
{
    const json_t *intervals = json_object_get(o, "intervals"), *loadgens = json_object_get(o, "loadgens"),
                 *lost = json_object_get(o, "lost");
    p->intervals = calloc(json_array_size(intervals) + 1, sizeof *p->intervals);
    p->loadgens = calloc(json_array_size(loadgens) + 1, sizeof *p->loadgens);
    p->lost = calloc(json_array_size(lost) + 1, sizeof *p->lost);
    if (!p->intervals || !p->loadgens || !p->lost) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < json_array_size(intervals); i++) {
        const json_t *from = json_array_get(intervals, i), *classes = json_object_get(from, "classes");
        struct point_interval *to = &p->intervals[p->n_intervals++];
        to->t_s = json_count(from, "t_s") >= 0 ? (uint32_t)json_count(from, "t_s") : (uint32_t)i;
        interval_response_from_json(from, &to->all);
        for (int c = 0; c < OP_CLASS_COUNT; c++) {
            interval_response_from_json(json_object_get(classes, op_class_name(c)), &to->by_class[c]);
        }
    }
    for (size_t i = 0; i < json_array_size(loadgens); i++) {
        loadgen_from_json(json_array_get(loadgens, i), &p->loadgens[p->n_loadgens++]);
    }
    for (size_t i = 0; i < json_array_size(lost); i++) {
        const json_t *from = json_array_get(lost, i);
        struct lost_process *to = &p->lost[p->n_lost++];
        result_set(&to->loadgen, json_text_of(from, "loadgen") ? json_text_of(from, "loadgen") : "");
        result_set(&to->reason, json_text_of(from, "reason") ? json_text_of(from, "reason") : "");
        to->process = json_count(from, "process");
        to->at_s = json_double(from, "at_s");
    }
    return 0;
}

static int figures_from_json(const json_t *o, struct point_result *p, char *why, size_t cap)
{
    p->requested_ops_per_s = json_double(o, "requested_ops_per_s");
    p->achieved_ops_per_s = json_double(o, "achieved_ops_per_s");
    p->response_ms = json_double(o, "response_ms");
    if (!(p->achieved_ops_per_s >= 0)) {
        snprintf(why, cap, "achieved_ops_per_s: expected a number of at least 0");
        return -EINVAL;
    }
    /* a point without a good op has no response time; any other must have one */
    if (p->response_ms < 0 || (isnan(p->response_ms) && p->achieved_ops_per_s > 0)) {
        snprintf(why, cap, "response_ms: expected a number of at least 0");
        return -EINVAL;
    }
    p->response_ci95_ms = json_double(o, "response_ci95_ms");
    p->response_stddev_ms = json_double(o, "response_stddev_ms");
    p->spread_percent = json_double(o, "spread_percent");
    p->n_ops = count_or_unknown(o, "good_ops");
    p->n_failed = count_or_unknown(o, "failed_rpcs");
    p->fileset_bytes = count_or_unknown(o, "fileset_bytes");
    p->fileset_files = count_or_unknown(o, "fileset_files");
    p->working_set_bytes = count_or_unknown(o, "working_set_bytes");
    p->files_touched = count_or_unknown(o, "files_touched");
    p->warmup_s = json_double(o, "warmup_s");
    p->run_s = json_double(o, "run_s");
    p->shortest_run_s = json_double(o, "shortest_run_s");
    p->longest_run_s = json_double(o, "longest_run_s");
    p->read_bytes = count_or_unknown(o, "read_bytes");
    p->write_bytes = count_or_unknown(o, "write_bytes");
    p->steady.throughput_drift_percent = json_double(o, "throughput_drift_percent");
    p->steady.response_drift_percent = json_double(o, "response_drift_percent");
    p->steady.is_drifting = json_is_true(json_object_get(o, "drifting"));
    p->is_saturated = json_is_true(json_object_get(o, "saturated"));
    p->is_cut_short = json_is_true(json_object_get(o, "cut_short"));
    return 0;
}

int point_from_json(const json_t *o, size_t index, struct point_result *p, char *why, size_t cap)
{
    point_init(p);
    int error = -EINVAL;
    if (!json_is_object(o)) {
        snprintf(why, cap, "expected an object");
        goto out;
    }
    p->index = json_count(o, "index") >= 0 ? (uint64_t)json_count(o, "index") : index;
    const char *from = json_text_of(o, "response_from");
    p->is_headline_from_due = from && strcmp(from, "due") == 0;
    error = figures_from_json(o, p, why, cap);
    if (error) {
        goto out;
    }
    result_set(&p->started_at, json_text_of(o, "started_at"));
    result_set(&p->ci95_method, json_text_of(o, "response_ci95_method"));
    response_from_json(json_object_get(o, "from_due"), &p->from_due);
    response_from_json(json_object_get(o, "from_sent"), &p->from_sent);
    struct response_figures *headline = p->is_headline_from_due ? &p->from_due : &p->from_sent;
    if (isnan(headline->p50_ms)) {
        percentiles_from_json(json_object_get(o, "percentiles_ms"), headline);
    }
    error = ops_from_json(json_object_get(o, "ops"), p, why, cap);
    if (error) {
        goto out;
    }
    p->errors = copy_object(o, "errors");
    json_t *targets = json_object_get(o, "targets");
    p->targets = json_is_array(targets) ? json_incref(targets) : NULL;
    error = arrays_from_json(o, p);
    if (error) {
        goto out;
    }
    generator_from_json(json_object_get(o, "generator"), &p->generator);
    json_decref(p->invalid_reasons);
    json_decref(p->notes);
    p->invalid_reasons = json_copy_strings(json_object_get(o, "invalid_reasons"));
    p->notes = json_copy_strings(json_object_get(o, "notes"));
    /* a published curve says nothing of validity: its points count */
    p->is_valid = !json_is_false(json_object_get(o, "valid"));
    p->extra = json_unknown_members(o, point_keys);
    error = 0;
out:
    if (error) {
        point_fini(p);
    }
    return error;
}
