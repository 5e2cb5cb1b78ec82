/* rpc_msg.h - ONC RPC call and reply headers (RFC 5531 section 9), encoded and decoded with bounds.
 *
 *   call:   xid, CALL, rpcvers 2, program, version, procedure, credential, verifier, arguments...
 *   reply:  xid, REPLY, MSG_ACCEPTED, verifier, accept_stat, results...   |   xid, REPLY, MSG_DENIED, ...
 */
#ifndef NFSCURVE_RPCGEN_RPC_MSG_H
#define NFSCURVE_RPCGEN_RPC_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPC_MSG_MACHINE_NAME_MAX 255 /* RFC 5531 appendix A */
#define RPC_MSG_GIDS_MAX         16
#define RPC_MSG_AUTH_MAX         400 /* bytes of a credential or verifier body */
#define RPC_MSG_CALL_HEADER_MAX  (24 + 8 + RPC_MSG_AUTH_MAX + 8)

struct rpc_auth_sys {
    const char *machine_name; /* longer than 255 bytes is cut */
    uint32_t uid, gid;
    uint32_t n_gids; /* <= 16 */
    uint32_t gids[RPC_MSG_GIDS_MAX];
};

/* Writes a call header with AUTH_SYS (auth != NULL) or AUTH_NONE into out[RPC_MSG_CALL_HEADER_MAX]; returns its length.
 * The xid is the first word and the procedure the sixth, so that a header can be kept as a template. */
size_t rpc_msg_call_header(uint8_t *out, uint32_t xid, uint32_t program, uint32_t version, uint32_t procedure,
                           const struct rpc_auth_sys *auth);

#define RPC_MSG_PROCEDURE_AT 20 /* offset of the procedure in a call header */

enum rpc_reply_kind {
    RPC_REPLY_SUCCESS,   /* results follow */
    RPC_REPLY_REFUSED,   /* the server's RPC layer refused the call: accept_stat, auth_stat or versions say how */
    RPC_REPLY_NOT_REPLY, /* a call, or shorter than a reply header */
    RPC_REPLY_MALFORMED
};

struct rpc_reply_header {
    uint32_t xid; /* valid unless has_xid is false */
    bool has_xid;
    enum rpc_reply_kind kind;
    bool is_denied;         /* REFUSED: MSG_DENIED, else accept_stat */
    uint32_t stat;          /* REFUSED: accept_stat, or reject_stat when denied */
    uint32_t auth_stat;     /* denied with AUTH_ERROR */
    uint32_t low, high;     /* PROG_MISMATCH, RPC_MISMATCH: versions the server knows */
    const uint8_t *results; /* SUCCESS: into the record */
    size_t results_bytes;
};

void rpc_msg_parse_reply(const uint8_t *record, size_t bytes, struct rpc_reply_header *out);

/* The reason of a refused reply in words, e.g. "program unavailable (PROG_UNAVAIL)". Returns out. */
char *rpc_msg_refusal(const struct rpc_reply_header *reply, char *out, size_t cap);

#endif
