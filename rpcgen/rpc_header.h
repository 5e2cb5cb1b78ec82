/* rpc_header.h - the RPC header of a call, decoded within bounds, and the answers that need no program.
 *
 * Decoded by hand, since every call passes here; what is wrong with a call is told apart, because RFC 5531 section 9
 * wants different answers.
 */
#ifndef NFSCURVE_RPCGEN_RPC_HEADER_H
#define NFSCURVE_RPCGEN_RPC_HEADER_H

#include "rpc_server.h"

enum rpc_header_verdict {
    RPC_HEADER_OK,
    RPC_HEADER_MISMATCH, /* not RPC version 2: answer RPC_MISMATCH */
    RPC_HEADER_BAD_CRED, /* answer AUTH_ERROR, *why */
    RPC_HEADER_GARBAGE   /* no call at all: nothing to answer, close */
};

/* Fills xid, prog, vers, proc, credential, args and args_bytes of *call (xid in every case but GARBAGE). */
enum rpc_header_verdict rpc_header_decode(struct rpc_call *call, uint8_t *record, size_t bytes, enum auth_stat *why);

/* Each appends one answer header; false when it does not fit. */
bool rpc_header_put_success(XDR *xdrs, uint32_t xid);
bool rpc_header_put_fail(XDR *xdrs, uint32_t xid, enum accept_stat stat, uint32_t low_vers, uint32_t high_vers);
bool rpc_header_put_rpc_mismatch(XDR *xdrs, uint32_t xid);
bool rpc_header_put_auth_error(XDR *xdrs, uint32_t xid, enum auth_stat why);

#endif
