/* latency.c - see latency.h.
 *
 * A curve gives the mean over operations as its workload counted them. sfs2008 counts requests: a READ or WRITE that
 * takes several RPCs is one op whose response time runs from the first RPC sent to the last answer, and COMMIT belongs
 * to its WRITE. With `logical` the model therefore recognises the RPCs of one request (same file and procedure, offset
 * joining what came just before, the earlier one a whole block) and lets all of them be due when the first one is;
 * later rounds of a client with few biods arrive after that and are answered at once. Only the first counts as offered
 * load.
 */
#include "latency.h"
#include "latency_curve.h"
#include "units.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEC_MAX_BYTES 1024u
#define N_REQUESTS     8192u /* remembered requests, by hash of the file */
#define JOIN_WITHIN_NS                                                                                                 \
    (20 * NS_PER_MS) /* of the request's due time: a later RPC of it comes a round trip after an earlier answer */
#define SMALLEST_BLOCK 8192u /* what counts as a whole block when the size is not given */

enum model_kind { MODEL_NONE, MODEL_FIXED, MODEL_EXPONENTIAL, MODEL_CURVE };

struct model {
    enum model_kind kind;
    int64_t mean_ns;
};

/* The latest request of a file. */
struct request {
    uint32_t fileid;
    uint32_t op;
    uint64_t start, end;
    uint32_t count; /* of its latest RPC */
    mono_t due, last_at;
};

struct latency {
    struct model models[NFS_OP_COUNT];
    bool is_free[NFS_OP_COUNT];
    bool is_logical;
    uint32_t block_bytes; /* 0: any */
    struct latency_curve *curve;
    struct request *requests;
    pthread_mutex_t lock; /* of curve and requests */
    struct latency *next; /* retired before */
};

static int complain(const char *part, const char *why, char *message, size_t cap)
{
    snprintf(message, cap, "latency '%.100s' %s", part, why);
    return -EINVAL;
}

static int parse_simple_model(struct model *model, const char *text)
{
    const char *value = strchr(text, ':');
    if (strcmp(text, "none") == 0) {
        *model = (struct model){.kind = MODEL_NONE};
        return 0;
    }
    if (!value || units_parse_duration_ns(value + 1, &model->mean_ns) < 0 || model->mean_ns < 0) {
        return -EINVAL;
    }
    size_t n = (size_t)(value - text);
    if (n == strlen("fixed") && strncmp(text, "fixed", n) == 0) {
        model->kind = MODEL_FIXED;
    } else if (n == strlen("exponential") && strncmp(text, "exponential", n) == 0) {
        model->kind = MODEL_EXPONENTIAL;
    } else {
        return -EINVAL;
    }
    return 0;
}

static void set_all(struct latency *latency, struct model model)
{
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        latency->models[op] = model;
    }
}

static int parse_free(struct latency *latency, char *ops, char *message, size_t cap)
{
    char *save = NULL;
    for (char *name = strtok_r(ops, "+", &save); name; name = strtok_r(NULL, "+", &save)) {
        enum nfs_op op;
        if (nfs_op_parse(name, &op) < 0) {
            return complain(name, "is no operation", message, cap);
        }
        latency->is_free[op] = true;
    }
    return 0;
}

static int parse_logical(struct latency *latency, const char *block, char *message, size_t cap)
{
    uint64_t bytes = 0;
    if (block && (units_parse_bytes(block, &bytes) < 0 || bytes == 0 || bytes > UINT32_MAX)) {
        return complain(block, "is no block size, such as logical=1024KiB", message, cap);
    }
    latency->is_logical = true;
    latency->block_bytes = (uint32_t)bytes;
    latency->is_free[NFS_OP_COMMIT] = true;
    latency->requests = latency->requests ? latency->requests : calloc(N_REQUESTS, sizeof *latency->requests);
    return latency->requests ? 0 : complain("logical", "finds no memory", message, cap);
}

