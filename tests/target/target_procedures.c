/* target_procedures.c - every NFSv3 and MOUNT procedure's right answers, seen by libnfs.
 *
 *   target_procedures ADDRESS PORT EXPORT      a target with --data store that nobody else uses
 *   target_procedures ADDRESS PORT EXPORT quick     leaves out the file with as many links as there may be
 *   target_procedures ADDRESS PORT EXPORT read-only|full
 *
 * Prints each claim that does not hold, and last "N checks, N failed". Exit status 1 when one failed.
 */
#include "checks.h"
#include "target_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1u << 20)

static bool same_time(nfstime3 a, nfstime3 b)
{
    return a.seconds == b.seconds && a.nseconds == b.nseconds;
}

/* Both halves of the wcc data of a directory are there, and say that it changed. */
static void check_dir_changed(const struct reply *r)
{
    CHECK(r->has_before && r->has_dir_attributes);
    CHECK(!same_time(r->before.mtime, r->dir_attributes.mtime));
    CHECK(!same_time(r->before.ctime, r->dir_attributes.ctime));
}

static struct fh make_file(struct client *c, const struct fh *dir, const char *name)
{
    OK(c_create(c, dir, name, GUARDED, NULL, NULL));
    CHECK(c->reply.has_fh && c->reply.has_attributes && c->reply.attributes.type == NF3REG);
    return c->reply.fh;
}

static struct fh make_dir(struct client *c, const struct fh *dir, const char *name)
{
    OK(c_mkdir(c, dir, name, NULL));
    CHECK(c->reply.has_fh && c->reply.attributes.type == NF3DIR);
    return c->reply.fh;
}

static void mount_procedures(struct client *c, const char *export, struct fh *root)
{
    OK(c_null(c));
    OK(c_umntall(c));
    OK(c_mnt(c, export));
    CHECK(c->reply.fh.len > 0 && c->reply.n_flavors >= 1);
    *root = c->reply.fh;
    OK(c_dump(c));
    CHECK(c->reply.n_items == 1 && strcmp(c->reply.items[0], export) == 0);
    OK(c_mnt(c, export));
    OK(c_dump(c));
    CHECK(c->reply.n_items == 1);
    OK(c_export(c));
    CHECK(c->reply.n_items >= 1 && strcmp(c->reply.items[0], export) == 0);
    OK(c_umnt(c, export));
    OK(c_dump(c));
    CHECK(c->reply.n_items == 0);
    OK(c_mnt(c, export));
    OK(c_umntall(c));
    OK(c_dump(c));
    CHECK(c->reply.n_items == 0);
}

static void mount_below(struct client *c, const char *export, const struct fh *root)
{
    char path[512];
    struct fh dir = make_dir(c, root, "below");
    snprintf(path, sizeof path, "%s/below", export);
    OK(c_mnt(c, path));
    CHECK(c->reply.fh.len == dir.len && memcmp(c->reply.fh.data, dir.data, dir.len) == 0);
    OK(c_umntall(c));
    OK(c_rmdir(c, root, "below"));
}

