#include "config.h"
#include "rng.h"
#include "workload.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_errors(const struct config_errors *errors)
{
    for (size_t i = 0; i < errors->n; i++) {
        fprintf(stderr, "  %s\n", errors->messages[i]);
    }
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
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        sum += w->mix_percent[i];
    }
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

static const char *const presets[] = {"sfs3",        "sfs2008",   "metadata", "read-heavy",
                                      "write-heavy", "streaming", "database", "all22"};
#define N_PRESETS (sizeof presets / sizeof *presets)

Test(workload, every_preset_is_sound)
{
    for (size_t p = 0; p < N_PRESETS; p++) {
        struct workload w;
        load(presets[p], &w);
        cr_assert_str_eq(w.name, presets[p]);
        cr_assert_float_eq(mix_sum(&w), 100, 1e-9);
        cr_assert_gt(strlen(w.description), 10);
        bool is_sfs = strncmp(w.name, "sfs", 3) == 0;
        cr_assert_eq(w.is_standard, is_sfs);
        cr_assert(is_sfs || *w.derived, "%s does not say that it is not published", w.name);
        cr_assert_gt(workload_mean_file_bytes(&w), 0);
        cr_assert_gt(workload_requests_per_op(&w), 0.5);
        cr_assert_leq(workload_requests_per_op(&w), 1.0000001);
        workload_fini(&w);
    }
}

Test(workload, all22_has_every_procedure_and_removes_what_it_makes)
{
    struct workload w;
    load("all22", &w);
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        cr_assert_gt(w.mix_percent[i], 0, "%s", nfs_op_name((enum nfs_op)i));
    }
    const double *mix = w.mix_percent;
    cr_assert_eq(mix[NFS_OP_REMOVE], mix[NFS_OP_CREATE] + mix[NFS_OP_SYMLINK] + mix[NFS_OP_MKNOD] + mix[NFS_OP_LINK]);
    cr_assert_eq(mix[NFS_OP_RMDIR], mix[NFS_OP_MKDIR]);
    workload_fini(&w);
}

/* Reads {"workload": value, overrides...} as a campaign does. */
static int resolve(const char *campaign, struct workload *w, struct config_errors *errors)
{
    struct config_source src;
    config_errors_init(errors);
    cr_assert_eq(config_load_text(&src, "campaign.json", campaign, errors), 0);
    int error = workload_resolve(&src, json_object_get(src.root, "workload"), src.root, w, errors);
    cr_assert_eq(error != 0, errors->n > 0);
    config_source_fini(&src);
    return error;
}

static void refuses(const char *campaign, const char *part)
{
    struct workload w;
    struct config_errors errors;
    cr_assert_neq(resolve(campaign, &w, &errors), 0, "%s", campaign);
    bool is_said = false;
    for (size_t i = 0; i < errors.n; i++) {
        is_said |= strstr(errors.messages[i], part) != NULL;
    }
    if (!is_said) {
        print_errors(&errors);
    }
    cr_assert(is_said, "\"%s\" not said of %s", part, campaign);
    config_errors_fini(&errors);
    workload_fini(&w); /* of an empty one: harmless */
}

Test(workload, overrides_beside_a_preset_win_and_are_named_as_differences)
{
    struct workload w, preset;
    struct config_errors errors;
    load("sfs3", &preset);
    cr_assert_eq(resolve("{\"name\": \"nas-42\", \"workload\": \"sfs3\", \"biod_max_read\": 8, \"append_percent\": 50,"
                         " \"fileset_mb_per_op\": 0.5, \"run_s\": 60}",
                         &w, &errors),
                 0);
    cr_assert_str_eq(w.name, "sfs3"); /* the campaign's name is not the workload's */
    cr_assert_eq(w.biod_max_read, 8);
    cr_assert_eq(w.append_percent, 50);
    cr_assert_eq(w.mix_percent[NFS_OP_LOOKUP], 27);
    json_t *differences = workload_differences(&w, &preset);
    char *text = json_dumps(differences, JSON_COMPACT);
    cr_assert_str_eq(text, "[\"fileset_mb_per_op\",\"append_percent\"]"); /* biods may be tuned */
    free(text);
    json_decref(differences);
    workload_fini(&w);
    workload_fini(&preset);
    config_errors_fini(&errors);
}

