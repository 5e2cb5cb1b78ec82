#include "working_set.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t kib[11] = {1, 1, 1, 1, 2, 2, 4, 8, 16, 64, 256};

/* A process's slice of 20,000 files, 2,000 of them in the working set; sizes by a cycle of 11 over its rows. */
struct slice {
    struct workload workload;
    struct fileset fileset;
    struct working_set set;
    struct file_use use;
};

static void make(struct slice *s, enum popularity_kind popularity, uint64_t p, uint64_t n_processes, uint64_t seed)
{
    static uint64_t cycle[] = {1024};
    memset(s, 0, sizeof *s);
    s->workload = (struct workload){.file_size_kind = FILE_SIZE_FIXED,
                                    .file_size_bytes = 1024,
                                    .files_per_directory = 30,
                                    .popularity = popularity,
                                    .zipf_theta = 0.9,
                                    .hot_set_percent = 10,
                                    .hot_set_access_percent = 80,
                                    .cycle = cycle,
                                    .n_cycle = 1,
                                    .cycle_bytes = 1024};
    struct process_layout l = {
        .lg_n_files = 20000, .lg_n_working_set = 2000, .n_access_groups = 24, .n_directories = 700};
    l.first_file = 20000 * p / n_processes;
    l.n_files = 20000 * (p + 1) / n_processes - l.first_file;
    l.first_working_set = layout_working_set_from(20000, 2000, 1, l.first_file);
    l.n_working_set = layout_working_set_from(20000, 2000, 1, l.first_file + l.n_files) - l.first_working_set;
    char message[100];
    cr_assert_eq(fileset_init(&s->fileset, &s->workload, &l, message, sizeof message), 0);
    for (uint32_t k = 0; k < s->fileset.n_ws; k++) {
        s->fileset.ws_handles[k].len = 1;
        fileset_set_ws_bytes(&s->fileset, k, kib[(l.first_working_set + k) % 11] * 1024);
    }
    s->use.file = FILESET_NONE;
    cr_assert_eq(working_set_init(&s->set, &s->fileset, &s->use, 1, seed), 0);
}

static void drop(struct slice *s)
{
    working_set_fini(&s->set);
    fileset_fini(&s->fileset);
}

static double poisson_weight(uint32_t k)
{
    double weight = exp(-6), sum = 0, mine = 0;
    for (uint32_t i = 0; i < 12; i++) {
        sum += weight;
        mine = i == k ? weight : mine;
        weight *= 6.0 / (i + 1);
    }
    return mine / sum;
}

Test(working_set_pick, access_groups_have_poisson_weights)
{
    static struct slice s;
    make(&s, POPULARITY_ACCESS_GROUPS, 0, 1, 1);
    enum { N = 100000 };
    double n[24] = {0}, chi2 = 0, wrong = 0;
    for (int i = 0; i < N; i++) {
        uint32_t row = working_set_pick(&s.set, WANT_ANY, 0, false);
        n[access_groups_of(&s.set.groups, s.fileset.layout.first_working_set + row)]++;
    }
    for (uint32_t g = 0; g < 24; g++) {
        double want = N * poisson_weight(g % 12) / 2, even = N / 24.0;
        chi2 += (n[g] - want) * (n[g] - want) / want;
        wrong += (n[g] - even) * (n[g] - even) / even;
    }
    cr_expect_lt(chi2, 41.64, "chi-square %g", chi2); /* 23 degrees of freedom at 1 % */
    cr_expect_gt(wrong, 41.64);
    drop(&s);
}

Test(working_set_pick, a_file_that_fits_is_preferred)
{
    static struct slice s;
    make(&s, POPULARITY_ACCESS_GROUPS, 0, 1, 2);
    for (int i = 0; i < 2000; i++) {
        uint32_t row = working_set_pick(&s.set, WANT_FIT, 8192, false);
        uint64_t bytes = fileset_ws_bytes(&s.fileset, row);
        cr_assert(bytes >= 8192 && bytes <= 16384, "%lu", bytes);
        row = working_set_pick(&s.set, WANT_FIT, 100000, false);
        cr_assert_eq(fileset_ws_bytes(&s.fileset, row), 256u * 1024);
        row = working_set_pick(&s.set, WANT_FIT, 1u << 20, false); /* none is so large: the largest */
        cr_assert_eq(fileset_ws_bytes(&s.fileset, row), 256u * 1024);
    }
    drop(&s);
}

/* Of the sizes, 4 and 8 KiB fit a request of 4 KiB: 2 of 11 files. A slice of an eighth has 10 files of each group. */
Test(working_set_pick, small_slices_find_what_fits_in_the_class_that_was_drawn)
{
    static struct slice s;
    enum { N = 100000 };
    double n[12] = {0}, chi2 = 0;
    make(&s, POPULARITY_ACCESS_GROUPS, 5, 8, 5);
    for (int i = 0; i < N; i++) {
        uint32_t row = working_set_pick(&s.set, WANT_FIT, 4096, false);
        uint64_t bytes = fileset_ws_bytes(&s.fileset, row);
        cr_assert(bytes == 4096 || bytes == 8192, "%lu", bytes);
        n[access_groups_of(&s.set.groups, s.fileset.layout.first_working_set + row) % 12]++;
    }
    for (uint32_t class = 0; class < 12; class ++) {
        double want = N * poisson_weight(class);
        chi2 += (n[class] - want) * (n[class] - want) / want;
    }
    cr_expect_lt(chi2, 24.73, "chi-square %g", chi2); /* 11 degrees of freedom at 1 % */
    drop(&s);
}

Test(working_set_pick, a_writer_is_alone_and_readers_share)
{
    static struct slice s;
    make(&s, POPULARITY_UNIFORM, 0, 1, 3);
    struct file_use uses[2] = {{5, false}, {6, true}};
    s.set.uses = uses;
    s.set.n_uses = 2;
    int n_shared = 0;
    for (int i = 0; i < 50000; i++) {
        uint32_t reader = working_set_pick(&s.set, WANT_ANY, 0, false),
                 writer = working_set_pick(&s.set, WANT_ANY, 0, true);
        cr_assert(reader != 6 && writer != 5 && writer != 6);
        n_shared += reader == 5;
    }
    cr_expect_gt(n_shared, 0);
    drop(&s);
}

Test(working_set_pick, hot_files_get_their_share)
{
    static struct slice s;
    make(&s, POPULARITY_HOT_SET, 0, 1, 4);
    static int n[2000];
    for (int i = 0; i < 100000; i++) {
        n[working_set_pick(&s.set, WANT_ANY, 0, false)]++;
    }
    int hot = 0, n_hot = 0;
    for (int i = 0; i < 2000; i++) {
        if (n[i] > 200) { /* 400 on the average, the others 11 */
            hot += n[i];
            n_hot++;
        }
    }
    cr_expect_eq(n_hot, 200);
    cr_expect(abs(hot - 80000) < 600, "%d", hot);
    drop(&s);
}
