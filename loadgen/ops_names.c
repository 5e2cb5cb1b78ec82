/* ops_names.c - CREATE, REMOVE, MKDIR, RMDIR, SYMLINK, MKNOD, RENAME, LINK: names made, removed and moved among the
 * slots.
 *
 * What makes a name takes an empty slot, what removes one a full slot; both are always found: when a mix fills or
 * empties all slots, a by-product comes first (a REMOVE before a SYMLINK, a CREATE before a REMOVE ...), which counts
 * as the RPC it is. Directories have slots of their own. While such an op is under way its slots are busy: no other op
 * looks at them. An op that ends without an answer leaves its slot unknown; a CREATE UNCHECKED, which succeeds either
 * way, brings it back.
 */
#include "load.h"
#include "ops.h"

#include <errno.h>

#define MASK(state) (1u << (state))
#define MASK_FULL   (MASK(SLOT_FILE) | MASK(SLOT_SYMLINK) | MASK(SLOT_FIFO))

static struct fileset *fileset_of(struct request *request)
{
    return request->load->options.fileset;
}

static bool is_dir_op(enum nfs_op op)
{
    return op == NFS_OP_MKDIR || op == NFS_OP_RMDIR;
}

static uint32_t pick_dir_slot(struct request *request, uint32_t mask)
{
    const struct fileset *fs = fileset_of(request);
    uint32_t start = (uint32_t)rng_below(&request->load->rng, FILESET_N_DIR_SLOTS);
    for (uint32_t i = 0; i < FILESET_N_DIR_SLOTS; i++) {
        uint32_t slot = (start + i) % FILESET_N_DIR_SLOTS;
        if (mask >> fs->dir_slots[slot] & 1) {
            return slot;
        }
    }
    return FILESET_NONE;
}

enum name_step { STEP_NAME, STEP_HANDLE };

/* Finds the slots that `op` needs: `slot` is the name made or removed (RENAME: the new name), `to_slot` the file that
 * RENAME moves or LINK gives another name. */
static bool choose(struct request *request, enum nfs_op op)
{
    struct fileset *fs = fileset_of(request);
    struct rng *rng = &request->load->rng;
    request->to_slot = FILESET_NONE;
    switch (op) {
    case NFS_OP_MKDIR:
        request->slot = pick_dir_slot(request, MASK(SLOT_EMPTY));
        break;
    case NFS_OP_RMDIR:
        request->slot = pick_dir_slot(request, MASK(SLOT_FILE));
        break;
    case NFS_OP_REMOVE:
        request->slot = fileset_pick_slot(fs, rng, MASK_FULL, true);
        break;
    case NFS_OP_CREATE:
        request->slot = fileset_pick_slot(fs, rng, MASK(SLOT_EMPTY) | MASK(SLOT_UNKNOWN), true);
        break;
    case NFS_OP_RENAME:
    case NFS_OP_LINK:
        request->slot = fileset_pick_slot(fs, rng, MASK(SLOT_EMPTY), true);
        request->to_slot = fileset_pick_slot(fs, rng, MASK(SLOT_FILE), true);
        return request->slot != FILESET_NONE && request->to_slot != FILESET_NONE;
    default:
        request->slot = fileset_pick_slot(fs, rng, MASK(SLOT_EMPTY), true);
        break;
    }
    return request->slot != FILESET_NONE;
}

/* What makes room for `op`, or something to work on, when choose() found nothing. */
static enum nfs_op by_product_of(struct request *request, enum nfs_op op)
{
    const struct fileset *fs = fileset_of(request);
    bool has_file = fs->n_in_state[SLOT_FILE] > 0;
    bool has_full = has_file || fs->n_in_state[SLOT_SYMLINK] > 0 || fs->n_in_state[SLOT_FIFO] > 0;
    switch (op) {
    case NFS_OP_MKDIR:
        return NFS_OP_RMDIR;
    case NFS_OP_RMDIR:
        return NFS_OP_MKDIR;
    case NFS_OP_REMOVE:
        return NFS_OP_CREATE;
    case NFS_OP_RENAME:
    case NFS_OP_LINK:
        return has_file ? NFS_OP_REMOVE : NFS_OP_CREATE;
    default:
        return has_full ? NFS_OP_REMOVE : NFS_OP_CREATE;
    }
}

static void mark(struct request *request, enum slot_state state)
{
    struct fileset *fs = fileset_of(request);
    if (is_dir_op(request->acting)) {
        fs->dir_slots[request->slot] = (uint8_t)state;
    } else {
        fileset_slot_set(fs, request->slot, state);
    }
}

static void fill_call(struct request *request, struct rpc *rpc)
{
    struct fileset *fs = fileset_of(request);
    const struct nfs3_fh *dir = &fs->testdir;
    if (is_dir_op(request->acting)) {
        fileset_dir_slot_name(request->slot, rpc->name);
    } else {
        fileset_slot_name(request->slot, rpc->name);
        dir = &fs->dir_handles[fileset_slot_dir(fs, request->slot)];
    }
    rpc->call.fh = dir;
    rpc->call.name = rpc->name;
    switch (request->acting) {
    case NFS_OP_CREATE:
        rpc->call.create.how = NFS3_CREATE_UNCHECKED;
        rpc->call.create.set = (struct nfs3_set){.has_mode = true, .mode = 0644, .has_size = true};
        break;
    case NFS_OP_MKDIR:
        rpc->call.mkdir.set = (struct nfs3_set){.has_mode = true, .mode = 0755};
        break;
    case NFS_OP_SYMLINK:
        fileset_symlink_text(request->slot, rpc->to_name);
        rpc->call.symlink.set = (struct nfs3_set){.has_mode = true, .mode = 0777};
        rpc->call.symlink.path = rpc->to_name;
        break;
    case NFS_OP_MKNOD:
        rpc->call.mknod.type = NFS3_FIFO;
        rpc->call.mknod.set = (struct nfs3_set){.has_mode = true, .mode = 0644};
        break;
    case NFS_OP_RENAME:
        fileset_slot_name(request->to_slot, rpc->to_name);
        rpc->call.fh = &fs->dir_handles[fileset_slot_dir(fs, request->to_slot)];
        rpc->call.name = rpc->to_name;
        rpc->call.rename.to_dir = dir;
        rpc->call.rename.to_name = rpc->name;
        break;
    case NFS_OP_LINK:
        rpc->fh = *fileset_slot_handle(fs, request->to_slot);
        rpc->call.fh = &rpc->fh;
        rpc->call.link.dir = dir;
        break;
    default:
        break;
    }
}

