/* campaign_config.c - see campaign_config.h. One table a JSON object; the custom rows are lists and what names other
 * things. */
#include "campaign_config.h"

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

/* Keys whose values are lists: what their rows fill before names are resolved. */
struct string_list {
    char **items;
    size_t n;
};

static const char *const engine_names[] = {"native", "libnfs", NULL};
static const char *const data_names[] = {"store", "synth", NULL};

/* Standard values: sfs-facts section 6, the published run rules. */
#define STANDARD_PHASE_S 300.0
#define STANDARD_POINTS  10u

/* ---- small helpers ---- */

static bool is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

static void set_string(char **field, const char *text)
{
    char *copy = strdup(text);
    free(*field);
    *field = copy;
}

/* A context for a value one step below ctx; `path` must outlive it. */
static struct config_ctx below(const struct config_ctx *ctx, const char *path)
{
    return (struct config_ctx){.src = ctx->src, .errors = ctx->errors, .path = path};
}

/* The absolute path of a file named in the campaign: beside the campaign file, else in the working directory. */
static char *absolute_path(const struct config_source *src, const char *path)
{
    char *beside = NULL, *out = NULL;
    if (path[0] != '/' && src->name != NULL) {
        const char *slash = strrchr(src->name, '/');
        if (slash != NULL)
            beside = text_format("%.*s/%s", (int)(slash - src->name), src->name, path);
        if (beside != NULL)
            out = realpath(beside, NULL);
    }
    if (out == NULL)
        out = realpath(path, NULL);
    free(beside);
    return out;
}

/* ---- lists of strings ---- */

static void string_list_fini(char **items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(items[i]);
    free(items);
}

static void parse_strings(const struct config_ctx *ctx, const json_t *value, char ***items, size_t *n)
{
    if (value == NULL)
        return;
    if (!json_is_array(value)) {
        config_complain(ctx, "must be a list of strings");
        return;
    }
    *items = calloc(json_array_size(value) + 1, sizeof **items);
    if (*items == NULL)
        return;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *text = json_string_value(json_array_get(value, i));
        if (text == NULL) {
            char *path = text_format("%s[%zu]", ctx->path, i);
            struct config_ctx here = below(ctx, path);
            config_complain(&here, "must be a string");
            free(path);
            continue;
        }
        (*items)[(*n)++] = strdup(text);
    }
}

static json_t *dump_strings(char *const *items, size_t n)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, json_string(items[i]));
    return out;
}

/* ---- load_ops_per_s ---- */

struct load_steps {
    double first, increment;
    int64_t points;
};

static const struct config_key load_keys[] = {
    {"first", CONFIG_DOUBLE, offsetof(struct load_steps, first), "ops/s", 0.001, 1e9, NULL, NULL,
     "load of the first point", NULL, NULL},
    {"increment", CONFIG_DOUBLE, offsetof(struct load_steps, increment), "ops/s", 0, 1e9, NULL, NULL,
     "added from point to point", NULL, NULL},
    {"points", CONFIG_INT, offsetof(struct load_steps, points), NULL, 1, CAMPAIGN_MAX_POINTS, NULL, NULL,
     "number of points", NULL, NULL},
    {.key = NULL},
};

static bool add_load(const struct config_ctx *ctx, struct campaign_config *c, const json_t *value)
{
    double load = json_number_value(value);
    if (!json_is_number(value) || !(load > 0) || load > 1e9) {
        config_complain(ctx, "must be a number of ops/s greater than 0");
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
        struct config_ctx here = below(ctx, path);
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
        if (c->loads != NULL)
            add_load(ctx, c, value);
    } else if (json_is_object(value)) {
        struct load_steps steps = {0};
        if (config_parse(ctx->src, value, ctx->path, load_keys, NULL, &steps, ctx->errors) != 0)
            return;
        if (steps.points > 1 && steps.increment <= 0) {
            config_complain(ctx, "increment must be greater than 0 when there are several points");
            return;
        }
        c->loads = calloc((size_t)steps.points, sizeof *c->loads);
        for (int64_t i = 0; i < steps.points && c->loads != NULL; i++)
            c->loads[c->n_loads++] = steps.first + (double)i * steps.increment;
    } else {
        config_complain(ctx, "must be {\"first\", \"increment\", \"points\"}, a list of ops/s, or one number");
    }
}

static json_t *dump_loads(const void *field)
{
    const struct campaign_config *c = field;
    json_t *out = json_array();
    for (size_t i = 0; i < c->n_loads; i++)
        json_array_append_new(out, json_real(c->loads[i]));
    return out;
}

