#include "record_buffer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_RECORD 32768u

int record_buffer_init(struct record_buffer *buffer, size_t initial_bytes, size_t max_record_bytes)
{
    assert(initial_bytes >= RPC_MARK_BYTES && max_record_bytes < RPC_LAST_FRAGMENT);
    *buffer = (struct record_buffer){.data = malloc(initial_bytes),
                                     .capacity = initial_bytes,
                                     .initial_bytes = initial_bytes,
                                     .max_record_bytes = max_record_bytes};
    return buffer->data ? 0 : -ENOMEM;
}

void record_buffer_fini(struct record_buffer *buffer)
{
    free(buffer->data);
    buffer->data = NULL;
}

int record_buffer_make_room(struct record_buffer *buffer, bool *grew)
{
    size_t record_start = buffer->record_start;
    if (record_start > 0 && (record_start == buffer->end || buffer->capacity - buffer->end < buffer->capacity / 4)) {
        memmove(buffer->data, buffer->data + record_start, buffer->end - record_start);
        buffer->start -= record_start;
        buffer->end -= record_start;
        buffer->record_end -= record_start;
        buffer->record_start = 0;
    }
    if (buffer->end < buffer->capacity) {
        return 0;
    }
    /* What is kept is one unfinished record (within its limit) and at most three bytes of the next mark. */
    size_t most = buffer->max_record_bytes + RPC_MARK_BYTES;
    assert(buffer->capacity < most);
    size_t capacity = buffer->capacity * 2 < most ? buffer->capacity * 2 : most;
    uint8_t *grown = realloc(buffer->data, capacity);
    if (!grown) {
        return -ENOMEM;
    }
    buffer->data = grown;
    buffer->capacity = capacity;
    *grew = true;
    return 0;
}

size_t record_buffer_read_size(const struct record_buffer *buffer)
{
    size_t room = buffer->capacity - buffer->end;
    size_t rest = (size_t)buffer->fragment_left + RPC_MARK_BYTES;
    /* Of a large record only the rest and the next mark, so that the record behind it begins at the front of the buffer
     * and is never moved, and the buffer stays small enough for the cache. */
    bool is_large =
        buffer->in_fragment && buffer->record_end - buffer->record_start + buffer->fragment_left >= LARGE_RECORD;
    return is_large && rest < room ? rest : room;
}

void record_buffer_add(struct record_buffer *buffer, size_t bytes)
{
    buffer->end += bytes;
}

/* Takes the next record mark if it is whole: 1, 0, -EPROTO. */
static int take_mark(struct record_buffer *buffer, size_t *announced)
{
    if (buffer->end - buffer->start < RPC_MARK_BYTES) {
        return 0;
    }
    const uint8_t *p = buffer->data + buffer->start;
    uint32_t mark = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    uint32_t bytes = mark & ~RPC_LAST_FRAGMENT;
    size_t so_far = buffer->record_end - buffer->record_start;
    if (bytes > buffer->max_record_bytes - so_far) {
        *announced = so_far + bytes;
        return -EPROTO;
    }
    buffer->start += RPC_MARK_BYTES;
    if (so_far == 0) {
        buffer->record_start = buffer->record_end = buffer->start;
    }
    buffer->fragment_left = bytes;
    buffer->is_last_fragment = mark & RPC_LAST_FRAGMENT;
    buffer->in_fragment = true;
    return 1;
}

/* Adds what there is of the present fragment to the record. */
static void take_fragment(struct record_buffer *buffer)
{
    size_t n = buffer->end - buffer->start;
    if (n > buffer->fragment_left) {
        n = buffer->fragment_left;
    }
    if (buffer->record_end != buffer->start) {
        memmove(buffer->data + buffer->record_end, buffer->data + buffer->start, n);
    }
    buffer->record_end += n;
    buffer->start += n;
    buffer->fragment_left -= (uint32_t)n;
    buffer->in_fragment = buffer->fragment_left > 0;
}

int record_buffer_next(struct record_buffer *buffer, uint8_t **record, size_t *bytes, size_t *announced)
{
    for (;;) {
        if (!buffer->in_fragment) {
            int taken = take_mark(buffer, announced);
            if (taken <= 0) {
                return taken;
            }
        }
        take_fragment(buffer);
        if (buffer->in_fragment) {
            return 0;
        }
        if (!buffer->is_last_fragment) {
            continue;
        }
        *record = buffer->data + buffer->record_start;
        *bytes = buffer->record_end - buffer->record_start;
        buffer->record_start = buffer->record_end = buffer->start;
        if (*bytes > 0) {
            return 1;
        }
    }
}

void record_buffer_settle(struct record_buffer *buffer)
{
    if (buffer->record_end != buffer->start) {
        size_t raw = buffer->end - buffer->start;
        memmove(buffer->data + buffer->record_end, buffer->data + buffer->start, raw);
        buffer->start = buffer->record_end;
        buffer->end = buffer->start + raw;
    }
}

bool record_buffer_is_empty(const struct record_buffer *buffer)
{
    return !buffer->in_fragment && buffer->record_start == buffer->end;
}

bool record_buffer_shrink(struct record_buffer *buffer)
{
    if (!record_buffer_is_empty(buffer)) {
        return false;
    }
    uint8_t *small = malloc(buffer->initial_bytes);
    if (small) {
        free(buffer->data);
        buffer->data = small;
        buffer->capacity = buffer->initial_bytes;
        buffer->start = buffer->end = buffer->record_start = buffer->record_end = 0;
    }
    return true; /* without memory it stays large */
}
