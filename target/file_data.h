/* file_data.h - the bytes of one file: blocks of up to 64 KiB under a tree of fan-out 256, holes cost nothing.
 *
 *   root ── block                      (files up to 64 KiB)
 *   root ── node[256] ── block ...     (up to 16 MiB; one level more for each factor of 256)
 *
 * Blocks are counted references. A READ hands out references that the connection's send queue holds until the bytes are
 * with the kernel; a WRITE into a block that somebody else holds goes to a copy, so what was read never changes on its
 * way out. References are taken under the file system's lock and may be dropped by any thread.
 *
 * Bytes of UNSTABLE writes are remembered as ranges until a COMMIT covers them, so that a restart of the "server" can
 * lose them.
 */
#ifndef NFSCURVE_TARGET_FILE_DATA_H
#define NFSCURVE_TARGET_FILE_DATA_H

#include "rpc_conn.h"

#include <stddef.h>
#include <stdint.h>

#define FILE_DATA_BLOCK_BYTES 65536u

struct file_data;

struct file_data *file_data_create(void);
void file_data_destroy(struct file_data *data);

/* 0, or -ENOMEM (what was written before the block that failed stays). *delta_bytes: change of the memory held for
 * blocks. */
int file_data_write(struct file_data *data, uint64_t offset, const uint8_t *bytes, size_t n, int64_t *delta_bytes);

/* Everything from `size` on becomes a hole. Returns the change of memory held (never positive). */
int64_t file_data_truncate(struct file_data *data, uint64_t size);

/* References to n bytes from offset, holes as zeros; each with its release. Returns the number of segments, at most 2
 * per block touched. */
unsigned file_data_read(const struct file_data *data, uint64_t offset, size_t n, struct rpc_segment *segments);

/* Memory held for blocks. */
uint64_t file_data_bytes(const struct file_data *data);

/* An UNSTABLE write of n bytes at offset was done. */
void file_data_note_unstable(struct file_data *data, uint64_t offset, uint64_t n);

/* COMMIT of n bytes at offset; n 0: to the end. */
void file_data_commit(struct file_data *data, uint64_t offset, uint64_t n);

/* What was not committed becomes zeros. Returns how many bytes were lost. */
uint64_t file_data_lose_unstable(struct file_data *data);

#endif
