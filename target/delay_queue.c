#include "delay_queue.h"
#include "wakeup.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

struct delayed {
    mono_t due;
    uint64_t serial; /* first in, first out among equals */
    struct rpc_call *call;
    struct rpc_answer answer; /* head on the heap */
    struct delayed_fate fate;
};

struct delay_queue {
    struct event *timer;
    struct delayed **heap;
    size_t n, capacity;
    uint64_t serial;
    const _Atomic int64_t *paused_until;
    mono_t armed_for; /* due time that the timer is set for; MONO_NEVER: none */
    struct wakeup wakeup;
};

static bool is_before(const struct delayed *a, const struct delayed *b)
{
    return a->due.ns != b->due.ns ? a->due.ns < b->due.ns : a->serial < b->serial;
}

static void push(struct delay_queue *queue, struct delayed *item)
{
    size_t at = queue->n++;
    while (at > 0 && is_before(item, queue->heap[(at - 1) / 2])) {
        queue->heap[at] = queue->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->heap[at] = item;
}

static struct delayed *pop(struct delay_queue *queue)
{
    struct delayed *first = queue->heap[0];
    struct delayed *last = queue->heap[--queue->n];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= queue->n) {
            break;
        }
        if (child + 1 < queue->n && is_before(queue->heap[child + 1], queue->heap[child])) {
            child++;
        }
        if (!is_before(queue->heap[child], last)) {
            break;
        }
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = last;
    return first;
}

static mono_t next_due(const struct delay_queue *queue)
{
    if (queue->n == 0) {
        return MONO_NEVER;
    }
    mono_t due = queue->heap[0]->due;
    mono_t paused_until = {atomic_load_explicit(queue->paused_until, memory_order_relaxed)};
    return mono_before(due, paused_until) ? paused_until : due;
}

static void arm(struct delay_queue *queue, mono_t now)
{
    mono_t due = next_due(queue);
    if (due.ns == queue->armed_for.ns) {
        return;
    }
    queue->armed_for = due;
    if (due.ns == MONO_NEVER.ns) {
        event_del(queue->timer);
        return;
    }
    int64_t in_ns = mono_since_ns(wakeup_ask(&queue->wakeup, due, now), now);
    in_ns = in_ns > 0 ? in_ns : 0;
    struct timeval in = {.tv_sec = in_ns / NS_PER_S, .tv_usec = in_ns % NS_PER_S / NS_PER_US};
    event_add(queue->timer, &in);
}

static void release_segments(const struct rpc_answer *answer)
{
    for (unsigned i = 0; i < answer->n_segments; i++) {
        if (answer->segments[i].release) {
            answer->segments[i].release(answer->segments[i].arg);
        }
    }
}

void delay_queue_carry_out(struct rpc_call *call, const struct rpc_answer *answer, struct delayed_fate fate)
{
    if (fate.is_reset || fate.is_dropped) {
        release_segments(answer);
        if (fate.is_reset) {
            rpc_peer_reset(call->peer);
        }
        rpc_call_end(call);
        return;
    }
    for (unsigned i = 1; i < fate.n_copies; i++) {
        /* Copies carry no references: the data of a duplicate is a copy too. */
        size_t bytes = answer->head_bytes;
        for (unsigned s = 0; s < answer->n_segments; s++) {
            bytes += answer->segments[s].bytes;
        }
        uint8_t *flat = malloc(bytes ? bytes : 1);
        if (flat) {
            memcpy(flat, answer->head, answer->head_bytes);
            size_t at = answer->head_bytes;
            for (unsigned s = 0; s < answer->n_segments; s++) {
                memcpy(flat + at, answer->segments[s].data, answer->segments[s].bytes);
                at += answer->segments[s].bytes;
            }
            rpc_call_send(call, &(struct rpc_answer){.head = flat, .head_bytes = bytes});
            free(flat);
        }
    }
    rpc_call_send(call, answer);
    rpc_call_end(call);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct delay_queue *queue = arg;
    mono_t now = mono_now();
    wakeup_came(&queue->wakeup, now);
    queue->armed_for = MONO_NEVER;
    /* Only the first is waited for: what is sent leaves when this returns. */
    now = wakeup_wait_out(next_due(queue), now);
    while (!mono_before(now, next_due(queue))) {
        struct delayed *item = pop(queue);
        delay_queue_carry_out(item->call, &item->answer, item->fate);
        free(item->answer.head);
        free(item);
    }
    arm(queue, now);
}

void delay_queue_add(struct delay_queue *queue, struct rpc_call *call, const struct rpc_answer *answer,
                     struct delayed_fate fate, mono_t due)
{
    if (queue->n == queue->capacity) {
        size_t capacity = queue->capacity ? queue->capacity * 2 : 256;
        struct delayed **heap = realloc(queue->heap, capacity * sizeof *heap);
        if (!heap) {
            delay_queue_carry_out(call, answer, fate);
            return;
        }
        queue->heap = heap;
        queue->capacity = capacity;
    }
    struct delayed *item = malloc(sizeof *item);
    uint8_t *head = malloc(answer->head_bytes ? answer->head_bytes : 1);
    if (!item || !head) {
        free(item);
        free(head);
        delay_queue_carry_out(call, answer, fate);
        return;
    }
    memcpy(head, answer->head, answer->head_bytes);
    *item = (struct delayed){.due = due, .serial = queue->serial++, .call = call, .answer = *answer, .fate = fate};
    item->answer.head = head;
    push(queue, item);
    if (queue->heap[0] == item) {
        arm(queue, mono_now());
    }
}

struct delay_queue *delay_queue_create(struct event_base *base, const _Atomic int64_t *paused_until)
{
    struct delay_queue *queue = calloc(1, sizeof *queue);
    if (!queue) {
        return NULL;
    }
    queue->paused_until = paused_until;
    queue->armed_for = MONO_NEVER;
    queue->wakeup = WAKEUP_INIT;
    queue->timer = event_new(base, -1, 0, on_timer, queue);
    if (!queue->timer) {
        free(queue);
        return NULL;
    }
    return queue;
}

void delay_queue_destroy(struct delay_queue *queue)
{
    if (!queue) {
        return;
    }
    while (queue->n > 0) {
        struct delayed *item = pop(queue);
        release_segments(&item->answer);
        rpc_call_end(item->call);
        free(item->answer.head);
        free(item);
    }
    event_free(queue->timer);
    free(queue->heap);
    free(queue);
}
