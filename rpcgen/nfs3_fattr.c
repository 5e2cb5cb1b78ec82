/* nfs3_fattr.c - fattr3 (RFC 1813 section 2.6) to and from the wire in one piece: it has one size, so one check and
 * straight stores do, where generated code makes a call or two for each of its 21 words. */
#include "nfs3_prot.h"
#include "xdr_cursor.h"

#define FATTR3_BYTES 84u

static void store_time(uint8_t *p, nfstime3 t)
{
    xdr_store_u32(p, t.seconds);
    xdr_store_u32(p + 4, t.nseconds);
}

static nfstime3 load_time(const uint8_t *p)
{
    return (nfstime3){.seconds = xdr_load_u32(p), .nseconds = xdr_load_u32(p + 4)};
}

static void store(uint8_t *p, const fattr3 *a)
{
    xdr_store_u32(p, (uint32_t)a->type);
    xdr_store_u32(p + 4, a->mode);
    xdr_store_u32(p + 8, a->nlink);
    xdr_store_u32(p + 12, a->uid);
    xdr_store_u32(p + 16, a->gid);
    xdr_store_u64(p + 20, a->size);
    xdr_store_u64(p + 28, a->used);
    xdr_store_u32(p + 36, a->rdev.specdata1);
    xdr_store_u32(p + 40, a->rdev.specdata2);
    xdr_store_u64(p + 44, a->fsid);
    xdr_store_u64(p + 52, a->fileid);
    store_time(p + 60, a->atime);
    store_time(p + 68, a->mtime);
    store_time(p + 76, a->ctime);
}

static void load(const uint8_t *p, fattr3 *a)
{
    a->type = (ftype3)xdr_load_u32(p);
    a->mode = xdr_load_u32(p + 4);
    a->nlink = xdr_load_u32(p + 8);
    a->uid = xdr_load_u32(p + 12);
    a->gid = xdr_load_u32(p + 16);
    a->size = xdr_load_u64(p + 20);
    a->used = xdr_load_u64(p + 28);
    a->rdev.specdata1 = xdr_load_u32(p + 36);
    a->rdev.specdata2 = xdr_load_u32(p + 40);
    a->fsid = xdr_load_u64(p + 44);
    a->fileid = xdr_load_u64(p + 52);
    a->atime = load_time(p + 60);
    a->mtime = load_time(p + 68);
    a->ctime = load_time(p + 76);
}

bool_t xdr_fattr3(XDR *xdrs, fattr3 *attributes)
{
    uint8_t bytes[FATTR3_BYTES];
    if (xdrs->x_op == XDR_ENCODE) {
        store(bytes, attributes);
        return xdr_opaque(xdrs, (char *)bytes, sizeof bytes);
    }
    if (xdrs->x_op == XDR_DECODE) {
        if (!xdr_opaque(xdrs, (char *)bytes, sizeof bytes)) {
            return FALSE;
        }
        load(bytes, attributes);
    }
    return TRUE; /* nothing of it is to be freed */
}
