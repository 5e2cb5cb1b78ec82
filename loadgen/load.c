/* load.c - see load.h. */
#include "load.h"

#include "process_usage.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define WAIT_NS             NS_PER_MS        /* until a request looks for a file again */
#define COOL_NS             (10 * NS_PER_MS) /* after a request that could not send anything */
#define AHEAD_MAX_OPS_PER_S 10000 /* of a process: waiting out wake-ups takes up to a quarter of its time then */
#define DRAIN_GRACE_NS      (2 * NS_PER_S) /* beyond the time-out of the calls under way */

static void pump(struct load *load);

/* One timer for everything, on the absolute clock: libevent's relative timeouts count from the time its loop woke up.
 */
static void arm(struct load *load)
{
    mono_t at = load->is_draining ? load->drain_until : pacer_next(&load->pacer);
    if (!load->is_draining && mono_before(load->end, at)) {
        at = load->end;
    }
    if (!load->is_run && !load->is_draining && mono_before(load->record.start, at)) {
        at = load->record.start;
    }
    for (uint32_t i = 0; load->n_pausing > 0 && i < load->n_requests; i++) {
        const struct request *r = &load->requests[i];
        if ((r->state == REQUEST_WAITING || r->state == REQUEST_COOLING) && mono_before(r->state_until, at)) {
            at = r->state_until;
        }
    }
    if (at.ns == load->timer_at.ns) {
        return;
    }
    load->timer_at = at;
    if (load->is_ahead) {
        at = wakeup_ask(&load->wakeup, at, mono_now());
    }
    /* 0 would disarm it; a time in the past fires at once. */
    int64_t ns = at.ns > 0 ? at.ns : 1;
    struct itimerspec spec = {.it_value = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S}};
    timerfd_settime(load->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    struct load *load = arg;
    uint64_t n;
    if (read(fd, &n, sizeof n) != (ssize_t)sizeof n) {
        return;
    }
    load->timer_at = (mono_t){0};
    if (load->is_ahead) {
        mono_t now = mono_now();
        wakeup_came(&load->wakeup, now);
        wakeup_wait_out(pacer_next(&load->pacer), now);
    }
    pump(load);
}

static void end_load(struct load *load)
{
    if (load->has_ended) {
        return;
    }
    load->has_ended = true;
    event_del(load->timer_event);
    load->options.on_end(load, load->options.arg);
}

static void begin_run(struct load *load)
{
    load->is_run = true;
    pacer_rebase(&load->pacer);
    process_usage(&load->cpu_at_start_ns, &load->busy_at_start_ns);
    nfs3_client_counters(load->options.client, &load->counters_at_start);
    atomic_store(&load->options.shared->state, PROCESS_RUN);
    atomic_store(&load->options.shared->run_started_ns, load->record.start.ns);
}

/* The end of the recorded run: what is measured of ourselves is taken at once, before the last replies. */
static void begin_drain(struct load *load, mono_t now)
{
    if (load->is_draining) {
        return;
    }
    load->is_draining = true;
    load->drain_until = mono_plus_ns(now, load->options.timeout_ns + DRAIN_GRACE_NS);
    atomic_store(&load->options.shared->state, PROCESS_DRAINING);
    if (!load->is_run) {
        return;
    }
    struct generator_tally *g = &load->options.shared->tally.generator;
    struct nfs3_client_counters counters;
    int64_t cpu_ns, busy_ns;
    process_usage(&cpu_ns, &busy_ns);
    nfs3_client_counters(load->options.client, &counters);
    g->loop_cpu_ns = cpu_ns - load->cpu_at_start_ns;
    g->loop_busy_ns = busy_ns - load->busy_at_start_ns;
    g->run_ns = mono_since_ns(load->record.end, load->record.start);
    uint64_t *anomalies = load->options.shared->tally.n_anomaly;
    anomalies[ANOMALY_RECONNECT] += counters.n_reconnects - load->counters_at_start.n_reconnects;
    anomalies[ANOMALY_UNKNOWN_XID] += counters.n_unknown_xid - load->counters_at_start.n_unknown_xid;
    uint64_t n_waiting = pacer_count_waiting(&load->pacer, load->record.end);
    g->n_due += n_waiting;
    if (load->pacer.n_free == 0) {
        g->n_waited_for_slot += n_waiting;
    } else {
        g->n_waited_for_us += n_waiting;
    }
    atomic_store(&load->options.shared->run_ended_ns, load->record.end.ns);
}

