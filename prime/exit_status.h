/* exit_status.h - what every command of nfscurve exits with; scripts rely on these. */
#ifndef NFSCURVE_PRIME_EXIT_STATUS_H
#define NFSCURVE_PRIME_EXIT_STATUS_H

enum exit_status {
    EXIT_STATUS_VALID = 0,         /* a valid result, or simply done */
    EXIT_STATUS_INVALID = 1,       /* ran, but the result is invalid */
    EXIT_STATUS_USAGE = 2,         /* usage or configuration; nothing was started */
    EXIT_STATUS_COULD_NOT_RUN = 3, /* server or load generator not reachable */
    EXIT_STATUS_INTERRUPTED = 130, /* everything so far is kept */
};

#endif
