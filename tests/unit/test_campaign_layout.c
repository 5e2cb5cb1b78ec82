/* test_campaign_layout.c - the same load touches the same files, whoever carries it. */
#include "campaign_config.h"
#include "campaign_layout.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void load(struct campaign_config *c, const char *workload, int loadgens, int processes, double mb_per_op)
{
    char text[1024];
    struct config_errors errors;
    config_errors_init(&errors);
    snprintf(text, sizeof text,
             "{\"workload\": \"%s\", \"load_ops_per_s\": 100, \"processes_per_loadgen\": %d, \"fileset_mb_per_op\": "
             "%g, \"loadgens\": {\"local\": %d}, \"targets\": [{\"server\": \"s\", \"export\": \"/a\"}]}",
             workload, processes, mb_per_op, loadgens);
    cr_assert_eq(campaign_config_from_text("c.json", text, NULL, 0, c, &errors), 0, "%s",
                 errors.n > 0 ? errors.messages[0] : "");
    config_errors_fini(&errors);
}

static void compute(const struct campaign_config *c, double ops_per_s, struct campaign_layout *out)
{
    char message[512] = "";
    cr_assert_eq(campaign_layout_compute(c, ops_per_s, out, message, sizeof message), 0, "%s", message);
}

Test(campaign_layout, totals_do_not_depend_on_the_number_of_processes)
{
    static const int processes[] = {1, 4, 16};
    static const double loads[] = {97, 1000, 12345};
    struct campaign_layout first, other;
    struct campaign_config c;
    for (size_t l = 0; l < 3; l++) {
        for (size_t i = 0; i < 3; i++) {
            load(&c, "sfs2008", 2, processes[i], 20);
            compute(&c, loads[l], i == 0 ? &first : &other);
            campaign_config_fini(&c);
            if (i == 0) {
                continue;
            }
            cr_assert_eq(first.totals.n_files, other.totals.n_files);
            cr_assert_eq(first.totals.file_bytes, other.totals.file_bytes);
            cr_assert_eq(first.totals.n_working_set, other.totals.n_working_set);
            cr_assert_eq(first.totals.working_set_bytes, other.totals.working_set_bytes);
            cr_assert_eq(first.processes[0].n_access_groups, other.processes[0].n_access_groups);
            campaign_layout_fini(&other);
        }
        campaign_layout_fini(&first);
    }
}

Test(campaign_layout, slices_cover_the_file_space_and_the_working_set_once)
{
    static const int processes[] = {1, 3, 7, 16};
    for (size_t i = 0; i < 4; i++) {
        struct campaign_config c;
        struct campaign_layout layout;
        load(&c, "sfs3", 2, processes[i], 10);
        compute(&c, 5000, &layout);
        for (int g = 0; g < 2; g++) {
            uint64_t file = 0, ws = 0;
            for (int p = 0; p < processes[i]; p++) {
                const struct process_layout *l = &layout.processes[g * processes[i] + p];
                cr_assert_eq(l->first_file, file);
                cr_assert_eq(l->first_working_set, ws);
                file += l->n_files;
                ws += l->n_working_set;
                for (uint64_t w = l->first_working_set; w < ws; w += 97) {
                    uint64_t number = layout_working_set_file(l->lg_n_files, l->lg_n_working_set, 100, w);
                    cr_assert(number >= l->first_file && number < file);
                }
            }
            cr_assert_eq(file, layout.processes[0].lg_n_files);
            cr_assert_eq(ws, layout.processes[0].lg_n_working_set);
        }
        campaign_layout_fini(&layout);
        campaign_config_fini(&c);
    }
}