static void attributes(struct client *c, const struct fh *root)
{
    struct fh file = make_file(c, root, "attributes");
    OK(c_getattr(c, root));
    CHECK(c->reply.attributes.type == NF3DIR && c->reply.attributes.nlink >= 2);
    OK(c_getattr(c, &file));
    fattr3 first = c->reply.attributes;
    CHECK(first.type == NF3REG && first.size == 0 && first.nlink == 1 && first.uid == 0);

    struct set set = {.has_mode = true, .mode = 0640, .has_uid = true, .uid = 11, .has_gid = true, .gid = 12};
    OK(c_setattr(c, &file, &set, NULL));
    CHECK(c->reply.has_before && c->reply.has_attributes);
    CHECK(same_time(c->reply.before.ctime, first.ctime) && !same_time(c->reply.attributes.ctime, first.ctime));
    CHECK(same_time(c->reply.attributes.mtime, first.mtime));
    CHECK(c->reply.attributes.mode == 0640 && c->reply.attributes.uid == 11 && c->reply.attributes.gid == 12);

    struct set times = {.atime_how = 2, .mtime_how = 2, .atime = {100, 5}, .mtime = {200, 999999999}};
    OK(c_setattr(c, &file, &times, NULL));
    CHECK(same_time(c->reply.attributes.atime, times.atime) && same_time(c->reply.attributes.mtime, times.mtime));
    struct set now = {.atime_how = 1, .mtime_how = 1};
    OK(c_setattr(c, &file, &now, NULL));
    CHECK(c->reply.attributes.mtime.seconds > 1000000000u && c->reply.attributes.atime.seconds > 1000000000u);

    /* sizes, and the guard */
    OK(c_write(c, &file, 0, "0123456789", 10, FILE_SYNC));
    struct set size = {.has_size = true, .size = 4};
    OK(c_setattr(c, &file, &size, NULL));
    CHECK(c->reply.before.size == 10 && c->reply.attributes.size == 4);
    size.size = 8;
    OK(c_setattr(c, &file, &size, NULL));
    nfstime3 ctime = c->reply.attributes.ctime;
    OK(c_read(c, &file, 0, 100));
    CHECK(c->reply.count == 8 && c->reply.eof && memcmp(c->reply.data, "0123\0\0\0\0", 8) == 0);
    OK(c_setattr(c, &file, &set, &ctime));
    IS(c_setattr(c, &file, &set, &ctime), NFS3ERR_NOT_SYNC);
    OK(c_remove(c, root, "attributes"));
}

static void lookup_and_access(struct client *c, const struct fh *root)
{
    struct fh dir = make_dir(c, root, "looked"), file = make_file(c, &dir, "file");
    OK(c_lookup(c, &dir, "file"));
    CHECK(c->reply.fh.len == file.len && memcmp(c->reply.fh.data, file.data, file.len) == 0);
    CHECK(c->reply.has_attributes && c->reply.has_dir_attributes && c->reply.dir_attributes.type == NF3DIR);
    OK(c_lookup(c, &dir, "."));
    CHECK(memcmp(c->reply.fh.data, dir.data, dir.len) == 0);
    OK(c_lookup(c, &dir, ".."));
    CHECK(memcmp(c->reply.fh.data, root->data, root->len) == 0);
    OK(c_lookup(c, root, ".."));
    CHECK(memcmp(c->reply.fh.data, root->data, root->len) == 0);

    struct set set = {.has_mode = true, .mode = 0754, .has_uid = true, .uid = 500, .has_gid = true, .gid = 600};
    OK(c_setattr(c, &file, &set, NULL));
    client_be(c, 500, 1);
    OK(c_access(c, &file, 0x3f));
    CHECK(c->reply.access == (ACCESS3_READ | ACCESS3_MODIFY | ACCESS3_EXTEND | ACCESS3_EXECUTE));
    client_be(c, 1, 600);
    OK(c_access(c, &file, 0x3f));
    CHECK(c->reply.access == (ACCESS3_READ | ACCESS3_EXECUTE));
    OK(c_access(c, &file, ACCESS3_EXECUTE));
    CHECK(c->reply.access == ACCESS3_EXECUTE);
    client_be(c, 1, 1);
    OK(c_access(c, &file, 0x3f));
    CHECK(c->reply.access == ACCESS3_READ);
    client_be(c, 0, 0);
    OK(c_access(c, &dir, 0x3f));
    CHECK(c->reply.access == (ACCESS3_READ | ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND | ACCESS3_DELETE));
    OK(c_remove(c, &dir, "file"));
    OK(c_rmdir(c, root, "looked"));
}

