/* validate.c - see validate.h: runs the rules one after the other in a fiber, each in an empty sandbox. */
#include "validate.h"

#include "validate_rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FAMILIES 4

struct validate {
    struct validate_options options;
    struct fiber_group *group;
    struct validate_context context;
    int error;
};

void validate_find(struct validate_context *v, const char *rule, enum nfs_op op, const char *expected,
                   const char *got_format, ...)
{
    struct process_shared *s = v->shared;
    for (uint32_t i = 0; i < s->n_findings; i++) {
        if (strcmp(s->findings[i].rule, rule) == 0) {
            return;
        }
    }
    if (s->n_findings >= PROCESS_FINDINGS_MAX) {
        return;
    }
    struct process_finding *f = &s->findings[s->n_findings++];
    snprintf(f->rule, sizeof f->rule, "%s", rule);
    snprintf(f->op, sizeof f->op, "%s", nfs_op_name(op));
    snprintf(f->expected, sizeof f->expected, "%s", expected);
    va_list args;
    va_start(args, got_format);
    vsnprintf(f->got, sizeof f->got, got_format, args);
    va_end(args);
}

int validate_call(struct validate_context *v, const char *rule, struct nfs3_call *call, uint32_t status,
                  const struct nfs3_reply **reply)
{
    int error = fiber_call(v->group, call, reply);
    const char *expected = nfs_status_name(nfs_status_index(status));
    switch (error) {
    case 0:
        if ((*reply)->status == status) {
            return 0;
        }
        validate_find(v, rule, call->op, expected, "%s", nfs_status_name(nfs_status_index((*reply)->status)));
        return 1;
    case -ECANCELED:
    case -ENOMEM:
        return error;
    default:
        validate_find(v, rule, call->op, expected, "%s", (*reply)->message);
        return error == -ENOTCONN ? error : 1;
    }
}

int validate_make_file(struct validate_context *v, const char *rule, const char *name, const uint8_t *data,
                       uint32_t bytes, struct nfs3_fh *fh)
{
    const struct nfs3_reply *reply;
    struct nfs3_call create = {.op = NFS_OP_CREATE,
                               .fh = &v->dir,
                               .name = name,
                               .create = {.how = NFS3_CREATE_UNCHECKED, .set = {.has_mode = true, .mode = 0644}}};
    int r = validate_call(v, rule, &create, VALIDATE_STATUS_OK, &reply);
    if (r != 0) {
        return r;
    }
    if (reply->fh != NULL) {
        *fh = *reply->fh;
    } else {
        struct nfs3_call lookup = {.op = NFS_OP_LOOKUP, .fh = &v->dir, .name = name};
        r = validate_call(v, rule, &lookup, VALIDATE_STATUS_OK, &reply);
        if (r != 0) {
            return r;
        }
        *fh = *reply->fh;
    }
    uint32_t at = 0;
    while (at < bytes) {
        uint32_t n = bytes - at < v->wtmax ? bytes - at : v->wtmax;
        struct nfs3_call write = {.op = NFS_OP_WRITE,
                                  .fh = fh,
                                  .write = {.offset = at, .count = n, .stable = NFS3_FILE_SYNC, .data = data + at}};
        r = validate_call(v, rule, &write, VALIDATE_STATUS_OK, &reply);
        if (r != 0) {
            return r;
        }
        if (reply->write.count == 0) {
            validate_find(v, rule, NFS_OP_WRITE, "at least one byte written", "NFS3_OK with count 0");
            return 1;
        }
        at += reply->write.count;
    }
    return 0;
}

static int run_rules(struct validate *v, const struct validate_rule *rules, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (rules[i].level > v->options.level) {
            continue;
        }
        int error = rules[i].check(&v->context);
        if (error < 0) {
            return error;
        }
        v->context.tree.message[0] = '\0';
        error = tree_empty_dir(&v->context.tree, &v->context.dir, NULL);
        if (error == -ECANCELED || error == -ECONNRESET) {
            return error;
        }
        if (error != 0) {
            validate_find(&v->context, "sandbox-empties", NFS_OP_REMOVE,
                          "all names of a directory can be listed and removed", "%s", v->context.tree.message);
            return 0; /* the next rules would stumble over what is left */
        }
        atomic_fetch_add(&v->options.shared->progress_done, 1);
    }
    return 0;
}

