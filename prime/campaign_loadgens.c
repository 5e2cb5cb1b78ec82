/* campaign_loadgens.c - the rows behind "loadgens", and which process of which load generator drives which target. */
#include "campaign_config.h"
#include "campaign_rows.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Names as the file gives them, before they are resolved. */
struct string_list {
    char **items;
    size_t n;
};

/* One entry of the list, which may stand for several local load generators. */
struct loadgen_entry {
    char *name, *host, *source_address;
    int64_t port, n_local;
    struct string_list targets;
};

static void parse_target_names(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct loadgen_entry *entry = field;
    row_parse_strings(ctx, value, &entry->targets.items, &entry->targets.n);
}

#define ENTRY(member) offsetof(struct loadgen_entry, member)
static const struct config_key loadgen_keys[] = {
    {"name", CONFIG_STRING, ENTRY(name), NULL, 0, 0, "\"\"", NULL,
     "how results call it; default its host, HOST:PORT for more on one host", NULL, NULL},
    {"host", CONFIG_STRING, ENTRY(host), NULL, 0, 0, "\"\"", NULL, "where nfscurve-loadgen listens", NULL, NULL},
    {"port", CONFIG_INT, ENTRY(port), NULL, 1, 65535, "7049", NULL, "its control port", NULL, NULL},
    {"source_address", CONFIG_STRING, ENTRY(source_address), NULL, 0, 0, "\"\"", NULL,
     "IP address of its own, which its NFS connections come from; default any", NULL, NULL},
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
    row_free_strings(entry->targets.items, entry->targets.n);
}

/* Names become indices; no names mean every target. */
static void map_targets(const struct config_ctx *ctx, const struct campaign_config *c, const struct string_list *names,
                        struct campaign_loadgen *lg)
{
    lg->is_mapped = names->n > 0;
    lg->targets = calloc(c->n_targets + names->n + 1, sizeof *lg->targets);
    if (lg->targets == NULL) {
        return;
    }
    for (size_t t = 0; !lg->is_mapped && t < c->n_targets; t++) {
        lg->targets[lg->n_targets++] = (uint32_t)t;
    }
    for (size_t i = 0; i < names->n; i++) {
        size_t t = 0;
        while (t < c->n_targets && (c->targets[t].name == NULL || strcmp(c->targets[t].name, names->items[i]) != 0)) {
            t++;
        }
        if (t == c->n_targets) {
            config_complain(ctx, "targets names \"%s\"; expected the name of a target of this campaign",
                            names->items[i]);
        } else {
            lg->targets[lg->n_targets++] = (uint32_t)t;
        }
    }
    /* Naming every target is no mapping. */
    bool is_all = lg->n_targets == c->n_targets;
    for (size_t t = 0; t < c->n_targets && is_all; t++) {
        bool is_named = false;
        for (size_t i = 0; i < lg->n_targets; i++) {
            is_named |= lg->targets[i] == t;
        }
        is_all &= is_named;
    }
    if (is_all) {
        lg->is_mapped = false;
    }
}

/* Heap: what results call a load generator that the campaign does not name: its host, and its port too where another
 * one on that host took the name. */
static char *default_name(const struct campaign_config *c, const struct loadgen_entry *entry)
{
    for (size_t i = 0; i < c->n_loadgens; i++) {
        const struct campaign_loadgen *other = &c->loadgens[i];
        if (!other->is_local && other->port != entry->port && strcmp(other->name, entry->host) == 0) {
            return text_format("%s:%" PRId64, entry->host, entry->port);
        }
    }
    return strdup(entry->host);
}

