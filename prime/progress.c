/* progress.c - see progress.h. */
#include "progress.h"

#include "cluster.h"
#include "result.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PLAIN_EVERY_NS (10 * NS_PER_S)

void progress_init(struct progress *p, FILE *out, bool is_quiet, size_t n_points, double phases_s, mono_t now)
{
    *p = (struct progress){.out = out,
                           .is_tty = isatty(fileno(out)) == 1,
                           .is_quiet = is_quiet,
                           .n_points = n_points,
                           .phases_s = phases_s};
    p->started = p->phase_started = p->last_plain = p->point_started = now;
    p->phase = "start";
}

void progress_clear(struct progress *p)
{
    if (p->is_line_open) {
        fprintf(p->out, "\r\033[K");
    }
    p->is_line_open = false;
    fflush(p->out);
}

static void format_seconds(double s, char *out, size_t cap)
{
    uint64_t whole = s > 0 ? (uint64_t)(s + 0.5) : 0;
    if (whole >= 3600) {
        snprintf(out, cap, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, whole / 3600, whole / 60 % 60, whole % 60);
    } else {
        snprintf(out, cap, "%" PRIu64 ":%02" PRIu64, whole / 60, whole % 60);
    }
}

static void print_head(const struct progress *p)
{
    if (p->point > 0) {
        fprintf(p->out, "point %zu/%zu %-8s", p->point, p->n_points, p->phase);
    } else {
        fprintf(p->out, "%-8s", p->phase);
    }
}

/* A line for what has no figures yet. */
static void print_phase(struct progress *p)
{
    if (p->is_quiet) {
        return;
    }
    progress_clear(p);
    print_head(p);
    if (p->point > 0) {
        fprintf(p->out, "  %g ops/s asked", p->requested_ops_per_s);
    }
    if (!p->is_tty) {
        fputc('\n', p->out);
    }
    p->is_line_open = p->is_tty;
    fflush(p->out);
}

void progress_phase(struct progress *p, const char *phase, mono_t now)
{
    p->phase = phase;
    p->is_loading = strcmp(phase, "load") == 0;
    p->phase_started = now;
    p->last_plain = now;
    print_phase(p);
}

void progress_point(struct progress *p, size_t point, double requested_ops_per_s, mono_t now)
{
    p->point = point;
    p->requested_ops_per_s = requested_ops_per_s;
    p->point_started = now;
}

/* What a point costs beyond its phases: known from the ones before, or guessed from how far this one has come. */
static double overhead_s(const struct progress *p, double phase_left_s, mono_t now)
{
    if (p->n_points_done > 0) {
        return p->overhead_s / (double)p->n_points_done;
    }
    if (p->is_loading) {
        return (double)mono_since_ns(p->phase_started, p->point_started) / 1e9;
    }
    return (double)mono_since_ns(now, p->point_started) / 1e9 + phase_left_s;
}

double progress_campaign_left_s(const struct progress *p, double phase_left_s, mono_t now)
{
    size_t points_after = p->n_points > p->point ? p->n_points - p->point : 0;
    double this_point_s = phase_left_s + (p->is_loading ? 0 : p->phases_s);
    return this_point_s + (double)points_after * (p->phases_s + overhead_s(p, phase_left_s, now));
}

static void print_load(struct progress *p, const struct cluster_progress *doing)
{
    static const char *const stages[] = {[CLUSTER_STEP_PREPARING] = "starting",
                                         [CLUSTER_STEP_WARMUP] = "warm-up",
                                         [CLUSTER_STEP_RUN] = "run",
                                         [CLUSTER_STEP_DRAINING] = "draining"};
    p->phase = stages[doing->stage];
    print_head(p);
    fprintf(p->out, "  %g ops/s asked, %.0f now, %.2f ms, %" PRIu64 " error%s", p->requested_ops_per_s,
            doing->ops_per_s, doing->response_ms, doing->n_errors, doing->n_errors == 1 ? "" : "s");
}

void progress_update(struct progress *p, const struct cluster_progress *doing, mono_t now)
{
    const char *phase = p->phase;
    bool is_due = p->is_tty || mono_since_ns(now, p->last_plain) >= PLAIN_EVERY_NS;
    if (p->is_quiet || !is_due) {
        return;
    }
    progress_clear(p);
    p->last_plain = now;

    double left_s = doing->seconds_left;
    if (p->is_loading) {
        print_load(p, doing);
    } else {
        print_head(p);
        fprintf(p->out, "  %" PRIu64 " of %" PRIu64, doing->done, doing->total);
        if (doing->n_errors > 0) {
            fprintf(p->out, ", %" PRIu64 " errors", doing->n_errors);
        }
        double spent_s = (double)mono_since_ns(now, p->phase_started) / 1e9;
        left_s = doing->done > 0 ? spent_s * (double)(doing->total - doing->done) / (double)doing->done : 0;
    }
    char phase_left[32], all_left[32];
    format_seconds(left_s, phase_left, sizeof phase_left);
    format_seconds(progress_campaign_left_s(p, left_s, now), all_left, sizeof all_left);
    fprintf(p->out, "; left: phase %s, campaign %s", phase_left, all_left);
    if (!p->is_tty) {
        fputc('\n', p->out);
    }
    p->is_line_open = p->is_tty;
    fflush(p->out);
    p->phase = phase;
}

void progress_point_done(struct progress *p, const struct point_result *r, mono_t now)
{
    p->n_points_done++;
    p->overhead_s += (double)mono_since_ns(now, p->point_started) / 1e9 - p->phases_s;
    if (p->is_quiet) {
        return;
    }
    progress_clear(p);
    char response[TEXT_MS_BYTES];
    fprintf(p->out, "point %zu/%zu: %g ops/s asked, %.1f achieved, %s, %" PRIu64 " failed, %s%s", p->point, p->n_points,
            r->requested_ops_per_s, r->achieved_ops_per_s, text_ms(response, r->response_ms, 2), r->n_failed,
            r->is_valid ? "valid" : "INVALID", r->is_saturated ? ", saturated" : "");
    size_t n = json_array_size(r->invalid_reasons);
    if (n > 0) {
        fprintf(p->out, ": %s", json_string_value(json_array_get(r->invalid_reasons, 0)));
    }
    if (n > 1) {
        fprintf(p->out, ", and %zu more", n - 1);
    }
    fputc('\n', p->out);
    fflush(p->out);
}
