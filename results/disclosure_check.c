/* disclosure_check.c - report --check: is the disclosure complete, and does it agree with what ran?
 *
 * An error is what nobody could accept in a published result: a field that must be there, or one that contradicts the
 * run or another field. A warning is what a reviewer would ask about.
 */
#include "disclosure.h"
#include "disclosure_ranges.h"
#include "json_text.h"
#include "report.h"
#include "result.h"
#include "utf8.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MIN_POINTS                10
#define MIN_PROCESSES_PER_NETWORK 8
#define SPACING_PERCENT           15.0 /* of achieved throughputs around their even spacing */
#define PEAK_POINTS               3    /* extra, closer points near the peak are usual */
#define FILESET_PERCENT           2.0
#define STANDARD_PHASE_S          300.0

struct check {
    const struct result *r;
    const json_t *d;
    struct disclosure_findings *out;
    int error;
};

static void add(struct check *c, bool is_error, const char *path, const char *fmt, va_list ap)
    __attribute__((format(printf, 4, 0)));
static void add(struct check *c, bool is_error, const char *path, const char *fmt, va_list ap)
{
    struct disclosure_findings *f = c->out;
    struct disclosure_finding *bigger = realloc(f->items, (f->n + 1) * sizeof *bigger);
    if (!bigger) {
        c->error = -ENOMEM;
        return;
    }
    f->items = bigger;
    struct disclosure_finding *item = &f->items[f->n++];
    char message[512];
    item->is_error = is_error;
    f->n_errors += is_error;
    vsnprintf(message, sizeof message, fmt, ap);
    snprintf(item->path, sizeof item->path, "%.95s", path);
    snprintf(item->message, sizeof item->message, "%.255s", message);
}

static void bad(struct check *c, const char *path, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void bad(struct check *c, const char *path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(c, true, path, fmt, ap);
    va_end(ap);
}

static void odd(struct check *c, const char *path, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void odd(struct check *c, const char *path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(c, false, path, fmt, ap);
    va_end(ap);
}

/* --- what must be there
 * ------------------------------------------------------------------------------------------------ */

static void missing(struct check *c, enum disclosure_need need, const char *path, const char *title)
{
    if (need == DISCLOSURE_REQUIRED) {
        bad(c, path, "missing: %s", title);
    } else if (need == DISCLOSURE_EXPECTED) {
        odd(c, path, "missing: %s", title);
    }
}

static bool is_empty(const json_t *value)
{
    return !value || json_is_null(value) ||
           (json_is_string(value) && strspn(json_string_value(value), " \t\n") == json_string_length(value));
}

static void check_fields(struct check *c, const struct disclosure_section *s, const json_t *object, const char *path)
{
    char where[128];
    if (!json_is_object(object)) {
        bad(c, path, "expected an object");
        return;
    }
    for (const struct disclosure_field *f = s->fields; f->key; f++) {
        const json_t *value = json_object_get(object, f->key);
        snprintf(where, sizeof where, "%s.%s", path, f->key);
        if (is_empty(value)) {
            missing(c, f->need, where, f->title);
        } else if (f->type == DISCLOSURE_IS_NUMBER && !json_is_number(value)) {
            bad(c, where, "expected a number");
        } else if (f->type == DISCLOSURE_IS_NUMBER && json_number_value(value) < 0) {
            bad(c, where, "cannot be negative");
        } else if (f->type == DISCLOSURE_IS_TEXT && !json_is_string(value) && !json_is_number(value)) {
            bad(c, where, "expected a text");
        }
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        bool is_known = false;
        for (const struct disclosure_field *f = s->fields; f->key; f++) {
            is_known = is_known || strcmp(f->key, key) == 0;
        }
        if (!is_known) {
            odd(c, path, "unknown field \"%.60s\"", key);
        }
    }
}

static void check_section(struct check *c, const struct disclosure_section *s)
{
    char path[96], row[128];
    const json_t *value = json_object_get(c->d, s->key);
    snprintf(path, sizeof path, "disclosure.%s", s->key);
    if (is_empty(value) || (json_is_array(value) && json_array_size(value) == 0)) {
        missing(c, s->need, path, s->title);
        return;
    }
    switch (s->kind) {
    case DISCLOSURE_TEXT:
        if (!json_is_string(value)) {
            bad(c, path, "expected a text");
        }
        break;
    case DISCLOSURE_RECORD:
        check_fields(c, s, value, path);
        break;
    case DISCLOSURE_ROWS:
        if (!json_is_array(value)) {
            bad(c, path, "expected a list");
        }
        for (size_t i = 0; i < json_array_size(value); i++) {
            snprintf(row, sizeof row, "%s[%zu]", path, i);
            check_fields(c, s, json_array_get(value, i), row);
        }
        break;
    }
}

static void check_sections(struct check *c)
{
    for (const struct disclosure_section *s = disclosure_sections(); s->key; s++) {
        check_section(c, s);
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)c->d, key, value)
    {
        bool is_known = false;
        for (const struct disclosure_section *s = disclosure_sections(); s->key; s++) {
            is_known = is_known || strcmp(s->key, key) == 0;
        }
        if (!is_known) {
            odd(c, "disclosure", "unknown section \"%.60s\"", key);
        }
    }
}

/* --- what must agree with itself
 * ---------------------------------------------------------------------------------------- */

static void check_items(struct check *c, const char *section)
{
    char path[96];
    const json_t *rows = json_object_get(c->d, section);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        double item = json_double(json_array_get(rows, i), "item"),
               quantity = json_double(json_array_get(rows, i), "quantity");
        snprintf(path, sizeof path, "disclosure.%s[%zu]", section, i);
        for (size_t k = 0; k < i; k++) {
            if (json_double(json_array_get(rows, k), "item") == item) {
                bad(c, path, "item %.0f is listed twice", item);
            }
        }
        if (quantity == 0) {
            bad(c, path, "quantity is 0");
        }
    }
}

