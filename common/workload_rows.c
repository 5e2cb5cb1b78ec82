#include "workload_rows.h"

#include "config.h"
#include "log.h"
#include "workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KIB            1024
#define SUM_TOLERANCE  0.05 /* percent: what rounding to two decimals can leave */
#define FILE_BYTES_MAX 0x1p44

void workload_row_parse_mix(const struct config_ctx *ctx, const json_t *value, void *field)
{
    double *mix = field, sum = 0;
    const char *key;
    json_t *share;
    bool is_broken = false, is_named[NFS_OP_COUNT] = {false};

    if (!json_is_object(value)) {
        config_complain(ctx, "%s; expected an object such as {\"lookup\": 60, \"getattr\": 40}",
                        value ? "is not an object" : "is missing");
        return;
    }
    memset(mix, 0, NFS_OP_COUNT * sizeof *mix);
    json_object_foreach((json_t *)value, key, share)
    {
        char path[256];
        enum nfs_op op;
        snprintf(path, sizeof path, "%s.%s", ctx->path, key);
        struct config_ctx at = {ctx->src, ctx->errors, path};
        double percent = json_number_value(share);
        if (nfs_op_parse(key, &op)) {
            const char *names[NFS_OP_COUNT];
            for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
                names[i] = nfs_op_name((enum nfs_op)i);
            }
            const char *meant = config_did_you_mean(key, names, NFS_OP_COUNT);
            config_complain(&at, "is not an NFSv3 procedure%s%s%s", meant ? "; did you mean \"" : "",
                            meant ? meant : "", meant ? "\"?" : "");
            is_broken = true;
        } else if (is_named[op]) {
            config_complain(&at, "names %s for the second time", nfs_op_name(op));
            is_broken = true;
        } else if (!json_is_number(share) || !(percent >= 0 && percent <= 100)) {
            config_complain(&at, "expected a percentage from 0 to 100");
            is_broken = true;
        } else {
            is_named[op] = true;
            mix[op] = percent;
            sum += percent;
        }
    }
    if (is_broken) {
        return;
    }
    if (fabs(sum - 100) > SUM_TOLERANCE) {
        config_complain(ctx, "sums to %.10g; the shares must sum to 100", sum);
    } else {
        for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
            mix[i] = mix[i] * 100 / sum;
        }
    }
}

/* Percentages as they were written, not with the noise of the division by their sum. */
static json_t *dump_number(double number)
{
    double rounded = round(number * 1e9) / 1e9;
    if (floor(rounded) == rounded && fabs(rounded) < 0x1p53) {
        return json_integer((json_int_t)rounded);
    }
    return json_real(rounded);
}

json_t *workload_row_dump_mix(const void *field)
{
    const double *mix = field;
    json_t *object = json_object();
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        if (mix[i] > 0) {
            json_object_set_new(object, nfs_op_name((enum nfs_op)i), dump_number(mix[i]));
        }
    }
    return object;
}

/* One step of a table: the same keys for files and requests, each with the rules of its kind. */
struct step {
    double percent;
    uint32_t blocks;
    double kib;
    bool has_fragment;
};

#define STEP(step_key, step_type, field) .key = step_key, .type = step_type, .offset = offsetof(struct step, field)

static const struct config_key file_step_table[] = {
    {STEP("percent", CONFIG_DOUBLE, percent), .unit = "%", .min = 0, .max = 100, .help = "the share of this size"},
    {STEP("kib", CONFIG_DOUBLE, kib), .unit = "KiB", .min = 0, .max = FILE_BYTES_MAX / KIB, .help = "the size"},
    {0},
};

static const struct config_key request_step_table[] = {
    {STEP("percent", CONFIG_DOUBLE, percent), .unit = "%", .min = 0, .max = 100, .help = "the share of this size"},
    {STEP("blocks", CONFIG_UINT32, blocks), .unit = "blocks", .min = 0, .max = 4096, .def = "0"},
    {STEP("kib", CONFIG_DOUBLE, kib), .unit = "KiB", .min = 0, .max = 1048576, .def = "0"},
    {STEP("fragment", CONFIG_BOOL, has_fragment), .def = "false"},
    {0},
};

