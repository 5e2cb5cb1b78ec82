/* pacer.c - see pacer.h. */
#include "pacer.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_NS       1e9  /* a lag is made up over this time ... */
#define MAX_SPEED_UP    0.05 /* ... but by no more than this share of a period each cycle */
#define MAX_SLOW_DOWN   0.25
#define MAX_LAG_NS      1e9 /* what was lost beyond this is forgotten */
#define OVERHEAD_SHARE  (1.0 / 16)
#define LATE_SHARE      0.1
#define AHEAD_PHYSICAL  8
#define STRATA          200u
#define OPEN_SETTLE_NS  2e9
#define OPEN_CORRECTION 0.05

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Mean time between requests, of one stream or of the schedule. */
static double period_ns(const struct pacer *p)
{
    double n_streams = p->options.kind == PACING_SFS ? p->options.n_slots : 1;
    return 1e9 * n_streams * p->ops_per_request / p->options.ops_per_s;
}

static double gap_ns(struct pacer *p)
{
    double mean = period_ns(p);
    if (p->options.is_physical) {
        double ahead = p->line_ns - (double)mono_since_ns(p->next_due, p->options.start);
        mean *= 1 + clamp(ahead / OPEN_SETTLE_NS, -OPEN_CORRECTION, OPEN_CORRECTION);
        p->line_ns += period_ns(p);
    }
    return p->options.arrivals == ARRIVALS_CONSTANT ? mean : mean * -log1p(-deck_next_unit(&p->strata, &p->rng));
}

int pacer_init(struct pacer *pacer, const struct pacer_options *options)
{
    assert(options->ops_per_s > 0 && options->ops_per_request > 0 && options->n_slots > 0);
    memset(pacer, 0, sizeof *pacer);
    pacer->options = *options;
    pacer->ops_per_request = options->ops_per_request;
    int error = deck_init_uniform(&pacer->strata, STRATA);
    if (error != 0) {
        return error;
    }
    rng_seed(&pacer->rng, options->seed, 0x7068617365);
    pacer->has_slot_since = options->start;

    /* The phase of the first request keeps processes with the same rate apart. */
    double period = period_ns(pacer);
    if (options->kind == PACING_SFS) {
        pacer->streams = calloc(options->n_slots, sizeof *pacer->streams);
        if (pacer->streams == NULL) {
            return -ENOMEM;
        }
        for (uint32_t i = 0; i < options->n_slots; i++) {
            struct pacer_stream *s = &pacer->streams[i];
            s->line_ns = rng_unit(&pacer->rng) * period;
            s->due = mono_plus_ns(options->start, (int64_t)s->line_ns);
            s->is_idle = true;
        }
        return 0;
    }
    pacer->free_slots = calloc(options->n_slots, sizeof *pacer->free_slots);
    if (pacer->free_slots == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < options->n_slots; i++) {
        pacer->free_slots[i] = options->n_slots - 1 - i;
    }
    pacer->n_free = options->n_slots;
    /* Exponential gaps have no memory: the first one is a phase by itself. */
    bool is_poisson = options->kind == PACING_OPEN && options->arrivals == ARRIVALS_POISSON;
    pacer->next_due = options->start;
    double first = is_poisson ? gap_ns(pacer) : rng_unit(&pacer->rng) * period;
    pacer->line_ns = first;
    pacer->next_due = mono_plus_ns(options->start, (int64_t)first);
    return 0;
}

void pacer_fini(struct pacer *pacer)
{
    deck_fini(&pacer->strata);
    free(pacer->streams);
    free(pacer->free_slots);
    memset(pacer, 0, sizeof *pacer);
}

static bool take_stream(struct pacer *p, mono_t now, struct pacer_ticket *ticket)
{
    uint32_t first = p->options.n_slots;
    for (uint32_t i = 0; i < p->options.n_slots; i++) {
        const struct pacer_stream *s = &p->streams[i];
        if (s->is_idle && s->due.ns <= now.ns &&
            (first == p->options.n_slots || mono_before(s->due, p->streams[first].due))) {
            first = i;
        }
    }
    if (first == p->options.n_slots) {
        return false;
    }
    struct pacer_stream *s = &p->streams[first];
    s->is_idle = false;
    s->taken = now;
    *ticket = (struct pacer_ticket){.slot = first, .due = s->due, .lateness_ns = mono_since_ns(now, s->due)};
    return true;
}

static bool take_slot(struct pacer *p, mono_t now, struct pacer_ticket *ticket)
{
    if (p->n_free == 0) {
        return false;
    }
    if (p->options.kind == PACING_MAX) {
        if (mono_before(now, p->options.start)) {
            return false;
        }
        *ticket = (struct pacer_ticket){.slot = p->free_slots[--p->n_free], .due = now, .lateness_ns = -1};
        return true;
    }
    if (mono_before(now, p->next_due)) {
        return false;
    }
    *ticket = (struct pacer_ticket){.slot = p->free_slots[--p->n_free],
                                    .due = p->next_due,
                                    .waited_for_slot = mono_before(p->next_due, p->has_slot_since),
                                    .lateness_ns = mono_since_ns(now, p->next_due)};
    if (ticket->waited_for_slot) {
        ticket->lateness_ns = -1;
    }
    p->next_due = mono_plus_ns(p->next_due, (int64_t)gap_ns(p));
    return true;
}

