#include "rpc_header.h"
#include "xdr_cursor.h"

#include <string.h>

#define NOBODY           65534u
#define HEADER_WORDS     6u   /* xid, direction, RPC version, program, version, procedure */
#define MACHINE_NAME_MAX 255u /* RFC 5531 appendix A */

/* RFC 5531 appendix A: stamp, machinename<255>, uid, gid, gids<16>. */
static bool decode_auth_sys(struct rpc_credential *credential, const uint8_t *body, size_t bytes)
{
    if (bytes < 8) {
        return false;
    }
    uint32_t name_bytes = xdr_load_u32(body + 4);
    if (name_bytes > MACHINE_NAME_MAX) {
        return false;
    }
    size_t at = 8 + ((name_bytes + 3u) & ~3u);
    if (bytes < at + 12) {
        return false;
    }
    uint32_t n = xdr_load_u32(body + at + 8);
    if (n > RPC_MAX_GIDS || bytes < at + 12 + 4 * (size_t)n) {
        return false;
    }
    credential->uid = xdr_load_u32(body + at);
    credential->gid = xdr_load_u32(body + at + 4);
    credential->n_gids = n;
    for (uint32_t i = 0; i < n; i++) {
        credential->gids[i] = xdr_load_u32(body + at + 12 + 4 * (size_t)i);
    }
    return true;
}

enum rpc_header_verdict rpc_header_decode(struct rpc_call *call, uint8_t *record, size_t bytes, enum auth_stat *why)
{
    *why = AUTH_OK;
    if (bytes < 4 * HEADER_WORDS || xdr_load_u32(record + 4) != CALL) {
        return RPC_HEADER_GARBAGE;
    }
    call->xid = xdr_load_u32(record);
    if (xdr_load_u32(record + 8) != RPC_MSG_VERSION) {
        return RPC_HEADER_MISMATCH;
    }

    struct xdr_reader r = xdr_reader_of(record + 12, bytes - 12);
    call->prog = xdr_get_u32(&r);
    call->vers = xdr_get_u32(&r);
    call->proc = xdr_get_u32(&r);
    uint32_t flavor = xdr_get_u32(&r), credential_bytes, verifier_bytes;
    const uint8_t *credential = xdr_get_opaque(&r, MAX_AUTH_BYTES, &credential_bytes);
    xdr_get_u32(&r); /* the verifier's flavor: there is nothing to verify */
    xdr_get_opaque(&r, MAX_AUTH_BYTES, &verifier_bytes);
    if (r.is_bad) {
        *why = AUTH_BADCRED;
        return RPC_HEADER_BAD_CRED;
    }
    call->args = r.at;
    call->args_bytes = xdr_left(&r);
    call->credential = (struct rpc_credential){.flavor = flavor, .uid = NOBODY, .gid = NOBODY};
    if (flavor == AUTH_NONE) {
        return RPC_HEADER_OK;
    }
    if (flavor != AUTH_SYS) {
        *why = AUTH_REJECTEDCRED;
        return RPC_HEADER_BAD_CRED;
    }
    if (!decode_auth_sys(&call->credential, credential, credential_bytes)) {
        *why = AUTH_BADCRED;
        return RPC_HEADER_BAD_CRED;
    }
    return RPC_HEADER_OK;
}

bool rpc_header_put_success(XDR *xdrs, uint32_t xid)
{
    /* The same for every good answer but for the xid: not worth a struct rpc_msg on the fast path. */
    const uint32_t words[6] = {htobe32(xid),    htobe32(REPLY), htobe32(MSG_ACCEPTED), htobe32(AUTH_NONE), 0,
                               htobe32(SUCCESS)};
    return xdr_opaque(xdrs, (char *)(uintptr_t)words, sizeof words);
}

bool rpc_header_put_fail(XDR *xdrs, uint32_t xid, enum accept_stat stat, uint32_t low_vers, uint32_t high_vers)
{
    struct rpc_msg message;
    memset(&message, 0, sizeof message);
    message.rm_xid = xid;
    message.rm_direction = REPLY;
    message.rm_reply.rp_stat = MSG_ACCEPTED;
    message.acpted_rply.ar_stat = stat;
    message.acpted_rply.ar_vers.low = low_vers;
    message.acpted_rply.ar_vers.high = high_vers;
    return xdr_replymsg(xdrs, &message);
}

static bool put_denied(XDR *xdrs, uint32_t xid, const struct rejected_reply *rejected)
{
    struct rpc_msg message;
    memset(&message, 0, sizeof message);
    message.rm_xid = xid;
    message.rm_direction = REPLY;
    message.rm_reply.rp_stat = MSG_DENIED;
    message.rjcted_rply = *rejected;
    return xdr_replymsg(xdrs, &message);
}

bool rpc_header_put_rpc_mismatch(XDR *xdrs, uint32_t xid)
{
    struct rejected_reply rejected = {.rj_stat = RPC_MISMATCH};
    rejected.rj_vers.low = rejected.rj_vers.high = RPC_MSG_VERSION;
    return put_denied(xdrs, xid, &rejected);
}

bool rpc_header_put_auth_error(XDR *xdrs, uint32_t xid, enum auth_stat why)
{
    struct rejected_reply rejected = {.rj_stat = AUTH_ERROR};
    rejected.rj_why = why;
    return put_denied(xdrs, xid, &rejected);
}
