/* validity.h - when does a point count, and what was the limit: the server or the generator?
 *
 * Rules of a point (docs/result-schema.md): mix within 1.5 points for every op, those with a target of zero included;
 * failed RPCs below 1 % of good ones; no load generator or process lost; run length within 1 %; not generator-limited.
 * Saturated is no fault.
 */
#ifndef NFSCURVE_RESULTS_VALIDITY_H
#define NFSCURVE_RESULTS_VALIDITY_H

#include <stdbool.h>
#include <stddef.h>

struct point_result;

#define VALIDITY_MIX_POINTS         1.5
#define VALIDITY_FAILED_PERCENT     1.0
#define VALIDITY_RUN_LENGTH_PERCENT 1.0
#define VALIDITY_SATURATED_PERCENT  95.0

/* What the generator says of itself, for the verdict. NAN: unknown, says nothing. */
struct generator_evidence {
    double achieved_percent;                  /* of the request; NAN when nothing was requested */
    double response_mean_us;                  /* from sent: the server's share of an op's life */
    double lateness_mean_us, lateness_p99_us; /* of ops that had a free slot when they fell due */
    double busy_percent;                      /* share of the run in which the loops did not wait */
    double cpu_percent_max;                   /* busiest loop */
    double starved_percent; /* of the run: the loops had work and no CPU (busy time that is no CPU time) */
    double waited_for_us_percent, waited_for_slot_percent; /* of the ops that fell due */
};

/* True when the generator was the limit; why[cap] then holds the figure that says so. A slow server never is: it makes
 * ops wait for slots (no lateness) and loops wait for replies (no busy loop). */
bool validity_is_generator_limited(const struct generator_evidence *e, char *why, size_t cap);

/* Applies every rule but the generator's to a point whose figures are filled in. n_good_rpcs: all good RPCs. */
void validity_check_point(struct point_result *p, double n_good_rpcs);

#endif
