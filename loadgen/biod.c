/* biod.c - see biod.h. */
#include "biod.h"

#include <assert.h>
#include <string.h>

void biod_init(struct biod *biod, uint64_t offset, uint64_t bytes, uint32_t block_bytes, uint32_t biod_max)
{
    assert(block_bytes > 0);
    memset(biod, 0, sizeof *biod);
    biod->next = offset;
    biod->end = offset + bytes;
    biod->block_bytes = block_bytes;
    biod->limit = biod_max == 0 ? 1 : biod_max > BIOD_MAX ? BIOD_MAX : biod_max;
}

bool biod_next(struct biod *biod, struct biod_piece *piece)
{
    if (biod->n_outstanding >= biod->limit) {
        return false;
    }
    if (biod->n_tails > 0) {
        *piece = biod->tails[--biod->n_tails];
    } else if (biod->next < biod->end) {
        uint64_t left = biod->end - biod->next;
        piece->offset = biod->next;
        piece->bytes = left < biod->block_bytes ? (uint32_t)left : biod->block_bytes;
        biod->next += piece->bytes;
    } else {
        return false;
    }
    biod->n_outstanding++;
    return true;
}

void biod_done(struct biod *biod, const struct biod_piece *piece, uint32_t got, bool again)
{
    assert(biod->n_outstanding > 0 && got <= piece->bytes);
    biod->n_outstanding--;
    /* There is room: a tail takes the place of an outstanding piece. */
    if (again && got < piece->bytes) {
        biod->tails[biod->n_tails++] = (struct biod_piece){piece->offset + got, piece->bytes - got};
    }
}

void biod_give_up(struct biod *biod)
{
    biod->next = biod->end;
    biod->n_tails = 0;
}

bool biod_is_complete(const struct biod *biod)
{
    return biod->n_outstanding == 0 && biod->n_tails == 0 && biod->next >= biod->end;
}
