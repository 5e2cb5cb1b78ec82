/* mount_service.c - see mount_service.h.
 *
 * MNT of an export's path gives its root; MNT of a path below goes down from there by LOOKUPs of the caller. The list
 * for DUMP is what clients told; it is bounded, and when it is full the oldest entry is forgotten (RFC 1813 5.2.2
 * allows it to be stale).
 */
#include "mount_service.h"
#include "mount3_prot.h"
#include "nfs3_request.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MOUNTS 256u

struct mount_entry {
    char host[64];
    char path[MNTPATHLEN + 1];
};

struct mount_table {
    pthread_mutex_t lock; /* of the mounts; exports do not change once served */
    struct {
        char path[MNTPATHLEN + 1];
        struct fs_handle root;
    } exports[MOUNT_MAX_EXPORTS];
    unsigned n_exports;
    struct mount_entry mounts[MAX_MOUNTS];
    unsigned n_mounts;
};

struct mount_table *mount_table_create(void)
{
    struct mount_table *table = calloc(1, sizeof *table);
    if (table) {
        pthread_mutex_init(&table->lock, NULL);
    }
    return table;
}

void mount_table_destroy(struct mount_table *table)
{
    if (table) {
        pthread_mutex_destroy(&table->lock);
        free(table);
    }
}

int mount_table_export(struct mount_table *table, const char *path, struct fs_handle root)
{
    if (path[0] != '/' || strlen(path) > MNTPATHLEN || (path[1] && path[strlen(path) - 1] == '/')) {
        return -EINVAL;
    }
    if (table->n_exports == MOUNT_MAX_EXPORTS) {
        return -E2BIG;
    }
    for (unsigned i = 0; i < table->n_exports; i++) {
        if (strcmp(table->exports[i].path, path) == 0) {
            return -EEXIST;
        }
    }
    snprintf(table->exports[table->n_exports].path, MNTPATHLEN + 1, "%s", path);
    table->exports[table->n_exports++].root = root;
    return 0;
}

/* The caller's address without its port: what DUMP shows, and what UMNT goes by. */
static void host_of(const struct rpc_call *call, char host[static 64])
{
    snprintf(host, 64, "%s", rpc_peer_address(call->peer));
    char *colon = strrchr(host, ':');
    if (colon) {
        *colon = '\0';
    }
}

static void forget(struct mount_table *table, const char *host, const char *path)
{
    unsigned kept = 0;
    pthread_mutex_lock(&table->lock);
    for (unsigned i = 0; i < table->n_mounts; i++) {
        struct mount_entry *entry = &table->mounts[i];
        if (strcmp(entry->host, host) != 0 || (path && strcmp(entry->path, path) != 0)) {
            memmove(&table->mounts[kept++], entry, sizeof *entry);
        }
    }
    table->n_mounts = kept;
    pthread_mutex_unlock(&table->lock);
}

static void remember(struct mount_table *table, const char *host, const char *path)
{
    forget(table, host, path);
    pthread_mutex_lock(&table->lock);
    if (table->n_mounts == MAX_MOUNTS) {
        memmove(&table->mounts[0], &table->mounts[1], (MAX_MOUNTS - 1) * sizeof table->mounts[0]);
        table->n_mounts--;
    }
    struct mount_entry *entry = &table->mounts[table->n_mounts++];
    snprintf(entry->host, sizeof entry->host, "%s", host);
    snprintf(entry->path, sizeof entry->path, "%s", path);
    pthread_mutex_unlock(&table->lock);
}

/* The longest export that path is or lies below; *rest is what follows it. -1: none. */
static int find_export(const struct mount_table *table, const char *path, const char **rest)
{
    int best = -1;
    size_t best_len = 0;
    for (unsigned i = 0; i < table->n_exports; i++) {
        const char *export = table->exports[i].path;
        size_t len = strcmp(export, "/") == 0 ? 0 : strlen(export);
        if (strncmp(path, export, len) == 0 && (path[len] == '/' || path[len] == '\0') &&
            (best < 0 || len > best_len)) {
            best = (int)i;
            best_len = len;
        }
    }
    *rest = path + best_len;
    return best;
}

static enum fs_status walk(struct mount_service *service, const struct fs_who *who, const char *path,
                           struct fs_handle *at)
{
    while (*path) {
        size_t len = strcspn(path, "/");
        if (len > 0) {
            struct fs_object object, dir_object;
            struct fs_name name = {.text = path, .len = (uint32_t)len};
            enum fs_status status =
                memory_fs_lookup(service->nfs->shared->fs, who, *at, name, at, &object, &dir_object);
            if (status != FS_OK) {
                return status;
            }
        }
        path += len + (path[len] == '/');
    }
    struct fs_attributes attributes;
    enum fs_status status = memory_fs_getattr(service->nfs->shared->fs, *at, &attributes);
    return status == FS_OK && attributes.type != FS_DIR ? FS_NOTDIR : status;
}

