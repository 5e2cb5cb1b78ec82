/* ops_data.c - READ, WRITE and COMMIT requests.
 *
 * READ: pieces of a block, biod_max_read at a time; a short reply's tail is asked for again.
 *
 * WRITE: UNSTABLE pieces, biod_max_write at a time; then one COMMIT of the range. When the write verifier changed in
 * between, the server lost data: everything is written again (RFC 1813 4.8), and the request does not count.
 *
 * COMMIT: of a file by itself.
 */
#include "load.h"
#include "log.h"
#include "ops.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define MAX_ROUNDS      3u /* of writing a request again after a changed verifier */
#define MAX_EMPTY       3u /* replies without a byte before a transfer is given up */
#define MAX_WARNINGS    5u /* of wrong data, in the log; all of it is counted */
#define MAX_TRUNCATIONS 3u /* in a row, before an append becomes an overwrite */

enum write_step { STEP_WRITING, STEP_COMMITTING };

static void claim(struct request *request, uint32_t row, bool is_writer)
{
    request->row = row;
    request->load->uses[request->number] = (struct file_use){row, is_writer};
    working_set_touch(&request->load->working_set, row);
}

static void end_data(struct request *request)
{
    request->load->uses[request->number] = (struct file_use){FILESET_NONE, false};
}

/* Bytes of a request by the workload's table. Where the table counts in blocks a READ is one block at least (sfs-facts
 * section 4); one that is given in bytes is as long as it says. */
static uint64_t draw_bytes(struct load *load, enum nfs_op op, struct deck *sizes, uint32_t block_bytes)
{
    const struct workload *w = load->options.workload;
    const struct size_table *table = op == NFS_OP_READ ? &w->read_requests : &w->write_requests;
    uint32_t step = deck_next(sizes, &load->rng);
    uint64_t bytes = workload_request_bytes(w, op, step, block_bytes, &load->rng);
    bool is_short_read = op == NFS_OP_READ && table->steps[step].bytes == 0 && bytes < block_bytes;
    return bytes == 0 || is_short_read ? block_bytes : bytes;
}

/* A random place such that the transfer fits into the file: a multiple of the block, or of a shorter request's own
 * length rounded down to a power of two. 0 when it doesn't fit. */
static uint64_t draw_offset(struct load *load, uint64_t file_bytes, uint64_t bytes, uint32_t block_bytes)
{
    if (file_bytes <= bytes) {
        return 0;
    }
    assert(bytes > 0 && block_bytes > 0); /* a request of no bytes is one block: draw_bytes */
    uint64_t unit = bytes >= block_bytes ? block_bytes : UINT64_C(1) << (63 - __builtin_clzll(bytes));
    return rng_below(&load->rng, (file_bytes - bytes) / unit + 1) * unit;
}

static uint64_t file_identity(const struct fileset *fs, uint32_t row)
{
    return fileset_file_identity(fs, fileset_ws_file(fs, row));
}

static void send_reads(struct request *request)
{
    struct biod_piece piece;
    while (biod_next(&request->biod, &piece)) {
        struct rpc *rpc = request_rpc(request, NFS_OP_READ);
        rpc->piece = piece;
        rpc->call.fh = &request->load->options.fileset->ws_handles[request->row];
        rpc->call.read.offset = piece.offset;
        rpc->call.read.count = piece.bytes;
        if (!request_send(rpc)) {
            biod_done(&request->biod, &piece, 0, false);
            biod_give_up(&request->biod);
        }
    }
}

static int begin_read(struct request *request)
{
    struct load *load = request->load;
    const struct load_options *o = &load->options;
    uint64_t bytes = draw_bytes(load, NFS_OP_READ, &load->read_sizes, o->read_block_bytes);
    uint32_t row = working_set_pick(&load->working_set, WANT_FIT, bytes, false);
    if (row == FILESET_NONE) {
        return -EAGAIN;
    }
    claim(request, row, false);
    request->old_bytes = fileset_ws_bytes(o->fileset, row);
    request->offset = draw_offset(load, request->old_bytes, bytes, o->read_block_bytes);
    /* A file that is too small is read to its end, a block at the least: what lies behind is nobody's request. */
    if (request->old_bytes < bytes) {
        uint64_t blocks = (request->old_bytes + o->read_block_bytes - 1) / o->read_block_bytes;
        uint64_t most = (blocks > 0 ? blocks : 1) * o->read_block_bytes;
        bytes = bytes < most ? bytes : most;
    }
    request->bytes = bytes;
    biod_init(&request->biod, request->offset, bytes, o->read_block_bytes, o->workload->biod_max_read);
    send_reads(request);
    return 0;
}

/* What a piece must bring: the file's bytes in it. */
static uint32_t known_bytes(const struct request *request, const struct biod_piece *piece)
{
    if (piece->offset >= request->old_bytes) {
        return 0;
    }
    uint64_t left = request->old_bytes - piece->offset;
    return left < piece->bytes ? (uint32_t)left : piece->bytes;
}

