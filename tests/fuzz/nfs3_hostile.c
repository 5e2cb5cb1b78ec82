/* nfs3_hostile.c - the NFS client against a server that answers anything but what it should, for as long as one likes.
 *
 *   nfs3_hostile [-e native|libnfs] [-s SECONDS] [-r SEED] [-p SPOIL_PERCENT]
 *   nfs3_hostile -l READY_FILE [-r SEED] [-p SPOIL_PERCENT]      only the server, for other clients
 *
 *   child: hostile server (hostile_replies.c) <──TCP── this process: rounds of mount, portmapper and 300 calls of all
 * procedures
 *
 * Checked in every round: each call completes exactly once, with a message unless it is ok; what a reply points to can
 * be read; the round ends (a watchdog aborts after 20 s); memory stays below a bound. Run under ASan and UBSan for the
 * rest. Exit status 0, and one line of figures.
 */
#include "hostile_replies.h"
#include "nfs3_client.h"
#include "portmap_client.h"
#include "xdr_cursor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_CALLS        300
#define WINDOW         16
#define TIMEOUT_NS     (25 * NS_PER_MS) /* silence is one of the answers; the less of it the more is tried */
#define ROUND_LIMIT_S  20
#define RSS_LIMIT_KIB  (1500 * 1024) /* sanitizers keep freed memory in quarantine */
#define CONNECTIONS    64
#define CALL_MAX_BYTES (2u << 20)

/* ---- the server ---- */

struct peer {
    int fd;
    uint8_t *in;
    size_t n_in;
    struct hostile_stream out;
};

static void hang_up(struct peer *p, bool is_reset)
{
    struct linger linger = {1, 0};
    if (is_reset)
        setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(p->fd);
    free(p->in);
    hostile_stream_fini(&p->out);
    memset(p, 0, sizeof *p);
    p->fd = -1;
}

/* What was asked is answered; false when the peer is gone. */
static bool serve(struct peer *p, struct rng *rng, unsigned spoil_percent)
{
    ssize_t n = recv(p->fd, p->in + p->n_in, CALL_MAX_BYTES - p->n_in, 0);
    if (n <= 0)
        return hang_up(p, false), false;
    p->n_in += (size_t)n;
    size_t at = 0;
    enum hostile_end end = HOSTILE_GO_ON;
    while (end == HOSTILE_GO_ON && p->n_in - at >= 4) {
        size_t bytes = xdr_load_u32(p->in + at) & 0x7fffffff;
        if (p->n_in - at < 4 + bytes)
            break;
        end = hostile_answer(&p->out, rng, spoil_percent, p->in + at + 4, bytes);
        at += 4 + bytes;
    }
    memmove(p->in, p->in + at, p->n_in - at);
    p->n_in -= at;
    for (size_t sent = 0; sent < p->out.bytes;) {
        n = send(p->fd, p->out.data + sent, p->out.bytes - sent, MSG_NOSIGNAL);
        if (n <= 0)
            return hang_up(p, false), false;
        sent += (size_t)n;
    }
    p->out.bytes = 0;
    if (end != HOSTILE_GO_ON)
        hang_up(p, end == HOSTILE_RESET);
    return end == HOSTILE_GO_ON;
}

static void run_server(int listener, uint64_t seed, unsigned spoil_percent)
{
    static struct peer peers[CONNECTIONS];
    struct rng rng;
    rng_seed(&rng, seed, 0);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        peers[i].fd = -1;
    for (;;) {
        struct pollfd fds[CONNECTIONS + 1];
        for (unsigned i = 0; i < CONNECTIONS; i++)
            fds[i] = (struct pollfd){.fd = peers[i].fd, .events = POLLIN};
        fds[CONNECTIONS] = (struct pollfd){.fd = listener, .events = POLLIN};
        if (poll(fds, CONNECTIONS + 1, -1) < 0)
            continue;
        for (unsigned i = 0; i < CONNECTIONS; i++) {
            if (fds[i].revents && peers[i].fd >= 0)
                serve(&peers[i], &rng, spoil_percent);
        }
        if (!(fds[CONNECTIONS].revents & POLLIN))
            continue;
        int fd = accept(listener, NULL, NULL);
        unsigned i = 0;
        while (i < CONNECTIONS && peers[i].fd >= 0)
            i++;
        if (fd < 0 || i == CONNECTIONS) {
            if (fd >= 0)
                close(fd);
            continue;
        }
        /* A client that stopped reading would stop this server: its connection goes instead. */
        struct timeval limit = {.tv_sec = 1};
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        peers[i].fd = fd;
        peers[i].in = malloc(CALL_MAX_BYTES);
        if (!peers[i].in)
            abort();
    }
}

/* ---- the client ---- */

struct figures {
    uint64_t rounds, mounts_refused, calls, by_result[5], portmaps, reconnects, unknown_xids;
};

struct round {
    struct event_base *base;
    struct nfs3_client *client;
    struct nfs3_call calls[WINDOW];
    unsigned number[WINDOW];
    uint8_t n_completions[N_CALLS];
    unsigned n_sent, n_done;
    int ready_error;
    struct rng rng;
    struct figures *figures;
    uint64_t sink;
};

