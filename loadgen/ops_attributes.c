/* ops_attributes.c - NULL, GETATTR, SETATTR, LOOKUP, ACCESS, READLINK, FSSTAT, FSINFO, PATHCONF: one RPC each.
 *
 * Names and attributes are asked of non-I/O slots; of the working set when the workload has no slots. LOOKUP of a
 * missing name takes an empty slot. A SETATTR that truncates an I/O file makes room for appends (see ops_data.c).
 */
#include "load.h"
#include "ops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STATUS_NOENT 2u
#define ACCESS_ALL   0x3fu /* RFC 1813 3.3.4: READ LOOKUP MODIFY EXTEND DELETE EXECUTE */
#define MASK(state)  (1u << (state))

/* Takes a slot to look at. */
static bool look_at(struct request *request, uint32_t mask)
{
    struct fileset *fs = request->load->options.fileset;
    uint32_t slot = fileset_pick_slot(fs, &request->load->rng, mask, false);
    if (slot == FILESET_NONE || fs->slots[slot].n_users == UINT8_MAX) {
        return false;
    }
    fs->slots[slot].n_users++;
    request->slot = slot;
    return true;
}

/* The object whose attributes are asked: an existing slot, or else a file of the working set. */
static bool set_object(struct request *request, struct rpc *rpc)
{
    struct load *load = request->load;
    struct fileset *fs = load->options.fileset;
    if (look_at(request, MASK(SLOT_FILE))) {
        rpc->fh = *fileset_slot_handle(fs, request->slot);
    } else {
        uint32_t row = working_set_pick(&load->working_set, WANT_ANY, 0, false);
        if (row == FILESET_NONE) {
            return false;
        }
        request->row = row;
        load->uses[request->number] = (struct file_use){row, false};
        rpc->fh = fs->ws_handles[row];
    }
    rpc->call.fh = &rpc->fh;
    return true;
}

static bool set_name(struct request *request, struct rpc *rpc)
{
    struct load *load = request->load;
    struct fileset *fs = load->options.fileset;
    bool is_missing = deck_next(&load->missing, &load->rng) == 1;
    uint32_t dir;
    if (is_missing && look_at(request, MASK(SLOT_EMPTY))) {
        fileset_slot_name(request->slot, rpc->name);
        dir = fileset_slot_dir(fs, request->slot);
    } else if (is_missing) {
        /* No empty slot: a name that no one ever makes. */
        dir = (uint32_t)rng_below(&load->rng, fs->n_dirs);
        snprintf(rpc->name, sizeof rpc->name, "missing.%05u", (unsigned)rng_below(&load->rng, 100000));
    } else if (look_at(request, MASK(SLOT_FILE))) {
        fileset_slot_name(request->slot, rpc->name);
        dir = fileset_slot_dir(fs, request->slot);
    } else {
        uint32_t row = working_set_pick(&load->working_set, WANT_ANY, 0, false);
        if (row == FILESET_NONE) {
            return false;
        }
        uint64_t file = fileset_ws_file(fs, row);
        fileset_file_name(file, rpc->name);
        dir = fileset_file_dir(fs, file);
    }
    if (is_missing) {
        rpc->expected_status = STATUS_NOENT;
    }
    rpc->call.fh = &fs->dir_handles[dir];
    rpc->call.name = rpc->name;
    return true;
}

static void set_setattr(struct request *request, struct rpc *rpc)
{
    struct nfs3_set *set = &rpc->call.setattr.set;
    if (rng_below(&request->load->rng, 2) == 0) {
        set->has_mode = true;
        set->mode = rng_below(&request->load->rng, 2) == 0 ? 0644 : 0666;
    } else {
        set->atime_how = set->mtime_how = NFS3_TIME_SERVER;
    }
}

