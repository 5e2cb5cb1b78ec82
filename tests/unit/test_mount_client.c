/* Replies of MOUNT. */
#include "mount_client.h"
#include "xdr_cursor.h"

#include <criterion/criterion.h>
#include <errno.h>

static uint8_t out[1024];

static size_t mnt_reply(uint32_t status, uint32_t fh_bytes, uint32_t n_flavors, uint32_t flavor)
{
    struct xdr_writer w = xdr_writer_of(out, sizeof out);
    static const uint8_t zeros[128];
    xdr_put_u32(&w, status);
    if (status == 0) {
        xdr_put_opaque(&w, zeros, fh_bytes);
        xdr_put_u32(&w, n_flavors);
        for (uint32_t i = 0; i < n_flavors && i < 100; i++)
            xdr_put_u32(&w, flavor);
    }
    return (size_t)(w.at - out);
}

Test(mount_client, a_reply_gives_the_root_handle)
{
    struct nfs3_fh root;
    cr_assert_eq(mount_decode_mnt(out, mnt_reply(0, 64, 1, 1), &root), 0);
    cr_assert_eq(root.len, 64);
}

Test(mount_client, a_list_of_flavors_that_claims_too_much_is_refused)
{
    struct nfs3_fh root;
    size_t n = mnt_reply(0, 32, 1, 1);
    xdr_store_u32(out + 4 + 4 + 32, 0x40000001); /* times four wraps in 32 bits */
    cr_assert_eq(mount_decode_mnt(out, n, &root), -EPROTO);
}

Test(mount_client, an_export_without_auth_sys_is_named)
{
    struct nfs3_fh root;
    cr_assert_eq(mount_decode_mnt(out, mnt_reply(0, 32, 2, 390003), &root), -EPROTONOSUPPORT);
    cr_assert_eq(mount_decode_mnt(out, mnt_reply(0, 32, 0, 0), &root), 0);
}

Test(mount_client, a_status_is_given_back)
{
    struct nfs3_fh root;
    cr_assert_eq(mount_decode_mnt(out, mnt_reply(13, 0, 0, 0), &root), 13);
}

Test(mount_client, every_cut_is_refused)
{
    struct nfs3_fh root;
    size_t n = mnt_reply(0, 28, 2, 1);
    for (size_t cut = 0; cut < n; cut++)
        cr_assert_eq(mount_decode_mnt(out, cut, &root), -EPROTO);
}

Test(mount_client, handle_of_65_bytes_is_refused)
{
    struct nfs3_fh root;
    cr_assert_eq(mount_decode_mnt(out, mnt_reply(0, 65, 1, 1), &root), -EPROTO);
}
