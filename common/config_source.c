/* config_source.c - configuration text: reading it, where its keys stand, what --set changes, and what is wrong with
 * it.
 *
 * jansson parses but forgets where. Lines are found again when a message needs one: a scanner walks the (by then valid)
 * text down the key path. That costs one pass per message, and the number of messages is limited.
 */
#include "config.h"

#include "log.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET_DEPTH_MAX 32
#define SET_INDEX_MAX 100000

void config_errors_init(struct config_errors *e)
{
    *e = (struct config_errors){NULL, 0};
}

void config_errors_fini(struct config_errors *e)
{
    for (size_t i = 0; i < e->n; i++) {
        free(e->messages[i]);
    }
    free(e->messages);
    *e = (struct config_errors){NULL, 0};
}

/* Takes the message over; NULL (no memory for it) still counts as an error. */
static void errors_append(struct config_errors *e, char *message)
{
    if (e->n > CONFIG_ERRORS_MAX) {
        free(message);
        return;
    }
    if (e->n == CONFIG_ERRORS_MAX) {
        free(message);
        message = strdup("more errors than can be listed; correct these first");
    }
    char **grown = realloc(e->messages, (e->n + 1) * sizeof *grown);
    if (!message || !grown) {
        abort(); /* a configuration of a few kilobytes and no memory to say what is wrong with it */
    }
    e->messages = grown;
    e->messages[e->n++] = message;
}

void config_errors_add(struct config_errors *e, const char *fmt, ...)
{
    char *message;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&message, fmt, args) < 0) {
        message = NULL;
    }
    va_end(args);
    errors_append(e, message);
}

int config_load_text(struct config_source *src, const char *name, const char *text, struct config_errors *errors)
{
    json_error_t where;

    *src = (struct config_source){.name = strdup(name), .text = strdup(text)};
    if (!src->name || !src->text) {
        config_source_fini(src);
        config_errors_add(errors, "%s: %s", name, strerror(ENOMEM));
        return -ENOMEM;
    }
    src->root = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (json_is_object(src->root)) {
        return 0;
    }

    if (src->root) {
        config_errors_add(errors, "%s:1: the outermost value must be an object: { \"key\": value, ... }", name);
    } else {
        /* The text of the message quotes the input. */
        char quoted[JSON_ERROR_TEXT_LENGTH * 4];
        log_quote(quoted, sizeof quoted, where.text, strlen(where.text));
        bool is_comment = strstr(where.text, "near '/'") || strstr(where.text, "near '#'");
        config_errors_add(errors, "%s:%d: not valid JSON (column %d): %s%s", name, where.line, where.column, quoted,
                          is_comment ? "; JSON has no comments" : "");
    }
    config_source_fini(src);
    return -EINVAL;
}

/* The whole file as a string. 0, -errno, -EFBIG, or -EILSEQ when it holds a NUL byte. */
static int read_text(const char *path, char **text)
{
    int error = 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        return -errno;
    }

    size_t n = 0, cap = 1u << 14;
    char *buffer = malloc(cap + 1);
    while (buffer) {
        n += fread(buffer + n, 1, cap - n, file);
        if (n < cap) {
            break;
        }
        if (cap > CONFIG_TEXT_MAX) {
            error = -EFBIG;
            break;
        }
        cap *= 2;
        char *grown = realloc(buffer, cap + 1);
        if (!grown) {
            free(buffer);
        }
        buffer = grown;
    }
    if (!buffer) {
        error = -ENOMEM;
    } else if (ferror(file)) {
        error = -EIO;
    } else if (!error && n > CONFIG_TEXT_MAX) {
        error = -EFBIG;
    } else if (!error && memchr(buffer, 0, n)) {
        error = -EILSEQ;
    }
    fclose(file);
    if (error) {
        free(buffer);
        return error;
    }
    buffer[n] = '\0';
    *text = buffer;
    return 0;
}

int config_load_file(struct config_source *src, const char *path, struct config_errors *errors)
{
    char *text = NULL;
    *src = (struct config_source){NULL, NULL, NULL, NULL, 0};
    int error = read_text(path, &text);
    if (error) {
        const char *why = error == -EILSEQ  ? "holds a NUL byte, so it is not JSON text"
                          : error == -EFBIG ? "is larger than 8 MiB, too large for a configuration"
                          : error == -EIO   ? "can't be read (is it a directory?)"
                                            : strerror(-error);
        config_errors_add(errors, "%s: %s", path, why);
        return error;
    }
    assert(text);
    error = config_load_text(src, path, text, errors);
    free(text);
    return error;
}

