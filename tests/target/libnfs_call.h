/* libnfs_call.h - how libnfs_client's calls are made: started, queued in libnfs with on_reply, and run to their end. */
#ifndef NFSCURVE_TESTS_LIBNFS_CALL_H
#define NFSCURVE_TESTS_LIBNFS_CALL_H

#include "libnfs_client.h"

/* What a procedure's callback copies out of libnfs's result. */
typedef void (*copy_fn)(struct client *c, const void *result);

/* The private data of a call; must live until call_finish. */
struct pending {
    struct client *c;
    copy_fn copy; /* NULL: nothing to copy, and status 0 */
};

/* Forgets the last reply. */
struct pending call_start(struct client *c, copy_fn copy);

/* libnfs's callback of every call. */
void call_on_reply(struct rpc_context *rpc, int status, void *data, void *private_data);

/* `queued` is what libnfs's function returned. Waits for the reply; its status. */
uint32_t call_finish(struct client *c, int queued);

/* Ends the program: these are tools. */
_Noreturn void call_fatal(const char *what);

#endif
