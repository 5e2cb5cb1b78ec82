/* layout.h - what one process has to do at one point: the prime computes it, the load generator carries it out.
 *
 * What is touched (files, sizes, popularity, bytes) depends on the load and on the number of load generators, never on the
 * number of processes that carry it: a load generator's I/O files are numbered 0..n-1 (its file space), its working set is every
 * file whose number falls into the working-set stride, and a process owns one contiguous slice of both.
 *
 *   file space of a load generator   |---- process 0 ----|---- process 1 ----| ...
 *   working set                      w0  w1  w2  ...     (file number = w * n_io_files / n_working_set, rounded down)
 *   access group of working-set file w:  w mod n_access_groups  (the same groups whatever the processes)
 */
#ifndef NFSCURVE_COMMON_LAYOUT_H
#define NFSCURVE_COMMON_LAYOUT_H

#include "nfs_op.h"

#include <stdint.h>

struct process_layout {
    uint32_t loadgen;  /* index into the campaign's load generators */
    uint32_t process;  /* number on its load generator, from 0 */
    uint32_t target;   /* index into the campaign's targets */
    uint32_t client;   /* CL<client> of the directory */
    uint64_t seed;
    double ops_per_s;  /* this process's share of the requested load, as the workload counts ops */

    /* its slice of the load generator's file space */
    uint64_t first_file;       /* number of its first I/O file */
    uint64_t n_files;          /* I/O files; sizes by workload_file_bytes(number) */
    uint64_t file_bytes;       /* sum of their sizes */
    uint64_t lg_n_files;       /* I/O files of the whole load generator at this load */
    uint64_t lg_n_working_set; /* working-set files of the whole load generator */
    uint64_t first_working_set; /* number of the first working-set file in this slice */
    uint64_t n_working_set;
    uint32_t n_access_groups;  /* 12 + 12 * floor(lg_n_working_set / 1500) */

    uint64_t n_directories;
    uint64_t n_symlinks;
    uint64_t n_non_io_files;   /* slots; half of them exist at the start */

    uint64_t memory_bytes;     /* foretold size of its fileset table */
};

#endif