Test(workload, block_size_may_be_tuned_in_sfs2008_and_not_in_sfs3)
{
    static const char *const names[] = {"sfs3", "sfs2008"};
    for (unsigned i = 0; i < 2; i++) {
        struct workload w, preset;
        struct config_errors errors;
        char campaign[100];
        load(names[i], &preset);
        snprintf(campaign, sizeof campaign, "{\"workload\": \"%s\", \"block_size_kib\": 1024}", names[i]);
        cr_assert_eq(resolve(campaign, &w, &errors), 0);
        cr_assert_eq(w.block_size_bytes, 1048576);
        json_t *differences = workload_differences(&w, &preset);
        cr_assert_eq(json_array_size(differences), i == 0 ? 1 : 0);
        json_decref(differences);
        workload_fini(&w);
        workload_fini(&preset);
        config_errors_fini(&errors);
    }
}

Test(workload, object_needs_only_a_mix)
{
    struct workload w;
    struct config_errors errors;
    cr_assert_eq(resolve("{\"workload\": {\"op_mix_percent\": {\"GETATTR\": 60, \"rdirplus\": 40}}}", &w, &errors), 0);
    cr_assert_str_eq(w.name, "custom");
    cr_assert_eq(w.mix_percent[NFS_OP_READDIRPLUS], 40);
    cr_assert_eq(w.lookup_missing_percent, 0);
    cr_assert_eq(workload_file_bytes(&w, 12345), 65536);
    workload_fini(&w);
    config_errors_fini(&errors);
}

Test(workload, mixes_that_cannot_be_are_refused)
{
    refuses("{\"workload\": {}}", "workload.op_mix_percent: is missing");
    refuses("{\"workload\": {\"op_mix_percent\": {\"read\": 60, \"write\": 39}}}",
            "sums to 99; the shares must sum to 100");
    refuses("{\"workload\": {\"op_mix_percent\": {}}}", "sums to 0");
    refuses("{\"workload\": {\"op_mix_percent\": {\"read\": 160, \"write\": -60}}}",
            "op_mix_percent.write: expected a percentage");
    refuses("{\"workload\": {\"op_mix_percent\": {\"lokup\": 100}}}", "did you mean \"lookup\"?");
    refuses("{\"workload\": {\"op_mix_percent\": {\"read\": 50, \"READ\": 50}}}", "names read for the second time");
    refuses("{\"workload\": {\"op_mix_percent\": {\"read\": \"100\"}}}", "expected a percentage");
    refuses("{\"workload\": {\"op_mix_percent\": [100]}}", "is not an object");
    refuses("{\"workload\": \"sfs3\", \"op_mix_percent\": {\"read\": 60}}",
            "campaign.json:1: op_mix_percent: sums to 60");
    refuses("{\"workload\": \"sfs2008\", \"op_mix_percent\": {\"read\": 95, \"commit\": 5}}",
            "COMMIT only ends writes");
    refuses("{\"workload\": \"sfs3\", \"op_mix_percent\": {\"read\": 50, \"write\": 50}}",
            "campaign.json:1: op_mix_percent: asks for 0 % COMMIT");
}

Test(workload, shares_may_be_rounded_to_two_decimals)
{
    struct workload w;
    struct config_errors errors;
    cr_assert_eq(resolve("{\"workload\": {\"op_mix_percent\": {\"read\": 33.33, \"getattr\": 33.33, \"null\": 33.33}}}",
                         &w, &errors),
                 0);
    cr_assert_float_eq(mix_sum(&w), 100, 1e-12);
    workload_fini(&w);
    config_errors_fini(&errors);
    refuses("{\"workload\": {\"op_mix_percent\": {\"read\": 33.3, \"getattr\": 33.3, \"null\": 33.3}}}",
            "sums to 99.9");
}

#define MIX "\"op_mix_percent\": {\"read\": 100}"

