/* control_answer.h - answers of a load generator: from XDR into neutral types, with every index checked.
 *
 * Part of control_client, the only place of the prime that knows XDR types.
 */
#ifndef NFSCURVE_PRIME_CONTROL_ANSWER_H
#define NFSCURVE_PRIME_CONTROL_ANSWER_H

#include "control_client.h"
#include "loadgen_prot.h"

/* Where the answer of a COLLECT is added to; what its call does not need is NULL. */
struct control_sink {
    struct tally *tally;
    control_cell_fn cell;
    void *cell_arg;
};

/* Fills `answer`, which points into `from` and into *scratch (the caller frees it). 0, -EPROTO for what can't be,
 * -ENOMEM. */
int control_answer_take(const lg_answer *from, const struct control_sink *sink, struct control_answer *answer,
                        void **scratch);

#endif
