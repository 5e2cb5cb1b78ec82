/* plan.h - what a campaign will do, printed before anything runs. */
#ifndef NFSCURVE_PRIME_PLAN_H
#define NFSCURVE_PRIME_PLAN_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct campaign_config;
struct campaign_layout;

/* Table for people: points, targets, load generators, mapping, and the processes of the last point. `layouts`: one a
 * point. */
void plan_print(const struct campaign_config *c, const struct campaign_layout *layouts, FILE *out);

/* The same for programs. New reference. */
json_t *plan_to_json(const struct campaign_config *c, const struct campaign_layout *layouts);

/* How long the phases take together, populating left out. */
double plan_phases_s(const struct campaign_config *c);

#endif
