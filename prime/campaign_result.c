/* campaign_result.c - see campaign_result.h. Figures and verdicts are computed in results/; here they are only brought
 * together. */
#include "campaign_result.h"

#include "campaign_config.h"
#include "campaign_layout.h"
#include "cluster.h"
#include "report.h"
#include "run_dir.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a point --- */

static struct point_input_loadgen *loadgen_inputs(const struct campaign_config *config, const struct cluster *cluster)
{
    struct point_input_loadgen *inputs = calloc(config->n_loadgens, sizeof *inputs);
    for (size_t g = 0; inputs != NULL && g < config->n_loadgens; g++) {
        const struct loadgen_outcome *o = cluster_outcome(cluster, (uint32_t)g);
        inputs[g] = (struct point_input_loadgen){.name = config->loadgens[g].name,
                                                 .n_processes = (uint32_t)config->processes_per_loadgen,
                                                 .host_cpu_percent = NAN};
        if (o == NULL) {
            continue; /* lost with all it knew */
        }
        inputs[g].tally = o->tally;
        inputs[g].cpu_percent_max = o->cpu_percent_max;
        inputs[g].host_cpu_percent = o->host_cpu_percent;
        inputs[g].started_skew_ns = o->started_skew_ns;
        inputs[g].shortest_run_ns = o->shortest_run_ns;
        inputs[g].longest_run_ns = o->longest_run_ns;
        inputs[g].read_block_bytes = o->read_block_bytes;
        inputs[g].write_block_bytes = o->write_block_bytes;
        inputs[g].n_files = o->n_files;
        inputs[g].fileset_bytes = o->fileset_bytes;
        inputs[g].n_files_touched = o->n_files_touched;
        inputs[g].working_set_bytes = o->working_set_bytes;
    }
    return inputs;
}

/* Those that delivered something come first; the count is returned. */
static size_t keep_delivered(struct point_input_loadgen *inputs, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (inputs[i].tally != NULL) {
            inputs[kept++] = inputs[i];
        }
    }
    return kept;
}

static void keep_least(json_t *o, const char *key, uint32_t value)
{
    const json_t *least = json_object_get(o, key);
    if (least == NULL || json_integer_value(least) > value) {
        json_object_set_new(o, key, json_integer(value));
    }
}

/* What FSINFO allowed and the block sizes used, target by target. Processes of one target differ only when it changed
 * its mind between their FSINFOs: the smallest is told then. */
static json_t *blocks_by_target(const struct campaign_config *config, const struct cluster *cluster)
{
    json_t *targets = json_array();
    for (size_t t = 0; t < config->n_targets; t++) {
        json_t *target = json_pack("{s:s}", "name", config->targets[t].name);
        for (uint32_t g = 0; g < config->n_loadgens; g++) {
            const struct loadgen_outcome *o = cluster_outcome(cluster, g);
            for (uint32_t p = 0; o != NULL && o->blocks != NULL && p < config->processes_per_loadgen; p++) {
                if (campaign_process_target(config, g, p) == t && o->blocks[p].read_block_bytes > 0) {
                    keep_least(target, "rtmax_bytes", o->blocks[p].rtmax);
                    keep_least(target, "wtmax_bytes", o->blocks[p].wtmax);
                    keep_least(target, "read_block_bytes", o->blocks[p].read_block_bytes);
                    keep_least(target, "write_block_bytes", o->blocks[p].write_block_bytes);
                }
            }
        }
        json_array_append_new(targets, target);
    }
    return targets;
}

int campaign_build_point(const struct campaign_config *config, const struct cluster *cluster,
                         const struct campaign_point *point, struct point_result *out)
{
    int rc = -ENOMEM;
    struct point_input_loadgen *loadgens = loadgen_inputs(config, cluster);
    struct point_input_lost *lost = calloc(point->n_losses + 1, sizeof *lost);
    if (loadgens == NULL || lost == NULL) {
        goto out;
    }
    for (size_t i = 0; i < point->n_losses; i++) {
        lost[i] = (struct point_input_lost){.loadgen = config->loadgens[point->losses[i].loadgen].name,
                                            .process = point->losses[i].process,
                                            .reason = point->losses[i].reason,
                                            .at_ns = point->losses[i].at_ns};
    }
    struct point_input input = {.index = point->index,
                                .requested_ops_per_s = point->layout->requested_ops_per_s,
                                .workload = &config->workload,
                                .started_at = point->started_at,
                                .warmup_ns = (int64_t)(config->warmup_s * 1e9),
                                .run_ns = (int64_t)(config->run_s * 1e9),
                                .loadgens = loadgens,
                                .n_loadgens = keep_delivered(loadgens, config->n_loadgens),
                                .lost = lost,
                                .n_lost = point->n_losses};
    input.n_intervals = cluster_intervals(cluster, &input.intervals);
    rc = point_from_measurement(&input, out);
    if (rc == 0) {
        out->targets = blocks_by_target(config, cluster);
    }
    if (rc == 0 && point->broken != NULL) {
        point_invalidate(out, "%s", point->broken);
        out->is_cut_short = true;
    }
out:
    free(loadgens);
    free(lost);
    return rc;
}

