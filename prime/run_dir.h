/* run_dir.h - where a campaign leaves what it measured.
 *
 *   DIR/campaign.json      resolved, every default filled in: a campaign that repeats the run
 *   DIR/points/NN.json     from 01; written and synced before the next point starts (results/)
 *   DIR/result.json, report.html, curve.svg, curve.csv, sfssum, log.txt, NAME.log of every child
 *   DIR/repeat-K/...       the same of every repeat, when there are several
 *   DIR/interrupted/       the point that Ctrl-C cut short, if it had begun to be measured
 */
#ifndef NFSCURVE_PRIME_RUN_DIR_H
#define NFSCURVE_PRIME_RUN_DIR_H

#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct run_dir {
    char *path;
    DIR *lock; /* the directory, locked while this run uses it; NULL: not locked */
    int n_repeats;
    bool is_resumed;
};

/* Makes `path` (NULL: runs/NAME-DATE-TIME) and writes campaign.json. A directory that holds a run already is refused,
 * and one that another nfscurve uses (-EBUSY). 0, or -errno with a message. */
int run_dir_create(const char *path, const char *name, int n_repeats, const json_t *campaign, struct run_dir *out,
                   char *message, size_t message_bytes);

/* Opens a run to go on with it. `campaign` must be the one it was begun with: -EINVAL and the keys that changed. Not
 * while another nfscurve uses it: -EBUSY. */
int run_dir_resume(const char *path, int n_repeats, const json_t *campaign, struct run_dir *out, char *message,
                   size_t message_bytes);

void run_dir_fini(struct run_dir *dir);

/* Heap: the directory of repeat 0..n_repeats-1; the run directory itself when there is only one. */
char *run_dir_of_repeat(const struct run_dir *dir, int repeat);

/* Heap: PATH/NAME. */
char *run_dir_file(const struct run_dir *dir, const char *name);

/* Makes DIR/NAME with a points directory in it (NAME may be ""). 0 or -errno. */
int run_dir_make_points(const struct run_dir *dir, const char *name);

#endif
