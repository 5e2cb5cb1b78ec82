#include "histogram_json.h"
#include "json_text.h"
#include "point_json.h"
#include "result.h"
#include "workload.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two load generators, READ and GETATTR half and half, each op 1 ms from sent and 3 ms from due. */
static struct tally *tally_of(unsigned n_reads, unsigned n_getattrs)
{
    struct tally *t = malloc(sizeof *t);
    tally_init(t);
    const struct {
        enum nfs_op op;
        unsigned n;
    } ops[] = {{NFS_OP_READ, n_reads}, {NFS_OP_GETATTR, n_getattrs}};
    for (int i = 0; i < 2; i++) {
        struct op_tally *o = &t->ops[ops[i].op];
        histogram_record_n(&o->from_sent, 1000000, ops[i].n);
        histogram_record_n(&o->from_due, 3000000, ops[i].n);
        histogram_record_n(&o->rpc, 1000000, ops[i].n);
        o->n_logical = ops[i].n;
        o->n_physical = ops[i].n;
        o->n_outcome[OP_OK] = ops[i].n;
        o->n_status[0] = ops[i].n;
    }
    t->read_bytes = 8192ull * n_reads;
    t->generator.n_due = n_reads + n_getattrs;
    t->generator.run_ns = 10 * NS_PER_S;
    t->generator.loop_busy_ns = NS_PER_S;
    histogram_record_n(&t->generator.lateness, 50000, n_reads + n_getattrs);
    return t;
}

static struct workload workload(enum pacing_kind pacing)
{
    static char name[] = "test";
    struct workload w = {.name = name, .counting = COUNTING_LOGICAL, .pacing = pacing, .is_commit_byproduct = true};
    w.mix_percent[NFS_OP_READ] = 50;
    w.mix_percent[NFS_OP_GETATTR] = 50;
    return w;
}

struct measured {
    struct tally *tallies[2];
    struct point_input_loadgen loadgens[2];
    struct workload workload;
    struct point_input input;
};

static void measure(struct measured *m, enum pacing_kind pacing)
{
    m->tallies[0] = tally_of(1000, 1000);
    m->tallies[1] = tally_of(1000, 1000);
    m->workload = workload(pacing);
    for (int i = 0; i < 2; i++) {
        m->loadgens[i] = (struct point_input_loadgen){.name = i ? "lg2" : "lg1",
                                                      .tally = m->tallies[i],
                                                      .n_processes = 2,
                                                      .cpu_percent_max = 10 + i,
                                                      .host_cpu_percent = 20,
                                                      .started_skew_ns = 1000000 * (i + 1),
                                                      .shortest_run_ns = 10 * NS_PER_S,
                                                      .longest_run_ns = 10 * NS_PER_S,
                                                      .read_block_bytes = 32768,
                                                      .write_block_bytes = 32768,
                                                      .n_files = 10,
                                                      .fileset_bytes = 1000,
                                                      .n_files_touched = 5,
                                                      .working_set_bytes = 300};
    }
    m->input = (struct point_input){.index = 4,
                                    .requested_ops_per_s = 400,
                                    .workload = &m->workload,
                                    .warmup_ns = 5 * NS_PER_S,
                                    .run_ns = 10 * NS_PER_S,
                                    .loadgens = m->loadgens,
                                    .n_loadgens = 2};
}

static void measure_fini(struct measured *m)
{
    free(m->tallies[0]);
    free(m->tallies[1]);
}

Test(point, figures_are_sums_and_merges)
{
    struct measured m;
    struct point_result p;
    measure(&m, PACING_SFS);
    cr_assert_eq(point_from_measurement(&m.input, &p), 0);
    cr_assert(p.is_valid);
    cr_assert_eq(p.n_ops, 4000);
    cr_assert_float_eq(p.achieved_ops_per_s, 400, 1e-9);
    cr_assert_float_eq(p.response_ms, 1, 1e-12);
    cr_assert_float_eq(p.from_due.response_ms, 3, 1e-12);
    cr_assert_eq(p.ops[NFS_OP_READ].n_logical, 2000);
    cr_assert_float_eq(p.ops[NFS_OP_READ].percent, 50, 1e-12);
    cr_assert_eq(p.fileset_bytes, 2000);
    cr_assert_eq(p.fileset_files, 20);
    cr_assert_eq(p.read_bytes, 2 * 8192000);
    cr_assert_eq(p.n_failed, 0);
    cr_assert_eq(p.generator.cpu_percent_max, 11);
    cr_assert_eq(p.generator.skew_ms, 2);
    /* two seconds of busy loop in 4 processes of 10 s */
    cr_assert_float_eq(p.generator.busy_percent, 5, 1e-12);
    cr_assert_str_eq(p.generator.verdict, "server");
    cr_assert_not(p.ops[NFS_OP_WRITE].is_present);
    point_fini(&p);
    measure_fini(&m);
}

