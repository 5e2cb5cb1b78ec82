/* campaign_targets.c - the rows behind "targets": servers of the user's, and targets that the prime starts itself. */
#include "campaign_config.h"
#include "campaign_rows.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const data_names[] = {"store", "synth", NULL};

static void parse_local_args(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct local_target *local = field;
    row_parse_strings(ctx, value, &local->args, &local->n_args);
}

static json_t *dump_local_args(const void *field)
{
    const struct local_target *local = field;
    return row_dump_strings(local->args, local->n_args);
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

/* "curve:FILE" or "curve:FILE,OPTIONS": the file becomes absolute, since the target runs elsewhere. */
static void resolve_curve_file(const struct config_ctx *ctx, struct local_target *local)
{
    char *file = local->latency + 6, *options = strchr(file, ',');
    if (options != NULL) {
        *options++ = '\0';
    }
    char *path = row_absolute_path(ctx->src, file);
    if (path == NULL) {
        config_complain(ctx, "latency names the curve file \"%s\", which cannot be found: %s", file, strerror(errno));
        return;
    }
    char *latency = options != NULL ? text_format("curve:%s,%s", path, options) : text_format("curve:%s", path);
    free(local->latency);
    local->latency = latency;
    free(path);
}

static void check_local_target(const struct config_ctx *ctx, struct local_target *local)
{
    bool is_known = false;
    for (size_t i = 0; data_names[i] != NULL; i++) {
        is_known |= local->data != NULL && strcmp(local->data, data_names[i]) == 0;
    }
    if (local->data != NULL && !is_known) {
        config_complain(ctx, "data is \"%s\"; expected \"store\" or \"synth\"", local->data);
    }
    if (local->export_path != NULL && local->export_path[0] != '/') {
        config_complain(ctx, "export is \"%s\"; expected a path that starts with /", local->export_path);
    }
    if (local->latency != NULL && strncmp(local->latency, "curve:", 6) == 0) {
        resolve_curve_file(ctx, local);
    }
}

static void parse_local_target(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct campaign_target *t = field;
    if (value == NULL || json_is_null(value)) {
        return;
    }
    t->is_local = true;
    if (config_parse(ctx->src, value, ctx->path, local_target_keys, NULL, &t->local, ctx->errors) == 0) {
        check_local_target(ctx, &t->local);
    }
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
    if (row_is_empty(t->name)) {
        free(t->name);
        t->name = text_format("target-%zu", index + 1);
    }
    if (t->is_local) {
        if (!row_is_empty(t->server) ||
            (!row_is_empty(t->export_path) && strcmp(t->export_path, t->local.export_path) != 0)) {
            config_complain(ctx, "has both local and server/export; expected one of them");
        }
        if (t->local.export_path != NULL) {
            row_set_string(&t->export_path, t->local.export_path);
        }
    } else {
        if (row_is_empty(t->server)) {
            config_complain(ctx, "has no server; expected \"server\" and \"export\", or \"local\"");
        } else if (!row_is_host(t->server)) {
            config_complain(ctx,
                            "server is \"%s\"; expected a host name or address alone: the path belongs in \"export\", "
                            "a port in \"nfs_port\"",
                            t->server);
        }
        if (row_is_empty(t->export_path)) {
            config_complain(ctx, "has no export; expected the path that the server exports");
        } else if (t->export_path[0] != '/') {
            config_complain(ctx, "export is \"%s\"; expected a path that starts with /", t->export_path);
        }
    }
    for (size_t i = 0; i < index; i++) {
        if (c->targets[i].name != NULL && t->name != NULL && strcmp(c->targets[i].name, t->name) == 0) {
            config_complain(ctx, "name \"%s\" is used by another target; expected a name of its own", t->name);
        }
    }
}

void campaign_parse_targets(const struct config_ctx *ctx, const json_t *value, void *field)
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
        struct config_ctx here = row_below(ctx, path);
        c->n_targets = i + 1;
        if (config_parse(ctx->src, json_array_get(value, i), path, target_keys, NULL, &c->targets[i], ctx->errors) ==
            0) {
            check_target(&here, c, &c->targets[i], i);
        }
        free(path);
    }
}

json_t *campaign_dump_targets(const void *field)
{
    const struct campaign_config *c = field;
    json_t *out = json_array();
    for (size_t i = 0; i < c->n_targets; i++) {
        json_t *t = config_dump(target_keys, &c->targets[i]);
        if (!c->targets[i].is_local) {
            json_object_del(t, "local");
        } else {
            json_object_set_new(t, "export", json_string("")), json_object_set_new(t, "server", json_string(""));
        }
        json_array_append_new(out, t);
    }
    return out;
}

void campaign_target_fini(struct campaign_target *t)
{
    free(t->name);
    free(t->server);
    free(t->export_path);
    free(t->local.export_path);
    free(t->local.data);
    free(t->local.latency);
    row_free_strings(t->local.args, t->local.n_args);
}

void campaign_print_target_docs(FILE *file)
{
    config_print_docs(target_keys, "targets[]", file);
    config_print_docs(local_target_keys, "targets[].local", file);
}

const struct config_key *campaign_target_keys(void)
{
    return target_keys;
}

const struct config_key *campaign_local_target_keys(void)
{
    return local_target_keys;
}
