/* disclosure_check.c - report --check: is the disclosure complete, and does it agree with what ran?
 *
 * An error is what nobody could accept in a published result: a field that must be there, or one that contradicts the
 * run or another field. A warning is what a reviewer would ask about.
 */
#include "disclosure_check.h"
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

/* --- saying it --- */

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

void check_error(struct check *c, const char *path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(c, true, path, fmt, ap);
    va_end(ap);
}

void check_warning(struct check *c, const char *path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(c, false, path, fmt, ap);
    va_end(ap);
}

/* --- what must be there --- */

static void missing(struct check *c, enum disclosure_need need, const char *path, const char *title)
{
    if (need == DISCLOSURE_REQUIRED) {
        check_error(c, path, "missing: %s", title);
    } else if (need == DISCLOSURE_EXPECTED) {
        check_warning(c, path, "missing: %s", title);
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
        check_error(c, path, "expected an object");
        return;
    }
    for (const struct disclosure_field *f = s->fields; f->key; f++) {
        const json_t *value = json_object_get(object, f->key);
        snprintf(where, sizeof where, "%s.%s", path, f->key);
        if (is_empty(value)) {
            missing(c, f->need, where, f->title);
        } else if (f->type == DISCLOSURE_IS_NUMBER && !json_is_number(value)) {
            check_error(c, where, "expected a number");
        } else if (f->type == DISCLOSURE_IS_NUMBER && json_number_value(value) < 0) {
            check_error(c, where, "cannot be negative");
        } else if (f->type == DISCLOSURE_IS_TEXT && !json_is_string(value) && !json_is_number(value)) {
            check_error(c, where, "expected a text");
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
            check_warning(c, path, "unknown field \"%.60s\"", key);
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
            check_error(c, path, "expected a text");
        }
        break;
    case DISCLOSURE_RECORD:
        check_fields(c, s, value, path);
        break;
    case DISCLOSURE_ROWS:
        if (!json_is_array(value)) {
            check_error(c, path, "expected a list");
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
            check_warning(c, "disclosure", "unknown section \"%.60s\"", key);
        }
    }
}

/* --- what must agree with itself --- */

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
                check_error(c, path, "item %.0f is listed twice", item);
            }
        }
        if (quantity == 0) {
            check_error(c, path, "quantity is 0");
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
            check_error(c, path, "%g GB, but %g instances of %g GB make %g GB", total, n, size, size * n);
        }
        snprintf(path, sizeof path, "disclosure.memory[%zu].nonvolatile", i);
        if (kind && strcmp(kind, "V") != 0 && strcmp(kind, "NV") != 0) {
            check_error(c, path, "expected \"V\" or \"NV\"");
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
        check_error(c, "disclosure.filesystems.total_exported_gb", "%g GB are exported, but the disks have %g GB",
                    exported, usable);
    }
    if (fileset > exported) {
        check_error(c, "disclosure.filesystems.fileset_gb", "a fileset of %g GB does not fit into %g GB exported",
                    fileset, exported);
    }
}

const json_t *check_row_with(const json_t *rows, const char *key, const json_t *value)
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
        if (item && json_array_size(materials) && !check_row_with(materials, "item", item)) {
            check_error(c, path, "the test environment's bill of materials has no such item");
        } else if (item && json_array_size(rows) == 1 &&
                   json_double(check_row_with(materials, "item", item), "quantity") <
                       json_double(json_object_get(c->d, "benchmark_parameters"), "load_generators")) {
            check_error(c, path, "the bill of materials has fewer of this item than there are load generators");
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
            check_error(c, path, "expected numbers such as \"1..4\" or \"5, 7\"");
        } else if (status == -EEXIST) {
            check_error(c, path, "a load generator is listed twice");
        }
        snprintf(path, sizeof path, "disclosure.testbed[%zu].type", i);
        if (json_object_get(row, "type") && json_array_size(types) &&
            !check_row_with(types, "type", json_object_get(row, "type"))) {
            check_error(c, path, "no load generator type of that name is disclosed");
        }
        snprintf(path, sizeof path, "disclosure.testbed[%zu].targets", i);
        if (i > 0 &&
            !json_equal(json_object_get(row, "targets"), json_object_get(json_array_get(rows, 0), "targets"))) {
            check_error(c, path, "differs from the first row: every load generator must drive every target equally");
        }
    }
    if (json_array_size(rows) && expected >= 0 && (double)seen.n != expected) {
        check_error(c, "disclosure.testbed", "%zu load generators are listed, %.0f are stated", seen.n, expected);
    }
    ranges_fini(&seen);
}

int disclosure_check(const struct result *r, struct disclosure_findings *out)
{
    *out = (struct disclosure_findings){0};
    struct check c = {.r = r, .d = r->disclosure, .out = out};
    if (json_object_size(r->disclosure) == 0) {
        check_error(&c, "disclosure", "missing: the result discloses nothing of the system that was tested");
    } else {
        check_sections(&c);
    }
    check_items(&c, "bill_of_materials");
    check_items(&c, "test_environment");
    check_memory(&c);
    check_capacity(&c);
    check_load_generators(&c);
    check_testbed(&c);
    check_against_run(&c);
    check_against_rules(&c);
    return c.error;
}

void disclosure_findings_fini(struct disclosure_findings *f)
{
    free(f->items);
    *f = (struct disclosure_findings){0};
}

void disclosure_findings_print(const struct disclosure_findings *f, FILE *out)
{
    bool lacks_answers = false;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < f->n; i++) {
            lacks_answers = lacks_answers || strncmp(f->items[i].path, "disclosure", 10) == 0;
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
    if (lacks_answers) {
        fprintf(out, "what a disclosure lacks goes into the key \"disclosure\": of the campaign before a run, of "
                     "DIR/result.json "
                     "after it; then nfscurve report DIR --out DIR/report.html draws the page again\n");
    }
    fprintf(out, "%zu error%s, %zu warning%s\n", f->n_errors, f->n_errors == 1 ? "" : "s", f->n - f->n_errors,
            f->n - f->n_errors == 1 ? "" : "s");
}
