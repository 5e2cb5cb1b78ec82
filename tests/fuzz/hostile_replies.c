/* hostile_replies.c - see hostile_replies.h. */
#include "hostile_replies.h"

#include "../engine/valid_replies.h"

#include <stdlib.h>
#include <string.h>

#define MOUNT_PROGRAM   100005
#define PORTMAP_PROGRAM 100000
#define HEADER_BYTES    24
#define LAST_FRAGMENT   0x80000000u

static uint8_t reply[HEADER_BYTES + VALID_REPLY_MAX + 4096]; /* the one being made */

static void append(struct hostile_stream *s, const void *data, size_t bytes)
{
    if (s->bytes + bytes > s->capacity) {
        s->capacity = 2 * (s->bytes + bytes);
        s->data = realloc(s->data, s->capacity);
        if (!s->data)
            abort();
    }
    memcpy(s->data + s->bytes, data, bytes);
    s->bytes += bytes;
}

static void append_word(struct hostile_stream *s, uint32_t word)
{
    uint8_t bytes[4];
    xdr_store_u32(bytes, word);
    append(s, bytes, 4);
}

static void append_record(struct hostile_stream *s, const uint8_t *data, size_t bytes)
{
    append_word(s, LAST_FRAGMENT | (uint32_t)bytes);
    append(s, data, bytes);
}

static void hold(struct hostile_stream *s, const uint8_t *data, size_t bytes)
{
    if (s->n_held == sizeof s->held / sizeof s->held[0]) {
        append_record(s, data, bytes);
        return;
    }
    uint8_t *copy = malloc(bytes);
    if (!copy)
        abort();
    memcpy(copy, data, bytes);
    s->held[s->n_held].data = copy;
    s->held[s->n_held++].bytes = bytes;
}

static void release_one(struct hostile_stream *s, struct rng *rng)
{
    if (s->n_held == 0)
        return;
    unsigned i = (unsigned)rng_below(rng, s->n_held);
    append_record(s, s->held[i].data, s->held[i].bytes);
    free(s->held[i].data);
    s->held[i] = s->held[--s->n_held];
}

void hostile_stream_fini(struct hostile_stream *s)
{
    while (s->n_held)
        free(s->held[--s->n_held].data);
    free(s->data);
}

/* ---- the right answer ---- */

struct question {
    uint32_t xid, program, version, procedure, count;
};

static struct question parse(const uint8_t *call, size_t bytes)
{
    struct question q = {0};
    struct xdr_reader r = xdr_reader_of(call, bytes);
    uint32_t len;
    q.xid = xdr_get_u32(&r);
    xdr_get_u32(&r);
    xdr_get_u32(&r);
    q.program = xdr_get_u32(&r);
    q.version = xdr_get_u32(&r);
    q.procedure = xdr_get_u32(&r);
    for (int i = 0; i < 2; i++) { /* credential, verifier */
        xdr_get_u32(&r);
        xdr_get_opaque(&r, 400, &len);
    }
    xdr_get_opaque(&r, 64, &len); /* handle */
    xdr_get_u64(&r);              /* offset */
    q.count = xdr_get_u32(&r);
    if (r.is_bad || q.count > NFS3_TRANSFER_MAX)
        q.count = 8;
    return q;
}

static size_t right_answer(const struct question *q, uint32_t procedure)
{
    struct xdr_writer w = xdr_writer_of(reply, sizeof reply);
    uint32_t header[6] = {q->xid, 1, 0, 0, 0, 0};
    for (int i = 0; i < 6; i++)
        xdr_put_u32(&w, header[i]);
    if (q->program == MOUNT_PROGRAM) {
        static const uint8_t fh[32];
        xdr_put_u32(&w, 0);
        xdr_put_opaque(&w, fh, sizeof fh);
        xdr_put_u32(&w, 2);
        xdr_put_u32(&w, 1);
        xdr_put_u32(&w, 0);
    } else if (q->program == PORTMAP_PROGRAM && q->version == 2) {
        xdr_put_u32(&w, 2049);
    } else if (q->program == PORTMAP_PROGRAM) {
        xdr_put_opaque(&w, "127.0.0.1.8.1", 13);
    } else if (procedure < NFS_OP_COUNT) {
        w.at += valid_reply((enum nfs_op)procedure, q->count, w.at);
    }
    return (size_t)(w.at - reply);
}