Test(workload, tables_that_cannot_be_are_refused)
{
    refuses("{\"workload\": {" MIX ", \"read_requests\": []}}", "expected a list of 1 to 64 steps");
    refuses("{\"workload\": {" MIX ", \"read_requests\": [{\"percent\": 90, \"kib\": 8}]}}", "sum to 90");
    refuses("{\"workload\": {" MIX ", \"read_requests\": [{\"percent\": 100}]}}",
            "read_requests[0]: is a request of no bytes");
    refuses("{\"workload\": {" MIX ", \"read_requests\": [{\"percent\": 100, \"kbi\": 8}]}}", "did you mean \"kib\"?");
    refuses("{\"workload\": {" MIX ", \"read_requests\": [{\"kib\": 8}]}}", "\"percent\" is missing");
    refuses("{\"workload\": {" MIX ", \"file_sizes\": {\"table\": [{\"percent\": 100, \"kib\": 0}]}}}", "file_sizes: ");
    refuses("{\"workload\": {" MIX ", \"file_sizes\": {\"table\": [{\"percent\": 100, \"blocks\": 1}]}}}",
            "file_sizes.table[0].blocks: unknown key");
    refuses("{\"workload\": {" MIX ", \"file_sizes\": {\"fixed_bytes\": 0}}}", "file_sizes.fixed_bytes: is 0");
    refuses("{\"workload\": {" MIX ", \"file_sizes\": {\"fixed_bytes\": 1, \"table\": []}}}", "one of");
    refuses("{\"workload\": {" MIX ", \"file_sizes\": {\"lognormal\": {\"mean_bytes\": 9}}}}", "\"sigma\" is missing");
    refuses("{\"workload\": {" MIX ", \"file_sizes\": {\"lognormal\": 9}}}", "file_sizes.lognormal: is a number");
    refuses("{\"workload\": {" MIX ", \"file_sizes\": 9}}", "expected an object with one of");
    refuses("{\"workload\": {" MIX ", \"block_size_kib\": 2048}}",
            "expected a whole number of KiB from 1 to 1024, or \"auto\"");
    refuses("{\"workload\": {" MIX ", \"block_size_max_kib\": \"auto\"}}", "from 1 to 1024");
    refuses("{\"workload\": {" MIX ", \"biod_max_read\": 33}}", "from 0 to 32");
    refuses("{\"workload\": {" MIX ", \"data\": {\"dedupe_percent\": 101}}}", "data.dedupe_percent: is 101");
    refuses("{\"workload\": {" MIX ", \"verify_data\": true, \"data\": {\"dedupe_percent\": 1}}}",
            "stamps every block");
    refuses("{\"workload\": {" MIX ", \"directory_depth\": 2}}", "directory_width must say");
    refuses("{\"workload\": {" MIX ", \"tunable\": [\"nmae\"]}}", "tunable[0]: is not the name of a key");
    refuses("{\"workload\": {" MIX ", \"tunable\": [1]}}", "tunable[0]");
    refuses("{\"workload\": {" MIX ", \"pacing\": \"opne\"}}", "did you mean \"open\"?");
}

Test(workload, presets_and_files_that_do_not_exist_are_named)
{
    refuses("{\"workload\": \"sfs97\"}", "campaign.json:1: workload: there is no workload \"sfs97\"; expected one of ");
    refuses("{\"workload\": \"sfs97\"}", "sfs2008, sfs3");
    refuses("{\"workload\": \"\\u001b[2J\"}", "there is no workload \"\\x1b[2J\"");
    refuses("{\"workload\": \"nothing-here.json\"}", "nothing-here.json: No such file");
    refuses("{\"workload\": \"../../../../etc/passwd\"}", "passwd");
    refuses("{\"workload\": 5}", "expected the name of a preset, a file name, or an object");
    refuses("{}", "expected the name of a preset, a file name, or an object");
}

