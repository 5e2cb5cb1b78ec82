/* layout.h - what one process has to do at one point: the prime computes it, the load generator carries it out.
 *
 * What is touched (files, sizes, popularity, bytes) depends on the load and on the number of load generators, never on
 * the number of processes that carry it: a load generator's I/O files are numbered 0..n-1 (its file space), its working
 * set is spread over them by layout_working_set_file, and a process owns one contiguous slice of both.
 *
 *   file space of a load generator   |---- process 0 ----|---- process 1 ----| ...
 *   working set                      w0  w1  w2  ...     (layout_working_set_file)
 *   access group of w       access_groups_of(w)  (the same groups whatever the processes)
 */
#ifndef NFSCURVE_COMMON_LAYOUT_H
#define NFSCURVE_COMMON_LAYOUT_H

#include "nfs_op.h"

#include <stdint.h>

struct process_layout {
    uint32_t loadgen; /* index into the campaign's load generators */
    uint32_t process; /* number on its load generator, from 0 */
    uint32_t target;  /* index into the campaign's targets */
    uint32_t client;  /* CL<client> of the directory */
    uint64_t seed;
    double ops_per_s; /* this process's share of the requested load, as the workload counts ops */

    /* its slice of the load generator's file space */
    uint64_t first_file;        /* number of its first I/O file */
    uint64_t n_files;           /* I/O files; sizes by workload_file_bytes(number) */
    uint64_t file_bytes;        /* sum of their sizes */
    uint64_t lg_n_files;        /* I/O files of the whole load generator at this load */
    uint64_t lg_n_working_set;  /* working-set files of the whole load generator */
    uint64_t first_working_set; /* number of the first working-set file in this slice */
    uint64_t n_working_set;
    uint32_t n_access_groups; /* 12 + 12 * floor(lg_n_working_set / 1500) */

    uint64_t n_directories;
    uint64_t n_symlinks;
    uint64_t n_non_io_files; /* slots; half of them exist at the start */

    uint64_t memory_bytes; /* foretold size of its fileset table */
};

/* Which files are the working set. n_cycle: length of the size table's cycle (workload.n_cycle). Every cycle gives its
 * share, spread over the cycle, and which of its places moves on from cycle to cycle so that every place, and so every
 * size, is taken equally often: the working set has the size table's shares, whatever its share of the files is. See
 * layout.c. All need 0 < lg_n_working_set <= lg_n_files. O(n_cycle). */

/* File number of working-set file w (0 .. lg_n_working_set - 1); grows with w. */
uint64_t layout_working_set_file(uint64_t lg_n_files, uint64_t lg_n_working_set, uint32_t n_cycle, uint64_t w);

/* The first working-set file whose number is at least `file`; lg_n_working_set when there is none. */
uint64_t layout_working_set_from(uint64_t lg_n_files, uint64_t lg_n_working_set, uint32_t n_cycle, uint64_t file);

/* Bytes of a process's fileset table (loadgen/fileset.c): 70 for a working-set file (64 handle, 1 its length, 5 size),
 * 65 for the handle of a directory or symlink, 6 for a non-I/O slot and 65 for the handle of each slot that is full:
 * half of them and a little reserve. */
static inline uint64_t layout_fileset_handle_reserve(uint64_t n_non_io_files)
{
    return n_non_io_files / 2 + n_non_io_files / 64 + 16;
}

static inline uint64_t layout_memory_bytes(const struct process_layout *l)
{
    return 70 * l->n_working_set + 65 * (l->n_directories + l->n_symlinks) + 6 * l->n_non_io_files +
           65 * layout_fileset_handle_reserve(l->n_non_io_files);
}

#endif
