/* xdr_cursor.h - bounded XDR (RFC 4506) by hand, for the places where generated code costs too much.
 *
 *   bytes |....read....|.....left.....|          a reader never passes `end`: the first read that would sets is_bad,
 * and from start        at             end        then on every read gives zeros. So a decoder reads straight through
 * and looks at is_bad once, before anything that depends on a length.
 *
 * A writer is told its room the same way. Every XDR item is a multiple of four bytes; padding is written as zeros (RFC
 * 4506 4.9).
 */
#ifndef NFSCURVE_RPCGEN_XDR_CURSOR_H
#define NFSCURVE_RPCGEN_XDR_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct xdr_reader {
    const uint8_t *at, *end;
    bool is_bad;
};

static inline struct xdr_reader xdr_reader_of(const uint8_t *data, size_t bytes)
{
    return (struct xdr_reader){data, data + bytes, false};
}

static inline size_t xdr_left(const struct xdr_reader *r)
{
    return (size_t)(r->end - r->at);
}

/* `bytes` raw bytes, no padding; NULL and is_bad when they are not there. */
static inline const uint8_t *xdr_take(struct xdr_reader *r, size_t bytes)
{
    if (__builtin_expect(r->is_bad || bytes > xdr_left(r), 0)) {
        r->is_bad = true;
        r->at = r->end;
        return NULL;
    }
    const uint8_t *p = r->at;
    r->at += bytes;
    return p;
}

static inline uint32_t xdr_load_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return be32toh(v);
}

static inline uint64_t xdr_load_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return be64toh(v);
}

static inline uint32_t xdr_get_u32(struct xdr_reader *r)
{
    const uint8_t *p = xdr_take(r, 4);
    return p ? xdr_load_u32(p) : 0;
}

static inline uint64_t xdr_get_u64(struct xdr_reader *r)
{
    const uint8_t *p = xdr_take(r, 8);
    return p ? xdr_load_u64(p) : 0;
}

/* An XDR bool is 0 or 1 and nothing else (RFC 4506 4.4). */
static inline bool xdr_get_bool(struct xdr_reader *r)
{
    uint32_t v = xdr_get_u32(r);
    if (v > 1)
        r->is_bad = true;
    return v == 1 && !r->is_bad;
}

static inline size_t xdr_padded(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

/* Variable-length opaque or string of at most `max` bytes: *len and a pointer into the record; NULL and is_bad
 * otherwise. */
static inline const uint8_t *xdr_get_opaque(struct xdr_reader *r, uint32_t max, uint32_t *len)
{
    uint32_t n = xdr_get_u32(r);
    if (n > max)
        r->is_bad = true;
    const uint8_t *p = r->is_bad ? NULL : xdr_take(r, xdr_padded(n));
    *len = p ? n : 0;
    return p;
}

struct xdr_writer {
    uint8_t *at;
    size_t left;
    bool is_bad;
};

static inline struct xdr_writer xdr_writer_of(uint8_t *data, size_t bytes)
{
    return (struct xdr_writer){data, bytes, false};
}

static inline uint8_t *xdr_room(struct xdr_writer *w, size_t bytes)
{
    if (__builtin_expect(w->is_bad || bytes > w->left, 0)) {
        w->is_bad = true;
        return NULL;
    }
    uint8_t *p = w->at;
    w->at += bytes;
    w->left -= bytes;
    return p;
}

/* The last `bytes` of the room that was taken are not needed. */
static inline void xdr_give_back(struct xdr_writer *w, size_t bytes)
{
    w->at -= bytes;
    w->left += bytes;
}

static inline void xdr_store_u32(uint8_t *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof v);
}

static inline void xdr_store_u64(uint8_t *p, uint64_t v)
{
    v = htobe64(v);
    memcpy(p, &v, sizeof v);
}

static inline void xdr_put_u32(struct xdr_writer *w, uint32_t v)
{
    uint8_t *p = xdr_room(w, 4);
    if (p)
        xdr_store_u32(p, v);
}

static inline void xdr_put_u64(struct xdr_writer *w, uint64_t v)
{
    uint8_t *p = xdr_room(w, 8);
    if (p)
        xdr_store_u64(p, v);
}

static inline void xdr_put_opaque(struct xdr_writer *w, const void *data, uint32_t len)
{
    xdr_put_u32(w, len);
    uint8_t *p = xdr_room(w, xdr_padded(len));
    if (p && len) {
        memset(p + xdr_padded(len) - 4, 0, 4);
        memcpy(p, data, len);
    }
}

#endif