Test(workload, file_is_looked_for_beside_the_campaign)
{
    char directory[] = P_tmpdir "/test_workload.XXXXXX", file[96], campaign[96];
    cr_assert_not_null(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/mine.json", directory);
    snprintf(campaign, sizeof campaign, "%s/campaign.json", directory);
    FILE *out = fopen(file, "w");
    fputs("{\"name\": \"mine\",\n" MIX ",\n \"append_percent\": -1}", out);
    fclose(out);

    struct config_source src;
    struct config_errors errors;
    struct workload w;
    config_errors_init(&errors);
    cr_assert_eq(config_load_text(&src, campaign, "{\"workload\": \"mine.json\"}", &errors), 0);
    cr_assert_neq(workload_resolve(&src, json_object_get(src.root, "workload"), NULL, &w, &errors), 0);
    cr_assert_eq(errors.n, 1);
    cr_assert_eq(strncmp(errors.messages[0], file, strlen(file)), 0);
    cr_assert(strstr(errors.messages[0], "mine.json:3: append_percent: is -1"), "%s", errors.messages[0]);
    config_source_fini(&src);
    config_errors_fini(&errors);
    unlink(file);
    rmdir(directory);
}

Test(workload, any_cycle_of_files_holds_exactly_the_size_table)
{
    struct workload w;
    load("sfs3", &w);
    static const unsigned expected[] = {33, 21, 13, 10, 8, 5, 4, 3, 2, 0, 1}; /* by log2 of KiB */
    for (uint64_t first = 0; first < 250; first += 7) {
        unsigned counts[11] = {0};
        for (uint64_t i = first; i < first + 100; i++) {
            counts[__builtin_ctzll(workload_file_bytes(&w, i) / 1024)]++;
        }
        for (unsigned i = 0; i < 11; i++) {
            cr_assert_eq(counts[i], expected[i]);
        }
    }
    workload_fini(&w);
}

Test(workload, few_neighbours_are_a_fair_sample_already)
{
    struct workload w;
    load("sfs3", &w);
    for (uint64_t first = 0; first < 100; first++) {
        unsigned n_small = 0;
        for (uint64_t i = first; i < first + 20; i++) {
            n_small += workload_file_bytes(&w, i) <= 2048; /* 54 % */
        }
        cr_assert(n_small >= 9 && n_small <= 13, "%u of 20 from %llu on", n_small, (unsigned long long)first);
    }
    workload_fini(&w);
}

Test(workload, range_bytes_is_the_sum_of_the_sizes)
{
    for (size_t p = 0; p < N_PRESETS; p++) {
        struct workload w;
        load(presets[p], &w);
        for (uint64_t first = 0; first < 2500; first += 611) {
            uint64_t sum = 0;
            for (uint64_t n = 0; n < 2500; n++) {
                if (n % 97 == 0) {
                    cr_assert_eq(workload_range_bytes(&w, first, n), sum);
                }
                sum += workload_file_bytes(&w, first + n);
            }
        }
        cr_assert_eq(workload_range_bytes(&w, 5, 0), 0);
        workload_fini(&w);
    }
}

Test(workload, lognormal_sizes_have_their_mean_and_spread)
{
    struct workload w;
    struct config_errors errors;
    cr_assert_eq(resolve("{\"workload\": {" MIX
                         ", \"file_sizes\": {\"lognormal\": {\"mean_bytes\": 100000, \"sigma\": 1}}}}",
                         &w, &errors),
                 0);
    cr_assert_float_eq(workload_mean_file_bytes(&w), 100000, 10);
    unsigned n_below_median = 0;
    for (uint64_t i = 0; i < w.n_cycle; i++) {
        n_below_median += (double)workload_file_bytes(&w, i) < 100000 * exp(-0.5);
    }
    cr_assert_eq(n_below_median, w.n_cycle / 2);
    workload_fini(&w);
    config_errors_fini(&errors);
}

Test(workload, percentages_that_are_not_whole_take_a_longer_cycle)
{
    struct workload w;
    struct config_errors errors;
    cr_assert_eq(resolve("{\"workload\": {" MIX ", \"file_sizes\": {\"table\": [{\"percent\": 99.5, \"kib\": 1}, "
                         "{\"percent\": 0.5, \"kib\": 1024}]}}}",
                         &w, &errors),
                 0);
    cr_assert_eq(w.n_cycle, 1000);
    cr_assert_eq(w.cycle_bytes, (995 + 5 * 1024) * 1024);
    workload_fini(&w);
    cr_assert_eq(resolve("{\"workload\": {" MIX ", \"file_sizes\": {\"table\": [{\"percent\": 33.3333, \"kib\": 1}, "
                         "{\"percent\": 66.6667, \"kib\": 2}]}}}",
                         &w, &errors),
                 0);
    cr_assert_eq(w.n_cycle, 10000);
    cr_assert_eq(w.cycle_bytes, (3333 + 2 * 6667) * 1024);
    workload_fini(&w);
    config_errors_fini(&errors);
}

Test(workload, request_bytes_are_blocks_bytes_and_a_fragment)
{
    struct workload w;
    struct rng rng;
    rng_seed(&rng, 1, 0);
    load("sfs3", &w);
    for (unsigned i = 0; i < 1000; i++) {
        cr_assert_eq(workload_request_bytes(&w, NFS_OP_READ, 0, 8192, &rng), 8192);
        uint64_t bytes = workload_request_bytes(&w, NFS_OP_READ, 4, 8192, &rng);
        cr_assert(bytes % 1024 == 0 && bytes >= (16 * 8 + 1) * 1024 && bytes <= (16 * 8 + 7) * 1024);
        bytes = workload_request_bytes(&w, NFS_OP_WRITE, 0, 8192, &rng);
        cr_assert(bytes % 1024 == 0 && bytes >= 1024 && bytes <= 7 * 1024);
    }
    cr_assert_eq(workload_request_max_bytes(&w, NFS_OP_READ, 8192), (16 * 8 + 7) * 1024);
    workload_fini(&w);
    load("sfs2008", &w); /* sizes there don't depend on the block */
    cr_assert_eq(workload_request_bytes(&w, NFS_OP_READ, 2, 8192, &rng), 32768);
    cr_assert_eq(workload_request_max_bytes(&w, NFS_OP_READ, 1048576), 519 * 1024);
    workload_fini(&w);
}

Test(workload, own_keys_are_no_overrides)
{
    for (const char *const *key = workload_keys(); *key; key++) {
        cr_assert_str_neq(*key, "name");
        cr_assert_str_neq(*key, "tunable");
        cr_assert_str_neq(*key, "standard");
    }
}
