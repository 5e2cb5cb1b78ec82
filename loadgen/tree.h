/* tree.h - names and directories over NFS as a fiber sees them: look up, make, list, remove. Used by populating,
 * cleaning and validation.
 *
 * Every function returns 0 or a negative errno: -ENOENT, -EEXIST and the like for the status of the server, -ECANCELED
 * when the group is being stopped. What went wrong is kept in the walk's message with the name of the thing and what to
 * do; the first failure stays.
 */
#ifndef NFSCURVE_LOADGEN_TREE_H
#define NFSCURVE_LOADGEN_TREE_H

#include "fiber.h"
#include "nfs3_client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree {
    struct fiber_group *group;
    const char *where; /* "10.0.0.1:/export", for messages */
    char message[512]; /* of the first failure */
};

struct tree_entry {
    char name[NFS3_NAME_MAX + 1];
    uint32_t len;
    bool has_attributes, has_fh;
    struct nfs3_attributes attributes;
    struct nfs3_fh fh;
};

/* Negative errno of an NFS status; 0 for NFS3_OK. */
int tree_error_of_status(uint32_t status);

/* Sends and judges a call; a failure other than `tolerated` (a negative errno; 0: none) is described as "OP NAME: why".
 */
int tree_call(struct tree *tree, struct nfs3_call *call, const struct nfs3_reply **reply, const char *name,
              int tolerated);

/* type: 0 when the reply left the attributes out and GETATTR failed to bring them. -ENOENT is no failure. */
int tree_lookup(struct tree *tree, const struct nfs3_fh *dir, const char *name, struct nfs3_fh *fh, uint32_t *type,
                uint64_t *size);

/* Looks up the directory or makes it; something else of that name is removed first. *made (may be NULL): it is new and
 * so empty. */
int tree_ensure_dir(struct tree *tree, const struct nfs3_fh *dir, const char *name, struct nfs3_fh *fh, bool *made);

/* CREATE UNCHECKED of a file of size 0. */
int tree_create(struct tree *tree, const struct nfs3_fh *dir, const char *name, struct nfs3_fh *fh);

/* Calls `each` for every name but "." and "..", with READDIRPLUS, or READDIR when that is not supported. `each` must
 * not call NFS; false ends the listing. Cookies that don't advance end it with -ELOOP and a message. */
int tree_list(struct tree *tree, const struct nfs3_fh *dir, uint32_t bytes,
              bool (*each)(void *arg, const struct tree_entry *entry), void *arg);

/* Removes whatever has that name, a directory with all that is in it. */
int tree_remove(struct tree *tree, const struct nfs3_fh *dir, const char *name, uint32_t type);

/* Removes everything in the directory; `removed` (may be NULL) is counted up by one for each name gone. */
int tree_empty_dir(struct tree *tree, const struct nfs3_fh *dir, _Atomic uint64_t *removed);

#endif
