#include "arrival.h"

#include <string.h>
#include <sys/socket.h>

/* What two clocks read one after the other may differ by without a step: more than that is a step, or a process that
 * lost its processor in between, and then the stamp is not used. */
#define STEP_NS NS_PER_MS

void arrival_enable(struct arrival *arrival, int fd)
{
    int on = 1;
    arrival->is_stamped = setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0;
    mono_t now = mono_now();
    arrival->wall_offset_ns = wall_now().ns - now.ns;
}

void arrival_take_stamp(struct arrival *arrival, wall_t stamp, wall_t wall, mono_t read_at)
{
    int64_t offset_ns = wall.ns - read_at.ns;
    int64_t change_ns = offset_ns - arrival->wall_offset_ns;
    arrival->wall_offset_ns = offset_ns;
    arrival->read_at = arrival->arrived_at = read_at;
    if (stamp.ns == 0 || change_ns > STEP_NS || change_ns < -STEP_NS) {
        return;
    }
    mono_t at = {stamp.ns - offset_ns};
    if (mono_before(at, read_at)) {
        arrival->arrived_at = at;
    }
}

static wall_t stamp_of(struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec ts;
            memcpy(&ts, CMSG_DATA(c), sizeof ts);
            return (wall_t){(int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec};
        }
    }
    return (wall_t){0};
}

ssize_t arrival_recv(struct arrival *arrival, int fd, void *buffer, size_t bytes)
{
    if (!arrival->is_stamped) {
        ssize_t n = recv(fd, buffer, bytes, 0);
        if (n > 0) {
            arrival->read_at = arrival->arrived_at = mono_now();
        }
        return n;
    }
    union {
        struct cmsghdr header; /* for its alignment */
        char space[CMSG_SPACE(sizeof(struct timespec))];
    } control;
    struct iovec iov = {.iov_base = buffer, .iov_len = bytes};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &message, 0);
    if (n > 0) {
        /* The wall clock first: a process that loses its processor in between then dates the arrival too late, not too
         * early. */
        wall_t wall = wall_now();
        arrival_take_stamp(arrival, stamp_of(&message), wall, mono_now());
    }
    return n;
}
