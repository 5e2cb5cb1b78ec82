/* key_file.c - see key_file.h. */
#include "key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEX_BYTES (2 * SEAL_KEY_BYTES)

static int check_mode(const char *path, const struct stat *st, char *message, size_t cap)
{
    if (!S_ISREG(st->st_mode)) {
        snprintf(message, cap, "key file %s: not a regular file", path);
        return -EINVAL;
    }
    if (st->st_uid != geteuid() && st->st_uid != 0) {
        snprintf(message, cap, "key file %s: belongs to user %u; it must belong to the user who runs this (chown it)",
                 path, (unsigned)st->st_uid);
        return -EPERM;
    }
    if (st->st_mode & 077) {
        snprintf(message, cap, "key file %s: mode %04o lets others read or change it; run: chmod 600 %s", path,
                 (unsigned)(st->st_mode & 07777), path);
        return -EPERM;
    }
    return 0;
}

int key_file_load(const char *path, uint8_t key[SEAL_KEY_BYTES], char *message, size_t cap)
{
    /* One byte more than a good file has, to notice a longer one. */
    char text[HEX_BYTES + 3];
    size_t key_bytes = 0;
    const char *end = NULL;
    struct stat st;
    ssize_t n;
    int error = 0;

    /* Non-blocking, so that a FIFO cannot hang us; it is refused as not regular. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        error = -errno;
        snprintf(message, cap, "key file %s: %s (make one with: nfscurve keygen FILE)", path, strerror(errno));
        return error;
    }
    /* Checked on the open file, so that it cannot be swapped in between. */
    if (fstat(fd, &st) < 0) {
        error = -errno;
        snprintf(message, cap, "key file %s: %s", path, strerror(errno));
        goto out;
    }
    error = check_mode(path, &st, message, cap);
    if (error) {
        goto out;
    }
    n = read(fd, text, sizeof(text));
    if (n > 0 && text[n - 1] == '\n') {
        n--;
    }
    if (n != HEX_BYTES || sodium_hex2bin(key, SEAL_KEY_BYTES, text, HEX_BYTES, NULL, &key_bytes, &end) != 0 ||
        key_bytes != SEAL_KEY_BYTES) {
        sodium_memzero(key, SEAL_KEY_BYTES);
        snprintf(message, cap, "key file %s: expected one line of %d hexadecimal digits (nfscurve keygen makes it)",
                 path, HEX_BYTES);
        error = -EINVAL;
    }
out:
    sodium_memzero(text, sizeof(text));
    close(fd);
    return error;
}

int key_file_generate(const char *path, char *message, size_t cap)
{
    uint8_t key[SEAL_KEY_BYTES];
    char text[HEX_BYTES + 2];
    int error = 0;

    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        error = -errno;
        snprintf(message, cap, "key file %s: %s%s", path, strerror(errno),
                 errno == EEXIST ? "; an existing key is never overwritten" : "");
        return error;
    }
    randombytes_buf(key, sizeof(key));
    sodium_bin2hex(text, sizeof(text), key, sizeof(key));
    text[HEX_BYTES] = '\n';
    /* fchmod: the mode must not depend on an odd umask. */
    if (fchmod(fd, 0600) < 0 || write(fd, text, HEX_BYTES + 1) != HEX_BYTES + 1 || fsync(fd) < 0) {
        error = errno ? -errno : -EIO;
        snprintf(message, cap, "key file %s: %s", path, strerror(-error));
        unlink(path);
    }
    sodium_memzero(key, sizeof(key));
    sodium_memzero(text, sizeof(text));
    close(fd);
    return error;
}
