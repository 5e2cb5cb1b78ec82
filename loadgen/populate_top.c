/* populate_top.c - the top of a process's tree: its directories, symlinks, the slots of MKDIR, and names that the
 * layout has no more. */
#include "populate_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int do_symlink(struct populate *p, uint32_t i)
{
    struct fileset *fs = p->options.fileset;
    char name[FILESET_NAME_BYTES], text[FILESET_NAME_BYTES];
    struct nfs3_fh fh;
    uint32_t type;
    const struct nfs3_reply *reply;
    fileset_symlink_name(i, name);
    fileset_symlink_text(i, text);
    int error = tree_lookup(&p->tree, &fs->testdir, name, &fh, &type, NULL);
    if (error == 0 && type == NFS3_LNK) {
        struct nfs3_call call = {.op = NFS_OP_READLINK, .fh = &fh};
        error = tree_call(&p->tree, &call, &reply, name, 0);
        if (error == 0 && reply->readlink.len == strlen(text) &&
            memcmp(reply->readlink.path, text, reply->readlink.len) == 0) {
            fs->symlink_handles[i] = fh;
            return 0;
        }
    }
    if (error == 0) {
        error = tree_remove(&p->tree, &fs->testdir, name, type);
    }
    if (error != 0 && error != -ENOENT) {
        return error;
    }
    struct nfs3_call call = {.op = NFS_OP_SYMLINK,
                             .fh = &fs->testdir,
                             .name = name,
                             .symlink = {.set = {.has_mode = true, .mode = 0777}, .path = text}};
    error = tree_call(&p->tree, &call, &reply, name, -EEXIST);
    if (error == 0 && reply->fh != NULL) {
        fs->symlink_handles[i] = *reply->fh;
    } else if (error == 0 || error == -EEXIST) { /* a repeated call finds what the lost one made */
        error = tree_lookup(&p->tree, &fs->testdir, name, &fh, &type, NULL);
        fs->symlink_handles[i] = fh;
    }
    return error;
}

/* Slots of MKDIR and RMDIR: half of them full when the mix needs them. */
static int do_dir_slots(struct populate *p)
{
    struct fileset *fs = p->options.fileset;
    const struct workload *w = fs->workload;
    bool is_used = w->mix_percent[NFS_OP_MKDIR] > 0 || w->mix_percent[NFS_OP_RMDIR] > 0;
    for (uint32_t i = 0; is_used && i < FILESET_N_DIR_SLOTS; i++) {
        char name[FILESET_NAME_BYTES];
        struct nfs3_fh fh;
        fileset_dir_slot_name(i, name);
        int error = i % 2 == 0 ? tree_ensure_dir(&p->tree, &fs->testdir, name, &fh, NULL)
                               : tree_remove(&p->tree, &fs->testdir, name, 0);
        if (error != 0) {
            return error;
        }
        fs->dir_slots[i] = i % 2 == 0 ? SLOT_FILE : SLOT_EMPTY;
    }
    return 0;
}

/* The top of the fileset's tree, listed for names that the layout has no more. */
struct top_listing {
    struct populate *populate;
    uint64_t n_top_dirs;
    struct dir_work extras;
};

static bool on_top_entry(void *arg, const struct tree_entry *e)
{
    struct top_listing *t = arg;
    uint64_t number;
    if ((fileset_parse_name(e->name, e->len, FILESET_DIR_PREFIX, &number) && number >= t->n_top_dirs) ||
        (fileset_parse_name(e->name, e->len, FILESET_SYMLINK_PREFIX, &number) &&
         number >= t->populate->options.fileset->n_symlinks)) {
        populate_keep_extra(&t->extras, e);
    }
    return t->extras.n_extras < POPULATE_MAX_EXTRAS;
}

/* A directory's names are counted as they go. */
static int remove_top(struct populate *p, const char *name, uint32_t type)
{
    struct fileset *fs = p->options.fileset;
    struct nfs3_fh fh;
    _Atomic uint64_t n_removed = 0;
    if (type == 0 || type == NFS3_DIR) {
        int error = tree_lookup(&p->tree, &fs->testdir, name, &fh, &type, NULL);
        if (error == 0 && type == NFS3_DIR) {
            error = tree_empty_dir(&p->tree, &fh, &n_removed);
        }
        p->options.shared->facts.n_files_removed += n_removed;
        if (error != 0) {
            return error == -ENOENT ? 0 : error;
        }
    }
    return tree_remove(&p->tree, &fs->testdir, name, type);
}

static int trim_top(struct populate *p)
{
    struct fileset *fs = p->options.fileset;
    struct top_listing *t = calloc(1, sizeof *t);
    char name[FILESET_NAME_BYTES];
    int error = t == NULL ? -ENOMEM : 0;
    bool again = error == 0;
    if (again) {
        t->populate = p;
        fileset_dir_name(fs, fs->n_dirs - 1, 1, name);
        fileset_parse_name(name, (uint32_t)strlen(name), FILESET_DIR_PREFIX, &t->n_top_dirs);
        t->n_top_dirs++;
    }
    while (again && error == 0) {
        error = tree_list(&p->tree, &fs->testdir, p->options.dir_bytes, on_top_entry, t);
        again = t->extras.n_extras > 0;
        for (uint32_t i = 0; i < t->extras.n_extras; i++) {
            if (error == 0) {
                error = remove_top(p, t->extras.extras[i], t->extras.extra_types[i]);
            }
            free(t->extras.extras[i]);
        }
        t->extras.n_extras = 0;
    }
    free(t);
    return error;
}

static void top_names(const struct fileset *fs, char client[static FILESET_NAME_BYTES],
                      char testdir[static FILESET_NAME_BYTES])
{
    snprintf(client, FILESET_NAME_BYTES, "CL%u", fs->layout.client);
    snprintf(testdir, FILESET_NAME_BYTES, "testdir%u", fs->layout.process);
}

int populate_top(struct populate *p)
{
    struct fileset *fs = p->options.fileset;
    char client[FILESET_NAME_BYTES], testdir[FILESET_NAME_BYTES];
    bool made = false;
    top_names(fs, client, testdir);
    int error = tree_ensure_dir(&p->tree, &p->options.root, client, &fs->client_dir, NULL);
    if (error == 0) {
        error = tree_ensure_dir(&p->tree, &fs->client_dir, testdir, &fs->testdir, &made);
    }
    if (error == 0 && !made) {
        error = trim_top(p);
    }
    for (uint32_t i = 0; error == 0 && i < fs->n_symlinks; i++) {
        error = do_symlink(p, i);
    }
    return error == 0 ? do_dir_slots(p) : error;
}
