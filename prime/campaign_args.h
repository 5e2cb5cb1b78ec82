/* campaign_args.h - what the commands that take a campaign file have in common on their command line. */
#ifndef NFSCURVE_PRIME_CAMPAIGN_ARGS_H
#define NFSCURVE_PRIME_CAMPAIGN_ARGS_H

#include <stdbool.h>
#include <stddef.h>

struct campaign_config;
struct campaign_layout;

#define CAMPAIGN_ARGS_MAX_SET 64u

struct campaign_args {
    const char *campaign;                           /* file, NULL when none was given */
    const char *out_dir;                            /* --out */
    const char *resume;                             /* --resume */
    const char *assignments[CAMPAIGN_ARGS_MAX_SET]; /* --set */
    size_t n_assignments;
    int level;     /* --level, -1 when not given */
    bool is_json;  /* --json */
    bool is_quiet; /* --quiet */
};

/* Parses options out of "osrlj" that `allowed` names by their short letters. 0, or an exit_status after a message on
 * stderr; -1 after --help was printed (exit 0). */
int campaign_args_parse(int argc, char **argv, const char *allowed, struct campaign_args *out);

/* Reads the campaign and lays out every point. Every error is printed on stderr. 0 or an exit_status. The caller frees:
 * campaign_config_fini(c), campaign_args_free_layouts(). */
int campaign_args_load(const struct campaign_args *args, struct campaign_config *c, struct campaign_layout **layouts);
void campaign_args_free_layouts(struct campaign_layout *layouts, size_t n);

#endif
