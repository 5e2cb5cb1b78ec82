/* daemon.c - see daemon.h. */
#include "daemon.h"

#include "campaign.h"
#include "host_facts.h"
#include "interval_log.h"
#include "log.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The prime promises that load ends within a second; a process has 500 ms for it. */
#define STOP_PATIENCE_NS (700 * NS_PER_MS)
/* A process that is asked to leave has nothing to save: its figures are in shared memory. */
#define LEAVE_PATIENCE_NS (300 * NS_PER_MS)

struct daemon {
    struct event_base *base;
    struct daemon_options options;
    struct event *on_lease, *on_stop_patience, *on_run_begin, *on_run_end;

    struct campaign *campaign; /* NULL: free */
    struct supervisor *supervisor;
    uint64_t session;
    mono_t lease_until;
    uint64_t ended_session; /* the last one that lost the lease, and why */
    char ended_why[256];

    uint32_t serial;                            /* of the last phase; 0: none */
    mono_t load_start, run_start;               /* of the last LOAD, as intended */
    struct host_cpu cpu_at_start, cpu_at_begin; /* of the load, of its recorded run */
    double host_cpu_percent;
};

static void arm(struct event *e, int64_t in_ns)
{
    if (in_ns < 0) {
        in_ns = 0;
    }
    struct timeval tv = {.tv_sec = in_ns / NS_PER_S, .tv_usec = (in_ns % NS_PER_S) / NS_PER_US};
    evtimer_add(e, &tv);
}

/* The one way to FREE: every process is gone when it returns. */
static void end_campaign(struct daemon *d, const char *why)
{
    if (!d->campaign) {
        return;
    }
    log_info("campaign %s from %s: %s", d->campaign->name, d->campaign->prime_host, why);
    event_del(d->on_lease);
    event_del(d->on_stop_patience);
    event_del(d->on_run_begin);
    event_del(d->on_run_end);
    supervisor_destroy(d->supervisor, LEAVE_PATIENCE_NS);
    campaign_destroy(d->campaign);
    d->supervisor = NULL;
    d->campaign = NULL;
    d->ended_session = d->session;
    snprintf(d->ended_why, sizeof(d->ended_why), "%s", why);
    d->session = 0;
    d->serial = 0;
    d->load_start = d->run_start = MONO_NEVER;
}

static void on_lease(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    char why[128];

    (void)fd;
    (void)what;
    int64_t left_ns = mono_since_ns(d->lease_until, mono_now());
    if (left_ns > 0) {
        arm(d->on_lease, left_ns + NS_PER_MS);
        return;
    }
    snprintf(why, sizeof(why), "the lease ran out (no sign of the prime for %.1f s): all load is stopped",
             (double)d->options.lease_ns / 1e9);
    end_campaign(d, why);
}

static void on_stop_patience(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;

    (void)fd;
    (void)what;
    for (uint32_t i = 0; d->supervisor && i < supervisor_n(d->supervisor); i++) {
        if (!supervisor_death_reason(d->supervisor, i) &&
            atomic_load(&supervisor_shared(d->supervisor, i)->done_serial) != d->serial) {
            supervisor_kill(d->supervisor, i, "it did not stop within 0.7 s");
        }
    }
}

static void on_run_begin(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;

    (void)fd;
    (void)what;
    d->cpu_at_begin = host_cpu_read();
}

static void on_run_end(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;

    (void)fd;
    (void)what;
    struct host_cpu now = host_cpu_read();
    /* On a starved host both timers may fire in one go; then the whole load has to do. */
    bool is_late = now.total == d->cpu_at_begin.total;
    d->host_cpu_percent = host_cpu_percent(is_late ? d->cpu_at_start : d->cpu_at_begin, now);
}

static void on_death(struct supervisor *s, uint32_t process, const char *reason, void *arg)
{
    struct daemon *d = arg;

    (void)s;
    log_error("campaign %s: process %u: %s", d->campaign->name, process, reason);
}