Test(point, open_pacing_makes_from_due_the_headline)
{
    struct measured m;
    struct point_result p;
    measure(&m, PACING_OPEN);
    point_from_measurement(&m.input, &p);
    cr_assert_float_eq(p.response_ms, 3, 1e-12);
    cr_assert_eq(point_headline(&p), &p.from_due);
    point_fini(&p);
    measure_fini(&m);
}

Test(point, commit_as_by_product_is_no_logical_op)
{
    struct measured m;
    struct point_result p;
    measure(&m, PACING_SFS);
    m.tallies[0]->ops[NFS_OP_COMMIT].n_logical = 500;
    m.tallies[0]->ops[NFS_OP_COMMIT].n_physical = 500;
    m.tallies[0]->ops[NFS_OP_COMMIT].n_outcome[OP_OK] = 500;
    point_from_measurement(&m.input, &p);
    cr_assert_eq(p.n_ops, 4000);
    cr_assert(p.ops[NFS_OP_COMMIT].is_present);
    cr_assert(isnan(p.ops[NFS_OP_COMMIT].percent));
    cr_assert(p.is_valid);
    point_fini(&p);
    measure_fini(&m);
}

Test(point, physical_counting_counts_every_rpc)
{
    struct measured m;
    struct point_result p;
    measure(&m, PACING_SFS);
    m.workload.counting = COUNTING_PHYSICAL;
    m.tallies[0]->ops[NFS_OP_READ].n_physical = 1500;
    point_from_measurement(&m.input, &p);
    cr_assert_eq(p.n_ops, 4500);
    point_fini(&p);
    measure_fini(&m);
}

Test(point, one_starved_load_generator_is_not_averaged_away)
{
    struct measured m;
    struct point_result p;
    measure(&m, PACING_SFS);
    histogram_init(&m.tallies[1]->generator.lateness);
    histogram_record_n(&m.tallies[1]->generator.lateness, 8000000, 2000);
    point_from_measurement(&m.input, &p);
    cr_assert_not(p.is_valid);
    cr_assert_str_eq(p.generator.verdict, "generator-limited");
    const char *reason = json_string_value(json_array_get(p.invalid_reasons, 0));
    cr_assert(strstr(reason, "8.00 ms late") && strstr(reason, "lg2"), "%s", reason);
    point_fini(&p);
    measure_fini(&m);
}

Test(point, failed_rpcs_are_named_by_outcome_and_status)
{
    struct measured m;
    struct point_result p;
    measure(&m, PACING_SFS);
    m.tallies[0]->ops[NFS_OP_READ].n_outcome[OP_NFS_ERROR] = 30;
    m.tallies[0]->ops[NFS_OP_READ].n_outcome[OP_TIMEOUT] = 20;
    m.tallies[0]->n_anomaly[ANOMALY_RECONNECT] = 2;
    point_from_measurement(&m.input, &p);
    cr_assert_eq(p.n_failed, 50);
    cr_assert_eq(p.ops[NFS_OP_READ].n_errors, 50);
    cr_assert_not(p.is_valid); /* 50 of 4000 */
    json_t *anomalies = json_object_get(p.errors, "anomalies");
    cr_assert_eq(json_integer_value(json_object_get(anomalies, anomaly_name(ANOMALY_RECONNECT))), 2);
    point_fini(&p);
    measure_fini(&m);
}

Test(point, intervals_keep_their_seconds)
{
    struct measured m;
    struct point_result p;
    struct interval_figures seconds[2] = {{.t_s = 0, .all = {100, 1, 200000000, 5000000}}, {.t_s = 1}};
    seconds[0].by_class[OP_CLASS_READ] = (struct interval_class_figures){50, 0, 50000000, 2000000};
    measure(&m, PACING_SFS);
    m.input.intervals = seconds;
    m.input.n_intervals = 2;
    point_from_measurement(&m.input, &p);
    cr_assert_eq(p.n_intervals, 2);
    cr_assert_float_eq(p.intervals[0].all.response_ms, 2, 1e-12);
    cr_assert_float_eq(p.intervals[0].by_class[OP_CLASS_READ].response_ms, 1, 1e-12);
    cr_assert(isnan(p.intervals[1].all.response_ms));
    point_fini(&p);
    measure_fini(&m);
}

