/* What is drawn is what the tables say: chi-square tests at 1 %, each of which also rejects a deliberately wrong table.
 * The draws are the ones the load generator makes: sizes by file number, requests and shares from decks, groups from
 * the alias table. */
#include "config.h"
#include "deck.h"
#include "dist.h"
#include "rng.h"
#include "stats.h"
#include "workload.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.01

static void load(const char *preset, struct workload *w)
{
    struct config_errors errors;
    config_errors_init(&errors);
    cr_assert_eq(workload_load_preset(preset, w, &errors), 0);
    config_errors_fini(&errors);
}

/* Accepts the right weights; rejects them with `moved` of the whole (at most half of a step) moved from the commonest
 * step to the rarest. */
static void tell_right_from_wrong(const uint64_t *counts, const double *weights, size_t n, double moved)
{
    double wrong[512];
    size_t most = 0, least = 0;
    cr_assert_leq(n, 512);
    memcpy(wrong, weights, n * sizeof *wrong);
    for (size_t i = 0; i < n; i++) {
        most = weights[i] > weights[most] ? i : most;
        least = weights[i] <= weights[least] ? i : least;
    }
    cr_assert_geq(stats_chi_square_test(counts, weights, n, NULL), LEVEL);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += weights[i];
    }
    double step = fmin(moved * sum, weights[most] / 2);
    wrong[most] -= step;
    wrong[least] += step;
    cr_assert_lt(stats_chi_square_test(counts, wrong, n, NULL), LEVEL);
}

static void check_file_sizes(const char *preset, uint64_t first, uint64_t stride)
{
    struct workload w;
    uint64_t counts[WORKLOAD_MAX_STEPS] = {0};
    double weights[WORKLOAD_MAX_STEPS];
    load(preset, &w);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t bytes = workload_file_bytes(&w, first + i * stride);
        uint32_t step = 0;
        while (step < w.file_sizes.n && w.file_sizes.steps[step].bytes != bytes) {
            step++;
        }
        cr_assert_lt(step, w.file_sizes.n, "a file of %llu bytes", (unsigned long long)bytes);
        counts[step]++;
    }
    for (uint32_t i = 0; i < w.file_sizes.n; i++) {
        weights[i] = w.file_sizes.steps[i].percent;
    }
    tell_right_from_wrong(counts, weights, w.file_sizes.n, 0.02);
    workload_fini(&w);
}

Test(workload_model, file_sizes_follow_their_table)
{
    check_file_sizes("sfs3", 0, 1);
    check_file_sizes("sfs3", 12345, 1);
    check_file_sizes("sfs3", 3, 7); /* a stride without common divisor sees all sizes too */
    check_file_sizes("sfs2008", 0, 1);
    check_file_sizes("all22", 77, 3);
}

static void check_requests(const char *preset, enum nfs_op op)
{
    struct workload w;
    struct deck deck;
    struct rng rng;
    uint64_t counts[WORKLOAD_MAX_STEPS] = {0}, fragments[7] = {0};
    double weights[WORKLOAD_MAX_STEPS];
    load(preset, &w);
    const struct size_table *table = op == NFS_OP_READ ? &w.read_requests : &w.write_requests;
    for (uint32_t i = 0; i < table->n; i++) {
        weights[i] = table->steps[i].percent;
    }
    rng_seed(&rng, 17, op);
    cr_assert_eq(deck_init(&deck, weights, table->n, DECK_SIZE), 0);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t step = deck_next(&deck, &rng);
        uint64_t bytes = workload_request_bytes(&w, op, step, 8192, &rng);
        uint64_t whole = table->steps[step].bytes + table->steps[step].blocks * UINT64_C(8192);
        counts[step]++;
        if (table->steps[step].has_fragment) {
            cr_assert(bytes > whole && bytes <= whole + 7 * 1024);
            fragments[(bytes - whole) / 1024 - 1]++;
        } else {
            cr_assert_eq(bytes, whole);
        }
    }
    tell_right_from_wrong(counts, weights, table->n, 0.02);
    tell_right_from_wrong(fragments, (const double[]){1, 1, 1, 1, 1, 1, 1}, 7, 0.05);
    deck_fini(&deck);
    workload_fini(&w);
}

Test(workload_model, request_sizes_follow_their_tables)
{
    check_requests("sfs3", NFS_OP_READ);
    check_requests("sfs3", NFS_OP_WRITE);
    check_requests("sfs2008", NFS_OP_READ);
    check_requests("sfs2008", NFS_OP_WRITE);
}

