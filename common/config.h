/* config.h - strict JSON configuration from tables: one row per key.
 *
 * A row gives key, type, unit, range, default and help; parsing, error messages, the resolved dump and the
 * documentation all come from it. Unknown keys, wrong types and impossible values are errors that name file, line
 * (where known), key path and what was expected; every error of a file is reported, not only the first.
 *
 *   load (config_load_file) -> json_t + line index -> config_parse(table) -> struct with every default filled in
 *                                                     config_dump(table)  -> json_t with every key (campaign.json)
 */
#ifndef NFSCURVE_COMMON_CONFIG_H
#define NFSCURVE_COMMON_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CONFIG_TEXT_MAX   (8u << 20)
#define CONFIG_ERRORS_MAX 100 /* what is wrong beyond that is only said to be more */

/* Errors collected while reading one configuration. */
struct config_errors {
    char **messages; /* each "FILE:LINE: KEY.PATH: what is wrong; what is expected" */
    size_t n;
};

void config_errors_init(struct config_errors *e);
void config_errors_fini(struct config_errors *e);
void config_errors_add(struct config_errors *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A document and where its keys stand. */
struct config_source {
    char *name; /* file name as the user gave it, or "--set" */
    char *text; /* the text, for line numbers; NULL when none */
    json_t *root;
    char **set_paths; /* key paths that config_set changed: their messages say --set instead of a line */
    size_t n_set_paths;
};

/* 0, or -errno with the reason (file, line, column) in errors; src is then empty. The text must be one JSON object of
 * at most CONFIG_TEXT_MAX bytes without duplicate keys. */
int config_load_file(struct config_source *src, const char *path, struct config_errors *errors);
int config_load_text(struct config_source *src, const char *name, const char *text, struct config_errors *errors);
void config_source_fini(struct config_source *src);

/* Line (1-based) of the value at a key path such as "targets[0].server"; 0 when unknown. */
int config_line_of(const struct config_source *src, const char *path);

/* Applies "key.path=value" (value as JSON, or else as a string) to src->root, as --set does. Says what is wrong in
 * errors. */
int config_set(struct config_source *src, const char *assignment, struct config_errors *errors);

enum config_type {
    CONFIG_BOOL,   /* bool */
    CONFIG_INT,    /* int64_t */
    CONFIG_DOUBLE, /* double; integers accepted */
    CONFIG_STRING, /* char *, heap */
    CONFIG_ENUM,   /* int, index into `choices` */
    CONFIG_CUSTOM, /* parse()/dump() of the row */
    CONFIG_UINT32, /* uint32_t */
    CONFIG_UINT64  /* uint64_t */
};

struct config_key;

/* What a custom parser is told. */
struct config_ctx {
    const struct config_source *src;
    struct config_errors *errors;
    const char *path; /* of the value, for messages */
};

/* Adds "FILE:LINE: PATH: ..." for the value of ctx. */
void config_complain(const struct config_ctx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct config_key {
    const char *key;
    enum config_type type;
    size_t offset;              /* in the struct that config_parse fills */
    const char *unit;           /* "s", "ops/s", "KiB"; NULL for none */
    double min, max;            /* numbers: inclusive, no limit when both are 0; CONFIG_STRING: length in bytes */
    const char *def;            /* default as JSON text; NULL = required */
    const char *const *choices; /* CONFIG_ENUM: NULL-terminated */
    const char *help;
    /* CONFIG_CUSTOM: value is NULL when the key is absent and def is NULL is not an error there (the parser decides).
     */
    void (*parse)(const struct config_ctx *ctx, const json_t *value, void *field);
    json_t *(*dump)(const void *field); /* new reference */
};

/* Parses object `value` by `keys` (ends with key == NULL) into `out`. Errors go to errors; 0 or -EINVAL.
 * `extra` is a NULL-terminated list of further keys that the caller reads itself and that are no errors (NULL: none).
 */
int config_parse(const struct config_source *src, const json_t *value, const char *path, const struct config_key *keys,
                 const char *const *extra, void *out, struct config_errors *errors);

/* The same for keys that win over what `out` already holds: absent keys are left alone, keys that the table lacks are
 * ignored. */
int config_override(const struct config_source *src, const json_t *value, const char *path,
                    const struct config_key *keys, void *out, struct config_errors *errors);

/* Frees the strings of a struct that config_parse filled (CONFIG_CUSTOM fields are the owner's). */
void config_free(const struct config_key *keys, void *in);

/* The whole struct as a JSON object in table order. New reference. */
json_t *config_dump(const struct config_key *keys, const void *in);

/* Markdown table of the keys, for the documentation. */
void config_print_docs(const struct config_key *keys, const char *title, FILE *file);

/* The one of n words that `word` was probably meant to be; NULL when none is near. */
const char *config_did_you_mean(const char *word, const char *const *words, size_t n);

#endif
