/* libnfs_mount.c - the procedures of MOUNT v3 (RFC 1813 appendix I). */
#include "libnfs_call.h"

#include <stdio.h>
#include <string.h>

static void copy_mnt(struct client *c, const void *result)
{
    const mountres3 *res = result;
    c->reply.status = res->fhs_status;
    if (res->fhs_status == MNT3_OK) {
        const mountres3_ok *ok = &res->mountres3_u.mountinfo;
        c->reply.has_fh = true;
        c->reply.fh.len = ok->fhandle.fhandle3_len;
        memcpy(c->reply.fh.data, ok->fhandle.fhandle3_val, ok->fhandle.fhandle3_len);
        c->reply.n_flavors = ok->auth_flavors.auth_flavors_len;
    }
}

uint32_t c_mnt(struct client *c, const char *path)
{
    struct pending p = call_start(c, copy_mnt);
    return call_finish(c, rpc_mount3_mnt_async(c->rpc, call_on_reply, (char *)(uintptr_t)path, &p));
}

uint32_t c_umnt(struct client *c, const char *path)
{
    struct pending p = call_start(c, NULL);
    return call_finish(c, rpc_mount3_umnt_async(c->rpc, call_on_reply, (char *)(uintptr_t)path, &p));
}

uint32_t c_umntall(struct client *c)
{
    struct pending p = call_start(c, NULL);
    return call_finish(c, rpc_mount3_umntall_async(c->rpc, call_on_reply, &p));
}

static void add_item(struct client *c, const char *text)
{
    if (c->reply.n_items < 64) {
        snprintf(c->reply.items[c->reply.n_items++], 256, "%s", text);
    }
}

static void copy_dump(struct client *c, const void *result)
{
    c->reply.status = 0;
    for (const struct mountbody *m = *(const mountlist *)result; m; m = m->ml_next) {
        add_item(c, m->ml_directory);
    }
}

uint32_t c_dump(struct client *c)
{
    struct pending p = call_start(c, copy_dump);
    return call_finish(c, rpc_mount3_dump_async(c->rpc, call_on_reply, &p));
}

static void copy_export(struct client *c, const void *result)
{
    c->reply.status = 0;
    for (const struct exportnode *e = *(const exports *)result; e; e = e->ex_next) {
        add_item(c, e->ex_dir);
    }
}

uint32_t c_export(struct client *c)
{
    struct pending p = call_start(c, copy_export);
    return call_finish(c, rpc_mount3_export_async(c->rpc, call_on_reply, &p));
}
