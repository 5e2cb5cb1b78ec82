/* sfs_rc.c - see sfs_rc.h. A reader of assignments, not a shell: nothing is expanded or run. */
#include "sfs_rc.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct rc_reader {
    const char *p;
    unsigned line;
};

static void skip_line(struct rc_reader *r)
{
    while (*r->p != '\0' && *r->p != '\n') {
        r->p++;
    }
}

static void skip_blanks(struct rc_reader *r)
{
    while (*r->p == ' ' || *r->p == '\t' || *r->p == '\r') {
        r->p++;
    }
}

static size_t key_length(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_') {
        n++;
    }
    return n > 0 && !isdigit((unsigned char)p[0]) ? n : 0;
}

/* One word of the shell: pieces in double, single or no quotes. NULL when a quote is never closed. */
static char *read_value(struct rc_reader *r)
{
    char *out = calloc(1, strlen(r->p) + 1);
    size_t n = 0;
    char quote = '\0';
    for (; out != NULL && *r->p != '\0'; r->p++) {
        char c = *r->p;
        if (quote == '\0' && (isspace((unsigned char)c) || c == ';' || c == '#')) {
            break;
        }
        if (c == '\\' && quote != '\'' && r->p[1] != '\0') {
            r->p++;
            r->line += *r->p == '\n';
            out[n++] = *r->p == '\n' ? ' ' : *r->p;
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        } else {
            r->line += c == '\n';
            out[n++] = c == '\n' ? ' ' : c;
        }
    }
    if (quote != '\0') {
        free(out);
        return NULL;
    }
    return out;
}

static int set_entry(struct sfs_rc *rc, const char *key, size_t key_bytes, char *value, unsigned line)
{
    for (size_t i = 0; i < rc->n; i++) {
        if (strlen(rc->entries[i].key) == key_bytes && strncmp(rc->entries[i].key, key, key_bytes) == 0) {
            free(rc->entries[i].value);
            rc->entries[i].value = value;
            rc->entries[i].line = line;
            return 0;
        }
    }
    struct sfs_rc_entry *grown = realloc(rc->entries, (rc->n + 1) * sizeof *grown);
    char *name = strndup(key, key_bytes);
    if (grown == NULL || name == NULL) {
        free(name);
        free(value);
        return -ENOMEM;
    }
    rc->entries = grown;
    rc->entries[rc->n++] = (struct sfs_rc_entry){.key = name, .value = value, .line = line};
    return 0;
}

static int read_statement(struct rc_reader *r, struct sfs_rc *out, const char *name, char *message,
                          size_t message_bytes)
{
    skip_blanks(r);
    if (*r->p == '#') {
        skip_line(r);
    } else if (*r->p == '\n') {
        r->line++;
        r->p++;
        return 0;
    } else if (*r->p == ';') {
        r->p++;
        return 0;
    }
    if (*r->p == '\0' || *r->p == '\n') {
        return 0;
    }
    size_t n = key_length(r->p);
    if (n == 6 && strncmp(r->p, "export", 6) == 0 && (r->p[6] == ' ' || r->p[6] == '\t')) {
        r->p += 6;
        skip_blanks(r);
        n = key_length(r->p);
        if (n > 0 && r->p[n] != '=') { /* "export NAME" assigns nothing */
            skip_line(r);
            return 0;
        }
    }
    if (n == 0 || r->p[n] != '=') {
        snprintf(message, message_bytes, "%s:%u: expected KEY=value as in an sfs_rc file", name, r->line);
        return -EINVAL;
    }
    const char *key = r->p;
    unsigned line = r->line;
    r->p += n + 1;
    char *value = read_value(r);
    if (value == NULL) {
        snprintf(message, message_bytes, "%s:%u: the value of %.*s has a quote that is never closed", name, line,
                 (int)n, key);
        return -EINVAL;
    }
    return set_entry(out, key, n, value, line);
}

int sfs_rc_parse(const char *name, const char *text, struct sfs_rc *out, char *message, size_t message_bytes)
{
    struct rc_reader r = {.p = text, .line = 1};
    *out = (struct sfs_rc){0};
    while (*r.p != '\0') {
        int rc = read_statement(&r, out, name, message, message_bytes);
        if (rc != 0) {
            return rc;
        }
    }
    if (out->n == 0) {
        snprintf(message, message_bytes, "%s: holds no assignments; expected an sfs_rc file", name);
        return -EINVAL;
    }
    return 0;
}

void sfs_rc_fini(struct sfs_rc *rc)
{
    for (size_t i = 0; i < rc->n; i++) {
        free(rc->entries[i].key);
        free(rc->entries[i].value);
    }
    free(rc->entries);
    *rc = (struct sfs_rc){0};
}

const char *sfs_rc_get(const struct sfs_rc *rc, const char *key)
{
    for (size_t i = 0; i < rc->n; i++) {
        if (strcmp(rc->entries[i].key, key) == 0) {
            return rc->entries[i].value[0] != '\0' ? rc->entries[i].value : NULL;
        }
    }
    return NULL;
}
