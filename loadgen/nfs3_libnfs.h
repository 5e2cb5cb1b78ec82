/* nfs3_libnfs.h - between the two halves of the libnfs engine; the only header that lets libnfs's types be seen.
 *
 * Compiles against libnfs 4 and 5 (rpc_nfs3_*_async) and, by its version macro, 6 and later (rpc_nfs3_*_task).
 */
#ifndef NFSCURVE_LOADGEN_NFS3_LIBNFS_H
#define NFSCURVE_LOADGEN_NFS3_LIBNFS_H

#include "nfs3_decode.h"

#include <sys/time.h> /* libnfs.h uses struct timeval and struct iovec without them */
#include <sys/uio.h>

#include <nfsc/libnfs.h>

#include <nfsc/libnfs-raw.h>

#include <nfsc/libnfs-raw-nfs.h>

/* Queues the call in libnfs. `buffer` (of count bytes) receives READ data where libnfs wants one (version 6), else it
 * is NULL. 0 or -ENOMEM. */
int nfs3_libnfs_submit(struct rpc_context *rpc, rpc_cb cb, struct nfs3_call *call, void *buffer, void *private_data);

/* libnfs's decoded result as a reply, with the checks that libnfs does not make. Never fails: what is out of bounds is
 * NFS3_CALL_MALFORMED. */
void nfs3_libnfs_reply(struct nfs3_decoder *d, const struct nfs3_call *call, const void *res, const void *buffer,
                       struct nfs3_reply *reply);

#endif
