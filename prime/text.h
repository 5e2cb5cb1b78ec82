/* text.h - strings on the heap, for the prime's messages and file names. */
#ifndef NFSCURVE_PRIME_TEXT_H
#define NFSCURVE_PRIME_TEXT_H

/* printf into new memory; NULL when memory is short. */
char *text_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "1.23 ms" with so many decimals, or "no response time" for what is not finite: a point without a good op. Returns
 * out. */
#define TEXT_MS_BYTES 64
char *text_ms(char out[TEXT_MS_BYTES], double ms, int decimals);

#endif
