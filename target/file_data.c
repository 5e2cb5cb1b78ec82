#include "file_data.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FAN_BITS     8u
#define FAN          (1u << FAN_BITS)
#define SMALLEST     512u
#define MAX_UNSTABLE 64u /* ranges kept per file; beyond, the oldest counts as flushed by the server itself */

struct block {
    atomic_uint refs;
    uint32_t capacity; /* bytes of data; what lies between it and the block's end is zeros */
    uint8_t data[];
};

struct node {
    void *slots[FAN]; /* struct node or, at the lowest level, struct block */
};

struct range {
    uint64_t start, end;
};

struct file_data {
    void *root;
    unsigned height; /* levels of nodes above the blocks */
    uint64_t held_bytes;
    struct range *unstable;
    unsigned n_unstable, unstable_capacity;
};

static const uint8_t zeros[FILE_DATA_BLOCK_BYTES];

struct file_data *file_data_create(void)
{
    return calloc(1, sizeof(struct file_data));
}

static void put_block(void *arg)
{
    struct block *block = arg;
    if (atomic_fetch_sub_explicit(&block->refs, 1, memory_order_acq_rel) == 1) {
        free(block);
    }
}

/* Frees every block of number >= first under slot; `base` is the number of the slot's first block. Returns the bytes
 * that were held. */
static uint64_t prune(void **slot, unsigned height, uint64_t base, uint64_t first)
{
    if (!*slot) {
        return 0;
    }
    uint64_t freed = 0;
    if (height == 0) {
        if (base >= first) {
            struct block *block = *slot;
            freed = block->capacity;
            put_block(block);
            *slot = NULL;
        }
        return freed;
    }
    struct node *node = *slot;
    uint64_t span = UINT64_C(1) << (FAN_BITS * (height - 1));
    for (unsigned i = 0; i < FAN; i++) {
        uint64_t from = base + i * span;
        if (from + span > first) {
            freed += prune(&node->slots[i], height - 1, from, first);
        }
    }
    if (base >= first) {
        free(node);
        *slot = NULL;
    }
    return freed;
}

void file_data_destroy(struct file_data *data)
{
    if (data) {
        prune(&data->root, data->height, 0, 0);
        free(data->unstable);
        free(data);
    }
}

static uint64_t blocks_under(unsigned height)
{
    return UINT64_C(1) << (FAN_BITS * height);
}

static struct block *find_block(const struct file_data *data, uint64_t number)
{
    if (number >= blocks_under(data->height)) {
        return NULL;
    }
    void *at = data->root;
    for (unsigned level = data->height; level > 0 && at; level--) {
        at = ((struct node *)at)->slots[number >> (FAN_BITS * (level - 1)) & (FAN - 1)];
    }
    return at;
}

/* The place of a block's pointer; the tree grows as needed. NULL when memory is short. */
static void **make_slot(struct file_data *data, uint64_t number)
{
    while (number >= blocks_under(data->height)) {
        if (data->root) {
            struct node *above = calloc(1, sizeof *above);
            if (!above) {
                return NULL;
            }
            above->slots[0] = data->root;
            data->root = above;
        }
        data->height++;
    }
    void **slot = &data->root;
    for (unsigned level = data->height; level > 0; level--) {
        if (!*slot) {
            *slot = calloc(1, sizeof(struct node));
            if (!*slot) {
                return NULL;
            }
        }
        slot = &((struct node *)*slot)->slots[number >> (FAN_BITS * (level - 1)) & (FAN - 1)];
    }
    return slot;
}

/* A power of two, so that a file that grows by small appends is copied a few times only. */
static uint32_t capacity_for(uint32_t bytes)
{
    uint32_t capacity = SMALLEST;
    while (capacity < bytes) {
        capacity *= 2;
    }
    return capacity;
}

/* Writes n bytes at `at` of one block. */
static int write_block(struct file_data *data, uint64_t number, uint32_t at, const uint8_t *bytes, uint32_t n)
{
    void **slot = make_slot(data, number);
    if (!slot) {
        return -ENOMEM;
    }
    struct block *old = *slot;
    uint32_t end = at + n;
    if (old && old->capacity >= end && atomic_load_explicit(&old->refs, memory_order_acquire) == 1) {
        memcpy(old->data + at, bytes, n);
        return 0;
    }
    uint32_t capacity = capacity_for(old && old->capacity > end ? old->capacity : end);
    struct block *block = malloc(sizeof *block + capacity);
    if (!block) {
        return -ENOMEM;
    }
    atomic_init(&block->refs, 1);
    block->capacity = capacity;
    uint32_t kept = old ? old->capacity : 0;
    if (old) {
        memcpy(block->data, old->data, kept);
        data->held_bytes -= old->capacity;
        put_block(old);
    }
    memset(block->data + kept, 0, capacity - kept);
    memcpy(block->data + at, bytes, n);
    data->held_bytes += capacity;
    *slot = block;
    return 0;
}

int file_data_write(struct file_data *data, uint64_t offset, const uint8_t *bytes, size_t n, int64_t *delta_bytes)
{
    uint64_t before = data->held_bytes;
    int error = 0;
    while (n > 0 && error == 0) {
        uint32_t at = (uint32_t)(offset % FILE_DATA_BLOCK_BYTES);
        uint32_t part = FILE_DATA_BLOCK_BYTES - at;
        if (part > n) {
            part = (uint32_t)n;
        }
        error = write_block(data, offset / FILE_DATA_BLOCK_BYTES, at, bytes, part);
        offset += part;
        bytes += part;
        n -= part;
    }
    *delta_bytes = (int64_t)(data->held_bytes - before);
    return error;
}

