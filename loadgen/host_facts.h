/* host_facts.h - what a load generator says of its host: for the disclosure of a result, and for the generator's
 * verdict.
 *
 * Everything is read from /proc and /etc; what can't be read stays empty or 0 and is no error.
 */
#ifndef NFSCURVE_LOADGEN_HOST_FACTS_H
#define NFSCURVE_LOADGEN_HOST_FACTS_H

#include <stdint.h>

struct host_facts {
    char hostname[256], cpu_model[128], os[128];
    char addresses[512]; /* numeric, separated by spaces, no loopback and link-local ones; cut at a whole address */
    uint32_t n_cpus;     /* online */
    uint64_t memory_bytes;
};

void host_facts_read(struct host_facts *facts);

/* CPU time of the whole host since boot, from the first line of /proc/stat; clock ticks. */
struct host_cpu {
    uint64_t busy, total;
};

/* Zeros when it can't be read. */
struct host_cpu host_cpu_read(void);

/* The same from the text of /proc/stat. */
struct host_cpu host_cpu_parse(const char *stat_text);

/* Percent of all CPUs busy between two readings, 0..100; 0 when no time has passed. Time stolen by a hypervisor is
 * busy: it was not there for us. */
double host_cpu_percent(struct host_cpu from, struct host_cpu to);

#endif
