/* nfs_op.h - the NFSv3 operations as the workload's vocabulary: one table for names, classes, statistics and docs.
 *
 * The numbers are the procedure numbers of RFC 1813 section 3, so that enum nfs_op is the procedure.
 */
#ifndef NFSCURVE_COMMON_NFS_OP_H
#define NFSCURVE_COMMON_NFS_OP_H

#include <stdint.h>

enum nfs_op {
    NFS_OP_NULL = 0,
    NFS_OP_GETATTR = 1,
    NFS_OP_SETATTR = 2,
    NFS_OP_LOOKUP = 3,
    NFS_OP_ACCESS = 4,
    NFS_OP_READLINK = 5,
    NFS_OP_READ = 6,
    NFS_OP_WRITE = 7,
    NFS_OP_CREATE = 8,
    NFS_OP_MKDIR = 9,
    NFS_OP_SYMLINK = 10,
    NFS_OP_MKNOD = 11,
    NFS_OP_REMOVE = 12,
    NFS_OP_RMDIR = 13,
    NFS_OP_RENAME = 14,
    NFS_OP_LINK = 15,
    NFS_OP_READDIR = 16,
    NFS_OP_READDIRPLUS = 17,
    NFS_OP_FSSTAT = 18,
    NFS_OP_FSINFO = 19,
    NFS_OP_PATHCONF = 20,
    NFS_OP_COMMIT = 21,
    NFS_OP_COUNT = 22
};

/* What per-second series are kept by: fine enough to see a stall of one kind, few enough to keep for hours. */
enum op_class {
    OP_CLASS_READ,     /* READ */
    OP_CLASS_WRITE,    /* WRITE, COMMIT */
    OP_CLASS_METADATA, /* what asks: GETATTR, LOOKUP, ACCESS, READLINK, READDIR(PLUS), FSSTAT, FSINFO, PATHCONF, NULL */
    OP_CLASS_NAMESPACE, /* what changes names or attributes: SETATTR, CREATE, MKDIR, ..., REMOVE, RENAME, LINK */
    OP_CLASS_COUNT
};

/* Lower-case name as used in configuration keys and results: "lookup", "readdirplus". */
const char *nfs_op_name(enum nfs_op op);

/* 0 and *op, or -EINVAL. Case-insensitive; also the spellings of SFS mix files and of nfsstat ("fsstat", "rdirplus",
 * ...). */
int nfs_op_parse(const char *name, enum nfs_op *op);

enum op_class nfs_op_class(enum nfs_op op);
const char *op_class_name(enum op_class c);

/* nfsstat3 (RFC 1813 2.6) as a dense index, for counters: 0 = NFS3_OK, the last index = any value the RFC does not
 * know. */
#define NFS_STATUS_COUNT 32
unsigned nfs_status_index(uint32_t status);
uint32_t nfs_status_value(unsigned index); /* UINT32_MAX for the last index */
/* "NFS3ERR_NOENT"; "NFS3ERR_?" for the last index. */
const char *nfs_status_name(unsigned index);

#endif