static void parse_steps(const struct config_ctx *ctx, const json_t *value, bool is_request, struct size_table *table)
{
    double sum = 0;
    size_t i, n_before = ctx->errors->n;
    json_t *member;

    memset(table, 0, sizeof *table);
    if (!json_is_array(value) || json_array_size(value) == 0 || json_array_size(value) > WORKLOAD_MAX_STEPS) {
        config_complain(ctx, "expected a list of 1 to %d steps such as {\"percent\": 100, \"kib\": 8}",
                        WORKLOAD_MAX_STEPS);
        return;
    }
    json_array_foreach(value, i, member)
    {
        char path[256];
        struct step step = {0};
        snprintf(path, sizeof path, "%s[%zu]", ctx->path, i);
        struct config_ctx at = {ctx->src, ctx->errors, path};
        if (config_parse(ctx->src, member, path, is_request ? request_step_table : file_step_table, NULL, &step,
                         ctx->errors)) {
            continue;
        }
        table->steps[i].percent = step.percent;
        table->steps[i].bytes = (uint64_t)llround(step.kib * KIB);
        table->steps[i].blocks = step.blocks;
        table->steps[i].has_fragment = step.has_fragment;
        if (is_request && table->steps[i].bytes == 0 && step.blocks == 0 && !step.has_fragment) {
            config_complain(&at, "is a request of no bytes; give it blocks, kib or \"fragment\": true");
        }
        sum += step.percent;
    }
    table->n = (uint32_t)json_array_size(value);
    if (ctx->errors->n > n_before) {
        return;
    }
    if (fabs(sum - 100) > SUM_TOLERANCE) {
        config_complain(ctx, "the percentages sum to %.10g; they must sum to 100", sum);
    } else {
        for (i = 0; i < table->n; i++) {
            table->steps[i].percent *= 100 / sum;
        }
    }
}

static json_t *dump_steps(const struct size_table *table)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < table->n; i++) {
        json_t *step = json_object();
        json_object_set_new(step, "percent", dump_number(table->steps[i].percent));
        if (table->steps[i].blocks > 0) {
            json_object_set_new(step, "blocks", json_integer(table->steps[i].blocks));
        }
        if (table->steps[i].bytes > 0 || (table->steps[i].blocks == 0 && !table->steps[i].has_fragment)) {
            json_object_set_new(step, "kib", dump_number((double)table->steps[i].bytes / KIB));
        }
        if (table->steps[i].has_fragment) {
            json_object_set_new(step, "fragment", json_true());
        }
        json_array_append_new(list, step);
    }
    return list;
}

void workload_row_parse_requests(const struct config_ctx *ctx, const json_t *value, void *field)
{
    parse_steps(ctx, value, true, field);
}

json_t *workload_row_dump_requests(const void *field)
{
    return dump_steps(field);
}

static const struct config_key lognormal_table[] = {
    {.key = "mean_bytes",
     .type = CONFIG_UINT64,
     .offset = offsetof(struct workload, file_size_bytes),
     .unit = "bytes",
     .min = 1,
     .max = FILE_BYTES_MAX,
     .help = "the mean size"},
    {.key = "sigma",
     .type = CONFIG_DOUBLE,
     .offset = offsetof(struct workload, file_size_sigma),
     .min = 0,
     .max = 4,
     .help = "the standard deviation of the logarithm"},
    {0},
};

static const struct config_key fixed_table[] = {
    {.key = "fixed_bytes",
     .type = CONFIG_UINT64,
     .offset = offsetof(struct workload, file_size_bytes),
     .unit = "bytes",
     .min = 1,
     .max = FILE_BYTES_MAX,
     .help = "the size of every file"},
    {0},
};

