/* populate_leaf.c - one leaf directory: made or listed, its slots done, its files put up for the fibers. */
#include "populate_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void populate_keep_extra(struct dir_work *d, const struct tree_entry *e)
{
    if (d->n_extras < POPULATE_MAX_EXTRAS && (d->extras[d->n_extras] = strdup(e->name)) != NULL) {
        d->extra_types[d->n_extras++] = e->has_attributes ? e->attributes.type : 0;
    }
}

static void note(struct found *f, const struct tree_entry *e)
{
    f->type = UNSEEN;
    if (e->has_attributes && (e->has_fh || e->attributes.type != NFS3_REG)) {
        f->type = (uint8_t)e->attributes.type;
        f->bytes = e->attributes.size;
        f->fh = e->fh;
    }
}

static bool on_leaf_entry(void *arg, const struct tree_entry *e)
{
    struct dir_work *d = arg;
    uint64_t number;
    if (fileset_parse_name(e->name, e->len, FILESET_FILE_PREFIX, &number)) {
        if (number >= d->first_file && number < d->first_file + d->n_files) {
            note(&d->files[number - d->first_file], e);
        } else {
            populate_keep_extra(d, e);
        }
    } else if (fileset_parse_name(e->name, e->len, FILESET_SLOT_PREFIX, &number)) {
        if (number >= d->first_slot && number < d->first_slot + d->n_slots) {
            note(&d->slots[number - d->first_slot], e);
        } else {
            populate_keep_extra(d, e);
        }
    }
    return true; /* what is not ours stays */
}

/* Lists the leaf and removes what is ours but no longer wanted. */
static int list_leaf(struct populate *p, struct dir_work *d)
{
    const struct nfs3_fh *fh = &p->options.fileset->dir_handles[d->dir];
    for (;;) {
        int error = tree_list(&p->tree, fh, p->options.dir_bytes, on_leaf_entry, d);
        uint32_t n = d->n_extras;
        for (uint32_t i = 0; i < n; i++) {
            if (error == 0) {
                error = tree_remove(&p->tree, fh, d->extras[i], d->extra_types[i]);
                p->options.shared->facts.n_files_removed += error == 0;
            }
            free(d->extras[i]);
        }
        d->n_extras = 0;
        if (error != 0 || n < POPULATE_MAX_EXTRAS) {
            return error;
        }
    }
}

static int make_leaf(struct worker *w, uint32_t dir, bool *made)
{
    struct populate *p = w->populate;
    struct fileset *fs = p->options.fileset;
    uint32_t depth = fs->workload->directory_depth > 0 ? fs->workload->directory_depth : 1;
    char name[FILESET_NAME_BYTES], cached_name[FILESET_NAME_BYTES];
    const struct nfs3_fh *parent = &fs->testdir;
    bool is_same = w->has_cached;
    for (uint32_t level = 1; level < depth && level < POPULATE_MAX_DEPTH; level++) {
        fileset_dir_name(fs, dir, level, name);
        if (is_same) {
            fileset_dir_name(fs, w->cached_dir, level, cached_name);
            is_same = strcmp(name, cached_name) == 0;
        }
        if (!is_same) {
            w->has_cached = false;
            int error = tree_ensure_dir(&p->tree, parent, name, &w->cached[level], NULL);
            if (error != 0) {
                return error;
            }
        }
        parent = &w->cached[level];
    }
    w->cached_dir = dir;
    w->has_cached = true;
    fileset_dir_name(fs, dir, depth, name);
    struct nfs3_fh fh;
    int error = tree_ensure_dir(&p->tree, parent, name, &fh, made);
    if (error == 0) {
        fs->dir_handles[dir] = fh;
    }
    return error;
}

void populate_close_dir(struct dir_work *d)
{
    free(d->files);
    free(d->slots);
    free(d);
}

int populate_open_dir(struct worker *w, uint32_t dir)
{
    struct populate *p = w->populate;
    struct fileset *fs = p->options.fileset;
    struct dir_work *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return -ENOMEM;
    }
    d->dir = dir;
    d->n_files = fileset_dir_files(fs, dir, &d->first_file);
    d->n_slots = fileset_dir_slots(fs, dir, &d->first_slot);
    d->files = calloc(d->n_files + 1, sizeof *d->files);
    d->slots = calloc(d->n_slots + 1u, sizeof *d->slots);
    bool made = false;
    int error = d->files == NULL || d->slots == NULL ? -ENOMEM : make_leaf(w, dir, &made);
    if (error == 0 && !made) {
        error = list_leaf(p, d);
    }
    for (uint32_t i = 0; error == 0 && i < d->n_slots; i++) {
        error = populate_slot(p, d, d->first_slot + i);
    }
    if (error != 0 || d->n_files == 0) {
        populate_close_dir(d);
        return error;
    }
    d->next = p->open;
    p->open = d;
    return 0;
}
