#include "synth_data.h"
#include "fs_types.h"
#include "rng.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD 4194301u /* the greatest prime below 4 MiB */
#define SEED   0x6e667363u

struct synth_data {
    uint8_t table[PERIOD + FS_MAX_TRANSFER];
};

struct synth_data *synth_data_create(void)
{
    struct synth_data *synth = malloc(sizeof *synth);
    if (!synth) {
        return NULL;
    }
    struct rng rng;
    rng_seed(&rng, SEED, 0);
    for (size_t i = 0; i < PERIOD; i += 8) {
        uint64_t word = rng_u64(&rng);
        memcpy(synth->table + i, &word, PERIOD - i < 8 ? PERIOD - i : 8);
    }
    memcpy(synth->table + PERIOD, synth->table, FS_MAX_TRANSFER);
    return synth;
}

void synth_data_destroy(struct synth_data *synth)
{
    free(synth);
}

const uint8_t *synth_data_at(const struct synth_data *synth, uint32_t fileid, uint64_t offset)
{
    uint64_t phase = fileid * UINT64_C(2654435761) % PERIOD;
    return synth->table + (offset % PERIOD + phase) % PERIOD;
}
