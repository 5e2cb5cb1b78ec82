#include "nfs_op.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <strings.h>

static const struct op_row {
    const char *name;
    enum op_class op_class;
} op_rows[NFS_OP_COUNT] = {
    [NFS_OP_NULL] = {"null", OP_CLASS_METADATA},
    [NFS_OP_GETATTR] = {"getattr", OP_CLASS_METADATA},
    [NFS_OP_SETATTR] = {"setattr", OP_CLASS_NAMESPACE},
    [NFS_OP_LOOKUP] = {"lookup", OP_CLASS_METADATA},
    [NFS_OP_ACCESS] = {"access", OP_CLASS_METADATA},
    [NFS_OP_READLINK] = {"readlink", OP_CLASS_METADATA},
    [NFS_OP_READ] = {"read", OP_CLASS_READ},
    [NFS_OP_WRITE] = {"write", OP_CLASS_WRITE},
    [NFS_OP_CREATE] = {"create", OP_CLASS_NAMESPACE},
    [NFS_OP_MKDIR] = {"mkdir", OP_CLASS_NAMESPACE},
    [NFS_OP_SYMLINK] = {"symlink", OP_CLASS_NAMESPACE},
    [NFS_OP_MKNOD] = {"mknod", OP_CLASS_NAMESPACE},
    [NFS_OP_REMOVE] = {"remove", OP_CLASS_NAMESPACE},
    [NFS_OP_RMDIR] = {"rmdir", OP_CLASS_NAMESPACE},
    [NFS_OP_RENAME] = {"rename", OP_CLASS_NAMESPACE},
    [NFS_OP_LINK] = {"link", OP_CLASS_NAMESPACE},
    [NFS_OP_READDIR] = {"readdir", OP_CLASS_METADATA},
    [NFS_OP_READDIRPLUS] = {"readdirplus", OP_CLASS_METADATA},
    [NFS_OP_FSSTAT] = {"fsstat", OP_CLASS_METADATA},
    [NFS_OP_FSINFO] = {"fsinfo", OP_CLASS_METADATA},
    [NFS_OP_PATHCONF] = {"pathconf", OP_CLASS_METADATA},
    [NFS_OP_COMMIT] = {"commit", OP_CLASS_WRITE},
};

/* Other spellings met in the wild: mix files of older generations, and nfsstat of Solaris and the BSDs. */
static const struct {
    const char *name;
    enum nfs_op op;
} aliases[] = {
    {"readdirp", NFS_OP_READDIRPLUS},
    {"rdirplus", NFS_OP_READDIRPLUS},
    {"readdir+", NFS_OP_READDIRPLUS},
    {"statfs", NFS_OP_FSSTAT},
};

/* RFC 1813 section 2.6, in ascending order. */
static const struct status_row {
    uint32_t value;
    const char *name;
} status_rows[] = {
    {0, "NFS3_OK"},
    {1, "NFS3ERR_PERM"},
    {2, "NFS3ERR_NOENT"},
    {5, "NFS3ERR_IO"},
    {6, "NFS3ERR_NXIO"},
    {13, "NFS3ERR_ACCES"},
    {17, "NFS3ERR_EXIST"},
    {18, "NFS3ERR_XDEV"},
    {19, "NFS3ERR_NODEV"},
    {20, "NFS3ERR_NOTDIR"},
    {21, "NFS3ERR_ISDIR"},
    {22, "NFS3ERR_INVAL"},
    {27, "NFS3ERR_FBIG"},
    {28, "NFS3ERR_NOSPC"},
    {30, "NFS3ERR_ROFS"},
    {31, "NFS3ERR_MLINK"},
    {63, "NFS3ERR_NAMETOOLONG"},
    {66, "NFS3ERR_NOTEMPTY"},
    {69, "NFS3ERR_DQUOT"},
    {70, "NFS3ERR_STALE"},
    {71, "NFS3ERR_REMOTE"},
    {10001, "NFS3ERR_BADHANDLE"},
    {10002, "NFS3ERR_NOT_SYNC"},
    {10003, "NFS3ERR_BAD_COOKIE"},
    {10004, "NFS3ERR_NOTSUPP"},
    {10005, "NFS3ERR_TOOSMALL"},
    {10006, "NFS3ERR_SERVERFAULT"},
    {10007, "NFS3ERR_BADTYPE"},
    {10008, "NFS3ERR_JUKEBOX"},
};

#define STATUS_ROWS    (sizeof status_rows / sizeof *status_rows)
#define STATUS_UNKNOWN (NFS_STATUS_COUNT - 1)

_Static_assert(STATUS_ROWS < NFS_STATUS_COUNT, "the last index is for unknown values");

const char *nfs_op_name(enum nfs_op op)
{
    assert((unsigned)op < NFS_OP_COUNT);
    return op_rows[op].name;
}

int nfs_op_parse(const char *name, enum nfs_op *op)
{
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        if (strcasecmp(name, op_rows[i].name) == 0) {
            *op = (enum nfs_op)i;
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strcasecmp(name, aliases[i].name) == 0) {
            *op = aliases[i].op;
            return 0;
        }
    }
    return -EINVAL;
}

enum op_class nfs_op_class(enum nfs_op op)
{
    assert((unsigned)op < NFS_OP_COUNT);
    return op_rows[op].op_class;
}

const char *op_class_name(enum op_class c)
{
    static const char *const names[OP_CLASS_COUNT] = {
        [OP_CLASS_READ] = "read",
        [OP_CLASS_WRITE] = "write",
        [OP_CLASS_METADATA] = "metadata",
        [OP_CLASS_NAMESPACE] = "namespace",
    };
    assert((unsigned)c < OP_CLASS_COUNT);
    return names[c];
}

unsigned nfs_status_index(uint32_t status)
{
    size_t low = 0, high = STATUS_ROWS;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (status_rows[middle].value < status) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < STATUS_ROWS && status_rows[low].value == status ? (unsigned)low : STATUS_UNKNOWN;
}

uint32_t nfs_status_value(unsigned index)
{
    return index < STATUS_ROWS ? status_rows[index].value : UINT32_MAX;
}

const char *nfs_status_name(unsigned index)
{
    return index < STATUS_ROWS ? status_rows[index].name : "NFS3ERR_?";
}
