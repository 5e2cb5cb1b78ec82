/* synth_data.h - bytes made from (file, offset): terabytes that cost no memory.
 *
 * Byte o of file f is byte (o + phase(f)) mod 4194301 of one table of random bytes, the same in every run and on every
 * machine. The period is prime, so that a block that is read from a wrong place or a wrong file is not the same by
 * accident. Served by reference to the table.
 */
#ifndef NFSCURVE_TARGET_SYNTH_DATA_H
#define NFSCURVE_TARGET_SYNTH_DATA_H

#include <stddef.h>
#include <stdint.h>

struct synth_data;

struct synth_data *synth_data_create(void);
void synth_data_destroy(struct synth_data *synth);

/* n (at most 1 MiB) bytes from offset of the file; valid as long as the table lives. */
const uint8_t *synth_data_at(const struct synth_data *synth, uint32_t fileid, uint64_t offset);

#endif
