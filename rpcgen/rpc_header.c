#include "rpc_header.h"

#include <string.h>

#define NOBODY           65534u
#define HEADER_WORDS     6u   /* xid, direction, RPC version, program, version, procedure */
#define MACHINE_NAME_MAX 255u /* RFC 5531 appendix A */

static uint32_t word_at(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* RFC 5531 appendix A: stamp, machinename<255>, uid, gid, gids<16>. */
static bool decode_auth_sys(struct rpc_credential *credential, const uint8_t *body, size_t bytes)
{
    if (bytes < 8) {
        return false;
    }
    uint32_t name_bytes = word_at(body + 4);
    if (name_bytes > MACHINE_NAME_MAX) {
        return false;
    }
    size_t at = 8 + ((name_bytes + 3u) & ~3u);
    if (bytes < at + 12) {
        return false;
    }
    uint32_t n = word_at(body + at + 8);
    if (n > RPC_MAX_GIDS || bytes < at + 12 + 4 * (size_t)n) {
        return false;
    }
    credential->uid = word_at(body + at);
    credential->gid = word_at(body + at + 4);
    credential->n_gids = n;
    for (uint32_t i = 0; i < n; i++) {
        credential->gids[i] = word_at(body + at + 12 + 4 * (size_t)i);
    }
    return true;
}

enum rpc_header_verdict rpc_header_decode(struct rpc_call *call, uint8_t *record, size_t bytes, enum auth_stat *why)
{
    *why = AUTH_OK;
    if (bytes < 4 * HEADER_WORDS || word_at(record + 4) != CALL) {
        return RPC_HEADER_GARBAGE;
    }
    call->xid = word_at(record);
    if (word_at(record + 8) != RPC_MSG_VERSION) {
        return RPC_HEADER_MISMATCH;
    }

    char credential_body[MAX_AUTH_BYTES], verifier_body[MAX_AUTH_BYTES];
    struct rpc_msg message;
    memset(&message, 0, sizeof message);
    message.rm_call.cb_cred.oa_base = credential_body;
    message.rm_call.cb_verf.oa_base = verifier_body;
    XDR xdrs;
    xdrmem_create(&xdrs, (char *)record, (u_int)bytes, XDR_DECODE);
    if (!xdr_callmsg(&xdrs, &message)) {
        *why = AUTH_BADCRED;
        return RPC_HEADER_BAD_CRED;
    }
    call->prog = (uint32_t)message.rm_call.cb_prog;
    call->vers = (uint32_t)message.rm_call.cb_vers;
    call->proc = (uint32_t)message.rm_call.cb_proc;
    call->args = record + xdr_getpos(&xdrs);
    call->args_bytes = bytes - xdr_getpos(&xdrs);

    const struct opaque_auth *cred = &message.rm_call.cb_cred;
    call->credential = (struct rpc_credential){.flavor = (uint32_t)cred->oa_flavor, .uid = NOBODY, .gid = NOBODY};
    if (cred->oa_flavor == AUTH_NONE) {
        return RPC_HEADER_OK;
    }
    if (cred->oa_flavor != AUTH_SYS) {
        *why = AUTH_REJECTEDCRED;
        return RPC_HEADER_BAD_CRED;
    }
    if (!decode_auth_sys(&call->credential, (const uint8_t *)cred->oa_base, cred->oa_length)) {
        *why = AUTH_BADCRED;
        return RPC_HEADER_BAD_CRED;
    }
    return RPC_HEADER_OK;
}

bool rpc_header_put_success(XDR *xdrs, uint32_t xid)
{
    /* Six words, the same for every good answer but for the xid: not worth a struct rpc_msg on the fast path. */
    uint32_t words[6] = {xid, REPLY, MSG_ACCEPTED, AUTH_NONE, 0, SUCCESS};
    for (int i = 0; i < 6; i++) {
        if (!xdr_uint32_t(xdrs, &words[i])) {
            return false;
        }
    }
    return true;
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
