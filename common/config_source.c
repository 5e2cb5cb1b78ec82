/* config_source.c - configuration text: a file or a string becomes one JSON object, or messages. */
#include "config.h"

#include "log.h"
#include "path_kind.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Some editors put a byte order mark first, which RFC 8259 section 8.1 lets a reader pass over. */
static const char *behind_byte_order_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
}

int config_load_text(struct config_source *src, const char *name, const char *text, struct config_errors *errors)
{
    json_error_t where;

    text = behind_byte_order_mark(text);
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

/* The whole file as a string. 0, -errno, -EFBIG, -ENXIO when it is no regular file, or -EILSEQ when it holds a NUL
 * byte. */
static int read_text(const char *path, char **text)
{
    int error = 0;
    if (path_is_special(path)) {
        return -ENXIO;
    }
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
                          : error == -ENXIO ? "is no regular file; expected one that holds the configuration"
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