static bool prepare(struct request *request, struct rpc *rpc)
{
    struct load *load = request->load;
    struct fileset *fs = load->options.fileset;
    rpc->call.fh = &load->options.root;
    switch (request->op) {
    case NFS_OP_LOOKUP:
        return set_name(request, rpc);
    case NFS_OP_GETATTR:
        return set_object(request, rpc);
    case NFS_OP_ACCESS:
        rpc->call.access.access = ACCESS_ALL;
        return set_object(request, rpc);
    case NFS_OP_SETATTR:
        set_setattr(request, rpc);
        return set_object(request, rpc);
    case NFS_OP_READLINK:
        if (fs->n_symlinks == 0) {
            return false;
        }
        request->dir = (uint32_t)rng_below(&load->rng, fs->n_symlinks);
        rpc->call.fh = &fs->symlink_handles[request->dir];
        return true;
    default:
        return true; /* of the export's root */
    }
}

static int begin_attributes(struct request *request)
{
    struct rpc *rpc = request_rpc(request, request->op);
    if (!prepare(request, rpc)) {
        rpc->is_used = false;
        return -EAGAIN;
    }
    request_send(rpc);
    return 0;
}

int ops_begin_truncation(struct request *request)
{
    struct load *load = request->load;
    struct fileset *fs = load->options.fileset;
    uint32_t row = working_set_pick(&load->working_set, WANT_LARGEST, 0, true);
    if (row == FILESET_NONE) {
        return -EAGAIN;
    }
    load->n_truncations_in_a_row++;
    load->uses[request->number] = (struct file_use){row, true};
    request->row = row;
    request->is_truncation = true;
    struct rpc *rpc = request_rpc(request, NFS_OP_SETATTR);
    rpc->call.fh = &fs->ws_handles[row];
    rpc->call.setattr.set.has_size = true;
    request_send(rpc);
    return 0;
}

/* Whether a good reply says what it must. */
static bool is_right(const struct request *request, const struct nfs3_reply *reply, bool is_missing)
{
    const struct fileset *fs = request->load->options.fileset;
    switch (request->op) {
    case NFS_OP_GETATTR:
    case NFS_OP_ACCESS:
    case NFS_OP_SETATTR:
        if (reply->attributes != NULL && reply->attributes->type != NFS3_REG) {
            return false;
        }
        if (request->op == NFS_OP_ACCESS) {
            return (reply->access.access & ~ACCESS_ALL) == 0;
        }
        if (request->op == NFS_OP_GETATTR && request->row != FILESET_NONE) {
            return reply->attributes == NULL || reply->attributes->size >= fileset_ws_bytes(fs, request->row);
        }
        return !request->is_truncation || reply->attributes == NULL || reply->attributes->size == 0;
    case NFS_OP_LOOKUP:
        return is_missing || reply->attributes == NULL || reply->attributes->type == NFS3_REG;
    case NFS_OP_READLINK: {
        char text[FILESET_NAME_BYTES];
        fileset_symlink_text(request->dir, text);
        return reply->readlink.len == strlen(text) && memcmp(reply->readlink.path, text, reply->readlink.len) == 0;
    }
    default:
        return true;
    }
}

static enum op_outcome on_attributes(struct request *request, struct rpc *rpc, const struct nfs3_reply *reply,
                                     enum op_outcome outcome)
{
    if (outcome != OP_OK) {
        return outcome;
    }
    if (!is_right(request, reply, rpc->expected_status == STATUS_NOENT)) {
        request_anomaly(request, request->op == NFS_OP_READLINK ? ANOMALY_WRONG_DATA : ANOMALY_WRONG_ATTRIBUTES);
        return OP_WRONG;
    }
    if (request->is_truncation) {
        fileset_set_ws_bytes(request->load->options.fileset, request->row, 0);
    }
    return OP_OK;
}

static void end_attributes(struct request *request)
{
    if (request->slot != FILESET_NONE) {
        request->load->options.fileset->slots[request->slot].n_users--;
    }
    request->load->uses[request->number] = (struct file_use){FILESET_NONE, false};
}

const struct op_driver *op_driver_attributes(void)
{
    static const struct op_driver driver = {begin_attributes, on_attributes, end_attributes};
    return &driver;
}
