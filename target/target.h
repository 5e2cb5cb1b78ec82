/* target.h - the whole server: shared state, one event loop a thread, signals, files for scripts.
 *
 *   main thread: listening sockets, signals ──accepted sockets, in turn──> thread 1 .. n-1 (a pipe each)
 *   every thread: rpc_server + nfs3_service + mount_service + delay_queue, over one memory_fs
 */
#ifndef NFSCURVE_TARGET_TARGET_H
#define NFSCURVE_TARGET_TARGET_H

#include "options.h"

/* Serves until SIGTERM or SIGINT. Exit status: 0 stopped, 2 a wrong option value, 3 could not listen. Says why on
 * stderr. */
int target_run(const struct target_options *options);

#endif
