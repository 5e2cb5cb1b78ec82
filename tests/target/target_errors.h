/* target_errors.h - every procedure's error statuses, seen by libnfs. */
#ifndef NFSCURVE_TESTS_TARGET_ERRORS_H
#define NFSCURVE_TESTS_TARGET_ERRORS_H

#include "libnfs_client.h"

/* is_quick: without NFS3ERR_MLINK, which takes tens of thousands of calls. */
void check_errors(struct client *c, const char *export, const struct fh *root, bool is_quick);

/* A target with --read-only: everything that changes is NFS3ERR_ROFS. */
void check_read_only(struct client *c, const struct fh *root);

/* A target with --capacity 1MiB --max-files 8: NFS3ERR_NOSPC. */
void check_full(struct client *c, const struct fh *root);

#endif
