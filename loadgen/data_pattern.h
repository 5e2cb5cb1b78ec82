/* data_pattern.h - what is written into files, and whether what is read back is it.
 *
 * Without verify_data: bytes of a random pool from a random place, every 4 KiB made unique by a stamp, so that no
 * server can compress or deduplicate them; compress_percent of each 4 KiB is zeros, and dedupe_percent of the 4 KiB
 * blocks are copies of a few.
 *
 * With verify_data: the file is a row of cells of 1 KiB by absolute offset. A cell starts with a stamp {magic, file,
 * offset, generation} and the rest follows from the stamp, so that one wrong bit, a cell of another file or place, and
 * a generation that was never written are all told apart. (Cells differ, so dedupe_percent has no effect then.) Sizes
 * and offsets must be multiples of a cell.
 */
#ifndef NFSCURVE_LOADGEN_DATA_PATTERN_H
#define NFSCURVE_LOADGEN_DATA_PATTERN_H

#include "rng.h"
#include "workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DATA_CELL_BYTES 1024u

struct data_pattern {
    struct rng rng;
    uint8_t *pool;
    uint64_t n_blocks;   /* made unique so far */
    uint64_t salt;       /* makes the blocks of this process unlike any other's */
    uint32_t zero_bytes; /* of each 4 KiB block (of each KiB when verifying) */
    double dedupe_percent;
    bool verify;
};

/* 0 or -ENOMEM. */
int data_pattern_init(struct data_pattern *pattern, const struct workload *workload, uint64_t seed);
void data_pattern_fini(struct data_pattern *pattern);

/* `bytes` of data for `file` (any number that is the file's own over the target) at `offset`. */
void data_pattern_fill(struct data_pattern *pattern, uint8_t *out, size_t bytes, uint64_t file, uint64_t offset,
                       uint64_t generation);

/* With verify only: checks the whole cells of what was read; generations up to max_generation may be there. False and a
 * description when wrong. */
bool data_pattern_check(const struct data_pattern *pattern, const uint8_t *data, size_t bytes, uint64_t file,
                        uint64_t offset, uint64_t max_generation, char *what, size_t what_bytes);

#endif
