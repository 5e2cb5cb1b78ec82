/* log.h - one line per event, on stderr and optionally in a file; wall time as a label.
 *
 * Log once, where the context is known: "loadgen lg2 process 3: LOOKUP xid 0x1f: no reply for 60 s". Untrusted text
 * must be passed through log_quote() first.
 */
#ifndef NFSCURVE_COMMON_LOG_H
#define NFSCURVE_COMMON_LOG_H

#include <stddef.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* First thing in main(): also makes sure that the descriptors 0, 1 and 2 are taken, so that nothing that is opened
 * later becomes "standard error" and gets log lines into it. `program` is borrowed for the life of the process. */
void log_init(const char *program, enum log_level level);

/* Also append to `path`: every line up to LOG_LEVEL_INFO, whatever stderr's level is, and what stderr gets. 0 or
 * -errno. */
int log_to_file(const char *path);

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Copies n bytes of untrusted text into out[cap] with control characters and invalid UTF-8 escaped as \xNN; always
 * terminated. Returns out. */
char *log_quote(char *out, size_t cap, const char *text, size_t n);

#endif
