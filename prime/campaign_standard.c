/* campaign_standard.c - what makes a campaign non-standard: every value that is not the published one, by name. */
#include "campaign_config.h"
#include "campaign_rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Standard values: sfs-facts section 6, the published run rules. */
#define STANDARD_PHASE_S   300.0
#define STANDARD_POINTS    10u
#define STANDARD_PROCESSES 8u

static void say_nonstandard(struct campaign_config *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say_nonstandard(struct campaign_config *c, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) >= 0) {
        json_array_append_new(c->nonstandard, json_string(text));
        free(text);
    }
    va_end(ap);
}

static bool is_evenly_spaced(const struct campaign_config *c)
{
    if (c->n_loads < 3) {
        return true;
    }
    double step = c->loads[1] - c->loads[0];
    for (size_t i = 2; i < c->n_loads; i++) {
        if (fabs(c->loads[i] - c->loads[i - 1] - step) > 0.01 * step + 0.5) {
            return false;
        }
    }
    return true;
}

static char *value_text(const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (text != NULL && strlen(text) > 40) {
        free(text);
        text = strdup("another table");
    }
    return text;
}

static void list_workload_differences(struct campaign_config *c)
{
    if (!c->has_preset) {
        say_nonstandard(c, "workload \"%s\" is no preset", c->workload.name);
        return;
    }
    if (!c->preset.is_standard) {
        say_nonstandard(c, "workload \"%s\" is not an SFS workload", c->workload.name);
    }
    json_t *keys = workload_differences(&c->workload, &c->preset);
    json_t *mine = workload_dump(&c->workload), *theirs = workload_dump(&c->preset);
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        const json_t *was = json_object_get(theirs, key), *is = json_object_get(mine, key);
        if (was == NULL || is == NULL) {
            say_nonstandard(c, "%s differs from the preset", key);
            continue;
        }
        char *was_text = value_text(was), *is_text = value_text(is);
        say_nonstandard(c, "%s is %s, the preset has %s", key, is_text, was_text);
        free(was_text);
        free(is_text);
    }
    json_decref(keys);
    json_decref(mine);
    json_decref(theirs);
}

void campaign_list_nonstandard(struct campaign_config *c)
{
    c->nonstandard = json_array();
    list_workload_differences(c);
    if (c->warmup_s < STANDARD_PHASE_S) {
        say_nonstandard(c, "warmup_s is %g, standard is %g", c->warmup_s, STANDARD_PHASE_S);
    }
    if (c->run_s != STANDARD_PHASE_S) {
        say_nonstandard(c, "run_s is %g, standard is %g", c->run_s, STANDARD_PHASE_S);
    }
    if (c->n_loads < STANDARD_POINTS) {
        say_nonstandard(c, "%zu point%s, standard is at least %u", c->n_loads, c->n_loads == 1 ? "" : "s",
                        STANDARD_POINTS);
    }
    /* The rule is per network. How many networks there are is not known here; one at least. */
    size_t n_processes = c->n_loadgens * (size_t)c->processes_per_loadgen;
    if (n_processes < STANDARD_PROCESSES) {
        say_nonstandard(c, "%zu process%s, standard is at least %u per network", n_processes,
                        n_processes == 1 ? "" : "es", STANDARD_PROCESSES);
    }
    if (!is_evenly_spaced(c)) {
        say_nonstandard(c, "points are not evenly spaced");
    }
    if (!campaign_access_is_uniform(c)) {
        say_nonstandard(c, "access is not uniform: load generators do not drive every target equally");
    }
}
