/* control_collect.h - the answers of COLLECT (loadgen_prot.x, message 9): shared memory of the processes -> XDR.
 *
 * Part of the control service, the only place of the load generator that knows XDR types.
 *
 * - Every answer stays below LG_MAX_BODY whatever was measured; `next` tells where the next question goes on.
 * - The processes must be at rest (idle, failed or dead): their tallies are plain memory.
 * - Answers are made of heap memory only: xdr_free() of the answer frees them, also after an error.
 */
#ifndef NFSCURVE_LOADGEN_CONTROL_COLLECT_H
#define NFSCURVE_LOADGEN_CONTROL_COLLECT_H

#include "loadgen_prot.h"

struct daemon;
struct tally;

/* 0, -ENOMEM, or -EINVAL while a process is at work (the message names it). `merged` is the caller's cache of the merge
 * over all processes: *merged NULL makes it be computed and kept; the caller frees it when a new phase starts. */
int control_collect(const struct daemon *d, const lg_collect *question, struct tally **merged, lg_collected *answer,
                    char *message, size_t cap);

#endif
