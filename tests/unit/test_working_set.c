/* test_working_set.c - popularity is that of the load generator's files, however many processes draw from their slices.
 */
#include "config.h"
#include "dist.h"
#include "stats.h"
#include "working_set.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FILES  20000u
#define N_WS     2000u /* 24 access groups */
#define N_DRAWS  200000u
#define MAX_PART 16u

static void make_workload(struct workload *w, const char *popularity)
{
    char text[400];
    struct config_errors errors;
    config_errors_init(&errors);
    snprintf(text, sizeof text,
             "{\"op_mix_percent\": {\"read\": 100}, \"working_set_percent\": 10, %s, \"file_sizes\": {\"fixed_bytes\": "
             "8192}}",
             popularity);
    cr_assert_eq(workload_from_text(text, w, &errors), 0, "%s", errors.n ? errors.messages[0] : "");
    config_errors_fini(&errors);
}

/* Slice p of P, as the prime cuts it. */
static struct process_layout make_layout(uint32_t p, uint32_t n_processes)
{
    uint64_t first = N_FILES * (uint64_t)p / n_processes, end = N_FILES * (uint64_t)(p + 1) / n_processes;
    struct process_layout l = {.process = p,
                               .client = 1,
                               .seed = p + 1,
                               .ops_per_s = 10,
                               .first_file = first,
                               .n_files = end - first,
                               .file_bytes = (end - first) * 8192,
                               .lg_n_files = N_FILES,
                               .lg_n_working_set = N_WS,
                               .n_access_groups = dist_access_group_count(N_WS),
                               .n_directories = (end - first + 29) / 30,
                               .n_non_io_files = 100};
    l.first_working_set = layout_working_set_from(N_FILES, N_WS, 1, first);
    l.n_working_set = layout_working_set_from(N_FILES, N_WS, 1, end) - l.first_working_set;
    return l;
}

/* How often each working-set file of the load generator is picked when n processes share N_DRAWS picks. */
static void draw(const struct workload *w, uint32_t n_processes, uint64_t counts[N_WS])
{
    memset(counts, 0, N_WS * sizeof *counts);
    for (uint32_t p = 0; p < n_processes; p++) {
        struct process_layout layout = make_layout(p, n_processes);
        struct fileset fs;
        struct working_set ws;
        struct file_use use = {FILESET_NONE, false};
        char message[200] = "";
        cr_assert_eq(fileset_init(&fs, w, &layout, message, sizeof message), 0, "%s", message);
        for (uint32_t k = 0; k < fs.n_ws; k++) {
            fs.ws_handles[k].len = 1; /* as if it had been created */
        }
        cr_assert_eq(working_set_init(&ws, &fs, &use, 1, layout.seed), 0);
        for (uint32_t i = 0; i < N_DRAWS / n_processes; i++) {
            uint32_t row = working_set_pick(&ws, WANT_ANY, 8192, false);
            cr_assert_lt(row, fs.n_ws);
            counts[layout.first_working_set + row]++;
        }
        working_set_fini(&ws);
        fileset_fini(&fs);
    }
}

Test(working_set, access_groups_get_their_weights_however_many_processes_draw)
{
    static const uint32_t processes[] = {1, 4, 16};
    static uint64_t counts[N_WS];
    struct workload w;
    make_workload(&w, "\"popularity\": \"access_groups\"");
    uint32_t n = dist_access_group_count(N_WS);
    cr_assert_eq(n, 24);
    struct access_groups groups;
    access_groups_init(&groups, 1, n);
    for (size_t i = 0; i < 3; i++) {
        double weights[24], wrong[24];
        uint64_t of_group[24] = {0};
        draw(&w, processes[i], counts);
        for (uint32_t k = 0; k < N_WS; k++) {
            of_group[access_groups_of(&groups, k)] += counts[k];
        }
        dist_access_group_weights(weights, n);
        cr_assert_gt(stats_chi_square_test(of_group, weights, n, NULL), 0.01, "%u processes", processes[i]);
        for (uint32_t k = 0; k < n; k++) {
            wrong[k] = dist_poisson_weight(k % 12, 6.2);
        }
        cr_assert_lt(stats_chi_square_test(of_group, wrong, n, NULL), 0.01, "%u processes", processes[i]);
    }
    workload_fini(&w);
}

/* Two-sample test of how popular the files are: the picks per file, one value a file. */
static double same_curve_p(const uint64_t *a, const uint64_t *b)
{
    static double x[N_WS], y[N_WS];
    for (uint32_t k = 0; k < N_WS; k++) {
        x[k] = (double)a[k];
        y[k] = (double)b[k];
    }
    return stats_ks_test_two(x, N_WS, y, N_WS);
}

Test(working_set, popularity_curve_does_not_depend_on_the_number_of_processes)
{
    static const char *const kinds[] = {"\"popularity\": \"access_groups\"", "\"popularity\": \"zipf\"",
                                        "\"popularity\": \"uniform\"", "\"popularity\": \"hot_set\""};
    static uint64_t one[N_WS], some[N_WS], other[N_WS];
    for (size_t i = 0; i < 4; i++) {
        struct workload w, flatter;
        make_workload(&w, kinds[i]);
        draw(&w, 1, one);
        draw(&w, 4, some);
        cr_assert_gt(same_curve_p(one, some), 0.01, "%s, 4 processes", kinds[i]);
        draw(&w, MAX_PART, some);
        cr_assert_gt(same_curve_p(one, some), 0.01, "%s, 16 processes", kinds[i]);

        /* And a curve that is another is told from it. */
        make_workload(&flatter, i == 2 ? kinds[3] : kinds[2]);
        draw(&flatter, 4, other);
        cr_assert_lt(same_curve_p(one, other), 1e-6, "%s", kinds[i]);
        workload_fini(&w);
        workload_fini(&flatter);
    }
}

Test(working_set, hot_files_get_their_share)
{
    static uint64_t counts[N_WS];
    struct workload w;
    make_workload(&w, "\"popularity\": \"hot_set\", \"hot_set_percent\": 5, \"hot_set_access_percent\": 80");
    draw(&w, 4, counts);
    uint64_t n_hot_files = 0, n_hot_picks = 0;
    for (uint32_t k = 0; k < N_WS; k++) {
        if (counts[k] > 500) { /* hot: 1600 on average; cold: 21 */
            n_hot_files++;
            n_hot_picks += counts[k];
        }
    }
    cr_assert_eq(n_hot_files, N_WS / 20);
    cr_assert_float_eq((double)n_hot_picks / N_DRAWS, 0.8, 0.005);
    workload_fini(&w);
}
