/* populate.c - see populate.h. */
#include "populate.h"

#include "log.h"
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_WORKERS   32u
#define CHUNK_FILES 16u
#define MAX_EXTRAS  256u
#define MAX_ROUNDS  8u
#define MAX_DEPTH   16u
#define WAIT_NS     (2 * NS_PER_MS)

/* What a listing found of one of our names. */
struct found {
    uint8_t type; /* 0: not there; UNSEEN: there, but without attributes or handle */
    uint64_t bytes;
    struct nfs3_fh fh;
} __attribute__((packed));

#define UNSEEN UINT8_MAX

/* A directory that is being worked on. */
struct dir_work {
    struct dir_work *next;
    uint32_t dir;
    uint64_t first_file, n_files;
    uint32_t first_slot, n_slots;
    struct found *files, *slots;
    uint64_t n_given, n_done; /* files */
    uint32_t n_extras;
    char *extras[MAX_EXTRAS];
    uint32_t extra_types[MAX_EXTRAS];
};

struct populate {
    struct populate_options options;
    struct fiber_group *group;
    struct tree tree;
    struct data_pattern pattern;
    uint64_t generation;
    uint32_t next_dir, n_opening;
    struct dir_work *open; /* with files to be given out */
    int error;
};

/* One fiber's own. */
struct worker {
    struct populate *populate;
    uint8_t *buffer;
    uint32_t cached_dir; /* inner directories of the last leaf that it made */
    bool has_cached;
    struct nfs3_fh cached[MAX_DEPTH];
};

static void end_with(struct populate *p, int error)
{
    if (error != 0 && p->error == 0) {
        p->error = error;
        fiber_group_stop(p->group);
    }
}

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

/* Makes file j what it must be. */
static int do_file(struct worker *w, struct dir_work *d, uint64_t j)
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
static int do_slot(struct populate *p, struct dir_work *d, uint32_t i)
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

static void keep_extra(struct dir_work *d, const struct tree_entry *e)
{
    if (d->n_extras < MAX_EXTRAS && (d->extras[d->n_extras] = strdup(e->name)) != NULL) {
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
            keep_extra(d, e);
        }
    } else if (fileset_parse_name(e->name, e->len, FILESET_SLOT_PREFIX, &number)) {
        if (number >= d->first_slot && number < d->first_slot + d->n_slots) {
            note(&d->slots[number - d->first_slot], e);
        } else {
            keep_extra(d, e);
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
        if (error != 0 || n < MAX_EXTRAS) {
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
    for (uint32_t level = 1; level < depth && level < MAX_DEPTH; level++) {
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

static void close_dir(struct dir_work *d)
{
    free(d->files);
    free(d->slots);
    free(d);
}

/* Makes or lists directory `dir`, does its slots, and puts its files up for all fibers. */
static int open_dir(struct worker *w, uint32_t dir)
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
        error = do_slot(p, d, d->first_slot + i);
    }
    if (error != 0 || d->n_files == 0) {
        close_dir(d);
        return error;
    }
    d->next = p->open;
    p->open = d;
    return 0;
}

/* A chunk of the files that are put up. */
static int do_chunk(struct worker *w)
{
    struct populate *p = w->populate;
    struct dir_work *d = p->open;
    uint64_t from = d->n_given, n = d->n_files - from < CHUNK_FILES ? d->n_files - from : CHUNK_FILES;
    d->n_given += n;
    if (d->n_given == d->n_files) {
        p->open = d->next;
    }
    int error = 0;
    for (uint64_t i = from; i < from + n && error == 0; i++) {
        error = do_file(w, d, d->first_file + i);
    }
    d->n_done += n;
    if (d->n_done == d->n_files) {
        close_dir(d);
    }
    return error;
}

static void work(struct fiber_group *group, void *arg)
{
    struct worker *w = arg;
    struct populate *p = w->populate;
    int error = 0;
    while (error == 0 && !fiber_group_is_stopping(group)) {
        if (p->open != NULL) {
            error = do_chunk(w);
        } else if (p->next_dir < p->options.fileset->n_dirs) {
            p->n_opening++;
            error = open_dir(w, p->next_dir++);
            p->n_opening--;
        } else if (p->n_opening > 0) {
            error = fiber_pause(group, WAIT_NS);
        } else {
            break;
        }
    }
    end_with(p, error);
    free(w->buffer);
    free(w);
}

static int start_workers(struct populate *p)
{
    for (uint32_t i = 0; i < N_WORKERS; i++) {
        struct worker *w = calloc(1, sizeof *w);
        if (w == NULL) {
            return -ENOMEM;
        }
        w->populate = p;
        w->buffer = malloc(p->options.block_bytes);
        if (w->buffer == NULL || fiber_start(p->group, work, w) != 0) {
            free(w->buffer);
            free(w);
            return -ENOMEM;
        }
    }
    return 0;
}

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
        keep_extra(&t->extras, e);
    }
    return t->extras.n_extras < MAX_EXTRAS;
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

static void lead(struct fiber_group *group, void *arg)
{
    (void)group;
    struct populate *p = arg;
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
    if (error == 0) {
        error = do_dir_slots(p);
    }
    if (error == 0) {
        error = start_workers(p);
    }
    end_with(p, error);
}

static void on_group_end(struct fiber_group *group, void *arg)
{
    struct populate *p = arg;
    int error = p->error;
    if (error == 0 && fiber_group_is_stopping(group)) {
        error = -ECANCELED;
    }
    if (error == 0) {
        p->options.shared->facts.memory_bytes = fileset_memory_bytes(p->options.fileset);
    }
    if (error != 0 && error != -ECANCELED && p->tree.message[0] == '\0') {
        snprintf(p->tree.message, sizeof p->tree.message, "%s: %s", p->options.where, strerror(-error));
    }
    p->options.on_end(p, error, p->tree.message, p->options.arg);
}

struct populate *populate_start(const struct populate_options *options)
{
    struct populate *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->options = *options;
    p->generation = (uint64_t)wall_now().ns;
    p->tree.where = options->where;
    struct fiber_group_options group = {.base = options->base,
                                        .client = options->client,
                                        .timeout_ns = options->timeout_ns,
                                        .last_op = &options->shared->last_op,
                                        .on_end = on_group_end,
                                        .arg = p};
    p->group = fiber_group_create(&group);
    p->tree.group = p->group;
    struct process_facts *facts = &options->shared->facts;
    facts->n_files = facts->fileset_bytes = facts->n_files_created = facts->n_files_kept = facts->n_files_removed = 0;
    atomic_store(&options->shared->progress_done, 0);
    atomic_store(&options->shared->progress_total, options->fileset->layout.n_files + options->fileset->n_slots);
    if (p->group == NULL || data_pattern_init(&p->pattern, options->fileset->workload, options->seed) != 0 ||
        fiber_start(p->group, lead, p) != 0) {
        populate_destroy(p);
        return NULL;
    }
    return p;
}

void populate_stop(struct populate *populate)
{
    fiber_group_stop(populate->group);
}

void populate_destroy(struct populate *populate)
{
    if (populate == NULL) {
        return;
    }
    while (populate->open != NULL) {
        struct dir_work *d = populate->open;
        populate->open = d->next;
        close_dir(d);
    }
    fiber_group_destroy(populate->group);
    data_pattern_fini(&populate->pattern);
    free(populate);
}
