#include "target_errors.h"
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct set nothing;

/* Every procedure on one handle: all answer `status`. */
static void check_all_with(struct client *c, const struct fh *fh, const struct fh *good, uint32_t status)
{
    char zeros[8] = {0};
    IS(c_getattr(c, fh), status);
    IS(c_setattr(c, fh, &nothing, NULL), status);
    IS(c_lookup(c, fh, "x"), status);
    IS(c_access(c, fh, 1), status);
    IS(c_readlink(c, fh), status);
    IS(c_read(c, fh, 0, 1), status);
    IS(c_write(c, fh, 0, "x", 1, UNSTABLE), status);
    IS(c_create(c, fh, "x", GUARDED, NULL, NULL), status);
    IS(c_create(c, fh, "x", EXCLUSIVE, NULL, "12345678"), status);
    IS(c_mkdir(c, fh, "x", NULL), status);
    IS(c_symlink(c, fh, "x", "y"), status);
    IS(c_mknod(c, fh, "x", NF3FIFO, 0, 0), status);
    IS(c_remove(c, fh, "x"), status);
    IS(c_rmdir(c, fh, "x"), status);
    IS(c_rename(c, fh, "x", good, "y"), status);
    IS(c_rename(c, good, "x", fh, "y"), status);
    IS(c_link(c, fh, good, "y"), status);
    IS(c_readdir(c, fh, 0, zeros, 4096), status);
    IS(c_readdirplus(c, fh, 0, zeros, 4096, 4096), status);
    IS(c_fsstat(c, fh), status);
    IS(c_fsinfo(c, fh), status);
    IS(c_pathconf(c, fh), status);
    IS(c_commit(c, fh, 0, 0), status);
}

static void bad_handles(struct client *c, const struct fh *root)
{
    OK(c_create(c, root, "gone", GUARDED, NULL, NULL));
    struct fh gone = c->reply.fh;
    OK(c_remove(c, root, "gone"));
    check_all_with(c, &gone, root, NFS3ERR_STALE);
    IS(c_link(c, root, &gone, "y"), NFS3ERR_STALE);
    /* a new file in the same place is not the old one */
    OK(c_create(c, root, "new", GUARDED, NULL, NULL));
    IS(c_getattr(c, &gone), NFS3ERR_STALE);
    OK(c_remove(c, root, "new"));

    struct fh bad = {.len = 12, .data = "no such file"};
    check_all_with(c, &bad, root, NFS3ERR_BADHANDLE);
    struct fh empty = {.len = 0};
    IS(c_getattr(c, &empty), NFS3ERR_BADHANDLE);
    struct fh longest = {.len = NFS3_FHSIZE};
    IS(c_getattr(c, &longest), NFS3ERR_BADHANDLE);
    struct fh restarted = *root;
    restarted.data[6] ^= 1; /* the instance that gave it */
    IS(c_getattr(c, &restarted), NFS3ERR_STALE);
}

