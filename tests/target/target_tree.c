/* target_tree.c - copies trees to and from an NFS server with libnfs's POSIX-like API.
 *
 *   target_tree put DIR URL        a local tree into the directory of the URL (created)
 *   target_tree get URL DIR
 *   target_tree big URL BYTES      writes that many bytes into the file of the URL, in odd pieces, and reads them back
 */
#include <sys/time.h>

#include <nfsc/libnfs.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (1u << 20)
#define PATH_BYTES  4096

static struct nfs_context *nfs;
static char piece[PIECE_BYTES], expected[PIECE_BYTES];

static void fatal(const char *what, const char *path)
{
    fprintf(stderr, "target_tree: %s %s: %s\n", what, path, nfs_get_error(nfs));
    exit(1);
}

static void copy_in(const char *from, const char *to)
{
    struct nfsfh *file;
    int fd = open(from, O_RDONLY);
    if (fd < 0 || nfs_creat(nfs, to, 0644, &file) < 0) {
        fatal("creating", to);
    }
    uint64_t offset = 0;
    for (ssize_t n = read(fd, piece, sizeof piece); n > 0; n = read(fd, piece, sizeof piece)) {
        for (ssize_t done = 0; done < n;) {
            int wrote = nfs_pwrite(nfs, file, offset, (uint64_t)(n - done), piece + done);
            if (wrote <= 0) {
                fatal("writing", to);
            }
            done += wrote;
            offset += (uint64_t)wrote;
        }
    }
    close(fd);
    if (nfs_close(nfs, file) < 0) {
        fatal("closing", to);
    }
}

static void put(const char *from, const char *to)
{
    char inner_from[PATH_BYTES], inner_to[PATH_BYTES], link[PATH_BYTES];
    DIR *dir = opendir(from);
    if (!dir || nfs_mkdir(nfs, to) < 0) {
        fatal("making", to);
    }
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        snprintf(inner_from, sizeof inner_from, "%s/%s", from, e->d_name);
        snprintf(inner_to, sizeof inner_to, "%s/%s", to, e->d_name);
        ssize_t n = readlink(inner_from, link, sizeof link - 1);
        if (n >= 0) {
            link[n] = '\0';
            if (nfs_symlink(nfs, link, inner_to) < 0) {
                fatal("linking", inner_to);
            }
        } else if (e->d_type == DT_DIR) {
            put(inner_from, inner_to);
        } else {
            copy_in(inner_from, inner_to);
        }
    }
    closedir(dir);
}

static void copy_out(const char *from, const char *to)
{
    struct nfsfh *file = NULL;
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0 || nfs_open(nfs, from, O_RDONLY, &file) < 0) {
        fatal("opening", from);
    }
    uint64_t offset = 0;
    for (int n = nfs_pread(nfs, file, offset, sizeof piece, piece); n != 0;
         n = nfs_pread(nfs, file, offset, sizeof piece, piece)) {
        if (n < 0 || write(fd, piece, (size_t)n) != n) {
            fatal("reading", from);
        }
        offset += (uint64_t)n;
    }
    nfs_close(nfs, file);
    close(fd);
}

static void get(const char *from, const char *to)
{
    char inner_from[PATH_BYTES], inner_to[PATH_BYTES], link[PATH_BYTES];
    struct nfsdir *dir = NULL;
    if (mkdir(to, 0755) < 0 || nfs_opendir(nfs, from, &dir) < 0) {
        fatal("listing", from);
    }
    for (struct nfsdirent *e = nfs_readdir(nfs, dir); e; e = nfs_readdir(nfs, dir)) {
        if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0) {
            continue;
        }
        snprintf(inner_from, sizeof inner_from, "%s/%s", from, e->name);
        snprintf(inner_to, sizeof inner_to, "%s/%s", to, e->name);
        if (e->type == 5) { /* NF3LNK */
            if (nfs_readlink(nfs, inner_from, link, sizeof link) < 0 || symlink(link, inner_to) < 0) {
                fatal("linking", inner_from);
            }
        } else if (e->type == 2) { /* NF3DIR */
            get(inner_from, inner_to);
        } else {
            copy_out(inner_from, inner_to);
        }
    }
    nfs_closedir(nfs, dir);
}

/* Bytes that depend on their place in the whole file. */
static void fill(char *to, uint64_t offset, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t word = (offset + i) / 8 * UINT64_C(0x9e3779b97f4a7c15);
        to[i] = (char)(word >> (offset + i) % 8 * 8);
    }
}

static void big(const char *path, uint64_t bytes)
{
    struct nfsfh *file;
    if (nfs_creat(nfs, path, 0644, &file) < 0) {
        fatal("creating", path);
    }
    for (uint64_t offset = 0; offset < bytes;) {
        size_t n = PIECE_BYTES - offset % 4093;
        n = n < bytes - offset ? n : (size_t)(bytes - offset);
        fill(piece, offset, n);
        int wrote = nfs_pwrite(nfs, file, offset, n, piece);
        if (wrote <= 0) {
            fatal("writing", path);
        }
        offset += (uint64_t)wrote;
    }
    nfs_close(nfs, file);
    if (nfs_open(nfs, path, O_RDONLY, &file) < 0) {
        fatal("opening", path);
    }
    uint64_t offset = 0;
    for (int n = nfs_pread(nfs, file, offset, sizeof piece, piece); n != 0;
         n = nfs_pread(nfs, file, offset, sizeof piece, piece)) {
        fill(expected, offset, n < 0 ? 0 : (size_t)n);
        if (n < 0 || memcmp(piece, expected, (size_t)n) != 0) {
            fatal("other bytes came back from", path);
        }
        offset += (uint64_t)n;
    }
    if (offset != bytes) {
        fatal("another number of bytes came back from", path);
    }
    nfs_close(nfs, file);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: target_tree put DIR URL | get URL DIR | big URL BYTES\n");
        return 2;
    }
    nfs = nfs_init_context();
    struct nfs_url *url = nfs_parse_url_full(nfs, strcmp(argv[1], "put") == 0 ? argv[3] : argv[2]);
    if (!url || nfs_mount(nfs, url->server, url->path) < 0) {
        fatal("mounting", argv[2]);
    }
    if (strcmp(argv[1], "put") == 0) {
        put(argv[2], url->file);
    } else if (strcmp(argv[1], "get") == 0) {
        get(url->file, argv[3]);
    } else {
        big(url->file, strtoull(argv[3], NULL, 10));
    }
    nfs_destroy_url(url);
    nfs_destroy_context(nfs);
    return 0;
}
