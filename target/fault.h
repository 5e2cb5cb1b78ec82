/* fault.h - rules that make the server misbehave, by operation and by index or chance.
 *
 *   OPS[:SELECTOR]...:ACTION
 *
 *   OPS        read   read+write   any (every NFS procedure)   mnt dump umnt umntall export (MOUNT)
 *   SELECTOR   index=5      the fifth call of these procedures since the rule was set, counting from 1
 *              index=5-9    the fifth to the ninth
 *              every=100    every hundredth
 *              probability=0.01
 *              times=3      at most three times
 *              (none: every call)
 *   ACTION     status=NFS3ERR_IO   jukebox        the call is refused with that status, and not carried out
 *              delay=20ms                         answered so much later
 *              drop                               carried out, never answered
 *              reset                              carried out, the connection is reset instead of an answer
 *              duplicate                          answered twice
 *              garbage                            the answer is random bytes under the right xid
 *              truncate[=N]                       the answer record is cut to N bytes (without N: to half)
 *              wrong_xid                          the answer has another xid
 *              short_read[=N]                     READ returns N bytes (without N: half of them), no end of file
 *              wrong_data                         READ returns other bytes than the file has
 *              ignore_cookie                      READDIR and READDIRPLUS list from the start whatever the cookie
 *              found                              LOOKUP of a missing name succeeds (and means the directory)
 *              wrong_attributes                   GETATTR and post-op attributes have size + 1 and another type
 *              new_verifier                       the server "restarted": new write verifier, uncommitted data is lost
 *              pause=2s                           nothing at all is answered for so long, as in a failover
 *
 * For MOUNT only status=NUMBER|MNT3ERR_ACCES, delay, drop, reset and pause mean anything.
 * Several rules may hit one call. Matching is thread-safe; without rules it costs one relaxed load.
 */
#ifndef NFSCURVE_TARGET_FAULT_H
#define NFSCURVE_TARGET_FAULT_H

#include "nfs_op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_OP_MOUNT    NFS_OP_COUNT /* + MOUNT procedure number */
#define FAULT_OP_COUNT    (NFS_OP_COUNT + 6)
#define FAULT_MAX_ACTIONS 8u /* of one call */

enum fault_kind {
    FAULT_STATUS,
    FAULT_DELAY,
    FAULT_DROP,
    FAULT_RESET,
    FAULT_DUPLICATE,
    FAULT_GARBAGE,
    FAULT_TRUNCATE,
    FAULT_WRONG_XID,
    FAULT_SHORT_READ,
    FAULT_WRONG_DATA,
    FAULT_IGNORE_COOKIE,
    FAULT_FOUND,
    FAULT_WRONG_ATTRIBUTES,
    FAULT_NEW_VERIFIER,
    FAULT_PAUSE,
    FAULT_KIND_COUNT
};

struct fault_action {
    enum fault_kind kind;
    uint32_t status;     /* FAULT_STATUS */
    int64_t duration_ns; /* FAULT_DELAY, FAULT_PAUSE */
    bool has_bytes;      /* FAULT_TRUNCATE, FAULT_SHORT_READ */
    uint32_t bytes;
};

/* The faults of one call. */
struct fault_hits {
    unsigned n;
    struct fault_action actions[FAULT_MAX_ACTIONS];
};

struct fault_set;

struct fault_set *fault_set_create(uint64_t seed);
void fault_set_destroy(struct fault_set *set);

/* 0, or -EINVAL with the reason in message[cap]. */
int fault_add(struct fault_set *set, const char *text, char *message, size_t cap);

/* All rules of `from` replace those of `to`; `from` is empty then. Indices start again. */
void fault_replace(struct fault_set *to, struct fault_set *from);

/* Counts a call of an operation (FAULT_OP_MOUNT + n for MOUNT) and says what is to go wrong with it. */
void fault_match(struct fault_set *set, unsigned op, struct fault_hits *hits);

/* The action of a kind among the hits, or NULL. */
static inline const struct fault_action *fault_find(const struct fault_hits *hits, enum fault_kind kind)
{
    for (unsigned i = 0; i < hits->n; i++) {
        if (hits->actions[i].kind == kind) {
            return &hits->actions[i];
        }
    }
    return NULL;
}

#endif
