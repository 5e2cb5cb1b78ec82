/* tree.c - see tree.h. */
#include "tree.h"

#include "log.h"
#include "nfs_op.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_BYTES 32768u
#define BATCH      1024u /* names kept while a directory is being emptied */
#define MAX_DEPTH  16u
#define MAX_TRIES  4u /* of a call that got no answer; every call here may be repeated */
#define MAX_PASSES 1000000u

int tree_error_of_status(uint32_t status)
{
    static const struct {
        uint32_t status;
        int error;
    } known[] = {
        {0, 0},        {1, -EPERM},   {2, -ENOENT},      {5, -EIO},       {6, -ENXIO},         {13, -EACCES},
        {17, -EEXIST}, {18, -EXDEV},  {19, -ENODEV},     {20, -ENOTDIR},  {21, -EISDIR},       {22, -EINVAL},
        {27, -EFBIG},  {28, -ENOSPC}, {30, -EROFS},      {31, -EMLINK},   {63, -ENAMETOOLONG}, {66, -ENOTEMPTY},
        {69, -EDQUOT}, {70, -ESTALE}, {10004, -ENOTSUP}, {10008, -EAGAIN}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].status == status) {
            return known[i].error;
        }
    }
    return -EREMOTEIO;
}

static const char *remedy(int error)
{
    switch (error) {
    case -ENOSPC:
        return "; the export is full: free space on it, or lower the load or fileset_mb_per_op";
    case -EDQUOT:
        return "; the quota is used up: raise it, or lower the load or fileset_mb_per_op";
    case -EROFS:
        return "; the export is read-only: export it for writing";
    case -EACCES:
    case -EPERM:
        return "; the server refuses this user: set uid and gid, or export with no_root_squash or write permission";
    case -ENOTSUP:
        return "; the server does not support it: leave the op out of the mix";
    default:
        return "";
    }
}

static void fail(struct tree *tree, enum nfs_op op, const char *name, const char *why, const char *what_to_do)
{
    if (tree->message[0] != '\0') {
        return;
    }
    char quoted[300];
    log_quote(quoted, sizeof quoted, name, strlen(name));
    snprintf(tree->message, sizeof tree->message, "%s: %s %s: %s%s", tree->where, nfs_op_name(op), quoted, why,
             what_to_do);
}

/* The connection is made anew by the client; what was under way is asked again. */
static bool is_worth_another_try(int error)
{
    return error == -ETIMEDOUT || error == -ECONNRESET || error == -EBADMSG;
}

int tree_call(struct tree *tree, struct nfs3_call *call, const struct nfs3_reply **reply, const char *name,
              int tolerated)
{
    int error;
    uint32_t n_tries = 0;
    do {
        error = fiber_call(tree->group, call, reply);
    } while (is_worth_another_try(error) && ++n_tries < MAX_TRIES);
    if (error == -ECANCELED) {
        return error;
    }
    if (error != 0) {
        fail(tree, call->op, name, (*reply)->message, "");
        return error;
    }
    error = tree_error_of_status((*reply)->status);
    if (error != 0 && error != tolerated) {
        fail(tree, call->op, name, nfs_status_name(nfs_status_index((*reply)->status)), remedy(error));
    }
    return error;
}

int tree_lookup(struct tree *tree, const struct nfs3_fh *dir, const char *name, struct nfs3_fh *fh, uint32_t *type,
                uint64_t *size)
{
    struct nfs3_call call = {.op = NFS_OP_LOOKUP, .fh = dir, .name = name};
    const struct nfs3_reply *reply;
    int error = tree_call(tree, &call, &reply, name, -ENOENT);
    if (error != 0) {
        return error;
    }
    if (reply->fh == NULL) {
        fail(tree, NFS_OP_LOOKUP, name, "a reply without a handle", "");
        return -EBADMSG;
    }
    *fh = *reply->fh;
    if (reply->attributes == NULL) {
        struct nfs3_call getattr = {.op = NFS_OP_GETATTR, .fh = fh};
        error = tree_call(tree, &getattr, &reply, name, 0);
        if (error != 0) {
            return error;
        }
    }
    *type = reply->attributes != NULL ? reply->attributes->type : 0;
    if (size != NULL) {
        *size = reply->attributes != NULL ? reply->attributes->size : 0;
    }
    return 0;
}

