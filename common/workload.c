/* workload.c - the table of a workload's keys, and how one is read from presets, files, objects and overrides.
 *
 *   preset name ──┐                                    ┌── overrides beside it (campaign)
 *   file ─────────┼─> config_parse(table) ──> struct <─┴── config_override(table)
 *   object ───────┘                             │
 *                                       check as a whole, cycle of file sizes
 */
#include "workload.h"

#include "config.h"
#include "config_path.h"
#include "log.h"
#include "workload_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW(field_key, field_type, field)                                                                              \
    .key = field_key, .type = field_type, .offset = offsetof(struct workload, field)

static const char *const counting_names[] = {"logical", "physical", NULL};
static const char *const popularity_names[] = {"access_groups", "zipf", "uniform", "hot_set", NULL};
static const char *const pacing_names[] = {"sfs", "open", "max", NULL};
static const char *const arrivals_names[] = {"poisson", "constant", NULL};

static const struct config_key workload_table[] = {
    {ROW("name", CONFIG_STRING, name), .min = 1, .max = 64, .def = "\"custom\"",
     .help = "Name in results; a preset's own name marks what is compared for standardness"},
    {ROW("description", CONFIG_STRING, description), .max = 1000, .def = "\"\"", .help = "What it stands for"},
    {ROW("derived", CONFIG_STRING, derived), .max = 2000, .def = "\"\"",
     .help = "What of it is derived rather than published; goes into every result"},
    {ROW("standard", CONFIG_BOOL, is_standard), .def = "false",
     .help = "A result of it, unchanged and with standard phases, counts as standard"},
    {ROW("tunable", CONFIG_CUSTOM, tunable), .def = "[]", .parse = workload_row_parse_tunable,
     .dump = workload_row_dump_tunable,
     .help = "List of keys that may be changed without making a result non-standard; they are disclosed instead"},

    {ROW("counting", CONFIG_ENUM, counting), .choices = counting_names, .def = "\"logical\"",
     .help = "What counts as one op: the request whatever its RPCs, or every RPC"},
    {ROW("op_mix_percent", CONFIG_CUSTOM, mix_percent), .unit = "%", .parse = workload_row_parse_mix,
     .dump = workload_row_dump_mix,
     .help = "Object: share of each NFSv3 procedure, as counted; must sum to 100. Absent procedures are not used. "
             "Required"},
    {ROW("lookup_missing_percent", CONFIG_DOUBLE, lookup_missing_percent), .unit = "%", .max = 100, .def = "0",
     .help = "Share of LOOKUPs that ask for names that do not exist"},
    {ROW("commit_byproduct", CONFIG_BOOL, is_commit_byproduct), .def = "false",
     .help = "COMMIT only ends writes, and is not counted as an op of its own"},

    {ROW("fileset_mb_per_op", CONFIG_DOUBLE, fileset_mb_per_op), .unit = "MB per op/s", .min = 1e-6, .max = 1e6,
     .def = "10", .help = "Data per requested op/s over all load generators; 1 MB is 10^6 bytes"},
    {ROW("file_sizes", CONFIG_CUSTOM, name), .def = "{\"fixed_bytes\": 65536}", .parse = workload_row_parse_file_sizes,
     .dump = workload_row_dump_file_sizes,
     .help = "`{\"table\": [{\"percent\": 33, \"kib\": 1}, ...]}` (a fixed cycle by file number), "
             "`{\"fixed_bytes\": 65536}`, or `{\"lognormal\": {\"mean_bytes\": 65536, \"sigma\": 1.5}}`"},
    {ROW("files_per_directory", CONFIG_UINT32, files_per_directory), .unit = "files", .min = 1, .max = 1e6, .def = "30",
     .help = "I/O files in each directory that has no subdirectories"},
    {ROW("directory_depth", CONFIG_UINT32, directory_depth), .unit = "levels", .min = 1, .max = 16, .def = "1",
     .help = "Levels of directories below the process's own"},
    {ROW("directory_width", CONFIG_UINT32, directory_width), .unit = "directories", .max = 1e5, .def = "0",
     .help = "Subdirectories per directory at a depth over 1; 0: as many as needed at one level"},
    {ROW("symlinks_per_process", CONFIG_UINT32, symlinks_per_process), .unit = "symlinks", .max = 1e6, .def = "20",
     .help = "Symbolic links for READLINK"},
    {ROW("non_io_files_percent", CONFIG_DOUBLE, non_io_files_percent), .unit = "% of I/O files", .max = 100, .def = "2",
     .help = "Slots for the metadata ops; half of them exist at the start"},
    {ROW("non_io_files_min", CONFIG_UINT32, non_io_files_min), .unit = "files", .min = 2, .max = 1e6, .def = "100",
     .help = "At least this many slots per process"},
    {ROW("growth_limit_percent", CONFIG_DOUBLE, growth_limit_percent), .unit = "%", .max = 1000, .def = "10",
     .help = "Growth of the fileset at which an append truncates its file first"},

    {ROW("working_set_percent", CONFIG_DOUBLE, working_set_percent), .unit = "% of I/O files", .min = 0.001, .max = 100,
     .def = "100", .help = "Share of the I/O files that is accessed"},
    {ROW("popularity", CONFIG_ENUM, popularity), .choices = popularity_names, .def = "\"uniform\"",
     .help = "How accesses spread over the working set"},
    {ROW("zipf_theta", CONFIG_DOUBLE, zipf_theta), .max = 5, .def = "0.99",
     .help = "Exponent of `zipf`: the file of rank r is weighted r^-theta"},
    {ROW("hot_set_percent", CONFIG_DOUBLE, hot_set_percent), .unit = "% of working set", .min = 0.001, .max = 100,
     .def = "10", .help = "Size of the hot part for `hot_set` ..."},
    {ROW("hot_set_access_percent", CONFIG_DOUBLE, hot_set_access_percent), .unit = "%", .max = 100, .def = "90",
     .help = "... and its share of the accesses"},

    {ROW("read_requests", CONFIG_CUSTOM, read_requests), .def = "[{\"percent\": 100, \"blocks\": 1}]",
     .parse = workload_row_parse_requests, .dump = workload_row_dump_requests,
     .help = "List of `{\"percent\", \"blocks\", \"kib\", \"fragment\"}`: a READ is `kib` KiB and `blocks` transfer "
             "blocks long, and with `\"fragment\": true` 1 to 7 KiB more"},
    {ROW("write_requests", CONFIG_CUSTOM, write_requests), .def = "[{\"percent\": 100, \"blocks\": 1}]",
     .parse = workload_row_parse_requests, .dump = workload_row_dump_requests, .help = "The same for WRITE"},
    {ROW("append_percent", CONFIG_DOUBLE, append_percent), .unit = "%", .max = 100, .def = "0",
     .help = "Share of WRITE requests that append; the others overwrite"},
    {ROW("block_size_kib", CONFIG_CUSTOM, block_size_bytes), .unit = "KiB", .def = "\"auto\"",
     .parse = workload_row_parse_block_size, .dump = workload_row_dump_block_size,
     .help = "Bytes of one READ or WRITE RPC, 1 to 1024 KiB; `\"auto\"`: the server's rtmax and wtmax, at most "
             "`block_size_max_kib`"},
    {ROW("block_size_max_kib", CONFIG_CUSTOM, block_size_max_bytes), .unit = "KiB", .def = "32",
     .parse = workload_row_parse_block_size_max, .dump = workload_row_dump_block_size,
     .help = "Limit of a negotiated block size, 1 to 1024 KiB"},
    {ROW("biod_max_read", CONFIG_UINT32, biod_max_read), .unit = "RPCs", .max = 32, .def = "2",
     .help = "READ RPCs of one request outstanding together; 0: one at a time"},
    {ROW("biod_max_write", CONFIG_UINT32, biod_max_write), .unit = "RPCs", .max = 32, .def = "2",
     .help = "WRITE RPCs of one request outstanding together; 0: one at a time"},

    {ROW("pacing", CONFIG_ENUM, pacing), .choices = pacing_names, .def = "\"sfs\"",
     .help = "`sfs`: closed loop with think times; `open`: arrivals on an absolute schedule; `max`: a fixed number "
             "outstanding"},
    {ROW("arrivals", CONFIG_ENUM, arrivals), .choices = arrivals_names, .def = "\"poisson\"",
     .help = "Arrivals of `open` pacing"},
    {ROW("max_outstanding", CONFIG_UINT32, max_outstanding), .unit = "requests", .min = 1, .max = 4096, .def = "64",
     .help = "Per process: requests outstanding with `max` pacing, slots with `open`"},
    {ROW("streams_per_process", CONFIG_UINT32, streams_per_process), .unit = "streams", .min = 1, .max = 1024,
     .def = "1", .help = "Requests a process may have in progress with `sfs` pacing"},

    {ROW("data", CONFIG_CUSTOM, name), .def = "{}", .parse = workload_row_parse_data, .dump = workload_row_dump_data,
     .help =
         "`{\"compress_percent\": 0, \"dedupe_percent\": 0}`: share of written data that compresses away, and share of "
         "blocks that are copies of others"},
    {ROW("verify_data", CONFIG_BOOL, verify_data), .def = "false",
     .help = "Every block carries a stamp of file, offset and generation, and READ checks it"},

    {ROW("response_ceiling_ms", CONFIG_DOUBLE, response_ceiling_ms), .unit = "ms", .max = 1e6, .def = "0",
     .help = "Response time that a reportable point must not pass; 0: none"},
    {0},
};

