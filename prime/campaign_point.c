/* campaign_point.c - one point after the other: populate, load, collect, and on disk before the next one starts. */
#include "campaign_internal.h"

#include "campaign_config.h"
#include "campaign_layout.h"
#include "cluster.h"
#include "log.h"
#include "monitor.h"
#include "run_dir.h"
#include "text.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long an interrupted campaign waits for what its unfinished point measured. */
#define SAVE_PATIENCE_MS 1500

static void begin_populate(struct campaign *c);

size_t campaign_point_number(const struct campaign *c)
{
    return (size_t)c->repeat * c->config->n_loads + c->point + 1;
}

static void begin_clean(struct campaign *c)
{
    struct cluster_phase phase = {.kind = CLUSTER_CLEAN};
    c->state = CAMPAIGN_CLEANING;
    c->progress.point = 0; /* it belongs to none */
    progress_phase(&c->progress, "clean up", mono_now());
    c->is_step_running = true;
    cluster_run_phase(c->cluster, &phase, c->layouts[c->config->n_loads - 1].processes);
}

static bool point_has_file(const struct campaign *c)
{
    char *path = run_dir_of_repeat(c->dir, c->repeat);
    bool is_done = path != NULL && campaign_point_is_done(c->config, path, c->point);
    free(path);
    return is_done;
}

/* The first point at or after the present one that is to be measured, or the end of the sweep. */
void campaign_next_point(struct campaign *c)
{
    while (c->repeat < c->dir->n_repeats) {
        while (c->point < c->config->n_loads && c->dir->is_resumed && point_has_file(c)) {
            c->point++;
        }
        if (c->point < c->config->n_loads) {
            progress_point(&c->progress, campaign_point_number(c), c->layouts[c->point].requested_ops_per_s,
                           mono_now());
            begin_populate(c);
            return;
        }
        c->repeat++;
        c->point = 0;
        c->best_ops_per_s = 0;
    }
    if (c->config->clean_up) {
        begin_clean(c);
    } else {
        campaign_begin_release(c);
    }
}

static void populate(struct campaign *c)
{
    struct cluster_phase phase = {.kind = CLUSTER_POPULATE};
    c->state = CAMPAIGN_POPULATING;
    log_info("point %zu: %g ops/s: populate", campaign_point_number(c), c->layouts[c->point].requested_ops_per_s);
    progress_phase(&c->progress, "populate", mono_now());
    c->is_step_running = true;
    cluster_run_phase(c->cluster, &phase, c->layouts[c->point].processes);
}

static void begin_populate(struct campaign *c)
{
    campaign_switch_local_latency(c, false, populate);
}

void campaign_forget_losses(struct campaign *c)
{
    for (size_t i = 0; i < c->n_losses; i++) {
        free(c->losses[i].reason);
    }
    free(c->losses);
    c->losses = NULL;
    c->n_losses = 0;
}

static void load(struct campaign *c)
{
    struct cluster_phase phase = {.kind = CLUSTER_LOAD,
                                  .warmup_ns = (int64_t)(c->config->warmup_s * 1e9),
                                  .run_ns = (int64_t)(c->config->run_s * 1e9)};
    campaign_forget_losses(c);
    c->is_run_recorded = false;
    c->is_point_broken = false;
    c->is_monitor_due = c->monitor != NULL;
    c->load_started = mono_now();
    c->point_started_at = wall_now();
    c->state = CAMPAIGN_LOADING;
    log_info("point %zu: load", campaign_point_number(c));
    progress_phase(&c->progress, "load", mono_now());
    c->is_step_running = true;
    cluster_run_phase(c->cluster, &phase, c->layouts[c->point].processes);
}

void campaign_begin_load(struct campaign *c)
{
    campaign_switch_local_latency(c, true, load);
}

static void begin_collect(struct campaign *c, enum campaign_state state)
{
    c->state = state;
    event_del(c->monitor_start);
    if (state == CAMPAIGN_COLLECTING) {
        progress_phase(&c->progress, "collect", mono_now());
    }
    c->is_step_running = true;
    cluster_collect(c->cluster);
}

/* The load ended: as it should, or broken with `message`. What was measured is collected either way. */
void campaign_end_load(struct campaign *c, int error, const char *message)
{
    if (error != 0 && !c->is_point_broken) {
        c->is_point_broken = true;
        free(c->broken);
        c->broken = strdup(message);
    }
    if (c->monitor != NULL) {
        monitor_call(c->monitor, "DONE", campaign_point_number(c), c->layouts[c->point].requested_ops_per_s);
    }
    begin_collect(c, CAMPAIGN_COLLECTING);
}

