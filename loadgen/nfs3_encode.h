/* nfs3_encode.h - arguments of the 22 NFSv3 procedures as XDR (RFC 1813 section 3), by hand.
 *
 * Generated XDR costs a call through a pointer per word; here a GETATTR is one length, one copy (bench/ops shows the
 * difference). WRITE data is not encoded: nfs3_encode_args ends behind its length, and the caller sends data and
 * padding by reference.
 */
#ifndef NFSCURVE_LOADGEN_NFS3_ENCODE_H
#define NFSCURVE_LOADGEN_NFS3_ENCODE_H

#include "nfs3_client.h"

#include <stddef.h>

#define NFS3_PROGRAM  100003
#define NFS3_VERSION  3
#define NFS3_ARGS_MAX 1536 /* longest: SYMLINK = 68 handle + 260 name + 60 attributes + 1028 path */

/* 0, or -EINVAL when an argument is missing or outside the bounds of nfs3_client.h. */
int nfs3_call_check(const struct nfs3_call *call);

/* Writes the arguments of a call that nfs3_call_check accepted into out[NFS3_ARGS_MAX]; returns their length, of WRITE
 * without the data. */
size_t nfs3_encode_args(const struct nfs3_call *call, uint8_t *out);

#endif
