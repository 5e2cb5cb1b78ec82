#include "layout.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void check_map(uint64_t n, uint64_t n_ws, uint32_t cycle)
{
    uint64_t last = 0;
    for (uint64_t w = 0; w < n_ws; w++) {
        uint64_t file = layout_working_set_file(n, n_ws, cycle, w);
        cr_assert(file < n && (w == 0 || file > last), "%lu of %lu files, cycle %u: pick %lu is file %lu after %lu",
                  n_ws, n, cycle, w, file, last);
        cr_assert_eq(layout_working_set_from(n, n_ws, cycle, file), w);
        cr_assert_eq(layout_working_set_from(n, n_ws, cycle, file + 1), w + 1);
        last = file;
    }
    cr_assert_eq(layout_working_set_from(n, n_ws, cycle, 0), 0);
    cr_assert_eq(layout_working_set_from(n, n_ws, cycle, n), n_ws);
}

Test(layout, working_set_files_grow_and_are_found_again)
{
    static const uint32_t cycles[] = {1, 2, 3, 10, 100, 128, 1000};
    for (size_t i = 0; i < sizeof cycles / sizeof cycles[0]; i++) {
        check_map(1, 1, cycles[i]);
        check_map(7, 2, cycles[i]);
        check_map(99, 98, cycles[i]);
        check_map(1234, 1, cycles[i]);
        check_map(1234, 371, cycles[i]);
        check_map(1234, 1233, cycles[i]);
        check_map(1234, 1234, cycles[i]);
        check_map(3000, 900, cycles[i]);
    }
}

/* A cycle of 100 sizes, one of which may hold most of the bytes: each place must be taken equally often. */
static void check_places(uint64_t n_cycles, uint64_t n_ws)
{
    uint64_t taken[100] = {0}, least = UINT64_MAX, most = 0;
    for (uint64_t w = 0; w < n_ws; w++) {
        taken[layout_working_set_file(n_cycles * 100, n_ws, 100, w) % 100]++;
    }
    for (int place = 0; place < 100; place++) {
        least = taken[place] < least ? taken[place] : least;
        most = taken[place] > most ? taken[place] : most;
    }
    cr_assert(most - least <= 1, "%lu cycles, %lu picks: a place is taken %lu to %lu times", n_cycles, n_ws, least,
              most);
}

Test(layout, working_set_takes_every_place_of_the_size_cycle_equally_often)
{
    check_places(100, 3000);
    check_places(100, 1000);
    check_places(333, 9990);
    check_places(1000, 33333);
    check_places(77, 5);
    check_places(50, 5000);
}

Test(layout, working_set_is_spread_within_a_cycle)
{
    /* 30 of 100: 3.3 files from pick to pick in the mean, nowhere more than 9 */
    for (uint64_t w = 1; w < 3000; w++) {
        uint64_t gap = layout_working_set_file(10000, 3000, 100, w) - layout_working_set_file(10000, 3000, 100, w - 1);
        cr_assert(gap <= 9, "gap of %lu before pick %lu", gap, w);
    }
}
