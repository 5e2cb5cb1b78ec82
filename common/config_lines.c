/* config_lines.c - the line of a key path.
 *
 * jansson parses but forgets where. Lines are found again when a message needs one: a scanner walks the (by then valid)
 * text down the key path. That costs one pass per message, and the number of messages is limited.
 */
#include "config_lines.h"

#include "config.h"

#include <stdlib.h>
#include <string.h>

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

bool config_is_set(const struct config_source *src, const char *path)
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
    if (!src->text || config_is_set(src, path)) {
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