int tree_ensure_dir(struct tree *tree, const struct nfs3_fh *dir, const char *name, struct nfs3_fh *fh, bool *made)
{
    if (made != NULL) {
        *made = false;
    }
    /* Several processes may make the same parent at the same time: whoever comes second finds it. */
    for (int tries = 0; tries < 3; tries++) {
        uint32_t type;
        int error = tree_lookup(tree, dir, name, fh, &type, NULL);
        if (error == 0 && type == NFS3_DIR) {
            return 0;
        }
        if (error == 0) {
            error = tree_remove(tree, dir, name, type);
        }
        if (error != 0 && error != -ENOENT) {
            return error;
        }
        struct nfs3_call call = {
            .op = NFS_OP_MKDIR, .fh = dir, .name = name, .mkdir = {.set = {.has_mode = true, .mode = 0755}}};
        const struct nfs3_reply *reply;
        error = tree_call(tree, &call, &reply, name, -EEXIST);
        if (error == 0 && made != NULL) {
            *made = true;
        }
        if (error == 0 && reply->fh != NULL) {
            *fh = *reply->fh;
            return 0;
        }
        if (error != 0 && error != -EEXIST) {
            return error;
        }
    }
    fail(tree, NFS_OP_MKDIR, name, "it neither exists nor can it be made", "");
    return -EREMOTEIO;
}

int tree_create(struct tree *tree, const struct nfs3_fh *dir, const char *name, struct nfs3_fh *fh)
{
    struct nfs3_call call = {
        .op = NFS_OP_CREATE,
        .fh = dir,
        .name = name,
        .create = {.how = NFS3_CREATE_UNCHECKED, .set = {.has_mode = true, .mode = 0644, .has_size = true}}};
    const struct nfs3_reply *reply;
    int error = tree_call(tree, &call, &reply, name, 0);
    if (error != 0) {
        return error;
    }
    if (reply->fh != NULL) {
        *fh = *reply->fh;
        return 0;
    }
    uint32_t type;
    error = tree_lookup(tree, dir, name, fh, &type, NULL);
    if (error == -ENOENT) {
        fail(tree, NFS_OP_LOOKUP, name, "NFS3ERR_NOENT for a file just created", "");
    }
    return error;
}

static bool is_dot(const struct nfs3_dir_entry *e)
{
    return (e->name_len == 1 && e->name[0] == '.') || (e->name_len == 2 && e->name[0] == '.' && e->name[1] == '.');
}

/* Hands out the names of one reply. False: enough. */
static bool hand_out(const struct nfs3_reply *reply, bool (*each)(void *arg, const struct tree_entry *entry), void *arg)
{
    for (uint32_t i = 0; i < reply->readdir.n; i++) {
        const struct nfs3_dir_entry *e = &reply->readdir.entries[i];
        if (is_dot(e) || e->name_len > NFS3_NAME_MAX) {
            continue;
        }
        struct tree_entry entry = {
            .len = e->name_len, .has_attributes = e->attributes != NULL, .has_fh = e->fh != NULL};
        memcpy(entry.name, e->name, e->name_len);
        if (e->attributes != NULL) {
            entry.attributes = *e->attributes;
        }
        if (e->fh != NULL) {
            entry.fh = *e->fh;
        }
        if (!each(arg, &entry)) {
            return false;
        }
    }
    return true;
}

/* A reply that begins where the listing began, repeats the cookie it was asked from, or brings nothing and no end,
 * would go on for ever. */
static bool is_advancing(const struct nfs3_reply *reply, uint64_t cookie, bool is_first, uint64_t first_cookie)
{
    uint32_t n = reply->readdir.n;
    if (n == 0) {
        return reply->readdir.eof;
    }
    const struct nfs3_dir_entry *entries = reply->readdir.entries;
    for (uint32_t i = 0; i < n; i++) {
        if (entries[i].cookie == cookie || (i > 0 && entries[i].cookie == entries[i - 1].cookie)) {
            return false;
        }
    }
    return is_first || entries[0].cookie != first_cookie;
}

