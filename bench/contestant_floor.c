/* contestant_floor.c - the least that any client has to do: calls encoded beforehand, one send for all that may leave,
 * one recv for all that is there, record marks counted, nothing decoded. For 1 MiB READ it is recv into a reused
 * buffer, for WRITE it is send. */
#include "bench.h"

#include "nfs3_encode.h"
#include "rpc_msg.h"
#include "xdr_cursor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define RECEIVE_BYTES (2u << 20)
#define CALL_MAX      2048

struct floor {
    int fd;
    const struct bench_server *server;
    uint8_t *in, *calls, *data;
    size_t call_bytes;
};

static void *open_floor(const struct bench_server *server)
{
    struct floor *f = calloc(1, sizeof *f);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(server->port)};
    int one = 1;
    inet_pton(AF_INET, server->address, &address.sin_addr);
    f->server = server;
    f->in = malloc(RECEIVE_BYTES);
    f->calls = malloc(BENCH_MAX_WINDOW * CALL_MAX);
    f->data = calloc(1, NFS3_TRANSFER_MAX);
    f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(f->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(f->fd, (struct sockaddr *)&address, sizeof address) != 0)
        bench_die("floor: connect: %s", strerror(errno));
    return f;
}

/* The same call `window` times in a row. */
static void encode(struct floor *f, const struct bench_case *c)
{
    struct rpc_auth_sys auth = {.machine_name = "bench"};
    bool is_root = c->op == NFS_OP_LOOKUP || c->op == NFS_OP_GETATTR;
    struct nfs3_call call = {.op = c->op, .fh = is_root ? &f->server->root : &f->server->file, .name = BENCH_FILE};
    if (c->op == NFS_OP_READ)
        call.read.count = c->bytes;
    if (c->op == NFS_OP_WRITE)
        call.write.count = c->bytes;
    size_t data_bytes = c->op == NFS_OP_WRITE ? c->bytes : 0;
    for (uint32_t i = 0; i < c->window; i++) {
        uint8_t *at = f->calls + i * f->call_bytes;
        size_t n = rpc_msg_call_header(at + 4, i, NFS3_PROGRAM, NFS3_VERSION, (uint32_t)c->op, &auth);
        n += nfs3_encode_args(&call, at + 4 + n);
        xdr_store_u32(at, 0x80000000u | (uint32_t)(n + data_bytes));
        f->call_bytes = 4 + n;
    }
}

static void send_all(struct floor *f, struct iovec *iov, int n)
{
    while (n > 0) {
        ssize_t sent = writev(f->fd, iov, n);
        if (sent < 0)
            bench_die("floor: send: %s", strerror(errno));
        while (n > 0 && (size_t)sent >= iov->iov_len) {
            sent -= (ssize_t)iov->iov_len;
            iov++;
            n--;
        }
        if (n > 0) {
            iov->iov_base = (uint8_t *)iov->iov_base + sent;
            iov->iov_len -= (size_t)sent;
        }
    }
}

static void send_calls(struct floor *f, const struct bench_case *c, uint32_t n)
{
    struct iovec iov[2 * BENCH_MAX_WINDOW];
    int n_iov = 0;
    if (c->op != NFS_OP_WRITE) {
        iov[n_iov++] = (struct iovec){f->calls, n * f->call_bytes};
    } else {
        for (uint32_t i = 0; i < n; i++) {
            iov[n_iov++] = (struct iovec){f->calls, f->call_bytes};
            iov[n_iov++] = (struct iovec){f->data, c->bytes};
        }
    }
    send_all(f, iov, n_iov);
}

/* Whole records among what is received; the bytes of a record may come in any number of pieces. */
struct counter {
    uint8_t mark[4];
    uint32_t n_mark, left;
};

static uint32_t count_records(struct counter *c, const uint8_t *p, size_t n)
{
    uint32_t n_records = 0;
    while (n > 0) {
        if (c->n_mark < 4) {
            c->mark[c->n_mark++] = *p++;
            n--;
            if (c->n_mark == 4)
                c->left = xdr_load_u32(c->mark) & 0x7fffffff;
            continue;
        }
        size_t part = n < c->left ? n : c->left;
        p += part;
        n -= part;
        c->left -= (uint32_t)part;
        if (c->left == 0) {
            n_records++;
            c->n_mark = 0;
        }
    }
    return n_records;
}

static void run_floor(void *self, const struct bench_case *c, int64_t run_ns, struct bench_sample *out)
{
    struct floor *f = self;
    struct counter counter = {0};
    uint64_t n_ops = 0;
    encode(f, c);
    encode(f, c); /* call_bytes is known now */
    int64_t cpu = bench_cpu_ns();
    mono_t started = mono_now(), end = mono_plus_ns(started, run_ns);
    uint32_t n_in_flight = c->window;
    send_calls(f, c, c->window);
    while (n_in_flight > 0) {
        ssize_t n = recv(f->fd, f->in, RECEIVE_BYTES, 0);
        if (n <= 0)
            bench_die("floor: recv: %s", n ? strerror(errno) : "closed");
        uint32_t n_records = count_records(&counter, f->in, (size_t)n);
        n_ops += n_records;
        if (n_records && mono_before(mono_now(), end))
            send_calls(f, c, n_records);
        else
            n_in_flight -= n_records;
    }
    *out = (struct bench_sample){n_ops, mono_since_ns(mono_now(), started), bench_cpu_ns() - cpu};
}

static void close_floor(void *self)
{
    struct floor *f = self;
    close(f->fd);
    free(f->in);
    free(f->calls);
    free(f->data);
    free(f);
}

const struct contestant contestant_floor = {"floor", open_floor, run_floor, close_floor};