static void check_memory(struct check *c)
{
    char path[96];
    const json_t *rows = json_object_get(c->d, "memory");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        double size = json_double(row, "size_gb"), n = json_double(row, "instances"),
               total = json_double(row, "total_gb");
        const char *kind = json_text_of(row, "nonvolatile");
        snprintf(path, sizeof path, "disclosure.memory[%zu].total_gb", i);
        if (fabs(size * n - total) > 0.01 * total + 1e-9) {
            bad(c, path, "%g GB, but %g instances of %g GB make %g GB", total, n, size, size * n);
        }
        snprintf(path, sizeof path, "disclosure.memory[%zu].nonvolatile", i);
        if (kind && strcmp(kind, "V") != 0 && strcmp(kind, "NV") != 0) {
            bad(c, path, "expected \"V\" or \"NV\"");
        }
    }
}

static void check_capacity(struct check *c)
{
    const json_t *disks = json_object_get(c->d, "disks"), *filesystems = json_object_get(c->d, "filesystems");
    double usable = 0, exported = json_double(filesystems, "total_exported_gb"),
           fileset = json_double(filesystems, "fileset_gb");
    for (size_t i = 0; i < json_array_size(disks); i++) {
        usable += json_double(json_array_get(disks, i), "usable_gb");
    }
    if (exported > usable * 1.03) {
        bad(c, "disclosure.filesystems.total_exported_gb", "%g GB are exported, but the disks have %g GB", exported,
            usable);
    }
    if (fileset > exported) {
        bad(c, "disclosure.filesystems.fileset_gb", "a fileset of %g GB does not fit into %g GB exported", fileset,
            exported);
    }
}

static const json_t *row_with(const json_t *rows, const char *key, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (json_equal(json_object_get(json_array_get(rows, i), key), value)) {
            return json_array_get(rows, i);
        }
    }
    return NULL;
}

static void check_load_generators(struct check *c)
{
    char path[96];
    const json_t *rows = json_object_get(c->d, "load_generators"),
                 *materials = json_object_get(c->d, "test_environment");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *item = json_object_get(json_array_get(rows, i), "bom_item");
        snprintf(path, sizeof path, "disclosure.load_generators[%zu].bom_item", i);
        if (item && json_array_size(materials) && !row_with(materials, "item", item)) {
            bad(c, path, "the test environment's bill of materials has no such item");
        } else if (item && json_array_size(rows) == 1 &&
                   json_double(row_with(materials, "item", item), "quantity") <
                       json_double(json_object_get(c->d, "benchmark_parameters"), "load_generators")) {
            bad(c, path, "the bill of materials has fewer of this item than there are load generators");
        }
    }
}

