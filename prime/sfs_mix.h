/* sfs_mix.h - op mixes of the SPECsfs world: version 2 ("SFS MIXFILE VERSION 2", then "opname percent" lines) and
 * version 1, which is what `nfsstat -s -3` prints (counts). */
#ifndef NFSCURVE_PRIME_SFS_MIX_H
#define NFSCURVE_PRIME_SFS_MIX_H

#include "nfs_op.h"

#include <jansson.h>
#include <stddef.h>

/* Reads a mix of either version, told by its first line. Ops that are not listed have no share. 0 and percentages that
 * sum to 100, or -EINVAL with line and reason. */
int sfs_mix_parse(const char *name, const char *text, double percent[NFS_OP_COUNT], char *message,
                  size_t message_bytes);

/* As the workload's key op_mix_percent wants it. New reference. */
json_t *sfs_mix_to_json(const double percent[NFS_OP_COUNT]);

#endif