int tree_list(struct tree *tree, const struct nfs3_fh *dir, uint32_t bytes,
              bool (*each)(void *arg, const struct tree_entry *entry), void *arg)
{
    uint64_t cookie = 0, verifier = 0, first_cookie = 0;
    bool plus = true, is_first = true;
    for (;;) {
        struct nfs3_call call = {.op = plus ? NFS_OP_READDIRPLUS : NFS_OP_READDIR, .fh = dir};
        if (plus) {
            call.readdirplus.cookie = cookie;
            call.readdirplus.cookie_verifier = verifier;
            call.readdirplus.dircount = call.readdirplus.maxcount = bytes;
        } else {
            call.readdir.cookie = cookie;
            call.readdir.cookie_verifier = verifier;
            call.readdir.count = bytes;
        }
        const struct nfs3_reply *reply;
        int error = tree_call(tree, &call, &reply, "a directory of the fileset", plus ? -ENOTSUP : 0);
        if (error == -ENOTSUP && plus) {
            plus = false;
            continue;
        }
        if (error != 0) {
            return error;
        }
        if (!is_advancing(reply, cookie, is_first, first_cookie)) {
            fail(tree, call.op, "a directory of the fileset", "its cookies do not advance, it cannot be listed", "");
            return -ELOOP;
        }
        if (is_first && reply->readdir.n > 0) {
            first_cookie = reply->readdir.entries[0].cookie;
        }
        is_first = false;
        if (!hand_out(reply, each, arg) || reply->readdir.eof) {
            return 0;
        }
        cookie = reply->readdir.entries[reply->readdir.n - 1].cookie;
        verifier = reply->readdir.cookie_verifier;
    }
}

struct batch {
    uint32_t n;
    struct {
        char *name;
        uint32_t type;
    } entries[BATCH];
};

static bool add_to_batch(void *arg, const struct tree_entry *entry)
{
    struct batch *b = arg;
    b->entries[b->n].name = strdup(entry->name);
    if (b->entries[b->n].name == NULL) {
        return false;
    }
    b->entries[b->n].type = entry->has_attributes ? entry->attributes.type : 0;
    return ++b->n < BATCH;
}

static int empty_dir(struct tree *tree, const struct nfs3_fh *dir, _Atomic uint64_t *removed, uint32_t depth);

static int remove_name(struct tree *tree, const struct nfs3_fh *dir, const char *name, uint32_t type, uint32_t depth)
{
    const struct nfs3_reply *reply;
    struct nfs3_fh fh;
    int error = 0;
    if (type == 0 || type == NFS3_DIR) {
        error = tree_lookup(tree, dir, name, &fh, &type, NULL);
        if (error != 0) {
            return error == -ENOENT ? 0 : error;
        }
    }
    if (type == NFS3_DIR) {
        error = empty_dir(tree, &fh, NULL, depth + 1);
        if (error != 0) {
            return error;
        }
    }
    struct nfs3_call call = {.op = type == NFS3_DIR ? NFS_OP_RMDIR : NFS_OP_REMOVE, .fh = dir, .name = name};
    error = tree_call(tree, &call, &reply, name, -ENOENT);
    return error == -ENOENT ? 0 : error;
}

static int empty_dir(struct tree *tree, const struct nfs3_fh *dir, _Atomic uint64_t *removed, uint32_t depth)
{
    if (depth > MAX_DEPTH) {
        fail(tree, NFS_OP_RMDIR, "a directory of the fileset", "directories too deep to be the fileset's",
             "; remove it by hand");
        return -ELOOP;
    }
    struct batch *batch = calloc(1, sizeof *batch);
    int error = batch == NULL ? -ENOMEM : 0;
    char first[NFS3_NAME_MAX + 1] = "";
    /* A batch, then from the start again: what was removed is not in the way of any cookie. */
    for (uint32_t pass = 0; error == 0 && pass < MAX_PASSES; pass++) {
        batch->n = 0;
        error = tree_list(tree, dir, LIST_BYTES, add_to_batch, batch);
        uint32_t n = batch->n;
        if (error == 0 && n > 0 && strcmp(first, batch->entries[0].name) == 0) {
            fail(tree, NFS_OP_REMOVE, first, "it is listed, but it can't be removed", "");
            error = -ELOOP;
        }
        if (n > 0) {
            snprintf(first, sizeof first, "%s", batch->entries[0].name);
        }
        for (uint32_t i = 0; i < n; i++) {
            if (error == 0) {
                error = remove_name(tree, dir, batch->entries[i].name, batch->entries[i].type, depth);
            }
            if (error == 0 && removed != NULL) {
                atomic_fetch_add_explicit(removed, 1, memory_order_relaxed);
            }
            free(batch->entries[i].name);
        }
        if (n == 0) {
            break;
        }
    }
    free(batch);
    return error;
}

int tree_remove(struct tree *tree, const struct nfs3_fh *dir, const char *name, uint32_t type)
{
    return remove_name(tree, dir, name, type, 0);
}

int tree_empty_dir(struct tree *tree, const struct nfs3_fh *dir, _Atomic uint64_t *removed)
{
    return empty_dir(tree, dir, removed, 0);
}
