#include "rpc_send_queue.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 16384u

/* Memory for copied heads. */
struct rpc_chunk {
    size_t used, capacity;
    unsigned n_segments; /* of the queue that point into it */
    uint8_t data[];
};

struct rpc_out_segment {
    const uint8_t *data;
    size_t bytes;
    struct rpc_chunk *chunk; /* owner of data, or NULL: by reference */
    void (*release)(void *arg);
    void *arg;
};

struct rpc_sent_mark {
    uint64_t end; /* stream offset behind the record */
    mono_t *sent_at;
};

static struct rpc_out_segment *segment_at(const struct rpc_send_queue *queue, size_t i)
{
    return &queue->segments[(queue->first + i) & (queue->capacity - 1)];
}

static void drop_first_segment(struct rpc_send_queue *queue)
{
    struct rpc_out_segment segment = *segment_at(queue, 0);
    queue->first = (queue->first + 1) & (queue->capacity - 1);
    queue->n--;
    struct rpc_chunk *chunk = segment.chunk;
    if (chunk && --chunk->n_segments == 0) {
        if (chunk == queue->chunk) {
            chunk->used = 0;
        } else {
            free(chunk);
        }
    }
    if (segment.release) {
        segment.release(segment.arg);
    }
}

void rpc_send_queue_clear(struct rpc_send_queue *queue)
{
    while (queue->n > 0) {
        drop_first_segment(queue);
    }
    queue->bytes = 0;
    queue->n_marks = 0;
}

void rpc_send_queue_fini(struct rpc_send_queue *queue)
{
    assert(queue->n == 0);
    free(queue->segments);
    free(queue->marks);
    free(queue->chunk);
}

void rpc_send_queue_advance(struct rpc_send_queue *queue, size_t n, mono_t at)
{
    queue->bytes -= n;
    queue->sent_total += n;
    while (queue->n_marks > 0 && queue->marks[queue->marks_first].end <= queue->sent_total) {
        *queue->marks[queue->marks_first].sent_at = at;
        queue->marks_first = (queue->marks_first + 1) & (queue->marks_capacity - 1);
        queue->n_marks--;
    }
    while (queue->n > 0) {
        struct rpc_out_segment *segment = segment_at(queue, 0);
        if (n < segment->bytes) {
            segment->data += n;
            segment->bytes -= n;
            return;
        }
        n -= segment->bytes;
        drop_first_segment(queue);
    }
}

size_t rpc_send_queue_iovecs(const struct rpc_send_queue *queue, struct iovec *iov, size_t max)
{
    size_t n = queue->n < max ? queue->n : max;
    for (size_t i = 0; i < n; i++) {
        const struct rpc_out_segment *s = segment_at(queue, i);
        iov[i] = (struct iovec){.iov_base = (void *)(uintptr_t)s->data, .iov_len = s->bytes};
    }
    return n;
}

bool rpc_send_queue_is_timed(const struct rpc_send_queue *queue)
{
    return queue->n_marks > 0;
}

/* Makes room for `more` entries in a ring of elements of `size` bytes; the ring is unrolled when it grows. 0 or
 * -ENOMEM. */
static int reserve_ring(void **ring, size_t size, size_t *capacity, size_t *first, size_t n, size_t more)
{
    if (n + more <= *capacity) {
        return 0;
    }
    size_t grown = *capacity ? *capacity : 16;
    while (grown < n + more) {
        grown *= 2;
    }
    uint8_t *fresh = malloc(grown * size);
    if (!fresh) {
        return -ENOMEM;
    }
    if (n > 0) {
        const uint8_t *old = *ring;
        size_t head = *capacity - *first < n ? *capacity - *first : n;
        memcpy(fresh, old + *first * size, head * size);
        memcpy(fresh + head * size, old, (n - head) * size);
    }
    free(*ring);
    *ring = fresh;
    *capacity = grown;
    *first = 0;
    return 0;
}

