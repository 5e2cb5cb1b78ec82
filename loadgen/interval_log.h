/* interval_log.h - what happened in each second of a run, by op class, kept so that any number of processes merge
 * exactly.
 *
 *   op_record ──record──> interval_writer (dense counters of the present second, private)
 *                              │ when the second is over
 *                              ▼
 *                         interval_log (shared memory, sparse, append only) ──interval_log_read──> daemon ──> prime
 *
 * A second that is written is never changed again, and `n_bytes` moves only after the record behind it is whole, so the
 * daemon may read the log of a process that is running or that died in the middle of a write. The second a process died
 * in is lost. Response times are the headline's (from sent, or from due with open arrivals).
 */
#ifndef NFSCURVE_LOADGEN_INTERVAL_LOG_H
#define NFSCURVE_LOADGEN_INTERVAL_LOG_H

#include "histogram.h"
#include "nfs_op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERVAL_LOG_MAX_SECONDS 65536u /* 18 hours of run; later seconds are not kept */

struct interval_log;
struct interval_writer;

/* Size of the mapping (MAP_SHARED | MAP_NORESERVE; what is not written costs nothing). All zero is an empty log. */
size_t interval_log_bytes(void);

/* Empties the log. The writer's side. */
void interval_log_reset(struct interval_log *log);

/* Seconds of the run seen so far: 1 + the last second that has a record; 0 when empty. */
uint32_t interval_log_seconds(const struct interval_log *log);

/* Seconds that were dropped because the log was full. */
uint32_t interval_log_dropped(const struct interval_log *log);

/* Adds the counts of second t_s and class c to *n_ops and *n_errors, and merges its response times into `into`. A
 * second without a record adds nothing. Every length is checked: the writer may have died at any point. */
void interval_log_read(const struct interval_log *log, uint32_t t_s, enum op_class c, uint64_t *n_ops,
                       uint64_t *n_errors, struct histogram *into);

/* NULL when memory is short. `log` is borrowed. */
struct interval_writer *interval_writer_create(struct interval_log *log);
void interval_writer_destroy(struct interval_writer *writer);

/* Forgets the present second and empties the log: a new run begins. */
void interval_writer_reset(struct interval_writer *writer);

/* One op that ended in second t_s of the run. Time only moves forward: an op of a second already written is counted in
 * the present one. */
void interval_writer_good(struct interval_writer *writer, uint32_t t_s, enum op_class c, int64_t response_ns);
void interval_writer_error(struct interval_writer *writer, uint32_t t_s, enum op_class c);

/* Writes the present second; at the end of the run. */
void interval_writer_flush(struct interval_writer *writer);

#endif
