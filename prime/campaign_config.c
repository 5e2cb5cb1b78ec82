/* campaign_config.c - see campaign_config.h. One table a JSON object; the custom rows are lists and what names other
 * things. */
#include "campaign_config.h"

#include "campaign_rows.h"
#include "key_file.h"
#include "log.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELD(member) offsetof(struct campaign_config, member)

static const char *const engine_names[] = {"native", "libnfs", NULL};

struct load_steps {
    double first, increment;
    int64_t points;
};

static const struct config_key load_keys[] = {
    {"first", CONFIG_DOUBLE, offsetof(struct load_steps, first), "ops/s", 0.001, CAMPAIGN_MAX_OPS_PER_S, NULL, NULL,
     "load of the first point", NULL, NULL},
    {"increment", CONFIG_DOUBLE, offsetof(struct load_steps, increment), "ops/s", 0, CAMPAIGN_MAX_OPS_PER_S, NULL, NULL,
     "added from point to point", NULL, NULL},
    {"points", CONFIG_INT, offsetof(struct load_steps, points), NULL, 1, CAMPAIGN_MAX_POINTS, NULL, NULL,
     "number of points", NULL, NULL},
    {.key = NULL},
};

static bool add_load(const struct config_ctx *ctx, struct campaign_config *c, const json_t *value)
{
    double load = json_number_value(value);
    if (!json_is_number(value) || !(load > 0) || load > CAMPAIGN_MAX_OPS_PER_S) {
        config_complain(ctx, "must be a number of ops/s greater than 0 and at most %g", CAMPAIGN_MAX_OPS_PER_S);
        return false;
    }
    if (c->n_loads > 0 && load <= c->loads[c->n_loads - 1]) {
        config_complain(ctx, "%g ops/s does not follow %g: points go from low to high", load, c->loads[c->n_loads - 1]);
        return false;
    }
    c->loads[c->n_loads++] = load;
    return true;
}

static void parse_load_list(const struct config_ctx *ctx, struct campaign_config *c, const json_t *value)
{
    size_t n = json_array_size(value);
    if (n == 0 || n > CAMPAIGN_MAX_POINTS) {
        config_complain(ctx, "must have 1 to %u points", CAMPAIGN_MAX_POINTS);
        return;
    }
    c->loads = calloc(n, sizeof *c->loads);
    for (size_t i = 0; i < n && c->loads != NULL; i++) {
        char *path = text_format("%s[%zu]", ctx->path, i);
        struct config_ctx here = row_below(ctx, path);
        add_load(&here, c, json_array_get(value, i));
        free(path);
    }
}

static void parse_loads(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    if (value == NULL) {
        config_complain(ctx, "is required: {\"first\": 1000, \"increment\": 1000, \"points\": 10}, or a list of ops/s");
    } else if (json_is_array(value)) {
        parse_load_list(ctx, c, value);
    } else if (json_is_number(value)) {
        c->loads = calloc(1, sizeof *c->loads);
        if (c->loads != NULL) {
            add_load(ctx, c, value);
        }
    } else if (json_is_object(value)) {
        struct load_steps steps = {0};
        if (config_parse(ctx->src, value, ctx->path, load_keys, NULL, &steps, ctx->errors) != 0) {
            return;
        }
        if (steps.points > 1 && steps.increment <= 0) {
            config_complain(ctx, "increment must be greater than 0 when there are several points");
            return;
        }
        c->loads = calloc((size_t)steps.points, sizeof *c->loads);
        for (int64_t i = 0; i < steps.points && c->loads != NULL; i++) {
            c->loads[c->n_loads++] = steps.first + (double)i * steps.increment;
        }
    } else {
        config_complain(ctx, "must be {\"first\", \"increment\", \"points\"}, a list of ops/s, or one number");
    }
}

static json_t *dump_loads(const void *field)
{
    const struct campaign_config *c = field;
    json_t *out = json_array();
    for (size_t i = 0; i < c->n_loads; i++) {
        json_array_append_new(out, json_real(c->loads[i]));
    }
    return out;
}

static void parse_gids(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    if (value == NULL) {
        return;
    }
    if (!json_is_array(value) || json_array_size(value) > CAMPAIGN_MAX_GIDS) {
        config_complain(ctx, "must be a list of at most %u group numbers (AUTH_SYS carries no more)",
                        CAMPAIGN_MAX_GIDS);
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_int_t gid = json_integer_value(json_array_get(value, i));
        if (!json_is_integer(json_array_get(value, i)) || gid < 0 || gid > UINT32_MAX) {
            config_complain(ctx, "must be a list of group numbers from 0 to %u", UINT32_MAX);
        } else {
            c->gids[c->n_gids++] = (uint32_t)gid;
        }
    }
}

