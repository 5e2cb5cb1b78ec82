/* fs_types.h - the memory file system's vocabulary: no RPC, no XDR.
 *
 * Numbers of enum fs_status, enum fs_type, and the access bits are those of RFC 1813, so that the service can put them
 * on the wire as they are.
 */
#ifndef NFSCURVE_TARGET_FS_TYPES_H
#define NFSCURVE_TARGET_FS_TYPES_H

#include <stdbool.h>
#include <stdint.h>

enum fs_status {
    FS_OK = 0,
    FS_PERM = 1,
    FS_NOENT = 2,
    FS_IO = 5,
    FS_ACCES = 13,
    FS_EXIST = 17,
    FS_NOTDIR = 20,
    FS_ISDIR = 21,
    FS_INVAL = 22,
    FS_FBIG = 27,
    FS_NOSPC = 28,
    FS_ROFS = 30,
    FS_MLINK = 31,
    FS_NAMETOOLONG = 63,
    FS_NOTEMPTY = 66,
    FS_STALE = 70,
    FS_BADHANDLE = 10001,
    FS_NOT_SYNC = 10002,
    FS_BAD_COOKIE = 10003,
    FS_TOOSMALL = 10005,
    FS_SERVERFAULT = 10006,
    FS_BADTYPE = 10007
};

enum fs_type { FS_REG = 1, FS_DIR = 2, FS_BLK = 3, FS_CHR = 4, FS_LNK = 5, FS_SOCK = 6, FS_FIFO = 7 };

enum fs_access {
    FS_ACCESS_READ = 0x01,
    FS_ACCESS_LOOKUP = 0x02,
    FS_ACCESS_MODIFY = 0x04,
    FS_ACCESS_EXTEND = 0x08,
    FS_ACCESS_DELETE = 0x10,
    FS_ACCESS_EXECUTE = 0x20
};

#define FS_NAME_MAX       255u
#define FS_PATH_MAX       1024u  /* of a symbolic link */
#define FS_LINK_MAX       32000u /* of a file; a directory may hold any number */
#define FS_MAX_GIDS       16u
#define FS_MAX_TRANSFER   (1u << 20)
#define FS_MAX_FILE_BYTES (UINT64_C(1) << 62)

struct fs_time {
    uint32_t seconds, nseconds;
};

/* Names a file: number and generation; a removed file's handle never means another one. */
struct fs_handle {
    uint32_t fileid, generation;
};

struct fs_attributes {
    enum fs_type type;
    uint32_t mode, nlink, uid, gid;
    uint64_t size, used;
    uint32_t rdev_major, rdev_minor;
    uint64_t fileid;
    struct fs_time atime, mtime, ctime;
};

enum fs_time_how { FS_TIME_KEEP, FS_TIME_NOW, FS_TIME_GIVEN };

/* What SETATTR and the creating procedures set. */
struct fs_set {
    bool has_mode, has_uid, has_gid, has_size;
    enum fs_time_how atime_how, mtime_how;
    uint32_t mode, uid, gid;
    uint64_t size;
    struct fs_time atime, mtime;
};

/* Who asks. uid 0 may everything. */
struct fs_who {
    uint32_t uid, gid, n_gids;
    uint32_t gids[FS_MAX_GIDS];
};

/* Weak cache consistency data (RFC 1813 2.6): what a file was before and is after a procedure. */
struct fs_wcc {
    bool has_before, has_after;
    struct {
        uint64_t size;
        struct fs_time mtime, ctime;
    } before;
    struct fs_attributes after;
};

struct fs_name {
    const char *text; /* not terminated */
    uint32_t len;
};

#endif
