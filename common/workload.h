/* workload.h - what is asked of a server, as data: op mix, fileset, requests, popularity, pacing.
 *
 * Presets are files (configs/workloads/sfs3.json, sfs2008.json); a campaign names one and may override keys beside it.
 * The prime sends the resolved workload to every load generator as JSON text, and both sides read it with the same
 * table, so a workload has exactly one definition. Figures of the presets: SPECsfs97_R1 and SPECsfs2008 public
 * documents (docs/workloads.md).
 */
#ifndef NFSCURVE_COMMON_WORKLOAD_H
#define NFSCURVE_COMMON_WORKLOAD_H

#include "nfs_op.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct config_errors;
struct config_key;
struct config_source;
struct rng;

#define WORKLOAD_MAX_STEPS 64

enum counting { COUNTING_LOGICAL, COUNTING_PHYSICAL }; /* sfs2008: requests; sfs3: every RPC */

/* A weighted table: sizes of files or of requests. A request is bytes + blocks * block size, and a fragment of 1..7 KiB
 * when it has one: sfs3 counts in blocks, workloads whose requests don't depend on the transfer size in bytes. */
struct size_table {
    uint32_t n;
    struct {
        double percent;
        uint64_t bytes;
        uint32_t blocks;
        bool has_fragment;
    } steps[WORKLOAD_MAX_STEPS];
};

enum file_size_kind { FILE_SIZE_TABLE, FILE_SIZE_FIXED, FILE_SIZE_LOGNORMAL };

enum popularity_kind { POPULARITY_ACCESS_GROUPS, POPULARITY_ZIPF, POPULARITY_UNIFORM, POPULARITY_HOT_SET };

enum pacing_kind { PACING_SFS, PACING_OPEN, PACING_MAX };
enum arrivals_kind { ARRIVALS_POISSON, ARRIVALS_CONSTANT };

struct workload {
    char *name;
    char *description;
    char *derived; /* what of it is derived rather than published; "" when nothing. Goes into every result */

    bool is_standard; /* a result of it, unchanged, may be called standard: sfs3 and sfs2008 */

    enum counting counting;
    double mix_percent[NFS_OP_COUNT]; /* sums to 100 */
    double lookup_missing_percent;    /* LOOKUPs of names that do not exist */
    bool is_commit_byproduct;         /* COMMIT only ends writes, and is not counted as a logical op */

    /* fileset */
    double fileset_mb_per_op; /* 10^6 bytes per requested op/s over all load generators */
    enum file_size_kind file_size_kind;
    struct size_table file_sizes; /* FILE_SIZE_TABLE: a fixed cycle by file index */
    uint64_t file_size_bytes;     /* FILE_SIZE_FIXED, or the mean of FILE_SIZE_LOGNORMAL */
    double file_size_sigma;       /* FILE_SIZE_LOGNORMAL */
    uint32_t files_per_directory;
    uint32_t directory_depth; /* levels of directories below testdir, 1 in SFS */
    uint32_t directory_width; /* subdirectories per directory at depth > 1; 0: as many as needed at one level */
    uint32_t symlinks_per_process;
    double non_io_files_percent; /* of the I/O files ... */
    uint32_t non_io_files_min;   /* ... but at least this many per process */
    double growth_limit_percent;

    /* working set and popularity */
    double working_set_percent;
    enum popularity_kind popularity;
    double zipf_theta;
    double hot_set_percent;        /* of the working set ... */
    double hot_set_access_percent; /* ... that gets this share of the accesses */

    /* requests */
    struct size_table read_requests;
    struct size_table write_requests;
    double append_percent;
    uint32_t block_size_bytes; /* 0: negotiated from FSINFO, at most block_size_max_bytes */
    uint32_t block_size_max_bytes;
    uint32_t biod_max_read; /* 0..32; 0 = one at a time */
    uint32_t biod_max_write;