static uint32_t families(const struct validate_rule *rules[static N_FAMILIES], uint32_t n[static N_FAMILIES],
                         uint32_t level)
{
    rules[0] = validate_op_rules(&n[0]);
    rules[1] = validate_attribute_rules(&n[1]);
    rules[2] = validate_directory_rules(&n[2]);
    rules[3] = validate_data_rules(&n[3]);
    uint32_t total = 0;
    for (int i = 0; i < N_FAMILIES; i++) {
        for (uint32_t k = 0; k < n[i]; k++) {
            total += rules[i][k].level <= level;
        }
    }
    return total;
}

static int check(struct validate *v)
{
    struct validate_context *c = &v->context;
    char name[32];
    snprintf(name, sizeof name, "validate%u-%u", v->options.client_number, v->options.process);
    int error = tree_ensure_dir(&c->tree, &c->root, name, &c->dir, NULL);
    if (error == 0) {
        error = tree_empty_dir(&c->tree, &c->dir, NULL);
    }
    if (error != 0) {
        return error;
    }
    const struct validate_rule *rules[N_FAMILIES];
    uint32_t n[N_FAMILIES];
    atomic_store(&v->options.shared->progress_total, families(rules, n, v->options.level));
    for (int i = 0; i < N_FAMILIES && error == 0; i++) {
        error = run_rules(v, rules[i], n[i]);
    }
    if (error == 0) {
        struct nfs3_call call = {.op = NFS_OP_RMDIR, .fh = &c->root, .name = name};
        const struct nfs3_reply *reply;
        int r = validate_call(c, "rmdir-works", &call, VALIDATE_STATUS_OK, &reply);
        error = r < 0 ? r : 0;
    }
    return error;
}

static void lead(struct fiber_group *group, void *arg)
{
    (void)group;
    struct validate *v = arg;
    v->error = check(v);
}

static void on_group_end(struct fiber_group *group, void *arg)
{
    (void)group;
    struct validate *v = arg;
    char message[PROCESS_MESSAGE_MAX] = "";
    if (v->error != 0) {
        snprintf(message, sizeof message, "validation could not go on: %.440s",
                 v->context.tree.message[0] != '\0' ? v->context.tree.message : strerror(-v->error));
    }
    v->options.on_end(v, v->error, message, v->options.arg);
}

struct validate *validate_start(const struct validate_options *options)
{
    struct validate *v = calloc(1, sizeof *v);
    if (v == NULL) {
        return NULL;
    }
    v->options = *options;
    struct fiber_group_options group = {.base = options->base,
                                        .client = options->client,
                                        .timeout_ns = options->timeout_ns,
                                        .last_op = &options->shared->last_op,
                                        .on_end = on_group_end,
                                        .arg = v};
    v->group = fiber_group_create(&group);
    v->context = (struct validate_context){.group = v->group,
                                           .tree = {.group = v->group, .where = options->where},
                                           .shared = options->shared,
                                           .root = options->root,
                                           .rtmax = options->shared->facts.rtmax,
                                           .wtmax = options->shared->facts.wtmax};
    uint32_t *limits[] = {&v->context.rtmax, &v->context.wtmax};
    for (int i = 0; i < 2; i++) {
        *limits[i] = *limits[i] == 0 ? 8192 : *limits[i] > NFS3_TRANSFER_MAX ? NFS3_TRANSFER_MAX : *limits[i];
    }
    options->shared->n_findings = 0;
    atomic_store(&options->shared->progress_done, 0);
    if (v->group == NULL || fiber_start(v->group, lead, v) != 0) {
        validate_destroy(v);
        return NULL;
    }
    return v;
}

void validate_stop(struct validate *validate)
{
    fiber_group_stop(validate->group);
}

void validate_destroy(struct validate *validate)
{
    if (validate == NULL) {
        return;
    }
    fiber_group_destroy(validate->group);
    free(validate);
}
