/* valid_replies.h - a valid result of every NFSv3 procedure, with every optional part present; for tests that then
 * spoil it.
 *
 * Written from RFC 1813 independently of nfs3_decode.c, so that a misreading there shows.
 */
#ifndef NFSCURVE_TESTS_VALID_REPLIES_H
#define NFSCURVE_TESTS_VALID_REPLIES_H

#include "nfs3_client.h"
#include "xdr_cursor.h"

#define VALID_REPLY_MAX (NFS3_TRANSFER_MAX + 1024)

/* What a valid reply says, by arithmetic that tests repeat. */
#define VALID_SIZE     UINT64_C(0x1122334455667788)
#define VALID_FILEID   UINT64_C(0x0102030405060708)
#define VALID_VERIFIER UINT64_C(0xa1a2a3a4a5a6a7a8)
#define VALID_FH_BYTES 28
#define VALID_ENTRIES  3

static inline void valid_put_attributes(struct xdr_writer *w, uint32_t type)
{
    xdr_put_u32(w, type);
    for (uint32_t i = 0; i < 4; i++)
        xdr_put_u32(w, 0100 + i); /* mode, nlink, uid, gid */
    xdr_put_u64(w, VALID_SIZE);
    xdr_put_u64(w, VALID_SIZE + 1); /* used */
    xdr_put_u32(w, 8);
    xdr_put_u32(w, 9);  /* rdev */
    xdr_put_u64(w, 77); /* fsid */
    xdr_put_u64(w, VALID_FILEID);
    for (uint32_t i = 0; i < 6; i++)
        xdr_put_u32(w, 1000 + i); /* atime, mtime, ctime */
}

static inline void valid_put_post_op(struct xdr_writer *w, uint32_t type)
{
    xdr_put_u32(w, 1);
    valid_put_attributes(w, type);
}

static inline void valid_put_wcc(struct xdr_writer *w, uint32_t type)
{
    xdr_put_u32(w, 1);
    xdr_put_u64(w, 5); /* size before */
    for (uint32_t i = 0; i < 4; i++)
        xdr_put_u32(w, i); /* mtime, ctime */
    valid_put_post_op(w, type);
}

static inline void valid_put_fh(struct xdr_writer *w)
{
    uint8_t fh[VALID_FH_BYTES];
    memset(fh, 0x5a, sizeof fh);
    xdr_put_opaque(w, fh, sizeof fh);
}

static inline void valid_put_list(struct xdr_writer *w, bool is_plus)
{
    static const char *const names[VALID_ENTRIES] = {".", "..", "a name"};
    valid_put_post_op(w, NFS3_DIR);
    xdr_put_u64(w, VALID_VERIFIER);
    for (uint32_t i = 0; i < VALID_ENTRIES; i++) {
        xdr_put_u32(w, 1);
        xdr_put_u64(w, VALID_FILEID + i);
        xdr_put_opaque(w, names[i], (uint32_t)strlen(names[i]));
        xdr_put_u64(w, 500 + i); /* cookie */
        if (is_plus) {
            valid_put_post_op(w, NFS3_REG);
            xdr_put_u32(w, 1);
            valid_put_fh(w);
        }
    }
    xdr_put_u32(w, 0);
    xdr_put_u32(w, 1); /* eof */
}

static inline void valid_put_words(struct xdr_writer *w, uint32_t first, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        xdr_put_u32(w, first + i);
}

/* The result, nfsstat3 included, into out[VALID_REPLY_MAX]; read_bytes is the length of READ's data, WRITE's count.
 * Returns its length. */
static inline size_t valid_reply(enum nfs_op op, uint32_t read_bytes, uint8_t *out)
{
    struct xdr_writer w = xdr_writer_of(out, VALID_REPLY_MAX);
    if (op == NFS_OP_NULL)
        return 0;
    xdr_put_u32(&w, 0); /* NFS3_OK */
    switch (op) {
    case NFS_OP_GETATTR:
        valid_put_attributes(&w, NFS3_REG);
        break;
    case NFS_OP_SETATTR:
    case NFS_OP_REMOVE:
    case NFS_OP_RMDIR:
        valid_put_wcc(&w, NFS3_REG);
        break;
    case NFS_OP_LOOKUP:
        valid_put_fh(&w);
        valid_put_post_op(&w, NFS3_REG);
        valid_put_post_op(&w, NFS3_DIR);
        break;
    case NFS_OP_ACCESS:
        valid_put_post_op(&w, NFS3_REG);
        xdr_put_u32(&w, 0x2d);
        break;
    case NFS_OP_READLINK:
        valid_put_post_op(&w, NFS3_LNK);
        xdr_put_opaque(&w, "where/it/points", 15);
        break;
    case NFS_OP_READ: {
        valid_put_post_op(&w, NFS3_REG);
        xdr_put_u32(&w, read_bytes);
        xdr_put_u32(&w, 1);
        xdr_put_u32(&w, read_bytes);
        uint8_t *data = xdr_room(&w, xdr_padded(read_bytes));
        if (data)
            memset(data, 'r', xdr_padded(read_bytes));
        break;
    }
    case NFS_OP_WRITE:
        valid_put_wcc(&w, NFS3_REG);
        xdr_put_u32(&w, read_bytes);
        xdr_put_u32(&w, NFS3_FILE_SYNC);
        xdr_put_u64(&w, VALID_VERIFIER);
        break;
    case NFS_OP_CREATE:
    case NFS_OP_MKDIR:
    case NFS_OP_SYMLINK:
    case NFS_OP_MKNOD:
        xdr_put_u32(&w, 1);
        valid_put_fh(&w);
        valid_put_post_op(&w, NFS3_REG);
        valid_put_wcc(&w, NFS3_DIR);
        break;
    case NFS_OP_RENAME:
        valid_put_wcc(&w, NFS3_DIR);
        valid_put_wcc(&w, NFS3_DIR);
        break;
    case NFS_OP_LINK:
        valid_put_post_op(&w, NFS3_REG);
        valid_put_wcc(&w, NFS3_DIR);
        break;
    case NFS_OP_READDIR:
        valid_put_list(&w, false);
        break;
    case NFS_OP_READDIRPLUS:
        valid_put_list(&w, true);
        break;
    case NFS_OP_FSSTAT:
        valid_put_post_op(&w, NFS3_DIR);
        for (uint64_t i = 1; i <= 6; i++)
            xdr_put_u64(&w, i << 40);
        xdr_put_u32(&w, 30);
        break;
    case NFS_OP_FSINFO:
        valid_put_post_op(&w, NFS3_DIR);
        valid_put_words(&w, 65536, 7);
        xdr_put_u64(&w, VALID_SIZE);
        valid_put_words(&w, 0, 2); /* time_delta */
        xdr_put_u32(&w, 0x1b);
        break;
    case NFS_OP_PATHCONF:
        valid_put_post_op(&w, NFS3_DIR);
        xdr_put_u32(&w, 32000);
        xdr_put_u32(&w, 255);
        xdr_put_u32(&w, 1);
        xdr_put_u32(&w, 1);
        xdr_put_u32(&w, 0);
        xdr_put_u32(&w, 1);
        break;
    case NFS_OP_COMMIT:
        valid_put_wcc(&w, NFS3_REG);
        xdr_put_u64(&w, VALID_VERIFIER);
        break;
    default:
        break;
    }
    return (size_t)(w.at - out);
}

#endif