/* `file` is no directory. */
static void wrong_types(struct client *c, const struct fh *root, const struct fh *file, const struct fh *link)
{
    char zeros[8] = {0};
    IS(c_lookup(c, file, "x"), NFS3ERR_NOTDIR);
    CHECK(c->reply.has_dir_attributes);
    IS(c_create(c, file, "x", UNCHECKED, NULL, NULL), NFS3ERR_NOTDIR);
    CHECK(c->reply.has_before && c->reply.has_dir_attributes);
    IS(c_mkdir(c, file, "x", NULL), NFS3ERR_NOTDIR);
    IS(c_symlink(c, file, "x", "y"), NFS3ERR_NOTDIR);
    IS(c_mknod(c, file, "x", NF3FIFO, 0, 0), NFS3ERR_NOTDIR);
    IS(c_remove(c, file, "x"), NFS3ERR_NOTDIR);
    IS(c_rmdir(c, file, "x"), NFS3ERR_NOTDIR);
    IS(c_rename(c, file, "x", root, "y"), NFS3ERR_NOTDIR);
    IS(c_rename(c, root, "file", file, "y"), NFS3ERR_NOTDIR);
    IS(c_link(c, file, link, "y"), NFS3ERR_NOTDIR);
    IS(c_readdir(c, file, 0, zeros, 4096), NFS3ERR_NOTDIR);
    IS(c_readdirplus(c, file, 0, zeros, 4096, 4096), NFS3ERR_NOTDIR);
    IS(c_rmdir(c, root, "file"), NFS3ERR_NOTDIR);

    IS(c_read(c, root, 0, 1), NFS3ERR_ISDIR);
    CHECK(c->reply.has_attributes);
    IS(c_write(c, root, 0, "x", 1, UNSTABLE), NFS3ERR_ISDIR);
    IS(c_commit(c, root, 0, 0), NFS3ERR_ISDIR);
    IS(c_setattr(c, root, &(struct set){.has_size = true, .size = 5}, NULL), NFS3ERR_ISDIR);
    IS(c_remove(c, root, "dir"), NFS3ERR_ISDIR);
    IS(c_link(c, root, root, "y"), NFS3ERR_ISDIR);

    IS(c_readlink(c, file), NFS3ERR_INVAL);
    IS(c_readlink(c, root), NFS3ERR_INVAL);
    IS(c_read(c, link, 0, 1), NFS3ERR_INVAL);
    IS(c_write(c, link, 0, "x", 1, UNSTABLE), NFS3ERR_INVAL);
    IS(c_mknod(c, root, "x", NF3REG, 0, 0), NFS3ERR_BADTYPE);
    IS(c_mknod(c, root, "x", NF3DIR, 0, 0), NFS3ERR_BADTYPE);
}

static void names(struct client *c, const struct fh *root, const struct fh *file)
{
    char too_long[257], long_path[1026];
    memset(too_long, 'n', 256);
    too_long[256] = '\0';
    memset(long_path, 'p', 1025);
    long_path[1025] = '\0';

    IS(c_lookup(c, root, "nothing"), NFS3ERR_NOENT);
    CHECK(c->reply.has_dir_attributes);
    IS(c_remove(c, root, "nothing"), NFS3ERR_NOENT);
    IS(c_rmdir(c, root, "nothing"), NFS3ERR_NOENT);
    IS(c_rename(c, root, "nothing", root, "y"), NFS3ERR_NOENT);

    IS(c_create(c, root, "file", GUARDED, NULL, NULL), NFS3ERR_EXIST);
    IS(c_create(c, root, "file", EXCLUSIVE, NULL, "12345678"), NFS3ERR_EXIST);
    IS(c_create(c, root, "dir", UNCHECKED, NULL, NULL), NFS3ERR_EXIST);
    IS(c_create(c, root, ".", GUARDED, NULL, NULL), NFS3ERR_EXIST);
    IS(c_mkdir(c, root, "file", NULL), NFS3ERR_EXIST);
    IS(c_mkdir(c, root, "..", NULL), NFS3ERR_EXIST);
    IS(c_symlink(c, root, "file", "y"), NFS3ERR_EXIST);
    IS(c_mknod(c, root, "file", NF3FIFO, 0, 0), NFS3ERR_EXIST);
    IS(c_link(c, file, root, "dir"), NFS3ERR_EXIST);
    IS(c_rename(c, root, "file", root, "dir"), NFS3ERR_EXIST);
    IS(c_rename(c, root, "dir", root, "file"), NFS3ERR_EXIST);

    IS(c_lookup(c, root, too_long), NFS3ERR_NAMETOOLONG);
    IS(c_create(c, root, too_long, GUARDED, NULL, NULL), NFS3ERR_NAMETOOLONG);
    IS(c_mkdir(c, root, too_long, NULL), NFS3ERR_NAMETOOLONG);
    IS(c_symlink(c, root, too_long, "y"), NFS3ERR_NAMETOOLONG);
    IS(c_symlink(c, root, "y", long_path), NFS3ERR_NAMETOOLONG);
    IS(c_mknod(c, root, too_long, NF3FIFO, 0, 0), NFS3ERR_NAMETOOLONG);
    IS(c_remove(c, root, too_long), NFS3ERR_NAMETOOLONG);
    IS(c_rmdir(c, root, too_long), NFS3ERR_NAMETOOLONG);
    IS(c_rename(c, root, too_long, root, "y"), NFS3ERR_NAMETOOLONG);
    IS(c_rename(c, root, "file", root, too_long), NFS3ERR_NAMETOOLONG);
    IS(c_link(c, file, root, too_long), NFS3ERR_NAMETOOLONG);
    too_long[255] = '\0';
    OK(c_create(c, root, too_long, GUARDED, NULL, NULL));
    OK(c_remove(c, root, too_long));

    IS(c_lookup(c, root, ""), NFS3ERR_INVAL);
    IS(c_create(c, root, "a/b", GUARDED, NULL, NULL), NFS3ERR_INVAL);
    IS(c_symlink(c, root, "y", ""), NFS3ERR_INVAL);
    IS(c_rmdir(c, root, "."), NFS3ERR_INVAL);
    IS(c_rmdir(c, root, ".."), NFS3ERR_EXIST);
    IS(c_remove(c, root, "."), NFS3ERR_ISDIR);
    IS(c_rename(c, root, ".", root, "y"), NFS3ERR_INVAL);
    IS(c_rename(c, root, "file", root, ".."), NFS3ERR_INVAL);
}