static char *text_of(const struct point_result *p)
{
    json_t *o = point_to_json(p);
    char *text = json_text(o, NULL);
    json_decref(o);
    return text;
}

Test(point, file_holds_everything_and_rewriting_changes_no_byte)
{
    struct measured m;
    struct point_result p, again;
    struct result_error error;
    char directory[] = "/tmp/nfscurve-test-XXXXXX", path[128];
    struct point_input_lost lost = {"lg2", 1, "gone \"away\"\n\xff", 1500000000};
    cr_assert(mkdtemp(directory));
    measure(&m, PACING_SFS);
    m.input.lost = &lost;
    m.input.n_lost = 1;
    point_from_measurement(&m.input, &p);
    p.is_cut_short = true;
    cr_assert_eq(point_write(directory, &p), 0);
    cr_assert_eq(point_read(directory, 4, &again, &error), 0, "%s", error.message);
    char *a = text_of(&p), *b = text_of(&again);
    cr_assert_str_eq(a, b);
    cr_assert(again.is_cut_short);
    cr_assert_eq(point_read(directory, 5, &again, &error), -ENOENT);
    static struct histogram h;
    cr_assert_eq(histogram_from_json(json_object_get(p.ops[NFS_OP_READ].histograms, "from_sent"), &h), 0);
    cr_assert_eq(h.count, 2000);
    snprintf(path, sizeof path, "%s/points/05.json", directory);
    cr_assert_eq(unlink(path), 0);
    snprintf(path, sizeof path, "%s/points", directory);
    cr_assert_eq(rmdir(path), 0);
    cr_assert_eq(rmdir(directory), 0);
    free(a);
    free(b);
    point_fini(&p);
    point_fini(&again);
    measure_fini(&m);
}

Test(point, files_are_named_as_points_are_shown)
{
    struct point_result p, again;
    struct result_error error;
    char directory[] = "/tmp/nfscurve-test-XXXXXX", path[128], why[256];
    json_t *o = json_loads("{\"achieved_ops_per_s\": 5, \"response_ms\": 1}", 0, NULL);
    cr_assert(mkdtemp(directory));
    cr_assert_eq(point_from_json(o, 0, &p, why, sizeof why), 0);
    cr_assert_eq(point_write(directory, &p), 0);
    snprintf(path, sizeof path, "%s/points/01.json", directory);
    cr_assert_eq(access(path, F_OK), 0);

    cr_assert_eq(point_read(directory, 0, &again, &error), 0, "%s", error.message);
    point_fini(&again);
    cr_assert_eq(point_read(directory, 1, &again, &error), -ENOENT);
    cr_assert_eq(unlink(path), 0);
    snprintf(path, sizeof path, "%s/points", directory);
    cr_assert_eq(rmdir(path), 0);
    cr_assert_eq(rmdir(directory), 0);
    point_fini(&p);
    json_decref(o);
}

Test(point, keys_of_others_survive)
{
    char why[256];
    struct point_result p;
    json_t *o = json_loads("{\"achieved_ops_per_s\": 5, \"response_ms\": 1, \"site\": {\"rack\": 7}}", 0, NULL);
    cr_assert_eq(point_from_json(o, 0, &p, why, sizeof why), 0);
    json_t *again = point_to_json(&p);
    cr_assert(json_equal(json_object_get(again, "site"), json_object_get(o, "site")));
    json_decref(o);
    json_decref(again);
    point_fini(&p);
}

static void check_refused(const char *text)
{
    char why[256] = "";
    struct point_result p;
    json_t *o = json_loads(text, JSON_DECODE_ANY, NULL);
    cr_assert_eq(point_from_json(o, 0, &p, why, sizeof why), -EINVAL, "%s", text);
    cr_assert_neq(why[0], '\0');
    json_decref(o);
}

Test(point, what_is_no_point_is_refused)
{
    check_refused("[]");
    check_refused("{}");
    check_refused("{\"achieved_ops_per_s\": -1, \"response_ms\": 1}");
    check_refused("{\"achieved_ops_per_s\": \"5\", \"response_ms\": 1}");
    check_refused("{\"achieved_ops_per_s\": 5}");
    check_refused("{\"achieved_ops_per_s\": 5, \"response_ms\": -1}");
    check_refused("{\"achieved_ops_per_s\": 5, \"response_ms\": 1, \"ops\": {\"frobnicate\": {}}}");
    check_refused("{\"achieved_ops_per_s\": 5, \"response_ms\": 1, \"ops\": {\"read\": {\"histogram\": {\"from_sent\": "
                  "{\"count\": 1}}}}}");
}
