#include "disclosure_ranges.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

void ranges_init(struct ranges *r)
{
    r->seen = NULL;
    r->n = 0;
}

void ranges_fini(struct ranges *r)
{
    free(r->seen);
    ranges_init(r);
}

static const char *skip_blanks(const char *s)
{
    while (*s == ' ') {
        s++;
    }
    return s;
}

static const char *parse_number(const char *s, unsigned long *v)
{
    char *end;
    if (!isdigit((unsigned char)*s)) {
        return NULL;
    }
    *v = strtoul(s, &end, 10);
    return *v >= 1 && *v <= RANGES_MAX_NUMBER ? skip_blanks(end) : NULL;
}

int ranges_add(struct ranges *r, const char *text)
{
    int status = 0;
    const char *s = skip_blanks(text);
    if (!r->seen) {
        r->seen = calloc(RANGES_MAX_NUMBER / 8 + 1, 1);
    }
    if (!r->seen) {
        return -ENOMEM;
    }
    for (;;) {
        unsigned long first, last;
        s = parse_number(s, &first);
        if (!s) {
            return -EINVAL;
        }
        last = first;
        if (*s == '-' || (s[0] == '.' && s[1] == '.')) {
            s = parse_number(skip_blanks(s + (*s == '-' ? 1 : 2)), &last);
            if (!s || last < first) {
                return -EINVAL;
            }
        }
        for (unsigned long i = first; i <= last; i++) {
            uint8_t bit = (uint8_t)(1u << (i & 7));
            if (r->seen[i / 8] & bit) {
                status = -EEXIST;
            } else {
                r->n++;
            }
            r->seen[i / 8] |= bit;
        }
        if (*s == '\0') {
            return status;
        }
        if (*s != ',') {
            return -EINVAL;
        }
        s = skip_blanks(s + 1);
    }
}
