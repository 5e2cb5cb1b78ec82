/* control_service.h - the load generator's side of the control protocol (loadgen_prot.x): authenticate, decode,
 * dispatch, answer.
 *
 *   rpc_server ── HELLO ──> session (nonces, key)
 *              ── SEALED ─> seal ─> sequence ─> decode ─> control_steps (lease, table) ─> daemon
 *                           `──────── one choke point: serve_sealed() ────────´
 *
 * XDR types stop here, in control_steps.c and in control_collect.c, which makes the answers of COLLECT.
 *
 * - Nothing but HELLO and NULL is answered to who has not proved the key. A connection that proves nothing for 5 s is
 * closed, and when too many wait the oldest goes first, so that strangers can't lock the prime out.
 * - A call that fails the seal is logged, told so, and its connection closed.
 */
#ifndef NFSCURVE_LOADGEN_CONTROL_SERVICE_H
#define NFSCURVE_LOADGEN_CONTROL_SERVICE_H

#include <stddef.h>
#include <stdint.h>

struct control_service;
struct daemon;
struct event_base;

/* key: 32 bytes, copied; NULL: the public key. daemon is borrowed. NULL when memory is short. */
struct control_service *control_service_create(struct event_base *base, struct daemon *daemon, const uint8_t *key);
void control_service_destroy(struct control_service *v);

/* Port 0 picks a free one. 0 or -errno with the reason in message. */
int control_service_listen(struct control_service *v, const char *address, uint16_t port, uint16_t *bound_port,
                           char *message, size_t cap);

#endif
