/* populate.h - brings the fileset on the server to what the layout says, many calls at a time.
 *
 *   next directory ──fiber──> made or listed ──chunks of its files──> fibers: create, write, cut, extend, keep
 *
 * What is there and right is kept; what is too short or too long is written on or cut; what has the wrong type is
 * replaced; what the layout no longer knows is removed. Memory does not grow with the number of files: only directories
 * being worked on have a list.
 */
#ifndef NFSCURVE_LOADGEN_POPULATE_H
#define NFSCURVE_LOADGEN_POPULATE_H

#include "data_pattern.h"
#include "fileset.h"
#include "process.h"

struct event_base;
struct populate;

struct populate_options {
    struct event_base *base;
    struct nfs3_client *client;
    struct fileset *fileset;
    struct process_shared *shared; /* progress, facts, last_op */
    const char *where;             /* "server:/export" */
    uint32_t block_bytes;          /* of a WRITE */
    uint32_t dir_bytes;            /* of a READDIRPLUS */
    int64_t timeout_ns;
    struct nfs3_fh root;
    uint64_t seed;
    /* 0, -ECANCELED, or the first failure and its message. Once, from the loop. */
    void (*on_end)(struct populate *populate, int error, const char *message, void *arg);
    void *arg;
};

/* NULL when memory is short. */
struct populate *populate_start(const struct populate_options *options);
void populate_stop(struct populate *populate);
/* After on_end. */
void populate_destroy(struct populate *populate);

#endif
