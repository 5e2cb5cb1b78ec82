#include "config.h"
#include "rng.h"
#include "workload.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_errors(const struct config_errors *errors)
{
    for (size_t i = 0; i < errors->n; i++)
        fprintf(stderr, "  %s\n", errors->messages[i]);
}

static void load(const char *preset, struct workload *w)
{
    struct config_errors errors;
    config_errors_init(&errors);
    int error = workload_load_preset(preset, w, &errors);
    print_errors(&errors);
    cr_assert_eq(error, 0);
    cr_assert_eq(errors.n, 0);
    config_errors_fini(&errors);
}

static double mix_sum(const struct workload *w)
{
    double sum = 0;
    for (unsigned i = 0; i < NFS_OP_COUNT; i++)
        sum += w->mix_percent[i];
    return sum;
}

Test(workload, sfs3_has_the_published_mix_and_sizes)
{
    struct workload w;
    load("sfs3", &w);
    cr_assert_float_eq(mix_sum(&w), 100, 1e-9);
    cr_assert_eq(w.mix_percent[NFS_OP_LOOKUP], 27);
    cr_assert_eq(w.mix_percent[NFS_OP_READDIRPLUS], 9);
    cr_assert_eq(w.mix_percent[NFS_OP_COMMIT], 5);
    cr_assert_eq(w.counting, COUNTING_PHYSICAL);
    cr_assert_eq(w.n_cycle, 100);
    cr_assert_eq(w.cycle_bytes, 2671 * 1024); /* 27,351 bytes on average */
    cr_assert_float_eq(workload_mean_file_bytes(&w), 27351, 0.1);
    cr_assert_eq(w.block_size_bytes, 8192);
    cr_assert_eq(w.response_ceiling_ms, 40);
    cr_assert_str_eq(w.derived, "");
    workload_fini(&w);
}

Test(workload, sfs2008_has_the_published_mix_and_a_derived_size_table_of_about_531_kb)
{
    struct workload w;
    load("sfs2008", &w);
    cr_assert_float_eq(mix_sum(&w), 100, 1e-9);
    cr_assert_eq(w.mix_percent[NFS_OP_GETATTR], 26);
    cr_assert_eq(w.mix_percent[NFS_OP_COMMIT], 0);
    cr_assert(w.is_commit_byproduct);
    cr_assert_eq(w.counting, COUNTING_LOGICAL);
    cr_assert_float_eq(workload_mean_file_bytes(&w), 531000, 5310);
    cr_assert_float_eq(w.fileset_mb_per_op * 1e6 / workload_mean_file_bytes(&w), 230, 5); /* files per op/s */
    cr_assert_eq(w.block_size_bytes, 0);
    cr_assert_eq(w.block_size_max_bytes, 32768);
    cr_assert_neq(w.derived[0], '\0');
    workload_fini(&w);
}

Test(workload, sfs3_requests_take_the_published_number_of_rpcs)
{
    struct workload w;
    load("sfs3", &w);
    /* .85*1 + .08*3 + .04*5 + .02*9 + .01*17 and .49*1 + .36*2 + .08*3 + .04*5 + .02*9 + .01*17 */
    cr_assert_float_eq(workload_rpcs_per_request(&w, NFS_OP_READ), 1.64, 1e-9);
    cr_assert_float_eq(workload_rpcs_per_request(&w, NFS_OP_WRITE), 2.0, 1e-9);
    cr_assert_eq(workload_rpcs_per_request(&w, NFS_OP_LOOKUP), 1);
    /* 18/1.64 READs, 9/2 WRITEs, 5 - 4.5 COMMITs, and the other 68 as they are. */
    cr_assert_float_eq(workload_request_weight(&w, NFS_OP_WRITE), 4.5, 1e-9);
    cr_assert_float_eq(workload_request_weight(&w, NFS_OP_COMMIT), 0.5, 1e-9);
    cr_assert_float_eq(workload_requests_per_op(&w), (18 / 1.64 + 4.5 + 0.5 + 68) / 100, 1e-9);
    workload_fini(&w);
}

Test(workload, dump_read_back_is_the_same_workload)
{
    struct workload a, b;
    struct config_errors errors;
    config_errors_init(&errors);
    load("sfs2008", &a);
    json_t *dump = workload_dump(&a);
    char *text = json_dumps(dump, 0);
    cr_assert_eq(workload_from_text(text, &b, &errors), 0);
    json_t *again = workload_dump(&b);
    cr_assert(json_equal(dump, again));
    json_t *differences = workload_differences(&a, &b);
    cr_assert_eq(json_array_size(differences), 0);
    json_decref(differences);
    json_decref(again);
    json_decref(dump);
    free(text);
    workload_fini(&a);
    workload_fini(&b);
    config_errors_fini(&errors);
}
