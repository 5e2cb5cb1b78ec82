/* control_file.h - changes to a running target: a file of lines that is read at the start and on SIGHUP.
 *
 *   # comment
 *   latency fixed:2ms
 *   fault read:index=5:status=NFS3ERR_IO
 *
 * The rules of the file replace all rules there were (indices start again); a latency line replaces the model. A file
 * with a mistake changes nothing.
 */
#ifndef NFSCURVE_TARGET_CONTROL_FILE_H
#define NFSCURVE_TARGET_CONTROL_FILE_H

#include "nfs3_service.h"

/* 0, or -errno with file, line and reason in message[cap]. */
int control_file_load(const char *path, struct nfs3_shared *shared, uint64_t seed, char *message, size_t cap);

#endif
