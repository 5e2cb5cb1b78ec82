/* sfs_rc.h - the shell assignments with which SPECsfs was configured, as a campaign. */
#ifndef NFSCURVE_PRIME_SFS_RC_H
#define NFSCURVE_PRIME_SFS_RC_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct sfs_rc_entry {
    char *key, *value; /* value without its quotes */
    unsigned line;
};

struct sfs_rc {
    struct sfs_rc_entry *entries; /* a later assignment replaces an earlier one */
    size_t n;
};

/* 0, or -EINVAL with file, line and reason. Free with sfs_rc_fini, also after an error. */
int sfs_rc_parse(const char *name, const char *text, struct sfs_rc *out, char *message, size_t message_bytes);
void sfs_rc_fini(struct sfs_rc *rc);

/* Value of a key; NULL when it is not there or empty. */
const char *sfs_rc_get(const struct sfs_rc *rc, const char *key);

/* The campaign it describes. Everything that has no meaning here or could not be taken over is named on `remarks`.
 * `path` tells where MIXFILE is looked up. NULL, with the reason in message, when no campaign can be made of it. */
json_t *sfs_rc_to_campaign(const struct sfs_rc *rc, const char *path, FILE *remarks, char *message,
                           size_t message_bytes);

#endif
