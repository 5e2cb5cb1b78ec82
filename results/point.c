/* point.c - the life of a point in memory, and its file. */
#include "file.h"
#include "point_json.h"
#include "result.h"
#include "utf8.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 1024

static const struct response_figures unknown_response = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

void result_set(char **field, const char *text)
{
    free(*field);
    *field = text ? utf8_repair(text, strlen(text), NULL) : NULL;
}

void point_init(struct point_result *p)
{
    memset(p, 0, sizeof *p);
    p->requested_ops_per_s = p->achieved_ops_per_s = NAN;
    p->response_ms = p->response_stddev_ms = p->response_ci95_ms = p->spread_percent = NAN;
    p->from_due = p->from_sent = unknown_response;
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        p->ops[op].target_percent = p->ops[op].percent = NAN;
        p->ops[op].n_logical = p->ops[op].n_physical = p->ops[op].n_errors = RESULT_UNKNOWN;
        p->ops[op].from_due = p->ops[op].from_sent = unknown_response;
    }
    p->n_ops = p->n_failed = RESULT_UNKNOWN;
    p->fileset_bytes = p->fileset_files = p->working_set_bytes = p->files_touched = RESULT_UNKNOWN;
    p->warmup_s = p->run_s = p->shortest_run_s = p->longest_run_s = NAN;
    p->read_bytes = p->write_bytes = RESULT_UNKNOWN;
    p->generator = (struct generator_figures){
        .lateness_mean_us = NAN,
        .lateness_p99_us = NAN,
        .send_wait_p99_us = NAN,
        .read_wait_p99_us = NAN,
        .waited_for_us_percent = NAN,
        .waited_for_slot_percent = NAN,
        .starved_percent = NAN,
        .busy_percent = NAN,
        .cpu_percent_max = NAN,
        .host_cpu_percent_max = NAN,
        .skew_ms = NAN,
    };
    p->steady.throughput_drift_percent = p->steady.response_drift_percent = NAN;
    p->is_valid = true;
    p->invalid_reasons = json_array();
    p->notes = json_array();
}

void point_fini(struct point_result *p)
{
    free(p->started_at);
    free(p->ci95_method);
    free(p->generator.verdict);
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        json_decref(p->ops[op].outcomes);
        json_decref(p->ops[op].statuses);
        json_decref(p->ops[op].histograms);
    }
    for (size_t i = 0; i < p->n_loadgens; i++) {
        free(p->loadgens[i].name);
    }
    for (size_t i = 0; i < p->n_lost; i++) {
        free(p->lost[i].loadgen);
        free(p->lost[i].reason);
    }
    free(p->loadgens);
    free(p->lost);
    free(p->intervals);
    json_decref(p->errors);
    json_decref(p->targets);
    json_decref(p->invalid_reasons);
    json_decref(p->notes);
    json_decref(p->extra);
    memset(p, 0, sizeof *p);
}

const struct response_figures *point_headline(const struct point_result *p)
{
    return p->is_headline_from_due ? &p->from_due : &p->from_sent;
}

__attribute__((format(printf, 2, 0))) static void append_text(json_t *array, const char *fmt, va_list ap)
{
    char text[TEXT_MAX];
    vsnprintf(text, sizeof text, fmt, ap);
    char *clean = utf8_repair(text, strlen(text), NULL);
    if (clean) {
        json_array_append_new(array, json_string(clean));
    }
    free(clean);
}

void point_invalidate(struct point_result *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    append_text(p->invalid_reasons, fmt, ap);
    va_end(ap);
    p->is_valid = false;
}

void point_note(struct point_result *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    append_text(p->notes, fmt, ap);
    va_end(ap);
}

/* Named by the number that pages and tables show: point 1 is 01.json. */
static void point_path(const char *run_dir, uint32_t index, char *path, size_t cap)
{
    snprintf(path, cap, "%s/points/%02u.json", run_dir, index + 1);
}

int point_write(const char *run_dir, const struct point_result *p)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/points", run_dir);
    int error = file_make_directory(path);
    if (error) {
        return error;
    }
    json_t *root = point_to_json(p);
    if (!root) {
        return -ENOMEM;
    }
    point_path(run_dir, (uint32_t)p->index, path, sizeof path);
    error = file_write_json(path, root);
    json_decref(root);
    return error;
}

int point_read(const char *run_dir, uint32_t index, struct point_result *out, struct result_error *error)
{
    char path[4096];
    point_path(run_dir, index, path, sizeof path);
    json_t *root;
    int status = file_read_json(path, &root, error->message, sizeof error->message);
    if (status) {
        return status;
    }
    char why[400];
    status = point_from_json(root, index, out, why, sizeof why);
    json_decref(root);
    if (status) {
        snprintf(error->message, sizeof error->message, "%.100s: %s", path, why);
    }
    return status;
}