Test(campaign_layout, the_same_campaign_gives_the_same_layout)
{
    struct campaign_config c;
    struct campaign_layout a, b;
    load(&c, "sfs2008", 3, 4, 7);
    compute(&c, 777, &a);
    compute(&c, 777, &b);
    cr_assert_eq(a.n_processes, 12);
    cr_assert_eq(memcmp(a.processes, b.processes, a.n_processes * sizeof *a.processes), 0);
    cr_assert_neq(a.processes[0].seed, a.processes[1].seed);
    cr_assert_neq(a.processes[0].seed, a.processes[4].seed);
    campaign_layout_fini(&a);
    campaign_layout_fini(&b);
    campaign_config_fini(&c);
}

Test(campaign_layout, shares_of_the_load_add_up_to_it)
{
    struct campaign_config c;
    struct campaign_layout layout;
    double sum = 0;
    load(&c, "sfs2008", 3, 5, 7);
    compute(&c, 1234.5, &layout);
    for (size_t i = 0; i < layout.n_processes; i++) {
        sum += layout.processes[i].ops_per_s;
    }
    cr_assert_lt(fabs(sum - 1234.5), 1e-6);
    campaign_layout_fini(&layout);
    campaign_config_fini(&c);
}

Test(campaign_layout, bytes_are_what_the_load_asks_for)
{
    struct campaign_config c;
    struct campaign_layout layout;
    load(&c, "sfs3", 2, 4, 10);
    compute(&c, 4000, &layout); /* 4000 ops/s * 10 MB = 40 GB */
    cr_assert_lt(fabs((double)layout.totals.file_bytes / 40e9 - 1), 0.001);
    cr_assert_lt(fabs((double)layout.totals.n_working_set / (double)layout.totals.n_files - 0.1), 0.001);
    campaign_layout_fini(&layout);
    campaign_config_fini(&c);
}

Test(campaign_layout, files_of_a_process_keep_their_size_when_the_load_grows)
{
    struct campaign_config c;
    struct campaign_layout low, high;
    load(&c, "sfs3", 1, 4, 10);
    compute(&c, 1000, &low);
    compute(&c, 2000, &high);
    for (size_t p = 0; p < 4; p++) {
        for (uint64_t j = 0; j < low.processes[p].n_files; j += 13) {
            cr_assert_eq(workload_file_bytes(&c.workload, low.processes[p].first_file + j),
                         workload_file_bytes(&c.workload, high.processes[p].first_file + j));
        }
    }
    campaign_layout_fini(&low);
    campaign_layout_fini(&high);
    campaign_config_fini(&c);
}

Test(campaign_layout, too_few_files_for_the_processes_are_refused)
{
    struct campaign_config c;
    struct campaign_layout layout;
    char message[512];
    load(&c, "sfs2008", 1, 16, 0.1);
    cr_assert_eq(campaign_layout_compute(&c, 10, &layout, message, sizeof message), -EINVAL);
    cr_assert(strstr(message, "fileset_mb_per_op") != NULL);
    campaign_layout_fini(&layout);
    campaign_config_fini(&c);
}

Test(campaign_layout, filesets_that_no_table_could_hold_are_refused)
{
    struct campaign_config c;
    struct campaign_layout layout;
    char message[512] = "";
    load(&c, "sfs3", 1, 4, 1e6);
    cr_assert_eq(campaign_layout_compute(&c, 1e9, &layout, message, sizeof message), -EINVAL);
    cr_assert_not_null(strstr(message, "lower fileset_mb_per_op"), "%s", message);
    campaign_config_fini(&c);
}

Test(campaign_layout, every_process_has_a_working_set_or_the_layout_is_refused)
{
    for (double ops_per_s = 1; ops_per_s < 400; ops_per_s *= 1.1) {
        struct campaign_config c;
        struct campaign_layout layout;
        char message[512];
        load(&c, "sfs2008", 1, 4, 0.5);
        if (campaign_layout_compute(&c, ops_per_s, &layout, message, sizeof message) == 0) {
            for (size_t i = 0; i < layout.n_processes; i++) {
                cr_assert_gt(layout.processes[i].n_working_set, 0);
            }
        }
        campaign_layout_fini(&layout);
        campaign_config_fini(&c);
    }
}