static void reading_and_writing(struct client *c, const struct fh *root)
{
    struct fh file = make_file(c, root, "data");
    OK(c_write(c, &file, 0, "hello", 5, UNSTABLE));
    CHECK(c->reply.count == 5 && c->reply.committed == UNSTABLE);
    CHECK(c->reply.has_before && c->reply.before.size == 0 && c->reply.attributes.size == 5);
    char verifier[8];
    memcpy(verifier, c->reply.verifier, 8);
    OK(c_commit(c, &file, 0, 0));
    CHECK(memcmp(verifier, c->reply.verifier, 8) == 0 && c->reply.has_before && c->reply.has_attributes);
    OK(c_write(c, &file, 5, " world", 6, DATA_SYNC));
    CHECK(c->reply.committed >= DATA_SYNC);
    OK(c_write(c, &file, 11, "!", 1, FILE_SYNC));
    CHECK(c->reply.committed == FILE_SYNC);
    OK(c_read(c, &file, 0, 100));
    CHECK(c->reply.count == 12 && c->reply.eof && memcmp(c->reply.data, "hello world!", 12) == 0);
    OK(c_read(c, &file, 0, 12));
    CHECK(c->reply.count == 12 && c->reply.eof);
    OK(c_read(c, &file, 1, 3));
    CHECK(c->reply.count == 3 && !c->reply.eof && memcmp(c->reply.data, "ell", 3) == 0);
    OK(c_read(c, &file, 12, 5));
    CHECK(c->reply.count == 0 && c->reply.eof);
    OK(c_read(c, &file, 1000000, 5));
    CHECK(c->reply.count == 0 && c->reply.eof);
    OK(c_read(c, &file, 0, 0));
    CHECK(c->reply.count == 0);
    OK(c_write(c, &file, 0, "", 0, FILE_SYNC));
    CHECK(c->reply.count == 0 && c->reply.attributes.size == 12);

    char *big = malloc(MIB);
    for (unsigned i = 0; i < MIB; i++) {
        big[i] = (char)(i * 2654435761u >> 13);
    }
    OK(c_write(c, &file, 777, big, MIB, UNSTABLE));
    CHECK(c->reply.count == MIB);
    OK(c_read(c, &file, 777, MIB));
    CHECK(c->reply.count == MIB && c->reply.eof && memcmp(c->reply.data, big, MIB) == 0);

    /* beyond 4 GiB, with a hole before */
    uint64_t far = UINT64_C(5) << 30;
    OK(c_write(c, &file, far, big, 1000, FILE_SYNC));
    CHECK(c->reply.attributes.size == far + 1000);
    OK(c_read(c, &file, far - 100, MIB));
    CHECK(c->reply.count == 1100 && c->reply.eof && memcmp(c->reply.data + 100, big, 1000) == 0);
    CHECK(c->reply.data[0] == 0 && c->reply.data[99] == 0);
    free(big);
    OK(c_remove(c, root, "data"));
}

static void creating(struct client *c, const struct fh *root)
{
    struct set set = {.has_mode = true, .mode = 0600, .has_size = true, .size = 100};
    client_be(c, 21, 22);
    OK(c_create(c, root, "made", UNCHECKED, &set, NULL));
    check_dir_changed(&c->reply);
    CHECK(c->reply.attributes.mode == 0600 && c->reply.attributes.size == 100);
    CHECK(c->reply.attributes.uid == 21 && c->reply.attributes.gid == 22);
    struct fh made = c->reply.fh;
    set.size = 0;
    OK(c_create(c, root, "made", UNCHECKED, &set, NULL));
    CHECK(memcmp(made.data, c->reply.fh.data, made.len) == 0 && c->reply.attributes.size == 0);
    client_be(c, 0, 0);

    OK(c_create(c, root, "once", EXCLUSIVE, NULL, "verifier"));
    struct fh once = c->reply.fh;
    OK(c_create(c, root, "once", EXCLUSIVE, NULL, "verifier"));
    CHECK(memcmp(once.data, c->reply.fh.data, once.len) == 0);
    IS(c_create(c, root, "once", EXCLUSIVE, NULL, "another!"), NFS3ERR_EXIST);

    set.has_size = false;
    set.mode = 0711;
    OK(c_mkdir(c, root, "dir", &set));
    check_dir_changed(&c->reply);
    CHECK(c->reply.attributes.mode == 0711 && c->reply.attributes.nlink == 2);
    OK(c_symlink(c, root, "link", "../some/where"));
    check_dir_changed(&c->reply);
    struct fh link = c->reply.fh;
    CHECK(c->reply.attributes.type == NF3LNK && c->reply.attributes.size == 13);
    OK(c_readlink(c, &link));
    CHECK(strcmp(c->reply.path, "../some/where") == 0 && c->reply.attributes.type == NF3LNK);

    static const int types[] = {NF3CHR, NF3BLK, NF3FIFO, NF3SOCK};
    for (unsigned i = 0; i < 4; i++) {
        OK(c_mknod(c, root, "special", types[i], 8, 17));
        check_dir_changed(&c->reply);
        bool is_device = types[i] == NF3CHR || types[i] == NF3BLK;
        CHECK((int)c->reply.attributes.type == types[i]);
        CHECK(!is_device || (c->reply.attributes.rdev.specdata1 == 8 && c->reply.attributes.rdev.specdata2 == 17));
        OK(c_remove(c, root, "special"));
    }
    OK(c_remove(c, root, "made"));
    check_dir_changed(&c->reply);
    OK(c_remove(c, root, "once"));
    OK(c_remove(c, root, "link"));
    OK(c_rmdir(c, root, "dir"));
    check_dir_changed(&c->reply);
}

