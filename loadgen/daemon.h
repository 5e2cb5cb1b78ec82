/* daemon.h - who holds this load generator, and what its processes are doing for him.
 *
 *        ┌──────┐ configure (processes forked)  ┌──────┐ start      ┌─────────┐
 *        │ FREE │──────────────────────────────>│ HELD │───────────>│ a phase │
 *        └──────┘<──────────────────────────────└──────┘<───────────└─────────┘
 *            release, session closed, lease over     all done, stop
 *
 * - One session (an authenticated connection of a prime) holds the lease at a time; every call of it renews the lease.
 * - When the lease is over or the session ends, all load is stopped and every process is gone before anything else
 * happens.
 * - Neutral types: XDR stops at control_service.c.
 *
 * Results: 0; -EBUSY another session holds it; -ENOLCK this session does not (any more); -EINVAL; -EACCES a target that
 * may not be driven; -ESRCH a process is dead; -ENOMEM and other errno of fork. The reason is in message.
 */
#ifndef NFSCURVE_LOADGEN_DAEMON_H
#define NFSCURVE_LOADGEN_DAEMON_H

#include "layout.h"
#include "nfs3_client.h"
#include "supervisor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct daemon;
struct event_base;
struct target_filter;

struct daemon_options {
    int64_t lease_ns;
    const struct target_filter *filter; /* borrowed */
    supervisor_process_fn process_main;
};

struct daemon_target {
    const char *name, *server, *export_path;
    uint16_t nfs_port, mount_port;
};

/* Borrowed during the call. */
struct daemon_config {
    const char *campaign, *prime_host, *workload_json, *engine;
    uint32_t n_targets;
    const struct daemon_target *targets;
    uint32_t n_processes;
    const uint32_t *process_targets;
    uint32_t n_connections;
    int64_t timeout_ns;
    uint32_t uid, gid, n_gids, gids[16];
    bool reserved_port;
    const char *source_address, *machine_name; /* "": any; this host's name */
};

enum daemon_phase_kind { DAEMON_VALIDATE, DAEMON_POPULATE, DAEMON_LOAD, DAEMON_CLEAN };

struct daemon_phase {
    enum daemon_phase_kind kind;
    uint32_t serial, validate_level;
    mono_t start_at; /* LOAD */
    int64_t warmup_ns, run_ns;
};

/* Who holds it; both NULL when it is free. */
struct daemon_holder {
    const char *campaign, *prime_host;
};

struct daemon *daemon_create(struct event_base *base, const struct daemon_options *options);
void daemon_destroy(struct daemon *d);

int daemon_configure(struct daemon *d, uint64_t session, const struct daemon_config *config, char *message, size_t cap);
int daemon_set_layouts(struct daemon *d, const struct process_layout *layouts, uint32_t n, char *message, size_t cap);
int daemon_start(struct daemon *d, const struct daemon_phase *phase, char *message, size_t cap);

/* Ends the present phase; who has not stopped after 700 ms is killed. */
void daemon_stop(struct daemon *d);
void daemon_release(struct daemon *d, const char *why);

/* 0 and the lease is renewed when `session` holds it; else -ENOLCK. The three calls above are for the holder only. */
int daemon_check_lease(struct daemon *d, uint64_t session, char *message, size_t cap);

/* The session's connection is gone: when it held the lease, load stops. */
void daemon_session_ended(struct daemon *d, uint64_t session);

struct daemon_holder daemon_holder(const struct daemon *d);
int64_t daemon_lease_ns(const struct daemon *d);

/* NULL when free. */
const struct supervisor *daemon_supervisor(const struct daemon *d);
uint32_t daemon_process_target(const struct daemon *d, uint32_t process);
/* Intended start of the last LOAD, and of its recorded run; MONO_NEVER when there was none. */
mono_t daemon_load_start(const struct daemon *d);
mono_t daemon_run_start(const struct daemon *d);
/* Of the whole host over the recorded run of the last LOAD; 0 before. */
double daemon_host_cpu_percent(const struct daemon *d);

#endif