/* A point of this campaign: a file from elsewhere has another request. 0 or -errno. */
static int read_point(const struct campaign_config *config, const char *run_dir, uint32_t index,
                      struct point_result *out)
{
    struct result_error error;
    int rc = point_read(run_dir, index, out, &error);
    if (rc == 0 && (out->index != index ||
                    !(fabs(out->requested_ops_per_s - config->loads[index]) <= 1e-9 * config->loads[index]))) {
        point_fini(out);
        rc = -EINVAL;
    }
    return rc;
}

bool campaign_point_is_done(const struct campaign_config *config, const char *run_dir, uint32_t index)
{
    struct point_result point;
    if (read_point(config, run_dir, index, &point) != 0) {
        return false;
    }
    /* A point that lost a load generator or its target ended before its time: it is measured again by --resume. */
    bool is_done = point.n_lost == 0 && !point.is_cut_short;
    point_fini(&point);
    return is_done;
}

/* --- results --- */

static json_t *target_names(const struct campaign_config *config, const struct campaign_loadgen *lg)
{
    json_t *names = json_array();
    for (size_t i = 0; i < lg->n_targets; i++) {
        json_array_append_new(names, json_string(config->targets[lg->targets[i]].name));
    }
    return names;
}

static json_t *processes_per_target(const struct campaign_config *config, uint32_t loadgen)
{
    json_t *counts = json_object();
    for (uint32_t p = 0; p < (uint32_t)config->processes_per_loadgen; p++) {
        const char *name = config->targets[campaign_process_target(config, loadgen, p)].name;
        json_object_set_new(counts, name, json_integer(json_integer_value(json_object_get(counts, name)) + 1));
    }
    return counts;
}

static int add_loadgens(const struct campaign_result_facts *facts, struct result *r)
{
    const struct campaign_config *config = facts->config;
    for (size_t g = 0; g < config->n_loadgens; g++) {
        struct result_loadgen *lg = result_add_loadgen(r);
        if (lg == NULL) {
            return -ENOMEM;
        }
        result_set(&lg->host, config->loadgens[g].name);
        lg->processes = (uint64_t)config->processes_per_loadgen;
        lg->targets = target_names(config, &config->loadgens[g]);
        lg->processes_per_target = processes_per_target(config, (uint32_t)g);
        if (facts->loadgens == NULL) {
            continue;
        }
        const struct loadgen_facts *f = &facts->loadgens[g];
        result_set(&lg->hostname, f->hostname);
        result_set(&lg->cpu_model, f->cpu_model);
        result_set(&lg->os, f->os);
        result_set(&lg->addresses, f->addresses);
        result_set(&lg->version, f->version);
        lg->cpus = f->n_cpus;
        lg->memory_bytes = f->memory_bytes;
        lg->rtt_us = (double)f->rtt_ns / 1e3;
        lg->clock_skew_ms = (double)f->clock_skew_ns / 1e6;
    }
    return 0;
}

static int begin_result(const struct campaign_result_facts *facts, struct result *r)
{
    const struct campaign_config *config = facts->config;
    char text[25];
    result_init(r);
    result_set_workload(r, &config->workload);
    result_set(&r->name, config->name);
    wall_format(facts->started_at, text);
    result_set(&r->started_at, text);
    wall_format(facts->finished_at, text);
    result_set(&r->finished_at, text);
    result_set(&r->version, NFSCURVE_VERSION);
    r->campaign = campaign_config_dump(config);
    r->disclosure = json_deep_copy(config->disclosure);
    r->findings = facts->findings != NULL ? json_deep_copy(facts->findings) : NULL;
    r->n_points_planned = config->n_loads;
    if (facts->stopped != NULL) {
        result_set(&r->stopped, facts->stopped);
    }
    for (size_t i = 0; i < json_array_size(config->nonstandard); i++) {
        json_array_append(r->nonstandard_reasons, json_array_get(config->nonstandard, i));
    }
    return add_loadgens(facts, r);
}

