/* text.c - see text.h. */
#include "text.h"

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