#define N_KEYS                (sizeof workload_table / sizeof *workload_table - 1)
#define MIX_TOLERANCE_PERCENT 1.5 /* the mix rule that a point is judged by */
#define N_OWN_KEYS            5 /* name, description, derived, standard, tunable: of the workload itself, never overrides */

const struct config_key *workload_key_table(void)
{
    return workload_table;
}

const char *const *workload_keys(void)
{
    static const char *keys[N_KEYS - N_OWN_KEYS + 1];
    if (!keys[0]) {
        for (size_t i = N_OWN_KEYS; i < N_KEYS; i++) {
            keys[i - N_OWN_KEYS] = workload_table[i].key;
        }
    }
    return keys;
}

void workload_fini(struct workload *w)
{
    config_free(workload_table, w);
    json_decref(w->tunable);
    free(w->cycle);
    memset(w, 0, sizeof *w);
}

/* What no single row can see. `at` tells where each key came from. */
struct origin {
    const struct config_source *base, *overrides_src;
    const json_t *overrides;
    const char *path;
    struct config_errors *errors;
};

static void complain_of_key(const struct origin *from, const char *key, const char *what)
{
    char path[256];
    bool is_override = from->overrides && json_object_get(from->overrides, key);
    const char *prefix = is_override ? "" : from->path;
    snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", key);
    struct config_ctx ctx = {is_override ? from->overrides_src : from->base, from->errors, path};
    config_complain(&ctx, "%s", what);
}

