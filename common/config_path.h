/* config_path.h - where the files that come with nfscurve are: configs/workloads/NAME.json and their like.
 *
 * Looked for in this order; the first that has it wins:
 *   1. $NFSCURVE_CONFIGS/KIND/NAME.json
 *   2. configs/KIND/NAME.json in the directory of the running program and up to four above it (a source tree, built
 * anywhere in it)
 *   3. ../share/nfscurve/configs from that directory (an installed tree, wherever it was moved)
 *   4. the data directory that meson was told
 */
#ifndef NFSCURVE_COMMON_CONFIG_PATH_H
#define NFSCURVE_COMMON_CONFIG_PATH_H

/* The path of a file of that kind ("workloads", "campaigns"), on the heap. 0, -ENOENT, -EINVAL when the name is not
 * made of letters, digits, '-' and '_', or -ENOMEM. */
int config_path_find(const char *kind, const char *name, char **path);

/* The names of a kind that exist, sorted, as "a, b, c" on the heap; "none" when there are none; NULL only when memory
 * is short. */
char *config_path_list(const char *kind);

#endif
