/* What clients see is tested from outside (tests/target); here is what they can't see: memory, limits of synthesised
 * data, references. */
#include "memory_fs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct fs_who root_user;

static struct memory_fs *make_fs(struct memory_fs_options options, struct fs_handle *root)
{
    options.max_files = options.max_files ? options.max_files : 1000;
    options.verifier = 77;
    struct memory_fs *fs = memory_fs_create(&options);
    cr_assert_not_null(fs);
    cr_assert_eq(memory_fs_add_root(fs, 0777, root), 0);
    return fs;
}

static struct fs_name name_of(const char *text)
{
    return (struct fs_name){.text = text, .len = (uint32_t)strlen(text)};
}

static struct fs_handle make_file(struct memory_fs *fs, struct fs_handle root, const char *name, uint64_t size)
{
    struct fs_creation creation = {
        .type = FS_REG, .how = FS_CREATE_GUARDED, .set = {.has_size = size > 0, .size = size}};
    struct fs_handle made = {0};
    struct fs_object object;
    struct fs_wcc wcc = {0};
    cr_assert_eq(memory_fs_make(fs, &root_user, root, name_of(name), &creation, &made, &object, &wcc), FS_OK);
    return made;
}

static enum fs_status write_at(struct memory_fs *fs, struct fs_handle file, uint64_t offset, const char *text)
{
    struct fs_wcc wcc = {0};
    uint64_t verifier;
    return memory_fs_write(fs, &root_user, file, offset, (const uint8_t *)text, (uint32_t)strlen(text), true, &wcc,
                           &verifier);
}

static uint64_t free_bytes(struct memory_fs *fs, struct fs_handle root)
{
    struct fs_space space;
    struct fs_object object;
    cr_assert_eq(memory_fs_stat(fs, root, &space, &object), FS_OK);
    return space.free_bytes;
}

Test(memory_fs, all_space_comes_back)
{
    struct fs_handle root;
    struct memory_fs *fs = make_fs((struct memory_fs_options){.capacity_bytes = 1 << 20}, &root);
    struct fs_handle file = make_file(fs, root, "file", 0);
    struct fs_wcc wcc = {0};
    cr_assert_eq(write_at(fs, file, 0, "hello"), FS_OK);
    cr_assert_eq(free_bytes(fs, root), (1 << 20) - 512);
    cr_assert_eq(memory_fs_setattr(fs, &root_user, file, &(struct fs_set){.has_size = true}, NULL, &wcc), FS_OK);
    cr_assert_eq(free_bytes(fs, root), 1 << 20);
    cr_assert_eq(write_at(fs, file, 100000, "hello"), FS_OK);
    cr_assert_eq(memory_fs_remove(fs, &root_user, root, name_of("file"), false, &wcc), FS_OK);
    cr_assert_eq(free_bytes(fs, root), 1 << 20);
    memory_fs_destroy(fs);
}

Test(memory_fs, data_outlives_its_file_while_it_is_referenced)
{
    struct fs_handle root;
    struct memory_fs *fs = make_fs((struct memory_fs_options){.capacity_bytes = 1 << 20}, &root);
    struct fs_handle file = make_file(fs, root, "file", 0);
    struct fs_object object;
    struct fs_wcc wcc = {0};
    struct fs_read read;
    cr_assert_eq(write_at(fs, file, 0, "hello"), FS_OK);
    cr_assert_eq(memory_fs_read(fs, &root_user, file, 0, 5, &read, &object), FS_OK);
    cr_assert_eq(write_at(fs, file, 0, "other"), FS_OK);
    cr_assert_eq(memory_fs_remove(fs, &root_user, root, name_of("file"), false, &wcc), FS_OK);
    cr_assert_eq(read.n_segments, 1);
    cr_assert_eq(memcmp(read.segments[0].data, "hello", 5), 0);
    read.segments[0].release(read.segments[0].arg);
    memory_fs_destroy(fs);
}

Test(memory_fs, synthesised_sizes_count_against_the_capacity)
{
    struct fs_handle root;
    struct memory_fs *fs =
        make_fs((struct memory_fs_options){.is_synth = true, .capacity_bytes = UINT64_C(1) << 40}, &root);
    struct fs_handle file = make_file(fs, root, "half", UINT64_C(1) << 39);
    cr_assert_eq(free_bytes(fs, root), UINT64_C(1) << 39);
    cr_assert_eq(write_at(fs, file, UINT64_C(1) << 40, "x"), FS_NOSPC);
    cr_assert_eq(write_at(fs, file, (UINT64_C(1) << 40) - 1, "x"), FS_OK);
    cr_assert_eq(free_bytes(fs, root), 0);
    struct fs_wcc wcc = {0};
    cr_assert_eq(memory_fs_remove(fs, &root_user, root, name_of("half"), false, &wcc), FS_OK);
    cr_assert_eq(free_bytes(fs, root), UINT64_C(1) << 40);
    memory_fs_destroy(fs);
}

Test(memory_fs, largest_read_fits_its_segments)
{
    struct fs_handle root;
    struct memory_fs *fs = make_fs((struct memory_fs_options){.capacity_bytes = 64 << 20}, &root);
    struct fs_handle file = make_file(fs, root, "file", 4 << 20);
    struct fs_object object;
    struct fs_read read;
    /* Every block has one stored byte in its first half and a hole behind it: two segments a block, and the read begins
     * inside one. */
    for (uint64_t at = 0; at < 4 << 20; at += 65536) {
        cr_assert_eq(write_at(fs, file, at + 30000, "x"), FS_OK);
    }
    cr_assert_eq(memory_fs_read(fs, &root_user, file, 20000, FS_MAX_TRANSFER, &read, &object), FS_OK);
    cr_assert_eq(read.count, FS_MAX_TRANSFER);
    cr_assert_leq(read.n_segments, MEMORY_FS_READ_SEGMENTS);
    cr_assert_gt(read.n_segments, 30);
    size_t bytes = 0;
    for (unsigned i = 0; i < read.n_segments; i++) {
        bytes += read.segments[i].bytes;
        if (read.segments[i].release) {
            read.segments[i].release(read.segments[i].arg);
        }
    }
    cr_assert_eq(bytes, FS_MAX_TRANSFER);
    memory_fs_destroy(fs);
}

Test(memory_fs, another_verifier_after_a_loss_and_none_after_a_commit)
{
    struct fs_handle root;
    struct memory_fs *fs = make_fs((struct memory_fs_options){.capacity_bytes = 1 << 20}, &root);
    struct fs_handle file = make_file(fs, root, "file", 0);
    struct fs_wcc wcc = {0};
    uint64_t verifier = 0;
    cr_assert_eq(memory_fs_verifier(fs), 77);
    cr_assert_eq(write_at(fs, file, 0, "hello"), FS_OK);
    cr_assert_eq(memory_fs_lose_unstable(fs), 5);
    cr_assert_neq(memory_fs_verifier(fs), 77);
    cr_assert_eq(write_at(fs, file, 0, "hello"), FS_OK);
    cr_assert_eq(memory_fs_commit(fs, &root_user, file, 0, 0, &wcc, &verifier), FS_OK);
    cr_assert_eq(verifier, memory_fs_verifier(fs));
    cr_assert_eq(memory_fs_lose_unstable(fs), 0);
    memory_fs_destroy(fs);
}