static void check_testbed(struct check *c)
{
    char path[96];
    struct ranges seen;
    const json_t *rows = json_object_get(c->d, "testbed"), *types = json_object_get(c->d, "load_generators");
    double expected = json_double(json_object_get(c->d, "benchmark_parameters"), "load_generators");
    ranges_init(&seen);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *text = json_text_of(row, "loadgens");
        snprintf(path, sizeof path, "disclosure.testbed[%zu].loadgens", i);
        int status = text ? ranges_add(&seen, text) : 0;
        if (status == -EINVAL) {
            bad(c, path, "expected numbers such as \"1..4\" or \"5, 7\"");
        } else if (status == -EEXIST) {
            bad(c, path, "a load generator is listed twice");
        }
        snprintf(path, sizeof path, "disclosure.testbed[%zu].type", i);
        if (json_object_get(row, "type") && json_array_size(types) &&
            !row_with(types, "type", json_object_get(row, "type"))) {
            bad(c, path, "no load generator type of that name is disclosed");
        }
        snprintf(path, sizeof path, "disclosure.testbed[%zu].targets", i);
        if (i > 0 &&
            !json_equal(json_object_get(row, "targets"), json_object_get(json_array_get(rows, 0), "targets"))) {
            bad(c, path, "differs from the first row: every load generator must drive every target equally");
        }
    }
    if (json_array_size(rows) && expected >= 0 && (double)seen.n != expected) {
        bad(c, "disclosure.testbed", "%zu load generators are listed, %.0f are stated", seen.n, expected);
    }
    ranges_fini(&seen);
}

/* --- what must agree with the run
 * --------------------------------------------------------------------------------------- */

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
        bad(c, path, "%g stated, but %s %g", said, what, ran);
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
            bad(c, "loadgens", "not every load generator ran the same number of processes");
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
        n += network && row_with(testbed, "network", network) == json_array_get(testbed, i);
    }
    if (n && processes / (double)n < MIN_PROCESSES_PER_NETWORK) {
        bad(c, "disclosure.benchmark_parameters", "%g processes on %zu networks: at least %d per network are needed",
            processes, n, MIN_PROCESSES_PER_NETWORK);
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
        bad(c, path, "%g GB stated, but the largest fileset of the run was %.1f GB", said, made);
    }
    json_t *targets = json_object_get(c->r->campaign, "targets");
    double count = json_double(json_object_get(c->d, "filesystems"), "count");
    if (json_array_size(targets) && isfinite(count) && count != (double)json_array_size(targets)) {
        bad(c, "disclosure.filesystems.count", "%g stated, but the campaign drove %zu", count,
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
            bad(c, path, "drove %zu of %zu targets: access was not uniform", json_array_size(l->targets), n_targets);
        }
        const char *name;
        json_t *n, *first = NULL;
        json_object_foreach(l->processes_per_target, name, n)
        {
            if (first && !json_equal(first, n)) {
                bad(c, path, "its processes were not spread evenly over the targets");
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
        bad(c, "disclosure.load_generators[0].memory_gb", "%g GB stated, but the host has %.1f GB", said, has);
    }
    if (l->cpus != RESULT_UNKNOWN && isfinite(cores) && (double)l->cpus != cores && (double)l->cpus != 2 * cores) {
        odd(c, "disclosure.load_generators[0].cores_per_chip", "%g cores stated, but the host has %llu CPUs", cores,
            (unsigned long long)l->cpus);
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
        bad(c, "disclosure.product_and_test.date_tested", "the run was made in %s", year);
    }
}

/* --- what a standard result must be
 * ------------------------------------------------------------------------------------- */

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
        bad(c, "points", "%zu points: at least %d are needed", r->n_points, MIN_POINTS);
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
            bad(c, "points", "not evenly spaced: point %zu is %.0f ops/s after the one before, the others about %.0f",
                i + 1, at - before, step);
            return;
        }
    }
    if (at0 > step * 2 + 0.5) {
        bad(c, "points", "the first point is at %.0f ops/s: the sweep must begin low, about %.0f", at0, step);
    }
}

