/* target_harness.h - a whole target, without main, listening sockets and threads, on one end of a socketpair. */
#ifndef NFSCURVE_TESTS_TARGET_HARNESS_H
#define NFSCURVE_TESTS_TARGET_HARNESS_H

#include <stddef.h>
#include <stdint.h>

struct target_harness;

/* A fresh file system: "/export" with a directory "d" (file number 2), a file "f" of 100,000 bytes (3) and a symlink
 * "l" (4). */
struct target_harness *target_harness_create(void);
void target_harness_destroy(struct target_harness *h);

/* Gives bytes to the server as a client would, runs it until it rests, and throws its answers away. */
void target_harness_feed(struct target_harness *h, const uint8_t *data, size_t n);

#endif
