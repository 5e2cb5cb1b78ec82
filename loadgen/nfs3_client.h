/* nfs3_client.h - how a process reaches an NFSv3 server: calls in neutral types, two engines behind them.
 *
 *   op ── nfs3_send(call) ──> engine (native | libnfs) ──TCP──> server
 *      <── call->on_done(call, reply), exactly once ──
 *
 * Rules:
 * - on_done runs exactly once for every call that nfs3_send accepted (returned 0), never from inside nfs3_send, always
 * from the event loop. The call is the owner's again from that moment on, and may be sent again at once from inside
 * on_done.
 * - Everything the call points to (names, data, fh) must stay put until on_done.
 * - The reply and all it points to is valid only during on_done.
 * - A time-out or a broken stream closes the connection; every call in flight on it completes once with the reason;
 *   the engine reconnects by itself with bounded backoff (counted). Nothing is ever re-sent silently. Calls sent while
 *   no connection is up wait in the send queue until their deadline.
 * - A reply reaches on_done as NFS3_CALL_OK only when every length and count in it was checked against the call and RFC
 * 1813.
 * - timestamps: `sent` just before the write that handed its last byte to the kernel, `done` when the kernel took in
 * the last byte of the read that completed the record, `read_at` when that read returned, before anything of the batch
 * was looked at (libnfs engine: both when libnfs calls back; docs/measurement.md).
 */
#ifndef NFSCURVE_LOADGEN_NFS3_CLIENT_H
#define NFSCURVE_LOADGEN_NFS3_CLIENT_H

#include "clock.h"
#include "nfs_op.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;

#define NFS3_FH_MAX       64      /* RFC 1813 2.4 NFS3_FHSIZE */
#define NFS3_NAME_MAX     255     /* longest name we send or accept in a directory entry */
#define NFS3_PATH_MAX     1024    /* longest symlink text we accept */
#define NFS3_TRANSFER_MAX 1048576 /* 1024 KiB */

struct nfs3_fh {
    uint8_t len;
    uint8_t data[NFS3_FH_MAX];
};

enum nfs3_type { NFS3_REG = 1, NFS3_DIR = 2, NFS3_BLK = 3, NFS3_CHR = 4, NFS3_LNK = 5, NFS3_SOCK = 6, NFS3_FIFO = 7 };

struct nfs3_time {
    uint32_t seconds;
    uint32_t nseconds;
};

struct nfs3_attributes {
    uint32_t type; /* enum nfs3_type, checked */
    uint32_t mode, nlink, uid, gid;
    uint64_t size, used;
    uint32_t rdev_major, rdev_minor;
    uint64_t fsid, fileid;
    struct nfs3_time atime, mtime, ctime;
};

/* sattr3: what to set. */
struct nfs3_set {
    bool has_mode, has_uid, has_gid, has_size;
    enum { NFS3_TIME_KEEP = 0, NFS3_TIME_SERVER = 1, NFS3_TIME_CLIENT = 2 } atime_how, mtime_how;
    uint32_t mode, uid, gid;
    uint64_t size;
    struct nfs3_time atime, mtime;
};

enum nfs3_stable { NFS3_UNSTABLE = 0, NFS3_DATA_SYNC = 1, NFS3_FILE_SYNC = 2 };
enum nfs3_create_mode { NFS3_CREATE_UNCHECKED = 0, NFS3_CREATE_GUARDED = 1, NFS3_CREATE_EXCLUSIVE = 2 };

struct nfs3_dir_entry {
    uint64_t fileid, cookie;
    const char *name; /* not terminated */
    uint32_t name_len;
    const struct nfs3_attributes *attributes; /* READDIRPLUS; NULL when absent */
    const struct nfs3_fh *fh;                 /* READDIRPLUS; NULL when absent */
};

enum nfs3_call_result {
    NFS3_CALL_OK,        /* a decoded reply; look at reply->status */
    NFS3_CALL_RPC_ERROR, /* the server's RPC layer refused it; reply->message says how */
    NFS3_CALL_BROKEN,    /* the connection broke */
    NFS3_CALL_TIMEOUT,   /* no reply within timeout_s */
    NFS3_CALL_MALFORMED  /* a reply that does not decode within its bounds */
};

struct nfs3_reply {
    enum nfs3_call_result result;
    uint32_t status;     /* nfsstat3; meaningful when result is NFS3_CALL_OK */
    const char *message; /* why, when result is not NFS3_CALL_OK; never NULL then */

    const struct nfs3_attributes *attributes;     /* of the object (post-op); NULL when absent */
    const struct nfs3_attributes *dir_attributes; /* of the directory (post-op); NULL when absent */
    const struct nfs3_fh *fh;                     /* LOOKUP, CREATE, MKDIR, SYMLINK, MKNOD; NULL when absent */
    union {
        struct {
            uint32_t access;
        } access;
        struct {
            const char *path;
            uint32_t len;
        } readlink; /* not terminated */
        struct {
            const uint8_t *data;
            uint32_t count;
            bool eof;
        } read; /* count <= asked */
        struct {
            uint32_t count;
            uint32_t committed;
            uint64_t verifier;
        } write; /* count <= asked */
        struct {
            uint64_t verifier;
        } commit;
        struct {
            uint64_t cookie_verifier;
            uint32_t n;
            bool eof;
            const struct nfs3_dir_entry *entries;
        } readdir; /* and readdirplus */
        struct {
            uint64_t tbytes, fbytes, abytes, tfiles, ffiles, afiles;
            uint32_t invarsec;
        } fsstat;
        struct {
            uint32_t rtmax, rtpref, rtmult, wtmax, wtpref, wtmult, dtpref;
            uint64_t maxfilesize;
            uint32_t properties;
        } fsinfo;
        struct {
            uint32_t linkmax, name_max;
            bool no_trunc, chown_restricted, case_insensitive, case_preserving;
        } pathconf;
    };
};

