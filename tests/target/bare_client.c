#include "bare_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LAST_FRAGMENT 0x80000000u

static void fatal(const char *what)
{
    fprintf(stderr, "bare client: %s: %s\n", what, strerror(errno));
    exit(3);
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t bare_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t bare_wall_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

void bare_connect(struct bare *b, const char *address, int port)
{
    memset(b, 0, sizeof *b);
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *info;
    char service[8];
    snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(address, service, &hints, &info) != 0) {
        fatal(address);
    }
    b->fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (b->fd < 0 || connect(b->fd, info->ai_addr, info->ai_addrlen) < 0) {
        fatal("connect");
    }
    freeaddrinfo(info);
    int on = 1;
    setsockopt(b->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(b->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    b->in_capacity = 4 << 20;
    b->in = malloc(b->in_capacity);
    b->out_capacity = 4 << 20;
    b->out = malloc(b->out_capacity);
    if (!b->in || !b->out) {
        fatal("memory");
    }
}

void bare_close(struct bare *b)
{
    close(b->fd);
    free(b->in);
    free(b->out);
}

static void room(struct bare *b, size_t n)
{
    if (b->out_capacity - b->out_len < n) {
        b->out_capacity = b->out_capacity * 2 + n;
        b->out = realloc(b->out, b->out_capacity);
        if (!b->out) {
            fatal("memory");
        }
    }
}

void bare_u32(struct bare *b, uint32_t value)
{
    room(b, 4);
    uint32_t wire = htonl(value);
    memcpy(b->out + b->out_len, &wire, 4);
    b->out_len += 4;
}

void bare_u64(struct bare *b, uint64_t value)
{
    bare_u32(b, (uint32_t)(value >> 32));
    bare_u32(b, (uint32_t)value);
}

void bare_opaque(struct bare *b, const void *data, uint32_t n)
{
    bare_u32(b, n);
    size_t padded = (n + 3u) & ~3u;
    room(b, padded);
    memset(b->out + b->out_len, 0, padded);
    memcpy(b->out + b->out_len, data, n);
    b->out_len += padded;
}

void bare_begin(struct bare *b, uint32_t program, uint32_t procedure)
{
    b->mark_at = b->out_len;
    bare_u32(b, 0);
    const uint32_t words[] = {++b->xid, 0, 2, program, 3, procedure, 1, 24, 0, 4, 0x62617265 /* "bare" */,
                              0,        0, 0, 0,       0};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        bare_u32(b, words[i]);
    }
}

void bare_end(struct bare *b)
{
    uint32_t mark = htonl(LAST_FRAGMENT | (uint32_t)(b->out_len - b->mark_at - 4));
    memcpy(b->out + b->mark_at, &mark, 4);
}

void bare_flush(struct bare *b)
{
    for (size_t done = 0; done < b->out_len;) {
        ssize_t n = send(b->fd, b->out + done, b->out_len - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            fatal("send");
        }
        done += n > 0 ? (size_t)n : 0;
    }
    b->out_len = 0;
}

static uint32_t word_at(const uint8_t *p)
{
    uint32_t wire;
    memcpy(&wire, p, 4);
    return ntohl(wire);
}

/* Bytes of the first buffered record with its mark, or 0 when it is not whole. */
static size_t whole_record(const struct bare *b)
{
    size_t have = b->in_end - b->in_start;
    if (have < 4) {
        return 0;
    }
    size_t bytes = 4 + (word_at(b->in + b->in_start) & ~LAST_FRAGMENT);
    return have >= bytes ? bytes : 0;
}

int bare_has_reply(const struct bare *b)
{
    return whole_record(b) > 0;
}

/* Reads once; when the last of it came is in arrived_ns. */
static void read_some(struct bare *b)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(struct timespec))];
    } control;
    struct iovec iov = {b->in + b->in_end, b->in_capacity - b->in_end};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(b->fd, &message, 0);
    if (n == 0 || (n < 0 && errno != EINTR)) {
        fatal(n == 0 ? "the server closed the connection" : "recvmsg");
    }
    b->in_end += n > 0 ? (size_t)n : 0;
    b->arrived_ns = bare_wall_ns();
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
        struct timespec ts;
        memcpy(&ts, CMSG_DATA(c), sizeof ts);
        b->arrived_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
    }
}