static int check_whole(struct workload *w, const struct origin *from)
{
    size_t n_before = from->errors->n;
    if (w->is_commit_byproduct && w->mix_percent[NFS_OP_COMMIT] > 0) {
        complain_of_key(from, "op_mix_percent",
                        "has COMMIT, but with commit_byproduct COMMIT only ends writes; leave it out");
    }
    if (w->is_commit_byproduct && w->counting == COUNTING_PHYSICAL) {
        complain_of_key(from, "commit_byproduct",
                        "needs counting \"logical\": physical counting counts every RPC, COMMIT too");
    }
    double commits = w->mix_percent[NFS_OP_WRITE] / workload_rpcs_per_request(w, NFS_OP_WRITE);
    if (w->counting == COUNTING_PHYSICAL && w->mix_percent[NFS_OP_COMMIT] < commits - MIX_TOLERANCE_PERCENT) {
        char what[200];
        snprintf(what, sizeof what,
                 "asks for %.4g %% COMMIT, but every WRITE request ends with one and physical counting counts them: at "
                 "least %.4g %% are needed (or counting \"logical\" with commit_byproduct)",
                 w->mix_percent[NFS_OP_COMMIT], commits);
        complain_of_key(from, "op_mix_percent", what);
    }
    if (w->directory_depth > 1 && w->directory_width == 0) {
        complain_of_key(from, "directory_depth",
                        "is over 1, so directory_width must say how many subdirectories a directory has");
    }
    if (w->verify_data && (w->compress_percent > 0 || w->dedupe_percent > 0)) {
        complain_of_key(from, "verify_data", "stamps every block, so data can be neither compressible nor dedupable");
    }
    return from->errors->n > n_before ? -EINVAL : 0;
}

static int finish(struct workload *w, const struct origin *from)
{
    int error = check_whole(w, from);
    if (!error) {
        error = workload_make_cycle(w);
        if (error) {
            complain_of_key(from, "file_sizes", strerror(-error));
        }
    }
    if (error) {
        workload_fini(w);
    }
    return error;
}

