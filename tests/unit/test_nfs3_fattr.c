/* fattr3 on the wire, byte for byte as RFC 1813 section 2.6 has it. */
#include "nfs3_prot.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#define BYTES 84

static const uint8_t wire[BYTES] = {
    0,    0, 0, 2,                      /* type: directory */
    0,    0, 1, 0xed,                   /* mode 0755 */
    0,    0, 0, 3,                      /* nlink */
    0,    0, 3, 0xe8,                   /* uid 1000 */
    0,    0, 0, 100,                    /* gid */
    1,    2, 3, 4,    5, 6, 7,    8,    /* size */
    0,    0, 0, 0,    0, 0, 0x10, 0,    /* used 4096 */
    0,    0, 0, 8,    0, 0, 0,    17,   /* rdev */
    0,    0, 0, 0,    0, 0, 0,    9,    /* fsid */
    0,    0, 0, 1,    0, 0, 0,    0,    /* fileid 2^32 */
    0,    0, 0, 10,   0, 0, 0,    11,   /* atime */
    0,    0, 0, 12,   0, 0, 0,    13,   /* mtime */
    0xff, 0, 0, 0,    0, 0, 0x01, 0x02, /* ctime */
};

static const fattr3 attributes = {
    .type = NF3DIR,
    .mode = 0755,
    .nlink = 3,
    .uid = 1000,
    .gid = 100,
    .size = UINT64_C(0x0102030405060708),
    .used = 4096,
    .rdev = {8, 17},
    .fsid = 9,
    .fileid = UINT64_C(1) << 32,
    .atime = {10, 11},
    .mtime = {12, 13},
    .ctime = {0xff000000, 0x102},
};

Test(nfs3_fattr, attributes_are_encoded_word_for_word)
{
    uint8_t out[BYTES + 4];
    XDR xdrs;
    xdrmem_create(&xdrs, (char *)out, sizeof out, XDR_ENCODE);
    fattr3 in = attributes;
    cr_assert(xdr_fattr3(&xdrs, &in));
    cr_assert_eq(xdr_getpos(&xdrs), BYTES);
    cr_assert_arr_eq(out, wire, BYTES);
}

Test(nfs3_fattr, what_is_decoded_is_what_was_encoded)
{
    uint8_t in[BYTES];
    XDR xdrs;
    memcpy(in, wire, BYTES);
    xdrmem_create(&xdrs, (char *)in, sizeof in, XDR_DECODE);
    fattr3 out;
    memset(&out, 0x5a, sizeof out);
    cr_assert(xdr_fattr3(&xdrs, &out));
    cr_assert_eq(out.type, NF3DIR);
    cr_assert_eq(out.mode, 0755u);
    cr_assert_eq(out.nlink, 3u);
    cr_assert_eq(out.uid, 1000u);
    cr_assert_eq(out.gid, 100u);
    cr_assert_eq(out.size, attributes.size);
    cr_assert_eq(out.used, 4096u);
    cr_assert_eq(out.rdev.specdata1, 8u);
    cr_assert_eq(out.rdev.specdata2, 17u);
    cr_assert_eq(out.fsid, 9u);
    cr_assert_eq(out.fileid, UINT64_C(1) << 32);
    cr_assert_eq(out.atime.seconds, 10u);
    cr_assert_eq(out.atime.nseconds, 11u);
    cr_assert_eq(out.mtime.seconds, 12u);
    cr_assert_eq(out.mtime.nseconds, 13u);
    cr_assert_eq(out.ctime.seconds, 0xff000000u);
    cr_assert_eq(out.ctime.nseconds, 0x102u);
}

Test(nfs3_fattr, a_byte_too_few_is_refused_both_ways)
{
    uint8_t bytes[BYTES];
    fattr3 a = attributes;
    XDR xdrs;
    memcpy(bytes, wire, BYTES);
    xdrmem_create(&xdrs, (char *)bytes, BYTES - 1, XDR_ENCODE);
    cr_assert_not(xdr_fattr3(&xdrs, &a));
    xdrmem_create(&xdrs, (char *)bytes, BYTES - 1, XDR_DECODE);
    cr_assert_not(xdr_fattr3(&xdrs, &a));
}
