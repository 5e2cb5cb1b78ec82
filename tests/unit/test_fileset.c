#include "fileset.h"

#include <criterion/criterion.h>
#include <string.h>

static struct workload workload(void)
{
    static uint64_t cycle[] = {10000};
    struct workload w = {.file_size_kind = FILE_SIZE_FIXED,
                         .file_size_bytes = 10000,
                         .files_per_directory = 30,
                         .directory_depth = 1,
                         .growth_limit_percent = 10,
                         .cycle = cycle,
                         .n_cycle = 1,
                         .cycle_bytes = 10000};
    return w;
}

static struct process_layout layout(uint64_t first, uint64_t n, uint64_t lg_n, uint64_t lg_ws)
{
    struct process_layout l = {.client = 1,
                               .process = 2,
                               .first_file = first,
                               .n_files = n,
                               .file_bytes = n * 10000,
                               .lg_n_files = lg_n,
                               .lg_n_working_set = lg_ws,
                               .n_access_groups = 12,
                               .n_directories = (n + 29) / 30,
                               .n_symlinks = 20,
                               .n_non_io_files = 100};
    l.first_working_set = layout_working_set_from(lg_n, lg_ws, 1, first);
    l.n_working_set = layout_working_set_from(lg_n, lg_ws, 1, first + n) - l.first_working_set;
    return l;
}

static struct fileset make(const struct workload *w, const struct process_layout *l)
{
    struct fileset fs;
    char message[200];
    cr_assert_eq(fileset_init(&fs, w, l, message, sizeof message), 0, "%s", message);
    return fs;
}

Test(fileset, slices_of_any_number_of_processes_have_every_working_set_file_once)
{
    struct workload w = workload();
    for (uint64_t n_processes = 1; n_processes <= 16; n_processes *= 4) {
        static uint8_t seen[10000];
        memset(seen, 0, sizeof seen);
        uint64_t n = 0;
        for (uint64_t p = 0; p < n_processes; p++) {
            uint64_t first = 10000 * p / n_processes, end = 10000 * (p + 1) / n_processes;
            struct process_layout l = layout(first, end - first, 10000, 1000);
            struct fileset fs = make(&w, &l);
            for (uint32_t k = 0; k < fs.n_ws; k++) {
                uint64_t j = fileset_ws_file(&fs, k);
                cr_assert_lt(j, l.n_files);
                cr_assert_eq(fileset_ws_of_file(&fs, j), k);
                seen[first + j]++;
                n++;
            }
            fileset_fini(&fs);
        }
        cr_expect_eq(n, 1000);
        for (size_t i = 0; i < sizeof seen; i++) {
            cr_assert_leq(seen[i], 1);
        }
    }
}

Test(fileset, files_outside_the_working_set_have_no_row)
{
    struct workload w = workload();
    struct process_layout l = layout(500, 1000, 10000, 1000);
    struct fileset fs = make(&w, &l);
    uint32_t n = 0;
    for (uint64_t j = 0; j < l.n_files; j++) {
        n += fileset_ws_of_file(&fs, j) != FILESET_NONE;
    }
    cr_expect_eq(n, fs.n_ws);
    fileset_fini(&fs);
}

Test(fileset, memory_is_what_the_layout_foretold)
{
    struct workload w = workload();
    for (uint64_t n = 1000; n <= 100000; n *= 10) {
        struct process_layout l = layout(0, n, n, n / 10);
        l.n_non_io_files = n / 50 > 100 ? n / 50 : 100;
        struct fileset fs = make(&w, &l);
        cr_expect_eq(fileset_memory_bytes(&fs), layout_memory_bytes(&l));
        if (n == 100000) {
            cr_expect_leq(fileset_memory_bytes(&fs), 100 * fs.n_ws);
        }
        fileset_fini(&fs);
    }
}

Test(fileset, sizes_are_kept_and_summed)
{
    struct workload w = workload();
    struct process_layout l = layout(0, 1000, 1000, 100);
    struct fileset fs = make(&w, &l);
    cr_expect_eq(fs.io_bytes, 10000000);
    cr_expect_eq(fs.limit_bytes, 11000000);
    fileset_set_ws_bytes(&fs, 3, 0);
    cr_expect_eq(fs.io_bytes, 9990000);
    fileset_set_ws_bytes(&fs, 3, FILESET_MAX_FILE_BYTES);
    cr_expect_eq(fileset_ws_bytes(&fs, 3), FILESET_MAX_FILE_BYTES);
    fileset_set_ws_bytes(&fs, 3, 10000);
    cr_expect_eq(fs.io_bytes, 10000000);
    fileset_fini(&fs);
}

