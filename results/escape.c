#include "escape.h"
#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

static uint32_t code_point(const unsigned char *s, size_t n)
{
    switch (n) {
    case 1:
        return s[0];
    case 2:
        return (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3f);
    case 3:
        return (uint32_t)(s[0] & 0x0f) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
    default:
        return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3f) << 12 | (uint32_t)(s[2] & 0x3f) << 6 |
               (s[3] & 0x3f);
    }
}

/* Not allowed in XML, invisible, or turning the direction of the text around it. */
static bool is_unprintable(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff;
}

/* Called for every character: `c` is its code point, s[0..n) its bytes. */
typedef void (*put_fn)(FILE *out, uint32_t c, const char *s, size_t n);

static void each(FILE *out, const char *text, size_t max_bytes, put_fn put)
{
    if (!text) {
        return;
    }
    size_t total = strlen(text);
    for (size_t i = 0; i < total;) {
        size_t n = utf8_sequence((const unsigned char *)text + i, total - i);
        if (i + n > max_bytes) {
            fprintf(out, "\xe2\x80\xa6 (%zu bytes in all)", total);
            return;
        }
        if (n == 0) {
            put(out, 0xfffd, REPLACEMENT, 3);
            i++;
        } else {
            put(out, code_point((const unsigned char *)text + i, n), text + i, n);
            i += n;
        }
    }
}

static void put_html(FILE *out, uint32_t c, const char *s, size_t n)
{
    switch (c) {
    case '&':
        fputs("&amp;", out);
        break;
    case '<':
        fputs("&lt;", out);
        break;
    case '>':
        fputs("&gt;", out);
        break;
    case '"':
        fputs("&quot;", out);
        break;
    case '\'':
        fputs("&#39;", out);
        break;
    case '\n':
    case '\t':
        fputc((int)c, out);
        break;
    case '\r':
        break;
    default:
        if (is_unprintable(c)) {
            fputs(REPLACEMENT, out);
        } else {
            fwrite(s, 1, n, out);
        }
    }
}

static void put_html_line(FILE *out, uint32_t c, const char *s, size_t n)
{
    put_html(out, c == '\n' || c == '\t' ? ' ' : c, c == '\n' || c == '\t' ? " " : s, n);
}

static void put_terminal(FILE *out, uint32_t c, const char *s, size_t n)
{
    if (is_unprintable(c)) {
        for (size_t i = 0; i < n; i++) {
            fprintf(out, "\\x%02x", (unsigned char)s[i]);
        }
    } else {
        fwrite(s, 1, n, out);
    }
}

static void put_csv(FILE *out, uint32_t c, const char *s, size_t n)
{
    if (c == '"') {
        fputs("\"\"", out);
    } else if (is_unprintable(c)) {
        fputc(' ', out);
    } else {
        fwrite(s, 1, n, out);
    }
}

static void put_markdown(FILE *out, uint32_t c, const char *s, size_t n)
{
    if (is_unprintable(c)) {
        fputc(' ', out);
    } else if (c == '<') {
        fputs("&lt;", out);
    } else if (c == '&') {
        fputs("&amp;", out);
    } else if (c == '@') {
        fputs("&#64;", out); /* no mention of a person */
    } else {
        if (c < 0x80 && strchr("\\`*_{}[]()#+-.!|>~:$", (int)c)) {
            fputc('\\', out);
        }
        fwrite(s, 1, n, out);
    }
}

static void put_gnuplot(FILE *out, uint32_t c, const char *s, size_t n)
{
    if (c == '\'') {
        fputs("''", out);
    } else if (is_unprintable(c) || c == '`' || c == '\\') {
        fputc(' ', out);
    } else {
        fwrite(s, 1, n, out);
    }
}

void escape_html(FILE *out, const char *text)
{
    each(out, text, ESCAPE_LONG_BYTES, put_html);
}

void escape_html_whole(FILE *out, const char *text)
{
    each(out, text, SIZE_MAX, put_html);
}

void escape_html_short(FILE *out, const char *text)
{
    each(out, text, ESCAPE_SHORT_BYTES, put_html_line);
}

void escape_terminal(FILE *out, const char *text, size_t max_bytes)
{
    each(out, text, max_bytes, put_terminal);
}

void escape_csv(FILE *out, const char *text)
{
    if (!text || !*text) {
        return;
    }
    bool is_formula = strchr("=+-@\t\r", text[0]) != NULL;
    bool is_plain = !is_formula && !strpbrk(text, ",;\"\n\r\t ");
    if (!is_plain) {
        fputc('"', out);
    }
    if (is_formula) {
        fputc('\'', out);
    }
    each(out, text, ESCAPE_LONG_BYTES, put_csv);
    if (!is_plain) {
        fputc('"', out);
    }
}

void escape_markdown(FILE *out, const char *text)
{
    each(out, text, ESCAPE_LONG_BYTES, put_markdown);
}

void escape_gnuplot(FILE *out, const char *text)
{
    fputc('\'', out);
    each(out, text, ESCAPE_SHORT_BYTES, put_gnuplot);
    fputc('\'', out);
}