Test(workload_model, access_groups_follow_poisson_with_lambda_6)
{
    for (uint64_t n_working_set = 100; n_working_set < 40000; n_working_set *= 7) {
        uint32_t n = dist_access_group_count(n_working_set);
        double *weights = calloc(n, sizeof *weights);
        uint64_t *counts = calloc(n, sizeof *counts);
        struct dist_discrete groups;
        struct rng rng;
        rng_seed(&rng, 18, n_working_set);
        dist_access_group_weights(weights, n);
        cr_assert_eq(dist_discrete_init(&groups, weights, n), 0);
        for (unsigned i = 0; i < 100000; i++) {
            counts[dist_discrete_draw(&groups, &rng)]++;
        }
        tell_right_from_wrong(counts, weights, n, 0.02);
        for (uint32_t i = 0; i < n; i++) { /* another lambda is told from 6 as well */
            weights[i] = dist_poisson_weight(i % DIST_ACCESS_GROUPS, 6.3);
        }
        cr_assert_lt(stats_chi_square_test(counts, weights, n, NULL), LEVEL);
        dist_discrete_fini(&groups);
        free(weights);
        free(counts);
    }
}

Test(workload_model, missing_names_and_appends_hold_their_shares)
{
    struct workload w;
    load("sfs3", &w);
    const double shares[] = {w.lookup_missing_percent, w.append_percent};
    cr_assert_eq(shares[0], 35);
    cr_assert_eq(shares[1], 70);
    for (unsigned s = 0; s < 2; s++) {
        struct deck deck;
        struct rng rng;
        uint64_t counts[2] = {0};
        rng_seed(&rng, 19, s);
        cr_assert_eq(deck_init_percent(&deck, shares[s]), 0);
        for (unsigned i = 0; i < 20050; i++) {
            counts[deck_next(&deck, &rng)]++;
        }
        tell_right_from_wrong(counts, (const double[]){100 - shares[s], shares[s]}, 2, 0.02);
        deck_fini(&deck);
    }
    workload_fini(&w);
}

Test(workload_model, request_mix_gives_the_op_mix_of_sfs3_overall_and_in_every_5000_ops)
{
    struct workload w;
    struct deck ops, reads, writes;
    struct rng rng;
    double weights[NFS_OP_COUNT], steps[WORKLOAD_MAX_STEPS];
    load("sfs3", &w);
    rng_seed(&rng, 20, 0);
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        weights[i] = workload_request_weight(&w, (enum nfs_op)i);
    }
    cr_assert_eq(deck_init(&ops, weights, NFS_OP_COUNT, DECK_SIZE), 0);
    for (uint32_t i = 0; i < w.read_requests.n; i++) {
        steps[i] = w.read_requests.steps[i].percent;
    }
    cr_assert_eq(deck_init(&reads, steps, w.read_requests.n, DECK_SIZE), 0);
    for (uint32_t i = 0; i < w.write_requests.n; i++) {
        steps[i] = w.write_requests.steps[i].percent;
    }
    cr_assert_eq(deck_init(&writes, steps, w.write_requests.n, DECK_SIZE), 0);

    uint64_t window[NFS_OP_COUNT] = {0}, total[NFS_OP_COUNT] = {0}, n_window = 0, n_total = 0;
    while (n_total < 200000) {
        enum nfs_op op = (enum nfs_op)deck_next(&ops, &rng);
        uint64_t rpcs = 1;
        if (op == NFS_OP_READ || op == NFS_OP_WRITE) {
            uint32_t step = deck_next(op == NFS_OP_READ ? &reads : &writes, &rng);
            rpcs = (workload_request_bytes(&w, op, step, 8192, &rng) + 8191) / 8192;
        }
        window[op] += rpcs;
        n_window += rpcs;
        if (op == NFS_OP_WRITE) { /* the COMMIT that ends the request */
            window[NFS_OP_COMMIT]++;
            n_window++;
        }
        if (n_window < 5000) {
            continue;
        }
        for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
            cr_assert_float_eq(100.0 * (double)window[i] / (double)n_window, w.mix_percent[i], 1, "%s",
                               nfs_op_name((enum nfs_op)i));
            total[i] += window[i];
            window[i] = 0;
        }
        n_total += n_window;
        n_window = 0;
    }
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        cr_assert_float_eq(100.0 * (double)total[i] / (double)n_total, w.mix_percent[i], 0.1, "%s",
                           nfs_op_name((enum nfs_op)i));
    }
    deck_fini(&ops);
    deck_fini(&reads);
    deck_fini(&writes);
    workload_fini(&w);
}
