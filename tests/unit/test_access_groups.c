/* test_access_groups.c - every file is in one group, and popularity is independent of size. */
#include "access_groups.h"

#include "dist.h"
#include "layout.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Both directions agree, for slices of a working set that begin and end anywhere. */
static void check_slice(uint32_t n_cycle, uint64_t n_ws, uint64_t first, uint64_t end)
{
    struct access_groups g;
    uint32_t n_groups = dist_access_group_count(n_ws);
    access_groups_init(&g, n_cycle, n_groups);
    uint8_t *found = calloc(end - first, 1);
    for (uint32_t group = 0; group < n_groups; group++) {
        uint64_t place, last = 0, n = access_groups_span(&g, group, first, end, &place), n_inside = 0;
        for (uint64_t i = 0; i < n; i++) {
            uint64_t w;
            if (!access_groups_file(&g, group, place + i, &w)) {
                continue;
            }
            cr_assert_eq(access_groups_of(&g, w), group);
            cr_assert(w >= first && w < end && (n_inside == 0 || w > last));
            last = w;
            found[w - first]++;
            n_inside++;
        }
        cr_assert_leq(n, 1 + 2 * n_inside, "group %u: %lu places for %lu files", group, n, n_inside);
        cr_assert(n == 0 || n_inside > 0);
    }
    for (uint64_t w = first; w < end; w++) {
        cr_assert_eq(found[w - first], 1, "cycle %u, %lu files: %lu is found %u times", n_cycle, n_ws, w,
                     found[w - first]);
    }
    free(found);
}

Test(access_groups, every_file_of_a_slice_is_in_exactly_one_group)
{
    static const uint32_t cycles[] = {1, 11, 12, 100, 1024};
    for (size_t i = 0; i < sizeof cycles / sizeof cycles[0]; i++) {
        check_slice(cycles[i], 1, 0, 1);
        check_slice(cycles[i], 40, 7, 31);
        check_slice(cycles[i], 2000, 0, 2000);
        check_slice(cycles[i], 40000, 12345, 17345);
        check_slice(cycles[i], 180000, 90001, 100000);
    }
}

Test(access_groups, no_files_no_places)
{
    struct access_groups g;
    uint64_t place;
    access_groups_init(&g, 100, 240);
    cr_assert_eq(access_groups_span(&g, 5, 17, 17, &place), 0);
    cr_assert_eq(access_groups_span(&g, 239, 0, 5, &place), 0);
}

static void range(const uint64_t *counts, size_t n, uint64_t *least, uint64_t *most)
{
    *least = *most = counts[0];
    for (size_t i = 1; i < n; i++) {
        *least = counts[i] < *least ? counts[i] : *least;
        *most = counts[i] > *most ? counts[i] : *most;
    }
}

/* A working set of n_ws of n_cycles * 100 files: how often each place of the size cycle is in each class. */
static void check_classes(uint64_t n_cycles, uint64_t n_ws, uint64_t within)
{
    struct access_groups g;
    uint32_t n_groups = dist_access_group_count(n_ws);
    access_groups_init(&g, 100, n_groups);
    uint64_t of_place[100][12] = {{0}}, least, most, *of_group = calloc(n_groups, sizeof *of_group);
    for (uint64_t w = 0; w < n_ws; w++) {
        uint32_t group = access_groups_of(&g, w);
        of_place[layout_working_set_file(n_cycles * 100, n_ws, 100, w) % 100][group % 12]++;
        of_group[group]++;
    }
    for (int place = 0; place < 100; place++) {
        range(of_place[place], 12, &least, &most);
        cr_assert_leq(most - least, within, "%lu of %lu: place %d is in the classes %lu to %lu times", n_ws,
                      n_cycles * 100, place, least, most);
    }
    range(of_group, n_groups, &least, &most);
    cr_assert_leq(most - least, 1 + most / 20, "%u groups have %lu to %lu files", n_groups, least, most);
    free(of_group);
}

Test(access_groups, every_size_is_in_every_class_equally_often)
{
    check_classes(360, 3600, 0);     /* 10 %: twelve turns of 300 */
    check_classes(120, 3600, 0);     /* 30 % */
    check_classes(1080, 32400, 0);   /* 30 %, 22 groups of a class */
    check_classes(1200, 36000, 0);   /* 25 groups of a class, as many as a turn has blocks: skip is not 0 */
    check_classes(1000, 10000, 4);   /* 10 %, not in whole twelves of turns */
    check_classes(100, 3000, 3);     /* 30 % */
    check_classes(3333, 100000, 12); /* 30.003 %, 83 of each size in each class */
    check_classes(300, 30000, 1);    /* all of them */
}
