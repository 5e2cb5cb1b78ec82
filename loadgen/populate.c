/* populate.c - see populate.h: the fibers and what they take on next. */
#include "populate_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_WORKERS   32u
#define CHUNK_FILES 16u
#define WAIT_NS     (2 * NS_PER_MS)

static void end_with(struct populate *p, int error)
{
    if (error != 0 && p->error == 0) {
        p->error = error;
        fiber_group_stop(p->group);
    }
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
        error = populate_file(w, d, d->first_file + i);
    }
    d->n_done += n;
    if (d->n_done == d->n_files) {
        populate_close_dir(d);
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
            error = populate_open_dir(w, p->next_dir++);
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

static void lead(struct fiber_group *group, void *arg)
{
    (void)group;
    struct populate *p = arg;
    int error = populate_top(p);
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
        populate_close_dir(d);
    }
    fiber_group_destroy(populate->group);
    data_pattern_fini(&populate->pattern);
    free(populate);
}