/* ---- targets ---- */

static void parse_local_args(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct local_target *local = field;
    parse_strings(ctx, value, &local->args, &local->n_args);
}

static json_t *dump_local_args(const void *field)
{
    const struct local_target *local = field;
    return dump_strings(local->args, local->n_args);
}

static const struct config_key local_target_keys[] = {
    {"export", CONFIG_STRING, offsetof(struct local_target, export_path), NULL, 0, 0, "\"/export\"", NULL,
     "path that it exports", NULL, NULL},
    {"data", CONFIG_STRING, offsetof(struct local_target, data), NULL, 0, 0, "\"synth\"", NULL,
     "\"store\" keeps file data in memory, \"synth\" makes it up from file and offset", NULL, NULL},
    {"latency", CONFIG_STRING, offsetof(struct local_target, latency), NULL, 0, 0, "\"\"", NULL,
     "latency model of nfscurve-target: \"fixed:1ms\", \"exponential:2ms\", \"curve:FILE\" ...", NULL, NULL},
    {"args", CONFIG_CUSTOM, 0, NULL, 0, 0, "[]", NULL, "further arguments of nfscurve-target", parse_local_args,
     dump_local_args},
    {.key = NULL},
};

static void check_local_target(const struct config_ctx *ctx, struct local_target *local)
{
    bool is_known = false;
    for (size_t i = 0; data_names[i] != NULL; i++)
        is_known |= local->data != NULL && strcmp(local->data, data_names[i]) == 0;
    if (local->data != NULL && !is_known)
        config_complain(ctx, "data is \"%s\"; expected \"store\" or \"synth\"", local->data);
    if (local->export_path != NULL && local->export_path[0] != '/')
        config_complain(ctx, "export is \"%s\"; expected a path that starts with /", local->export_path);
    if (local->latency != NULL && strncmp(local->latency, "curve:", 6) == 0) {
        char *path = absolute_path(ctx->src, local->latency + 6);
        if (path == NULL) {
            config_complain(ctx, "latency names the curve file \"%s\", which cannot be found: %s", local->latency + 6,
                            strerror(errno));
            return;
        }
        char *latency = text_format("curve:%s", path);
        free(local->latency);
        local->latency = latency;
        free(path);
    }
}

static void parse_local_target(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_target *t = field;
    if (value == NULL || json_is_null(value))
        return;
    t->is_local = true;
    if (config_parse(ctx->src, value, ctx->path, local_target_keys, NULL, &t->local, ctx->errors) == 0)
        check_local_target(ctx, &t->local);
}

static json_t *dump_local_target(const void *field)
{
    const struct campaign_target *t = field;
    return t->is_local ? config_dump(local_target_keys, &t->local) : json_null();
}

#define TARGET(member) offsetof(struct campaign_target, member)
static const struct config_key target_keys[] = {
    {"name", CONFIG_STRING, TARGET(name), NULL, 0, 0, "\"\"", NULL, "how results call it; default target-N", NULL,
     NULL},
    {"server", CONFIG_STRING, TARGET(server), NULL, 0, 0, "\"\"", NULL, "host name or address of the NFS server", NULL,
     NULL},
    {"export", CONFIG_STRING, TARGET(export_path), NULL, 0, 0, "\"\"", NULL, "path to mount", NULL, NULL},
    {"nfs_port", CONFIG_INT, TARGET(nfs_port), NULL, 0, 65535, "2049", NULL, "TCP port of NFS; 0 asks the portmapper",
     NULL, NULL},
    {"mount_port", CONFIG_INT, TARGET(mount_port), NULL, 0, 65535, "0", NULL,
     "TCP port of MOUNT; 0 asks the portmapper", NULL, NULL},
    {"local", CONFIG_CUSTOM, 0, NULL, 0, 0, "null", NULL,
     "instead of server and export: an nfscurve-target started for the campaign", parse_local_target,
     dump_local_target},
    {.key = NULL},
};