static void push_segment(struct rpc_send_queue *queue, struct rpc_out_segment segment)
{
    queue->n++;
    *segment_at(queue, queue->n - 1) = segment;
}

/* A chunk with room for n bytes. NULL when memory is short. */
static struct rpc_chunk *chunk_with_room(struct rpc_send_queue *queue, size_t n)
{
    if (queue->chunk && queue->chunk->capacity - queue->chunk->used >= n) {
        return queue->chunk;
    }
    size_t capacity = n > CHUNK_BYTES ? n : CHUNK_BYTES;
    struct rpc_chunk *chunk = malloc(sizeof *chunk + capacity);
    if (!chunk) {
        return NULL;
    }
    *chunk = (struct rpc_chunk){.capacity = capacity};
    if (queue->chunk && queue->chunk->n_segments == 0) {
        free(queue->chunk);
    }
    queue->chunk = chunk;
    return chunk;
}

static void push_head(struct rpc_send_queue *queue, struct rpc_chunk *chunk, uint32_t mark, const uint8_t *head,
                      size_t head_bytes)
{
    uint8_t *to = chunk->data + chunk->used;
    to[0] = (uint8_t)(mark >> 24);
    to[1] = (uint8_t)(mark >> 16);
    to[2] = (uint8_t)(mark >> 8);
    to[3] = (uint8_t)mark;
    memcpy(to + RPC_MARK_BYTES, head, head_bytes);
    chunk->used += RPC_MARK_BYTES + head_bytes;

    if (queue->n > 0) {
        struct rpc_out_segment *tail = segment_at(queue, queue->n - 1);
        if (tail->chunk == chunk && tail->data + tail->bytes == to) {
            tail->bytes += RPC_MARK_BYTES + head_bytes;
            return;
        }
    }
    chunk->n_segments++;
    push_segment(queue, (struct rpc_out_segment){.data = to, .bytes = RPC_MARK_BYTES + head_bytes, .chunk = chunk});
}

/* Room for n segments and a mark. 0 or -ENOMEM. */
static int reserve(struct rpc_send_queue *queue, size_t n, bool is_timed)
{
    void *segments = queue->segments, *marks = queue->marks;
    if (reserve_ring(&segments, sizeof *queue->segments, &queue->capacity, &queue->first, queue->n, n)) {
        return -ENOMEM;
    }
    queue->segments = segments;
    if (is_timed &&
        reserve_ring(&marks, sizeof *queue->marks, &queue->marks_capacity, &queue->marks_first, queue->n_marks, 1)) {
        return -ENOMEM;
    }
    queue->marks = marks;
    return 0;
}

int rpc_send_queue_push(struct rpc_send_queue *queue, const uint8_t *head, size_t head_bytes,
                        const struct rpc_segment *segments, unsigned n, mono_t *sent_at)
{
    size_t bytes = head_bytes;
    for (unsigned i = 0; i < n; i++) {
        bytes += segments[i].bytes;
    }
    assert(bytes < RPC_LAST_FRAGMENT);
    struct rpc_chunk *chunk = chunk_with_room(queue, RPC_MARK_BYTES + head_bytes);
    if (!chunk || reserve(queue, n + 1, sent_at != NULL) < 0) {
        return -ENOMEM;
    }
    push_head(queue, chunk, RPC_LAST_FRAGMENT | (uint32_t)bytes, head, head_bytes);
    for (unsigned i = 0; i < n; i++) {
        const struct rpc_segment *s = &segments[i];
        push_segment(
            queue, (struct rpc_out_segment){.data = s->data, .bytes = s->bytes, .release = s->release, .arg = s->arg});
    }
    queue->bytes += RPC_MARK_BYTES + bytes;
    queue->queued_total += RPC_MARK_BYTES + bytes;
    if (sent_at) {
        queue->marks[(queue->marks_first + queue->n_marks) & (queue->marks_capacity - 1)] =
            (struct rpc_sent_mark){.end = queue->queued_total, .sent_at = sent_at};
        queue->n_marks++;
    }
    return 0;
}
