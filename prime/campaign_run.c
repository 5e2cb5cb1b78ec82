/* campaign_run.c - makes a campaign, turns its loop until it has ended, and reports. */
#include "campaign_internal.h"

#include "campaign_config.h"
#include "cluster.h"
#include "launcher.h"
#include "log.h"
#include "monitor.h"
#include "report.h"
#include "run_dir.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int campaign_init(struct campaign *c, const struct campaign_options *options)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct launcher_events launcher_events = {.on_ready = campaign_on_launched,
                                                    .on_death = campaign_on_child_death};
    *c = (struct campaign){.config = options->config,
                           .layouts = options->layouts,
                           .dir = options->dir,
                           .goal = options->goal,
                           .validate_level = options->validate_level,
                           .status = EXIT_STATUS_VALID,
                           .started_at = wall_now()};
    c->base = event_base_new();
    c->target_children = calloc(options->config->n_targets, sizeof *c->target_children);
    c->awaits_answer = calloc(options->config->n_targets, sizeof *c->awaits_answer);
    c->loadgen_children = calloc(options->config->n_loadgens, sizeof *c->loadgen_children);
    if (c->base == NULL || c->target_children == NULL || c->loadgen_children == NULL || c->awaits_answer == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        c->signals[i] = evsignal_new(c->base, numbers[i], campaign_on_signal, c);
        if (c->signals[i] == NULL || event_add(c->signals[i], NULL) != 0) {
            return -ENOMEM;
        }
    }
    c->patience = evtimer_new(c->base, campaign_on_patience, c);
    c->monitor_start = evtimer_new(c->base, campaign_on_monitor_start, c);
    c->latency_answers = evtimer_new(c->base, campaign_on_latency_answers, c);
    c->launcher = launcher_create(c->base, options->dir->path, &launcher_events, c);
    if (c->patience == NULL || c->monitor_start == NULL || c->latency_answers == NULL || c->launcher == NULL) {
        return -ENOMEM;
    }
    if (options->config->monitor_script[0] != '\0' && options->goal == CAMPAIGN_MEASURE) {
        char *log_file = run_dir_file(options->dir, "monitor.log");
        c->monitor =
            log_file != NULL ? monitor_create(c->base, options->config, log_file, campaign_on_monitor_idle, c) : NULL;
        free(log_file);
        if (c->monitor == NULL) {
            return -ENOMEM;
        }
    }
    bool has_points = options->goal == CAMPAIGN_MEASURE;
    double phases_s = has_points ? options->config->warmup_s + options->config->run_s : 0;
    size_t n_points = has_points ? options->config->n_loads * (size_t)options->dir->n_repeats : 0;
    progress_init(&c->progress, stderr, options->is_quiet, n_points, phases_s, mono_now());
    return 0;
}

static void campaign_fini(struct campaign *c)
{
    campaign_forget_losses(c);
    free(c->broken);
    free(c->stopped);
    free(c->facts);
    json_decref(c->findings);
    free(c->awaits_answer);
    free(c->target_children);
    free(c->loadgen_children);
}

/* Everything that runs or listens is gone after this. */
static void stop_everything(struct campaign *c)
{
    cluster_destroy(c->cluster);
    c->cluster = NULL;
    monitor_destroy(c->monitor);
    c->monitor = NULL;
    launcher_destroy(c->launcher);
    c->launcher = NULL;
    for (size_t i = 0; i < sizeof c->signals / sizeof c->signals[0]; i++) {
        if (c->signals[i] != NULL) {
            event_free(c->signals[i]);
        }
    }
    if (c->patience != NULL) {
        event_free(c->patience);
    }
    if (c->monitor_start != NULL) {
        event_free(c->monitor_start);
    }
    if (c->latency_answers != NULL) {
        event_free(c->latency_answers);
    }
    if (c->base != NULL) {
        event_base_free(c->base);
    }
}

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 100;
}

static void report(struct campaign *c)
{
    struct campaign_result_facts facts = {.config = c->config,
                                          .loadgens = c->facts,
                                          .findings = c->findings,
                                          .stopped = c->stopped,
                                          .started_at = c->started_at,
                                          .finished_at = wall_now()};
    struct result result;
    int rc = campaign_write_results(&facts, c->dir, &result);
    if (rc != 0) {
        log_error("results cannot be written to %s: %s; finished points are in its points directory", c->dir->path,
                  strerror(-rc));
        if (c->status == EXIT_STATUS_VALID) {
            c->status = EXIT_STATUS_COULD_NOT_RUN;
        }
    }
    if (result.n_points > 0) {
        report_render_text(&result, terminal_columns(), isatty(STDOUT_FILENO) == 1, stdout);
        if (rc == 0) {
            printf("\nrun directory %s: result.json, report.html, curve.svg, curve.csv, sfssum\n", c->dir->path);
        } else {
            printf("\nrun directory %s is incomplete: %s; when that is mended: nfscurve run --resume %s\n",
                   c->dir->path, strerror(-rc), c->dir->path);
        }
        if (c->stopped != NULL) {
            printf("stopped early: %s\ngo on with: nfscurve run --resume %s\n", c->stopped, c->dir->path);
        }
    }
    /* What stops a campaign that has measured something leaves a result, and that is invalid: "could not run" is for
     * none. */
    bool has_lost_the_rest = c->status == EXIT_STATUS_COULD_NOT_RUN && rc == 0 && result.n_points > 0;
    if ((c->status == EXIT_STATUS_VALID && !result.is_valid) || has_lost_the_rest) {
        c->status = EXIT_STATUS_INVALID;
    }
    result_fini(&result);
}

int campaign_run(const struct campaign_options *options)
{
    struct campaign c;
    if (campaign_init(&c, options) != 0) {
        log_error("out of memory");
        c.status = EXIT_STATUS_COULD_NOT_RUN;
    } else {
        campaign_begin_launch(&c);
        if (c.state != CAMPAIGN_ENDED) {
            event_base_dispatch(c.base);
        }
        progress_clear(&c.progress);
    }
    stop_everything(&c);
    if (options->goal == CAMPAIGN_MEASURE) {
        report(&c);
    }
    int status = c.status;
    campaign_fini(&c);
    return status;
}
