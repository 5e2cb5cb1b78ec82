/* arrival.h - reads of a TCP socket that tell when the kernel took the bytes in, not only when the process got them.
 *
 *   NIC ──> kernel stamps the packet ──> socket buffer ──(wake-up: 20 us to milliseconds)──> recv returns
 *           arrived_at                                                                       read_at
 *
 * The kernel stamps with CLOCK_REALTIME (SO_TIMESTAMPNS, socket(7)); arrived_at is that stamp on CLOCK_MONOTONIC. Of
 * several packets in one read it is the last one's. Where there is no stamp (not TCP, the first packets after the
 * option was set) or the wall clock was stepped in between, arrived_at is read_at: it is never later than the truth by
 * more than the wake-up, and never earlier.
 */
#ifndef NFSCURVE_RPCGEN_ARRIVAL_H
#define NFSCURVE_RPCGEN_ARRIVAL_H

#include "clock.h"

#include <stddef.h>
#include <sys/types.h>

struct arrival {
    mono_t read_at;    /* the last read returned */
    mono_t arrived_at; /* <= read_at */
    bool is_stamped;
    int64_t
        wall_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC at the last read; changes only when a clock is stepped */
};

/* Asks the kernel for stamps. Without it, or where that fails, arrived_at is read_at. */
void arrival_enable(struct arrival *arrival, int fd);

/* recv(2), and the two times when it returned more than 0. */
ssize_t arrival_recv(struct arrival *arrival, int fd, void *buffer, size_t bytes);

/* Where on the monotonic clock a packet arrived that the kernel stamped so: for arrival_recv, and its test. */
void arrival_take_stamp(struct arrival *arrival, wall_t stamp, wall_t wall, mono_t read_at);

#endif
