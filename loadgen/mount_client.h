/* mount_client.h - from "server:/export" to a root file handle: MOUNT version 3 (RFC 1813 appendix I) over TCP.
 *
 *   [portmapper: NFS port] ─> [portmapper: MOUNT port] ─> connect ─> MNT ─> root handle
 *
 * libnfs's own mount writes out of bounds on a hostile list of flavors (library facts); this one is bounded.
 */
#ifndef NFSCURVE_LOADGEN_MOUNT_CLIENT_H
#define NFSCURVE_LOADGEN_MOUNT_CLIENT_H

#include "nfs3_client.h"
#include "rpc_connect.h"
#include "rpc_msg.h"

#include <stddef.h>

struct mount_client;

struct mount_options {
    struct rpc_connect_options connect; /* its port is not used */
    struct rpc_auth_sys auth;
    const char *export_path;
    uint16_t nfs_port, mount_port; /* 0: ask the portmapper */
    uint16_t portmap_port;         /* 0: 111 */
};

/* Once, from the loop: error 0 with the root handle and the port of NFS, or a negative errno with a message that names
 * server, export and remedy. The mount_client is gone when this runs. */
typedef void (*mount_cb)(int error, const char *message, const struct nfs3_fh *root, uint16_t nfs_port, void *arg);

/* Copies the options. NULL when memory is short. */
struct mount_client *mount_client_start(struct event_base *base, const struct mount_options *options, mount_cb on_done,
                                        void *arg);

/* on_done will not run. */
void mount_client_cancel(struct mount_client *m);

/* UMNT, so that the server's list of mounts does not grow from run to run: nobody depends on it (RFC 1813
 * section 5.2.3). In a loop of its own that turns for within_ns at most. 0 when the server answered, else -errno. */
int mount_client_unmount(const struct mount_options *options, int64_t within_ns);

/* Decodes MNT's result. 0 and the handle; a positive mountstat3; -EPROTO when it does not decode; -EPROTONOSUPPORT when
 * the server takes neither AUTH_SYS nor AUTH_NONE there. */
int mount_decode_mnt(const uint8_t *results, size_t bytes, struct nfs3_fh *root);

#endif
