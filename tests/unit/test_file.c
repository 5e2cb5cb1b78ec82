/* test_file.c - what a whole file is written to: regular files are replaced, everything else keeps its kind. */
#include "file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64], path[128], other[128];

static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/test-file-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/path", root);
    snprintf(other, sizeof other, "%s/other", root);
}

static void remove_root(void)
{
    unlink(path);
    unlink(other);
    cr_assert_eq(rmdir(root), 0); /* no temporary file is left */
}

TestSuite(file, .init = make_root, .fini = remove_root);

static void expect_text(const char *file, const char *expected)
{
    char *text;
    size_t n;
    cr_assert_eq(file_read(file, &text, &n), 0);
    cr_assert_str_eq(text, expected);
    free(text);
}

Test(file, regular_files_are_replaced_as_a_whole)
{
    cr_assert_eq(file_write(path, "long", 4), 0);
    int old = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert_eq(file_write(path, "new", 3), 0);
    char text[8] = "";
    cr_assert_eq(read(old, text, sizeof text), 4); /* who had it open still sees the old one */
    expect_text(path, "new");
    close(old);
}

Test(file, symbolic_links_are_written_through)
{
    struct stat st;
    cr_assert_eq(file_write(other, "something longer", 16), 0);
    cr_assert_eq(symlink(other, path), 0);
    cr_assert_eq(file_write(path, "new", 3), 0);
    cr_assert_eq(lstat(path, &st), 0);
    cr_assert(S_ISLNK(st.st_mode));
    expect_text(other, "new");
}

Test(file, fifos_and_devices_stay_what_they_are)
{
    struct stat st;
    char text[8] = "";
    cr_assert_eq(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDWR | O_CLOEXEC);
    cr_assert_eq(file_write(path, "new", 3), 0);
    cr_assert_eq(read(reader, text, sizeof text), 3);
    cr_assert_eq(lstat(path, &st), 0);
    cr_assert(S_ISFIFO(st.st_mode));
    close(reader);
    cr_assert_eq(symlink("/dev/full", other), 0); /* a link, lest a fault here replace the machine's device */
    cr_assert_eq(file_write(other, "new", 3), -ENOSPC);
}

Test(file, directories_are_refused)
{
    cr_assert_eq(file_write(root, "new", 3), -EISDIR);
}

Test(file, json_may_have_a_byte_order_mark)
{
    json_t *o;
    char why[200];
    const char *text = "\xef\xbb\xbf{\"a\": 1}";
    cr_assert_eq(file_parse_json("r.json", text, strlen(text), &o, why, sizeof why), 0, "%s", why);
    cr_assert_eq(json_integer_value(json_object_get(o, "a")), 1);
    json_decref(o);
    cr_assert_eq(file_parse_json("r.json", text, 3, &o, why, sizeof why), -EINVAL);
}

Test(file, nothing_waits_for_the_writer_of_a_fifo)
{
    char *text;
    size_t n;
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(file_read(path, &text, &n), -ENXIO);
}
