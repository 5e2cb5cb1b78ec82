/* text.h - strings on the heap, for the prime's messages and file names. */
#ifndef NFSCURVE_PRIME_TEXT_H
#define NFSCURVE_PRIME_TEXT_H

/* printf into new memory; NULL when memory is short. */
char *text_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