struct daemon *daemon_create(struct event_base *base, const struct daemon_options *options)
{
    struct daemon *d = calloc(1, sizeof(*d));

    if (!d) {
        return NULL;
    }
    d->base = base;
    d->options = *options;
    d->load_start = d->run_start = MONO_NEVER;
    d->on_lease = evtimer_new(base, on_lease, d);
    d->on_stop_patience = evtimer_new(base, on_stop_patience, d);
    d->on_run_begin = evtimer_new(base, on_run_begin, d);
    d->on_run_end = evtimer_new(base, on_run_end, d);
    if (!d->on_lease || !d->on_stop_patience || !d->on_run_begin || !d->on_run_end) {
        daemon_destroy(d);
        return NULL;
    }
    return d;
}

void daemon_destroy(struct daemon *d)
{
    struct event *events[] = {d->on_lease, d->on_stop_patience, d->on_run_begin, d->on_run_end};

    end_campaign(d, "the load generator ends");
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (events[i]) {
            event_free(events[i]);
        }
    }
    free(d);
}

int daemon_configure(struct daemon *d, uint64_t session, const struct daemon_config *config, char *message, size_t cap)
{
    struct campaign *c = NULL;

    if (d->campaign && d->session != session) {
        snprintf(message, cap, "busy: held by campaign %s from %s", d->campaign->name, d->campaign->prime_host);
        return -EBUSY;
    }
    end_campaign(d, "configured anew");
    int error = campaign_create(d->options.filter, config, &c, message, cap);
    if (error) {
        return error;
    }
    struct supervisor_options options = {
        .process_main = d->options.process_main,
        .interval_log_bytes = interval_log_bytes(),
        .on_death = on_death,
        .arg = d,
    };
    d->campaign = c;
    d->supervisor = supervisor_create(d->base, &options, c->setups, c->n_processes, message, cap);
    if (!d->supervisor) {
        d->campaign = NULL;
        campaign_destroy(c);
        return -EAGAIN;
    }
    d->session = session;
    d->lease_until = mono_plus_ns(mono_now(), d->options.lease_ns);
    arm(d->on_lease, d->options.lease_ns);
    log_info("campaign %s from %s: %u processes, %u targets", c->name, c->prime_host, c->n_processes, c->n_targets);
    return 0;
}

int daemon_check_lease(struct daemon *d, uint64_t session, char *message, size_t cap)
{
    if (d->campaign && d->session == session) {
        d->lease_until = mono_plus_ns(mono_now(), d->options.lease_ns);
        return 0;
    }
    if (session == d->ended_session) {
        snprintf(message, cap, "%s", d->ended_why);
    } else {
        snprintf(message, cap, "no campaign was configured on this connection");
    }
    return -ENOLCK;
}

int daemon_set_layouts(struct daemon *d, const struct process_layout *layouts, uint32_t n, char *message, size_t cap)
{
    struct campaign *c = d->campaign;

    for (uint32_t i = 0; i < n; i++) {
        const struct process_layout *l = &layouts[i];
        if (l->process >= c->n_processes || l->target != c->process_targets[l->process] || !isfinite(l->ops_per_s) ||
            l->ops_per_s < 0) {
            snprintf(message, cap, "the layout of process %u does not fit the configuration", l->process);
            return -EINVAL;
        }
        c->layouts[l->process] = *l;
    }
    return 0;
}

/* A phase may start when every process is alive and idle. */
static int check_idle(struct daemon *d, char *message, size_t cap)
{
    for (uint32_t i = 0; i < d->campaign->n_processes; i++) {
        const char *reason = supervisor_death_reason(d->supervisor, i);
        if (reason) {
            snprintf(message, cap, "process %u: %s", i, reason);
            return -ESRCH;
        }
        uint32_t state = atomic_load(&supervisor_shared(d->supervisor, i)->state);
        if (state != PROCESS_IDLE) {
            snprintf(message, cap, "process %u is not idle (state %u)", i, state);
            return -EINVAL;
        }
    }
    return 0;
}