/* A directory of as many entries as fit into `limit` bytes. */
static size_t long_list(const struct question *q, bool is_plus, size_t limit)
{
    struct xdr_writer w = xdr_writer_of(reply, sizeof reply - 16);
    uint32_t header[7] = {q->xid, 1, 0, 0, 0, 0, 0};
    for (int i = 0; i < 7; i++)
        xdr_put_u32(&w, header[i]);
    xdr_put_u32(&w, 0);
    xdr_put_u64(&w, 0);
    while ((size_t)(w.at - reply) + 200 < limit) {
        xdr_put_u32(&w, 1);
        xdr_put_u64(&w, 1);
        xdr_put_opaque(&w, "entry", 5);
        xdr_put_u64(&w, 1);
        if (is_plus) {
            valid_put_post_op(&w, NFS3_REG);
            xdr_put_u32(&w, 1);
            valid_put_fh(&w);
        }
    }
    xdr_put_u32(&w, 0);
    xdr_put_u32(&w, 1);
    return (size_t)(w.at - reply);
}

/* ---- spoiling ---- */

static uint32_t nasty_word(struct rng *rng)
{
    static const uint32_t words[] = {0,          1,          2,          3,          0xffffffff, 0xfffffffe,
                                     0xfffffffc, 0xfffffff0, 0x7fffffff, 0x80000000, 0x40000001, 0x3fffffff,
                                     65,         256,        1025,       1048577,    0x10000,    0x15555556};
    uint64_t i = rng_below(rng, sizeof words / sizeof words[0] + 1);
    return i < sizeof words / sizeof words[0] ? words[i] : (uint32_t)rng_u64(rng);
}

static size_t set_words(struct rng *rng, size_t n, size_t from)
{
    /* Most of a big READ is data: the words that matter are at the front. */
    size_t words = n / 4 < 120 ? n / 4 : 120;
    for (uint64_t i = rng_below(rng, 3) + 1; i > 0 && words > from / 4; i--)
        xdr_store_u32(reply + from + 4 * rng_below(rng, words - from / 4), nasty_word(rng));
    return n;
}

static size_t flip_bits(struct rng *rng, size_t n)
{
    size_t front = n < 600 ? n : 600;
    for (uint64_t i = rng_below(rng, 8) + 1; i > 0 && n; i--)
        reply[rng_below(rng, front)] ^= (uint8_t)(1u << rng_below(rng, 8));
    return n;
}

static size_t cut_or_insert(struct rng *rng, size_t n)
{
    size_t front = n < 600 ? n : 600, at = 4 * rng_below(rng, front / 4 + 1), by = 4 * (rng_below(rng, 4) + 1);
    if (at > n)
        at = n;
    if (rng_below(rng, 2) && at + by <= n) {
        memmove(reply + at, reply + at + by, n - at - by);
        return n - by;
    }
    if (n + by > sizeof reply)
        return n;
    memmove(reply + at + by, reply + at, n - at);
    for (size_t i = 0; i < by; i += 4)
        xdr_store_u32(reply + at + i, nasty_word(rng));
    return n + by;
}

static size_t garbage(struct rng *rng)
{
    size_t n = rng_below(rng, rng_below(rng, 4) ? 200 : 70000);
    for (size_t i = 0; i < n; i++)
        reply[i] = (uint8_t)rng_u64(rng);
    return n;
}

static size_t refusal(struct rng *rng, const struct question *q)
{
    uint32_t words[8] = {q->xid,
                         1,
                         (uint32_t)rng_below(rng, 3),
                         (uint32_t)rng_below(rng, 3),
                         (uint32_t)rng_below(rng, 12),
                         (uint32_t)rng_below(rng, 8),
                         nasty_word(rng),
                         nasty_word(rng)};
    for (int i = 0; i < 8; i++)
        xdr_store_u32(reply + 4 * i, words[i]);
    return 4 * (rng_below(rng, 7) + 2);
}

