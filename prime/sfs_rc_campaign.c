/* sfs_rc_campaign.c - what each key of an sfs_rc means here: one table row a key. */
#include "path_kind.h"
#include "sfs_mix.h"
#include "sfs_rc.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What the conversion builds; the first error ends it. */
struct converter {
    const struct sfs_rc *rc;
    const char *path; /* of the sfs_rc file */
    json_t *campaign;
    FILE *remarks;
    char *message;
    size_t message_bytes;
    bool has_failed;
};

static void fail(struct converter *c, const struct sfs_rc_entry *e, const char *what)
{
    if (!c->has_failed) {
        snprintf(c->message, c->message_bytes, "%s:%u: %s is \"%s\": %s", c->path, e->line, e->key, e->value, what);
    }
    c->has_failed = true;
}

static bool to_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

static json_t *number(double value)
{
    return value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value) : json_real(value);
}

/* Words of a list, one a call: strtok_r over a copy. */
static char *next_word(char **cursor)
{
    return strtok_r(NULL, " \t\n,", cursor);
}

/* --- rows that need more than a number --- */

static void take_load(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    (void)key;
    char *copy = strdup(e->value), *cursor = copy;
    json_t *list = json_array();
    double load;
    for (char *word = next_word(&cursor); word != NULL; word = next_word(&cursor)) {
        if (!to_number(word, &load) || load <= 0) {
            fail(c, e, "expected a load in ops/s, or a quoted list of loads");
        } else {
            json_array_append_new(list, number(load));
        }
    }
    free(copy);
    if (json_array_size(list) > 1) {
        json_object_set_new(c->campaign, "load_ops_per_s", list);
        return;
    }
    double first = json_number_value(json_array_get(list, 0)), increment = 0, runs = 1;
    const char *increment_text = sfs_rc_get(c->rc, "INCR_LOAD"), *runs_text = sfs_rc_get(c->rc, "NUM_RUNS");
    json_decref(list);
    if (first <= 0) {
        fail(c, e, "expected a load in ops/s, or a quoted list of loads");
    } else if ((increment_text != NULL && !to_number(increment_text, &increment)) ||
               (runs_text != NULL && !to_number(runs_text, &runs)) || increment < 0 || runs < 1 ||
               runs != floor(runs)) {
        fail(c, e, "INCR_LOAD and NUM_RUNS must be numbers");
    } else if (runs > 1 && increment == 0) {
        fail(c, e,
             "NUM_RUNS asks for several points, but INCR_LOAD is 0; use repeats in the campaign to measure one load "
             "several times");
    } else {
        json_object_set_new(c->campaign, "load_ops_per_s",
                            json_pack("{s:o, s:o, s:o}", "first", number(first), "increment", number(increment),
                                      "points", number(runs)));
    }
}

static void take_clients(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    char *copy = strdup(e->value), *cursor = copy;
    json_t *list = json_array();
    for (char *word = next_word(&cursor); word != NULL; word = next_word(&cursor)) {
        json_array_append_new(list, json_pack("{s:s}", "host", word));
    }
    free(copy);
    json_object_set_new(c->campaign, key, list);
}

static bool has_target(const json_t *targets, const char *server, const char *path)
{
    size_t i;
    json_t *t;
    json_array_foreach(targets, i, t)
    {
        if (strcmp(json_string_value(json_object_get(t, "server")), server) == 0 &&
            strcmp(json_string_value(json_object_get(t, "export")), path) == 0) {
            return true;
        }
    }
    return false;
}

static void take_mount_points(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    char *copy = strdup(e->value), *cursor = copy;
    json_t *targets = json_array();
    for (char *word = next_word(&cursor); word != NULL; word = next_word(&cursor)) {
        char *slash = strstr(word, ":/");
        if (slash == NULL || slash == word) {
            fail(c, e, "expected server:/path for every mount point");
            continue;
        }
        *slash = '\0';
        /* The same mount point listed again only weights the round robin of SFS, which uniform access does not have. */
        if (has_target(targets, word, slash + 1)) {
            fprintf(c->remarks, "%s:%u: MNT_POINTS lists %s:%s more than once: taken once\n", c->path, e->line, word,
                    slash + 1);
            continue;
        }
        char *name = text_format("fs%zu", json_array_size(targets) + 1);
        /* nfs_port 0: SFS asked the portmapper for both. */
        json_array_append_new(targets, json_pack("{s:s, s:s, s:s, s:i, s:i}", "name", name, "server", word, "export",
                                                 slash + 1, "nfs_port", 0, "mount_port", 0));
        free(name);
    }
    free(copy);
    json_object_set_new(c->campaign, key, targets);
}