/* A resumed run began when its first point did. */
static void take_earliest_start(struct result *r)
{
    for (size_t i = 0; i < r->n_points; i++) {
        if (r->points[i].started_at != NULL && strcmp(r->points[i].started_at, r->started_at) < 0) {
            result_set(&r->started_at, r->points[i].started_at);
        }
    }
}

static int end_result(struct result *r, const char *path)
{
    take_earliest_start(r);
    int rc = disclosure_complete(r);
    result_finish(r);
    int write_rc = result_write_run_dir(r, path);
    return rc != 0 ? rc : write_rc;
}

static int write_repeat(const struct campaign_result_facts *facts, const char *path, struct result *r)
{
    int rc = begin_result(facts, r);
    for (uint32_t i = 0; rc == 0 && i < facts->config->n_loads; i++) {
        struct point_result point;
        if (read_point(facts->config, path, i, &point) == 0) {
            rc = result_add_point(r, &point);
        }
    }
    return rc != 0 ? rc : end_result(r, path);
}

static int by_response(const void *a, const void *b)
{
    double x = ((const struct point_result *)a)->response_ms, y = ((const struct point_result *)b)->response_ms;
    return (x > y) - (x < y);
}

/* Moves the median of the repeats (sorted by response time) into the result, with the spread of all. */
static int add_median(struct result *r, struct point_result *repeats, int n)
{
    double low = INFINITY, high = -INFINITY, sum = 0;
    qsort(repeats, (size_t)n, sizeof *repeats, by_response);
    for (int i = 0; i < n; i++) {
        low = fmin(low, repeats[i].achieved_ops_per_s);
        high = fmax(high, repeats[i].achieved_ops_per_s);
        sum += repeats[i].achieved_ops_per_s;
    }
    struct point_result *median = &repeats[(n - 1) / 2];
    median->spread_percent = sum > 0 ? 100 * (high - low) / (sum / n) : NAN;
    point_note(median,
               "median by response time of %d repeats: achieved %.1f to %.1f ops/s, response time %.3f to %.3f ms", n,
               low, high, repeats[0].response_ms, repeats[n - 1].response_ms);
    for (int i = 0; i < n; i++) {
        if (!repeats[i].is_valid && median->is_valid) {
            point_invalidate(median, "another repeat of this point is invalid");
        }
    }
    return result_add_point(r, median);
}

static int write_all_repeats(const struct campaign_result_facts *facts, const struct run_dir *dir, struct result *r)
{
    struct point_result *repeats = calloc((size_t)dir->n_repeats, sizeof *repeats);
    int rc = begin_result(facts, r);
    if (repeats == NULL) {
        rc = -ENOMEM;
    }
    for (uint32_t i = 0; rc == 0 && i < facts->config->n_loads; i++) {
        int n = 0;
        for (int k = 0; k < dir->n_repeats; k++) {
            char *path = run_dir_of_repeat(dir, k);
            if (path != NULL && read_point(facts->config, path, i, &repeats[n]) == 0) {
                n++;
            }
            free(path);
        }
        if (n > 0) {
            rc = add_median(r, repeats, n);
        }
        for (int k = 0; k < n; k++) {
            point_fini(&repeats[k]); /* the median is empty by now */
        }
    }
    free(repeats);
    return rc != 0 ? rc : end_result(r, dir->path);
}

int campaign_write_results(const struct campaign_result_facts *facts, const struct run_dir *dir, struct result *out)
{
    if (dir->n_repeats <= 1) {
        return write_repeat(facts, dir->path, out);
    }
    int rc = 0;
    for (int k = 0; k < dir->n_repeats; k++) {
        struct result one;
        char *path = run_dir_of_repeat(dir, k);
        int repeat_rc = path != NULL ? write_repeat(facts, path, &one) : -ENOMEM;
        if (path != NULL) {
            result_fini(&one);
        }
        free(path);
        rc = rc != 0 ? rc : repeat_rc;
    }
    int all_rc = write_all_repeats(facts, dir, out);
    return rc != 0 ? rc : all_rc;
}
