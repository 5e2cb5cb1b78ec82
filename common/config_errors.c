/* config_errors.c - what is wrong with a configuration, as messages; and config_complain, which knows where. */
#include "config.h"

#include "config_lines.h"
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (config_is_set(ctx->src, ctx->path)) {
        config_errors_add(ctx->errors, "--set: %s%s%s", path, colon, what);
    } else if (line > 0) {
        config_errors_add(ctx->errors, "%s:%d: %s%s%s", ctx->src->name, line, path, colon, what);
    } else {
        config_errors_add(ctx->errors, "%s: %s%s%s", ctx->src->name, path, colon, what);
    }
    free(what);
}
