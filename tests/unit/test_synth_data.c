#include "fs_types.h"
#include "synth_data.h"

#include <criterion/criterion.h>
#include <string.h>

Test(synth_data, is_the_same_every_time)
{
    struct synth_data *a = synth_data_create(), *b = synth_data_create();
    cr_assert_eq(memcmp(synth_data_at(a, 7, 123456789), synth_data_at(b, 7, 123456789), FS_MAX_TRANSFER), 0);
    synth_data_destroy(a);
    synth_data_destroy(b);
}

Test(synth_data, overlapping_reads_agree_anywhere)
{
    struct synth_data *synth = synth_data_create();
    const uint64_t places[] = {0, 4194301 - 500, UINT64_C(5) << 30, UINT64_C(1) << 61};
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned step = 1; step < 2000; step += 97) {
            cr_assert_eq(
                memcmp(synth_data_at(synth, 9, places[i]) + step, synth_data_at(synth, 9, places[i] + step), 5000), 0);
        }
    }
    synth_data_destroy(synth);
}

Test(synth_data, other_files_and_other_places_have_other_bytes)
{
    struct synth_data *synth = synth_data_create();
    cr_assert_neq(memcmp(synth_data_at(synth, 1, 0), synth_data_at(synth, 2, 0), 512), 0);
    cr_assert_neq(memcmp(synth_data_at(synth, 1, 0), synth_data_at(synth, 1, 4 << 20), 512), 0);
    cr_assert_neq(memcmp(synth_data_at(synth, 1, 0), synth_data_at(synth, 1, 65536), 512), 0);
    synth_data_destroy(synth);
}
