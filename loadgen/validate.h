/* validate.h - is the server's NFSv3 right? Checked before any load, rule by rule; what is broken is named.
 *
 *   level 1  every op works
 *   level 2  attributes, sizes, times, directory contents, cookies and verifiers are right
 *   level 3  data: what is written is read, at every edge
 *
 * A rule that is broken becomes a process_finding {rule, op, expected, got}; the rules that do not depend on it are
 * checked all the same. All work is done in a directory of its own, validate<client>-<process>, which is removed again.
 */
#ifndef NFSCURVE_LOADGEN_VALIDATE_H
#define NFSCURVE_LOADGEN_VALIDATE_H

#include "nfs3_client.h"
#include "process.h"

struct event_base;
struct validate;

struct validate_options {
    struct event_base *base;
    struct nfs3_client *client;
    struct process_shared *shared; /* findings, progress, last_op */
    const char *where;             /* "server:/export" */
    uint32_t level;                /* 1..3 */
    uint32_t client_number, process;
    int64_t timeout_ns;
    struct nfs3_fh root;
    /* 0 whatever was found, -ECANCELED, or why it could not go on. Once, from the loop. */
    void (*on_end)(struct validate *validate, int error, const char *message, void *arg);
    void *arg;
};

/* NULL when memory is short. */
struct validate *validate_start(const struct validate_options *options);
void validate_stop(struct validate *validate);
/* After on_end. NULL is fine. */
void validate_destroy(struct validate *validate);

#endif
