/* control_steps.h - what the sealed calls of loadgen_prot.x ask for, one function a step, from a flat table.
 *
 * Part of the control service, the only place of the load generator that knows XDR types. The caller has made sure that
 * the call is genuine; the lease is checked here, where the table says that the step needs it.
 */
#ifndef NFSCURVE_LOADGEN_CONTROL_STEPS_H
#define NFSCURVE_LOADGEN_CONTROL_STEPS_H

#include "clock.h"
#include "host_facts.h"
#include "loadgen_prot.h"

#include <stddef.h>
#include <stdint.h>

struct daemon;
struct tally;

struct control_steps {
    struct daemon *daemon; /* (ref) */
    struct host_facts facts;
    struct tally *merged; /* of the last load, while it is collected */
};

void control_steps_init(struct control_steps *s, struct daemon *daemon);
void control_steps_fini(struct control_steps *s);

/* Serves one decoded call of `session`, read at `at`. Fills the answer, which the caller frees with xdr_free whatever
 * comes of it, or returns an errno of daemon.h with the reason in message. */
int control_steps_serve(struct control_steps *s, uint64_t session, mono_t at, const lg_request *request,
                        lg_answer *answer, char *message, size_t cap);

/* "CONFIGURE" */
const char *control_steps_name(lg_step step);

#endif