static uint8_t data[NFS3_TRANSFER_MAX];

static void on_ready(struct nfs3_client *client, int error, const char *message, void *arg)
{
    struct round *r = arg;
    (void)client;
    if (error && !message[0])
        abort();
    r->ready_error = error;
    event_base_loopbreak(r->base);
}

static uint64_t sum(const void *bytes, size_t n)
{
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++)
        s += ((const uint8_t *)bytes)[i];
    return s;
}

/* Touches all that the reply points to, for the sanitizer. */
static uint64_t read_all(const struct nfs3_call *call, const struct nfs3_reply *reply)
{
    uint64_t s = 0;
    if (reply->attributes)
        s += sum(reply->attributes, sizeof *reply->attributes);
    if (reply->dir_attributes)
        s += sum(reply->dir_attributes, sizeof *reply->dir_attributes);
    if (reply->fh)
        s += sum(reply->fh->data, reply->fh->len);
    if (reply->status)
        return s;
    if (call->op == NFS_OP_READ) {
        if (reply->read.count > call->read.count)
            abort();
        s += sum(reply->read.data, reply->read.count);
    } else if (call->op == NFS_OP_READLINK) {
        s += sum(reply->readlink.path, reply->readlink.len);
    } else if (call->op == NFS_OP_READDIR || call->op == NFS_OP_READDIRPLUS) {
        for (uint32_t i = 0; i < reply->readdir.n; i++) {
            const struct nfs3_dir_entry *e = &reply->readdir.entries[i];
            if (e->name_len == 0 || e->name_len > NFS3_NAME_MAX || (e->fh && e->fh->len > NFS3_FH_MAX))
                abort();
            s += sum(e->name, e->name_len);
            s += e->fh ? sum(e->fh->data, e->fh->len) : 0;
            s += e->attributes ? e->attributes->fileid : 0;
        }
    }
    return s;
}

static void send_next(struct round *r, unsigned slot);

static void on_done(struct nfs3_call *call, const struct nfs3_reply *reply)
{
    struct round *r = call->owner;
    unsigned slot = (unsigned)(call - r->calls);
    if (++r->n_completions[r->number[slot]] != 1)
        abort();
    if (reply->result == NFS3_CALL_OK)
        r->sink += read_all(call, reply);
    else if (!reply->message || !reply->message[0])
        abort();
    if (call->sent.ns < call->started.ns || call->done.ns < call->sent.ns)
        abort();
    r->figures->by_result[reply->result]++;
    r->n_done++;
    if (r->n_sent < N_CALLS)
        send_next(r, slot);
    else if (r->n_done == N_CALLS)
        event_base_loopbreak(r->base);
}

static void fill(struct round *r, struct nfs3_call *call)
{
    const struct nfs3_fh *root = nfs3_client_root(r->client);
    static const uint32_t counts[] = {0, 1, 512, 4096, 4097, 65536, 1048576};
    uint32_t count = counts[rng_below(&r->rng, rng_below(&r->rng, 10) ? 5 : 7)];
    *call = (struct nfs3_call){.op = (enum nfs_op)rng_below(&r->rng, NFS_OP_COUNT), .fh = root, .name = "name"};
    switch (call->op) {
    case NFS_OP_READ:
        call->read.count = count;
        break;
    case NFS_OP_WRITE:
        call->write.count = count;
        call->write.data = data;
        break;
    case NFS_OP_SYMLINK:
        call->symlink.path = "path";
        break;
    case NFS_OP_MKNOD:
        call->mknod.type = NFS3_FIFO;
        break;
    case NFS_OP_RENAME:
        call->rename.to_dir = root;
        call->rename.to_name = "other";
        break;
    case NFS_OP_LINK:
        call->link.dir = root;
        break;
    case NFS_OP_READDIR:
        call->readdir.count = 65536;
        break;
    case NFS_OP_READDIRPLUS:
        call->readdirplus.maxcount = 65536;
        break;
    default:
        break;
    }
}

static void send_next(struct round *r, unsigned slot)
{
    struct nfs3_call *call = &r->calls[slot];
    fill(r, call);
    call->on_done = on_done;
    call->owner = r;
    r->number[slot] = r->n_sent++;
    r->figures->calls++;
    if (nfs3_send(r->client, call) != 0)
        abort();
}

static void on_port(uint16_t port, int error, const char *message, void *arg)
{
    struct round *r = arg;
    if (error ? !message[0] : !port)
        abort();
    r->figures->portmaps++;
    event_base_loopbreak(r->base);
}

static void ask_portmapper(struct round *r, const char *host, uint16_t port)
{
    struct rpc_connect_options options = {.host = host, .port = port, .timeout_ns = TIMEOUT_NS};
    if (!portmap_client_start(r->base, &options, 100003, 3, on_port, r))
        abort();
    event_base_dispatch(r->base);
}

