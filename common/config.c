/* config.c - from a JSON object to a struct and back, row by row of a table. */
#include "config.h"

#include "log.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX     256 /* rows of a table and further keys that are considered as what was meant */
#define WORD_MAX     64  /* longer words are never near anything */
#define KEY_PATH_MAX 512
#define SHOWN_MAX    60 /* of a wrong value */

/* Optimal string alignment distance: insertions, deletions, changes and swaps of neighbours. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t d[3][WORD_MAX + 1];
    size_t *before = d[0], *previous = d[1], *now = d[2];

    for (size_t j = 0; j <= m; j++) {
        previous[j] = j;
    }
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = previous[j - 1] + (a[i - 1] != b[j - 1]);
            size_t insert = now[j - 1] + 1, remove = previous[j] + 1;
            size_t best = change < insert ? change : insert;
            best = remove < best ? remove : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            now[j] = best;
        }
        size_t *free_row = before;
        before = previous;
        previous = now;
        now = free_row;
    }
    return previous[m];
}

const char *config_did_you_mean(const char *word, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t length = strlen(word), best_distance = length / 3 < 2 ? 3 : length / 3 + 1;
    if (length > WORD_MAX || length < 2) {
        return NULL;
    }

    for (size_t i = 0; i < n; i++) {
        size_t other = strlen(words[i]);
        if (other > WORD_MAX) {
            continue;
        }
        size_t d = distance(word, length, words[i], other);
        /* A key without its unit, or with another one: "run" or "run_ms" for "run_s". */
        size_t stem = strcspn(words[i], "_");
        if (d >= best_distance && length >= stem && (length == stem || word[stem] == '_') && stem > 2 &&
            strncmp(word, words[i], stem) == 0 && !best) {
            d = best_distance - 1;
        }
        if (d < best_distance && d < length) {
            best = words[i];
            best_distance = d;
        }
    }
    return best;
}

static const char *kind_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        break;
    }
    return "null";
}

/* "a string (\"abc\")" into out: what was found instead. */
static const char *shown(char *out, size_t cap, const json_t *value)
{
    if (json_is_object(value) || json_is_array(value) || json_is_null(value)) {
        snprintf(out, cap, "%s", kind_name(value));
        return out;
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    char quoted[SHOWN_MAX];
    if (!text) {
        snprintf(out, cap, "%s", kind_name(value));
        return out;
    }
    log_quote(quoted, sizeof quoted, text, strlen(text));
    snprintf(out, cap, "%s%s", quoted, strlen(quoted) < strlen(text) ? "..." : "");
    free(text);
    return out;
}

static bool has_range(const struct config_key *key)
{
    return key->min != 0 || key->max != 0;
}

static const char *range_text(char *out, size_t cap, const struct config_key *key)
{
    if (!has_range(key)) {
        out[0] = '\0';
    } else {
        snprintf(out, cap, " from %.15g to %.15g", key->min, key->max);
    }
    return out;
}

static bool is_whole(const json_t *value)
{
    if (json_is_integer(value)) {
        return true;
    }
    return json_is_real(value) && floor(json_real_value(value)) == json_real_value(value) &&
           fabs(json_real_value(value)) < 0x1p53;
}

static void parse_number(const struct config_ctx *ctx, const json_t *value, const struct config_key *key, void *field)
{
    char got[2 * SHOWN_MAX], range[80];
    bool must_be_whole = key->type != CONFIG_DOUBLE;
    bool is_unsigned = key->type == CONFIG_UINT32 || key->type == CONFIG_UINT64;
    double number = json_number_value(value);
    double lowest = has_range(key) ? key->min : is_unsigned ? 0 : -INFINITY;
    double highest = has_range(key) ? key->max : INFINITY;
    if (key->type == CONFIG_UINT32 && highest > UINT32_MAX) {
        highest = UINT32_MAX;
    }

    if (!json_is_number(value) || (must_be_whole && !is_whole(value)) || number < lowest || number > highest) {
        config_complain(ctx, "is %s; expected %s%s%s%s", shown(got, sizeof got, value),
                        must_be_whole ? "a whole number" : "a number", key->unit ? " of " : "",
                        key->unit ? key->unit : "", range_text(range, sizeof range, key));
        return;
    }
    int64_t whole = json_is_integer(value) ? json_integer_value(value) : must_be_whole ? (int64_t)number : 0;
    switch (key->type) {
    case CONFIG_UINT32:
        *(uint32_t *)field = (uint32_t)whole;
        break;
    case CONFIG_UINT64:
        *(uint64_t *)field = (uint64_t)whole;
        break;
    case CONFIG_INT:
        *(int64_t *)field = whole;
        break;
    default:
        *(double *)field = number;
    }
}

static void parse_string(const struct config_ctx *ctx, const json_t *value, const struct config_key *key, char **field)
{
    char got[2 * SHOWN_MAX];
    const char *text = json_string_value(value);
    if (!text) {
        config_complain(ctx, "is %s; expected a string", shown(got, sizeof got, value));
        return;
    }
    double length = (double)strlen(text);
    if (has_range(key) && (length < key->min || length > key->max)) {
        config_complain(ctx, "is %zu bytes long; expected a string of %.0f to %.0f bytes", strlen(text), key->min,
                        key->max);
        return;
    }
    char *copy = strdup(text);
    if (!copy) {
        config_complain(ctx, "%s", strerror(ENOMEM));
        return;
    }
    free(*field);
    *field = copy;
}

static size_t count_choices(const char *const *choices)
{
    size_t n = 0;
    while (choices[n]) {
        n++;
    }
    return n;
}

static void parse_enum(const struct config_ctx *ctx, const json_t *value, const struct config_key *key, int *field)
{
    const char *text = json_string_value(value);
    size_t n = count_choices(key->choices);
    for (size_t i = 0; text && i < n; i++) {
        if (strcmp(text, key->choices[i]) == 0) {
            *field = (int)i;
            return;
        }
    }

    char got[2 * SHOWN_MAX], list[400] = "";
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"", i == 0 ? "" : i + 1 < n ? ", " : " or ", key->choices[i]);
    }
    const char *meant = text ? config_did_you_mean(text, key->choices, n) : NULL;
    config_complain(ctx, "is %s; expected %s%s%s%s", shown(got, sizeof got, value), list,
                    meant ? " (did you mean \"" : "", meant ? meant : "", meant ? "\"?)" : "");
}

