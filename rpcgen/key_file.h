/* key_file.h - the shared key of a laboratory: 32 random bytes in a file that only its owner can read.
 *
 * The file holds one line of 64 hexadecimal digits. The same file is given to the prime and to every load generator.
 */
#ifndef NFSCURVE_RPCGEN_KEY_FILE_H
#define NFSCURVE_RPCGEN_KEY_FILE_H

#include "seal.h"

#include <stddef.h>
#include <stdint.h>

/* 0 or -errno with a message naming the file and the remedy. A file that group or others may read or write, or that
 * belongs to somebody else, is refused. */
int key_file_load(const char *path, uint8_t key[SEAL_KEY_BYTES], char *message, size_t cap);

/* Writes a new key with mode 0600; an existing file is never overwritten (-EEXIST). */
int key_file_generate(const char *path, char *message, size_t cap);

#endif