static int mnt(struct mount_service *service, struct rpc_call *call, const char *path, mountres3 *res, uint8_t *fh)
{
    static int flavors[] = {AUTH_SYS, AUTH_NONE};
    struct fs_who who;
    struct fs_handle at = {0};
    const char *rest;
    char host[64];
    int export = find_export(service->table, path, &rest);
    enum fs_status status = FS_NOENT;
    nfs3_who(service->nfs->shared, &call->credential, &who);
    if (export >= 0) {
        at = service->table->exports[export].root;
        status = walk(service, &who, rest, &at);
    }
    res->status = (mountstat3)status;
    if (status == FS_OK) {
        nfs3_wire_put_handle(at, service->nfs->shared->instance, fh);
        res->mountres3_u.ok.fhandle.fhandle_val = (char *)fh;
        res->mountres3_u.ok.fhandle.fhandle_len = NFS3_WIRE_HANDLE_BYTES;
        res->mountres3_u.ok.auth_flavors.auth_flavors_val = flavors;
        res->mountres3_u.ok.auth_flavors.auth_flavors_len = sizeof flavors / sizeof *flavors;
        host_of(call, host);
        remember(service->table, host, path);
    }
    return (int)status;
}

/* Lists are encoded item by item; the end is a FALSE. */
static bool put_follows(XDR *out, bool_t follows)
{
    return xdr_bool(out, &follows);
}

static bool put_mounts(XDR *out, struct mount_table *table)
{
    bool fits = true;
    pthread_mutex_lock(&table->lock);
    for (unsigned i = 0; i < table->n_mounts && fits; i++) {
        mount_item item = {.host = table->mounts[i].host, .directory = table->mounts[i].path};
        fits = put_follows(out, TRUE) && xdr_mount_item(out, &item);
    }
    pthread_mutex_unlock(&table->lock);
    return fits && put_follows(out, FALSE);
}

static bool put_exports(XDR *out, struct mount_table *table)
{
    for (unsigned i = 0; i < table->n_exports; i++) {
        export_item item = {.directory = table->exports[i].path};
        /* No groups: everybody may mount. */
        if (!put_follows(out, TRUE) || !xdr_export_item(out, &item) || !put_follows(out, FALSE)) {
            return false;
        }
    }
    return put_follows(out, FALSE);
}

/* The path of MNT and UMNT, decoded into path. */
static bool get_path(struct rpc_call *call, char path[static MNTPATHLEN + 1])
{
    dirpath at = path;
    return rpc_call_decode(call, (xdrproc_t)xdr_dirpath, &at);
}

/* Encodes the results of a procedure. Returns its status, or one of the RPC errors of nfs3_request.h. */
static int run(struct mount_service *service, struct rpc_call *call, const struct fault_hits *hits, XDR *out)
{
    char path[MNTPATHLEN + 1], host[64];
    uint8_t fh[NFS3_WIRE_HANDLE_BYTES];
    mountres3 res;
    host_of(call, host);
    switch (call->proc) {
    case MOUNTPROC3_MNT: {
        const struct fault_action *fault = fault_find(hits, FAULT_STATUS);
        if (!get_path(call, path)) {
            return NFS3_GARBAGE_ARGS;
        }
        int status = fault ? (int)fault->status : mnt(service, call, path, &res, fh);
        res.status = (mountstat3)status;
        return xdr_mountres3(out, &res) ? status : NFS3_SYSTEM_ERR;
    }
    case MOUNTPROC3_DUMP:
        return put_mounts(out, service->table) ? 0 : NFS3_SYSTEM_ERR;
    case MOUNTPROC3_UMNT:
        if (!get_path(call, path)) {
            return NFS3_GARBAGE_ARGS;
        }
        forget(service->table, host, path);
        return 0;
    case MOUNTPROC3_UMNTALL:
        forget(service->table, host, NULL);
        return 0;
    case MOUNTPROC3_EXPORT:
        return put_exports(out, service->table) ? 0 : NFS3_SYSTEM_ERR;
    default:
        return 0;
    }
}

void mount_handle(struct rpc_call *call, void *arg)
{
    struct mount_service *service = arg;
    unsigned op = FAULT_OP_MOUNT + call->proc;
    struct counters *counters = service->nfs->counters;
    struct fault_hits hits;
    fault_match(service->nfs->shared->faults, op, &hits);
    counter_add(&counters->ops[op].n_calls, 1);
    counter_add(&counters->ops[op].n_faults, hits.n > 0);

    XDR out;
    rpc_answer_begin(call, &out);
    int status = run(service, call, &hits, &out);
    if (status < 0) {
        counter_add(&counters->n_garbage, status == NFS3_GARBAGE_ARGS);
        rpc_call_fail(call, status == NFS3_GARBAGE_ARGS ? GARBAGE_ARGS : SYSTEM_ERR);
        return;
    }
    counter_add(&counters->ops[op].n_errors, status != 0);
    struct rpc_answer answer;
    rpc_answer_finish(call, &out, &answer);
    nfs3_deliver(service->nfs, call, &answer, call->at, &hits);
}