struct nfs3_call {
    /* the owner's: set before nfs3_send */
    enum nfs_op op;
    const struct nfs3_fh *fh; /* the object, or the directory of name */
    const char *name;         /* LOOKUP, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME (from), LINK (new name) */
    union {
        struct {
            struct nfs3_set set;
            bool has_guard;
            struct nfs3_time guard_ctime;
        } setattr;
        struct {
            uint32_t access;
        } access;
        struct {
            uint64_t offset;
            uint32_t count;
        } read;
        struct {
            uint64_t offset;
            uint32_t count;
            enum nfs3_stable stable;
            const uint8_t *data;
        } write;
        struct {
            enum nfs3_create_mode how;
            struct nfs3_set set;
            uint64_t verifier;
        } create;
        struct {
            struct nfs3_set set;
        } mkdir;
        struct {
            struct nfs3_set set;
            const char *path;
        } symlink;
        struct {
            uint32_t type;
            struct nfs3_set set;
            uint32_t rdev_major, rdev_minor;
        } mknod;
        struct {
            const struct nfs3_fh *to_dir;
            const char *to_name;
        } rename;
        struct {
            const struct nfs3_fh *dir;
        } link; /* fh: the file; dir and name: the new link */
        struct {
            uint64_t cookie, cookie_verifier;
            uint32_t count;
        } readdir;
        struct {
            uint64_t cookie, cookie_verifier;
            uint32_t dircount, maxcount;
        } readdirplus;
        struct {
            uint64_t offset;
            uint32_t count;
        } commit;
    };
    void (*on_done)(struct nfs3_call *call, const struct nfs3_reply *reply);
    void *owner;

    /* the engine's: valid in on_done */
    mono_t started; /* nfs3_send was called */
    mono_t sent;    /* just before the write that handed over its last byte; == started when none did */
    mono_t done;    /* the reply arrived; >= sent */
    mono_t read_at; /* the reply was read; >= done */
    uint32_t xid;
    void *engine_private[4];
};

enum nfs3_engine_kind { NFS3_ENGINE_NATIVE, NFS3_ENGINE_LIBNFS };

struct nfs3_client_options {
    enum nfs3_engine_kind engine;
    const char *server; /* host name or numeric address */
    const char *export_path;
    uint16_t nfs_port;          /* 0: ask the portmapper */
    uint16_t mount_port;        /* 0: ask the portmapper */
    const char *source_address; /* NULL: any */
    bool reserved_port;
    uint32_t n_connections; /* >= 1; calls are spread round robin */
    int64_t timeout_ns;     /* per call */
    uint32_t uid, gid;
    uint32_t n_gids; /* <= 16 */
    uint32_t gids[16];
    const char *machine_name; /* AUTH_SYS; <= 255 bytes */
};

struct nfs3_client;

struct nfs3_client_counters {
    uint64_t n_reconnects, n_unknown_xid, n_calls, n_replies, bytes_sent, bytes_received;
    uint32_t n_in_flight, n_queued;
};

/* Mounts and connects without blocking; on_ready runs once from the loop: error 0 and the export's root handle, or a
 * negative errno with a message that names server, export and the remedy ("mount 10.0.0.1:/fs1 refused: permission
 * denied (MNT3ERR_ACCES): ..."). */
typedef void (*nfs3_ready_cb)(struct nfs3_client *client, int error, const char *message, void *arg);

/* Copies the options. NULL only when memory is short. */
struct nfs3_client *nfs3_client_create(struct event_base *base, const struct nfs3_client_options *options,
                                       nfs3_ready_cb on_ready, void *arg);

/* Completes every call in flight with NFS3_CALL_BROKEN first. Not from inside a callback of this client. */
void nfs3_client_destroy(struct nfs3_client *client);

/* Tells the server's MOUNT, if it was mounted, that it is no more; waits within_ns at most, and nothing of the client's
 * happens meanwhile. To be called last, before nfs3_client_destroy(). */
void nfs3_client_unmount(struct nfs3_client *client, int64_t within_ns);

/* Root handle of the export and the server's FSINFO; after on_ready with error 0. */
const struct nfs3_fh *nfs3_client_root(const struct nfs3_client *client);

/* 0, or -EINVAL (a bug: arguments out of bounds), -ENOMEM, -ENOTCONN (closed for good). Calls queued in one loop tick
 * leave together. */
int nfs3_send(struct nfs3_client *client, struct nfs3_call *call);

void nfs3_client_counters(const struct nfs3_client *client, struct nfs3_client_counters *out);

#endif
