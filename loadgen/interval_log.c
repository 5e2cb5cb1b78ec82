/* interval_log.c - see interval_log.h.
 *
 *   ┌ header ┐┌ at[INTERVAL_LOG_MAX_SECONDS] ┐┌ records ...                                        ┐
 *             offset of second t's records    second 0: class 0 {record, buckets} class 1 {...} | second 3: ...
 *             (0: none)
 *
 * Only classes with an op have a record, only buckets with a count are in it. All records of a second are contiguous.
 */
#include "interval_log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DATA_BYTES (UINT64_C(96) << 20) /* virtual; a busy second takes 5 to 20 KB */

struct interval_log {
    _Atomic uint64_t n_bytes; /* of data[] that are whole */
    _Atomic uint32_t n_seconds;
    uint32_t n_dropped;
    uint64_t at[INTERVAL_LOG_MAX_SECONDS]; /* 1 + offset in data[]; 0: none */
    uint8_t data[];
};

struct interval_record {
    uint32_t t_s;
    uint16_t class_number;
    uint16_t n_buckets;
    uint64_t n_ops, n_errors, n_beyond;
    int64_t min_ns, max_ns;
    uint64_t sum_ns[2], sum_sq_ns2[2]; /* low, high: a 128-bit member would need an alignment of 16 */
};

struct interval_bucket {
    uint32_t index;
    uint32_t count;
};

struct interval_writer {
    struct interval_log *log;
    uint32_t t_s;
    bool has_any;
    struct {
        uint64_t n_errors;
        struct histogram histogram;
    } classes[OP_CLASS_COUNT];
};

size_t interval_log_bytes(void)
{
    return sizeof(struct interval_log) + DATA_BYTES;
}

void interval_log_reset(struct interval_log *log)
{
    uint32_t n = atomic_load_explicit(&log->n_seconds, memory_order_relaxed);
    atomic_store_explicit(&log->n_seconds, 0, memory_order_relaxed);
    atomic_store_explicit(&log->n_bytes, 0, memory_order_relaxed);
    log->n_dropped = 0;
    if (n > INTERVAL_LOG_MAX_SECONDS) {
        n = INTERVAL_LOG_MAX_SECONDS;
    }
    memset(log->at, 0, n * sizeof log->at[0]);
}

uint32_t interval_log_seconds(const struct interval_log *log)
{
    uint32_t n = atomic_load_explicit(&log->n_seconds, memory_order_acquire);
    return n <= INTERVAL_LOG_MAX_SECONDS ? n : INTERVAL_LOG_MAX_SECONDS;
}

uint32_t interval_log_dropped(const struct interval_log *log)
{
    return log->n_dropped;
}

static unsigned __int128 join(const uint64_t halves[2])
{
    return (unsigned __int128)halves[1] << 64 | halves[0];
}

static void split(unsigned __int128 value, uint64_t halves[2])
{
    halves[0] = (uint64_t)value;
    halves[1] = (uint64_t)(value >> 64);
}

static void merge_record(const struct interval_record *r, const uint8_t *buckets, uint64_t *n_ops, uint64_t *n_errors,
                         struct histogram *into)
{
    *n_ops += r->n_ops;
    *n_errors += r->n_errors;
    into->count += r->n_ops;
    into->n_beyond += r->n_beyond;
    into->sum_ns += join(r->sum_ns);
    into->sum_sq_ns2 += join(r->sum_sq_ns2);
    if (r->n_ops > 0 && r->min_ns < into->min_ns) {
        into->min_ns = r->min_ns;
    }
    if (r->n_ops > 0 && r->max_ns > into->max_ns) {
        into->max_ns = r->max_ns;
    }
    for (uint32_t i = 0; i < r->n_buckets; i++) {
        struct interval_bucket b;
        memcpy(&b, buckets + i * sizeof b, sizeof b);
        if (b.index < HISTOGRAM_BUCKETS) {
            into->buckets[b.index] += b.count;
        }
    }
}

