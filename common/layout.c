/* layout.c - which files of a load generator's file space are its working set.
 *
 * Sizes repeat in a cycle of C files (workload_file_bytes), and a few large ones hold most of the bytes. "Every third
 * file" locks in with that cycle and picks some places of it too often and others never, which moves the working set's
 * bytes by several per cent from load to load. Here every place is picked equally often, by construction:
 *
 *   key of place p of any cycle:   p * M mod C, M coprime to C and near the golden section, so that near keys are
 *                                  places far apart
 *   picks of cycle q:              the places whose keys are cum(q), cum(q) + 1, ... cum(q + 1) - 1, modulo C
 *   cum(q):                        floor(q * C * W / n), the picks of all cycles before q
 *
 * Keys are dealt out one after the other over all cycles, so C picks in a row hold every place exactly once. Within a
 * cycle the picks are numbered by file.
 */
#include "layout.h"
#include "divisor.h"

#include <assert.h>
#include <stdbool.h>

struct picks {
    uint64_t first_file; /* of the cycle */
    uint32_t n_files;    /* of the cycle: fewer in the last one */
    uint64_t first;      /* working-set number of its first pick */
    uint32_t n;
};

static uint64_t picks_before(uint64_t n_files, uint64_t n_ws, uint64_t file)
{
    return file >= n_files ? n_ws : (uint64_t)((unsigned __int128)file * n_ws / n_files);
}

static struct picks picks_of_cycle(uint64_t n_files, uint64_t n_ws, uint32_t n_cycle, uint64_t cycle)
{
    uint64_t begin = cycle * n_cycle, end = begin + n_cycle < n_files ? begin + n_cycle : n_files;
    uint64_t first = picks_before(n_files, n_ws, begin);
    return (struct picks){.first_file = begin,
                          .n_files = (uint32_t)(end - begin),
                          .first = first,
                          .n = (uint32_t)(picks_before(n_files, n_ws, end) - first)};
}

static uint32_t key_step(uint32_t n_cycle)
{
    uint32_t step = (uint32_t)(n_cycle * 0.6180339887);
    if (step == 0) {
        return 1;
    }
    while (greatest_common_divisor(step, n_cycle) != 1) {
        step++;
    }
    return step;
}

/* Walks the places of a cycle in order; says of each whether it is a pick. */
struct walk {
    struct picks picks;
    uint32_t n_cycle, step;
    uint32_t place;
    uint32_t key; /* of `place`, less the first key of the cycle, modulo n_cycle */
};

static struct walk walk_begin(struct picks picks, uint32_t n_cycle)
{
    return (struct walk){.picks = picks,
                         .n_cycle = n_cycle,
                         .step = key_step(n_cycle) % n_cycle,
                         .key = (n_cycle - (uint32_t)(picks.first % n_cycle)) % n_cycle};
}

static bool walk_is_pick(const struct walk *walk)
{
    const struct picks *p = &walk->picks;
    if (p->n_files == walk->n_cycle) {
        return walk->key < p->n;
    }
    /* The last, shorter cycle does not have every key: its picks are spread evenly. */
    return (uint64_t)(walk->place + 1) * p->n / p->n_files > (uint64_t)walk->place * p->n / p->n_files;
}

static void walk_on(struct walk *walk)
{
    walk->place++;
    walk->key += walk->step;
    if (walk->key >= walk->n_cycle) {
        walk->key -= walk->n_cycle;
    }
}

uint64_t layout_working_set_file(uint64_t lg_n_files, uint64_t lg_n_working_set, uint32_t n_cycle, uint64_t w)
{
    assert(w < lg_n_working_set && lg_n_working_set <= lg_n_files && n_cycle > 0);
    uint64_t cycle = (uint64_t)((unsigned __int128)w * lg_n_files / lg_n_working_set) / n_cycle;
    struct picks picks = picks_of_cycle(lg_n_files, lg_n_working_set, n_cycle, cycle);
    while (w >= picks.first + picks.n) { /* the division rounds down: at most one cycle further */
        picks = picks_of_cycle(lg_n_files, lg_n_working_set, n_cycle, ++cycle);
    }
    assert(w >= picks.first);
    struct walk walk = walk_begin(picks, n_cycle);
    uint64_t n_left = w - picks.first;
    while (!walk_is_pick(&walk) || n_left-- > 0) {
        walk_on(&walk);
    }
    return picks.first_file + walk.place;
}

uint64_t layout_working_set_from(uint64_t lg_n_files, uint64_t lg_n_working_set, uint32_t n_cycle, uint64_t file)
{
    if (file >= lg_n_files) {
        return lg_n_working_set;
    }
    struct picks picks = picks_of_cycle(lg_n_files, lg_n_working_set, n_cycle, file / n_cycle);
    struct walk walk = walk_begin(picks, n_cycle);
    uint64_t w = picks.first;
    while (walk.place < file % n_cycle) {
        w += walk_is_pick(&walk);
        walk_on(&walk);
    }
    return w;
}
