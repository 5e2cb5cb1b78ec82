/* progress.h - what a person sees while a campaign runs: one live line on a terminal, plain lines now and then
 * elsewhere.
 *
 * Phase, point, requested and achieved ops/s, response time, errors, time left for the phase and for the whole
 * campaign. The time left is foretold from the phases' lengths, and from how long everything else took at the points
 * before.
 */
#ifndef NFSCURVE_PRIME_PROGRESS_H
#define NFSCURVE_PRIME_PROGRESS_H

#include "clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cluster_progress;
struct point_result;

struct progress {
    FILE *out;
    bool is_tty, is_quiet, is_line_open;
    bool is_loading; /* the present phase is a load: its progress is ops, not files */
    size_t n_points; /* repeats included */
    double phases_s; /* warm-up and run of one point */
    mono_t started, phase_started, last_plain;

    const char *phase;
    size_t point; /* number of the present one, from 1; 0 before the first */
    double requested_ops_per_s;

    size_t n_points_done; /* in this session */
    double overhead_s;    /* of those, beyond their phases */
    mono_t point_started;
};

void progress_init(struct progress *p, FILE *out, bool is_quiet, size_t n_points, double phases_s, mono_t now);

/* A new phase: "connect", "configure", "validate", "populate", "load", "collect", "clean up". `phase` is borrowed. */
void progress_phase(struct progress *p, const char *phase, mono_t now);

/* A new point begins: its number from 1 over all repeats. */
void progress_point(struct progress *p, size_t point, double requested_ops_per_s, mono_t now);

void progress_update(struct progress *p, const struct cluster_progress *now_doing, mono_t now);

/* The finished point's line, which stays. */
void progress_point_done(struct progress *p, const struct point_result *result, mono_t now);

/* Takes the live line away, so that something else can be printed. */
void progress_clear(struct progress *p);

/* Seconds left for the campaign, with `phase_left_s` left for the present phase. */
double progress_campaign_left_s(const struct progress *p, double phase_left_s, mono_t now);

#endif
