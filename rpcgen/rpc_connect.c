/* rpc_connect.c - see rpc_connect.h. */
#include "rpc_connect.h"

#include "clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define RESERVED_HIGH 1023
#define RESERVED_LOW  600 /* below lie ports of well-known daemons, as in bindresvport(3) */

/* Shared by the loop and the helper thread; freed by whoever lets go last. */
struct lookup {
    atomic_int refs;
    int event_fd; /* becomes readable when result is there */
    char *host;
    char service[8];
    int gai_error;
    struct addrinfo *result;
};

struct rpc_connect {
    struct event_base *base; /* (ref) */
    rpc_connect_cb on_done;
    void *arg;
    struct rpc_connect_options options;
    char *host, *source_address; /* what options.host and options.source_address point to */
    mono_t deadline;
    struct event *event; /* the next thing waited for: the first step, the look-up, or the socket */
    struct lookup *lookup;
    struct addrinfo *addresses, *next;
    int fd;
    int last_error;
    char last_address[64];
};

static void on_event(evutil_socket_t fd, short what, void *arg);

static void lookup_put(struct lookup *l)
{
    if (!l || atomic_fetch_sub(&l->refs, 1) != 1)
        return;
    if (l->result)
        freeaddrinfo(l->result);
    if (l->event_fd >= 0)
        close(l->event_fd);
    free(l->host);
    free(l);
}

static void *lookup_thread(void *arg)
{
    struct lookup *l = arg;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    l->gai_error = getaddrinfo(l->host, l->service, &hints, &l->result);
    uint64_t one = 1;
    if (write(l->event_fd, &one, sizeof one) < 0)
        l->gai_error = EAI_SYSTEM; /* cannot happen with an eventfd at 0; the owner's time-out would cover it */
    lookup_put(l);
    return NULL;
}

/* Starts the helper thread. 0 or -errno. */
static int lookup_start(struct rpc_connect *c)
{
    struct lookup *l = calloc(1, sizeof *l);
    if (!l)
        return -ENOMEM;
    atomic_init(&l->refs, 2);
    snprintf(l->service, sizeof l->service, "%u", c->options.port);
    l->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->host = strdup(c->host);
    int error = l->event_fd < 0 ? -errno : l->host ? 0 : -ENOMEM;
    if (!error) {
        sigset_t all, old;
        pthread_attr_t attr;
        pthread_t thread;
        sigfillset(&all);
        pthread_attr_init(&attr);
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        error = -pthread_create(&thread, &attr, lookup_thread, l);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        pthread_attr_destroy(&attr);
    }
    if (error) {
        atomic_store(&l->refs, 1);
        lookup_put(l);
        return error;
    }
    c->lookup = l;
    return 0;
}

static void free_connect(struct rpc_connect *c)
{
    if (c->event)
        event_free(c->event);
    lookup_put(c->lookup);
    if (c->addresses)
        freeaddrinfo(c->addresses);
    if (c->fd >= 0)
        close(c->fd);
    free(c->host);
    free(c->source_address);
    free(c);
}

static void finish(struct rpc_connect *c, int error, const char *why)
{
    char message[512] = "";
    int fd = -1;
    if (error) {
        snprintf(message, sizeof message, "connect to %s port %u%s%s: %s", c->host, c->options.port,
                 c->last_address[0] ? " at " : "", c->last_address, why);
    } else {
        fd = c->fd;
        c->fd = -1;
    }
    rpc_connect_cb on_done = c->on_done;
    void *arg = c->arg;
    free_connect(c);
    on_done(fd, error, message, arg);
}

/* Replaces what is waited for. fd -1: only the time. */
static int wait_for(struct rpc_connect *c, int fd, short what)
{
    if (c->event)
        event_free(c->event);
    c->event = event_new(c->base, fd, what, on_event, c);
    int64_t left_ns = mono_since_ns(c->deadline, mono_now());
    if (left_ns < 0)
        left_ns = 0;
    struct timeval tv = {left_ns / NS_PER_S, left_ns % NS_PER_S / NS_PER_US};
    return c->event && event_add(c->event, &tv) == 0 ? 0 : -ENOMEM;
}

