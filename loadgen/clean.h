/* clean.h - removes a process's fileset from the server, by what is there rather than by what should be. */
#ifndef NFSCURVE_LOADGEN_CLEAN_H
#define NFSCURVE_LOADGEN_CLEAN_H

#include "nfs3_client.h"
#include "process.h"

struct event_base;
struct clean;

struct clean_options {
    struct event_base *base;
    struct nfs3_client *client;
    struct process_shared *shared;   /* progress, last_op */
    const char *where;               /* "server:/export" */
    uint32_t client_number, process; /* CL<client_number>/testdir<process> */
    uint32_t dir_bytes;
    int64_t timeout_ns;
    struct nfs3_fh root;
    /* 0, -ECANCELED, or the first failure and its message. Once, from the loop. */
    void (*on_end)(struct clean *clean, int error, const char *message, void *arg);
    void *arg;
};

/* NULL when memory is short. */
struct clean *clean_start(const struct clean_options *options);
void clean_stop(struct clean *clean);
/* After on_end. */
void clean_destroy(struct clean *clean);

#endif
