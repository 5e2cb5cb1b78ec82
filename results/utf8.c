#include "utf8.h"

#include <stdlib.h>
#include <string.h>

static int is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

size_t utf8_sequence(const unsigned char *s, size_t n)
{
    if (n == 0) {
        return 0;
    }
    if (s[0] < 0x80) {
        return 1;
    }
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        return n >= 2 && is_continuation(s[1]) ? 2 : 0;
    }
    if (s[0] >= 0xe0 && s[0] <= 0xef) {
        if (n < 3 || !is_continuation(s[1]) || !is_continuation(s[2])) {
            return 0;
        }
        if (s[0] == 0xe0 && s[1] < 0xa0) { /* overlong */
            return 0;
        }
        if (s[0] == 0xed && s[1] > 0x9f) { /* UTF-16 surrogate */
            return 0;
        }
        return 3;
    }
    if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        if (n < 4 || !is_continuation(s[1]) || !is_continuation(s[2]) || !is_continuation(s[3])) {
            return 0;
        }
        if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) {
            return 0;
        }
        return 4;
    }
    return 0;
}

char *utf8_repair(const char *text, size_t n, size_t *n_out)
{
    char *out = malloc(3 * n + 1); /* U+FFFD is three bytes */
    if (!out) {
        return NULL;
    }
    size_t o = 0;
    for (size_t i = 0; i < n;) {
        size_t step = utf8_sequence((const unsigned char *)text + i, n - i);
        if (step == 0 || text[i] == '\0') {
            memcpy(out + o, "\xef\xbf\xbd", 3);
            o += 3;
            i++;
        } else {
            memcpy(out + o, text + i, step);
            o += step;
            i += step;
        }
    }
    out[o] = '\0';
    if (n_out) {
        *n_out = o;
    }
    return out;
}