static void act(struct request *request, enum nfs_op op)
{
    request->acting = op;
    request->step = STEP_NAME;
    mark(request, SLOT_BUSY);
    if (request->to_slot != FILESET_NONE) {
        fileset_slot_set(fileset_of(request), request->to_slot, SLOT_BUSY);
    }
    struct rpc *rpc = request_rpc(request, op);
    fill_call(request, rpc);
    request_send(rpc);
}

static int begin_names(struct request *request)
{
    enum nfs_op op = request->op;
    if (!choose(request, op)) {
        op = by_product_of(request, op);
        if (!choose(request, op)) {
            request->slot = request->to_slot = FILESET_NONE;
            return -EAGAIN;
        }
    }
    act(request, op);
    return 0;
}

/* CREATE's reply may leave the handle out (RFC 1813 3.3.8): the name is looked up then. */
static void send_lookup(struct request *request)
{
    struct fileset *fs = fileset_of(request);
    struct rpc *rpc = request_rpc(request, NFS_OP_LOOKUP);
    request->step = STEP_HANDLE;
    fileset_slot_name(request->slot, rpc->name);
    rpc->call.name = rpc->name;
    rpc->call.fh = &fs->dir_handles[fileset_slot_dir(fs, request->slot)];
    request_send(rpc);
}

/* The name is made, removed or moved: what the slots are now. */
static void settle(struct request *request, const struct nfs3_fh *fh)
{
    struct fileset *fs = fileset_of(request);
    switch (request->acting) {
    case NFS_OP_CREATE:
        mark(request, fileset_slot_set_handle(fs, request->slot, fh) == 0 ? SLOT_FILE : SLOT_UNKNOWN);
        break;
    case NFS_OP_MKDIR:
        mark(request, SLOT_FILE);
        break;
    case NFS_OP_SYMLINK:
        mark(request, SLOT_SYMLINK);
        break;
    case NFS_OP_MKNOD:
        mark(request, SLOT_FIFO);
        break;
    case NFS_OP_RENAME:
        mark(request, fileset_slot_set_handle(fs, request->slot, fileset_slot_handle(fs, request->to_slot)) == 0
                          ? SLOT_FILE
                          : SLOT_UNKNOWN);
        fileset_slot_set_handle(fs, request->to_slot, NULL);
        fileset_slot_set(fs, request->to_slot, SLOT_EMPTY);
        break;
    case NFS_OP_LINK:
        mark(request, fileset_slot_set_handle(fs, request->slot, fileset_slot_handle(fs, request->to_slot)) == 0
                          ? SLOT_FILE
                          : SLOT_UNKNOWN);
        fileset_slot_set(fs, request->to_slot, SLOT_FILE);
        break;
    case NFS_OP_REMOVE:
        fileset_slot_set_handle(fs, request->slot, NULL);
        mark(request, SLOT_EMPTY);
        break;
    default: /* RMDIR */
        mark(request, SLOT_EMPTY);
        break;
    }
    request->slot = request->to_slot = FILESET_NONE;
}

static enum op_outcome on_names(struct request *request, struct rpc *rpc, const struct nfs3_reply *reply,
                                enum op_outcome outcome)
{
    (void)rpc;
    if (outcome != OP_OK) {
        return outcome;
    }
    if (request->acting == NFS_OP_CREATE && reply->fh == NULL) {
        if (request->step == STEP_HANDLE) {
            return OP_WRONG; /* a LOOKUP without a handle */
        }
        send_lookup(request);
        return OP_OK;
    }
    if (reply->attributes != NULL && request->acting == NFS_OP_CREATE && reply->attributes->type != NFS3_REG) {
        request_anomaly(request, ANOMALY_WRONG_ATTRIBUTES);
        return OP_WRONG;
    }
    settle(request, reply->fh);
    if (request->acting != request->op) {
        if (choose(request, request->op)) {
            act(request, request->op);
        } else {
            request->is_good = false;
            request->slot = request->to_slot = FILESET_NONE;
        }
    }
    return OP_OK;
}

/* Without an answer that settled them the slots are left unknown; a directory's slot is not used again. */
static void end_names(struct request *request)
{
    struct fileset *fs = fileset_of(request);
    if (request->slot != FILESET_NONE) {
        if (!is_dir_op(request->acting)) {
            fileset_slot_set_handle(fs, request->slot, NULL);
        }
        mark(request, SLOT_UNKNOWN);
    }
    if (request->to_slot != FILESET_NONE) {
        fileset_slot_set_handle(fs, request->to_slot, NULL);
        fileset_slot_set(fs, request->to_slot, SLOT_UNKNOWN);
    }
}

const struct op_driver *op_driver_names(void)
{
    static const struct op_driver driver = {begin_names, on_names, end_names};
    return &driver;
}