static void run_round(struct round *r, enum nfs3_engine_kind engine, uint16_t port)
{
    struct nfs3_client_options options = {.engine = engine,
                                          .server = "127.0.0.1",
                                          .export_path = "/export",
                                          .nfs_port = port,
                                          .mount_port = port,
                                          .n_connections = (uint32_t)rng_below(&r->rng, 3) + 1,
                                          .timeout_ns = TIMEOUT_NS,
                                          .machine_name = "fuzz"};
    alarm(ROUND_LIMIT_S);
    if (r->figures->rounds++ % 4 == 0)
        ask_portmapper(r, "127.0.0.1", port);
    r->client = nfs3_client_create(r->base, &options, on_ready, r);
    if (!r->client)
        abort();
    event_base_dispatch(r->base);
    if (r->ready_error) {
        r->figures->mounts_refused++;
    } else {
        unsigned n_cut = rng_below(&r->rng, 8) ? N_CALLS : (unsigned)rng_below(&r->rng, N_CALLS);
        for (unsigned i = 0; i < WINDOW; i++)
            send_next(r, i);
        /* Now and then the client goes away in the middle, and completes what it has. */
        while (r->n_done < N_CALLS && r->n_done < n_cut)
            event_base_loop(r->base, EVLOOP_ONCE);
        struct nfs3_client_counters counters;
        nfs3_client_counters(r->client, &counters);
        r->figures->reconnects += counters.n_reconnects;
        r->figures->unknown_xids += counters.n_unknown_xid;
    }
    r->n_sent = N_CALLS; /* on_done sends no more */
    nfs3_client_destroy(r->client);
}

static void on_alarm(int signal_number)
{
    static const char message[] = "a round did not end\n";
    (void)signal_number;
    if (write(2, message, sizeof message - 1) < 0)
        _exit(3);
    abort();
}

static long rss_kib(void)
{
    long pages = 0, ignored;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &ignored, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static uint16_t listen_somewhere(int *listener)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*listener < 0 || bind(*listener, (struct sockaddr *)&address, len) || listen(*listener, 64) ||
        getsockname(*listener, (struct sockaddr *)&address, &len))
        abort();
    return ntohs(address.sin_port);
}

/* Written whole or not at all, as the programs of nfscurve do it. */
static void tell_ready(const char *path, uint16_t port)
{
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *f = fopen(temporary, "w");
    if (!f)
        abort();
    fprintf(f, "{\"address\":\"127.0.0.1\",\"port\":%u,\"pid\":%d,\"export\":\"/export\"}\n", port, getpid());
    fclose(f);
    if (rename(temporary, path) != 0)
        abort();
}

int main(int argc, char **argv)
{
    enum nfs3_engine_kind engine = NFS3_ENGINE_NATIVE;
    int option, listener, seconds = 5;
    uint64_t seed = 1;
    unsigned spoil_percent = 25;
    const char *ready_file = NULL;
    while ((option = getopt(argc, argv, "e:s:r:p:l:")) != -1) {
        if (option == 'e')
            engine = strcmp(optarg, "libnfs") == 0 ? NFS3_ENGINE_LIBNFS : NFS3_ENGINE_NATIVE;
        else if (option == 's')
            seconds = atoi(optarg);
        else if (option == 'r')
            seed = strtoull(optarg, NULL, 10);
        else if (option == 'p')
            spoil_percent = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'l')
            ready_file = optarg;
        else
            return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    uint16_t port = listen_somewhere(&listener);
    if (ready_file) {
        tell_ready(ready_file, port);
        run_server(listener, seed, spoil_percent);
    }
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        run_server(listener, seed, spoil_percent);
        _exit(0);
    }
    close(listener);
    signal(SIGALRM, on_alarm);

    struct figures f = {0};
    struct event_config *config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    long rss_most = 0;
    mono_t end = mono_plus_ns(mono_now(), seconds * NS_PER_S);
    for (uint64_t i = 0; mono_before(mono_now(), end); i++) {
        struct round r = {.figures = &f};
        rng_seed(&r.rng, seed, i + 1);
        r.base = event_base_new_with_config(config);
        run_round(&r, engine, port);
        event_base_free(r.base);
        long rss = rss_kib();
        rss_most = rss > rss_most ? rss : rss_most;
        if (rss > RSS_LIMIT_KIB) {
            fprintf(stderr, "memory grew to %ld KiB in round %llu\n", rss, (unsigned long long)i);
            abort();
        }
    }
    alarm(0);
    event_config_free(config);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("rounds=%llu mounts_refused=%llu portmaps=%llu calls=%llu ok=%llu rpc_error=%llu broken=%llu timeout=%llu "
           "malformed=%llu "
           "reconnects=%llu unknown_xid=%llu rss_most_kib=%ld\n",
           (unsigned long long)f.rounds, (unsigned long long)f.mounts_refused, (unsigned long long)f.portmaps,
           (unsigned long long)f.calls, (unsigned long long)f.by_result[0], (unsigned long long)f.by_result[1],
           (unsigned long long)f.by_result[2], (unsigned long long)f.by_result[3], (unsigned long long)f.by_result[4],
           (unsigned long long)f.reconnects, (unsigned long long)f.unknown_xids, rss_most);
    return f.by_result[0] && f.by_result[4] ? 0 : 1;
}
