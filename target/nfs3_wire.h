/* nfs3_wire.h - between the file system's types and the wire's: handles, attributes, wcc data, what to set. */
#ifndef NFSCURVE_TARGET_NFS3_WIRE_H
#define NFSCURVE_TARGET_NFS3_WIRE_H

#include "fs_types.h"
#include "memory_fs.h"
#include "nfs3_prot.h"

#define NFS3_WIRE_HANDLE_BYTES 20u

/* Handles name the instance of the server that gave them: one from before a restart is stale, not another file. */
void nfs3_wire_put_handle(struct fs_handle handle, uint64_t instance, uint8_t out[static NFS3_WIRE_HANDLE_BYTES]);

/* FS_OK, FS_BADHANDLE (not one of ours) or FS_STALE (of another instance). */
enum fs_status nfs3_wire_get_handle(const nfs_fh3 *fh, uint64_t instance, struct fs_handle *handle);

void nfs3_wire_attributes(const struct fs_attributes *in, uint64_t fsid, fattr3 *out);
void nfs3_wire_wcc(const struct fs_wcc *in, uint64_t fsid, wcc_data *out);

/* FS_OK, or FS_INVAL for times that are none. */
enum fs_status nfs3_wire_get_set(const sattr3 *in, struct fs_set *out);

struct fs_name nfs3_wire_name(const filename3 *in);

uint64_t nfs3_wire_get_verifier(const char verifier[static NFS3_WRITEVERFSIZE]);
void nfs3_wire_put_verifier(uint64_t verifier, char out[static NFS3_WRITEVERFSIZE]);

#endif
