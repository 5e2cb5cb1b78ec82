#include "file.h"
#include "json_text.h"
#include "path_kind.h"
#include "utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_make_directory(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

static int write_all(int fd, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t written = write(fd, data, n);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return -errno;
        }
        data += written;
        n -= (size_t)written;
    }
    return 0;
}

/* The rename itself is durable only when its directory is synced. */
static int sync_directory_of(const char *path)
{
    char directory[4096];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int error = fsync(fd) == 0 || errno == EINVAL ? 0 : -errno;
    close(fd);
    return error;
}

static int write_into(const char *path, const char *data, size_t n)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int error = write_all(fd, data, n);
    if (close(fd) != 0 && !error) {
        error = -errno;
    }
    return error;
}

int file_write(const char *path, const void *data, size_t n)
{
    char tmp[4096];
    if (!path_is_replaceable(path)) {
        return write_into(path, data, n);
    }
    if (snprintf(tmp, sizeof tmp, "%s.tmp.%d", path, (int)getpid()) >= (int)sizeof tmp) {
        return -ENAMETOOLONG;
    }
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        return -errno;
    }
    int error = write_all(fd, data, n);
    if (!error && fsync(fd) != 0 && errno != EINVAL) {
        error = -errno;
    }
    if (close(fd) != 0 && !error) {
        error = -errno;
    }
    if (!error && rename(tmp, path) != 0) {
        error = -errno;
    }
    if (error) {
        unlink(tmp);
        return error;
    }
    return sync_directory_of(path);
}

int file_write_json(const char *path, const json_t *root)
{
    size_t n;
    char *text = json_text(root, &n);
    if (!text) {
        return -ENOMEM;
    }
    int error = file_write(path, text, n);
    free(text);
    return error;
}

int file_read(const char *path, char **text, size_t *n)
{
    if (path_is_special(path)) {
        return -ENXIO;
    }
    FILE *in = fopen(path, "re");
    if (!in) {
        return -errno;
    }
    char *buffer = NULL;
    size_t size = 0, cap = 0;
    int error = 0;
    for (;;) {
        if (cap - size < 65536) {
            cap = cap == 0 ? 131072 : cap < FILE_MAX_BYTES ? cap * 2 : cap + 131072;
            char *bigger = size <= FILE_MAX_BYTES ? realloc(buffer, cap) : NULL;
            if (!bigger) {
                error = size > FILE_MAX_BYTES ? -EFBIG : -ENOMEM;
                break;
            }
            buffer = bigger;
        }
        size_t got = fread(buffer + size, 1, cap - size - 1, in);
        size += got;
        if (got == 0) {
            error = ferror(in) ? (errno ? -errno : -EIO) : 0;
            break;
        }
    }
    fclose(in);
    if (error) {
        free(buffer);
        return error;
    }
    buffer[size] = '\0';
    *text = buffer;
    *n = size;
    return 0;
}

int file_parse_json(const char *name, const char *text, size_t n, json_t **root, char *why, size_t cap)
{
    size_t n_clean;
    /* Some editors put a byte order mark first, which RFC 8259 section 8.1 lets a reader pass over. */
    size_t n_mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    char *clean = utf8_repair(text + n_mark, n - n_mark, &n_clean);
    if (!clean) {
        return -ENOMEM;
    }
    json_error_t error;
    *root = json_loadb(clean, n_clean, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    free(clean);
    if (*root) {
        return 0;
    }
    snprintf(why, cap, "%.200s:%d:%d: not valid JSON: %.160s", name, error.line, error.column, error.text);
    return -EINVAL;
}

int file_read_json(const char *path, json_t **root, char *why, size_t cap)
{
    char *text = NULL;
    size_t n = 0;
    int error = file_read(path, &text, &n);
    if (error) {
        snprintf(why, cap, "%.300s: %s", path, strerror(-error));
        return error;
    }
    error = file_parse_json(path, text, n, root, why, cap);
    free(text);
    return error;
}
