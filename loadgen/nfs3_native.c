/* nfs3_native.c - the native engine: our own XDR over rpc_conn.
 *
 *   call ──header template + arguments (copied), WRITE data (by reference)──> rpc_conn ──one writev per tick──> server
 *        <──nfs3_reply that points into the receive buffer── decode <── xid table <── all records of one read ──
 *
 * The xid table is indexed by the low bits of the xid and holds the whole xid beside the call, so a reply finds its
 * call in constant time and an unknown, late or duplicate xid finds none. Xids count up; one whose place is still taken
 * by an older call is skipped, so no two calls in flight share a place. The table doubles at half full.
 *
 * A server that guesses an xid cannot complete a call whose bytes have not left: `sent` is still zero then, and
 * rpc_conn will write it later.
 */
#include "nfs3_decode.h"
#include "nfs3_encode.h"
#include "nfs3_link.h"
#include "rpc_conn.h"
#include "xdr_cursor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX_BYTES    (NFS3_TRANSFER_MAX + 4096)
#define READ_BUFFER_BYTES   65536
#define TABLE_INITIAL_SLOTS 64

struct slot {
    struct nfs3_call *call; /* NULL: free */
    uint32_t xid;
};

struct wire {
    struct nfs3_link *link; /* (ref) */
    struct rpc_conn *conn;
    struct slot *slots;
    uint32_t n_slots; /* a power of two */
    uint32_t n_used;
    uint32_t next_xid;
    struct nfs3_decoder decoder;
    size_t header_bytes;
    uint8_t header[RPC_MSG_CALL_HEADER_MAX]; /* template: xid and procedure are set per call */
};

static int grow_table(struct wire *w)
{
    uint32_t n = w->n_slots * 2;
    struct slot *slots = calloc(n, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    /* Different low bits stay different with one bit more. */
    for (uint32_t i = 0; i < w->n_slots; i++) {
        if (w->slots[i].call)
            slots[w->slots[i].xid & (n - 1)] = w->slots[i];
    }
    free(w->slots);
    w->slots = slots;
    w->n_slots = n;
    return 0;
}

static int native_submit(void *wire, struct nfs3_call *call)
{
    static const uint8_t zeros[4];
    struct wire *w = wire;
    if (2 * (w->n_used + 1) > w->n_slots && grow_table(w))
        return -ENOMEM;
    uint32_t xid = w->next_xid;
    while (w->slots[xid & (w->n_slots - 1)].call)
        xid++;

    uint8_t head[RPC_MSG_CALL_HEADER_MAX + NFS3_ARGS_MAX];
    memcpy(head, w->header, w->header_bytes);
    xdr_store_u32(head, xid);
    xdr_store_u32(head + RPC_MSG_PROCEDURE_AT, (uint32_t)call->op);
    size_t bytes = w->header_bytes + nfs3_encode_args(call, head + w->header_bytes);

    struct rpc_segment data[2];
    unsigned n = 0;
    size_t data_bytes = 0;
    if (call->op == NFS_OP_WRITE && call->write.count) {
        data_bytes = xdr_padded(call->write.count);
        data[n++] = (struct rpc_segment){.data = call->write.data, .bytes = call->write.count};
        if (data_bytes > call->write.count)
            data[n++] = (struct rpc_segment){.data = zeros, .bytes = data_bytes - call->write.count};
    }
    int error = rpc_conn_send(w->conn, head, bytes, data, n, &call->sent);
    if (error)
        return error;
    call->xid = xid;
    w->slots[xid & (w->n_slots - 1)] = (struct slot){call, xid};
    w->n_used++;
    w->next_xid = xid + 1;
    nfs3_link_config(w->link)->counters->bytes_sent += 4 + bytes + data_bytes;
    return 0;
}

static struct slot *find_slot(struct wire *w, const struct rpc_reply_header *header)
{
    if (!header->has_xid || header->kind == RPC_REPLY_NOT_REPLY)
        return NULL;
    struct slot *slot = &w->slots[header->xid & (w->n_slots - 1)];
    bool is_ours = slot->call && slot->xid == header->xid && slot->call->sent.ns != 0;
    return is_ours ? slot : NULL;
}

static void on_record(struct rpc_conn *conn, uint8_t *record, size_t bytes, mono_t at, void *arg)
{
    struct wire *w = arg;
    struct rpc_reply_header header;
    struct nfs3_reply reply;
    char why[160];
    rpc_msg_parse_reply(record, bytes, &header);
    struct nfs3_client_counters *counters = nfs3_link_config(w->link)->counters;
    counters->bytes_received += 4 + bytes;
    struct slot *slot = find_slot(w, &header);
    if (!slot) {
        counters->n_unknown_xid++;
        return;
    }
    struct nfs3_call *call = slot->call;
    slot->call = NULL;
    w->n_used--;
    call->read_at = rpc_conn_read_at(conn);
    /* A reply that was there before its call had left was guessed. */
    call->done = mono_before(at, call->sent) ? call->read_at : at;
    if (header.kind == RPC_REPLY_SUCCESS) {
        nfs3_decode_results(&w->decoder, call, header.results, header.results_bytes, &reply);
    } else if (header.kind == RPC_REPLY_REFUSED) {
        memset(&reply, 0, sizeof reply);
        reply.result = NFS3_CALL_RPC_ERROR;
        reply.message = rpc_msg_refusal(&header, why, sizeof why);
    } else {
        memset(&reply, 0, sizeof reply);
        reply.result = NFS3_CALL_MALFORMED;
        reply.message = "malformed RPC reply header";
    }
    nfs3_link_complete(w->link, call, &reply);
}

static void on_close(struct rpc_conn *conn, int error, const char *message, void *arg)
{
    struct wire *w = arg;
    (void)conn, (void)error;
    nfs3_link_broken(w->link, message);
}

static void native_close(void *wire)
{
    struct wire *w = wire;
    if (w->conn)
        rpc_conn_destroy(w->conn);
    nfs3_decoder_fini(&w->decoder);
    free(w->slots);
    free(w);
}

static int native_open(struct nfs3_link *link, int fd, void **wire, const char **why)
{
    static const struct rpc_conn_handlers handlers = {.on_record = on_record, .on_close = on_close};
    static const struct rpc_conn_limits limits = {
        .max_record_bytes = RECORD_MAX_BYTES, .max_queued_bytes = SIZE_MAX, .read_buffer_bytes = READ_BUFFER_BYTES};
    static uint32_t n_opened;
    struct wire *w = calloc(1, sizeof *w);
    if (w) {
        w->link = link;
        w->n_slots = TABLE_INITIAL_SLOTS;
        w->slots = calloc(w->n_slots, sizeof *w->slots);
        nfs3_decoder_init(&w->decoder);
        /* From another start on every connection, so that a server's duplicate request cache cannot take one's call for
         * another's. */
        w->next_xid = (uint32_t)mono_now().ns ^ (uint32_t)getpid() << 16 ^ ++n_opened << 20;
        w->header_bytes =
            rpc_msg_call_header(w->header, 0, NFS3_PROGRAM, NFS3_VERSION, 0, &nfs3_link_config(link)->auth);
        w->conn = w->slots ? rpc_conn_create(nfs3_link_config(link)->base, fd, &limits, &handlers, w) : NULL;
    }
    if (w && w->conn) {
        rpc_conn_stamp_arrivals(w->conn);
        *wire = w;
        return 0;
    }
    *why = "out of memory";
    close(fd);
    if (w)
        native_close(w);
    return -ENOMEM;
}

const struct nfs3_transport nfs3_native_transport = {
    .name = "native", .open = native_open, .close = native_close, .submit = native_submit};
