/* disclosure_check_run.c - does the disclosure agree with what ran, and the run with the rules of a standard result? */
#include "disclosure_check.h"
#include "json_text.h"

#include <math.h>
#include <string.h>

#define MIN_POINTS                10
#define MIN_PROCESSES_PER_NETWORK 8
#define SPACING_PERCENT           15.0 /* of achieved throughputs around their even spacing */
#define PEAK_POINTS               3    /* extra, closer points near the peak are usual */
#define FILESET_PERCENT           2.0
#define STANDARD_PHASE_S          300.0

/* --- what must agree with the run --- */

static double campaign_number(const struct result *r, const char *key)
{
    double v = json_double(r->campaign, key);
    return isnan(v) ? json_double(json_object_get(r->campaign, "workload"), key) : v;
}

static void expect(struct check *c, const char *key, double ran, const char *what)
{
    char path[96];
    double said = json_double(json_object_get(c->d, "benchmark_parameters"), key);
    snprintf(path, sizeof path, "disclosure.benchmark_parameters.%s", key);
    if (isfinite(said) && isfinite(ran) && said != ran) {
        check_error(c, path, "%g stated, but %s %g", said, what, ran);
    }
}

static void check_parameters(struct check *c)
{
    const struct result *r = c->r;
    if (r->n_loadgens) {
        expect(c, "load_generators", (double)r->n_loadgens, "the run had");
    }
    for (size_t i = 0; i < r->n_loadgens; i++) {
        if (r->loadgens[i].processes == RESULT_UNKNOWN) {
            continue;
        }
        expect(c, "processes_per_loadgen", (double)r->loadgens[i].processes, "a load generator ran");
        break;
    }
    for (size_t i = 1; i < r->n_loadgens; i++) {
        if (r->loadgens[i].processes != r->loadgens[0].processes) {
            check_error(c, "loadgens", "not every load generator ran the same number of processes");
        }
    }
    expect(c, "biod_max_read", campaign_number(r, "biod_max_read"), "the campaign says");
    expect(c, "biod_max_write", campaign_number(r, "biod_max_write"), "the campaign says");
    for (size_t i = 0; i < r->n_points && r->points[i].n_loadgens; i++) {
        uint64_t block = r->points[i].loadgens[0].read_block_bytes;
        if (block == RESULT_UNKNOWN || block == 0) {
            continue;
        }
        expect(c, "block_size_kib", (double)block / 1024, "the run used");
        break;
    }
}

static void check_networks(struct check *c)
{
    const json_t *testbed = json_object_get(c->d, "testbed"),
                 *parameters = json_object_get(c->d, "benchmark_parameters");
    double processes = json_double(parameters, "load_generators") * json_double(parameters, "processes_per_loadgen");
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(testbed); i++) {
        const json_t *network = json_object_get(json_array_get(testbed, i), "network");
        n += network && check_row_with(testbed, "network", network) == json_array_get(testbed, i);
    }
    if (n && processes / (double)n < MIN_PROCESSES_PER_NETWORK) {
        check_error(c, "disclosure.benchmark_parameters",
                    "%g processes on %zu networks: at least %d per network are needed", processes, n,
                    MIN_PROCESSES_PER_NETWORK);
    }
}

static void check_fileset(struct check *c)
{
    const char *path = "disclosure.filesystems.fileset_gb";
    double said = json_double(json_object_get(c->d, "filesystems"), "fileset_gb"), made = 0;
    for (size_t i = 0; i < c->r->n_points; i++) {
        if (c->r->points[i].fileset_bytes != RESULT_UNKNOWN) {
            made = fmax(made, (double)c->r->points[i].fileset_bytes / 1e9);
        }
    }
    if (made > 0 && isfinite(said) && fabs(said - made) > made * FILESET_PERCENT / 100 + 0.05) {
        check_error(c, path, "%g GB stated, but the largest fileset of the run was %.1f GB", said, made);
    }
    json_t *targets = json_object_get(c->r->campaign, "targets");
    double count = json_double(json_object_get(c->d, "filesystems"), "count");
    if (json_array_size(targets) && isfinite(count) && count != (double)json_array_size(targets)) {
        check_error(c, "disclosure.filesystems.count", "%g stated, but the campaign drove %zu", count,
                    json_array_size(targets));
    }
}

