/* validate_rules.h - what the rules of validate_*.c share: the sandbox they work in, calls, and how a finding is made.
 */
#ifndef NFSCURVE_LOADGEN_VALIDATE_RULES_H
#define NFSCURVE_LOADGEN_VALIDATE_RULES_H

#include "fiber.h"
#include "process.h"
#include "tree.h"

struct validate_context {
    struct fiber_group *group;
    struct tree tree;
    struct process_shared *shared; /* (ref) */
    struct nfs3_fh root, dir;      /* dir: the sandbox, empty at the start of every rule */
    uint32_t rtmax, wtmax;
    uint64_t write_verifier; /* of the last WRITE */
};

/* 0 also when a rule was broken (that is a finding); a negative errno when the checks can't go on. */
typedef int (*validate_rule_fn)(struct validate_context *v);

struct validate_rule {
    const char *name;
    uint32_t level;
    validate_rule_fn check;
};

const struct validate_rule *validate_op_rules(uint32_t *n);        /* validate_ops.c, level 1 */
const struct validate_rule *validate_attribute_rules(uint32_t *n); /* validate_attributes.c, level 2 */
const struct validate_rule *validate_directory_rules(uint32_t *n); /* validate_directories.c, level 2 */
const struct validate_rule *validate_data_rules(uint32_t *n);      /* validate_data.c, level 3 */

/* Notes a broken rule; a second finding of the same rule is dropped. */
void validate_find(struct validate_context *v, const char *rule, enum nfs_op op, const char *expected,
                   const char *got_format, ...) __attribute__((format(printf, 5, 6)));

/* Sends the call. 0 with *reply when it was answered with `status`; 1 when not, after a finding; negative errno when
 * the checks can't go on (the connection is lost, the phase is being stopped). A time-out, a malformed reply and an RPC
 * error are findings. */
int validate_call(struct validate_context *v, const char *rule, struct nfs3_call *call, uint32_t status,
                  const struct nfs3_reply **reply);

/* A file of that name and content in the sandbox, written FILE_SYNC. As validate_call. */
int validate_make_file(struct validate_context *v, const char *rule, const char *name, const uint8_t *data,
                       uint32_t bytes, struct nfs3_fh *fh);

#define VALIDATE_STATUS_OK       0u
#define VALIDATE_STATUS_NOENT    2u
#define VALIDATE_STATUS_EXIST    17u
#define VALIDATE_STATUS_NOTDIR   20u
#define VALIDATE_STATUS_ISDIR    21u
#define VALIDATE_STATUS_NOTEMPTY 66u
#define VALIDATE_STATUS_STALE    70u
#define VALIDATE_STATUS_NOTSUPP  10004u
#define VALIDATE_STATUS_NOT_SYNC 10002u

#endif