static void check_target(const struct config_ctx *ctx, const struct campaign_config *c, struct campaign_target *t,
                         size_t index)
{
    if (is_empty(t->name)) {
        free(t->name);
        t->name = text_format("target-%zu", index + 1);
    }
    if (t->is_local) {
        if (!is_empty(t->server) || (!is_empty(t->export_path) && strcmp(t->export_path, t->local.export_path) != 0))
            config_complain(ctx, "has both local and server/export; expected one of them");
        if (t->local.export_path != NULL)
            set_string(&t->export_path, t->local.export_path);
    } else {
        if (is_empty(t->server))
            config_complain(ctx, "has no server; expected \"server\" and \"export\", or \"local\"");
        if (is_empty(t->export_path))
            config_complain(ctx, "has no export; expected the path that the server exports");
        else if (t->export_path[0] != '/')
            config_complain(ctx, "export is \"%s\"; expected a path that starts with /", t->export_path);
    }
    for (size_t i = 0; i < index; i++) {
        if (c->targets[i].name != NULL && t->name != NULL && strcmp(c->targets[i].name, t->name) == 0)
            config_complain(ctx, "name \"%s\" is used by another target; expected a name of its own", t->name);
    }
}

static void parse_targets(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    size_t n = json_array_size(value);
    if (!json_is_array(value) || n == 0 || n > CAMPAIGN_MAX_TARGETS) {
        config_complain(
            ctx,
            "is required: a list of 1 to %u targets such as {\"name\": \"fs1\", \"server\": \"10.0.0.1\", \"export\": "
            "\"/fs1\"}",
            CAMPAIGN_MAX_TARGETS);
        return;
    }
    c->targets = calloc(n, sizeof *c->targets);
    for (size_t i = 0; i < n && c->targets != NULL; i++) {
        char *path = text_format("%s[%zu]", ctx->path, i);
        struct config_ctx here = below(ctx, path);
        c->n_targets = i + 1;
        if (config_parse(ctx->src, json_array_get(value, i), path, target_keys, NULL, &c->targets[i], ctx->errors) == 0)
            check_target(&here, c, &c->targets[i], i);
        free(path);
    }
}

static json_t *dump_targets(const void *field)
{
    const struct campaign_config *c = field;
    json_t *out = json_array();
    for (size_t i = 0; i < c->n_targets; i++) {
        json_t *t = config_dump(target_keys, &c->targets[i]);
        if (!c->targets[i].is_local)
            json_object_del(t, "local");
        else
            json_object_set_new(t, "export", json_string("")), json_object_set_new(t, "server", json_string(""));
        json_array_append_new(out, t);
    }
    return out;
}

/* ---- load generators ---- */

/* One entry of the list, which may stand for several local load generators. */
struct loadgen_entry {
    char *name, *host, *source_address;
    int64_t port, n_local;
    struct string_list targets;
};

static void parse_target_names(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct loadgen_entry *entry = field;
    parse_strings(ctx, value, &entry->targets.items, &entry->targets.n);
}

#define ENTRY(member) offsetof(struct loadgen_entry, member)
static const struct config_key loadgen_keys[] = {
    {"name", CONFIG_STRING, ENTRY(name), NULL, 0, 0, "\"\"", NULL, "how results call it; default its host", NULL, NULL},
    {"host", CONFIG_STRING, ENTRY(host), NULL, 0, 0, "\"\"", NULL, "where nfscurve-loadgen listens", NULL, NULL},
    {"port", CONFIG_INT, ENTRY(port), NULL, 1, 65535, "7049", NULL, "its control port", NULL, NULL},
    {"source_address", CONFIG_STRING, ENTRY(source_address), NULL, 0, 0, "\"\"", NULL,
     "local address of its NFS connections; default any", NULL, NULL},
    {"targets", CONFIG_CUSTOM, 0, NULL, 0, 0, "[]", NULL,
     "names of the targets that it drives; default all (uniform access)", parse_target_names, NULL},
    {"local", CONFIG_INT, ENTRY(n_local), NULL, 0, CAMPAIGN_MAX_LOADGENS, "0", NULL,
     "instead of a host: so many load generators started on loopback for the campaign", NULL, NULL},
    {.key = NULL},
};

static void loadgen_entry_fini(struct loadgen_entry *entry)
{
    free(entry->name);
    free(entry->host);
    free(entry->source_address);
    string_list_fini(entry->targets.items, entry->targets.n);
}

