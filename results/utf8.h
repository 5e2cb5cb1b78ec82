/* utf8.h - text from outside (servers, files, hosts) made valid UTF-8 before it is kept. */
#ifndef NFSCURVE_RESULTS_UTF8_H
#define NFSCURVE_RESULTS_UTF8_H

#include <stddef.h>

/* Copy of n bytes with every invalid sequence (RFC 3629: overlong, surrogate, beyond U+10FFFF, cut short) replaced by
 * U+FFFD, and NUL too. Heap; NULL when memory is short. *n_out (may be NULL) = bytes without the terminating NUL. */
char *utf8_repair(const char *text, size_t n, size_t *n_out);

/* Length in bytes of the valid sequence at s[0..n), or 0. */
size_t utf8_sequence(const unsigned char *s, size_t n);

#endif