int64_t file_data_truncate(struct file_data *data, uint64_t size)
{
    uint64_t before = data->held_bytes;
    uint64_t first = (size + FILE_DATA_BLOCK_BYTES - 1) / FILE_DATA_BLOCK_BYTES;
    if (first < blocks_under(data->height)) {
        data->held_bytes -= prune(&data->root, data->height, 0, first);
    }
    if (!data->root) {
        data->height = 0;
    }
    uint32_t tail = (uint32_t)(size % FILE_DATA_BLOCK_BYTES);
    struct block *block = tail ? find_block(data, size / FILE_DATA_BLOCK_BYTES) : NULL;
    if (block && block->capacity > tail) {
        /* The cut-off end must read as zeros when the file grows again. When memory is short for a copy, a reader in
         * flight may see zeros there. */
        if (write_block(data, size / FILE_DATA_BLOCK_BYTES, tail, zeros, block->capacity - tail) < 0) {
            memset(block->data + tail, 0, block->capacity - tail);
        }
    }
    for (unsigned i = 0; i < data->n_unstable; i++) {
        struct range *r = &data->unstable[i];
        r->end = r->end > size ? size : r->end;
        r->start = r->start > r->end ? r->end : r->start;
    }
    return (int64_t)(data->held_bytes - before);
}

unsigned file_data_read(const struct file_data *data, uint64_t offset, size_t n, struct rpc_segment *segments)
{
    unsigned n_segments = 0;
    while (n > 0) {
        uint32_t at = (uint32_t)(offset % FILE_DATA_BLOCK_BYTES);
        uint32_t part = FILE_DATA_BLOCK_BYTES - at;
        if (part > n) {
            part = (uint32_t)n;
        }
        struct block *block = data ? find_block(data, offset / FILE_DATA_BLOCK_BYTES) : NULL;
        uint32_t stored = block && block->capacity > at ? block->capacity - at : 0;
        if (stored > part) {
            stored = part;
        }
        if (stored > 0) {
            atomic_fetch_add_explicit(&block->refs, 1, memory_order_relaxed);
            segments[n_segments++] =
                (struct rpc_segment){.data = block->data + at, .bytes = stored, .release = put_block, .arg = block};
        }
        if (part > stored) {
            segments[n_segments++] = (struct rpc_segment){.data = zeros, .bytes = part - stored};
        }
        offset += part;
        n -= part;
    }
    return n_segments;
}

uint64_t file_data_bytes(const struct file_data *data)
{
    return data->held_bytes;
}

void file_data_note_unstable(struct file_data *data, uint64_t offset, uint64_t n)
{
    if (data->n_unstable > 0) {
        struct range *last = &data->unstable[data->n_unstable - 1];
        if (offset <= last->end && offset + n >= last->start) {
            last->start = offset < last->start ? offset : last->start;
            last->end = offset + n > last->end ? offset + n : last->end;
            return;
        }
    }
    if (data->n_unstable == MAX_UNSTABLE) {
        memmove(data->unstable, data->unstable + 1, (MAX_UNSTABLE - 1) * sizeof *data->unstable);
        data->n_unstable--;
    }
    if (data->n_unstable == data->unstable_capacity) {
        unsigned capacity = data->unstable_capacity ? data->unstable_capacity * 2 : 2;
        struct range *grown = realloc(data->unstable, capacity * sizeof *grown);
        if (!grown) {
            return; /* counts as flushed already, which is always allowed */
        }
        data->unstable = grown;
        data->unstable_capacity = capacity;
    }
    data->unstable[data->n_unstable++] = (struct range){.start = offset, .end = offset + n};
}

void file_data_commit(struct file_data *data, uint64_t offset, uint64_t n)
{
    uint64_t end = n == 0 || offset + n < offset ? UINT64_MAX : offset + n;
    unsigned kept = 0;
    for (unsigned i = 0; i < data->n_unstable; i++) {
        struct range r = data->unstable[i];
        if (offset <= r.start && end >= r.end) {
            continue;
        }
        if (offset <= r.start && end > r.start) {
            r.start = end;
        } else if (offset < r.end && end >= r.end) {
            r.end = offset;
        }
        /* A COMMIT of the middle leaves the range whole: more than needed may be lost, never less. */
        data->unstable[kept++] = r;
    }
    data->n_unstable = kept;
    if (kept == 0) {
        free(data->unstable);
        data->unstable = NULL;
        data->unstable_capacity = 0;
    }
}

uint64_t file_data_lose_unstable(struct file_data *data)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < data->n_unstable; i++) {
        struct range r = data->unstable[i];
        while (r.start < r.end) {
            uint32_t at = (uint32_t)(r.start % FILE_DATA_BLOCK_BYTES);
            uint64_t part = FILE_DATA_BLOCK_BYTES - at;
            if (part > r.end - r.start) {
                part = r.end - r.start;
            }
            if (find_block(data, r.start / FILE_DATA_BLOCK_BYTES)) {
                write_block(data, r.start / FILE_DATA_BLOCK_BYTES, at, zeros, (uint32_t)part);
            }
            r.start += part;
            lost += part;
        }
    }
    file_data_commit(data, 0, 0);
    return lost;
}