static void renaming_and_linking(struct client *c, const struct fh *root)
{
    struct fh a = make_dir(c, root, "a"), b = make_dir(c, root, "b"), file = make_file(c, &a, "file");
    OK(c_write(c, &file, 0, "one", 3, FILE_SYNC));
    struct fh other = make_file(c, &b, "other");

    OK(c_rename(c, &a, "file", &b, "moved"));
    check_dir_changed(&c->reply);
    CHECK(c->reply.has_to_before && c->reply.has_to_after &&
          !same_time(c->reply.to_before.mtime, c->reply.to_after.mtime));
    IS(c_lookup(c, &a, "file"), NFS3ERR_NOENT);
    OK(c_lookup(c, &b, "moved"));
    CHECK(memcmp(c->reply.fh.data, file.data, file.len) == 0);

    /* over an existing name: what had it is gone */
    OK(c_rename(c, &b, "moved", &b, "other"));
    IS(c_getattr(c, &other), NFS3ERR_STALE);
    OK(c_getattr(c, &file));

    OK(c_link(c, &file, &a, "second"));
    CHECK(c->reply.has_attributes && c->reply.attributes.nlink == 2);
    check_dir_changed(&c->reply);
    OK(c_rename(c, &b, "other", &a, "second"));
    OK(c_lookup(c, &b, "other"));
    CHECK(c->reply.attributes.nlink == 2);
    OK(c_remove(c, &b, "other"));
    OK(c_read(c, &file, 0, 10));
    CHECK(c->reply.count == 3 && c->reply.attributes.nlink == 1);

    /* directories: over an empty one, and ".." follows */
    struct fh moved = make_dir(c, &a, "sub");
    make_dir(c, &b, "empty");
    OK(c_rename(c, &a, "sub", &b, "empty"));
    OK(c_lookup(c, &moved, ".."));
    CHECK(memcmp(c->reply.fh.data, b.data, b.len) == 0);
    OK(c_getattr(c, &a));
    CHECK(c->reply.attributes.nlink == 2);
    OK(c_getattr(c, &b));
    CHECK(c->reply.attributes.nlink == 3);

    OK(c_rmdir(c, &b, "empty"));
    OK(c_remove(c, &a, "second"));
    OK(c_rmdir(c, root, "a"));
    OK(c_rmdir(c, root, "b"));
}

/* All of a directory by one of the two procedures; returns how often each of n names "name%u" came. */
static void list(struct client *c, const struct fh *dir, bool is_plus, uint32_t count, unsigned *seen, unsigned n,
                 unsigned *n_others, unsigned *n_calls)
{
    uint64_t cookie = 0;
    char verifier[8] = {0};
    do {
        OK(is_plus ? c_readdirplus(c, dir, cookie, verifier, count, count)
                   : c_readdir(c, dir, cookie, verifier, count));
        CHECK(c->reply.n_entries > 0 || c->reply.eof);
        CHECK(c->reply.has_dir_attributes);
        for (unsigned i = 0; i < c->reply.n_entries; i++) {
            const struct entry *e = &c->entries[i];
            unsigned number;
            CHECK(e->cookie > cookie);
            CHECK(!is_plus || (e->has_attributes && e->has_fh));
            cookie = e->cookie;
            if (sscanf(e->name, "name%u", &number) == 1 && number < n) {
                seen[number]++;
            } else {
                (*n_others)++;
            }
        }
        memcpy(verifier, c->reply.verifier, 8);
        (*n_calls)++;
    } while (!c->reply.eof && c->reply.n_entries > 0);
}