void bare_receive(struct bare *b, struct bare_reply *reply)
{
    while (whole_record(b) == 0) {
        if (b->in_start == b->in_end) {
            b->in_start = b->in_end = 0;
        } else if (b->in_capacity - b->in_end < b->in_capacity / 2) {
            memmove(b->in, b->in + b->in_start, b->in_end - b->in_start);
            b->in_end -= b->in_start;
            b->in_start = 0;
        }
        read_some(b);
    }
    size_t bytes = whole_record(b);
    const uint8_t *p = b->in + b->in_start + 4;
    b->in_start += bytes;
    reply->xid = word_at(p);
    if (bytes < 28 || word_at(p + 4) != 1 || word_at(p + 8) != 0 || word_at(p + 20) != 0) {
        fprintf(stderr, "bare client: a call was refused\n");
        exit(3);
    }
    reply->results = p + 24;
    reply->bytes = bytes - 28;
}

uint32_t bare_word(const struct bare_reply *reply, size_t index)
{
    if (4 * index + 4 > reply->bytes) {
        fprintf(stderr, "bare client: a reply is too short\n");
        exit(3);
    }
    return word_at(reply->results + 4 * index);
}

static void call(struct bare *b, struct bare_reply *reply)
{
    bare_end(b);
    bare_flush(b);
    bare_receive(b, reply);
    if (bare_word(reply, 0) != 0) {
        fprintf(stderr, "bare client: status %u\n", bare_word(reply, 0));
        exit(3);
    }
}

static void take_fh(const struct bare_reply *reply, size_t index, struct bare_fh *fh)
{
    fh->len = bare_word(reply, index);
    if (fh->len > sizeof fh->data || 4 * index + 4 + fh->len > reply->bytes) {
        fprintf(stderr, "bare client: a handle is too long\n");
        exit(3);
    }
    memcpy(fh->data, reply->results + 4 * index + 4, fh->len);
}

void bare_mount(struct bare *b, const char *export, struct bare_fh *root)
{
    struct bare_reply reply;
    bare_begin(b, BARE_MOUNT, 1);
    bare_opaque(b, export, (uint32_t)strlen(export));
    call(b, &reply);
    take_fh(&reply, 1, root);
}

void bare_make_file(struct bare *b, const struct bare_fh *dir, const char *name, struct bare_fh *fh)
{
    struct bare_reply reply;
    bare_begin(b, BARE_NFS, 8);
    bare_opaque(b, dir->data, dir->len);
    bare_opaque(b, name, (uint32_t)strlen(name));
    for (int i = 0; i < 7; i++) {
        bare_u32(b, 0); /* UNCHECKED, nothing set */
    }
    call(b, &reply);
    take_fh(&reply, 2, fh);
}

void bare_make_dir(struct bare *b, const struct bare_fh *dir, const char *name, struct bare_fh *fh)
{
    struct bare_reply reply;
    bare_begin(b, BARE_NFS, 9);
    bare_opaque(b, dir->data, dir->len);
    bare_opaque(b, name, (uint32_t)strlen(name));
    for (int i = 0; i < 6; i++) {
        bare_u32(b, 0);
    }
    call(b, &reply);
    take_fh(&reply, 2, fh);
}

void bare_set_size(struct bare *b, const struct bare_fh *fh, uint64_t size)
{
    struct bare_reply reply;
    bare_begin(b, BARE_NFS, 2);
    bare_opaque(b, fh->data, fh->len);
    bare_u32(b, 0);
    bare_u32(b, 0);
    bare_u32(b, 0);
    bare_u32(b, 1);
    bare_u64(b, size);
    bare_u32(b, 0);
    bare_u32(b, 0);
    bare_u32(b, 0);
    call(b, &reply);
}