static enum op_outcome judge_read(struct request *request, struct rpc *rpc, const struct nfs3_reply *reply)
{
    struct load *load = request->load;
    char what[160];
    if (load->pattern.verify && !data_pattern_check(&load->pattern, reply->read.data, reply->read.count,
                                                    file_identity(load->options.fileset, request->row),
                                                    rpc->piece.offset, load->generation, what, sizeof what)) {
        request_anomaly(request, ANOMALY_WRONG_DATA);
        if (load->n_warnings++ < MAX_WARNINGS) {
            log_warn("wrong data in file %llu: %s",
                     (unsigned long long)fileset_ws_file(load->options.fileset, request->row), what);
        }
        return OP_WRONG;
    }
    if (reply->attributes != NULL && reply->attributes->type != NFS3_REG) {
        request_anomaly(request, ANOMALY_WRONG_ATTRIBUTES);
        return OP_WRONG;
    }
    if (reply->read.count < known_bytes(request, &rpc->piece)) {
        request_anomaly(request, ANOMALY_SHORT_READ);
        return OP_WRONG;
    }
    return OP_OK;
}

static enum op_outcome on_read(struct request *request, struct rpc *rpc, const struct nfs3_reply *reply,
                               enum op_outcome outcome)
{
    struct biod_piece piece = rpc->piece;
    if (outcome != OP_OK) {
        biod_done(&request->biod, &piece, 0, false);
        biod_give_up(&request->biod);
        return outcome;
    }
    outcome = judge_read(request, rpc, reply);
    uint32_t got = reply->read.count, known = known_bytes(request, &piece);
    bool is_short = got < known;
    /* RFC 1813 3.3.6: fewer bytes without eof ask for the rest; with eof, or again and again without a byte, there is
     * none. */
    if (is_short && (reply->read.eof || (got == 0 && ++request->n_rounds >= MAX_EMPTY))) {
        biod_done(&request->biod, &piece, 0, false);
        biod_give_up(&request->biod);
        return outcome;
    }
    biod_done(&request->biod, &piece, is_short ? got : piece.bytes, is_short);
    send_reads(request);
    return outcome;
}

static void send_writes(struct request *request)
{
    struct load *load = request->load;
    const struct fileset *fs = load->options.fileset;
    struct biod_piece piece;
    while (biod_next(&request->biod, &piece)) {
        struct rpc *rpc = request_rpc(request, NFS_OP_WRITE);
        uint8_t *data = rpc_buffer(rpc, piece.bytes);
        rpc->piece = piece;
        rpc->call.fh = &fs->ws_handles[request->row];
        rpc->call.write.offset = piece.offset;
        rpc->call.write.count = piece.bytes;
        rpc->call.write.stable = NFS3_UNSTABLE;
        rpc->call.write.data = data;
        if (data != NULL) {
            data_pattern_fill(&load->pattern, data, piece.bytes, file_identity(fs, request->row), piece.offset,
                              request->generation);
        }
        if (!request_send(rpc)) {
            biod_done(&request->biod, &piece, 0, false);
            biod_give_up(&request->biod);
        }
    }
}

static void start_writing(struct request *request)
{
    const struct load_options *o = &request->load->options;
    request->step = STEP_WRITING;
    request->has_verifier = request->verifier_changed = false;
    biod_init(&request->biod, request->offset, request->bytes, o->write_block_bytes, o->workload->biod_max_write);
    send_writes(request);
}

/* What the next WRITE is to be; kept when a truncation goes before it. */
static void draw_write(struct load *load)
{
    if (load->has_write) {
        return;
    }
    const struct load_options *o = &load->options;
    load->write_bytes = draw_bytes(load, NFS_OP_WRITE, &load->write_sizes, o->write_block_bytes);
    if (load->pattern.verify) { /* whole cells only */
        load->write_bytes = (load->write_bytes + DATA_CELL_BYTES - 1) / DATA_CELL_BYTES * DATA_CELL_BYTES;
    }
    load->is_append = deck_next(&load->append, &load->rng) == 1;
    load->has_write = true;
}

static int begin_write(struct request *request)
{
    struct load *load = request->load;
    struct fileset *fs = load->options.fileset;
    draw_write(load);
    uint64_t bytes = load->write_bytes;
    bool is_append = load->is_append;
    bool has_room = fs->io_bytes + bytes <= fs->limit_bytes;
    if (is_append && !has_room && load->n_truncations_in_a_row < MAX_TRUNCATIONS &&
        op_mix_exchange(&load->mix, &request->charge, NFS_OP_SETATTR)) {
        request->op = NFS_OP_SETATTR;
        return ops_begin_truncation(request);
    }
    /* Neither room nor a SETATTR to spend: something is written over, as much as is there. */
    if (!has_room) {
        is_append = false;
    }
    uint32_t row = working_set_pick(&load->working_set, is_append ? WANT_ANY : WANT_FIT, bytes, true);
    if (row == FILESET_NONE) {
        return -EAGAIN;
    }
    uint64_t size = fileset_ws_bytes(fs, row);
    if (size + bytes > FILESET_MAX_FILE_BYTES) {
        is_append = false;
    }
    claim(request, row, true);
    load->has_write = false;
    load->n_truncations_in_a_row = 0;
    if (!has_room && size < bytes) {
        bytes = size > 0 ? size : DATA_CELL_BYTES;
    }
    request->old_bytes = size;
    request->bytes = bytes;
    request->offset = is_append ? size : draw_offset(load, size, bytes, load->options.write_block_bytes);
    if (load->pattern.verify) {
        request->offset -= request->offset % DATA_CELL_BYTES;
    }
    request->generation = ++load->generation;
    if (request->offset + bytes > size) {
        fileset_set_ws_bytes(fs, row, request->offset + bytes);
    }
    start_writing(request);
    return 0;
}

