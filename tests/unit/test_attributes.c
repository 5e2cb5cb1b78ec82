#include "attributes.h"

#include <criterion/criterion.h>

static struct inode file_of(uint32_t uid, uint32_t gid, uint16_t mode)
{
    return (struct inode){.type = FS_REG, .nlink = 1, .uid = uid, .gid = gid, .mode = mode};
}

static const struct fs_who owner = {.uid = 5, .gid = 1}, in_group = {.uid = 6, .gid = 1, .n_gids = 1, .gids = {50}},
                           other = {.uid = 7, .gid = 1}, root = {.uid = 0, .gid = 0};

Test(attributes, first_class_that_fits_decides)
{
    struct inode file = file_of(5, 50, 0077);
    cr_assert(!attributes_may(&file, &owner, MAY_READ), "the owner has only the owner's bits");
    cr_assert(attributes_may(&file, &in_group, MAY_READ | MAY_WRITE));
    file.mode = 0707;
    cr_assert(!attributes_may(&file, &in_group, MAY_READ));
    cr_assert(attributes_may(&file, &other, MAY_READ | MAY_WRITE | MAY_EXECUTE));
    file.mode = 0750;
    cr_assert(attributes_may(&file, &in_group, MAY_READ | MAY_EXECUTE));
    cr_assert(!attributes_may(&file, &in_group, MAY_WRITE));
    cr_assert(!attributes_may(&file, &other, MAY_READ));
}

Test(attributes, root_may_everything_but_execute_what_nobody_may)
{
    struct inode file = file_of(5, 50, 0);
    cr_assert(attributes_may(&file, &root, MAY_READ | MAY_WRITE));
    cr_assert(!attributes_may(&file, &root, MAY_EXECUTE));
    file.mode = 0001;
    cr_assert(attributes_may(&file, &root, MAY_EXECUTE));
}

Test(attributes, owner_may_always_read_and_write_what_is_open)
{
    struct inode file = file_of(5, 50, 0);
    cr_assert(attributes_may_io(&file, &owner, MAY_WRITE));
    cr_assert(!attributes_may_io(&file, &other, MAY_READ));
    file.mode = 0001;
    cr_assert(attributes_may_io(&file, &other, MAY_READ), "who may execute it may read its pages");
    cr_assert(!attributes_may_io(&file, &other, MAY_WRITE));
}

Test(attributes, access_bits_depend_on_the_type)
{
    struct inode file = file_of(5, 50, 0700);
    cr_assert_eq(attributes_access(&file, &owner, 0x3f), 0x01 | 0x04 | 0x08 | 0x20);
    cr_assert_eq(attributes_access(&file, &owner, FS_ACCESS_READ), FS_ACCESS_READ);
    file.type = FS_DIR;
    cr_assert_eq(attributes_access(&file, &owner, 0x3f), 0x01 | 0x02 | 0x04 | 0x08 | 0x10);
    cr_assert_eq(attributes_access(&file, &other, 0x3f), 0);
}

Test(attributes, who_may_set_what)
{
    static const struct {
        struct fs_set set;
        enum fs_status as_owner, as_other;
    } rows[] = {
        {{.has_mode = true, .mode = 0777}, FS_OK, FS_PERM},
        {{.has_uid = true, .uid = 9}, FS_PERM, FS_PERM},
        {{.has_uid = true, .uid = 5}, FS_OK, FS_OK},
        {{.has_gid = true, .gid = 1}, FS_OK, FS_PERM},
        {{.has_gid = true, .gid = 99}, FS_PERM, FS_PERM},
        {{.has_size = true}, FS_OK, FS_ACCES},
        {{.mtime_how = FS_TIME_NOW}, FS_OK, FS_ACCES},
        {{.atime_how = FS_TIME_GIVEN}, FS_OK, FS_PERM},
        {{0}, FS_OK, FS_OK},
    };
    struct inode file = file_of(5, 50, 0600);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_assert_eq(attributes_may_set(&file, &owner, &rows[i].set), rows[i].as_owner, "row %u", i);
        cr_assert_eq(attributes_may_set(&file, &other, &rows[i].set), rows[i].as_other, "row %u", i);
        cr_assert_eq(attributes_may_set(&file, &root, &rows[i].set), FS_OK, "row %u", i);
    }
}

Test(attributes, another_owner_takes_the_set_id_bits_away)
{
    struct inode file = file_of(5, 50, 06755);
    struct fs_set set = {.has_gid = true, .gid = 1};
    attributes_set(&file, &set, (struct fs_time){7, 8}, false);
    cr_assert_eq(file.mode, 0755);
    cr_assert_eq(file.gid, 1);
    cr_assert_eq(file.ctime.seconds, 7);
    cr_assert_eq(file.mtime.seconds, 0);
}

Test(attributes, times_are_those_given)
{
    struct inode file = file_of(5, 50, 0644);
    struct fs_set set = {.atime_how = FS_TIME_GIVEN, .atime = {1, 999999999}, .mtime_how = FS_TIME_NOW};
    struct fs_attributes out;
    attributes_set(&file, &set, (struct fs_time){7, 8}, false);
    attributes_fill(&file, 3, 4096, &out);
    cr_assert(out.atime.seconds == 1 && out.atime.nseconds == 999999999);
    cr_assert(out.mtime.seconds == 7 && out.mtime.nseconds == 8);
    cr_assert(out.fileid == 3 && out.used == 4096 && out.type == FS_REG);
}
