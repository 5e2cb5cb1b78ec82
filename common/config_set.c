/* config_set.c - "--set key.path=value": changes to a configuration's JSON before it is parsed. */
#include "config.h"

#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SET_DEPTH_MAX 32

/* One step of a --set path. */
struct set_step {
    const char *key; /* NULL: an index */
    size_t key_len;
    size_t index;
};

/* Number of steps, or -EINVAL. */
static int split_path(const char *path, size_t n, struct set_step steps[SET_DEPTH_MAX])
{
    int n_steps = 0;
    size_t at = 0;
    while (at < n) {
        if (n_steps == SET_DEPTH_MAX) {
            return -EINVAL;
        }
        struct set_step *step = &steps[n_steps++];
        if (path[at] == '[') {
            char *end;
            size_t digits = strspn(path + at + 1, "0123456789");
            step->key = NULL;
            step->index = strtoul(path + at + 1, &end, 10);
            if (digits == 0 || digits > 6 || *end != ']' || n_steps == 1) {
                return -EINVAL;
            }
            at = (size_t)(end + 1 - path);
        } else {
            if (n_steps > 1 && path[at++] != '.') {
                return -EINVAL;
            }
            step->key = path + at;
            step->key_len = strcspn(path + at, ".[=");
            if (step->key_len == 0) {
                return -EINVAL;
            }
            at += step->key_len;
        }
    }
    return n_steps;
}

static json_t *get_step(const json_t *in, const struct set_step *step)
{
    return step->key ? json_object_getn(in, step->key, step->key_len) : json_array_get(in, step->index);
}

/* Takes `value` over. 0 or -1. */
static int put_step(json_t *in, const struct set_step *step, json_t *value)
{
    if (step->key) {
        return json_object_setn_new(in, step->key, step->key_len, value);
    }
    if (step->index == json_array_size(in)) {
        return json_array_append_new(in, value);
    }
    return json_array_set_new(in, step->index, value);
}

/* The value of an assignment: JSON, or else the text itself as a string. New reference or NULL with the reason in
 * errors. */
static json_t *read_set_value(const char *assignment, const char *text, struct config_errors *errors)
{
    json_error_t where;
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &where);
    if (value) {
        return value;
    }
    char quoted[256];
    log_quote(quoted, sizeof quoted, where.text, strlen(where.text));
    if (*text == '{' || *text == '[' || *text == '"') {
        config_errors_add(errors, "--set %s: the value is not valid JSON: %s", assignment, quoted);
        return NULL;
    }
    value = json_string(text);
    if (!value) {
        config_errors_add(errors, "--set: the value is not valid UTF-8");
    }
    return value;
}

static int remember_set(struct config_source *src, const char *path, size_t n)
{
    char **grown = realloc(src->set_paths, (src->n_set_paths + 1) * sizeof *grown);
    if (!grown) {
        return -ENOMEM;
    }
    src->set_paths = grown;
    grown[src->n_set_paths] = strndup(path, n);
    if (!grown[src->n_set_paths]) {
        return -ENOMEM;
    }
    src->n_set_paths++;
    return 0;
}

int config_set(struct config_source *src, const char *assignment, struct config_errors *errors)
{
    struct set_step steps[SET_DEPTH_MAX];
    char quoted[256];
    size_t path_len = strcspn(assignment, "=");
    int n_steps = assignment[path_len] == '=' ? split_path(assignment, path_len, steps) : -EINVAL;

    log_quote(quoted, sizeof quoted, assignment, strlen(assignment));
    if (n_steps <= 0) {
        config_errors_add(errors, "--set %s: expected KEY=VALUE, for instance run_s=60 or targets[0].server=10.0.0.1",
                          quoted);
        return -EINVAL;
    }
    json_t *value = read_set_value(quoted, assignment + path_len + 1, errors);
    if (!value) {
        return -EINVAL;
    }

    json_t *in = src->root;
    for (int i = 0; in && i < n_steps; i++) {
        const struct set_step *step = &steps[i];
        bool is_right_kind = step->key ? json_is_object(in) : json_is_array(in);
        if (!is_right_kind || (!step->key && step->index > json_array_size(in))) {
            json_decref(value);
            config_errors_add(errors, "--set %s: %s", quoted,
                              !is_right_kind ? "the path goes through a value that has no such parts"
                                             : "the index is beyond the end of the list");
            return -EINVAL;
        }
        if (i + 1 == n_steps) {
            int error = put_step(in, step, value) ? -EINVAL : remember_set(src, assignment, path_len);
            if (error) {
                config_errors_add(errors, "--set %s: the key can't be set (is it valid UTF-8?)", quoted);
            }
            return error;
        }
        json_t *next = get_step(in, step);
        if (!next) {
            next = steps[i + 1].key ? json_object() : json_array();
            if (put_step(in, step, next)) {
                next = NULL;
            }
        }
        in = next;
    }
    json_decref(value);
    config_errors_add(errors, "--set %s: the key can't be set (is it valid UTF-8?)", quoted);
    return -EINVAL;
}