static void directories(struct client *c, const struct fh *root)
{
    char zeros[8] = {0};
    OK(c_lookup(c, root, "dir"));
    struct fh dir = c->reply.fh;
    OK(c_mkdir(c, &dir, "inner", NULL));
    struct fh inner = c->reply.fh;
    IS(c_rmdir(c, root, "dir"), NFS3ERR_NOTEMPTY);
    IS(c_rename(c, root, "dir", &inner, "loop"), NFS3ERR_INVAL);
    IS(c_rename(c, root, "dir", &dir, "loop"), NFS3ERR_INVAL);
    OK(c_mkdir(c, root, "other", NULL));
    IS(c_rename(c, root, "other", root, "dir"), NFS3ERR_EXIST);
    OK(c_rmdir(c, root, "other"));

    IS(c_readdir(c, &dir, 0, zeros, 16), NFS3ERR_TOOSMALL);
    IS(c_readdirplus(c, &dir, 0, zeros, 16, 4096), NFS3ERR_TOOSMALL);
    IS(c_readdirplus(c, &dir, 0, zeros, 4096, 100), NFS3ERR_TOOSMALL);
    IS(c_readdir(c, &dir, 3, "bad verf", 4096), NFS3ERR_BAD_COOKIE);
    IS(c_readdirplus(c, &dir, 3, "bad verf", 4096, 4096), NFS3ERR_BAD_COOKIE);
    OK(c_rmdir(c, &dir, "inner"));
}

