/* access_groups.h - which access group of SFS's popularity a working-set file is in, and which files a group has.
 *
 * Groups are numbered 0..n-1, n a multiple of 12. How popular a group is depends on its class, group mod 12, alone
 * (dist_access_group_weights). Working-set files are those of a load generator (layout.h), whatever process owns them.
 *
 *   w      0  1  2 ... 11 | 12 13 ... 23 | ...            blocks of 12: each has a file of every class
 *   turn   |<----- a turn: the least common multiple of 12 and the size cycle ----->|<----- turn 1 ...
 *   class  (w + 5 * turn) mod 12
 *   group  class + 12 * ((block + skip * turn) mod (n / 12))
 *
 * Sizes come in a cycle, so w mod 12 alone would lock in with it: with 100 sizes, the largest files would be in three
 * of the classes, all of them popular or none. Moved on by 5, which is coprime to 12, from turn to turn, every size
 * gets into every class equally often: how popular a file is says nothing of how large it is. `skip` is the least that
 * does the same for the groups of a class. Nothing is stored: both directions are arithmetic.
 */
#ifndef NFSCURVE_COMMON_ACCESS_GROUPS_H
#define NFSCURVE_COMMON_ACCESS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

struct access_groups {
    uint32_t n_of_class;      /* groups of a class */
    uint32_t blocks_per_turn; /* of 12 files */
    uint32_t skip;
};

/* n_cycle: length of the cycle of sizes, from 1. n_groups: dist_access_group_count(); rounded down to a multiple of 12,
 * 12 at least. */
void access_groups_init(struct access_groups *g, uint32_t n_cycle, uint32_t n_groups);

uint32_t access_groups_of(const struct access_groups *g, uint64_t w);

/* A group's places 0, 1, 2 ... hold its files in rising order; a few places are empty. Those whose files are in
 * [first, end) are *place, *place + 1, ... in the number returned; the outermost two are never empty. */
uint64_t access_groups_span(const struct access_groups *g, uint32_t group, uint64_t first, uint64_t end,
                            uint64_t *place);

/* The file in a place of the group; false when it is empty. */
bool access_groups_file(const struct access_groups *g, uint32_t group, uint64_t place, uint64_t *w);

#endif