/* Names become indices; no names mean every target. */
static void map_targets(const struct config_ctx *ctx, const struct campaign_config *c, const struct string_list *names,
                        struct campaign_loadgen *lg)
{
    lg->is_mapped = names->n > 0;
    lg->targets = calloc(c->n_targets + names->n + 1, sizeof *lg->targets);
    if (lg->targets == NULL)
        return;
    for (size_t t = 0; !lg->is_mapped && t < c->n_targets; t++)
        lg->targets[lg->n_targets++] = (uint32_t)t;
    for (size_t i = 0; i < names->n; i++) {
        size_t t = 0;
        while (t < c->n_targets && (c->targets[t].name == NULL || strcmp(c->targets[t].name, names->items[i]) != 0))
            t++;
        if (t == c->n_targets)
            config_complain(ctx, "targets names \"%s\"; expected the name of a target of this campaign",
                            names->items[i]);
        else
            lg->targets[lg->n_targets++] = (uint32_t)t;
    }
    /* Naming every target is no mapping. */
    bool is_all = lg->n_targets == c->n_targets;
    for (size_t t = 0; t < c->n_targets && is_all; t++) {
        bool is_named = false;
        for (size_t i = 0; i < lg->n_targets; i++)
            is_named |= lg->targets[i] == t;
        is_all &= is_named;
    }
    if (is_all)
        lg->is_mapped = false;
}

static void add_loadgen(const struct config_ctx *ctx, struct campaign_config *c, const struct loadgen_entry *entry,
                        size_t local_number)
{
    struct campaign_loadgen *grown = realloc(c->loadgens, (c->n_loadgens + 1) * sizeof *grown);
    if (grown == NULL)
        return;
    c->loadgens = grown;
    struct campaign_loadgen *lg = &c->loadgens[c->n_loadgens];
    memset(lg, 0, sizeof *lg);
    lg->is_local = entry->n_local > 0;
    lg->port = lg->is_local ? 0 : entry->port;
    lg->host = strdup(lg->is_local ? "127.0.0.1" : entry->host);
    lg->source_address = strdup(entry->source_address);
    if (lg->is_local)
        lg->name = is_empty(entry->name) ? text_format("local-%zu", local_number)
                                         : text_format("%s-%zu", entry->name, local_number);
    else
        lg->name = strdup(is_empty(entry->name) ? entry->host : entry->name);
    map_targets(ctx, c, &entry->targets, lg);
    for (size_t i = 0; i < c->n_loadgens; i++) {
        if (strcmp(c->loadgens[i].name, lg->name) == 0)
            config_complain(ctx, "name \"%s\" is used by another load generator; expected a name of its own", lg->name);
    }
    c->n_loadgens++;
}

