/* hostile_replies.h - what a broken or malicious NFSv3 server may send: valid replies, spoiled in structured ways.
 *
 *   call record ──hostile_answer(rng)──> bytes for the stream (record marks included), or an order to hang up
 */
#ifndef NFSCURVE_TESTS_HOSTILE_REPLIES_H
#define NFSCURVE_TESTS_HOSTILE_REPLIES_H

#include "rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hostile_end { HOSTILE_GO_ON, HOSTILE_CLOSE, HOSTILE_RESET };

/* Bytes to be sent on one connection; grows as needed. */
struct hostile_stream {
    uint8_t *data;
    size_t bytes, capacity;
    /* replies kept back, to be sent later out of order */
    struct {
        uint8_t *data;
        size_t bytes;
    } held[16];
    unsigned n_held;
};

void hostile_stream_fini(struct hostile_stream *s);

/* Appends what to send for one call record. `spoil_percent` of all answers are not what they should be. */
enum hostile_end hostile_answer(struct hostile_stream *s, struct rng *rng, unsigned spoil_percent, const uint8_t *call,
                                size_t bytes);

#endif