    /* pacing */
    enum pacing_kind pacing;
    enum arrivals_kind arrivals;  /* PACING_OPEN */
    uint32_t max_outstanding;     /* PACING_MAX: requests outstanding; PACING_OPEN: slots */
    uint32_t streams_per_process; /* PACING_SFS: 1 */

    /* data */
    double compress_percent;
    double dedupe_percent;
    bool verify_data;

    double response_ceiling_ms; /* of a reportable point; 0: none */

    json_t
        *tunable; /* array of keys that may be changed without the result becoming non-standard (they are disclosed) */

    /* made from the above by the functions that fill a workload: the sizes of a cycle of files, see workload_file_bytes
     */
    uint32_t n_cycle;
    uint64_t cycle_bytes; /* of all files of a cycle */
    uint64_t *cycle;
};

/* Reads a workload: `value` is a preset's name, a file name (holds a '/' or ends in ".json"; relative to the file that
 * src was read from), or an object. `overrides` (may be NULL) is an object of src whose workload_keys() win; its other
 * keys are ignored. Presets are found by config_path_find("workloads", ...). 0 or -EINVAL with errors. `out` is filled
 * from zero and empty after an error; free with workload_fini. */
int workload_resolve(const struct config_source *src, const json_t *value, const json_t *overrides,
                     struct workload *out, struct config_errors *errors);

/* A preset alone, by name. */
int workload_load_preset(const char *name, struct workload *out, struct config_errors *errors);

/* From JSON text as the control protocol carries it (all keys present). */
int workload_from_text(const char *text, struct workload *out, struct config_errors *errors);

/* All keys. New reference. */
json_t *workload_dump(const struct workload *w);

void workload_fini(struct workload *w);

/* Names of the keys that differ from the preset of that name and are not tunable in it: what makes a result
 * non-standard. New array of strings. */
json_t *workload_differences(const struct workload *w, const struct workload *preset);

/* NULL-terminated list of the keys that callers accept as overrides: all but name, description, derived, standard and
 * tunable. */
const char *const *workload_keys(void);

/* The table behind it all, for the documentation. */
const struct config_key *workload_key_table(void);

/* Bytes of a request by step `step` of w's table for op (READ or WRITE) with this block size. The fragment, if any, is
 * drawn. */
uint64_t workload_request_bytes(const struct workload *w, enum nfs_op op, uint32_t step, uint32_t block_bytes,
                                struct rng *rng);

/* Bytes of the longest request of op with this block size. */
uint64_t workload_request_max_bytes(const struct workload *w, enum nfs_op op, uint32_t block_bytes);

/* Mean RPCs of one READ or WRITE request by the request tables (sfs3: 1.64 and 2.0), for the block size of w or, when
 * that is negotiated, the largest; 1 for other ops. */
double workload_rpcs_per_request(const struct workload *w, enum nfs_op op);

/* Requests of op per 100 counted ops: the weights of the deck that requests are drawn from. When logical, the mix
 * itself; when physical, mix / rpcs, and COMMITs only as far as those that end WRITE requests are not enough (sfs3: 5 -
 * 9 / 2.0 = 0.5). */
double workload_request_weight(const struct workload *w, enum nfs_op op);

/* Requests that one counted op/s needs: sum of the weights / 100 (1 when logical). */
double workload_requests_per_op(const struct workload *w);

/* Bytes of I/O file number i of the whole fileset. Sizes come in a cycle of w->n_cycle files (100 when all percentages
 * are whole), so any n_cycle files in a row hold exactly the table. Within the cycle the sizes are spread evenly, so
 * that a few neighbours are already a fair sample. Who takes every k-th file must not let k lock in with the cycle. */
uint64_t workload_file_bytes(const struct workload *w, uint64_t file_index);
double workload_mean_file_bytes(const struct workload *w);

/* Sum of the sizes of n files from number `first` on. */
uint64_t workload_range_bytes(const struct workload *w, uint64_t first, uint64_t n);

#endif