static void pause_request(struct load *load, struct request *request, enum request_state state, int64_t pause_ns)
{
    request->state = state;
    request->state_until = mono_plus_ns(mono_now(), pause_ns);
    load->n_pausing++;
}

static void free_slot(struct load *load, struct request *request, mono_t at)
{
    bool is_physical = load->options.workload->counting == COUNTING_PHYSICAL;
    double n_ops = 0;
    for (int i = 0; is_physical && i < NFS_OP_COUNT; i++) {
        n_ops += request->n_rpcs[i];
    }
    /* A request that sent nothing still took its turn: errors do not speed the loop up. */
    if (!is_physical || n_ops == 0) {
        n_ops = is_physical ? load->pacer.ops_per_request : 1;
    }
    request->state = REQUEST_IDLE;
    load->n_active--;
    pacer_set_ops_per_request(&load->pacer, op_mix_ops_per_request(&load->mix));
    pacer_release(&load->pacer, request->number, at, n_ops);
}

void load_request_ended(struct load *load, struct request *request)
{
    if (!request->has_sent && !load->is_stopping) {
        pause_request(load, request, REQUEST_COOLING, COOL_NS);
    } else {
        free_slot(load, request, mono_now());
    }
    pump(load);
}

static void begin(struct load *load, struct request *request)
{
    if (!request_begin(request)) {
        pause_request(load, request, REQUEST_WAITING, WAIT_NS);
    }
}

static void wake_pausing(struct load *load, mono_t now)
{
    for (uint32_t i = 0; load->n_pausing > 0 && i < load->n_requests; i++) {
        struct request *r = &load->requests[i];
        bool is_pausing = r->state == REQUEST_WAITING || r->state == REQUEST_COOLING;
        if (!is_pausing || (mono_before(now, r->state_until) && !load->is_draining)) {
            continue;
        }
        load->n_pausing--;
        if (r->state == REQUEST_COOLING || load->is_draining) {
            free_slot(load, r, now);
        } else {
            begin(load, r);
        }
    }
}

static void begin_due(struct load *load, mono_t now)
{
    struct pacer_ticket ticket;
    while (mono_before(now, load->end) && pacer_take(&load->pacer, now, &ticket)) {
        struct request *request = &load->requests[ticket.slot];
        assert(request->state == REQUEST_IDLE);
        op_record_lateness(&load->record, now, ticket.lateness_ns, ticket.waited_for_slot);
        load->n_active++;
        request->due = ticket.due;
        request->op = op_mix_next(&load->mix, &request->charge);
        begin(load, request);
        now = mono_now();
    }
}

/* All there is to do at this moment. Requests that end in here (they could not send) come back to the loop, not to the
 * stack. */
static void pump(struct load *load)
{
    if (load->is_pumping || load->has_ended) {
        return;
    }
    load->is_pumping = true;
    mono_t now = mono_now();
    if (!load->is_run && !load->is_draining && !mono_before(now, load->record.start)) {
        begin_run(load);
    }
    if (!mono_before(now, load->end)) {
        begin_drain(load, now);
    }
    wake_pausing(load, now);
    if (!load->is_draining) {
        begin_due(load, now);
    }
    load->is_pumping = false;
    if (load->is_draining && (load->n_active == 0 || !mono_before(now, load->drain_until))) {
        interval_writer_flush(load->options.intervals);
        end_load(load);
        return;
    }
    arm(load);
}

static int init_size_deck(struct deck *deck, const struct size_table *table)
{
    double weights[WORKLOAD_MAX_STEPS] = {1};
    for (uint32_t i = 0; i < table->n; i++) {
        weights[i] = table->steps[i].percent;
    }
    return deck_init(deck, weights, table->n > 0 ? table->n : 1, DECK_SIZE);
}

static int init_decks(struct load *load)
{
    const struct workload *w = load->options.workload;
    int error = deck_init_percent(&load->missing, w->lookup_missing_percent);
    if (error == 0) {
        error = deck_init_percent(&load->append, w->append_percent);
    }
    if (error == 0) {
        error = init_size_deck(&load->read_sizes, &w->read_requests);
    }
    if (error == 0) {
        error = init_size_deck(&load->write_sizes, &w->write_requests);
    }
    return error;
}