static void parse_loadgen(const struct config_ctx *ctx, struct campaign_config *c, const json_t *value, size_t *n_local)
{
    struct loadgen_entry entry = {0};
    if (config_parse(ctx->src, value, ctx->path, loadgen_keys, NULL, &entry, ctx->errors) != 0)
        goto out;
    if (is_empty(entry.host) == (entry.n_local == 0)) {
        config_complain(ctx, "must have either \"host\" or \"local\" (a number greater than 0)");
        goto out;
    }
    size_t n = entry.n_local > 0 ? (size_t)entry.n_local : 1;
    if (c->n_loadgens + n > CAMPAIGN_MAX_LOADGENS) {
        config_complain(ctx, "makes more than %u load generators", CAMPAIGN_MAX_LOADGENS);
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        add_loadgen(ctx, c, &entry, entry.n_local > 0 ? ++*n_local : 0);
out:
    loadgen_entry_fini(&entry);
}

static void parse_loadgens(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    size_t n_local = 0;
    if (json_is_object(value)) {
        parse_loadgen(ctx, c, value, &n_local);
        return;
    }
    if (!json_is_array(value) || json_array_size(value) == 0) {
        config_complain(ctx, "is required: a list such as [{\"host\": \"lg1\"}], or {\"local\": 2}");
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        char *path = text_format("%s[%zu]", ctx->path, i);
        struct config_ctx here = below(ctx, path);
        parse_loadgen(&here, c, json_array_get(value, i), &n_local);
        free(path);
    }
}

static json_t *dump_loadgen(const struct campaign_config *c, const struct campaign_loadgen *lg)
{
    json_t *out = json_object();
    if (lg->is_local) {
        json_object_set_new(out, "local", json_integer(1));
    } else {
        json_object_set_new(out, "name", json_string(lg->name));
        json_object_set_new(out, "host", json_string(lg->host));
        json_object_set_new(out, "port", json_integer(lg->port));
    }
    json_object_set_new(out, "source_address", json_string(lg->source_address));
    json_t *targets = json_array();
    for (size_t i = 0; lg->is_mapped && i < lg->n_targets; i++)
        json_array_append_new(targets, json_string(c->targets[lg->targets[i]].name));
    json_object_set_new(out, "targets", targets);
    return out;
}

static json_t *dump_loadgens(const void *field)
{
    const struct campaign_config *c = field;
    json_t *out = json_array();
    for (size_t i = 0; i < c->n_loadgens; i++)
        json_array_append_new(out, dump_loadgen(c, &c->loadgens[i]));
    return out;
}

/* ---- the rest of the custom rows ---- */

static void parse_gids(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    if (value == NULL)
        return;
    if (!json_is_array(value) || json_array_size(value) > CAMPAIGN_MAX_GIDS) {
        config_complain(ctx, "must be a list of at most %u group numbers (AUTH_SYS carries no more)",
                        CAMPAIGN_MAX_GIDS);
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_int_t gid = json_integer_value(json_array_get(value, i));
        if (!json_is_integer(json_array_get(value, i)) || gid < 0 || gid > UINT32_MAX)
            config_complain(ctx, "must be a list of group numbers from 0 to %u", UINT32_MAX);
        else
            c->gids[c->n_gids++] = (uint32_t)gid;
    }
}

static json_t *dump_gids(const void *field)
{
    const struct campaign_config *c = field;
    json_t *out = json_array();
    for (size_t i = 0; i < c->n_gids; i++)
        json_array_append_new(out, json_integer(c->gids[i]));
    return out;
}

static void parse_file_name(const struct config_ctx *ctx, const char *remedy, char **field)
{
    if (is_empty(*field))
        return;
    char *path = absolute_path(ctx->src, *field);
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

static void parse_control(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    json_t *empty = json_object();
    if (config_parse(ctx->src, value != NULL ? value : empty, ctx->path, control_keys, NULL, c, ctx->errors) == 0) {
        struct config_ctx here = below(ctx, "control.key_file");
        parse_file_name(&here, "; nfscurve keygen makes it", &c->key_file);
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
    parse_strings(ctx, value, &c->monitor_args, &c->n_monitor_args);
}

static json_t *dump_monitor_args(const void *field)
{
    const struct campaign_config *c = field;
    return dump_strings(c->monitor_args, c->n_monitor_args);
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
        struct config_ctx here = below(ctx, "monitor.script");
        parse_file_name(&here, "", &c->monitor_script);
    }
    json_decref(empty);
}

static json_t *dump_monitor(const void *field)
{
    return config_dump(monitor_keys, field);
}

static void parse_disclosure(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_config *c = field;
    if (value != NULL && !json_is_object(value)) {
        config_complain(ctx, "must be an object");
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
    if (workload_resolve(ctx->src, value, ctx->src->root, &c->workload, ctx->errors) != 0)
        return;

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
    {"targets", CONFIG_CUSTOM, 0, NULL, 0, 0, NULL, NULL, "what is measured", parse_targets, dump_targets},
    {"loadgens", CONFIG_CUSTOM, 0, NULL, 0, 0, NULL, NULL, "hosts that drive the load, or {\"local\": N}",
     parse_loadgens, dump_loadgens},
    {"control", CONFIG_CUSTOM, 0, NULL, 0, 0, "{}", NULL, "the control connections", parse_control, dump_control},
    {"monitor", CONFIG_CUSTOM, 0, NULL, 0, 0, "{}", NULL, "a program of yours around every run phase", parse_monitor,
     dump_monitor},
    {"disclosure", CONFIG_CUSTOM, 0, NULL, 0, 0, "{}", NULL, "what a reader of the report must know of the system",
     parse_disclosure, dump_disclosure},
    {.key = NULL},
};

/* ---- what makes a campaign non-standard ---- */

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
    if (c->n_loads < 3)
        return true;
    double step = c->loads[1] - c->loads[0];
    for (size_t i = 2; i < c->n_loads; i++) {
        if (fabs(c->loads[i] - c->loads[i - 1] - step) > 0.01 * step + 0.5)
            return false;
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

static void list_nonstandard(struct campaign_config *c)
{
    c->nonstandard = json_array();
    list_workload_differences(c);
    if (c->warmup_s < STANDARD_PHASE_S)
        say_nonstandard(c, "warmup_s is %g, standard is %g", c->warmup_s, STANDARD_PHASE_S);
    if (c->run_s != STANDARD_PHASE_S)
        say_nonstandard(c, "run_s is %g, standard is %g", c->run_s, STANDARD_PHASE_S);
    if (c->n_loads < STANDARD_POINTS)
        say_nonstandard(c, "%zu points, standard is at least %u", c->n_loads, STANDARD_POINTS);
    if (!is_evenly_spaced(c))
        say_nonstandard(c, "points are not evenly spaced");
    if (!campaign_access_is_uniform(c))
        say_nonstandard(c, "access is not uniform: load generators do not drive every target equally");
}

/* ---- public ---- */

static void check_whole(const struct config_source *src, struct campaign_config *c, struct config_errors *errors)
{
    (void)src;
    for (size_t i = 0; i < c->n_loadgens; i++) {
        const struct campaign_loadgen *lg = &c->loadgens[i];
        if (c->n_targets > 0 && lg->n_targets > (size_t)c->processes_per_loadgen)
            config_errors_add(
                errors,
                "%s: processes_per_loadgen: %lld processes cannot drive the %zu targets of load generator %s; "
                "raise it to a multiple of %zu or map fewer targets to it",
                src->name, (long long)c->processes_per_loadgen, lg->n_targets, lg->name, lg->n_targets);
    }
}

static int load_source(struct config_source *src, const char *const *assignments, size_t n_assignments,
                       struct campaign_config *out, struct config_errors *errors)
{
    for (size_t i = 0; i < n_assignments; i++)
        config_set(src, assignments[i], errors);
    config_parse(src, src->root, "", campaign_keys, workload_keys(), out, errors);
    if (errors->n == 0)
        check_whole(src, out, errors);
    if (errors->n > 0)
        return -EINVAL;
    list_nonstandard(out);
    return 0;
}

int campaign_config_load(const char *path, const char *const *assignments, size_t n_assignments,
                         struct campaign_config *out, struct config_errors *errors)
{
    memset(out, 0, sizeof *out);
    struct config_source src = {0};
    int rc = config_load_file(&src, path, errors);
    if (rc == 0)
        rc = load_source(&src, assignments, n_assignments, out, errors);
    config_source_fini(&src);
    return rc;
}

int campaign_config_from_text(const char *name, const char *text, const char *const *assignments, size_t n_assignments,
                              struct campaign_config *out, struct config_errors *errors)
{
    memset(out, 0, sizeof *out);
    struct config_source src = {0};
    int rc = config_load_text(&src, name, text, errors);
    if (rc == 0)
        rc = load_source(&src, assignments, n_assignments, out, errors);
    config_source_fini(&src);
    return rc;
}

static void target_fini(struct campaign_target *t)
{
    free(t->name);
    free(t->server);
    free(t->export_path);
    free(t->local.export_path);
    free(t->local.data);
    free(t->local.latency);
    string_list_fini(t->local.args, t->local.n_args);
}

static void loadgen_fini(struct campaign_loadgen *lg)
{
    free(lg->name);
    free(lg->host);
    free(lg->source_address);
    free(lg->targets);
}

void campaign_config_fini(struct campaign_config *c)
{
    free(c->name);
    workload_fini(&c->workload);
    workload_fini(&c->preset);
    free(c->loads);
    for (size_t i = 0; i < c->n_targets; i++)
        target_fini(&c->targets[i]);
    free(c->targets);
    for (size_t i = 0; i < c->n_loadgens; i++)
        loadgen_fini(&c->loadgens[i]);
    free(c->loadgens);
    free(c->key_file);
    free(c->monitor_script);
    string_list_fini(c->monitor_args, c->n_monitor_args);
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

bool campaign_access_is_uniform(const struct campaign_config *c)
{
    for (size_t i = 0; i < c->n_loadgens; i++) {
        const struct campaign_loadgen *lg = &c->loadgens[i];
        if (lg->is_mapped || lg->n_targets == 0 || c->processes_per_loadgen % (int64_t)lg->n_targets != 0)
            return false;
    }
    return true;
}

uint32_t campaign_process_target(const struct campaign_config *c, uint32_t loadgen, uint32_t process)
{
    const struct campaign_loadgen *lg = &c->loadgens[loadgen];
    return lg->targets[process % lg->n_targets];
}

void campaign_config_print_docs(FILE *file)
{
    config_print_docs(campaign_keys, "Campaign", file);
    config_print_docs(load_keys, "load_ops_per_s", file);
    config_print_docs(target_keys, "targets[]", file);
    config_print_docs(local_target_keys, "targets[].local", file);
    config_print_docs(loadgen_keys, "loadgens[]", file);
    config_print_docs(control_keys, "control", file);
    config_print_docs(monitor_keys, "monitor", file);
}
