/* mount_service.h - MOUNT version 3 on the same port: exports, who has mounted what, the way to a first handle. */
#ifndef NFSCURVE_TARGET_MOUNT_SERVICE_H
#define NFSCURVE_TARGET_MOUNT_SERVICE_H

#include "nfs3_service.h"

#define MOUNT_MAX_EXPORTS 16u

/* Shared by all threads. */
struct mount_table;

struct mount_table *mount_table_create(void);
void mount_table_destroy(struct mount_table *table);

/* path begins with '/'. 0, or -EINVAL, -E2BIG, -EEXIST. */
int mount_table_export(struct mount_table *table, const char *path, struct fs_handle root);

/* One thread's MOUNT program: arg of mount_handle. */
struct mount_service {
    struct nfs3_service *nfs;
    struct mount_table *table;
};

/* rpc_handler. */
void mount_handle(struct rpc_call *call, void *arg);

#endif