static uint32_t calls_per_request(const struct workload *w)
{
    uint32_t n = w->biod_max_read > w->biod_max_write ? w->biod_max_read : w->biod_max_write;
    n = n > BIOD_MAX ? BIOD_MAX : n;
    return n + 1; /* one for what follows while the last of the biods is still being handed back */
}

static int init_requests(struct load *load)
{
    const struct workload *w = load->options.workload;
    uint32_t n = w->pacing == PACING_SFS ? w->streams_per_process : w->max_outstanding;
    n = n > 0 ? n : 1;
    load->requests = calloc(n, sizeof *load->requests);
    load->uses = calloc(n, sizeof *load->uses);
    if (load->requests == NULL || load->uses == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        load->uses[i].file = FILESET_NONE;
        int error = request_init(&load->requests[i], load, i, calls_per_request(w));
        if (error != 0) {
            return error;
        }
        load->n_requests++;
    }
    return 0;
}

int load_create(struct load **out, const struct load_options *options)
{
    struct load *load = calloc(1, sizeof *load);
    if (load == NULL) {
        return -ENOMEM;
    }
    const struct workload *w = options->workload;
    load->options = *options;
    load->timer_fd = -1;
    load->wakeup = WAKEUP_INIT;
    mono_t run_start = mono_plus_ns(options->start, options->warmup_ns);
    load->end = mono_plus_ns(run_start, options->run_ns);
    rng_seed(&load->rng, options->seed, 0x6c6f6164);
    load->generation = (uint64_t)wall_now().ns;
    op_mix_init(&load->mix, w, options->seed);
    op_record_begin(&load->record, options->shared, options->intervals, w, run_start, load->end);

    int error = init_decks(load);
    if (error != 0) {
        goto out;
    }
    error = init_requests(load);
    if (error != 0) {
        goto out;
    }
    error = working_set_init(&load->working_set, options->fileset, load->uses, load->n_requests, options->seed);
    if (error != 0) {
        goto out;
    }
    error = data_pattern_init(&load->pattern, w, options->seed);
    if (error != 0) {
        goto out;
    }
    struct pacer_options pacing = {.kind = w->pacing,
                                   .arrivals = w->arrivals,
                                   .ops_per_s = options->ops_per_s,
                                   .ops_per_request = 1 / workload_requests_per_op(w),
                                   .is_physical = w->counting == COUNTING_PHYSICAL,
                                   .n_slots = load->n_requests,
                                   .seed = options->seed,
                                   .start = options->start};
    load->is_ahead = w->pacing == PACING_OPEN && options->ops_per_s < AHEAD_MAX_OPS_PER_S;
    error = pacer_init(&load->pacer, &pacing);
    if (error != 0) {
        goto out;
    }
    load->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (load->timer_fd < 0) {
        error = -errno;
        goto out;
    }
    load->timer_event = event_new(options->base, load->timer_fd, EV_READ | EV_PERSIST, on_timer, load);
    if (load->timer_event == NULL || event_add(load->timer_event, NULL) != 0) {
        error = -ENOMEM;
        goto out;
    }
    arm(load);
    *out = load;
out:
    if (error != 0) {
        load_destroy(load);
    }
    return error;
}

void load_destroy(struct load *load)
{
    if (load == NULL) {
        return;
    }
    if (load->timer_event != NULL) {
        event_free(load->timer_event);
    }
    if (load->timer_fd >= 0) {
        close(load->timer_fd);
    }
    for (uint32_t i = 0; i < load->n_requests; i++) {
        request_fini(&load->requests[i]);
    }
    free(load->requests);
    free(load->uses);
    pacer_fini(&load->pacer);
    deck_fini(&load->missing);
    deck_fini(&load->append);
    deck_fini(&load->read_sizes);
    deck_fini(&load->write_sizes);
    working_set_fini(&load->working_set);
    data_pattern_fini(&load->pattern);
    free(load);
}

void load_stop(struct load *load)
{
    if (load->is_stopping || load->has_ended) {
        return;
    }
    mono_t now = mono_now();
    load->is_stopping = true;
    if (mono_before(now, load->end)) {
        load->end = now;
        op_record_cut(&load->record, now);
    }
    /* Calls put off are not asked again: their requests end here. */
    for (uint32_t i = 0; i < load->n_requests; i++) {
        request_abandon_retries(&load->requests[i]);
    }
    pump(load);
}

uint32_t load_n_active(const struct load *load)
{
    return load->n_active;
}
