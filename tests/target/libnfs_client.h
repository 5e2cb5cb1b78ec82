/* libnfs_client.h - NFSv3 calls through libnfs's raw API, one at a time: an independent client for tests of the target.
 *
 * Every call runs the connection until its reply is there and leaves what it said in a struct reply: copied, since
 * libnfs's own is gone after its callback. A call that gets no good RPC reply has rpc_error set and status UINT32_MAX.
 */
#ifndef NFSCURVE_TESTS_LIBNFS_CLIENT_H
#define NFSCURVE_TESTS_LIBNFS_CLIENT_H

/* This order: libnfs.h needs struct timeval and gives the raw headers their EXTERN. */
#include <sys/time.h>

#include <nfsc/libnfs.h>

#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw.h>

#include <stdbool.h>
#include <stdint.h>

struct fh {
    uint32_t len;
    char data[NFS3_FHSIZE];
};

struct entry {
    char name[256];
    uint64_t fileid, cookie;
    bool has_attributes, has_fh;
    uint32_t type;
    struct fh fh;
};

#define MAX_ENTRIES 4096u

struct reply {
    bool rpc_error;
    uint32_t status;
    bool has_attributes, has_dir_attributes, has_fh;
    fattr3 attributes; /* of the object */
    fattr3 dir_attributes;
    struct fh fh;
    bool has_before, has_to_before, has_to_after; /* wcc data; `after` is attributes or dir_attributes */
    wcc_attr before;
    wcc_attr to_before;
    fattr3 to_after;
    uint32_t access, count, committed, eof;
    char verifier[8];
    char path[4096];
    char *data; /* READ: heap, count bytes; freed by the next call */
    uint32_t n_entries;
    FSSTAT3resok fsstat;
    FSINFO3resok fsinfo;
    PATHCONF3resok pathconf;
    uint32_t n_flavors, n_items; /* MOUNT */
    char items[64][256];
};

struct client {
    struct rpc_context *rpc;
    struct reply reply;
    struct entry *entries; /* MAX_ENTRIES, of the last READDIR(PLUS) */
    bool is_done;
};

/* Exits when the server can't be reached. */
struct client *client_connect(const char *address, int port);
void client_close(struct client *c);
void client_be(struct client *c, uint32_t uid, uint32_t gid);

/* Attributes to set; zero sets nothing. */
struct set {
    bool has_mode, has_uid, has_gid, has_size;
    int atime_how, mtime_how; /* 0 keep, 1 server's, 2 given */
    uint32_t mode, uid, gid;
    uint64_t size;
    nfstime3 atime, mtime;
};

/* Each returns the status. */
uint32_t c_null(struct client *c);
uint32_t c_getattr(struct client *c, const struct fh *fh);
uint32_t c_setattr(struct client *c, const struct fh *fh, const struct set *set, const nfstime3 *guard);
uint32_t c_lookup(struct client *c, const struct fh *dir, const char *name);
uint32_t c_access(struct client *c, const struct fh *fh, uint32_t want);
uint32_t c_readlink(struct client *c, const struct fh *fh);
uint32_t c_read(struct client *c, const struct fh *fh, uint64_t offset, uint32_t count);
uint32_t c_write(struct client *c, const struct fh *fh, uint64_t offset, const void *data, uint32_t n, int stable);
uint32_t c_create(struct client *c, const struct fh *dir, const char *name, int how, const struct set *set,
                  const char *verifier);
uint32_t c_mkdir(struct client *c, const struct fh *dir, const char *name, const struct set *set);
uint32_t c_symlink(struct client *c, const struct fh *dir, const char *name, const char *path);
uint32_t c_mknod(struct client *c, const struct fh *dir, const char *name, int type, uint32_t major, uint32_t minor);
uint32_t c_remove(struct client *c, const struct fh *dir, const char *name);
uint32_t c_rmdir(struct client *c, const struct fh *dir, const char *name);
uint32_t c_rename(struct client *c, const struct fh *from, const char *from_name, const struct fh *to,
                  const char *to_name);
uint32_t c_link(struct client *c, const struct fh *fh, const struct fh *dir, const char *name);
uint32_t c_readdir(struct client *c, const struct fh *dir, uint64_t cookie, const char *verifier, uint32_t count);
uint32_t c_readdirplus(struct client *c, const struct fh *dir, uint64_t cookie, const char *verifier, uint32_t dircount,
                       uint32_t maxcount);
uint32_t c_fsstat(struct client *c, const struct fh *fh);
uint32_t c_fsinfo(struct client *c, const struct fh *fh);
uint32_t c_pathconf(struct client *c, const struct fh *fh);
uint32_t c_commit(struct client *c, const struct fh *fh, uint64_t offset, uint32_t count);

/* MOUNT: MNT leaves the handle in reply.fh and n_flavors; DUMP and EXPORT leave items. */
uint32_t c_mnt(struct client *c, const char *path);
uint32_t c_umnt(struct client *c, const char *path);
uint32_t c_umntall(struct client *c);
uint32_t c_dump(struct client *c);
uint32_t c_export(struct client *c);

#endif