void config_source_fini(struct config_source *src)
{
    for (size_t i = 0; i < src->n_set_paths; i++) {
        free(src->set_paths[i]);
    }
    free(src->set_paths);
    free(src->name);
    free(src->text);
    json_decref(src->root);
    *src = (struct config_source){NULL, NULL, NULL, NULL, 0};
}

/* The scanner. `at` always points into text that jansson has accepted. */
struct scanner {
    const char *at;
    int line;
};

static void skip_space(struct scanner *s)
{
    for (; *s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n'; s->at++) {
        s->line += *s->at == '\n';
    }
}

static void skip_string(struct scanner *s)
{
    for (s->at++; *s->at && *s->at != '"'; s->at++) {
        if (*s->at == '\\' && s->at[1]) {
            s->at++;
        }
    }
    if (*s->at) {
        s->at++;
    }
}

static void skip_value(struct scanner *s)
{
    size_t depth = 0;
    do {
        skip_space(s);
        switch (*s->at) {
        case '\0':
            return;
        case '"':
            skip_string(s);
            break;
        case '{':
        case '[':
            depth++;
            s->at++;
            break;
        case '}':
        case ']':
            if (depth == 0) {
                return; /* of the value around it */
            }
            depth--;
            s->at++;
            break;
        case ',':
        case ':':
            s->at++;
            break;
        default:
            s->at += strcspn(s->at, ",:]} \t\r\n");
        }
    } while (depth > 0);
}

/* What is left of the path behind a first step `key`; NULL when that is not its first step. Keys may hold dots, as
 * "p99.9" does. */
static const char *path_behind_key(const char *path, const char *key, size_t n)
{
    if (strncmp(path, key, n) != 0) {
        return NULL;
    }
    path += n;
    return *path == '.' ? path + 1 : *path == '[' || *path == '\0' ? path : NULL;
}

/* Moves to the value of the next step of *path; false when there is none. */
static bool step_into_object(struct scanner *s, const char **path)
{
    s->at++;
    for (;;) {
        skip_space(s);
        if (*s->at != '"') {
            return false;
        }
        const char *key = s->at + 1;
        skip_string(s);
        const char *behind = path_behind_key(*path, key, (size_t)(s->at - key - 1));
        skip_space(s);
        s->at++; /* ':' */
        skip_space(s);
        if (behind) {
            *path = behind;
            return true;
        }
        skip_value(s);
        skip_space(s);
        if (*s->at != ',') {
            return false;
        }
        s->at++;
    }
}

static bool step_into_array(struct scanner *s, const char **path)
{
    char *end;
    unsigned long index = strtoul(*path + 1, &end, 10);
    if (*end != ']') {
        return false;
    }
    s->at++;
    for (; index > 0; index--) {
        skip_value(s);
        skip_space(s);
        if (*s->at != ',') {
            return false;
        }
        s->at++;
    }
    skip_space(s);
    if (*s->at == ']') {
        return false;
    }
    *path = end[1] == '.' ? end + 2 : end + 1;
    return true;
}

/* Whether `path` is, or lies below, a path that --set has changed. */
static bool is_set(const struct config_source *src, const char *path)
{
    for (size_t i = 0; i < src->n_set_paths; i++) {
        if (path_behind_key(path, src->set_paths[i], strlen(src->set_paths[i]))) {
            return true;
        }
    }
    return false;
}

int config_line_of(const struct config_source *src, const char *path)
{
    if (!src->text || is_set(src, path)) {
        return 0;
    }
    struct scanner s = {src->text, 1};
    skip_space(&s);
    while (*path) {
        bool is_found = *s.at == '{'                   ? step_into_object(&s, &path)
                        : *s.at == '[' && *path == '[' ? step_into_array(&s, &path)
                                                       : false;
        if (!is_found) {
            return 0;
        }
    }
    return s.line;
}

void config_complain(const struct config_ctx *ctx, const char *fmt, ...)
{
    char *what, path[512];
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&what, fmt, args) < 0) {
        what = NULL;
    }
    va_end(args);
    if (!what) {
        errors_append(ctx->errors, NULL);
        return;
    }

    log_quote(path, sizeof path, ctx->path, strlen(ctx->path));
    const char *colon = *path ? ": " : "";
    int line = config_line_of(ctx->src, ctx->path);
    if (is_set(ctx->src, ctx->path)) {
        config_errors_add(ctx->errors, "--set: %s%s%s", path, colon, what);
    } else if (line > 0) {
        config_errors_add(ctx->errors, "%s:%d: %s%s%s", ctx->src->name, line, path, colon, what);
    } else {
        config_errors_add(ctx->errors, "%s: %s%s%s", ctx->src->name, path, colon, what);
    }
    free(what);
}

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