/* A file and a directory of uid 500 that nobody else may touch, asked by uid 600. */
static void permissions(struct client *c, const struct fh *root)
{
    char zeros[8] = {0};
    struct set private = {.has_mode = true, .mode = 0700};
    client_be(c, 500, 500);
    OK(c_mkdir(c, root, "private", &private));
    struct fh dir = c->reply.fh;
    private.mode = 0600;
    OK(c_create(c, &dir, "file", GUARDED, &private, NULL));
    struct fh file = c->reply.fh;
    OK(c_create(c, root, "mine", GUARDED, &private, NULL));
    struct fh mine = c->reply.fh;

    client_be(c, 600, 600);
    IS(c_lookup(c, &dir, "file"), NFS3ERR_ACCES);
    IS(c_create(c, &dir, "x", GUARDED, NULL, NULL), NFS3ERR_ACCES);
    IS(c_mkdir(c, &dir, "x", NULL), NFS3ERR_ACCES);
    IS(c_symlink(c, &dir, "x", "y"), NFS3ERR_ACCES);
    IS(c_mknod(c, &dir, "x", NF3FIFO, 0, 0), NFS3ERR_ACCES);
    IS(c_remove(c, &dir, "file"), NFS3ERR_ACCES);
    IS(c_rmdir(c, &dir, "file"), NFS3ERR_ACCES);
    IS(c_rename(c, &dir, "file", root, "y"), NFS3ERR_ACCES);
    IS(c_rename(c, root, "file", &dir, "y"), NFS3ERR_ACCES);
    IS(c_link(c, &mine, &dir, "y"), NFS3ERR_ACCES);
    IS(c_readdir(c, &dir, 0, zeros, 4096), NFS3ERR_ACCES);
    IS(c_readdirplus(c, &dir, 0, zeros, 4096, 4096), NFS3ERR_ACCES);
    IS(c_read(c, &file, 0, 1), NFS3ERR_ACCES);
    IS(c_write(c, &file, 0, "x", 1, UNSTABLE), NFS3ERR_ACCES);
    IS(c_commit(c, &file, 0, 0), NFS3ERR_ACCES);
    IS(c_create(c, root, "mine", UNCHECKED, &(struct set){.has_size = true}, NULL), NFS3ERR_ACCES);
    IS(c_setattr(c, &file, &(struct set){.has_size = true}, NULL), NFS3ERR_ACCES);
    IS(c_setattr(c, &file, &(struct set){.mtime_how = 1}, NULL), NFS3ERR_ACCES);
    IS(c_setattr(c, &file, &(struct set){.has_mode = true, .mode = 0777}, NULL), NFS3ERR_PERM);
    IS(c_setattr(c, &file, &(struct set){.mtime_how = 2}, NULL), NFS3ERR_PERM);
    IS(c_setattr(c, &file, &(struct set){.has_uid = true, .uid = 600}, NULL), NFS3ERR_PERM);
    OK(c_access(c, &file, 0x3f));
    CHECK(c->reply.access == 0);

    /* the owner may not give it away, and may always read and write what it has open */
    client_be(c, 500, 500);
    IS(c_setattr(c, &file, &(struct set){.has_uid = true, .uid = 600}, NULL), NFS3ERR_PERM);
    IS(c_setattr(c, &file, &(struct set){.has_gid = true, .gid = 777}, NULL), NFS3ERR_PERM);
    OK(c_setattr(c, &file, &(struct set){.has_mode = true, .mode = 0}, NULL));
    OK(c_write(c, &file, 0, "x", 1, UNSTABLE));
    OK(c_read(c, &file, 0, 1));

    /* a sticky directory: only the owners take names out */
    OK(c_setattr(c, &dir, &(struct set){.has_mode = true, .mode = 01777}, NULL));
    client_be(c, 600, 600);
    IS(c_remove(c, &dir, "file"), NFS3ERR_PERM);
    IS(c_rename(c, &dir, "file", root, "y"), NFS3ERR_PERM);
    client_be(c, 500, 500);
    OK(c_remove(c, &dir, "file"));
    OK(c_rmdir(c, root, "private"));
    OK(c_remove(c, root, "mine"));
    client_be(c, 0, 0);
}

static void limits(struct client *c, const struct fh *file)
{
    IS(c_write(c, file, UINT64_MAX - 10, "x", 1, UNSTABLE), NFS3ERR_FBIG);
    IS(c_write(c, file, UINT64_MAX, "xy", 2, UNSTABLE), NFS3ERR_FBIG);
    IS(c_setattr(c, file, &(struct set){.has_size = true, .size = UINT64_MAX}, NULL), NFS3ERR_FBIG);
    IS(c_write(c, file, 0, "x", 1, 3), NFS3ERR_INVAL);
    IS(c_setattr(c, file, &(struct set){.mtime_how = 2, .mtime = {0, 1000000000}}, NULL), NFS3ERR_INVAL);
}

static void too_many_links(struct client *c, const struct fh *root, const struct fh *file)
{
    char name[32];
    OK(c_pathconf(c, root));
    uint32_t linkmax = c->reply.pathconf.linkmax;
    OK(c_mkdir(c, root, "links", NULL));
    struct fh links = c->reply.fh;
    for (uint32_t i = 1; i < linkmax; i++) {
        snprintf(name, sizeof name, "%u", i);
        if (c_link(c, file, &links, name) != NFS3_OK) {
            CHECK(!"every link up to linkmax");
            break;
        }
    }
    IS(c_link(c, file, &links, "one more"), NFS3ERR_MLINK);
    for (uint32_t i = 1; i < linkmax; i++) {
        snprintf(name, sizeof name, "%u", i);
        if (c_remove(c, &links, name) != NFS3_OK) {
            CHECK(!"every link is removed");
            break;
        }
    }
    OK(c_rmdir(c, root, "links"));
}