static json_t *dump_gids(const void *field)
{
    const struct campaign_config *c = field;
    json_t *out = json_array();
    for (size_t i = 0; i < c->n_gids; i++) {
        json_array_append_new(out, json_integer(c->gids[i]));
    }
    return out;
}

static void parse_file_name(const struct config_ctx *ctx, const char *remedy, char **field)
{
    if (row_is_empty(*field)) {
        return;
    }
    char *path = row_absolute_path(ctx->src, *field);
    if (path == NULL) {
        config_complain(ctx, "names the file \"%s\", which cannot be found: %s%s", *field, strerror(errno), remedy);
        return;
    }
    free(*field);
    *field = path;
}

static const struct config_key control_keys[] = {
    {"key_file", CONFIG_STRING, FIELD(key_file), NULL, 0, 0, "\"\"", NULL,
     "shared key of prime and load generators (nfscurve keygen); without it load generators listen on loopback only",
     NULL, NULL},
    {.key = NULL},
};

/* Before anything starts, rather than by the first load generator that is started with it. */
static void check_key(const struct config_ctx *ctx, const char *path)
{
    uint8_t key[SEAL_KEY_BYTES];
    char message[512];
    bool is_found = path != NULL && access(path, F_OK) == 0; /* else it has been named already */
    if (is_found && key_file_load(path, key, message, sizeof message) != 0) {
        config_complain(ctx, "%s", message);
    }
    explicit_bzero(key, sizeof key);
}

static void parse_control(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    json_t *empty = json_object();
    if (config_parse(ctx->src, value != NULL ? value : empty, ctx->path, control_keys, NULL, c, ctx->errors) == 0) {
        struct config_ctx here = row_below(ctx, "control.key_file");
        parse_file_name(&here, "; nfscurve keygen makes it", &c->key_file);
        check_key(&here, c->key_file);
    }
    json_decref(empty);
}

static json_t *dump_control(const void *field)
{
    return config_dump(control_keys, field);
}

static void parse_monitor_args(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    row_parse_strings(ctx, value, &c->monitor_args, &c->n_monitor_args);
}

static json_t *dump_monitor_args(const void *field)
{
    const struct campaign_config *c = field;
    return row_dump_strings(c->monitor_args, c->n_monitor_args);
}

static const struct config_key monitor_keys[] = {
    {"script", CONFIG_STRING, FIELD(monitor_script), NULL, 0, 0, "\"\"", NULL,
     "program called with START before and DONE after every run phase; default none", NULL, NULL},
    {"args", CONFIG_CUSTOM, 0, NULL, 0, 0, "[]", NULL, "arguments after START or DONE", parse_monitor_args,
     dump_monitor_args},
    {"timeout_s", CONFIG_DOUBLE, FIELD(monitor_timeout_s), "s", 0.1, 86400, "60", NULL,
     "how long a call may take before it is killed", NULL, NULL},
    {.key = NULL},
};

static void parse_monitor(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    json_t *empty = json_object();
    if (config_parse(ctx->src, value != NULL ? value : empty, ctx->path, monitor_keys, NULL, c, ctx->errors) == 0) {
        struct config_ctx here = row_below(ctx, "monitor.script");
        parse_file_name(&here, "", &c->monitor_script);
    }
    json_decref(empty);
}

static json_t *dump_monitor(const void *field)
{
    return config_dump(monitor_keys, field);
}

/* It stands in files whose own nesting comes on top, indented, and they must be readable again: JSON readers stop at a
 * depth, and --resume at a size. */
#define DISCLOSURE_DEPTH_MAX 32
#define DISCLOSURE_BYTES_MAX (1024 * 1024)

static bool is_deeper(const json_t *value, int levels)
{
    if (!json_is_object(value) && !json_is_array(value)) {
        return false;
    }
    bool found = levels == 0;
    const char *key;
    json_t *below;
    size_t i;
    json_object_foreach((json_t *)value, key, below)
    {
        found = found || is_deeper(below, levels - 1);
    }
    json_array_foreach(value, i, below)
    {
        found = found || is_deeper(below, levels - 1);
    }
    return found;
}

static void parse_disclosure(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    if (value != NULL && !json_is_object(value)) {
        config_complain(ctx, "must be an object");
        return;
    }
    if (is_deeper(value, DISCLOSURE_DEPTH_MAX)) {
        config_complain(ctx, "is nested deeper than %d levels", DISCLOSURE_DEPTH_MAX);
        return;
    }
    if (value != NULL && json_dumpb(value, NULL, 0, JSON_INDENT(4)) > DISCLOSURE_BYTES_MAX) {
        config_complain(ctx, "is larger than 1 MiB, one value a line");
        return;
    }
    c->disclosure = value != NULL ? json_deep_copy(value) : json_object();
}

