/* campaign.h - where the run stands: the state machine from connecting to the report.
 *
 *   launch ─> connect ─> configure ─> validate ─┐
 *                                               v
 *        ┌──────────── next point ─────── populate <─┐
 *        │                                  v        │ next repeat
 *        │     point's file on disk <── load, collect ┘
 *        v
 *   clean up ─> release ─> result
 *
 * One event loop, no threads, nothing that blocks but writing files. Every step of the cluster ends in exactly one
 * transition. An interrupt, a lost load generator or a refused mount goes to `release` from anywhere; finished points
 * are on disk by then, and a point that was being measured is kept beside them, marked.
 */
#ifndef NFSCURVE_PRIME_CAMPAIGN_H
#define NFSCURVE_PRIME_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

struct campaign_config;
struct campaign_layout;
struct run_dir;

enum campaign_goal {
    CAMPAIGN_MEASURE,
    CAMPAIGN_VALIDATE_ONLY, /* connect, configure, validate, release */
};

/* Everything is borrowed for the call. */
struct campaign_options {
    enum campaign_goal goal;
    const struct campaign_config *config;
    const struct campaign_layout *layouts; /* one a point */
    const struct run_dir *dir;
    uint32_t validate_level; /* 0: no validation */
    bool is_quiet;
};

/* Runs it to its end; says on stderr what went wrong. Returns an exit_status. No child process is left. */
int campaign_run(const struct campaign_options *options);

#endif