static char *name_of(const struct sockaddr *address, socklen_t len, char out[static 64])
{
    char host[48], service[8];
    int flags = NI_NUMERICHOST | NI_NUMERICSERV;
    if (getnameinfo(address, len, host, sizeof host, service, sizeof service, flags) != 0)
        snprintf(out, 64, "?");
    else
        snprintf(out, 64, address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, service);
    return out;
}

char *rpc_connect_local_name(int fd, char out[static 64])
{
    struct sockaddr_storage ss = {0};
    socklen_t len = sizeof ss;
    if (getsockname(fd, (struct sockaddr *)&ss, &len) == 0)
        return name_of((struct sockaddr *)&ss, len, out);
    snprintf(out, 64, "?");
    return out;
}

char *rpc_connect_peer_name(int fd, char out[static 64])
{
    struct sockaddr_storage ss = {0};
    socklen_t len = sizeof ss;
    if (getpeername(fd, (struct sockaddr *)&ss, &len) == 0)
        return name_of((struct sockaddr *)&ss, len, out);
    snprintf(out, 64, "?");
    return out;
}

static void set_port(struct sockaddr_storage *ss, uint16_t port)
{
    if (ss->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)ss)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)ss)->sin_port = htons(port);
}

static int bind_reserved(int fd, struct sockaddr_storage *ss, socklen_t len)
{
    /* Rotating, so that the ports of connections just closed (TIME_WAIT) come last; by pid, so that processes don't
     * race in step. */
    static unsigned cursor;
    unsigned n = RESERVED_HIGH - RESERVED_LOW + 1;
    if (cursor == 0)
        cursor = (unsigned)getpid() * 61;
    for (unsigned i = 0; i < n; i++) {
        set_port(ss, (uint16_t)(RESERVED_HIGH - cursor++ % n));
        if (bind(fd, (struct sockaddr *)ss, len) == 0)
            return 0;
        if (errno != EADDRINUSE)
            return -errno;
    }
    return -EADDRINUSE;
}

/* Source address and port as asked. 0 or -errno. */
static int bind_source(struct rpc_connect *c, int fd, int family)
{
    struct sockaddr_storage ss = {.ss_family = (sa_family_t)family};
    socklen_t len = family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (c->source_address) {
        struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
        struct addrinfo *found;
        if (getaddrinfo(c->source_address, NULL, &hints, &found) != 0)
            return -EADDRNOTAVAIL;
        memcpy(&ss, found->ai_addr, found->ai_addrlen);
        freeaddrinfo(found);
    }
    if (c->options.reserved_port)
        return bind_reserved(fd, &ss, len);
    if (!c->source_address)
        return 0;
    /* Without this the port is chosen at bind(), alone of its address: 28 k connections in all instead of per server.
     */
    int one = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    return bind(fd, (struct sockaddr *)&ss, len) == 0 ? 0 : -errno;
}

static void set_socket_options(struct rpc_connect *c, int fd)
{
    int one = 1, idle_s = 30, interval_s = 10, n_probes = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &n_probes, sizeof n_probes);
    if (c->options.user_timeout_ns > 0) {
        unsigned ms = (unsigned)(c->options.user_timeout_ns / NS_PER_MS);
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    }
}

/* A port in the ephemeral range that nobody listens on can be given to the very socket that connects to it; TCP's
 * simultaneous open then connects the socket to itself. Seen when a server on a kernel-chosen port restarts. */
static bool is_own_echo(int fd)
{
    char local[64], peer[64];
    return strcmp(rpc_connect_local_name(fd, local), rpc_connect_peer_name(fd, peer)) == 0;
}

static void fail_address(struct rpc_connect *c, int error)
{
    c->last_error = error;
    close(c->fd);
    c->fd = -1;
}

