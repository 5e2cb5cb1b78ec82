/* populate_file.c - one file or slot of the fileset: kept, cut, written on, or made. */
#include "populate_work.h"

#include <errno.h>
#include <stdio.h>

#define MAX_ROUNDS 8u /* of writing a file again after a changed verifier */

static void progress(struct populate *p, uint64_t n)
{
    atomic_fetch_add_explicit(&p->options.shared->progress_done, n, memory_order_relaxed);
}

static int write_once(struct worker *w, const struct nfs3_fh *fh, const char *name, uint64_t j, uint64_t from,
                      uint64_t to, bool *lost)
{
    struct populate *p = w->populate;
    uint64_t identity = fileset_file_identity(p->options.fileset, j), generation = ++p->generation, verifier = 0;
    bool is_one = to - from <= p->options.block_bytes, is_stable = true, is_first = true;
    const struct nfs3_reply *reply;
    *lost = false;
    while (from < to) {
        uint32_t n = to - from < p->options.block_bytes ? (uint32_t)(to - from) : p->options.block_bytes;
        data_pattern_fill(&p->pattern, w->buffer, n, identity, from, generation);
        struct nfs3_call call = {
            .op = NFS_OP_WRITE,
            .fh = fh,
            .write = {
                .offset = from, .count = n, .stable = is_one ? NFS3_FILE_SYNC : NFS3_UNSTABLE, .data = w->buffer}};
        int error = tree_call(&p->tree, &call, &reply, name, 0);
        if (error != 0) {
            return error;
        }
        if (reply->write.count == 0) {
            snprintf(p->tree.message, sizeof p->tree.message, "%s: write %s: NFS3_OK for no bytes at all",
                     p->options.where, name);
            return -EIO;
        }
        *lost |= !is_first && reply->write.verifier != verifier;
        verifier = reply->write.verifier;
        is_first = false;
        is_stable &= reply->write.committed == NFS3_FILE_SYNC;
        from += reply->write.count;
    }
    if (is_stable) {
        return 0;
    }
    struct nfs3_call commit = {.op = NFS_OP_COMMIT, .fh = fh};
    int error = tree_call(&p->tree, &commit, &reply, name, 0);
    if (error == 0) {
        *lost |= reply->commit.verifier != verifier;
    }
    return error;
}

/* Bytes [from, to) of file j, on stable storage. */
static int write_file(struct worker *w, const struct nfs3_fh *fh, const char *name, uint64_t j, uint64_t from,
                      uint64_t to)
{
    for (uint32_t round = 0; from < to; round++) {
        bool lost;
        int error = write_once(w, fh, name, j, from, to, &lost);
        if (error != 0 || !lost) {
            return error;
        }
        if (round + 1 >= MAX_ROUNDS) {
            snprintf(w->populate->tree.message, sizeof w->populate->tree.message,
                     "%s: write %s: the write verifier changed each time: the server loses data that is not yet stable",
                     w->populate->options.where, name);
            return -EIO;
        }
    }
    return 0;
}

static int set_size(struct populate *p, const struct nfs3_fh *fh, const char *name, uint64_t bytes)
{
    struct nfs3_call call = {.op = NFS_OP_SETATTR, .fh = fh, .setattr = {.set = {.has_size = true, .size = bytes}}};
    const struct nfs3_reply *reply;
    return tree_call(&p->tree, &call, &reply, name, 0);
}

/* verify_data: whether a kept file starts with our stamps. */
static int is_stamped(struct populate *p, const struct nfs3_fh *fh, const char *name, uint64_t j, bool *yes)
{
    struct nfs3_call call = {.op = NFS_OP_READ, .fh = fh, .read = {.count = DATA_CELL_BYTES}};
    const struct nfs3_reply *reply;
    char what[160];
    int error = tree_call(&p->tree, &call, &reply, name, 0);
    if (error == 0) {
        *yes = reply->read.count == DATA_CELL_BYTES &&
               data_pattern_check(&p->pattern, reply->read.data, reply->read.count,
                                  fileset_file_identity(p->options.fileset, j), 0, UINT64_MAX, what, sizeof what);
    }
    return error;
}

int populate_file(struct worker *w, struct dir_work *d, uint64_t j)
{
    struct populate *p = w->populate;
    struct fileset *fs = p->options.fileset;
    struct process_facts *facts = &p->options.shared->facts;
    struct found *f = &d->files[j - d->first_file];
    const struct nfs3_fh *dir = &fs->dir_handles[d->dir];
    uint64_t want = fileset_file_bytes(fs, j);
    char name[FILESET_NAME_BYTES];
    int error = 0;
    fileset_file_name(j, name);
    if (f->type == UNSEEN) {
        uint32_t type = 0;
        uint64_t bytes = 0;
        struct nfs3_fh fh = {0};
        error = tree_lookup(&p->tree, dir, name, &fh, &type, &bytes);
        f->type = error == -ENOENT ? 0 : (uint8_t)type;
        f->bytes = bytes;
        f->fh = fh;
    } else if (f->type != 0 && f->type != NFS3_REG) {
        error = tree_remove(&p->tree, dir, name, f->type);
        f->type = 0;
        facts->n_files_removed++;
    }
    if (error != 0 && error != -ENOENT) {
        return error;
    }
    bool is_kept = f->type == NFS3_REG;
    struct nfs3_fh fh = f->fh;
    uint64_t have = is_kept ? f->bytes : 0;
    if (!is_kept) {
        error = tree_create(&p->tree, dir, name, &fh);
    } else if (have > want) {
        error = set_size(p, &fh, name, want);
        have = want;
    }
    if (error == 0 && is_kept && p->pattern.verify && have > 0) {
        bool yes = false;
        error = is_stamped(p, &fh, name, j, &yes);
        if (error == 0 && (!yes || have % DATA_CELL_BYTES != 0)) {
            error = set_size(p, &fh, name, 0);
            have = 0;
        }
    }
    if (error == 0 && have < want) {
        error = write_file(w, &fh, name, j, have, want);
    }
    if (error != 0) {
        return error;
    }
    uint32_t row = fileset_ws_of_file(fs, j);
    if (row != FILESET_NONE) {
        fs->ws_handles[row] = fh;
    }
    facts->n_files++;
    facts->fileset_bytes += want;
    facts->n_files_kept += is_kept;
    facts->n_files_created += !is_kept;
    progress(p, 1);
    return 0;
}

/* Every other slot is full at the start. */
int populate_slot(struct populate *p, struct dir_work *d, uint32_t i)
{
    struct fileset *fs = p->options.fileset;
    const struct nfs3_fh *dir = &fs->dir_handles[d->dir];
    struct found *f = &d->slots[i - d->first_slot];
    bool is_wanted = i % 2 == 0;
    char name[FILESET_NAME_BYTES];
    struct nfs3_fh fh = f->fh;
    int error = 0;
    fileset_slot_name(i, name);
    if (f->type != 0 && (!is_wanted || f->type != NFS3_REG)) {
        error = tree_remove(&p->tree, dir, name, f->type == UNSEEN ? 0 : f->type);
        f->type = 0;
    }
    if (error == 0 && is_wanted && f->type == 0) {
        error = tree_create(&p->tree, dir, name, &fh);
    }
    if (error == 0 && is_wanted) {
        error = fileset_slot_set_handle(fs, i, &fh);
        if (error == 0) {
            fileset_slot_set(fs, i, SLOT_FILE);
        }
    }
    progress(p, error == 0);
    return error;
}