static void check_access(struct check *c)
{
    const struct result *r = c->r;
    size_t n_targets = json_array_size(json_object_get(r->campaign, "targets"));
    char path[96];
    for (size_t i = 0; i < r->n_loadgens; i++) {
        const struct result_loadgen *l = &r->loadgens[i];
        snprintf(path, sizeof path, "loadgens[%zu].targets", i);
        if (l->targets && n_targets && json_array_size(l->targets) != n_targets) {
            check_error(c, path, "drove %zu of %zu targets: access was not uniform", json_array_size(l->targets),
                        n_targets);
        }
        const char *name;
        json_t *n, *first = NULL;
        json_object_foreach(l->processes_per_target, name, n)
        {
            if (first && !json_equal(first, n)) {
                check_error(c, path, "its processes were not spread evenly over the targets");
            }
            first = first ? first : n;
        }
    }
}

static void check_hosts(struct check *c)
{
    const json_t *rows = json_object_get(c->d, "load_generators");
    if (json_array_size(rows) != 1 || c->r->n_loadgens == 0) {
        return;
    }
    const struct result_loadgen *l = &c->r->loadgens[0];
    double said = json_double(json_array_get(rows, 0), "memory_gb"), has = (double)l->memory_bytes / 1e9;
    double cores =
        json_double(json_array_get(rows, 0), "chips") * json_double(json_array_get(rows, 0), "cores_per_chip");
    /* a host shows a little less than its memory modules say */
    if (l->memory_bytes != RESULT_UNKNOWN && isfinite(said) && (has > said * 1.10 || has < said * 0.85)) {
        check_error(c, "disclosure.load_generators[0].memory_gb", "%g GB stated, but the host has %.1f GB", said, has);
    }
    if (l->cpus != RESULT_UNKNOWN && isfinite(cores) && (double)l->cpus != cores && (double)l->cpus != 2 * cores) {
        check_warning(c, "disclosure.load_generators[0].cores_per_chip", "%g cores stated, but the host has %llu CPUs",
                      cores, (unsigned long long)l->cpus);
    }
}

static void check_date(struct check *c)
{
    const char *said = json_text_of(json_object_get(c->d, "product_and_test"), "date_tested");
    char year[5] = "";
    if (!said || !c->r->started_at || strlen(c->r->started_at) < 4) {
        return;
    }
    memcpy(year, c->r->started_at, 4);
    if (!strstr(said, year)) {
        check_error(c, "disclosure.product_and_test.date_tested", "the run was made in %s", year);
    }
}

void check_against_run(struct check *c)
{
    check_parameters(c);
    check_networks(c);
    check_fileset(c);
    check_access(c);
    check_hosts(c);
    check_date(c);
}

/* --- what a standard result must be --- */

/* The campaign's own reasons say what a run lacks in its own words: that is not said a second time. */
static bool is_said(const struct result *r, const char *words)
{
    for (size_t i = 0; i < json_array_size(r->nonstandard_reasons); i++) {
        const char *reason = json_string_value(json_array_get(r->nonstandard_reasons, i));
        if (reason && strstr(reason, words)) {
            return true;
        }
    }
    return false;
}

/* Requested loads must be evenly spaced; where only throughputs are known, about so. The first point is one step from
 * zero; points near the peak may be closer. */
