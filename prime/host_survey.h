/* host_survey.h - looks at load generators without taking them: what `nfscurve hosts` shows.
 *
 * All are asked side by side from one loop; no lease is taken, so that a load generator at work is not disturbed.
 */
#ifndef NFSCURVE_PRIME_HOST_SURVEY_H
#define NFSCURVE_PRIME_HOST_SURVEY_H

#include "cluster.h"

struct host_finding {
    int error;         /* 0, or -errno: then only message counts */
    char message[512]; /* why it can't be used; "" when error is 0 */
    struct loadgen_facts facts;
    char held_by_campaign[256], held_by_host[256]; /* "": free */
};

/* Asks n hosts and fills findings[n], in at most timeout_ns. key: NULL or 32 bytes. Runs a loop of its own. 0, or
 * -ENOMEM. */
int host_survey_run(const struct cluster_host *hosts, uint32_t n, const uint8_t *key, int64_t timeout_ns,
                    struct host_finding *findings);

#endif