static void listing(struct client *c, const struct fh *root)
{
    enum { N = 1000 };
    char name[32];
    struct fh dir = make_dir(c, root, "listed");
    for (unsigned i = 0; i < N; i++) {
        snprintf(name, sizeof name, "name%u", i);
        OK(c_create(c, &dir, name, GUARDED, NULL, NULL));
    }
    for (int is_plus = 0; is_plus <= 1; is_plus++) {
        for (uint32_t count = 512; count <= 1u << 20; count *= 2048) {
            unsigned seen[N] = {0}, n_others = 0, n_calls = 0;
            list(c, &dir, is_plus, count, seen, N, &n_others, &n_calls);
            for (unsigned i = 0; i < N; i++) {
                CHECK(seen[i] == 1);
            }
            CHECK(n_others == 2); /* "." and ".." */
            CHECK(count == 512 ? n_calls > 50 : n_calls == 1);
        }
    }
    for (unsigned i = 0; i < N; i++) {
        snprintf(name, sizeof name, "name%u", i);
        OK(c_remove(c, &dir, name));
    }
    OK(c_rmdir(c, root, "listed"));
}

static void about_the_file_system(struct client *c, const struct fh *root)
{
    OK(c_fsstat(c, root));
    uint64_t total = c->reply.fsstat.tbytes, free_bytes = c->reply.fsstat.fbytes, free_files = c->reply.fsstat.ffiles;
    CHECK(total > 0 && free_bytes <= total && c->reply.fsstat.abytes <= free_bytes && c->reply.has_attributes);
    struct fh file = make_file(c, root, "space");
    char block[4096] = {1};
    OK(c_write(c, &file, 0, block, sizeof block, FILE_SYNC));
    OK(c_fsstat(c, root));
    CHECK(c->reply.fsstat.fbytes == free_bytes - 4096 && c->reply.fsstat.ffiles == free_files - 1);
    OK(c_remove(c, root, "space"));
    OK(c_fsstat(c, root));
    CHECK(c->reply.fsstat.fbytes == free_bytes && c->reply.fsstat.ffiles == free_files);

    OK(c_fsinfo(c, root));
    CHECK(c->reply.fsinfo.rtmax == MIB && c->reply.fsinfo.wtmax == MIB && c->reply.fsinfo.rtpref <= MIB);
    CHECK(c->reply.fsinfo.maxfilesize > UINT64_C(1) << 40 && c->reply.has_attributes);
    CHECK((c->reply.fsinfo.properties & 0x1b) == 0x1b);
    OK(c_pathconf(c, root));
    CHECK(c->reply.pathconf.name_max == 255 && c->reply.pathconf.linkmax > 1000 && c->reply.pathconf.no_trunc);
    CHECK(c->reply.pathconf.chown_restricted && c->reply.pathconf.case_preserving &&
          !c->reply.pathconf.case_insensitive);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: target_procedures ADDRESS PORT EXPORT [quick|read-only|full]\n");
        return 2;
    }
    struct client *c = client_connect(argv[1], atoi(argv[2]));
    struct fh root;
    bool is_quick = argc > 4 && strcmp(argv[4], "quick") == 0;
    if (argc > 4 && !is_quick) {
        OK(c_mnt(c, argv[3]));
        root = c->reply.fh;
        if (strcmp(argv[4], "full") == 0) {
            check_full(c, &root);
        } else {
            check_read_only(c, &root);
        }
    } else {
        mount_procedures(c, argv[3], &root);
        mount_below(c, argv[3], &root);
        attributes(c, &root);
        lookup_and_access(c, &root);
        reading_and_writing(c, &root);
        creating(c, &root);
        renaming_and_linking(c, &root);
        listing(c, &root);
        about_the_file_system(c, &root);
        check_errors(c, argv[3], &root, is_quick);
        OK(c_readdir(c, &root, 0, NULL, 4096));
        CHECK(c->reply.n_entries == 2);
    }
    client_close(c);
    printf("%u checks, %u failed\n", checks_made(), checks_failed());
    return checks_failed() ? 1 : 0;
}