static void check_spacing(struct check *c)
{
    const struct result *r = c->r;
    bool has_requests = r->n_points > 0;
    for (size_t i = 0; i < r->n_points; i++) {
        has_requests = has_requests && !isnan(r->points[i].requested_ops_per_s);
    }
    if (r->n_points < MIN_POINTS) {
        if (!is_said(r, "standard is at least 10")) {
            check_error(c, "points", "%zu point%s: at least %d are needed", r->n_points, r->n_points == 1 ? "" : "s",
                        MIN_POINTS);
        }
        return;
    }
    if (is_said(r, "not evenly spaced")) {
        return;
    }
    double tolerance = has_requests ? 1.0 : SPACING_PERCENT;
    size_t n_even = r->n_points > MIN_POINTS ? r->n_points - PEAK_POINTS : r->n_points;
    double at0 = has_requests ? r->points[0].requested_ops_per_s : r->points[0].achieved_ops_per_s;
    double at_last =
        has_requests ? r->points[n_even - 1].requested_ops_per_s : r->points[n_even - 1].achieved_ops_per_s;
    double step = (at_last - at0) / (double)(n_even - 1);
    for (size_t i = 1; i < r->n_points; i++) {
        double before = has_requests ? r->points[i - 1].requested_ops_per_s : r->points[i - 1].achieved_ops_per_s;
        double at = has_requests ? r->points[i].requested_ops_per_s : r->points[i].achieved_ops_per_s;
        bool is_near_peak = i >= n_even;
        /* a rounded step is even enough: half an op/s */
        double off = at - before - step;
        if (off > step * tolerance / 100 + 0.5 || (!is_near_peak && -off > step * tolerance / 100 + 0.5)) {
            check_error(c, "points",
                        "not evenly spaced: point %zu is %.0f ops/s after the one before, the others about %.0f", i + 1,
                        at - before, step);
            return;
        }
    }
    if (at0 > step * 2 + 0.5) {
        check_error(c, "points", "the first point is at %.0f ops/s: the sweep must begin low, about %.0f", at0, step);
    }
}

static void check_phases(struct check *c)
{
    bool says_warmup = is_said(c->r, "warmup_s is "), says_run = is_said(c->r, "run_s is ");
    for (size_t i = 0; i < c->r->n_points; i++) {
        const struct point_result *p = &c->r->points[i];
        if (!says_warmup && isfinite(p->warmup_s) && p->warmup_s != STANDARD_PHASE_S) {
            check_error(c, "points", "warm-up of %g s: the standard is %g s", p->warmup_s, STANDARD_PHASE_S);
            says_warmup = true;
        }
        if (!says_run && isfinite(p->run_s) && p->run_s != STANDARD_PHASE_S) {
            check_error(c, "points", "run of %g s: the standard is %g s", p->run_s, STANDARD_PHASE_S);
            says_run = true;
        }
    }
}

void check_against_rules(struct check *c)
{
    const struct result *r = c->r;
    for (size_t i = 0; i < json_array_size(r->nonstandard_reasons); i++) {
        check_error(c, "nonstandard_reasons", "%.200s", json_string_value(json_array_get(r->nonstandard_reasons, i)));
    }
    if (!r->is_standard && json_array_size(r->nonstandard_reasons) == 0) {
        check_error(c, "standard", "the result is marked non-standard");
    }
    for (size_t i = 0; i < json_array_size(r->invalid_reasons); i++) {
        check_error(c, "invalid_reasons", "%.200s", json_string_value(json_array_get(r->invalid_reasons, i)));
    }
    if (r->ceiling_ms > 0 && isnan(r->peak_under_ceiling_ops_per_s) && r->n_points) {
        check_error(c, "points", "no point is under the ceiling of %g ms", r->ceiling_ms);
    } else if (r->peak_under_ceiling_ops_per_s < r->peak_ops_per_s) {
        check_warning(c, "points", "the peak is over the ceiling of %g ms: only %.0f ops/s are reportable",
                      r->ceiling_ms, r->peak_under_ceiling_ops_per_s);
    }
    for (size_t i = 0; i < r->n_points; i++) {
        if (r->points[i].steady.is_drifting) {
            check_warning(c, "points", "point %zu was not steady", i + 1);
        }
    }
    check_spacing(c);
    check_phases(c);
}
