/* process_connect.c - a process's way to its target: mount and connections, then FSINFO and the block sizes that follow
 * from it. */
#include "log.h"
#include "process_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define DEFAULT_BLOCK_BYTES 8192u /* of a server whose FSINFO names no transfer size */
#define MIN_DIR_BYTES       8192u
#define MAX_DIR_BYTES       32768u

void process_disconnect(struct process *p)
{
    if (p->client != NULL) {
        nfs3_client_destroy(p->client);
        p->client = NULL;
    }
    p->is_connected = false;
}

/* The block size of the workload, or the server's; never more than the server takes. */
static uint32_t choose_block(const struct workload *w, uint32_t server_max)
{
    uint32_t block = w->block_size_bytes > 0 ? w->block_size_bytes : w->block_size_max_bytes;
    uint32_t most = server_max > 0 ? server_max : DEFAULT_BLOCK_BYTES;
    if (block == 0 || block > most) {
        block = most;
    }
    if (block > NFS3_TRANSFER_MAX) {
        block = NFS3_TRANSFER_MAX;
    }
    return block >= 1024 ? block / 1024 * 1024 : block;
}

static void connection_failed(struct process *p, int error, const char *message)
{
    if (p->has_command) {
        process_finish_command(p, error, message);
        return;
    }
    snprintf(p->shared->message, sizeof p->shared->message, "%s", message);
    log_error("process %u: %s", p->setup->process, message);
    process_set_state(p, PROCESS_FAILED);
}

static bool address_text(const struct sockaddr_storage *address, char *out, size_t cap)
{
    char host[INET6_ADDRSTRLEN];
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        snprintf(out, cap, "%s:%u", host, ntohs(in->sin_port));
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
        snprintf(out, cap, "[%s]:%u", host, ntohs(in6->sin6_port));
    } else {
        return false;
    }
    return true;
}

/* Both ends of the TCP connection on fd; false when it is none. */
static bool tcp_ends(int fd, struct sockaddr_storage *local, struct sockaddr_storage *peer)
{
    socklen_t local_bytes = sizeof *local, peer_bytes = sizeof *peer;
    peer->ss_family = AF_UNSPEC;
    return getsockname(fd, (struct sockaddr *)local, &local_bytes) == 0 &&
           getpeername(fd, (struct sockaddr *)peer, &peer_bytes) == 0 &&
           (peer->ss_family == AF_INET || peer->ss_family == AF_INET6);
}

void process_note_inherited(struct process *p)
{
    struct sockaddr_storage local, peer;
    for (int fd = 0; fd < PROCESS_MAX_FDS; fd++) {
        p->is_inherited[fd] = tcp_ends(fd, &local, &peer);
    }
}

/* The engines keep their sockets to themselves; but the first TCP connection that was not there at the fork is theirs.
 */
static void note_addresses(struct process *p)
{
    struct process_facts *f = &p->shared->facts;
    struct sockaddr_storage local, peer;
    for (int fd = 0; fd < PROCESS_MAX_FDS; fd++) {
        if (!p->is_inherited[fd] && tcp_ends(fd, &local, &peer) &&
            address_text(&local, f->local_address, sizeof f->local_address) &&
            address_text(&peer, f->server_address, sizeof f->server_address)) {
            return;
        }
    }
}

static void on_fsinfo(struct nfs3_call *call, const struct nfs3_reply *reply)
{
    struct process *p = call->owner;
    struct process_facts *f = &p->shared->facts;
    if (reply->result != NFS3_CALL_OK || reply->status != 0) {
        char message[PROCESS_MESSAGE_MAX];
        snprintf(message, sizeof message, "%s: fsinfo: %s", p->where,
                 reply->result != NFS3_CALL_OK ? reply->message : nfs_status_name(nfs_status_index(reply->status)));
        connection_failed(p, -EIO, message);
        return;
    }
    f->rtmax = reply->fsinfo.rtmax;
    f->rtpref = reply->fsinfo.rtpref;
    f->wtmax = reply->fsinfo.wtmax;
    f->wtpref = reply->fsinfo.wtpref;
    f->dtpref = reply->fsinfo.dtpref;
    f->read_block_bytes = choose_block(p->workload, f->rtmax);
    f->write_block_bytes = choose_block(p->workload, f->wtmax);
    p->dir_bytes = f->dtpref < MIN_DIR_BYTES ? MIN_DIR_BYTES : f->dtpref > MAX_DIR_BYTES ? MAX_DIR_BYTES : f->dtpref;
    p->is_connected = true;
    note_addresses(p);
    if (p->has_command) {
        process_begin_command(p);
    } else {
        process_set_state(p, PROCESS_IDLE);
    }
}

static void on_ready(struct nfs3_client *client, int error, const char *message, void *arg)
{
    struct process *p = arg;
    if (error == 0) {
        p->root = *nfs3_client_root(client);
        p->fsinfo = (struct nfs3_call){.op = NFS_OP_FSINFO, .fh = &p->root, .on_done = on_fsinfo, .owner = p};
        error = nfs3_send(client, &p->fsinfo);
        message = "the connection closed at once";
    }
    if (error != 0) {
        connection_failed(p, error, message);
    }
}

void process_connect(struct process *p)
{
    process_disconnect(p);
    process_set_state(p, PROCESS_CONNECTING);
    p->client = nfs3_client_create(p->base, &p->setup->client, on_ready, p);
    if (p->client == NULL) {
        connection_failed(p, -ENOMEM, "not enough memory to connect");
    }
}
