/* populate_work.h - what the parts of populating share: populate.c (fibers, start and end), populate_top.c (what lies
 * at the top of the fileset), populate_leaf.c (directories), populate_file.c (files and slots). */
#ifndef NFSCURVE_LOADGEN_POPULATE_WORK_H
#define NFSCURVE_LOADGEN_POPULATE_WORK_H

#include "populate.h"
#include "tree.h"

#define POPULATE_MAX_EXTRAS 256u /* names to be removed that are kept at a time */
#define POPULATE_MAX_DEPTH  16u

/* What a listing found of one of our names. */
struct found {
    uint8_t type; /* 0: not there; UNSEEN: there, but without attributes or handle */
    uint64_t bytes;
    struct nfs3_fh fh;
} __attribute__((packed));

#define UNSEEN UINT8_MAX

/* A directory that is being worked on. */
struct dir_work {
    struct dir_work *next;
    uint32_t dir;
    uint64_t first_file, n_files;
    uint32_t first_slot, n_slots;
    struct found *files, *slots;
    uint64_t n_given, n_done; /* files */
    uint32_t n_extras;
    char *extras[POPULATE_MAX_EXTRAS];
    uint32_t extra_types[POPULATE_MAX_EXTRAS];
};

struct populate {
    struct populate_options options;
    struct fiber_group *group;
    struct tree tree;
    struct data_pattern pattern;
    uint64_t generation;
    uint32_t next_dir, n_opening;
    struct dir_work *open; /* with files to be given out */
    int error;
};

/* One fiber's own. */
struct worker {
    struct populate *populate;
    uint8_t *buffer;
    uint32_t cached_dir; /* inner directories of the last leaf that it made */
    bool has_cached;
    struct nfs3_fh cached[POPULATE_MAX_DEPTH];
};

/* Testdir, what is no longer wanted in it, symlinks and the slots of MKDIR. */
int populate_top(struct populate *p);

/* Makes or lists directory `dir`, does its slots, and puts its files up for all fibers. */
int populate_open_dir(struct worker *w, uint32_t dir);
void populate_close_dir(struct dir_work *d);
/* Remembers a name that is ours but no longer wanted. */
void populate_keep_extra(struct dir_work *d, const struct tree_entry *e);

/* Makes file j of the directory, or slot i, what it must be. */
int populate_file(struct worker *w, struct dir_work *d, uint64_t j);
int populate_slot(struct populate *p, struct dir_work *d, uint32_t i);

#endif