void interval_log_read(const struct interval_log *log, uint32_t t_s, enum op_class c, uint64_t *n_ops,
                       uint64_t *n_errors, struct histogram *into)
{
    if (t_s >= interval_log_seconds(log) || log->at[t_s] == 0) {
        return;
    }
    uint64_t end = atomic_load_explicit(&log->n_bytes, memory_order_acquire);
    if (end > DATA_BYTES) {
        end = DATA_BYTES;
    }
    uint64_t at = log->at[t_s] - 1;
    while (at < end && end - at >= sizeof(struct interval_record)) {
        struct interval_record r;
        memcpy(&r, log->data + at, sizeof r);
        at += sizeof r;
        uint64_t bucket_bytes = (uint64_t)r.n_buckets * sizeof(struct interval_bucket);
        if (r.t_s != t_s || end - at < bucket_bytes) {
            return;
        }
        if (r.class_number == (uint16_t)c) {
            merge_record(&r, log->data + at, n_ops, n_errors, into);
        }
        at += bucket_bytes;
    }
}

struct interval_writer *interval_writer_create(struct interval_log *log)
{
    struct interval_writer *w = malloc(sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    w->log = log;
    interval_writer_reset(w);
    return w;
}

void interval_writer_destroy(struct interval_writer *writer)
{
    free(writer);
}

static void begin_second(struct interval_writer *w, uint32_t t_s)
{
    w->t_s = t_s;
    w->has_any = false;
    for (int c = 0; c < OP_CLASS_COUNT; c++) {
        w->classes[c].n_errors = 0;
        histogram_init(&w->classes[c].histogram);
    }
}

void interval_writer_reset(struct interval_writer *writer)
{
    interval_log_reset(writer->log);
    begin_second(writer, 0);
}

/* Appends the record of one class at `at`; the new end, or 0 when it does not fit. */
static uint64_t append_class(struct interval_writer *w, int c, uint64_t at)
{
    const struct histogram *h = &w->classes[c].histogram;
    struct interval_record r = {.t_s = w->t_s,
                                .class_number = (uint16_t)c,
                                .n_ops = h->count,
                                .n_errors = w->classes[c].n_errors,
                                .n_beyond = h->n_beyond,
                                .min_ns = h->min_ns,
                                .max_ns = h->max_ns};
    split(h->sum_ns, r.sum_ns);
    split(h->sum_sq_ns2, r.sum_sq_ns2);
    uint64_t record_at = at;
    at += sizeof r;
    if (at > DATA_BYTES) {
        return 0;
    }
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && h->count > 0; i++) {
        if (h->buckets[i] == 0) {
            continue;
        }
        struct interval_bucket b = {.index = i, .count = (uint32_t)h->buckets[i]};
        if (at + sizeof b > DATA_BYTES) {
            return 0;
        }
        memcpy(w->log->data + at, &b, sizeof b);
        at += sizeof b;
        r.n_buckets++;
    }
    memcpy(w->log->data + record_at, &r, sizeof r);
    return at;
}

void interval_writer_flush(struct interval_writer *w)
{
    struct interval_log *log = w->log;
    if (!w->has_any) {
        return;
    }
    uint64_t start = atomic_load_explicit(&log->n_bytes, memory_order_relaxed), at = start;
    for (int c = 0; c < OP_CLASS_COUNT; c++) {
        if (w->classes[c].histogram.count == 0 && w->classes[c].n_errors == 0) {
            continue;
        }
        at = append_class(w, c, at);
        if (at == 0) {
            break;
        }
    }
    if (at == 0 || w->t_s >= INTERVAL_LOG_MAX_SECONDS) {
        log->n_dropped++;
    } else {
        atomic_store_explicit(&log->n_bytes, at, memory_order_release);
        log->at[w->t_s] = start + 1;
        atomic_store_explicit(&log->n_seconds, w->t_s + 1, memory_order_release);
    }
    begin_second(w, w->t_s + 1);
}

static void move_to(struct interval_writer *w, uint32_t t_s)
{
    if (t_s > w->t_s) {
        interval_writer_flush(w);
        w->t_s = t_s;
    }
    w->has_any = true;
}

void interval_writer_good(struct interval_writer *writer, uint32_t t_s, enum op_class c, int64_t response_ns)
{
    move_to(writer, t_s);
    histogram_record(&writer->classes[c].histogram, response_ns);
}

void interval_writer_error(struct interval_writer *writer, uint32_t t_s, enum op_class c)
{
    move_to(writer, t_s);
    writer->classes[c].n_errors++;
}
