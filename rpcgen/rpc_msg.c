/* rpc_msg.c - see rpc_msg.h. */
#include "rpc_msg.h"

#include "xdr_cursor.h"

#include <assert.h>
#include <stdio.h>

enum { RPC_CALL_MSG = 0, RPC_REPLY_MSG = 1 };
enum { AUTH_FLAVOR_NONE = 0, AUTH_FLAVOR_SYS = 1 };
enum { REJECT_RPC_MISMATCH = 0, REJECT_AUTH_ERROR = 1 };
enum { ACCEPT_SUCCESS = 0, ACCEPT_PROG_MISMATCH = 2 };

size_t rpc_msg_call_header(uint8_t *out, uint32_t xid, uint32_t program, uint32_t version, uint32_t procedure,
                           const struct rpc_auth_sys *auth)
{
    struct xdr_writer w = xdr_writer_of(out, RPC_MSG_CALL_HEADER_MAX);
    xdr_put_u32(&w, xid);
    xdr_put_u32(&w, RPC_CALL_MSG);
    xdr_put_u32(&w, 2);
    xdr_put_u32(&w, program);
    xdr_put_u32(&w, version);
    xdr_put_u32(&w, procedure);
    if (auth) {
        assert(auth->n_gids <= RPC_MSG_GIDS_MAX);
        uint32_t name_len = (uint32_t)strnlen(auth->machine_name, RPC_MSG_MACHINE_NAME_MAX);
        xdr_put_u32(&w, AUTH_FLAVOR_SYS);
        xdr_put_u32(&w, (uint32_t)(4 + 4 + xdr_padded(name_len) + 4 + 4 + 4 + 4 * auth->n_gids));
        xdr_put_u32(&w, 0); /* stamp: any value (RFC 5531 appendix A); constant, so that runs repeat byte for byte */
        xdr_put_opaque(&w, auth->machine_name, name_len);
        xdr_put_u32(&w, auth->uid);
        xdr_put_u32(&w, auth->gid);
        xdr_put_u32(&w, auth->n_gids);
        for (uint32_t i = 0; i < auth->n_gids; i++)
            xdr_put_u32(&w, auth->gids[i]);
    } else {
        xdr_put_u32(&w, AUTH_FLAVOR_NONE);
        xdr_put_u32(&w, 0);
    }
    xdr_put_u32(&w, AUTH_FLAVOR_NONE); /* verifier */
    xdr_put_u32(&w, 0);
    assert(!w.is_bad);
    return (size_t)(w.at - out);
}

static enum rpc_reply_kind parse_denied(struct xdr_reader *r, struct rpc_reply_header *out)
{
    out->is_denied = true;
    out->stat = xdr_get_u32(r);
    if (out->stat == REJECT_RPC_MISMATCH) {
        out->low = xdr_get_u32(r);
        out->high = xdr_get_u32(r);
    } else if (out->stat == REJECT_AUTH_ERROR) {
        out->auth_stat = xdr_get_u32(r);
    } else {
        return RPC_REPLY_MALFORMED;
    }
    return r->is_bad ? RPC_REPLY_MALFORMED : RPC_REPLY_REFUSED;
}

static enum rpc_reply_kind parse_accepted(struct xdr_reader *r, struct rpc_reply_header *out)
{
    uint32_t len;
    xdr_get_u32(r); /* flavor of the verifier: nothing to check with AUTH_NONE and AUTH_SYS */
    xdr_get_opaque(r, RPC_MSG_AUTH_MAX, &len);
    out->stat = xdr_get_u32(r);
    if (r->is_bad)
        return RPC_REPLY_MALFORMED;
    if (out->stat == ACCEPT_SUCCESS) {
        out->results = r->at;
        out->results_bytes = xdr_left(r);
        return RPC_REPLY_SUCCESS;
    }
    if (out->stat == ACCEPT_PROG_MISMATCH) {
        out->low = xdr_get_u32(r);
        out->high = xdr_get_u32(r);
    }
    return r->is_bad || out->stat > 5 ? RPC_REPLY_MALFORMED : RPC_REPLY_REFUSED;
}

void rpc_msg_parse_reply(const uint8_t *record, size_t bytes, struct rpc_reply_header *out)
{
    struct xdr_reader r = xdr_reader_of(record, bytes);
    *out = (struct rpc_reply_header){.kind = RPC_REPLY_NOT_REPLY};
    out->xid = xdr_get_u32(&r);
    out->has_xid = !r.is_bad;
    if (xdr_get_u32(&r) != RPC_REPLY_MSG || r.is_bad)
        return;
    uint32_t reply_stat = xdr_get_u32(&r);
    if (r.is_bad || reply_stat > 1)
        out->kind = RPC_REPLY_MALFORMED;
    else
        out->kind = reply_stat == 1 ? parse_denied(&r, out) : parse_accepted(&r, out);
}

char *rpc_msg_refusal(const struct rpc_reply_header *reply, char *out, size_t cap)
{
    static const char *const accept_words[] = {
        "success",
        "program unavailable (PROG_UNAVAIL)",
        "program version not offered (PROG_MISMATCH)",
        "procedure unavailable (PROC_UNAVAIL)",
        "arguments not understood by the server (GARBAGE_ARGS)",
        "server's system error (SYSTEM_ERR)",
    };
    static const char *const auth_words[] = {
        "no reason given",
        "bad credential (AUTH_BADCRED)",
        "credential rejected (AUTH_REJECTEDCRED)",
        "bad verifier (AUTH_BADVERF)",
        "verifier rejected (AUTH_REJECTEDVERF)",
        "credential too weak (AUTH_TOOWEAK)",
    };
    if (reply->is_denied && reply->stat == REJECT_AUTH_ERROR) {
        bool is_known = reply->auth_stat < sizeof auth_words / sizeof auth_words[0];
        snprintf(out, cap, "authentication refused: %s, auth_stat %u",
                 is_known ? auth_words[reply->auth_stat] : "unknown reason", reply->auth_stat);
    } else if (reply->is_denied) {
        snprintf(out, cap, "RPC version 2 not offered, only %u to %u (RPC_MISMATCH)", reply->low, reply->high);
    } else if (reply->stat == ACCEPT_PROG_MISMATCH) {
        snprintf(out, cap, "%s, only %u to %u", accept_words[2], reply->low, reply->high);
    } else {
        snprintf(out, cap, "%s", reply->stat <= 5 ? accept_words[reply->stat] : "unknown accept_stat");
    }
    return out;
}