static char *read_file(const char *path)
{
    if (path_is_special(path)) {
        errno = ENXIO;
        return NULL;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return NULL;
    }
    char *text = calloc(1, 65537);
    size_t n = text != NULL ? fread(text, 1, 65536, file) : 0;
    (void)n;
    fclose(file);
    return text;
}

static void take_mix_file(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    const char *slash = e->value[0] == '/' ? NULL : strrchr(c->path, '/');
    char *path = slash != NULL ? text_format("%.*s/%s", (int)(slash - c->path), c->path, e->value) : strdup(e->value);
    char *text = path != NULL ? read_file(path) : NULL;
    double percent[NFS_OP_COUNT];
    char message[512];
    if (text == NULL) {
        fprintf(c->remarks,
                "%s:%u: MIXFILE %s cannot be read (%s): the mix is the preset's; import it with nfscurve import mix\n",
                c->path, e->line, e->value, strerror(errno));
    } else if (sfs_mix_parse(path, text, percent, message, sizeof message) != 0) {
        fail(c, e, message);
    } else {
        json_object_set_new(c->campaign, key, sfs_mix_to_json(percent));
    }
    free(text);
    free(path);
}

static bool is_off(const char *value)
{
    return strcasecmp(value, "off") == 0 || strcasecmp(value, "no") == 0 || strcmp(value, "0") == 0;
}

static void take_tcp(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    (void)key;
    if (is_off(e->value)) {
        fprintf(c->remarks, "%s:%u: TCP=%s asks for UDP: nfscurve drives NFS over TCP only\n", c->path, e->line,
                e->value);
    }
}

static void take_version(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    (void)key;
    if (strcmp(e->value, "3") != 0) {
        fail(c, e, "nfscurve drives NFS version 3 only");
    }
}

static void take_protocol(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    (void)key;
    if (strcasecmp(e->value, "nfs") != 0 && strcasecmp(e->value, "nfs3") != 0) {
        fail(c, e, "nfscurve drives NFSv3 only");
    }
}

static void take_monitor(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    (void)key;
    json_t *monitor = json_pack("{s:s}", "script", e->value);
    const char *args = sfs_rc_get(c->rc, "PRIME_MON_ARGS");
    if (args != NULL) {
        char *copy = strdup(args), *cursor = copy;
        json_t *list = json_array();
        for (char *word = next_word(&cursor); word != NULL; word = next_word(&cursor)) {
            json_array_append_new(list, json_string(word));
        }
        free(copy);
        json_object_set_new(monitor, "args", list);
    }
    json_object_set_new(c->campaign, "monitor", monitor);
}

static void take_number(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    double value;
    if (!to_number(e->value, &value) || value < 0) {
        fail(c, e, "expected a number");
    } else {
        json_object_set_new(c->campaign, key, number(value));
    }
}

static void take_string(struct converter *c, const struct sfs_rc_entry *e, const char *key)
{
    json_object_set_new(c->campaign, key, json_string(e->value));
}

struct rc_key {
    const char *name;
    void (*take)(struct converter *c, const struct sfs_rc_entry *e, const char *key); /* NULL: no meaning here */
    const char *key;                                                                  /* of the campaign */
    const char *because; /* why it has no meaning; NULL: taken together with another key, nothing to say */
};