Test(fileset, directories_have_their_files_and_slots_and_no_others)
{
    struct workload w = workload();
    struct process_layout l = layout(0, 1000, 1000, 100);
    struct fileset fs = make(&w, &l);
    uint64_t n_files = 0, n_slots = 0;
    for (uint32_t d = 0; d < fs.n_dirs; d++) {
        uint64_t first;
        uint32_t first_slot;
        uint64_t n = fileset_dir_files(&fs, d, &first);
        cr_expect_leq(n, 30);
        for (uint64_t j = first; j < first + n; j++) {
            cr_assert_eq(fileset_file_dir(&fs, j), d);
        }
        uint32_t m = fileset_dir_slots(&fs, d, &first_slot);
        for (uint32_t i = first_slot; i < first_slot + m; i++) {
            cr_assert_eq(fileset_slot_dir(&fs, i), d);
        }
        n_files += n;
        n_slots += m;
    }
    cr_expect_eq(n_files, 1000);
    cr_expect_eq(n_slots, 100);
    fileset_fini(&fs);
}

Test(fileset, names_read_back_as_their_numbers)
{
    char name[FILESET_NAME_BYTES];
    const uint64_t numbers[] = {0, 1, 99999, 100000, 123456789};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        uint64_t number;
        fileset_file_name(numbers[i], name);
        cr_expect(fileset_parse_name(name, (uint32_t)strlen(name), FILESET_FILE_PREFIX, &number));
        cr_expect_eq(number, numbers[i]);
        cr_expect_not(fileset_parse_name(name, (uint32_t)strlen(name), FILESET_SLOT_PREFIX, &number));
    }
    const char *const strange[] = {"file_en.",
                                   "file_en.1",
                                   "file_en.0000x",
                                   "file_en.000001",
                                   "file_en.00001x",
                                   "xfile_en.00001",
                                   "file_en.99999999999999999999"};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        uint64_t number;
        cr_expect_not(fileset_parse_name(strange[i], (uint32_t)strlen(strange[i]), FILESET_FILE_PREFIX, &number), "%s",
                      strange[i]);
    }
}

Test(fileset, leaves_of_a_deep_tree_have_paths_of_their_own)
{
    struct workload w = workload();
    w.directory_depth = 3;
    w.directory_width = 4;
    w.files_per_directory = 10;
    struct process_layout l = layout(0, 1000, 1000, 100);
    l.n_directories = 100;
    struct fileset fs = make(&w, &l);
    static char paths[100][3 * FILESET_NAME_BYTES];
    for (uint32_t d = 0; d < 100; d++) {
        for (uint32_t level = 1; level <= 3; level++) {
            char name[FILESET_NAME_BYTES];
            fileset_dir_name(&fs, d, level, name);
            strcat(paths[d], name);
        }
        for (uint32_t k = 0; k < d; k++) {
            cr_assert_neq(strcmp(paths[d], paths[k]), 0);
        }
    }
    cr_expect_str_eq(paths[27], "dir_ent.00001dir_ent.00002dir_ent.00003"); /* 27 = 1*16 + 2*4 + 3 */
    fileset_fini(&fs);
}

Test(fileset, slots_are_found_while_there_are_any)
{
    struct workload w = workload();
    struct process_layout l = layout(0, 1000, 1000, 100);
    struct fileset fs = make(&w, &l);
    struct rng rng;
    rng_seed(&rng, 1, 1);
    struct nfs3_fh fh = {.len = 4, .data = {1, 2, 3, 4}};
    for (uint32_t n = 0; n < 100; n++) {
        uint32_t slot = fileset_pick_slot(&fs, &rng, 1u << SLOT_EMPTY, true);
        cr_assert_neq(slot, FILESET_NONE);
        fh.data[0] = (uint8_t)slot;
        cr_assert_eq(fileset_slot_set_handle(&fs, slot, &fh), 0);
        fileset_slot_set(&fs, slot, SLOT_FILE);
    }
    cr_expect_eq(fileset_pick_slot(&fs, &rng, 1u << SLOT_EMPTY, true), FILESET_NONE);
    for (uint32_t n = 0; n < 100; n++) {
        uint32_t slot = fileset_pick_slot(&fs, &rng, 1u << SLOT_FILE, true);
        cr_assert_eq(fileset_slot_handle(&fs, slot)->data[0], (uint8_t)slot);
        fileset_slot_set_handle(&fs, slot, NULL);
        fileset_slot_set(&fs, slot, SLOT_EMPTY);
    }
    cr_expect_eq(fileset_pick_slot(&fs, &rng, 1u << SLOT_FILE, false), FILESET_NONE);
    fileset_fini(&fs);
}