static int parse_part(struct latency *latency, char *part, char *message, size_t cap)
{
    static const char expected[] =
        "is not none, fixed:TIME, exponential:TIME, curve:FILE, OP=MODEL, free=OP+OP or logical=BLOCK";
    struct model model = {0};
    char *equals = strchr(part, '=');
    if (strncmp(part, "curve:", 6) == 0) {
        latency_curve_destroy(latency->curve);
        latency->curve = latency_curve_load(part + 6, message, cap);
        set_all(latency, (struct model){.kind = MODEL_CURVE});
        return latency->curve ? 0 : -EINVAL;
    }
    if (strcmp(part, "logical") == 0) {
        return parse_logical(latency, NULL, message, cap);
    }
    if (equals && strncmp(part, "logical=", 8) == 0) {
        return parse_logical(latency, equals + 1, message, cap);
    }
    if (equals && strncmp(part, "free=", 5) == 0) {
        return parse_free(latency, equals + 1, message, cap);
    }
    if (!equals) {
        if (parse_simple_model(&model, part) < 0) {
            return complain(part, expected, message, cap);
        }
        set_all(latency, model);
        return 0;
    }
    enum nfs_op op;
    if (parse_simple_model(&model, equals + 1) < 0) {
        return complain(part, expected, message, cap);
    }
    *equals = '\0';
    if (nfs_op_parse(part, &op) < 0) {
        return complain(part, "is no operation", message, cap);
    }
    latency->models[op] = model;
    return 0;
}

struct latency *latency_create(const char *spec, char *message, size_t cap)
{
    char copy[SPEC_MAX_BYTES], *save = NULL;
    struct latency *latency = calloc(1, sizeof *latency);
    if (!latency || strlen(spec) >= sizeof copy) {
        complain(spec, "is too long", message, cap);
        free(latency);
        return NULL;
    }
    pthread_mutex_init(&latency->lock, NULL);
    snprintf(copy, sizeof copy, "%s", spec);
    for (char *part = strtok_r(copy, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
        if (parse_part(latency, part, message, cap) < 0) {
            latency_destroy(latency);
            return NULL;
        }
    }
    return latency;
}

void latency_destroy(struct latency *latency)
{
    while (latency) {
        struct latency *next = latency->next;
        latency_curve_destroy(latency->curve);
        free(latency->requests);
        pthread_mutex_destroy(&latency->lock);
        free(latency);
        latency = next;
    }
}

struct latency *latency_retire(struct latency *latency, struct latency *list)
{
    latency->next = list;
    return latency;
}

/* Is the call a further RPC of the request that was seen last on its file? */
static bool joins(const struct latency *latency, const struct request *request, const struct latency_call *call)
{
    if (request->fileid != call->fileid || request->op != call->op) {
        return false;
    }
    if (latency->block_bytes ? request->count != latency->block_bytes && call->count != latency->block_bytes
                             : request->count < SMALLEST_BLOCK && call->count < SMALLEST_BLOCK) {
        return false;
    }
    if (call->offset != request->end && call->offset + call->count != request->start) {
        return false;
    }
    mono_t latest = mono_before(request->due, request->last_at) ? request->last_at : request->due;
    return mono_since_ns(call->at, latest) < JOIN_WITHIN_NS;
}

static mono_t curve_due(struct latency *latency, const struct latency_call *call)
{
    bool may_join = latency->is_logical && (call->op == NFS_OP_READ || call->op == NFS_OP_WRITE) && call->fileid != 0;
    if (!may_join) {
        return latency_curve_due(latency->curve, call->at);
    }
    struct request *request = &latency->requests[(call->fileid * 2u + (call->op == NFS_OP_WRITE)) % N_REQUESTS];
    if (joins(latency, request, call)) {
        request->start = call->offset < request->start ? call->offset : request->start;
        request->end = call->offset + call->count > request->end ? call->offset + call->count : request->end;
    } else {
        *request = (struct request){.fileid = call->fileid,
                                    .op = call->op,
                                    .start = call->offset,
                                    .end = call->offset + call->count,
                                    .due = latency_curve_due(latency->curve, call->at)};
    }
    request->count = call->count;
    request->last_at = call->at;
    return request->due;
}

mono_t latency_due(struct latency *latency, const struct latency_call *call, struct rng *rng)
{
    if (latency->is_free[call->op]) {
        return call->at;
    }
    const struct model *model = &latency->models[call->op];
    mono_t due = call->at;
    switch (model->kind) {
    case MODEL_NONE:
        break;
    case MODEL_FIXED:
        due = mono_plus_ns(call->at, model->mean_ns);
        break;
    case MODEL_EXPONENTIAL:
        due = mono_plus_ns(call->at, (int64_t)rng_exponential(rng, (double)model->mean_ns));
        break;
    case MODEL_CURVE:
        pthread_mutex_lock(&latency->lock);
        due = curve_due(latency, call);
        pthread_mutex_unlock(&latency->lock);
        break;
    }
    return due;
}