void check_errors(struct client *c, const char *export, const struct fh *root, bool is_quick)
{
    char path[512];
    OK(c_create(c, root, "file", GUARDED, NULL, NULL));
    struct fh file = c->reply.fh;
    OK(c_mkdir(c, root, "dir", NULL));
    OK(c_symlink(c, root, "link", "file"));
    struct fh link = c->reply.fh;

    IS(c_mnt(c, "/no/such/export"), MNT3ERR_NOENT);
    snprintf(path, sizeof path, "%s/file", export);
    IS(c_mnt(c, path), MNT3ERR_NOTDIR);
    snprintf(path, sizeof path, "%s/nothing", export);
    IS(c_mnt(c, path), MNT3ERR_NOENT);
    snprintf(path, sizeof path, "%sx", export);
    IS(c_mnt(c, path), MNT3ERR_NOENT);

    bad_handles(c, root);
    wrong_types(c, root, &file, &link);
    names(c, root, &file);
    directories(c, root);
    permissions(c, root);
    limits(c, &file);
    if (!is_quick) {
        too_many_links(c, root, &file);
    }

    OK(c_remove(c, root, "file"));
    OK(c_remove(c, root, "link"));
    OK(c_rmdir(c, root, "dir"));
}

void check_read_only(struct client *c, const struct fh *root)
{
    char zeros[8] = {0};
    IS(c_setattr(c, root, &nothing, NULL), NFS3ERR_ROFS);
    IS(c_create(c, root, "x", UNCHECKED, NULL, NULL), NFS3ERR_ROFS);
    IS(c_create(c, root, "x", EXCLUSIVE, NULL, "12345678"), NFS3ERR_ROFS);
    IS(c_mkdir(c, root, "x", NULL), NFS3ERR_ROFS);
    IS(c_symlink(c, root, "x", "y"), NFS3ERR_ROFS);
    IS(c_mknod(c, root, "x", NF3FIFO, 0, 0), NFS3ERR_ROFS);
    IS(c_remove(c, root, "x"), NFS3ERR_ROFS);
    IS(c_rmdir(c, root, "x"), NFS3ERR_ROFS);
    IS(c_rename(c, root, "x", root, "y"), NFS3ERR_ROFS);
    IS(c_link(c, root, root, "y"), NFS3ERR_ROFS);
    IS(c_write(c, root, 0, "x", 1, UNSTABLE), NFS3ERR_ROFS);
    OK(c_getattr(c, root));
    OK(c_lookup(c, root, "."));
    OK(c_readdir(c, root, 0, zeros, 4096));
    OK(c_access(c, root, 0x3f));
    CHECK(c->reply.access == (ACCESS3_READ | ACCESS3_LOOKUP));
}

void check_full(struct client *c, const struct fh *root)
{
    char block[65536], name[16];
    memset(block, 'x', sizeof block);
    OK(c_create(c, root, "file", GUARDED, NULL, NULL));
    struct fh file = c->reply.fh;
    for (unsigned i = 0; i < 16; i++) {
        OK(c_write(c, &file, i * sizeof block, block, sizeof block, FILE_SYNC));
    }
    IS(c_write(c, &file, 16 * sizeof block, block, sizeof block, FILE_SYNC), NFS3ERR_NOSPC);
    CHECK(c->reply.has_before && c->reply.attributes.size == 16 * sizeof block);
    OK(c_fsstat(c, root));
    CHECK(c->reply.fsstat.fbytes == 0);

    /* root and file are two of eight */
    for (unsigned i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "f%u", i);
        OK(c_create(c, root, name, GUARDED, NULL, NULL));
    }
    IS(c_create(c, root, "one more", GUARDED, NULL, NULL), NFS3ERR_NOSPC);
    IS(c_mkdir(c, root, "one more", NULL), NFS3ERR_NOSPC);
    IS(c_symlink(c, root, "one more", "x"), NFS3ERR_NOSPC);
    IS(c_mknod(c, root, "one more", NF3FIFO, 0, 0), NFS3ERR_NOSPC);
    IS(c_lookup(c, root, "one more"), NFS3ERR_NOENT);
    OK(c_fsstat(c, root));
    CHECK(c->reply.fsstat.ffiles == 0);
    OK(c_remove(c, root, "file"));
    OK(c_create(c, root, "room again", GUARDED, NULL, NULL));
    file = c->reply.fh;
    OK(c_write(c, &file, 0, block, sizeof block, FILE_SYNC));
}