static void parse_value(const struct config_ctx *ctx, const json_t *value, const struct config_key *key, void *out)
{
    char got[2 * SHOWN_MAX];
    void *field = (char *)out + key->offset;
    switch (key->type) {
    case CONFIG_BOOL:
        if (json_is_boolean(value)) {
            *(bool *)field = json_is_true(value);
        } else {
            config_complain(ctx, "is %s; expected true or false", shown(got, sizeof got, value));
        }
        break;
    case CONFIG_INT:
    case CONFIG_UINT32:
    case CONFIG_UINT64:
    case CONFIG_DOUBLE:
        parse_number(ctx, value, key, field);
        break;
    case CONFIG_STRING:
        parse_string(ctx, value, key, field);
        break;
    case CONFIG_ENUM:
        parse_enum(ctx, value, key, field);
        break;
    case CONFIG_CUSTOM:
        key->parse(ctx, value, field);
        break;
    }
}

static void join_path(char *out, size_t cap, const char *path, const char *key)
{
    snprintf(out, cap, "%s%s%s", path, *path ? "." : "", key);
}

/* The default goes the same way as a value from the file, so it is checked like one. A wrong one is a bug. */
static void parse_default(const struct config_ctx *ctx, const struct config_key *key, void *out)
{
    json_t *value = json_loads(key->def, JSON_DECODE_ANY, NULL);
    assert(value);
    parse_value(ctx, value, key, out);
    json_decref(value);
}

static void complain_of_missing(const struct config_ctx *at_parent, const struct config_key *key)
{
    config_complain(at_parent, "the required key \"%s\" is missing; %s", key->key, key->help ? key->help : "");
}

static void check_unknown_keys(const struct config_source *src, const json_t *value, const char *path,
                               const struct config_key *keys, const char *const *extra, struct config_errors *errors)
{
    const char *known[KEYS_MAX], *key;
    size_t n_known = 0;
    json_t *member;

    for (const struct config_key *k = keys; k->key && n_known < KEYS_MAX; k++) {
        known[n_known++] = k->key;
    }
    for (; extra && *extra && n_known < KEYS_MAX; extra++) {
        known[n_known++] = *extra;
    }

    json_object_foreach((json_t *)value, key, member)
    {
        bool is_known = false;
        for (size_t i = 0; i < n_known && !is_known; i++) {
            is_known = strcmp(key, known[i]) == 0;
        }
        if (is_known) {
            continue;
        }
        char at[KEY_PATH_MAX];
        join_path(at, sizeof at, path, key);
        struct config_ctx ctx = {src, errors, at};
        const char *meant = config_did_you_mean(key, known, n_known);
        config_complain(&ctx, "unknown key%s%s%s", meant ? "; did you mean \"" : "", meant ? meant : "",
                        meant ? "\"?" : "");
    }
}

