/* ops_directory.c - READDIR and READDIRPLUS: a leaf directory, read from its start to its end.
 *
 * A directory of the usual size is one RPC. A larger one takes several, and then cookies must advance: a reply that
 * begins again, repeats its last cookie, or brings nothing without saying that the end is reached would never end; it
 * is named and the request given up.
 */
#include "load.h"
#include "ops.h"

#include <string.h>

static void send_next(struct request *request)
{
    const struct load_options *o = &request->load->options;
    struct rpc *rpc = request_rpc(request, request->op);
    rpc->call.fh = &o->fileset->dir_handles[request->dir];
    if (request->op == NFS_OP_READDIR) {
        rpc->call.readdir.cookie = request->cookie;
        rpc->call.readdir.cookie_verifier = request->cookie_verifier;
        rpc->call.readdir.count = o->dir_bytes;
    } else {
        rpc->call.readdirplus.cookie = request->cookie;
        rpc->call.readdirplus.cookie_verifier = request->cookie_verifier;
        rpc->call.readdirplus.dircount = o->dir_bytes;
        rpc->call.readdirplus.maxcount = o->dir_bytes;
    }
    request_send(rpc);
}

static int begin_directory(struct request *request)
{
    struct load *load = request->load;
    request->dir = (uint32_t)rng_below(&load->rng, load->options.fileset->n_dirs);
    request->cookie = request->cookie_verifier = 0;
    request->first_fileid = 0;
    send_next(request);
    return 0;
}

/* More names than the directory can hold at any moment of the run, whatever else lies in it. */
static uint64_t most_entries(const struct request *request)
{
    const struct fileset *fs = request->load->options.fileset;
    uint64_t first;
    uint32_t first_slot;
    return 2 * (fileset_dir_files(fs, request->dir, &first) + fileset_dir_slots(fs, request->dir, &first_slot)) + 1000;
}

static bool is_advancing(const struct request *request, const struct nfs3_reply *reply)
{
    uint32_t n = reply->readdir.n;
    const struct nfs3_dir_entry *entries = reply->readdir.entries;
    if (n == 0) {
        return reply->readdir.eof;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (entries[i].cookie == request->cookie || (i > 0 && entries[i].cookie == entries[i - 1].cookie)) {
            return false;
        }
    }
    if (request->n_entries > 0 && entries[0].fileid == request->first_fileid) {
        return false; /* from the start again */
    }
    return reply->readdir.eof || request->n_entries + n <= most_entries(request);
}

static enum op_outcome on_directory(struct request *request, struct rpc *rpc, const struct nfs3_reply *reply,
                                    enum op_outcome outcome)
{
    (void)rpc;
    if (outcome != OP_OK) {
        return outcome;
    }
    if (!is_advancing(request, reply)) {
        request_anomaly(request, ANOMALY_BAD_COOKIE);
        return OP_WRONG;
    }
    uint32_t n = reply->readdir.n;
    if (request->n_entries == 0 && n > 0) {
        request->first_fileid = reply->readdir.entries[0].fileid;
    }
    request->n_entries += n;
    if (!reply->readdir.eof) {
        request->cookie = reply->readdir.entries[n - 1].cookie;
        request->cookie_verifier = reply->readdir.cookie_verifier;
        send_next(request);
    }
    return OP_OK;
}

static void end_directory(struct request *request)
{
    (void)request;
}

const struct op_driver *op_driver_directory(void)
{
    static const struct op_driver driver = {begin_directory, on_directory, end_directory};
    return &driver;
}
