/* ops.c - which driver carries which op. */
#include "ops.h"

const struct op_driver *op_driver_of(enum nfs_op op)
{
    switch (op) {
    case NFS_OP_READ:
        return op_driver_read();
    case NFS_OP_WRITE:
        return op_driver_write();
    case NFS_OP_COMMIT:
        return op_driver_commit();
    case NFS_OP_READDIR:
    case NFS_OP_READDIRPLUS:
        return op_driver_directory();
    case NFS_OP_CREATE:
    case NFS_OP_MKDIR:
    case NFS_OP_SYMLINK:
    case NFS_OP_MKNOD:
    case NFS_OP_REMOVE:
    case NFS_OP_RMDIR:
    case NFS_OP_RENAME:
    case NFS_OP_LINK:
        return op_driver_names();
    case NFS_OP_NULL:
    case NFS_OP_GETATTR:
    case NFS_OP_SETATTR:
    case NFS_OP_LOOKUP:
    case NFS_OP_ACCESS:
    case NFS_OP_READLINK:
    case NFS_OP_FSSTAT:
    case NFS_OP_FSINFO:
    case NFS_OP_PATHCONF:
    case NFS_OP_COUNT:
        break;
    }
    return op_driver_attributes();
}