static int parse_object(const struct config_source *src, const json_t *value, const char *path,
                        const struct config_key *keys, bool is_override, void *out, struct config_errors *errors)
{
    size_t n_before = errors->n;
    struct config_ctx at_parent = {src, errors, path};

    if (!json_is_object(value)) {
        config_complain(&at_parent, "is %s; expected an object: { \"key\": value, ... }",
                        value ? kind_name(value) : "missing");
        return -EINVAL;
    }
    for (const struct config_key *key = keys; key->key; key++) {
        char at[KEY_PATH_MAX];
        join_path(at, sizeof at, path, key->key);
        struct config_ctx ctx = {src, errors, at};
        const json_t *member = json_object_get(value, key->key);
        if (member) {
            parse_value(&ctx, member, key, out);
        } else if (is_override) {
            continue;
        } else if (key->def) {
            parse_default(&ctx, key, out);
        } else if (key->type == CONFIG_CUSTOM) {
            key->parse(&ctx, NULL, (char *)out + key->offset);
        } else {
            complain_of_missing(&at_parent, key);
        }
    }
    return errors->n > n_before ? -EINVAL : 0;
}

int config_parse(const struct config_source *src, const json_t *value, const char *path, const struct config_key *keys,
                 const char *const *extra, void *out, struct config_errors *errors)
{
    size_t n_before = errors->n;
    if (json_is_object(value)) {
        check_unknown_keys(src, value, path, keys, extra, errors);
    }
    parse_object(src, value, path, keys, false, out, errors);
    return errors->n > n_before ? -EINVAL : 0;
}

int config_override(const struct config_source *src, const json_t *value, const char *path,
                    const struct config_key *keys, void *out, struct config_errors *errors)
{
    return parse_object(src, value, path, keys, true, out, errors);
}

void config_free(const struct config_key *keys, void *in)
{
    for (const struct config_key *key = keys; key->key; key++) {
        if (key->type == CONFIG_STRING) {
            char **field = (char **)((char *)in + key->offset);
            free(*field);
            *field = NULL;
        }
    }
}

/* Whole numbers without ".0", as people write them. */
static json_t *dump_double(double number)
{
    if (floor(number) == number && fabs(number) < 0x1p53) {
        return json_integer((json_int_t)number);
    }
    return json_real(number);
}

static json_t *dump_value(const struct config_key *key, const void *field)
{
    switch (key->type) {
    case CONFIG_BOOL:
        return json_boolean(*(const bool *)field);
    case CONFIG_INT:
        return json_integer((json_int_t) * (const int64_t *)field);
    case CONFIG_UINT32:
        return json_integer(*(const uint32_t *)field);
    case CONFIG_UINT64:
        return json_integer((json_int_t) * (const uint64_t *)field);
    case CONFIG_DOUBLE:
        return dump_double(*(const double *)field);
    case CONFIG_STRING:
        return *(char *const *)field ? json_string(*(char *const *)field) : json_string("");
    case CONFIG_ENUM:
        return json_string(key->choices[*(const int *)field]);
    case CONFIG_CUSTOM:
        return key->dump(field);
    }
    return NULL;
}

json_t *config_dump(const struct config_key *keys, const void *in)
{
    json_t *object = json_object();
    for (const struct config_key *key = keys; object && key->key; key++) {
        json_t *value = dump_value(key, (const char *)in + key->offset);
        if (!value) {
            continue; /* a custom row that has nothing to say */
        }
        if (json_object_set_new(object, key->key, value)) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static void print_range(const struct config_key *key, FILE *file)
{
    if (key->type == CONFIG_ENUM) {
        for (const char *const *choice = key->choices; *choice; choice++) {
            fprintf(file, "%s`\"%s\"`", choice == key->choices ? "" : ", ", *choice);
        }
    } else if (key->type == CONFIG_BOOL) {
        fputs("`true`, `false`", file);
    } else if (has_range(key)) {
        fprintf(file, "%.15g to %.15g%s", key->min, key->max, key->type == CONFIG_STRING ? " bytes" : "");
    }
}

void config_print_docs(const struct config_key *keys, const char *title, FILE *file)
{
    if (title) {
        fprintf(file, "## %s\n\n", title);
    }
    fputs("| key | unit | default | range | meaning |\n| --- | --- | --- | --- | --- |\n", file);
    for (const struct config_key *key = keys; key->key; key++) {
        fprintf(file, "| `%s` | %s | ", key->key, key->unit ? key->unit : "");
        if (key->def) {
            fprintf(file, "`%s` | ", key->def);
        } else {
            fputs(key->type == CONFIG_CUSTOM ? " | " : "required | ", file);
        }
        print_range(key, file);
        fprintf(file, " | %s |\n", key->help ? key->help : "");
    }
}
