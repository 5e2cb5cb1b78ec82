/* biod.h - block I/O of one READ or WRITE request: which RPCs, and how many at a time.
 *
 *   [offset, offset + bytes)   cut into blocks from the offset on, the fragment last
 *   biod_next ──piece──> RPC ──reply──> biod_done(piece, got)
 *
 * A short transfer's tail goes out before the next block. At most `limit` pieces are outstanding (biod_max_read,
 * biod_max_write; 0 means one at a time).
 */
#ifndef NFSCURVE_LOADGEN_BIOD_H
#define NFSCURVE_LOADGEN_BIOD_H

#include <stdbool.h>
#include <stdint.h>

#define BIOD_MAX 32u

struct biod_piece {
    uint64_t offset;
    uint32_t bytes;
};

struct biod {
    uint64_t next, end; /* what has not been cut yet */
    uint32_t block_bytes, limit, n_outstanding, n_tails;
    struct biod_piece tails[BIOD_MAX]; /* of short transfers, to be sent again */
};

void biod_init(struct biod *biod, uint64_t offset, uint64_t bytes, uint32_t block_bytes, uint32_t biod_max);

/* True and the piece to send now; false when the limit is reached or nothing is left to send. */
bool biod_next(struct biod *biod, struct biod_piece *piece);

/* The RPC of this piece ended after `got` of its bytes; the rest is sent again when `again`, else given up. */
void biod_done(struct biod *biod, const struct biod_piece *piece, uint32_t got, bool again);

/* Cuts nothing more; what is outstanding may still end. */
void biod_give_up(struct biod *biod);

bool biod_is_complete(const struct biod *biod);

#endif
