#include "validity.h"
#include "result.h"

#include <math.h>
#include <stdio.h>

/* A loop that has no time to wait queues work that is ready: its times are its own. */
#define LOOP_FULL_PERCENT 95.0

/* Lateness counts when it is a fair part of what is measured, and more than a loaded host's scheduler noise. */
#define LATE_MIN_US 1000.0
#define LATE_SHARE  0.25
/* ... and sooner when throughput is missing: then it is also the reason. */
#define LATE_SHORT_MIN_US 500.0
#define LATE_SHORT_SHARE  0.10

/* Loops that have work and get no CPU for it: others on the host have it. A slow server leaves them waiting, not
 * starving. */
#define STARVED_PERCENT       40.0
#define STARVED_SHORT_PERCENT 15.0

/* With throughput missing, and our own lateness rather than the server's slots behind it, less lateness is proof
 * enough. */
#define LATE_ALONE_MIN_US  200.0
#define LATE_ALONE_PERCENT 2.0

static bool is_late_alone(const struct generator_evidence *e)
{
    return e->waited_for_us_percent > LATE_ALONE_PERCENT && e->waited_for_us_percent > 2 * e->waited_for_slot_percent &&
           e->lateness_mean_us > LATE_ALONE_MIN_US && e->lateness_mean_us > LATE_SHORT_SHARE * e->response_mean_us;
}

bool validity_is_generator_limited(const struct generator_evidence *e, char *why, size_t cap)
{
    if (e->cpu_percent_max >= LOOP_FULL_PERCENT) {
        snprintf(why, cap, "generator-limited: its busiest loop used %.0f %% of a CPU", e->cpu_percent_max);
        return true;
    }
    if (e->busy_percent >= LOOP_FULL_PERCENT) {
        snprintf(why, cap, "generator-limited: its loops were busy %.0f %% of the run", e->busy_percent);
        return true;
    }
    bool is_short = e->achieved_percent < VALIDITY_SATURATED_PERCENT;
    if (e->starved_percent >= (is_short ? STARVED_SHORT_PERCENT : STARVED_PERCENT)) {
        snprintf(why, cap, "generator-limited: its loops had work and no CPU for %.0f %% of the run",
                 e->starved_percent);
        return true;
    }
    double min_us = is_short ? LATE_SHORT_MIN_US : LATE_MIN_US;
    double share = is_short ? LATE_SHORT_SHARE : LATE_SHARE;
    if ((e->lateness_mean_us > min_us && e->lateness_mean_us > share * e->response_mean_us) ||
        (is_short && is_late_alone(e))) {
        snprintf(why, cap,
                 "generator-limited: ops that could go were sent %.2f ms late on average (p99 %.2f ms), against %.2f "
                 "ms of response time",
                 e->lateness_mean_us / 1e3, e->lateness_p99_us / 1e3, e->response_mean_us / 1e3);
        return true;
    }
    return false;
}

static void check_mix(struct point_result *p)
{
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        const struct op_figures *f = &p->ops[op];
        if (!f->is_present || isnan(f->target_percent) || isnan(f->percent)) {
            continue;
        }
        /* the margin of one part in 10^9 is for the division, not for the rule */
        if (fabs(f->percent - f->target_percent) > VALIDITY_MIX_POINTS + 1e-9) {
            point_invalidate(p, "mix: %s is %.2f %% of the operations, target %.2f %% (at most %.1f points off)",
                             nfs_op_name(op), f->percent, f->target_percent, VALIDITY_MIX_POINTS);
        }
    }
}

static void check_run_length(struct point_result *p)
{
    double limit = p->run_s * VALIDITY_RUN_LENGTH_PERCENT / 100;
    if (isnan(p->run_s) || isnan(p->shortest_run_s) || isnan(p->longest_run_s)) {
        return;
    }
    if (p->run_s - p->shortest_run_s > limit) {
        point_invalidate(p, "run length: a process recorded %.3f s of %.3f s", p->shortest_run_s, p->run_s);
    }
    if (p->longest_run_s - p->run_s > limit) {
        point_invalidate(p, "run length: a process recorded %.3f s, longer than %.3f s", p->longest_run_s, p->run_s);
    }
}

void validity_check_point(struct point_result *p, double n_good_rpcs)
{
    for (size_t i = 0; i < p->n_lost; i++) {
        const struct lost_process *l = &p->lost[i];
        if (l->process < 0) {
            point_invalidate(p, "lost: load generator %s at %.1f s: %s", l->loadgen, l->at_s, l->reason);
        } else {
            point_invalidate(p, "lost: load generator %s process %lld at %.1f s: %s", l->loadgen, (long long)l->process,
                             l->at_s, l->reason);
        }
    }
    if (p->n_ops == 0) {
        point_invalidate(p, "no operation succeeded");
    } else {
        check_mix(p);
        if ((double)p->n_failed >= n_good_rpcs * VALIDITY_FAILED_PERCENT / 100 && p->n_failed > 0) {
            point_invalidate(p, "failures: %llu RPCs failed, %.2f %% of the good ones (below %.0f %% is allowed)",
                             (unsigned long long)p->n_failed, 100.0 * (double)p->n_failed / n_good_rpcs,
                             VALIDITY_FAILED_PERCENT);
        }
    }
    check_run_length(p);
    p->is_saturated =
        p->requested_ops_per_s > 0 && p->achieved_ops_per_s < p->requested_ops_per_s * VALIDITY_SATURATED_PERCENT / 100;
    if (p->is_saturated) {
        point_note(p, "saturated: %.1f %% of the requested load was achieved",
                   100 * p->achieved_ops_per_s / p->requested_ops_per_s);
    }
}
