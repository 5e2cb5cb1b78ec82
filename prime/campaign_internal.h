/* campaign_internal.h - inside the campaign: its state, and the transitions that its files offer each other. Only
 * campaign*.c of the state machine include it.
 *
 *   campaign.c         the machine: what the cluster, the launcher and signals report, and which transition follows
 *   campaign_setup.c   launch, connect, configure, validate
 *   campaign_latency.c   the latency of local targets, off while they are filled
 *   campaign_point.c   populate, load, collect; the next point
 *   campaign_run.c     making one, running its loop, the report at the end
 */
#ifndef NFSCURVE_PRIME_CAMPAIGN_INTERNAL_H
#define NFSCURVE_PRIME_CAMPAIGN_INTERNAL_H

#include "campaign.h"
#include "campaign_result.h"
#include "clock.h"
#include "exit_status.h"
#include "progress.h"

#include <event2/util.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct campaign_target;
struct cluster;
struct cluster_progress;
struct event;
struct event_base;
struct launcher;
struct loadgen_facts;
struct monitor;

enum campaign_state {
    CAMPAIGN_LAUNCHING,   /* local programs are starting */
    CAMPAIGN_CONNECTING,  /* hello to every load generator */
    CAMPAIGN_CONFIGURING, /* processes forked, targets mounted */
    CAMPAIGN_VALIDATING,  /* every NFS procedure is checked */
    CAMPAIGN_SWITCHING,   /* local targets put their latency on or off */
    CAMPAIGN_POPULATING,  /* the fileset is topped up for the next point */
    CAMPAIGN_LOADING,     /* warm-up and run */
    CAMPAIGN_COLLECTING,  /* histograms and counters come in */
    CAMPAIGN_MONITORING,  /* the monitor script's DONE has not ended yet */
    CAMPAIGN_CLEANING,    /* the fileset is removed */
    CAMPAIGN_STOPPING,    /* interrupted: the phase under way is being ended */
    CAMPAIGN_SAVING,      /* interrupted: what the unfinished point measured is collected */
    CAMPAIGN_RELEASING,   /* leases given back */
    CAMPAIGN_ENDED
};

struct campaign {
    const struct campaign_config *config; /* (ref) as everything of the options */
    const struct campaign_layout *layouts;
    const struct run_dir *dir;
    enum campaign_goal goal;
    uint32_t validate_level;

    enum campaign_state state;
    bool is_step_running;  /* the cluster owes an on_step */
    int repeat;            /* of dir->n_repeats, from 0 */
    uint32_t point;        /* index into layouts */
    double best_ops_per_s; /* of the present sweep */

    struct event_base *base;
    struct event *signals[3], *patience, *monitor_start, *latency_answers;
    struct launcher *launcher;
    struct monitor *monitor; /* NULL without a script */
    struct cluster *cluster; /* NULL before connecting */
    struct progress progress;

    /* children of the launcher, -1 when the campaign names a real host */
    int *target_children, *loadgen_children;
    bool *awaits_answer; /* of the targets: told to change their latency */

    /* while switching: what follows, and when the targets were told */
    void (*after_switch)(struct campaign *c);
    mono_t switch_started;

    /* the point under way */
    mono_t load_started;
    wall_t point_started_at;
    bool is_run_recorded; /* its recorded run has begun */
    bool is_point_cut;    /* interrupted after that */
    bool is_monitor_due;  /* the monitor's START is still to be scheduled */
    bool is_point_broken; /* it cannot be finished; broken says why */
    char *broken;
    struct campaign_loss *losses;
    size_t n_losses;

    /* the outcome */
    enum exit_status status;
    bool is_interrupted;
    char *stopped; /* why the sweep ended early; NULL */
    struct loadgen_facts *facts;
    json_t *findings;
    wall_t started_at;
};

/* --- campaign.c --- */

/* Ends the campaign early with one message; the first reason counts. */
void campaign_fail(struct campaign *c, enum exit_status status, const char *message);

/* Leases are given back, after what the cluster is doing was stopped; then the campaign ends. */
void campaign_begin_release(struct campaign *c);

/* After so long the campaign ends, whatever is still under way. */
void campaign_arm_patience(struct campaign *c, int ms);
void campaign_on_patience(evutil_socket_t fd, short what, void *arg);
void campaign_on_signal(evutil_socket_t number, short what, void *arg);

void campaign_on_step(struct cluster *cluster, int error, const char *message, void *arg);
void campaign_on_progress(struct cluster *cluster, const struct cluster_progress *doing, void *arg);
void campaign_on_lost(struct cluster *cluster, uint32_t loadgen, int32_t process, const char *reason, void *arg);
void campaign_on_child_death(struct launcher *launcher, const char *name, const char *how, void *arg);
void campaign_on_monitor_start(evutil_socket_t fd, short what, void *arg);

/* --- campaign_setup.c --- */
void campaign_begin_launch(struct campaign *c);
void campaign_on_launched(struct launcher *launcher, int error, const char *message, void *arg);
void campaign_begin_configure(struct campaign *c);
void campaign_begin_validate(struct campaign *c);
void campaign_end_validation(struct campaign *c);

/* --- campaign_latency.c --- */

/* Heap, or NULL: the control file of a local target. */
char *campaign_control_file(const struct campaign *c, const struct campaign_target *t);

/* What local targets that run are to do, or those that start later. False after campaign_fail. */
bool campaign_write_local_latency(struct campaign *c, bool is_on);

/* Local targets play their latency model, or answer at once; `next` when all have said that they do. */
void campaign_switch_local_latency(struct campaign *c, bool is_on, void (*next)(struct campaign *c));
void campaign_on_latency_answers(evutil_socket_t fd, short what, void *arg);

/* --- campaign_point.c --- */
size_t campaign_point_number(const struct campaign *c); /* from 1, over all repeats */

/* Populates the first point at or after the present one that is to be measured, or ends the sweep. */
void campaign_next_point(struct campaign *c);
void campaign_begin_load(struct campaign *c);

/* The load ended: as it should, or broken with `message`. What was measured is collected either way. */
void campaign_end_load(struct campaign *c, int error, const char *message);
void campaign_end_collect(struct campaign *c, int error, const char *message);

/* The end of a point that was interrupted: after its load stopped, and after what it measured came in. */
void campaign_end_stop(struct campaign *c);
void campaign_end_saving(struct campaign *c);
void campaign_on_monitor_idle(void *arg);
void campaign_forget_losses(struct campaign *c);

#endif
