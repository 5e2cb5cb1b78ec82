/* nfs3_decode.h - results of the 22 NFSv3 procedures from XDR (RFC 1813 section 3), every length checked.
 *
 *   results in the record ──> struct nfs3_reply, pointing into the record (data, names) and into struct nfs3_decoder
 * (the rest)
 *
 * A reply decodes only when it is exactly as long as it says, with data and counts within what the call asked for,
 * handles of at most 64 bytes, names of 1 to 255, symlink texts of at most 1024, known file types, and bools that are 0
 * or 1.
 */
#ifndef NFSCURVE_LOADGEN_NFS3_DECODE_H
#define NFSCURVE_LOADGEN_NFS3_DECODE_H

#include "nfs3_client.h"

#include <stddef.h>

/* Room for what a reply points to; one per event loop, used for one reply at a time. */
struct nfs3_decoder {
    struct nfs3_attributes attributes, dir_attributes;
    struct nfs3_fh fh;
    /* directory entries; grow with the largest reply seen, at most one per 24 bytes of a record */
    struct nfs3_dir_entry *entries;
    struct nfs3_attributes *entry_attributes;
    struct nfs3_fh *entry_fhs;
    uint32_t entries_capacity;
};

void nfs3_decoder_init(struct nfs3_decoder *d);
void nfs3_decoder_fini(struct nfs3_decoder *d);

/* For the engine that decodes elsewhere: room for n entries (false: out of memory), which may move those before; and,
 * once all n are there, every attributes and fh that is not NULL is set to its place. */
bool nfs3_decoder_reserve(struct nfs3_decoder *d, uint32_t n);
void nfs3_decoder_fix(struct nfs3_decoder *d, uint32_t n);

/* Decodes results[bytes] as the reply to `call`. Sets result to NFS3_CALL_OK or NFS3_CALL_MALFORMED with a message, and
 * everything else of *reply. */
void nfs3_decode_results(struct nfs3_decoder *d, const struct nfs3_call *call, const uint8_t *results, size_t bytes,
                         struct nfs3_reply *reply);

#endif
