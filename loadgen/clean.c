/* clean.c - see clean.h.
 *
 *   lead fiber: lists a batch of testdir ──> N_WORKERS fibers remove its names ──> next batch, until nothing is left
 */
#include "clean.h"

#include "fileset.h"
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_WORKERS 32u
#define BATCH     4096u
#define WAIT_NS   (2 * NS_PER_MS)

struct clean {
    struct clean_options options;
    struct fiber_group *group;
    struct tree tree;
    struct nfs3_fh testdir;
    int error;
    uint32_t n_working, n, at;
    struct {
        char *name;
        uint32_t type;
    } entries[BATCH];
};

static void end_with(struct clean *c, int error)
{
    if (error != 0 && c->error == 0) {
        c->error = error;
        fiber_group_stop(c->group);
    }
}

static bool on_entry(void *arg, const struct tree_entry *e)
{
    struct clean *c = arg;
    c->entries[c->n].name = strdup(e->name);
    if (c->entries[c->n].name == NULL) {
        return false;
    }
    c->entries[c->n].type = e->has_attributes ? e->attributes.type : 0;
    return ++c->n < BATCH;
}

static void drop_batch(struct clean *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        free(c->entries[i].name);
    }
    c->n = c->at = 0;
}

static int remove_entry(struct clean *c, const char *name, uint32_t type)
{
    struct nfs3_fh fh;
    if (type == 0 || type == NFS3_DIR) {
        int error = tree_lookup(&c->tree, &c->testdir, name, &fh, &type, NULL);
        if (error == 0 && type == NFS3_DIR) {
            error = tree_empty_dir(&c->tree, &fh, &c->options.shared->progress_done);
        }
        if (error != 0) {
            return error == -ENOENT ? 0 : error;
        }
    }
    return tree_remove(&c->tree, &c->testdir, name, type);
}

static void work(struct fiber_group *group, void *arg)
{
    struct clean *c = arg;
    int error = 0;
    while (error == 0 && c->at < c->n && !fiber_group_is_stopping(group)) {
        uint32_t i = c->at++;
        error = remove_entry(c, c->entries[i].name, c->entries[i].type);
    }
    c->n_working--;
    end_with(c, error);
}

static int remove_batch(struct clean *c)
{
    int error = tree_list(&c->tree, &c->testdir, c->options.dir_bytes, on_entry, c);
    for (uint32_t i = 0; error == 0 && i < N_WORKERS && i < c->n; i++) {
        error = fiber_start(c->group, work, c);
        c->n_working += error == 0;
    }
    while (error == 0 && c->n_working > 0) {
        error = fiber_pause(c->group, WAIT_NS);
    }
    return error;
}

static int remove_testdir(struct clean *c)
{
    char client[FILESET_NAME_BYTES], testdir[FILESET_NAME_BYTES];
    struct nfs3_fh client_dir;
    uint32_t type;
    snprintf(client, sizeof client, "CL%u", c->options.client_number);
    snprintf(testdir, sizeof testdir, "testdir%u", c->options.process);
    int error = tree_lookup(&c->tree, &c->options.root, client, &client_dir, &type, NULL);
    if (error == 0) {
        error = tree_lookup(&c->tree, &client_dir, testdir, &c->testdir, &type, NULL);
    }
    if (error != 0) {
        return error == -ENOENT ? 0 : error;
    }
    bool again = true;
    while (again && error == 0) {
        drop_batch(c);
        error = remove_batch(c);
        again = c->n > 0;
    }
    if (error == 0) {
        error = tree_remove(&c->tree, &client_dir, testdir, NFS3_DIR);
    }
    if (error == 0) {
        /* The last process takes the client's directory along; before that it is not empty. */
        struct nfs3_call call = {.op = NFS_OP_RMDIR, .fh = &c->options.root, .name = client};
        const struct nfs3_reply *reply;
        if (fiber_call(c->group, &call, &reply) == -ECANCELED) {
            error = -ECANCELED;
        }
    }
    return error;
}

static void lead(struct fiber_group *group, void *arg)
{
    (void)group;
    struct clean *c = arg;
    end_with(c, remove_testdir(c));
}

static void on_group_end(struct fiber_group *group, void *arg)
{
    struct clean *c = arg;
    int error = c->error;
    if (error == 0 && fiber_group_is_stopping(group)) {
        error = -ECANCELED;
    }
    if (error != 0 && error != -ECANCELED && c->tree.message[0] == '\0') {
        snprintf(c->tree.message, sizeof c->tree.message, "%s: %s", c->options.where, strerror(-error));
    }
    c->options.on_end(c, error, c->tree.message, c->options.arg);
}

struct clean *clean_start(const struct clean_options *options)
{
    struct clean *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    c->options = *options;
    c->tree.where = options->where;
    struct fiber_group_options group = {.base = options->base,
                                        .client = options->client,
                                        .timeout_ns = options->timeout_ns,
                                        .last_op = &options->shared->last_op,
                                        .on_end = on_group_end,
                                        .arg = c};
    c->group = fiber_group_create(&group);
    c->tree.group = c->group;
    atomic_store(&options->shared->progress_done, 0);
    if (c->group == NULL || fiber_start(c->group, lead, c) != 0) {
        clean_destroy(c);
        return NULL;
    }
    return c;
}

void clean_stop(struct clean *clean)
{
    fiber_group_stop(clean->group);
}

void clean_destroy(struct clean *clean)
{
    if (clean == NULL) {
        return;
    }
    drop_batch(clean);
    fiber_group_destroy(clean->group);
    free(clean);
}
