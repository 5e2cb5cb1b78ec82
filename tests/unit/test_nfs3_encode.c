/* Arguments of the procedures, word by word as RFC 1813 has them. */
#include "nfs3_encode.h"
#include "xdr_cursor.h"

#include <criterion/criterion.h>
#include <errno.h>

static const struct nfs3_fh fh = {.len = 5, .data = "abcde"};
static const struct nfs3_fh dir = {.len = 4, .data = "dddd"};
static uint8_t out[NFS3_ARGS_MAX];

/* The handle "abcde" as XDR takes 12 bytes. */
#define FH_BYTES 12

static uint32_t word(size_t at)
{
    return xdr_load_u32(out + at);
}

Test(nfs3_encode, getattr_is_the_handle)
{
    static const uint8_t expected[FH_BYTES] = {0, 0, 0, 5, 'a', 'b', 'c', 'd', 'e', 0, 0, 0};
    struct nfs3_call call = {.op = NFS_OP_GETATTR, .fh = &fh};
    cr_assert_eq(nfs3_encode_args(&call, out), FH_BYTES);
    cr_assert_arr_eq(out, expected, FH_BYTES);
}

Test(nfs3_encode, null_has_no_arguments)
{
    struct nfs3_call call = {.op = NFS_OP_NULL};
    cr_assert_eq(nfs3_call_check(&call), 0);
    cr_assert_eq(nfs3_encode_args(&call, out), 0);
}

Test(nfs3_encode, write_ends_behind_the_length_of_its_data)
{
    uint8_t data[10];
    struct nfs3_call call = {
        .op = NFS_OP_WRITE,
        .fh = &fh,
        .write = {.offset = UINT64_C(0x123456789), .count = 10, .stable = NFS3_DATA_SYNC, .data = data}};
    cr_assert_eq(nfs3_encode_args(&call, out), FH_BYTES + 20u);
    cr_assert(word(12) == 1 && word(16) == 0x23456789 && word(20) == 10 && word(24) == 1 && word(28) == 10);
}

Test(nfs3_encode, setattr_with_everything_set)
{
    struct nfs3_call call = {.op = NFS_OP_SETATTR,
                             .fh = &fh,
                             .setattr = {.set = {.has_mode = true,
                                                 .mode = 0644,
                                                 .has_uid = true,
                                                 .uid = 1,
                                                 .has_gid = true,
                                                 .gid = 2,
                                                 .has_size = true,
                                                 .size = 3,
                                                 .atime_how = NFS3_TIME_SERVER,
                                                 .mtime_how = NFS3_TIME_CLIENT,
                                                 .mtime = {4, 5}},
                                         .has_guard = true,
                                         .guard_ctime = {6, 7}}};
    static const uint32_t expected[] = {1, 0644, 1, 1, 1, 2, 1, 0, 3, 1, 2, 4, 5, 1, 6, 7};
    cr_assert_eq(nfs3_encode_args(&call, out), FH_BYTES + sizeof expected);
    for (size_t i = 0; i < sizeof expected / 4; i++)
        cr_assert_eq(word(FH_BYTES + 4 * i), expected[i], "word %zu", i);
}

Test(nfs3_encode, exclusive_create_carries_its_verifier_instead_of_attributes)
{
    struct nfs3_call call = {.op = NFS_OP_CREATE,
                             .fh = &fh,
                             .name = "nm",
                             .create = {.how = NFS3_CREATE_EXCLUSIVE, .verifier = UINT64_C(0x1122334455667788)}};
    cr_assert_eq(nfs3_encode_args(&call, out), FH_BYTES + 8u + 4 + 8);
    cr_assert(word(20) == 2 && word(24) == 0x11223344 && word(28) == 0x55667788);
}

Test(nfs3_encode, rename_names_both_directories)
{
    struct nfs3_call call = {
        .op = NFS_OP_RENAME, .fh = &fh, .name = "from", .rename = {.to_dir = &dir, .to_name = "to"}};
    cr_assert_eq(nfs3_encode_args(&call, out), FH_BYTES + 8u + 8 + 8);
    cr_assert(word(12) == 4 && memcmp(out + 16, "from", 4) == 0);
    cr_assert(word(20) == 4 && memcmp(out + 24, "dddd", 4) == 0);
    cr_assert(word(28) == 2 && memcmp(out + 32, "to\0\0", 4) == 0);
}

Test(nfs3_encode, mknod_of_a_device_has_its_numbers_and_of_a_fifo_has_none)
{
    struct nfs3_call call = {
        .op = NFS_OP_MKNOD, .fh = &fh, .name = "nm", .mknod = {.type = NFS3_CHR, .rdev_major = 7, .rdev_minor = 8}};
    size_t with_device = nfs3_encode_args(&call, out);
    cr_assert(word(with_device - 8) == 7 && word(with_device - 4) == 8);
    call.mknod.type = NFS3_FIFO;
    cr_assert_eq(nfs3_encode_args(&call, out), with_device - 8);
}

Test(nfs3_encode, the_longest_arguments_fit)
{
    char name[NFS3_NAME_MAX + 1], path[NFS3_PATH_MAX + 1];
    struct nfs3_fh long_fh = {.len = NFS3_FH_MAX};
    memset(name, 'n', sizeof name - 1);
    memset(path, 'p', sizeof path - 1);
    name[sizeof name - 1] = path[sizeof path - 1] = 0;
    struct nfs3_call call = {.op = NFS_OP_SYMLINK, .fh = &long_fh, .name = name, .symlink = {.path = path}};
    struct nfs3_set *set = &call.symlink.set;
    set->has_mode = set->has_uid = set->has_gid = set->has_size = true;
    set->atime_how = set->mtime_how = NFS3_TIME_CLIENT;
    cr_assert_eq(nfs3_call_check(&call), 0);
    cr_assert_eq(nfs3_encode_args(&call, out), 68u + 260 + 60 + 1028);
}

Test(nfs3_encode, what_is_out_of_bounds_is_refused)
{
    char name[NFS3_NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    struct nfs3_call calls[] = {
        {.op = NFS_OP_GETATTR},
        {.op = NFS_OP_COUNT, .fh = &fh},
        {.op = NFS_OP_LOOKUP, .fh = &fh},
        {.op = NFS_OP_LOOKUP, .fh = &fh, .name = ""},
        {.op = NFS_OP_LOOKUP, .fh = &fh, .name = name},
        {.op = NFS_OP_READ, .fh = &fh, .read = {.count = NFS3_TRANSFER_MAX + 1}},
        {.op = NFS_OP_WRITE, .fh = &fh, .write = {.count = 1}},
        {.op = NFS_OP_RENAME, .fh = &fh, .name = "a", .rename = {.to_name = "b"}},
        {.op = NFS_OP_LINK, .fh = &fh, .name = "a"},
        {.op = NFS_OP_SYMLINK, .fh = &fh, .name = "a"},
        {.op = NFS_OP_MKNOD, .fh = &fh, .name = "a", .mknod = {.type = 8}},
        {.op = NFS_OP_READDIR, .fh = &fh, .readdir = {.count = NFS3_TRANSFER_MAX + 1}},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        cr_assert_eq(nfs3_call_check(&calls[i]), -EINVAL, "call %zu", i);
}
