/* record_buffer.h - what was read of a stream of RPC records (RFC 5531 section 11), handed out record by record in
 * place.
 *
 *   0          record                  record_end = start           end                  capacity
 *   ├──handed out──┼── assembled part of the present record ──┼── raw bytes not yet looked at ──┼── free ──┤
 *
 * Always in this order; a record is handed out as soon as its last fragment is whole. The first fragment of a record is
 * left where it was read; later ones are moved down over their record mark. Growth doubles as bytes arrive, so a peer
 * that only claims a large record costs nothing.
 */
#ifndef NFSCURVE_RPCGEN_RECORD_BUFFER_H
#define NFSCURVE_RPCGEN_RECORD_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The record mark: length of a fragment, and whether it is the record's last. */
#define RPC_MARK_BYTES    4u
#define RPC_LAST_FRAGMENT 0x80000000u

struct record_buffer {
    uint8_t *data;
    size_t capacity, initial_bytes, max_record_bytes;
    size_t start, end;
    size_t record_start, record_end;
    uint32_t fragment_left;
    bool in_fragment, is_last_fragment;
};

/* 0 or -ENOMEM. */
int record_buffer_init(struct record_buffer *buffer, size_t initial_bytes, size_t max_record_bytes);
void record_buffer_fini(struct record_buffer *buffer);

/* Room to read into, at data + end: moves what is kept to the front, and doubles a full buffer while a record needs it.
 * *grew is set when it did. 0 or -ENOMEM. */
int record_buffer_make_room(struct record_buffer *buffer, bool *grew);

/* How much to read at once. */
size_t record_buffer_read_size(const struct record_buffer *buffer);

/* Bytes were read to data + end. */
void record_buffer_add(struct record_buffer *buffer, size_t bytes);

/* The next whole record, valid until the next call of record_buffer_make_room; records of no bytes are passed over. 1;
 * 0 when more bytes are needed; -EPROTO when a mark announces more than max_record_bytes: *announced bytes. */
int record_buffer_next(struct record_buffer *buffer, uint8_t **record, size_t *bytes, size_t *announced);

/* After the last record that is wanted now: what is unfinished and what is raw become adjacent. */
void record_buffer_settle(struct record_buffer *buffer);

/* Nothing is kept: no unfinished record, no raw bytes. */
bool record_buffer_is_empty(const struct record_buffer *buffer);

/* Back to its initial size when it is empty; false when it is not. */
bool record_buffer_shrink(struct record_buffer *buffer);

#endif