bool pacer_take(struct pacer *pacer, mono_t now, struct pacer_ticket *ticket)
{
    bool taken = pacer->options.kind == PACING_SFS ? take_stream(pacer, now, ticket) : take_slot(pacer, now, ticket);
    if (!taken) {
        return false;
    }
    pacer->n_taken++;
    pacer->n_waited_for_slot += ticket->waited_for_slot;
    pacer->n_waited_for_us += ticket->lateness_ns > PACER_LATE_NS;
    return true;
}

/* U[0.5,1.5): one of the deck and then its twin. */
static double think_factor(struct pacer *p, struct pacer_stream *s)
{
    double u = s->twin;
    if (u > 0) {
        s->twin = 0;
    } else {
        u = 0.5 + deck_next_unit(&p->strata, &p->rng);
        s->twin = 2 - u;
    }
    return u;
}

static void release_stream(struct pacer *p, struct pacer_stream *s, mono_t now, double n_ops)
{
    double period = period_ns(p);
    /* What others took from us is no time that the server needed: late wake-ups count only as far as they are usual, or
     * a stream that was starved would go on without thinking for a while. */
    double late = (double)mono_since_ns(s->taken, s->due), usual = LATE_SHARE * period + PACER_LATE_NS;
    double busy = (double)mono_since_ns(now, s->taken) + (late < usual ? late : usual);
    /* Nor must one stall pass for a slow server. */
    double most = 2 * (period > s->overhead_ns ? period : s->overhead_ns);
    if (busy > most) {
        busy = most;
    }
    s->overhead_ns = s->overhead_ns > 0 ? s->overhead_ns + OVERHEAD_SHARE * (busy - s->overhead_ns) : busy;

    /* Where this request's due time stood, less the jitter of its think time, against where the count says that it
     * should. */
    double lag = (double)mono_since_ns(s->due, p->options.start) - s->jitter_ns - s->line_ns;
    if (s->rebase) {
        s->line_ns += lag;
        lag = 0;
        s->rebase = false;
    }
    if (lag > MAX_LAG_NS) {
        s->line_ns += lag - MAX_LAG_NS;
        lag = MAX_LAG_NS;
    }
    s->line_ns += 1e9 * p->options.n_slots * n_ops / p->options.ops_per_s;
    double mean = period > s->overhead_ns ? period - s->overhead_ns : 0;
    double share = period < SETTLE_NS ? period / SETTLE_NS : 1;
    double think = mean - clamp(lag * share, -MAX_SLOW_DOWN * period, MAX_SPEED_UP * period);
    /* Never ahead of the line by more than a request or, where requests are several ops, a few. */
    double most_ahead = (p->options.is_physical ? AHEAD_PHYSICAL : 1) * period;
    double earliest = s->line_ns - most_ahead - (double)mono_since_ns(now, p->options.start);
    if (think < earliest) {
        think = earliest;
    }
    if (think < 0) {
        think = 0;
    }
    double u = think_factor(p, s);
    /* After a pair the stream is back on its grid; what a change of think time within the pair left over counts as lag.
     */
    s->jitter_ns = s->twin > 0 ? (u - 1) * think : 0;
    s->due = mono_plus_ns(now, (int64_t)(u * think));
    s->is_idle = true;
}

void pacer_release(struct pacer *pacer, uint32_t slot, mono_t now, double n_ops)
{
    assert(slot < pacer->options.n_slots);
    if (pacer->options.kind == PACING_SFS) {
        assert(!pacer->streams[slot].is_idle);
        release_stream(pacer, &pacer->streams[slot], now, n_ops);
        return;
    }
    assert(pacer->n_free < pacer->options.n_slots);
    /* The schedule moved by the mean of a request when this one was taken; it turned out to be n_ops. */
    pacer->line_ns += 1e9 * (n_ops - pacer->ops_per_request) / pacer->options.ops_per_s;
    if (pacer->n_free == 0) {
        pacer->has_slot_since = now;
    }
    pacer->free_slots[pacer->n_free++] = slot;
}

mono_t pacer_next(const struct pacer *pacer)
{
    if (pacer->options.kind == PACING_SFS) {
        mono_t next = MONO_NEVER;
        for (uint32_t i = 0; i < pacer->options.n_slots; i++) {
            const struct pacer_stream *s = &pacer->streams[i];
            if (s->is_idle && mono_before(s->due, next)) {
                next = s->due;
            }
        }
        return next;
    }
    if (pacer->n_free == 0) {
        return MONO_NEVER;
    }
    return pacer->options.kind == PACING_MAX ? pacer->options.start : pacer->next_due;
}

void pacer_set_ops_per_request(struct pacer *pacer, double ops_per_request)
{
    pacer->ops_per_request = ops_per_request;
}

void pacer_rebase(struct pacer *pacer)
{
    for (uint32_t i = 0; pacer->streams != NULL && i < pacer->options.n_slots; i++) {
        pacer->streams[i].rebase = true;
    }
}

uint64_t pacer_count_waiting(const struct pacer *pacer, mono_t end)
{
    if (pacer->options.kind != PACING_OPEN || !mono_before(pacer->next_due, end)) {
        return 0;
    }
    return (uint64_t)ceil((double)mono_since_ns(end, pacer->next_due) / period_ns(pacer));
}
