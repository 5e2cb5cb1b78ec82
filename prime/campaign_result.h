/* campaign_result.h - from what the cluster collected to points and results on disk. */
#ifndef NFSCURVE_PRIME_CAMPAIGN_RESULT_H
#define NFSCURVE_PRIME_CAMPAIGN_RESULT_H

#include "clock.h"
#include "result.h"

#include <stdbool.h>
#include <stdint.h>

struct campaign_config;
struct campaign_layout;
struct cluster;
struct loadgen_facts;
struct run_dir;

/* A load generator or process that was lost while a point was measured. */
struct campaign_loss {
    uint32_t loadgen;
    int32_t process; /* -1: the whole load generator */
    char *reason;
    int64_t at_ns; /* since the load began */
};

/* What the state machine knows of the point that was just measured. */
struct campaign_point {
    uint32_t index;
    const struct campaign_layout *layout;
    wall_t started_at;
    const struct campaign_loss *losses;
    size_t n_losses;
    const char *broken; /* a further reason why it is invalid; NULL for none */
};

/* From the cluster's outcomes of the last LOAD. 0 or -errno. Free with point_fini. */
int campaign_build_point(const struct campaign_config *config, const struct cluster *cluster,
                         const struct campaign_point *point, struct point_result *out);

/* True when the point has a file of this campaign and was measured to its end. */
bool campaign_point_is_done(const struct campaign_config *config, const char *run_dir, uint32_t index);

/* What every result of this campaign says, whatever the repeat. Borrowed. */
struct campaign_result_facts {
    const struct campaign_config *config;
    const struct loadgen_facts *loadgens; /* per load generator; NULL when never connected */
    const json_t *findings;               /* of the validation; NULL for none */
    const char *stopped;                  /* why the sweep ended early; NULL */
    wall_t started_at, finished_at;
};

/* Reads the points that are on disk and writes result.json and the reports: of every repeat, and of all together, where
 * each point is its median repeat and says the spread. The whole is left in *out (result_fini). 0 or the first -errno.
 */
int campaign_write_results(const struct campaign_result_facts *facts, const struct run_dir *dir, struct result *out);

#endif