static int write_point(struct campaign *c, const char *run_dir, struct point_result *point)
{
    struct campaign_point facts = {.index = c->point,
                                   .layout = &c->layouts[c->point],
                                   .started_at = c->point_started_at,
                                   .losses = c->losses,
                                   .n_losses = c->n_losses,
                                   /* a loss says it all; anything else has to be said */
                                   .broken = c->n_losses == 0 ? c->broken : NULL};
    int rc = campaign_build_point(c->config, c->cluster, &facts, point);
    if (rc != 0) {
        return rc;
    }
    return point_write(run_dir, point);
}

static void after_point(struct campaign *c, double achieved_ops_per_s)
{
    double fall = c->config->stop_after_fall_percent;
    bool has_fallen = fall > 0 && achieved_ops_per_s < c->best_ops_per_s * (1 - fall / 100);
    if (has_fallen && c->point + 1 < c->config->n_loads) {
        char *message =
            text_format("throughput fell by more than %g %% after %.1f ops/s: the rest of the sweep was left out "
                        "(stop_after_fall_percent)",
                        fall, c->best_ops_per_s);
        log_info("%s", message);
        if (c->stopped == NULL) {
            c->stopped = strdup(message);
        }
        free(message);
        c->point = (uint32_t)c->config->n_loads;
    } else {
        c->point++;
    }
    if (achieved_ops_per_s > c->best_ops_per_s) {
        c->best_ops_per_s = achieved_ops_per_s;
    }
}

static void go_on(struct campaign *c)
{
    if (c->is_interrupted) {
        campaign_begin_release(c);
    } else if (c->is_point_broken) {
        campaign_fail(c, EXIT_STATUS_INVALID, c->broken);
    } else if (c->monitor != NULL && monitor_is_busy(c->monitor)) {
        c->state = CAMPAIGN_MONITORING;
    } else {
        campaign_next_point(c);
    }
}

/* The point is complete, or as complete as it will ever be: on disk before anything else happens. */
void campaign_end_collect(struct campaign *c, int error, const char *message)
{
    struct point_result point;
    char *path = run_dir_of_repeat(c->dir, c->repeat);
    if (error != 0 && !c->is_point_broken) {
        c->is_point_broken = true;
        free(c->broken);
        c->broken = strdup(message);
    }
    int rc = path != NULL ? write_point(c, path, &point) : -ENOMEM;
    free(path);
    if (rc != 0) {
        char *text =
            text_format("point %zu cannot be written to %s: %s", campaign_point_number(c), c->dir->path, strerror(-rc));
        campaign_fail(c, EXIT_STATUS_COULD_NOT_RUN, text);
        free(text);
        return;
    }
    progress_point_done(&c->progress, &point, mono_now());
    char response[TEXT_MS_BYTES];
    log_info("point %zu: %.1f ops/s achieved, %s, %s", campaign_point_number(c), point.achieved_ops_per_s,
             text_ms(response, point.response_ms, 3), point.is_valid ? "valid" : "invalid");
    after_point(c, point.achieved_ops_per_s);
    point_fini(&point);
    go_on(c);
}

void campaign_on_monitor_idle(void *arg)
{
    struct campaign *c = arg;
    if (c->state == CAMPAIGN_MONITORING) {
        campaign_next_point(c);
    }
}

void campaign_end_stop(struct campaign *c)
{
    if (!c->is_point_cut) {
        campaign_begin_release(c);
        return;
    }
    if (c->monitor != NULL) {
        monitor_call(c->monitor, "DONE", campaign_point_number(c), c->layouts[c->point].requested_ops_per_s);
    }
    campaign_arm_patience(c, SAVE_PATIENCE_MS);
    begin_collect(c, CAMPAIGN_SAVING);
}

void campaign_end_saving(struct campaign *c)
{
    struct point_result point;
    char *path = run_dir_file(c->dir, "interrupted");
    free(c->broken);
    c->broken = strdup("interrupted before the run was over");
    if (path != NULL && run_dir_make_points(c->dir, "interrupted") == 0 && write_point(c, path, &point) == 0) {
        log_info("the interrupted point is kept in %s", path);
        point_fini(&point);
    }
    free(path);
    campaign_begin_release(c);
}