static size_t long_verifier(struct rng *rng, const struct question *q)
{
    uint32_t length = rng_below(rng, 2) ? 396 : nasty_word(rng);
    uint32_t words[6] = {q->xid, 1, 0, (uint32_t)rng_below(rng, 7), length, 0};
    memset(reply, 0, 1024);
    for (int i = 0; i < 6; i++)
        xdr_store_u32(reply + 4 * i, words[i]);
    return rng_below(rng, 256) * 4;
}

static void in_fragments(struct hostile_stream *s, struct rng *rng, size_t n, size_t most)
{
    size_t at = 0;
    while (at < n) {
        size_t part = rng_below(rng, most + 1); /* empty fragments are legal */
        if (part > n - at)
            part = n - at;
        append_word(s, (at + part == n ? LAST_FRAGMENT : 0) | (uint32_t)part);
        append(s, reply + at, part);
        at += part;
    }
}

static enum hostile_end spoiled(struct hostile_stream *s, struct rng *rng, const struct question *q, size_t n)
{
    switch (rng_below(rng, 26)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        n = set_words(rng, n, rng_below(rng, 4) ? HEADER_BYTES : 4);
        break;
    case 5:
    case 6:
        n = flip_bits(rng, n);
        break;
    case 7:
    case 8:
        n = cut_or_insert(rng, n);
        break;
    case 9:
    case 10:
        n = rng_below(rng, n + 1); /* truncated, and the mark knows it */
        break;
    case 11: /* truncated, and the mark does not: then nothing or something else follows */
        append_word(s, LAST_FRAGMENT | (uint32_t)n);
        append(s, reply, rng_below(rng, n + 1));
        return (enum hostile_end)rng_below(rng, 3);
    case 12:
        n = garbage(rng);
        break;
    case 13: /* a mark that promises more than anybody may */
        append_word(s, nasty_word(rng) | 0x00200000);
        append(s, reply, n);
        return HOSTILE_GO_ON;
    case 14:
        xdr_store_u32(reply, q->xid + (rng_below(rng, 2) ? 1 + (uint32_t)rng_below(rng, 20) : (uint32_t)rng_u64(rng)));
        break; /* another's xid, perhaps of a call not yet sent */
    case 15:
        hold(s, reply, n);
        return HOSTILE_GO_ON;
    case 16:
        append_record(s, reply, n);
        break; /* and once more below */
    case 17:
        in_fragments(s, rng, n < 4096 ? n : 4096, 1);
        return HOSTILE_GO_ON;
    case 18:
        in_fragments(s, rng, n, 3000);
        return HOSTILE_GO_ON;
    case 19:
        xdr_store_u32(reply + 4, 0); /* a call instead */
        xdr_store_u32(reply + 8, 2);
        break;
    case 20:
        n = right_answer(q, (uint32_t)rng_below(rng, NFS_OP_COUNT)); /* of another procedure */
        break;
    case 21:
        n = refusal(rng, q);
        break;
    case 22:
        n = rng_below(rng, 10) ? long_verifier(rng, q) : n;
        break;
    case 23:
        for (uint64_t i = rng_below(rng, 50); i > 0; i--)
            append_word(s, rng_below(rng, 2) ? LAST_FRAGMENT : 0); /* empty records, empty fragments */
        break;
    case 24:
        n = long_list(q, rng_below(rng, 2), rng_below(rng, 8) ? 60000 : 1 << 20);
        break;
    default:
        if (rng_below(rng, 8) == 0)
            return HOSTILE_GO_ON; /* never answers */
        return rng_below(rng, 2) ? HOSTILE_CLOSE : HOSTILE_RESET;
    }
    append_record(s, reply, n);
    return HOSTILE_GO_ON;
}

enum hostile_end hostile_answer(struct hostile_stream *s, struct rng *rng, unsigned spoil_percent, const uint8_t *call,
                                size_t bytes)
{
    struct question q = parse(call, bytes);
    size_t n = right_answer(&q, q.procedure);
    release_one(s, rng);
    if (rng_below(rng, 100) < spoil_percent)
        return spoiled(s, rng, &q, n);
    append_record(s, reply, n);
    return HOSTILE_GO_ON;
}
