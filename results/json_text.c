#include "json_text.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 118

char *json_text_number(double v, char out[static 32])
{
    v += 0.0; /* -0 becomes 0 */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, v);
        if (strtod(out, NULL) == v) {
            break;
        }
    }
    return out;
}

static void put_string(const json_t *value, FILE *out)
{
    const char *s = json_string_value(value);
    size_t n = json_string_length(value);
    fputc('"', out);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        switch (c) {
        case '"':
            fputs("\\\"", out);
            break;
        case '\\':
            fputs("\\\\", out);
            break;
        case '\n':
            fputs("\\n", out);
            break;
        case '\t':
            fputs("\\t", out);
            break;
        default:
            if (c < 0x20 || c == 0x7f) {
                fprintf(out, "\\u%04x", c);
            } else {
                fputc(c, out);
            }
        }
    }
    fputc('"', out);
}

static void put_key(const char *key, FILE *out)
{
    json_t *text = json_string(key);
    if (text) {
        put_string(text, out);
    }
    json_decref(text);
    fputs(": ", out);
}

static void put_scalar(const json_t *value, FILE *out)
{
    char number[32];
    switch (json_typeof(value)) {
    case JSON_STRING:
        put_string(value, out);
        break;
    case JSON_INTEGER:
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        fputs(json_text_number(json_real_value(value), number), out);
        break;
    case JSON_TRUE:
        fputs("true", out);
        break;
    case JSON_FALSE:
        fputs("false", out);
        break;
    default:
        fputs("null", out);
    }
}

static bool is_container(const json_t *value)
{
    return json_is_object(value) || json_is_array(value);
}

/* Length of the value on one line; stops counting when it is over `limit`. */
static size_t flat_length(const json_t *value, size_t limit)
{
    size_t n = 2;
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value) && n <= limit; i++) {
            n += 2 + flat_length(json_array_get(value, i), limit);
        }
    } else if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach((json_t *)value, key, member)
        {
            n += strlen(key) + 6 + flat_length(member, limit);
            if (n > limit) {
                break;
            }
        }
    } else if (json_is_string(value)) {
        n += json_string_length(value);
    } else {
        n += 12;
    }
    return n;
}

static bool is_array_of_numbers(const json_t *value)
{
    if (!json_is_array(value)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (!json_is_number(json_array_get(value, i))) {
            return false;
        }
    }
    return true;
}

static void put_break(bool is_flat, int indent, FILE *out)
{
    if (!is_flat) {
        fprintf(out, "\n%*s", indent, "");
    }
}

static void put_value(const json_t *value, int indent, bool is_flat, FILE *out)
{
    if (!is_container(value)) {
        put_scalar(value, out);
        return;
    }
    is_flat =
        is_flat || flat_length(value, LINE_MAX_BYTES) + (size_t)indent <= LINE_MAX_BYTES || is_array_of_numbers(value);
    bool is_first = true;
    if (json_is_array(value)) {
        fputc('[', out);
        for (size_t i = 0; i < json_array_size(value); i++, is_first = false) {
            if (!is_first) {
                fputs(is_flat ? ", " : ",", out);
            }
            put_break(is_flat, indent + 2, out);
            put_value(json_array_get(value, i), indent + 2, is_flat, out);
        }
    } else {
        const char *key;
        json_t *member;
        fputc('{', out);
        json_object_foreach((json_t *)value, key, member)
        {
            if (!is_first) {
                fputs(is_flat ? ", " : ",", out);
            }
            put_break(is_flat, indent + 2, out);
            put_key(key, out);
            put_value(member, indent + 2, is_flat, out);
            is_first = false;
        }
    }
    if (!is_first) {
        put_break(is_flat, indent, out);
    }
    fputc(json_is_array(value) ? ']' : '}', out);
}

int json_text_write(const json_t *value, FILE *out)
{
    put_value(value, 0, false, out);
    fputc('\n', out);
    return ferror(out) ? -EIO : 0;
}

char *json_text(const json_t *value, size_t *n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    int error = json_text_write(value, out);
    if (fclose(out) != 0 || error) {
        free(text);
        return NULL;
    }
    if (n) {
        *n = size;
    }
    return text;
}

double json_double(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) && isfinite(json_number_value(v)) ? json_number_value(v) : NAN;
}

json_int_t json_count(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    if (json_is_integer(v) && json_integer_value(v) >= 0) {
        return json_integer_value(v);
    }
    /* 1e9 is an integer to a person, a real to JSON */
    if (json_is_real(v) && json_real_value(v) >= 0 && json_real_value(v) < 9e18 &&
        floor(json_real_value(v)) == json_real_value(v)) {
        return (json_int_t)json_real_value(v);
    }
    return -1;
}

const char *json_text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

void json_put_double(json_t *object, const char *key, double v)
{
    if (isfinite(v)) {
        json_object_set_new(object, key, json_real(v));
    }
}

void json_put_real(json_t *object, const char *key, double v)
{
    json_object_set_new(object, key, isfinite(v) ? json_real(v) : json_null());
}

void json_put_count(json_t *object, const char *key, unsigned long long v)
{
    if (v <= INT64_MAX) {
        json_object_set_new(object, key, json_integer((json_int_t)v));
    }
}

void json_put_text(json_t *object, const char *key, const char *v)
{
    if (v) {
        json_object_set_new(object, key, json_string(v));
    }
}

void json_put(json_t *object, const char *key, json_t *v)
{
    if (v) {
        json_object_set(object, key, v);
    }
}