static json_t *dump_disclosure(const void *field)
{
    const struct campaign_config *c = field;
    return c->disclosure != NULL ? json_deep_copy(c->disclosure) : json_object();
}

/* ---- workload: a preset, a file or an object, with overrides beside it ---- */

static void parse_workload(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    if (value == NULL) {
        config_complain(ctx,
                        "is required: a preset (\"sfs2008\", \"sfs3\"), the name of a workload file, or an object");
        return;
    }
    if (workload_resolve(ctx->src, value, ctx->src->root, &c->workload, ctx->errors) != 0) {
        return;
    }

    /* What was published under the same name is what the result is compared with; a name of one's own has no such
     * thing.
     */
    struct config_errors unused;
    config_errors_init(&unused);
    c->has_preset = workload_load_preset(c->workload.name, &c->preset, &unused) == 0;
    config_errors_fini(&unused);
}

static json_t *dump_workload(const void *field)
{
    const struct campaign_config *c = field;
    return workload_dump(&c->workload);
}

static const struct config_key campaign_keys[] = {
    {"name", CONFIG_STRING, FIELD(name), NULL, 0, 0, "\"campaign\"", NULL, "what the results are called", NULL, NULL},
    {"workload", CONFIG_CUSTOM, 0, NULL, 0, 0, NULL, NULL,
     "a preset, a workload file, or an object; its keys may also stand beside it", parse_workload, dump_workload},
    {"load_ops_per_s", CONFIG_CUSTOM, 0, "ops/s", 0, 0, NULL, NULL,
     "{\"first\", \"increment\", \"points\"}, a list, or one number", parse_loads, dump_loads},
    {"warmup_s", CONFIG_DOUBLE, FIELD(warmup_s), "s", 0, 86400, "300", NULL, "load before each run, not recorded", NULL,
     NULL},
    {"run_s", CONFIG_DOUBLE, FIELD(run_s), "s", 1, 86400, "300", NULL, "recorded load of each point", NULL, NULL},
    {"repeats", CONFIG_INT, FIELD(repeats), NULL, 1, 100, "1", NULL,
     "how often the whole sweep is measured; the spread goes into the result", NULL, NULL},
    {"stop_after_fall_percent", CONFIG_DOUBLE, FIELD(stop_after_fall_percent), "%", 0, 100, "0", NULL,
     "end the sweep when a point achieves so much less than the best before it; 0 measures every point", NULL, NULL},
    {"processes_per_loadgen", CONFIG_INT, FIELD(processes_per_loadgen), NULL, 1, 1024, "8", NULL,
     "load-generating processes on each host", NULL, NULL},
    {"connections_per_process", CONFIG_INT, FIELD(connections_per_process), NULL, 1, 64, "1", NULL,
     "TCP connections of each to its target", NULL, NULL},
    {"engine", CONFIG_ENUM, FIELD(engine), NULL, 0, 0, "\"native\"", engine_names, "the NFS client", NULL, NULL},
    {"timeout_s", CONFIG_DOUBLE, FIELD(timeout_s), "s", 0.1, 3600, "60", NULL, "how long a reply may take", NULL, NULL},
    {"seed", CONFIG_INT, FIELD(seed), NULL, 0, 9e15, "1", NULL,
     "of everything random: the same seed sends the same ops", NULL, NULL},
    {"validate_level", CONFIG_INT, FIELD(validate_level), NULL, 0, 3, "0", NULL,
     "checks of the server before any load: 0 none, 1 every op works, 2 answers are right, 3 data too", NULL, NULL},
    {"clean_up", CONFIG_BOOL, FIELD(clean_up), NULL, 0, 0, "false", NULL, "remove the fileset at the end", NULL, NULL},
    {"uid", CONFIG_INT, FIELD(uid), NULL, 0, UINT32_MAX, "0", NULL, "AUTH_SYS user number", NULL, NULL},
    {"gid", CONFIG_INT, FIELD(gid), NULL, 0, UINT32_MAX, "0", NULL, "AUTH_SYS group number", NULL, NULL},
    {"gids", CONFIG_CUSTOM, 0, NULL, 0, 0, "[]", NULL, "further group numbers", parse_gids, dump_gids},
    {"reserved_port", CONFIG_BOOL, FIELD(reserved_port), NULL, 0, 0, "false", NULL,
     "connect from a port below 1024 (needs root)", NULL, NULL},
    {"targets", CONFIG_CUSTOM, 0, NULL, 0, 0, NULL, NULL, "what is measured", campaign_parse_targets,
     campaign_dump_targets},
    {"loadgens", CONFIG_CUSTOM, 0, NULL, 0, 0, NULL, NULL, "hosts that drive the load, or {\"local\": N}",
     campaign_parse_loadgens, campaign_dump_loadgens},
    {"control", CONFIG_CUSTOM, 0, NULL, 0, 0, "{}", NULL, "the control connections", parse_control, dump_control},
    {"monitor", CONFIG_CUSTOM, 0, NULL, 0, 0, "{}", NULL, "a program of yours around every run phase", parse_monitor,
     dump_monitor},
    {"disclosure", CONFIG_CUSTOM, 0, NULL, 0, 0, "{}", NULL, "what a reader of the report must know of the system",
     parse_disclosure, dump_disclosure},
    {.key = NULL},
};