static const struct rc_key rc_keys[] = {
    {"LOAD", take_load, NULL, NULL},
    {"INCR_LOAD", NULL, NULL, NULL},
    {"NUM_RUNS", NULL, NULL, NULL},
    {"PROCS", take_number, "processes_per_loadgen", NULL},
    {"CLIENTS", take_clients, "loadgens", NULL},
    {"MNT_POINTS", take_mount_points, "targets", NULL},
    {"BIOD_MAX_WRITES", take_number, "biod_max_write", NULL},
    {"BIOD_MAX_READS", take_number, "biod_max_read", NULL},
    {"TCP", take_tcp, NULL, NULL},
    {"NFS_VERSION", take_version, NULL, NULL},
    {"FS_PROTOCOL", take_protocol, NULL, NULL},
    {"IPV6_ENABLE", NULL, NULL, "the address of each target decides"},
    {"BLOCK_SIZE", take_number, "block_size_kib", NULL},
    {"RUNTIME", take_number, "run_s", NULL},
    {"WARMUP_TIME", take_number, "warmup_s", NULL},
    {"INIT_TIMEOUT", NULL, NULL, "populating takes as long as it takes"},
    {"MIXFILE", take_mix_file, "op_mix_percent", NULL},
    {"BLOCK_FILE", NULL, NULL, "request sizes are the workload's read_requests and write_requests"},
    {"ACCESS_PCNT", take_number, "working_set_percent", NULL},
    {"APPEND_PCNT", take_number, "append_percent", NULL},
    {"DIR_COUNT", take_number, "files_per_directory", NULL},
    {"FILE_COUNT", take_number, "non_io_files_min", NULL},
    {"SYMLINK_COUNT", take_number, "symlinks_per_process", NULL},
    {"SFS_NFS_USER_ID", take_number, "uid", NULL},
    {"SFS_NFS_GROUP_ID", take_number, "gid", NULL},
    {"PRIME_MON_SCRIPT", take_monitor, NULL, NULL},
    {"PRIME_MON_ARGS", NULL, NULL, NULL},
    {"PRIME_SLEEP", NULL, NULL, "points follow each other without a pause"},
    {"PRIME_TIMEOUT", NULL, NULL, "every step has a deadline of its own"},
    {"SFS_DIR", NULL, NULL, "nothing is installed there"},
    {"WORK_DIR", NULL, NULL, "results go to the run directory (--out)"},
    {"SUFFIX", take_string, "name", NULL},
    {"DEBUG", NULL, NULL, "logs are in the run directory"},
    {"DUMP", NULL, NULL, "results hold the histograms"},
    {"POPULATE", NULL, NULL, "the fileset is always made"},
    {"LAT_GRAPH", NULL, NULL, "the report draws the curve"},
};

static const struct rc_key *find_key(const char *name)
{
    for (size_t i = 0; i < sizeof rc_keys / sizeof rc_keys[0]; i++) {
        if (strcmp(rc_keys[i].name, name) == 0) {
            return &rc_keys[i];
        }
    }
    return NULL;
}

static void take_entry(struct converter *c, const struct sfs_rc_entry *e)
{
    const struct rc_key *key = find_key(e->key);
    if (key == NULL) {
        fprintf(c->remarks, "%s:%u: %s is no key of sfs_rc that is known: left out\n", c->path, e->line, e->key);
    } else if (key->take == NULL && key->because != NULL) {
        fprintf(c->remarks, "%s:%u: %s has no meaning here: %s\n", c->path, e->line, e->key, key->because);
    } else if (e->value[0] != '\0' && key->take != NULL) {
        key->take(c, e, key->key);
    }
}

/* FS_PROTOCOL came with SPECsfs2008; whoever has no such key ran SFS 3.0. */
static const char *generation(const struct sfs_rc *rc)
{
    for (size_t i = 0; i < rc->n; i++) {
        if (strcmp(rc->entries[i].key, "FS_PROTOCOL") == 0) {
            return "sfs2008";
        }
    }
    return "sfs3";
}

json_t *sfs_rc_to_campaign(const struct sfs_rc *rc, const char *path, FILE *remarks, char *message,
                           size_t message_bytes)
{
    static const char *const required[] = {"LOAD", "CLIENTS", "MNT_POINTS"};
    struct converter c = {.rc = rc,
                          .path = path,
                          .campaign = json_object(),
                          .remarks = remarks,
                          .message = message,
                          .message_bytes = message_bytes};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (sfs_rc_get(rc, required[i]) == NULL) {
            snprintf(message, message_bytes, "%s: has no %s: no campaign can be made of it", path, required[i]);
            json_decref(c.campaign);
            return NULL;
        }
    }
    json_object_set_new(c.campaign, "name", json_string("imported"));
    json_object_set_new(c.campaign, "workload", json_string(generation(rc)));
    for (size_t i = 0; i < rc->n; i++) {
        take_entry(&c, &rc->entries[i]);
    }
    if (c.has_failed) {
        json_decref(c.campaign);
        return NULL;
    }
    return c.campaign;
}
