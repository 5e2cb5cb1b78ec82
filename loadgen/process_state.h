/* process_state.h - what the parts of a process share: process.c (commands and phases) and process_connect.c (the way
 * to its target). */
#ifndef NFSCURVE_LOADGEN_PROCESS_STATE_H
#define NFSCURVE_LOADGEN_PROCESS_STATE_H

#include "fileset.h"
#include "interval_log.h"
#include "nfs3_client.h"
#include "process.h"

struct event;
struct event_base;

#define PROCESS_MAX_FDS 256

struct process {
    const struct process_setup *setup;
    const struct workload *workload;
    struct process_shared *shared;
    struct event_base *base;
    struct event *command_event, *finish_event, *patience_event, *beat_event;
    struct nfs3_client *client;
    struct nfs3_call fsinfo;
    struct nfs3_fh root;
    bool is_inherited[PROCESS_MAX_FDS]; /* TCP connections of the daemon, by fd */
    bool is_connected, has_command, is_stopping, is_exiting;
    bool is_dismissed;              /* exiting because it was told to: there is time to take leave of the server */
    struct process_command command; /* the one under way or waiting for the connection */
    char where[320];
    uint32_t dir_bytes;

    struct fileset fileset;
    bool has_fileset;
    struct interval_writer *intervals;

    /* the phase under way: at most one is not NULL */
    struct populate *populate;
    struct clean *clean;
    struct validate *validate;
    struct load *load;
    int end_error;
    char end_message[PROCESS_MESSAGE_MAX];
};

void process_set_state(struct process *p, enum process_state state);

/* The command is over. A command that failed leaves FAILED and the reason; a later command may still be tried. */
void process_finish_command(struct process *p, int error, const char *message);

/* Starts the phase that the command asks for; there is a connection. */
void process_begin_command(struct process *p);

/* Before anything is opened: which connections are the daemon's. */
void process_note_inherited(struct process *p);

/* Mounts, connects and asks FSINFO; then begins the command that waits, or is IDLE. */
void process_connect(struct process *p);
/* What is in flight completes first. Not from inside a callback of the client. */
void process_disconnect(struct process *p);

#endif