static void check_name(const struct config_source *src, const char *key, const char *name, struct config_errors *errors)
{
    if (!row_is_name(name)) {
        char quoted[ROW_NAME_MAX];
        config_errors_add(errors,
                          "%s: %s: the name \"%s\" cannot be shown; expected 1 to %d bytes without control "
                          "characters",
                          src->name, key, log_quote(quoted, sizeof quoted, name, strlen(name)), ROW_NAME_MAX);
    }
}

static void check_whole(const struct config_source *src, struct campaign_config *c, struct config_errors *errors)
{
    check_name(src, "name", c->name, errors);
    for (size_t i = 0; i < c->n_targets; i++) {
        check_name(src, "targets", c->targets[i].name, errors);
    }
    for (size_t i = 0; i < c->n_loadgens; i++) {
        check_name(src, "loadgens", c->loadgens[i].name, errors);
        const struct campaign_loadgen *lg = &c->loadgens[i];
        if (c->n_targets > 0 && lg->n_targets > (size_t)c->processes_per_loadgen) {
            config_errors_add(
                errors,
                "%s: processes_per_loadgen: %lld processes cannot drive the %zu targets of load generator %s; "
                "raise it to a multiple of %zu or map fewer targets to it",
                src->name, (long long)c->processes_per_loadgen, lg->n_targets, lg->name, lg->n_targets);
        }
    }
}

static int load_source(struct config_source *src, const char *const *assignments, size_t n_assignments,
                       struct campaign_config *out, struct config_errors *errors)
{
    for (size_t i = 0; i < n_assignments; i++) {
        config_set(src, assignments[i], errors);
    }
    campaign_complain_of_misplaced(src, campaign_keys, errors);
    config_parse(src, src->root, "", campaign_keys, workload_keys(), out, errors);
    if (errors->n == 0) {
        check_whole(src, out, errors);
    }
    if (errors->n > 0) {
        return -EINVAL;
    }
    campaign_list_nonstandard(out);
    return 0;
}

int campaign_config_load(const char *path, const char *const *assignments, size_t n_assignments,
                         struct campaign_config *out, struct config_errors *errors)
{
    memset(out, 0, sizeof *out);
    struct config_source src = {0};
    int rc = config_load_file(&src, path, errors);
    if (rc == 0) {
        rc = load_source(&src, assignments, n_assignments, out, errors);
    }
    config_source_fini(&src);
    return rc;
}

int campaign_config_from_text(const char *name, const char *text, const char *const *assignments, size_t n_assignments,
                              struct campaign_config *out, struct config_errors *errors)
{
    memset(out, 0, sizeof *out);
    struct config_source src = {0};
    int rc = config_load_text(&src, name, text, errors);
    if (rc == 0) {
        rc = load_source(&src, assignments, n_assignments, out, errors);
    }
    config_source_fini(&src);
    return rc;
}

void campaign_config_fini(struct campaign_config *c)
{
    free(c->name);
    workload_fini(&c->workload);
    workload_fini(&c->preset);
    free(c->loads);
    for (size_t i = 0; i < c->n_targets; i++) {
        campaign_target_fini(&c->targets[i]);
    }
    free(c->targets);
    for (size_t i = 0; i < c->n_loadgens; i++) {
        campaign_loadgen_fini(&c->loadgens[i]);
    }
    free(c->loadgens);
    free(c->key_file);
    free(c->monitor_script);
    row_free_strings(c->monitor_args, c->n_monitor_args);
    json_decref(c->disclosure);
    json_decref(c->nonstandard);
    memset(c, 0, sizeof *c);
}

json_t *campaign_config_dump(const struct campaign_config *c)
{
    return config_dump(campaign_keys, c);
}

const char *campaign_engine_name(const struct campaign_config *c)
{
    return engine_names[c->engine];
}

void campaign_config_print_docs(FILE *file)
{
    config_print_docs(campaign_keys, "Campaign", file);
    config_print_docs(load_keys, "load_ops_per_s", file);
    campaign_print_target_docs(file);
    campaign_print_loadgen_docs(file);
    config_print_docs(control_keys, "control", file);
    config_print_docs(monitor_keys, "monitor", file);
}