static enum process_command_kind command_kind(enum daemon_phase_kind kind)
{
    static const enum process_command_kind kinds[] = {
        [DAEMON_VALIDATE] = PROCESS_DO_VALIDATE,
        [DAEMON_POPULATE] = PROCESS_DO_POPULATE,
        [DAEMON_LOAD] = PROCESS_DO_LOAD,
        [DAEMON_CLEAN] = PROCESS_DO_CLEAN,
    };

    return kinds[kind];
}

int daemon_start(struct daemon *d, const struct daemon_phase *phase, char *message, size_t cap)
{
    int error = check_idle(d, message, cap);

    if (error) {
        return error;
    }
    if (phase->serial == 0 || phase->serial == d->serial || phase->warmup_ns < 0 || phase->run_ns < 0) {
        snprintf(message, cap, "the phase's serial or spans cannot be");
        return -EINVAL;
    }
    event_del(d->on_stop_patience);
    d->serial = phase->serial;
    for (uint32_t i = 0; i < d->campaign->n_processes; i++) {
        struct process_command command = {
            .kind = command_kind(phase->kind),
            .serial = phase->serial,
            .layout = d->campaign->layouts[i],
            .validate_level = phase->validate_level,
            .start_at = phase->start_at,
            .warmup_ns = phase->warmup_ns,
            .run_ns = phase->run_ns,
        };
        error = supervisor_command(d->supervisor, i, &command);
        if (error) {
            snprintf(message, cap, "process %u takes no command: %s", i, strerror(-error));
            return error;
        }
    }
    if (phase->kind == DAEMON_LOAD) {
        int64_t begin_in_ns = mono_since_ns(phase->start_at, mono_now()) + phase->warmup_ns;
        d->load_start = phase->start_at;
        d->run_start = mono_plus_ns(phase->start_at, phase->warmup_ns);
        d->host_cpu_percent = 0;
        d->cpu_at_start = d->cpu_at_begin = host_cpu_read();
        arm(d->on_run_begin, begin_in_ns);
        arm(d->on_run_end, begin_in_ns + phase->run_ns);
    }
    return 0;
}

void daemon_stop(struct daemon *d)
{
    struct process_command command = {.kind = PROCESS_DO_STOP, .serial = d->serial};

    if (!d->serial) {
        return;
    }
    event_del(d->on_run_begin);
    event_del(d->on_run_end);
    for (uint32_t i = 0; i < d->campaign->n_processes; i++) {
        supervisor_command(d->supervisor, i, &command);
    }
    arm(d->on_stop_patience, STOP_PATIENCE_NS);
}

void daemon_release(struct daemon *d, const char *why)
{
    end_campaign(d, why);
}

void daemon_session_ended(struct daemon *d, uint64_t session)
{
    if (d->campaign && d->session == session) {
        end_campaign(d, "the prime's connection is gone: all load is stopped");
    }
}

struct daemon_holder daemon_holder(const struct daemon *d)
{
    struct daemon_holder h = {NULL, NULL};

    if (d->campaign) {
        h = (struct daemon_holder){d->campaign->name, d->campaign->prime_host};
    }
    return h;
}

int64_t daemon_lease_ns(const struct daemon *d)
{
    return d->options.lease_ns;
}

const struct supervisor *daemon_supervisor(const struct daemon *d)
{
    return d->supervisor;
}

uint32_t daemon_process_target(const struct daemon *d, uint32_t process)
{
    assert(d->campaign && process < d->campaign->n_processes);
    return d->campaign->process_targets[process];
}

mono_t daemon_load_start(const struct daemon *d)
{
    return d->load_start;
}

mono_t daemon_run_start(const struct daemon *d)
{
    return d->run_start;
}

double daemon_host_cpu_percent(const struct daemon *d)
{
    return d->host_cpu_percent;
}