/* Why no address could be connected, with the remedy where it is ours to know. Returns out. */
static char *failure(const struct rpc_connect *c, char *out, size_t cap)
{
    unsigned char parsed[16];
    bool is_numeric = c->source_address && (inet_pton(AF_INET, c->source_address, parsed) == 1 ||
                                            strchr(c->source_address, '%') || /* fe80::1%eth0 */
                                            inet_pton(AF_INET6, c->source_address, parsed) == 1);
    if (c->last_error == -EACCES && c->options.reserved_port)
        snprintf(out, cap, "a reserved source port needs root or CAP_NET_BIND_SERVICE; set reserved_port to false");
    else if (c->last_error == -EADDRINUSE && c->options.reserved_port)
        snprintf(out, cap, "no reserved source port (%d to %d) is free", RESERVED_LOW, RESERVED_HIGH);
    else if (c->source_address && !is_numeric)
        snprintf(out, cap, "source_address \"%.64s\" is no IP address", c->source_address);
    else if (c->source_address && c->last_error == -EADDRNOTAVAIL)
        snprintf(out, cap,
                 "source_address %.46s is no address of this host for that destination; nfscurve hosts lists them",
                 c->source_address);
    else
        snprintf(out, cap, "%s", strerror(-c->last_error));
    return out;
}

/* Tries the remaining addresses until one is under way. */
static void try_next(struct rpc_connect *c)
{
    while (c->next) {
        struct addrinfo *a = c->next;
        c->next = a->ai_next;
        name_of(a->ai_addr, a->ai_addrlen, c->last_address);
        c->fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (c->fd < 0) {
            c->last_error = -errno;
            continue;
        }
        set_socket_options(c, c->fd);
        int error = bind_source(c, c->fd, a->ai_family);
        if (!error && connect(c->fd, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS)
            error = -errno;
        if (!error)
            error = wait_for(c, c->fd, EV_WRITE);
        if (!error)
            return;
        fail_address(c, error);
    }
    char why[160];
    finish(c, c->last_error, failure(c, why, sizeof why));
}

static void connected(struct rpc_connect *c)
{
    int error = 0;
    socklen_t len = sizeof error;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        error = errno;
    if (!error && is_own_echo(c->fd))
        error = ECONNREFUSED;
    if (error) {
        fail_address(c, -error);
        try_next(c);
    } else {
        finish(c, 0, "");
    }
}

/* The first step, from the loop: numeric addresses at once, names by the helper. */
static void resolve(struct rpc_connect *c)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    char service[8];
    snprintf(service, sizeof service, "%u", c->options.port);
    if (getaddrinfo(c->host, service, &hints, &c->addresses) == 0) {
        c->next = c->addresses;
        try_next(c);
        return;
    }
    c->addresses = NULL;
    int error = lookup_start(c);
    if (!error)
        error = wait_for(c, c->lookup->event_fd, EV_READ);
    if (error)
        finish(c, error, strerror(-error));
}

static void resolved(struct rpc_connect *c)
{
    struct lookup *l = c->lookup;
    if (l->gai_error) {
        char why[256];
        snprintf(why, sizeof why, "name look-up: %s", gai_strerror(l->gai_error));
        finish(c, -EHOSTUNREACH, why);
        return;
    }
    c->addresses = c->next = l->result;
    l->result = NULL;
    c->lookup = NULL;
    lookup_put(l);
    try_next(c);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    struct rpc_connect *c = arg;
    if (what & EV_TIMEOUT && !mono_before(mono_now(), c->deadline))
        finish(c, -ETIMEDOUT, c->lookup ? "no answer to the name look-up in time" : "no answer in time");
    else if (c->lookup)
        resolved(c);
    else if (fd >= 0)
        connected(c);
    else
        resolve(c);
}

struct rpc_connect *rpc_connect_start(struct event_base *base, const struct rpc_connect_options *options,
                                      rpc_connect_cb on_done, void *arg)
{
    struct rpc_connect *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->base = base;
    c->on_done = on_done;
    c->arg = arg;
    c->options = *options;
    c->fd = -1;
    c->last_error = -EHOSTUNREACH;
    c->deadline = mono_plus_ns(mono_now(), options->timeout_ns);
    c->host = strdup(options->host);
    c->source_address = options->source_address ? strdup(options->source_address) : NULL;
    if (!c->host || (options->source_address && !c->source_address) || wait_for(c, -1, 0)) {
        free_connect(c);
        return NULL;
    }
    event_active(c->event, EV_READ, 0);
    return c;
}

void rpc_connect_cancel(struct rpc_connect *c)
{
    free_connect(c);
}
