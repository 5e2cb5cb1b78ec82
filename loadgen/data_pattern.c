/* data_pattern.c - see data_pattern.h. */
#include "data_pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_BYTES  (2u << 20) /* a second copy of its first block behind it makes any place good for a whole block */
#define BLOCK_BYTES 4096u
#define N_TWINS     16u /* blocks that the deduplicable ones are copies of */
#define CELL_MAGIC  UINT64_C(0x6e66736375727665)

struct cell_stamp {
    uint64_t magic;
    uint64_t generation;
    uint64_t file;
    uint64_t offset;
};

int data_pattern_init(struct data_pattern *pattern, const struct workload *workload, uint64_t seed)
{
    memset(pattern, 0, sizeof *pattern);
    rng_seed(&pattern->rng, seed, 0x64617461);
    pattern->verify = workload->verify_data;
    pattern->salt = rng_u64(&pattern->rng);
    pattern->dedupe_percent = workload->dedupe_percent;
    uint32_t unit = pattern->verify ? DATA_CELL_BYTES : BLOCK_BYTES;
    pattern->zero_bytes = (uint32_t)(unit * workload->compress_percent / 100) & ~7u;
    if (pattern->zero_bytes > unit - 64) {
        pattern->zero_bytes = unit - 64; /* room for the stamp */
    }
    pattern->pool = malloc(POOL_BYTES + BLOCK_BYTES);
    if (pattern->pool == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < POOL_BYTES; i += 8) {
        uint64_t r = rng_u64(&pattern->rng);
        memcpy(pattern->pool + i, &r, 8);
    }
    memcpy(pattern->pool + POOL_BYTES, pattern->pool, BLOCK_BYTES);
    return 0;
}

void data_pattern_fini(struct data_pattern *pattern)
{
    free(pattern->pool);
    pattern->pool = NULL;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A whole cell from its stamp: a chain of mixes over the stamp's words, then zeros. */
static void make_cell(const struct data_pattern *p, uint8_t cell[static DATA_CELL_BYTES], uint64_t file,
                      uint64_t offset, uint64_t generation)
{
    struct cell_stamp stamp = {CELL_MAGIC, generation, file, offset};
    memcpy(cell, &stamp, sizeof stamp);
    uint64_t state = mix(file * UINT64_C(0x9e3779b97f4a7c15) ^ mix(offset ^ mix(generation)));
    uint32_t end = DATA_CELL_BYTES - p->zero_bytes;
    for (uint32_t i = sizeof stamp; i < end; i += 8) {
        state += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t word = mix(state);
        memcpy(cell + i, &word, 8);
    }
    memset(cell + end, 0, p->zero_bytes);
}

static void fill_cells(const struct data_pattern *p, uint8_t *out, size_t bytes, uint64_t file, uint64_t offset,
                       uint64_t generation)
{
    uint8_t cell[DATA_CELL_BYTES];
    while (bytes > 0) {
        uint64_t start = offset / DATA_CELL_BYTES * DATA_CELL_BYTES;
        size_t skip = (size_t)(offset - start), n = DATA_CELL_BYTES - skip;
        if (n > bytes) {
            n = bytes;
        }
        make_cell(p, cell, file, start, generation);
        memcpy(out, cell + skip, n);
        out += n;
        offset += n;
        bytes -= n;
    }
}

static void fill_block(struct data_pattern *p, uint8_t *out, size_t n)
{
    bool is_twin = p->dedupe_percent > 0 && rng_unit(&p->rng) * 100 < p->dedupe_percent;
    uint64_t at = is_twin ? rng_below(&p->rng, N_TWINS) * BLOCK_BYTES : rng_below(&p->rng, POOL_BYTES / 8) * 8;
    memcpy(out, p->pool + at, n);
    if (!is_twin && n >= 16) {
        uint64_t stamp[2] = {p->salt, p->n_blocks++};
        memcpy(out, stamp, sizeof stamp);
    }
    size_t end = BLOCK_BYTES - p->zero_bytes;
    if (n > end) {
        memset(out + end, 0, n - end);
    }
}

void data_pattern_fill(struct data_pattern *pattern, uint8_t *out, size_t bytes, uint64_t file, uint64_t offset,
                       uint64_t generation)
{
    if (pattern->verify) {
        fill_cells(pattern, out, bytes, file, offset, generation);
        return;
    }
    for (size_t i = 0; i < bytes; i += BLOCK_BYTES) {
        fill_block(pattern, out + i, bytes - i < BLOCK_BYTES ? bytes - i : BLOCK_BYTES);
    }
}

bool data_pattern_check(const struct data_pattern *pattern, const uint8_t *data, size_t bytes, uint64_t file,
                        uint64_t offset, uint64_t max_generation, char *what, size_t what_bytes)
{
    uint8_t cell[DATA_CELL_BYTES];
    size_t skip = (size_t)((DATA_CELL_BYTES - offset % DATA_CELL_BYTES) % DATA_CELL_BYTES);
    for (size_t i = skip; i + DATA_CELL_BYTES <= bytes; i += DATA_CELL_BYTES) {
        struct cell_stamp stamp;
        memcpy(&stamp, data + i, sizeof stamp);
        if (stamp.magic != CELL_MAGIC || stamp.file != file || stamp.offset != offset + i ||
            stamp.generation > max_generation) {
            snprintf(what, what_bytes,
                     "offset %llu: stamp %llx of file %llu, offset %llu, generation %llu (asked: file %llu, generation "
                     "<= %llu)",
                     (unsigned long long)(offset + i), (unsigned long long)stamp.magic, (unsigned long long)stamp.file,
                     (unsigned long long)stamp.offset, (unsigned long long)stamp.generation, (unsigned long long)file,
                     (unsigned long long)max_generation);
            return false;
        }
        make_cell(pattern, cell, file, offset + i, stamp.generation);
        if (memcmp(cell, data + i, DATA_CELL_BYTES) != 0) {
            size_t k = 0;
            while (cell[k] == data[i + k]) {
                k++;
            }
            snprintf(what, what_bytes, "offset %llu: byte %02x instead of %02x", (unsigned long long)(offset + i + k),
                     data[i + k], cell[k]);
            return false;
        }
    }
    return true;
}
