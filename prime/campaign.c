/* campaign.c - see campaign.h. What comes in from the cluster, the launcher and signals, and the one switch that says
 * what follows. */
#include "campaign_internal.h"

#include "campaign_config.h"
#include "campaign_layout.h"
#include "cluster.h"
#include "log.h"
#include "monitor.h"
#include "text.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long an interrupted campaign waits for the load generators before it leaves them to their leases. */
#define STOP_PATIENCE_MS    900
#define RELEASE_PATIENCE_MS 2000
#define HURRY_PATIENCE_MS   300

/* The monitor's START comes so much before the recorded run. */
#define MONITOR_AHEAD_S 1.0

static void end_campaign(struct campaign *c)
{
    c->state = CAMPAIGN_ENDED;
    event_base_loopbreak(c->base);
}

void campaign_arm_patience(struct campaign *c, int ms)
{
    struct timeval tv = {ms / 1000, (ms % 1000) * 1000};
    event_add(c->patience, &tv);
}

/* Ends the campaign early with one message; the first reason counts. */
void campaign_fail(struct campaign *c, enum exit_status status, const char *message)
{
    if (c->stopped == NULL) {
        progress_clear(&c->progress);
        log_error("%s", message);
        c->stopped = strdup(message);
        c->status = status;
    }
    campaign_begin_release(c);
}

/* Ends what the cluster is doing; on_step goes on from there, or patience does. */
static void begin_stop(struct campaign *c)
{
    c->state = CAMPAIGN_STOPPING;
    campaign_arm_patience(c, STOP_PATIENCE_MS);
    cluster_stop_phase(c->cluster);
}

void campaign_begin_release(struct campaign *c)
{
    if (c->state >= CAMPAIGN_RELEASING) {
        return;
    }
    if (c->cluster == NULL) {
        end_campaign(c);
    } else if (c->is_step_running) {
        begin_stop(c);
    } else {
        c->state = CAMPAIGN_RELEASING;
        campaign_arm_patience(c, c->is_interrupted ? HURRY_PATIENCE_MS : RELEASE_PATIENCE_MS);
        c->is_step_running = true;
        cluster_release(c->cluster);
    }
}

/* A load generator that does not answer must not hold up the end: its lease runs out by itself. */
void campaign_on_patience(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end_campaign(arg);
}

void campaign_on_signal(evutil_socket_t number, short what, void *arg)
{
    (void)what;
    struct campaign *c = arg;
    if (c->is_interrupted || c->state >= CAMPAIGN_RELEASING) {
        end_campaign(c); /* the second time means now, and so does the first when nothing is left to keep */
        return;
    }
    progress_clear(&c->progress);
    fprintf(stderr, "nfscurve: interrupted, stopping the load (once more leaves at once)\n");
    log_info("interrupted by signal %d", (int)number);
    c->is_interrupted = true;
    c->status = EXIT_STATUS_INTERRUPTED;
    if (c->stopped == NULL) {
        c->stopped = strdup("interrupted");
    }
    /* A point that is being collected is finished: a moment, and it is on disk. */
    if (c->state != CAMPAIGN_COLLECTING) {
        c->is_point_cut = c->state == CAMPAIGN_LOADING && c->is_run_recorded;
        campaign_begin_release(c);
    }
}

static void keep_facts(struct campaign *c)
{
    c->facts = calloc(c->config->n_loadgens, sizeof *c->facts);
    for (size_t g = 0; c->facts != NULL && g < c->config->n_loadgens; g++) {
        c->facts[g] = *cluster_facts(c->cluster, (uint32_t)g);
    }
}

static void fail_step(struct campaign *c, int error, const char *message)
{
    char *text = NULL;
    if (error == -EHOSTUNREACH) {
        text = text_format("%s; start nfscurve-loadgen there, or correct host and port in the campaign", message);
    }
    campaign_fail(c, EXIT_STATUS_COULD_NOT_RUN, text != NULL ? text : message);
    free(text);
}

