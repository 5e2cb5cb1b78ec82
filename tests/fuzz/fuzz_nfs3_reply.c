/* fuzz_nfs3_reply.c - whatever a server sends as a reply, it decodes within its bounds or is malformed.
 *
 * Input: procedure (1 byte), what was asked for (count, 4 bytes), the record. Procedures from 22 on are MOUNT's.
 */
#include "mount_client.h"
#include "nfs3_decode.h"
#include "rpc_msg.h"
#include "xdr_cursor.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sink;

static void touch(const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sink += ((const uint8_t *)p)[i];
}

static void check_names(const struct nfs3_reply *reply)
{
    for (uint32_t i = 0; i < reply->readdir.n; i++) {
        const struct nfs3_dir_entry *e = &reply->readdir.entries[i];
        if (e->name_len < 1 || e->name_len > NFS3_NAME_MAX || (e->fh && e->fh->len > NFS3_FH_MAX))
            abort();
        touch(e->name, e->name_len);
        if (e->attributes)
            touch(e->attributes, sizeof *e->attributes);
    }
}

static void check(const struct nfs3_call *call, const struct nfs3_reply *reply)
{
    if (reply->result == NFS3_CALL_MALFORMED) {
        if (!reply->message || reply->attributes || reply->dir_attributes || reply->fh)
            abort();
        return;
    }
    if (reply->result != NFS3_CALL_OK)
        abort();
    if (reply->attributes && (reply->attributes->type < NFS3_REG || reply->attributes->type > NFS3_FIFO))
        abort();
    if (reply->fh && reply->fh->len > NFS3_FH_MAX)
        abort();
    if (reply->status)
        return;
    if (call->op == NFS_OP_READ) {
        if (reply->read.count > call->read.count)
            abort();
        touch(reply->read.data, reply->read.count);
    } else if (call->op == NFS_OP_WRITE && reply->write.count > call->write.count) {
        abort();
    } else if (call->op == NFS_OP_READLINK) {
        touch(reply->readlink.path, reply->readlink.len);
    } else if (call->op == NFS_OP_READDIR || call->op == NFS_OP_READDIRPLUS) {
        check_names(reply);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct nfs3_decoder decoder;
    struct rpc_reply_header header;
    char why[160];
    if (size < 5)
        return 0;
    unsigned procedure = data[0];
    uint32_t count = xdr_load_u32(data + 1) % (NFS3_TRANSFER_MAX + 1);
    uint8_t *record = malloc(size - 5 + 1);
    if (!record)
        return 0;
    memcpy(record, data + 5, size - 5);
    rpc_msg_parse_reply(record, size - 5, &header);
    if (header.kind == RPC_REPLY_REFUSED)
        rpc_msg_refusal(&header, why, sizeof why);
    if (header.kind == RPC_REPLY_SUCCESS && procedure >= NFS_OP_COUNT) {
        struct nfs3_fh root;
        if (mount_decode_mnt(header.results, header.results_bytes, &root) == 0 && root.len > NFS3_FH_MAX)
            abort();
    } else if (header.kind == RPC_REPLY_SUCCESS) {
        struct nfs3_call call = {.op = (enum nfs_op)procedure};
        struct nfs3_reply reply;
        if (call.op == NFS_OP_READ)
            call.read.count = count;
        else if (call.op == NFS_OP_WRITE)
            call.write.count = count;
        else if (call.op == NFS_OP_READDIR)
            call.readdir.count = count;
        else if (call.op == NFS_OP_READDIRPLUS)
            call.readdirplus.maxcount = count;
        nfs3_decode_results(&decoder, &call, header.results, header.results_bytes, &reply);
        check(&call, &reply);
    }
    free(record);
    return 0;
}
