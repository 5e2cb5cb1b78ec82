/* worker.h - one event loop of the target with everything that belongs to it alone. */
#ifndef NFSCURVE_TARGET_WORKER_H
#define NFSCURVE_TARGET_WORKER_H

#include "mount_service.h"
#include "nfs3_service.h"

#include <event2/event.h>
#include <pthread.h>

struct worker {
    struct event_base *base;
    struct rpc_server *server;
    struct nfs3_service nfs;
    struct mount_service mount;
    struct rpc_program programs[2];
    struct counters counters;
    pthread_t thread;
    bool is_started;
    int handover[2]; /* pipe of accepted sockets; -1: stop */
    struct event *handover_event;
};

struct worker_options {
    struct nfs3_shared *shared;
    struct mount_table *mounts;
    unsigned max_connections;
    uint64_t seed;
    unsigned number;                      /* of the thread */
    void (*on_accept)(int fd, void *arg); /* of the one that listens; may be NULL */
    void *arg;
};

/* In the caller's memory. 0 or -errno. */
int worker_init(struct worker *worker, const struct worker_options *options);
void worker_fini(struct worker *worker);

/* Runs the loop in a thread of its own, all signals blocked. 0 or -errno. */
int worker_start(struct worker *worker);

/* Gives an accepted socket to the worker's thread. */
void worker_hand_over(struct worker *worker, int fd);

/* Ends the loop and waits for the thread. */
void worker_stop(struct worker *worker);

#endif