static void check_phases(struct check *c)
{
    for (size_t i = 0; i < c->r->n_points; i++) {
        const struct point_result *p = &c->r->points[i];
        if (isfinite(p->warmup_s) && p->warmup_s != STANDARD_PHASE_S) {
            bad(c, "points", "warm-up of %g s: the standard is %g s", p->warmup_s, STANDARD_PHASE_S);
            break;
        }
        if (isfinite(p->run_s) && p->run_s != STANDARD_PHASE_S) {
            bad(c, "points", "run of %g s: the standard is %g s", p->run_s, STANDARD_PHASE_S);
            break;
        }
    }
}

static void check_standard(struct check *c)
{
    const struct result *r = c->r;
    for (size_t i = 0; i < json_array_size(r->nonstandard_reasons); i++) {
        bad(c, "nonstandard_reasons", "non-standard: %.200s",
            json_string_value(json_array_get(r->nonstandard_reasons, i)));
    }
    if (!r->is_standard && json_array_size(r->nonstandard_reasons) == 0) {
        bad(c, "standard", "the result is marked non-standard");
    }
    for (size_t i = 0; i < json_array_size(r->invalid_reasons); i++) {
        bad(c, "invalid_reasons", "invalid: %.200s", json_string_value(json_array_get(r->invalid_reasons, i)));
    }
    if (r->ceiling_ms > 0 && isnan(r->peak_under_ceiling_ops_per_s) && r->n_points) {
        bad(c, "points", "no point is under the ceiling of %g ms", r->ceiling_ms);
    } else if (r->peak_under_ceiling_ops_per_s < r->peak_ops_per_s) {
        odd(c, "points", "the peak is over the ceiling of %g ms: only %.0f ops/s are reportable", r->ceiling_ms,
            r->peak_under_ceiling_ops_per_s);
    }
    for (size_t i = 0; i < r->n_points; i++) {
        if (r->points[i].steady.is_drifting) {
            odd(c, "points", "point %zu was not steady", i + 1);
        }
    }
    check_spacing(c);
    check_phases(c);
}

int disclosure_check(const struct result *r, struct disclosure_findings *out)
{
    *out = (struct disclosure_findings){0};
    struct check c = {.r = r, .d = r->disclosure, .out = out};
    if (json_object_size(r->disclosure) == 0) {
        bad(&c, "disclosure", "missing: the result discloses nothing of the system that was tested");
    } else {
        check_sections(&c);
    }
    check_items(&c, "bill_of_materials");
    check_items(&c, "test_environment");
    check_memory(&c);
    check_capacity(&c);
    check_load_generators(&c);
    check_testbed(&c);
    check_parameters(&c);
    check_networks(&c);
    check_fileset(&c);
    check_access(&c);
    check_hosts(&c);
    check_date(&c);
    check_standard(&c);
    return c.error;
}

void disclosure_findings_fini(struct disclosure_findings *f)
{
    free(f->items);
    *f = (struct disclosure_findings){0};
}

void disclosure_findings_print(const struct disclosure_findings *f, FILE *out)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < f->n; i++) {
            if (f->items[i].is_error == (pass == 0)) {
                char line[400];
                snprintf(line, sizeof line, "%s: %s: %s", pass == 0 ? "error" : "warning", f->items[i].path,
                         f->items[i].message);
                char *clean = utf8_repair(line, strlen(line), NULL);
                for (char *p = clean; p && *p; p++) {
                    *p = (unsigned char)*p < 0x20 || *p == 0x7f ? ' ' : *p;
                }
                fprintf(out, "%s\n", clean ? clean : "");
                free(clean);
            }
        }
    }
    fprintf(out, "%zu error%s, %zu warning%s\n", f->n_errors, f->n_errors == 1 ? "" : "s", f->n - f->n_errors,
            f->n - f->n_errors == 1 ? "" : "s");
}
