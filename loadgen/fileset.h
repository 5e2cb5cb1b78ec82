/* fileset.h - the files of one process: their names, and a compact table of what must be known of them.
 *
 *   <export>/CL<client>/testdir<process>/          testdir
 *       dir_ent.%05u/                              leaf directories (deeper trees: dir_ent.%05u/.../dir_ent.%05u)
 *           file_en.%05u                           I/O files, files_per_directory in each, numbered over the process
 *           nonio_en.%05u                          non-I/O slots: for what only names and attributes are asked
 *       symlink.%05u
 *       newdir_en.%05u                             slots of MKDIR and RMDIR
 *
 * Only files of the working set have a row (handle and size); of the others nothing is kept at all, since their names
 * and sizes follow from their numbers. Handles lie in tables of struct nfs3_fh (65 bytes, alignment 1), so that a call
 * can point into them. Memory is what layout_memory_bytes() foretells. Indices are local to the process: file j is
 * number first_file + j of the load generator's file space.
 */
#ifndef NFSCURVE_LOADGEN_FILESET_H
#define NFSCURVE_LOADGEN_FILESET_H

#include "layout.h"
#include "nfs3_client.h"
#include "rng.h"
#include "workload.h"

#include <stdbool.h>
#include <stdint.h>

#define FILESET_NAME_BYTES     32
#define FILESET_NONE           UINT32_MAX
#define FILESET_N_DIR_SLOTS    64u /* MKDIR/RMDIR */
#define FILESET_MAX_FILE_BYTES ((UINT64_C(1) << 40) - 1)

enum slot_state {
    SLOT_EMPTY,
    SLOT_FILE,
    SLOT_SYMLINK,
    SLOT_FIFO,
    SLOT_UNKNOWN, /* an op on it ended without an answer: only CREATE UNCHECKED may take it */
    SLOT_BUSY,    /* an op that changes its name is under way */
    SLOT_STATE_COUNT
};

struct slot {
    uint8_t state;   /* enum slot_state */
    uint8_t n_users; /* ops under way that only look at it */
    uint32_t handle; /* index into slot_handles; FILESET_NONE: none */
} __attribute__((packed));

struct fileset {
    const struct workload *workload; /* (ref) */
    struct process_layout layout;
    struct nfs3_fh client_dir, testdir;

    /* working set: row k is file fileset_ws_file(k) */
    uint32_t n_ws;
    struct nfs3_fh *ws_handles;
    uint8_t (*ws_sizes)[5];

    uint32_t n_dirs;
    struct nfs3_fh *dir_handles;
    uint32_t n_symlinks;
    struct nfs3_fh *symlink_handles;

    uint32_t n_slots;
    struct slot *slots;
    uint32_t n_in_state[SLOT_STATE_COUNT];
    struct nfs3_fh *slot_handles;
    uint32_t n_slot_handles, max_slot_handles, free_slot_handle; /* free list through the handles' first bytes */

    uint8_t dir_slots[FILESET_N_DIR_SLOTS]; /* enum slot_state: EMPTY, FILE (= a directory is there), UNKNOWN, BUSY */

    uint64_t io_bytes;    /* of all I/O files, as they stand */
    uint64_t limit_bytes; /* growth limit */
};

/* 0, -ENOMEM, or -EINVAL when the layout cannot be kept (message). */
int fileset_init(struct fileset *fs, const struct workload *workload, const struct process_layout *layout,
                 char *message, size_t message_bytes);
void fileset_fini(struct fileset *fs);

/* Bytes allocated for the tables. */
uint64_t fileset_memory_bytes(const struct fileset *fs);

/* Size that I/O file j has after populating. */
uint64_t fileset_file_bytes(const struct fileset *fs, uint64_t j);
uint32_t fileset_file_dir(const struct fileset *fs, uint64_t j);
void fileset_file_name(uint64_t j, char name[static FILESET_NAME_BYTES]);
/* First file of a directory and how many it holds. */
uint64_t fileset_dir_files(const struct fileset *fs, uint32_t dir, uint64_t *first);
/* Name of leaf directory `dir` at level 1..directory_depth (the last level is the leaf itself). */
void fileset_dir_name(const struct fileset *fs, uint32_t dir, uint32_t level, char name[static FILESET_NAME_BYTES]);
void fileset_symlink_name(uint32_t i, char name[static FILESET_NAME_BYTES]);
void fileset_symlink_text(uint32_t i, char text[static FILESET_NAME_BYTES]);
void fileset_slot_name(uint32_t i, char name[static FILESET_NAME_BYTES]);
uint32_t fileset_slot_dir(const struct fileset *fs, uint32_t i);
/* First slot of a directory and how many it holds. */
uint32_t fileset_dir_slots(const struct fileset *fs, uint32_t dir, uint32_t *first);
void fileset_dir_slot_name(uint32_t i, char name[static FILESET_NAME_BYTES]);

/* Reads the number behind `prefix` when `name` is exactly such a name. */
bool fileset_parse_name(const char *name, uint32_t len, const char *prefix, uint64_t *number);
#define FILESET_FILE_PREFIX     "file_en."
#define FILESET_SLOT_PREFIX     "nonio_en."
#define FILESET_DIR_PREFIX      "dir_ent."
#define FILESET_SYMLINK_PREFIX  "symlink."
#define FILESET_DIR_SLOT_PREFIX "newdir_en."

/* A number that no other file of the export has, the same in every run: what stamps in its data say. */
uint64_t fileset_file_identity(const struct fileset *fs, uint64_t j);

/* Row of the working set that is file j, or FILESET_NONE. */
uint32_t fileset_ws_of_file(const struct fileset *fs, uint64_t j);
uint64_t fileset_ws_file(const struct fileset *fs, uint32_t k);
uint64_t fileset_ws_bytes(const struct fileset *fs, uint32_t k);
/* Of all rows. */
uint64_t fileset_ws_total_bytes(const struct fileset *fs);
/* Also keeps io_bytes. */
void fileset_set_ws_bytes(struct fileset *fs, uint32_t k, uint64_t bytes);

/* Slots. A random slot in one of the states of `mask` (1 << enum slot_state), or FILESET_NONE. `idle`: that no op is
 * looking at. */
uint32_t fileset_pick_slot(struct fileset *fs, struct rng *rng, uint32_t mask, bool idle);
void fileset_slot_set(struct fileset *fs, uint32_t slot, enum slot_state state);
/* Gives the slot a handle (or takes it away: NULL). 0 or -ENOMEM. */
int fileset_slot_set_handle(struct fileset *fs, uint32_t slot, const struct nfs3_fh *fh);
/* NULL when it has none. Valid until the next fileset_slot_set_handle. */
const struct nfs3_fh *fileset_slot_handle(const struct fileset *fs, uint32_t slot);

#endif
