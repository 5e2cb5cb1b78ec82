/* text.c - see text.h. */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

char *text_format(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return n < 0 ? NULL : text;
}

char *text_ms(char out[TEXT_MS_BYTES], double ms, int decimals)
{
    if (isfinite(ms)) {
        snprintf(out, TEXT_MS_BYTES, "%.*f ms", decimals, ms);
    } else {
        snprintf(out, TEXT_MS_BYTES, "no response time");
    }
    return out;
}
