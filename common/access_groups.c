/* access_groups.c - see access_groups.h.
 *
 * Places count blocks, with `skip` empty ones behind each turn:
 *
 *   block    0 1 2 ... B-1              B  B+1 ...           B = blocks_per_turn
 *   place'   0 1 2 ... B-1 (skip empty) B+skip ...           place' mod n_of_class tells the groups of a class apart
 */
#include "access_groups.h"

#include "dist.h"
#include "divisor.h"

#define N_CLASSES ((uint32_t)DIST_ACCESS_GROUPS)
#define STEP      5u

void access_groups_init(struct access_groups *g, uint32_t n_cycle, uint32_t n_groups)
{
    n_cycle = n_cycle > 0 ? n_cycle : 1;
    *g = (struct access_groups){.n_of_class = n_groups >= N_CLASSES ? n_groups / N_CLASSES : 1,
                                .blocks_per_turn = n_cycle / greatest_common_divisor(n_cycle, N_CLASSES)};
    while (greatest_common_divisor(g->blocks_per_turn + g->skip, g->n_of_class) != 1) {
        g->skip++;
    }
}

static uint64_t place_of_block(const struct access_groups *g, uint64_t block)
{
    return block + block / g->blocks_per_turn * g->skip;
}

uint32_t access_groups_of(const struct access_groups *g, uint64_t w)
{
    uint64_t block = w / N_CLASSES, turn = block / g->blocks_per_turn;
    uint32_t class = (uint32_t)((w + STEP * turn) % N_CLASSES);
    return class + N_CLASSES * (uint32_t)(place_of_block(g, block) % g->n_of_class);
}

bool access_groups_file(const struct access_groups *g, uint32_t group, uint64_t place, uint64_t *w)
{
    uint64_t at = group / N_CLASSES + place * g->n_of_class;
    uint64_t turn = at / (g->blocks_per_turn + g->skip), within = at % (g->blocks_per_turn + g->skip);
    if (within >= g->blocks_per_turn) {
        return false;
    }
    uint64_t block = turn * g->blocks_per_turn + within;
    uint32_t moved = (uint32_t)(STEP * turn % N_CLASSES);
    *w = block * N_CLASSES + (group % N_CLASSES + N_CLASSES - moved) % N_CLASSES;
    return true;
}

static bool is_within(const struct access_groups *g, uint32_t group, uint64_t place, uint64_t first, uint64_t end)
{
    uint64_t w;
    return access_groups_file(g, group, place, &w) && w >= first && w < end;
}

uint64_t access_groups_span(const struct access_groups *g, uint32_t group, uint64_t first, uint64_t end,
                            uint64_t *place)
{
    uint64_t of_class = group / N_CLASSES, n = g->n_of_class;
    *place = 0;
    if (first >= end) {
        return 0;
    }
    uint64_t from = place_of_block(g, first / N_CLASSES), to = place_of_block(g, (end - 1) / N_CLASSES);
    if (to < of_class) {
        return 0;
    }
    uint64_t begin = from > of_class ? (from - of_class + n - 1) / n : 0, stop = (to - of_class) / n + 1;
    /* The blocks at both ends may belong to the slice in part, and places at the ends may be empty. */
    while (begin < stop && !is_within(g, group, begin, first, end)) {
        begin++;
    }
    while (begin < stop && !is_within(g, group, stop - 1, first, end)) {
        stop--;
    }
    *place = begin;
    return stop - begin;
}
