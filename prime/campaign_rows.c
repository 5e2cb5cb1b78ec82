/* campaign_rows.c - see campaign_rows.h. */
#include "campaign_rows.h"

#include "log.h"
#include "text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool row_is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

static bool is_ipv6(const char *text)
{
    struct in6_addr ignored;
    char address[INET6_ADDRSTRLEN];
    size_t n = strcspn(text, "%"); /* fe80::1%eth0 */

    if (n >= sizeof address) {
        return false;
    }
    memcpy(address, text, n);
    address[n] = '\0';
    return inet_pton(AF_INET6, address, &ignored) == 1;
}

bool row_is_address(const char *text)
{
    struct in_addr ignored;
    return is_ipv6(text) || inet_pton(AF_INET, text, &ignored) == 1;
}

bool row_is_host(const char *text)
{
    return is_ipv6(text) || text[strcspn(text, ":/[] \t\r\n")] == '\0';
}

bool row_is_name(const char *text)
{
    char quoted[ROW_NAME_MAX + 2];
    size_t n = strlen(text);
    return n >= 1 && n <= ROW_NAME_MAX && strcmp(log_quote(quoted, sizeof quoted, text, n), text) == 0;
}

void row_set_string(char **field, const char *text)
{
    char *copy = strdup(text);
    free(*field);
    *field = copy;
}

struct config_ctx row_below(const struct config_ctx *ctx, const char *path)
{
    return (struct config_ctx){.src = ctx->src, .errors = ctx->errors, .path = path};
}

char *row_absolute_path(const struct config_source *src, const char *path)
{
    char *beside = NULL, *out = NULL;
    if (path[0] != '/' && src->name != NULL) {
        const char *slash = strrchr(src->name, '/');
        if (slash != NULL) {
            beside = text_format("%.*s/%s", (int)(slash - src->name), src->name, path);
        }
        if (beside != NULL) {
            out = realpath(beside, NULL);
        }
    }
    if (out == NULL) {
        out = realpath(path, NULL);
    }
    free(beside);
    return out;
}

void row_free_strings(char **items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(items[i]);
    }
    free(items);
}

void row_parse_strings(const struct config_ctx *ctx, const json_t *value, char ***items, size_t *n)
{
    if (value == NULL) {
        return;
    }
    if (!json_is_array(value)) {
        config_complain(ctx, "must be a list of strings");
        return;
    }
    *items = calloc(json_array_size(value) + 1, sizeof **items);
    if (*items == NULL) {
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *text = json_string_value(json_array_get(value, i));
        if (text == NULL) {
            char *path = text_format("%s[%zu]", ctx->path, i);
            struct config_ctx here = row_below(ctx, path);
            config_complain(&here, "must be a string");
            free(path);
            continue;
        }
        (*items)[(*n)++] = strdup(text);
    }
}

json_t *row_dump_strings(char *const *items, size_t n)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(out, json_string(items[i]));
    }
    return out;
}