void workload_row_parse_file_sizes(const struct config_ctx *ctx, const json_t *value, void *field)
{
    struct workload *w = field;
    char path[256];
    const json_t *table = json_object_get(value, "table"), *lognormal = json_object_get(value, "lognormal"),
                 *fixed = json_object_get(value, "fixed_bytes");

    if (json_object_size(value) != 1 || (!table && !lognormal && !fixed)) {
        config_complain(ctx, "expected an object with one of \"table\", \"fixed_bytes\" and \"lognormal\"");
        return;
    }
    w->file_sizes.n = 0;
    w->file_size_bytes = 0;
    w->file_size_sigma = 0;
    snprintf(path, sizeof path, "%s.%s", ctx->path, table ? "table" : "lognormal");
    struct config_ctx at = {ctx->src, ctx->errors, path};
    if (table) {
        w->file_size_kind = FILE_SIZE_TABLE;
        parse_steps(&at, table, false, &w->file_sizes);
    } else if (fixed) {
        w->file_size_kind = FILE_SIZE_FIXED;
        config_parse(ctx->src, value, ctx->path, fixed_table, NULL, w, ctx->errors);
    } else {
        w->file_size_kind = FILE_SIZE_LOGNORMAL;
        config_parse(ctx->src, lognormal, path, lognormal_table, NULL, w, ctx->errors);
    }
}

json_t *workload_row_dump_file_sizes(const void *field)
{
    const struct workload *w = field;
    json_t *object = json_object();
    switch (w->file_size_kind) {
    case FILE_SIZE_TABLE:
        json_object_set_new(object, "table", dump_steps(&w->file_sizes));
        break;
    case FILE_SIZE_FIXED:
        json_object_set_new(object, "fixed_bytes", json_integer((json_int_t)w->file_size_bytes));
        break;
    case FILE_SIZE_LOGNORMAL:
        json_object_set_new(object, "lognormal", config_dump(lognormal_table, w));
        break;
    }
    return object;
}

static const struct config_key data_table[] = {
    {.key = "compress_percent",
     .type = CONFIG_DOUBLE,
     .offset = offsetof(struct workload, compress_percent),
     .max = 100,
     .unit = "%",
     .def = "0"},
    {.key = "dedupe_percent",
     .type = CONFIG_DOUBLE,
     .offset = offsetof(struct workload, dedupe_percent),
     .max = 100,
     .unit = "%",
     .def = "0"},
    {0},
};

void workload_row_parse_data(const struct config_ctx *ctx, const json_t *value, void *field)
{
    config_parse(ctx->src, value, ctx->path, data_table, NULL, field, ctx->errors);
}

json_t *workload_row_dump_data(const void *field)
{
    return config_dump(data_table, field);
}

static void parse_kib(const struct config_ctx *ctx, const json_t *value, bool may_be_auto, uint32_t *bytes)
{
    json_int_t kib = json_integer_value(value);
    if (may_be_auto && json_is_string(value) && strcmp(json_string_value(value), "auto") == 0) {
        *bytes = 0;
    } else if (json_is_integer(value) && kib >= 1 && kib <= 1024) {
        *bytes = (uint32_t)kib * KIB;
    } else {
        config_complain(ctx, "expected a whole number of KiB from 1 to 1024%s", may_be_auto ? ", or \"auto\"" : "");
    }
}

void workload_row_parse_block_size(const struct config_ctx *ctx, const json_t *value, void *field)
{
    parse_kib(ctx, value, true, field);
}

void workload_row_parse_block_size_max(const struct config_ctx *ctx, const json_t *value, void *field)
{
    parse_kib(ctx, value, false, field);
}

json_t *workload_row_dump_block_size(const void *field)
{
    uint32_t bytes = *(const uint32_t *)field;
    return bytes == 0 ? json_string("auto") : json_integer(bytes / KIB);
}

void workload_row_parse_tunable(const struct config_ctx *ctx, const json_t *value, void *field)
{
    json_t **tunable = field, *name;
    size_t i;
    if (!json_is_array(value)) {
        config_complain(ctx, "expected a list of keys");
        return;
    }
    json_array_foreach(value, i, name)
    {
        bool is_key = false;
        for (const char *const *key = workload_keys(); *key && json_is_string(name); key++) {
            is_key |= strcmp(*key, json_string_value(name)) == 0;
        }
        if (!is_key) {
            char path[256];
            snprintf(path, sizeof path, "%s[%zu]", ctx->path, i);
            struct config_ctx at = {ctx->src, ctx->errors, path};
            config_complain(&at, "is not the name of a key that can be overridden");
            return;
        }
    }
    json_decref(*tunable);
    *tunable = json_deep_copy(value);
}

json_t *workload_row_dump_tunable(const void *field)
{
    return json_deep_copy(*(json_t *const *)field);
}
