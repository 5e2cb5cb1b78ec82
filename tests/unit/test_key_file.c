/* test_key_file.c - keys round trip, and a key that others could read is refused. */
#include "key_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/nfscurve-key-XXXXXX";
static char path[64], message[512];
static uint8_t key[SEAL_KEY_BYTES];

static void make_dir(void)
{
    cr_assert_eq(seal_library_init(), 0);
    cr_assert_not_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/key", dir);
}

static void remove_dir(void)
{
    unlink(path);
    rmdir(dir);
}

static void write_file(const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

TestSuite(key_file, .init = make_dir, .fini = remove_dir);

Test(key_file, generated_key_loads_and_is_private)
{
    uint8_t zero[SEAL_KEY_BYTES] = {0};
    struct stat st;

    cr_assert_eq(key_file_generate(path, message, sizeof(message)), 0, "%s", message);
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_mode & 07777, 0600);
    cr_assert_eq(key_file_load(path, key, message, sizeof(message)), 0, "%s", message);
    cr_assert_neq(memcmp(key, zero, sizeof(key)), 0);
}

Test(key_file, existing_key_is_never_overwritten)
{
    write_file("precious\n");
    cr_assert_eq(key_file_generate(path, message, sizeof(message)), -EEXIST);
    cr_assert_not_null(strstr(message, "never overwritten"));
}

Test(key_file, readable_by_others_is_refused_with_the_remedy)
{
    cr_assert_eq(key_file_generate(path, message, sizeof(message)), 0);
    cr_assert_eq(chmod(path, 0640), 0);
    cr_assert_eq(key_file_load(path, key, message, sizeof(message)), -EPERM);
    cr_assert_not_null(strstr(message, "chmod 600"));
}

Test(key_file, known_text_gives_known_bytes)
{
    write_file("00ff000000000000000000000000000000000000000000000000000000000010\n");
    cr_assert_eq(key_file_load(path, key, message, sizeof(message)), 0, "%s", message);
    cr_assert_eq(key[0], 0x00);
    cr_assert_eq(key[1], 0xff);
    cr_assert_eq(key[31], 0x10);
}

Test(key_file, broken_keys_are_refused)
{
    const char *texts[] = {"",
                           "\n",
                           "abcd\n",
                           "zz",
                           "00ff00000000000000000000000000000000000000000000000000000000001\n",
                           "00ff0000000000000000000000000000000000000000000000000000000000100\n",
                           "00ff00000000000000000000000000000000000000000000000000000000001g\n",
                           "00ff000000000000000000000000000000000000000000000000000000000010\nmore"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        write_file(texts[i]);
        cr_assert_eq(key_file_load(path, key, message, sizeof(message)), -EINVAL, "text %zu passed", i);
    }
}

Test(key_file, missing_file_names_keygen)
{
    cr_assert_eq(key_file_load(path, key, message, sizeof(message)), -ENOENT);
    cr_assert_not_null(strstr(message, "nfscurve keygen"));
}