static void add_loadgen(const struct config_ctx *ctx, struct campaign_config *c, const struct loadgen_entry *entry,
                        size_t local_number)
{
    struct campaign_loadgen *grown = realloc(c->loadgens, (c->n_loadgens + 1) * sizeof *grown);
    if (grown == NULL) {
        return;
    }
    c->loadgens = grown;
    struct campaign_loadgen *lg = &c->loadgens[c->n_loadgens];
    memset(lg, 0, sizeof *lg);
    lg->is_local = entry->n_local > 0;
    lg->port = lg->is_local ? 0 : entry->port;
    lg->host = strdup(lg->is_local ? "127.0.0.1" : entry->host);
    lg->source_address = strdup(entry->source_address);
    if (lg->is_local) {
        lg->name = row_is_empty(entry->name) ? text_format("local-%zu", local_number)
                                             : text_format("%s-%zu", entry->name, local_number);
    } else {
        lg->name = row_is_empty(entry->name) ? default_name(c, entry) : strdup(entry->name);
    }
    map_targets(ctx, c, &entry->targets, lg);
    for (size_t i = 0; i < c->n_loadgens; i++) {
        if (strcmp(c->loadgens[i].name, lg->name) == 0) {
            config_complain(ctx, "name \"%s\" is used by another load generator; expected a name of its own", lg->name);
        }
    }
    c->n_loadgens++;
}

static void parse_loadgen(const struct config_ctx *ctx, struct campaign_config *c, const json_t *value, size_t *n_local)
{
    struct loadgen_entry entry = {0};
    if (config_parse(ctx->src, value, ctx->path, loadgen_keys, NULL, &entry, ctx->errors) != 0) {
        goto out;
    }
    if (row_is_empty(entry.host) == (entry.n_local == 0)) {
        config_complain(ctx, "must have either \"host\" or \"local\" (a number greater than 0)");
        goto out;
    }
    if (!row_is_empty(entry.host) && !row_is_host(entry.host)) {
        config_complain(ctx, "host is \"%s\"; expected a host name or address alone: a port belongs in \"port\"",
                        entry.host);
        goto out;
    }
    if (!row_is_empty(entry.source_address) && !row_is_address(entry.source_address)) {
        config_complain(ctx,
                        "source_address is \"%s\"; expected an IP address that the load generator has (nfscurve hosts "
                        "lists them), not a name or an interface",
                        entry.source_address);
        goto out;
    }
    size_t n = entry.n_local > 0 ? (size_t)entry.n_local : 1;
    if (c->n_loadgens + n > CAMPAIGN_MAX_LOADGENS) {
        config_complain(ctx, "makes more than %u load generators", CAMPAIGN_MAX_LOADGENS);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        add_loadgen(ctx, c, &entry, entry.n_local > 0 ? ++*n_local : 0);
    }
out:
    loadgen_entry_fini(&entry);
}

void campaign_parse_loadgens(const struct config_ctx *ctx, const json_t *value, void *field)
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
        struct config_ctx here = row_below(ctx, path);
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
    for (size_t i = 0; lg->is_mapped && i < lg->n_targets; i++) {
        json_array_append_new(targets, json_string(c->targets[lg->targets[i]].name));
    }
    json_object_set_new(out, "targets", targets);
    return out;
}

json_t *campaign_dump_loadgens(const void *field)
{
    const struct campaign_config *c = field;
    json_t *out = json_array();
    for (size_t i = 0; i < c->n_loadgens; i++) {
        json_array_append_new(out, dump_loadgen(c, &c->loadgens[i]));
    }
    return out;
}

void campaign_loadgen_fini(struct campaign_loadgen *lg)
{
    free(lg->name);
    free(lg->host);
    free(lg->source_address);
    free(lg->targets);
}

bool campaign_access_is_uniform(const struct campaign_config *c)
{
    for (size_t i = 0; i < c->n_loadgens; i++) {
        const struct campaign_loadgen *lg = &c->loadgens[i];
        if (lg->is_mapped || lg->n_targets == 0 || c->processes_per_loadgen % (int64_t)lg->n_targets != 0) {
            return false;
        }
    }
    return true;
}

uint32_t campaign_process_target(const struct campaign_config *c, uint32_t loadgen, uint32_t process)
{
    const struct campaign_loadgen *lg = &c->loadgens[loadgen];
    return lg->targets[process % lg->n_targets];
}

void campaign_print_loadgen_docs(FILE *file)
{
    config_print_docs(loadgen_keys, "loadgens[]", file);
}

const struct config_key *campaign_loadgen_keys(void)
{
    return loadgen_keys;
}
