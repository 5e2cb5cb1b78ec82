/* canned.c - a server that knows its answers beforehand, so that the client is what is measured.
 *
 *   recv ──every whole call──> the procedure's encoded reply is copied, its xid filled in ──> one send
 *
 * One process, a thread per connection, one buffer each way. It holds a root directory with one file, of which READ
 * gives at most CANNED_READ_BYTES; handles are not looked at, arguments only where the length of an answer depends on
 * them. What it does not know it refuses as RPC says (PROC_UNAVAIL); what is no call at all ends the connection. It
 * shares no code with the clients.
 */
#include "bench.h"
#include "target_process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <unistd.h>

#define CANNED_READ_BYTES 4096u
#define RECEIVE_BYTES     (128u << 10) /* at least one call; 512 small ones need half of it */
#define SEND_BYTES        (256u << 10)
#define HEAD_WORDS        64u /* of a reply without the data of READ */
#define SPIN_NS           (200 * NS_PER_US)
#define LAST_FRAGMENT     0x80000000u
#define CALL_WORDS        10u /* the fixed part of a call with an empty credential and verifier */
#define ROOT              2u  /* fileid */
#define FILE              3u

enum { MOUNT = 100005, NFS = 100003 };

/* Record mark, RPC header and results, as they go out but for the xid. */
struct reply {
    uint32_t words[HEAD_WORDS];
    unsigned n_words;
};

struct replies {
    struct reply nothing, mnt, getattr, setattr, lookup, read, create, unavailable;
};

/* Words of the reply to READ, counted from the end of its head; between them is eof. */
enum { READ_COUNT = -3, READ_LENGTH = -1 };

static struct replies replies;

static void put(struct reply *r, uint32_t word)
{
    r->words[r->n_words++] = htonl(word);
    r->words[0] = htonl(LAST_FRAGMENT | (4 * r->n_words - 4));
}

/* RFC 5531: mark, xid, REPLY, MSG_ACCEPTED, an empty verifier, accept_stat. */
static struct reply reply_of(uint32_t accept_stat)
{
    struct reply r = {.n_words = 2};
    put(&r, 1);
    put(&r, 0);
    put(&r, 0);
    put(&r, 0);
    put(&r, accept_stat);
    return r;
}

static struct reply ok_reply(void)
{
    struct reply r = reply_of(0);
    put(&r, 0); /* NFS3_OK, MNT3_OK */
    return r;
}

static void put_handle(struct reply *r, uint32_t fileid)
{
    static const unsigned n_words = 5; /* as long as nfscurve-target's */
    put(r, 4 * n_words);
    for (unsigned i = 0; i < n_words; i++) {
        put(r, fileid);
    }
}

/* fattr3, RFC 1813 section 2.6. */
static void put_attributes(struct reply *r, uint32_t fileid)
{
    bool is_root = fileid == ROOT;
    put(r, is_root ? 2 : 1);
    put(r, is_root ? 0755 : 0644);
    put(r, is_root ? 2 : 1);
    put(r, 0); /* uid, gid */
    put(r, 0);
    for (int i = 0; i < 2; i++) { /* size, used */
        put(r, 0);
        put(r, BENCH_FILE_BYTES);
    }
    put(r, 0); /* rdev */
    put(r, 0);
    put(r, 0); /* fsid */
    put(r, 1);
    put(r, 0);
    put(r, fileid);
    for (int i = 0; i < 3; i++) { /* atime, mtime, ctime */
        put(r, 1000000000);
        put(r, 0);
    }
}

static void put_post_op(struct reply *r, uint32_t fileid)
{
    put(r, 1);
    put_attributes(r, fileid);
}

/* wcc_data that says nothing. */
static void put_no_wcc(struct reply *r)
{
    put(r, 0);
    put(r, 0);
}

static void encode_replies(void)
{
    replies.nothing = reply_of(0);
    replies.unavailable = reply_of(3); /* PROC_UNAVAIL */
    replies.mnt = ok_reply();
    put_handle(&replies.mnt, ROOT);
    put(&replies.mnt, 1); /* one flavour, */
    put(&replies.mnt, 1); /* AUTH_SYS */
    replies.getattr = ok_reply();
    put_attributes(&replies.getattr, ROOT);
    replies.setattr = ok_reply();
    put_no_wcc(&replies.setattr);
    replies.lookup = ok_reply();
    put_handle(&replies.lookup, FILE);
    put_post_op(&replies.lookup, FILE);
    put_post_op(&replies.lookup, ROOT);
    replies.create = ok_reply();
    put(&replies.create, 1);
    put_handle(&replies.create, FILE);
    put_post_op(&replies.create, FILE);
    put_no_wcc(&replies.create);
    replies.read = ok_reply();
    put_post_op(&replies.read, FILE);
    for (int i = 0; i < 3; i++) { /* count, eof, length of the data */
        put(&replies.read, 0);
    }
}

static const struct reply *find_reply(uint32_t program, uint32_t procedure)
{
    if (procedure == 0) {
        return &replies.nothing;
    }
    if (program == MOUNT) {
        return procedure == 1 ? &replies.mnt : procedure == 3 ? &replies.nothing : &replies.unavailable; /* MNT, UMNT */
    }
    switch (program == NFS ? procedure : UINT32_MAX) {
    case 1:
        return &replies.getattr;
    case 2:
        return &replies.setattr;
    case 3:
        return &replies.lookup;
    case 6:
        return &replies.read;
    case 8:
        return &replies.create;
    default:
        return &replies.unavailable;
    }
}