static void write_again(struct request *request)
{
    request_anomaly(request, ANOMALY_VERIFIER_CHANGED);
    request->is_good = false;
    if (++request->n_rounds >= MAX_ROUNDS) {
        log_warn("the write verifier changed %u times during one request: it is given up", MAX_ROUNDS);
        request->bytes = 0; /* nothing of it is stable */
        return;
    }
    request_anomaly(request, ANOMALY_REWRITE);
    start_writing(request);
}

static void send_commit(struct request *request)
{
    request->step = STEP_COMMITTING;
    struct rpc *rpc = request_rpc(request, NFS_OP_COMMIT);
    rpc->call.fh = &request->load->options.fileset->ws_handles[request->row];
    rpc->call.commit.offset = request->offset;
    rpc->call.commit.count = request->bytes <= UINT32_MAX ? (uint32_t)request->bytes : 0;
    request_send(rpc);
}

static enum op_outcome on_write_reply(struct request *request, const struct rpc *rpc, const struct nfs3_reply *reply,
                                      enum op_outcome outcome)
{
    struct biod_piece piece = rpc->piece;
    uint32_t got = outcome == OP_OK ? reply->write.count : 0;
    if (outcome == OP_OK && got < piece.bytes) {
        /* RFC 1813 3.3.7: a short WRITE is legal, the tail is sent again. */
        request_anomaly(request, ANOMALY_SHORT_WRITE);
        if (got == 0 && ++request->n_rounds >= MAX_EMPTY) {
            outcome = OP_WRONG;
        }
    }
    if (outcome == OP_OK) {
        if (request->has_verifier && request->verifier != reply->write.verifier) {
            request->verifier_changed = true;
        }
        request->verifier = reply->write.verifier;
        request->has_verifier = true;
    }
    biod_done(&request->biod, &piece, got, outcome == OP_OK);
    if (outcome != OP_OK) {
        biod_give_up(&request->biod);
    }
    return outcome;
}

static enum op_outcome on_write(struct request *request, struct rpc *rpc, const struct nfs3_reply *reply,
                                enum op_outcome outcome)
{
    if (request->step == STEP_COMMITTING) {
        if (outcome != OP_OK || reply->commit.verifier == request->verifier) {
            return outcome;
        }
        write_again(request);
        return OP_WRONG;
    }
    outcome = on_write_reply(request, rpc, reply, outcome);
    if (outcome != OP_OK) {
        request->bytes = 0; /* not all of it is there; no COMMIT, and the size goes back */
    } else {
        send_writes(request);
    }
    if (biod_is_complete(&request->biod) && request->bytes > 0) {
        if (request->verifier_changed) {
            write_again(request);
        } else {
            send_commit(request);
        }
    }
    return outcome;
}

static void end_write(struct request *request)
{
    /* A request that did not come through leaves the file somewhere between its old and its new size: only the old one
     * is sure. */
    if (!request->is_good && request->row != FILESET_NONE) {
        fileset_set_ws_bytes(request->load->options.fileset, request->row, request->old_bytes);
    }
    end_data(request);
}

static int begin_commit(struct request *request)
{
    uint32_t row = working_set_pick(&request->load->working_set, WANT_ANY, 0, false);
    if (row == FILESET_NONE) {
        return -EAGAIN;
    }
    claim(request, row, false);
    struct rpc *rpc = request_rpc(request, NFS_OP_COMMIT);
    rpc->call.fh = &request->load->options.fileset->ws_handles[row];
    request_send(rpc);
    return 0;
}

static enum op_outcome on_commit(struct request *request, struct rpc *rpc, const struct nfs3_reply *reply,
                                 enum op_outcome outcome)
{
    (void)request;
    (void)rpc;
    (void)reply;
    return outcome;
}

const struct op_driver *op_driver_read(void)
{
    static const struct op_driver driver = {begin_read, on_read, end_data};
    return &driver;
}

const struct op_driver *op_driver_write(void)
{
    static const struct op_driver driver = {begin_write, on_write, end_write};
    return &driver;
}

const struct op_driver *op_driver_commit(void)
{
    static const struct op_driver driver = {begin_commit, on_commit, end_data};
    return &driver;
}