/* Path of a workload file that a campaign names: relative to the campaign's own directory. */
static char *beside(const struct config_source *src, const char *file)
{
    char *path;
    const char *slash = src->name ? strrchr(src->name, '/') : NULL;
    if (*file == '/' || !slash) {
        return strdup(file);
    }
    return asprintf(&path, "%.*s/%s", (int)(slash - src->name), src->name, file) < 0 ? NULL : path;
}

static int find_named(const struct config_ctx *ctx, const char *name, char **path)
{
    size_t n = strlen(name);
    if (strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".json") == 0)) {
        *path = beside(ctx->src, name);
        return *path ? 0 : -ENOMEM;
    }
    int error = config_path_find("workloads", name, path);
    if (error) {
        char quoted[80], *list = config_path_list("workloads");
        log_quote(quoted, sizeof quoted, name, n);
        config_complain(ctx, "there is no workload \"%s\"; expected one of %s, a file name, or an object", quoted,
                        list ? list : "?");
        free(list);
    }
    return error;
}

int workload_resolve(const struct config_source *src, const json_t *value, const json_t *overrides,
                     struct workload *out, struct config_errors *errors)
{
    struct config_ctx ctx = {src, errors, "workload"};
    struct config_source file = {NULL, NULL, NULL, NULL, 0};
    struct origin from = {src, src, overrides, "workload", errors};
    char *path = NULL;
    int error = 0;

    memset(out, 0, sizeof *out);
    if (json_is_string(value)) {
        error = find_named(&ctx, json_string_value(value), &path);
        if (!error) {
            error = config_load_file(&file, path, errors);
        }
        if (error) {
            goto out;
        }
        from.base = &file;
        from.path = "";
        value = file.root;
    } else if (!json_is_object(value)) {
        config_complain(&ctx, "expected the name of a preset, a file name, or an object");
        error = -EINVAL;
        goto out;
    }
    error = config_parse(from.base, value, from.path, workload_table, NULL, out, errors);
    if (overrides) {
        /* Own keys are never overrides: the campaign's "name" is not the workload's. */
        int override_error = config_override(src, overrides, "", workload_table + N_OWN_KEYS, out, errors);
        error = error ? error : override_error;
    }
    if (error) {
        workload_fini(out);
    } else {
        error = finish(out, &from);
    }
out:
    free(path);
    config_source_fini(&file);
    return error ? -EINVAL : 0;
}

int workload_load_preset(const char *name, struct workload *out, struct config_errors *errors)
{
    struct config_source src = {NULL, NULL, NULL, NULL, 0};
    json_t *value = json_string(name);
    src.name = strdup("presets");
    int error = value && src.name ? workload_resolve(&src, value, NULL, out, errors) : -EINVAL;
    json_decref(value);
    free(src.name);
    return error;
}

int workload_from_text(const char *text, struct workload *out, struct config_errors *errors)
{
    struct config_source src;
    memset(out, 0, sizeof *out);
    int error = config_load_text(&src, "workload", text, errors);
    if (error) {
        return -EINVAL;
    }
    struct origin from = {&src, &src, NULL, "", errors};
    error = config_parse(&src, src.root, "", workload_table, NULL, out, errors);
    if (error) {
        workload_fini(out);
    } else {
        error = finish(out, &from);
    }
    config_source_fini(&src);
    return error ? -EINVAL : 0;
}

json_t *workload_dump(const struct workload *w)
{
    return config_dump(workload_table, w);
}

static bool is_tunable(const struct workload *preset, const char *key)
{
    size_t i;
    json_t *name;
    json_array_foreach(preset->tunable, i, name)
    {
        if (strcmp(json_string_value(name), key) == 0) {
            return true;
        }
    }
    return false;
}

json_t *workload_differences(const struct workload *w, const struct workload *preset)
{
    json_t *ours = workload_dump(w), *theirs = workload_dump(preset), *differences = json_array();
    for (const char *const *key = workload_keys(); ours && theirs && differences && *key; key++) {
        if (!json_equal(json_object_get(ours, *key), json_object_get(theirs, *key)) && !is_tunable(preset, *key)) {
            json_array_append_new(differences, json_string(*key));
        }
    }
    json_decref(ours);
    json_decref(theirs);
    return differences;
}