/* ---- a connection ---- */

struct connection {
    int fd;
    size_t n_in, n_out;
    uint8_t in[RECEIVE_BYTES], out[SEND_BYTES];
};

static uint32_t load(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return ntohl(word);
}

static void store(uint8_t *p, uint32_t value)
{
    value = htonl(value);
    memcpy(p, &value, sizeof value);
}

static bool flush(struct connection *c)
{
    size_t sent = 0;
    while (sent < c->n_out) {
        ssize_t n = send(c->fd, c->out + sent, c->n_out - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        sent += n > 0 ? (size_t)n : 0;
    }
    c->n_out = 0;
    return true;
}

/* The count of a READ call: behind credential, verifier, handle and offset. UINT32_MAX when it is not there. */
static uint32_t count_of_read(const uint8_t *call, size_t bytes)
{
    size_t at = 24;
    for (int i = 0; i < 2; i++) {
        if (at + 8 > bytes) {
            return UINT32_MAX;
        }
        at += 8 + ((size_t)load(call + at + 4) + 3) / 4 * 4;
    }
    if (at + 4 > bytes) {
        return UINT32_MAX;
    }
    at += 4 + ((size_t)load(call + at) + 3) / 4 * 4 + 8;
    return at + 4 <= bytes ? load(call + at) : UINT32_MAX;
}

/* Zeros behind the encoded head, as many as were asked for and there are. */
static bool add_read_data(struct connection *c, uint8_t *reply, const uint8_t *call, size_t bytes)
{
    uint8_t *end = c->out + c->n_out;
    uint32_t count = count_of_read(call, bytes);
    if (count == UINT32_MAX) {
        return false;
    }
    count = count < CANNED_READ_BYTES ? count : CANNED_READ_BYTES;
    uint32_t padded = (count + 3) / 4 * 4;
    memset(end, 0, padded);
    store(end + 4 * READ_COUNT, count);
    store(end + 4 * READ_LENGTH, count);
    store(reply, load(reply) + padded);
    c->n_out += padded;
    return true;
}

/* A whole call. False: it is none, or the connection is broken. */
static bool answer(struct connection *c, const uint8_t *call, size_t bytes)
{
    if (bytes < 4 * CALL_WORDS || load(call + 4) != 0) {
        return false;
    }
    if (sizeof c->out - c->n_out < sizeof(struct reply) + CANNED_READ_BYTES && !flush(c)) {
        return false;
    }
    const struct reply *reply = find_reply(load(call + 12), load(call + 20));
    uint8_t *out = c->out + c->n_out;
    memcpy(out, reply->words, 4 * reply->n_words);
    memcpy(out + 4, call, 4); /* the xid */
    c->n_out += 4 * reply->n_words;
    return reply != &replies.read || add_read_data(c, out, call, bytes);
}

/* Every whole call of the buffer; what is left of it moves to the front. */
static bool answer_all(struct connection *c)
{
    size_t at = 0;
    while (c->n_in - at >= 4) {
        uint32_t mark = load(c->in + at);
        size_t bytes = mark & ~LAST_FRAGMENT;
        if (!(mark & LAST_FRAGMENT) || bytes > sizeof c->in - 4) {
            return false; /* none of the clients sends such calls */
        }
        if (c->n_in - at - 4 < bytes) {
            break;
        }
        if (!answer(c, c->in + at + 4, bytes)) {
            return false;
        }
        at += 4 + bytes;
    }
    memmove(c->in, c->in + at, c->n_in - at);
    c->n_in -= at;
    return flush(c);
}

/* Asks again and again before it sleeps, so that no wake-up of the server's is in what is measured. */
static ssize_t receive(struct connection *c)
{
    mono_t began = mono_now();
    ssize_t n;
    int flags = MSG_DONTWAIT;
    do {
        n = recv(c->fd, c->in + c->n_in, sizeof c->in - c->n_in, flags);
        if (mono_since_ns(mono_now(), began) > SPIN_NS) {
            flags = 0;
        }
    } while (n < 0 && (errno == EAGAIN || errno == EINTR));
    return n;
}

static void *serve(void *arg)
{
    struct connection *c = arg;
    for (;;) {
        ssize_t n = receive(c);
        c->n_in += n > 0 ? (size_t)n : 0;
        if (n <= 0 || !answer_all(c)) {
            break;
        }
    }
    close(c->fd);
    free(c);
    return NULL;
}

/* ---- the process ---- */

_Noreturn static void accept_all(int listener)
{
    int one = 1;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (;;) {
        pthread_t thread;
        int fd = accept(listener, NULL, NULL);
        struct connection *c = fd >= 0 ? malloc(sizeof *c) : NULL;
        if (!c) {
            _exit(1);
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        c->fd = fd;
        c->n_in = c->n_out = 0;
        if (pthread_create(&thread, &detached, serve, c) != 0) {
            _exit(1);
        }
    }
}

pid_t canned_start(int cpu, uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    pid_t parent = getpid(), pid = -1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, SOMAXCONN) == 0 && getsockname(listener, (struct sockaddr *)&address, &length) == 0) {
        pid = fork();
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        bench_pin(cpu);
        encode_replies();
        accept_all(listener);
    }
    int error = -errno;
    *port = ntohs(address.sin_port);
    if (listener >= 0) {
        close(listener);
    }
    return pid < 0 ? error : pid;
}