void campaign_on_step(struct cluster *cluster, int error, const char *message, void *arg)
{
    (void)cluster;
    struct campaign *c = arg;
    c->is_step_running = false;
    switch (c->state) {
    case CAMPAIGN_LOADING:
        campaign_end_load(c, error, message);
        return;
    case CAMPAIGN_COLLECTING:
        campaign_end_collect(c, error, message);
        return;
    case CAMPAIGN_STOPPING:
        campaign_end_stop(c);
        return;
    case CAMPAIGN_SAVING:
        campaign_end_saving(c);
        return;
    case CAMPAIGN_RELEASING:
        end_campaign(c);
        return;
    case CAMPAIGN_LAUNCHING:
    case CAMPAIGN_MONITORING:
    case CAMPAIGN_ENDED:
        return; /* no step is under way */
    default:
        break;
    }
    if (error != 0) {
        fail_step(c, error, message);
        return;
    }
    switch (c->state) {
    case CAMPAIGN_CONNECTING:
        keep_facts(c);
        campaign_begin_configure(c);
        return;
    case CAMPAIGN_CONFIGURING:
        if (c->validate_level > 0) {
            campaign_begin_validate(c);
        } else {
            campaign_next_point(c);
        }
        return;
    case CAMPAIGN_VALIDATING:
        campaign_end_validation(c);
        return;
    case CAMPAIGN_POPULATING:
        campaign_begin_load(c);
        return;
    default: /* CAMPAIGN_CLEANING */
        campaign_begin_release(c);
        return;
    }
}

static void schedule_monitor(struct campaign *c, double seconds_left)
{
    double wait_s = seconds_left - c->config->run_s - MONITOR_AHEAD_S;
    if (wait_s < 0) {
        wait_s = 0;
    }
    struct timeval tv = {(time_t)wait_s, (suseconds_t)((wait_s - (double)(time_t)wait_s) * 1e6)};
    event_add(c->monitor_start, &tv);
    c->is_monitor_due = false;
}

void campaign_on_monitor_start(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct campaign *c = arg;
    if (c->state == CAMPAIGN_LOADING) {
        monitor_call(c->monitor, "START", campaign_point_number(c), c->layouts[c->point].requested_ops_per_s);
    }
}

void campaign_on_progress(struct cluster *cluster, const struct cluster_progress *doing, void *arg)
{
    (void)cluster;
    struct campaign *c = arg;
    if (c->state == CAMPAIGN_LOADING) {
        if (c->is_monitor_due && doing->stage != CLUSTER_STEP_PREPARING) {
            schedule_monitor(c, doing->seconds_left);
        }
        if (doing->stage == CLUSTER_STEP_RUN || doing->stage == CLUSTER_STEP_DRAINING) {
            c->is_run_recorded = true;
        }
    }
    progress_update(&c->progress, doing, mono_now());
}

void campaign_on_lost(struct cluster *cluster, uint32_t loadgen, int32_t process, const char *reason, void *arg)
{
    (void)cluster;
    struct campaign *c = arg;
    progress_clear(&c->progress);
    const char *name = c->config->loadgens[loadgen].name;
    /* Only for the log: the step that it breaks ends with the message for the user. */
    if (process < 0) {
        log_info("load generator %s lost: %s", name, reason);
    } else {
        log_info("load generator %s process %d lost: %s", name, process, reason);
    }
    if (c->state != CAMPAIGN_LOADING && c->state != CAMPAIGN_COLLECTING) {
        return;
    }
    struct campaign_loss *grown = realloc(c->losses, (c->n_losses + 1) * sizeof *grown);
    if (grown == NULL) {
        return;
    }
    c->losses = grown;
    grown[c->n_losses++] = (struct campaign_loss){.loadgen = loadgen,
                                                  .process = process,
                                                  .reason = strdup(reason),
                                                  .at_ns = mono_since_ns(mono_now(), c->load_started)};
}

void campaign_on_child_death(struct launcher *launcher, const char *name, const char *how, void *arg)
{
    (void)launcher;
    struct campaign *c = arg;
    char *message = text_format("%s: %s", name, how);
    progress_clear(&c->progress);
    bool is_target = strncmp(name, "target-", 7) == 0;
    if (!is_target || c->state >= CAMPAIGN_STOPPING) {
        log_error("%s", message); /* a load generator's end is told by its connection, too */
    } else if (c->state == CAMPAIGN_LOADING) {
        c->is_point_broken = true;
        free(c->broken);
        c->broken = strdup(message);
        cluster_stop_phase(c->cluster); /* then end_load, with what was measured */
    } else {
        campaign_fail(c, EXIT_STATUS_COULD_NOT_RUN, message);
    }
    free(message);
}
