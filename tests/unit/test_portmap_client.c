/* Port look-up against a scripted portmapper in the same event loop. */
#include "clock.h"
#include "portmap_client.h"
#include "xdr_cursor.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the portmapper says to each version. */
enum answer { MISMATCH, ABSENT, PORT, GARBAGE, HANG_UP };

static struct event_base *base;
static struct event *listen_event, *read_event;
static enum answer answers[5]; /* by version */
static uint32_t asked[8], n_asked;
static char netid[16];
static uint16_t got_port;
static int got_error = 1;
static char got_message[512];

static size_t reply_to(uint32_t xid, uint32_t version, uint8_t *out, size_t cap)
{
    struct xdr_writer w = xdr_writer_of(out, cap);
    enum answer a = answers[version];
    uint32_t header[] = {0, xid, 1, 0, 0, 0, a == MISMATCH ? 2 : 0};
    for (size_t i = 0; i < 7; i++)
        xdr_put_u32(&w, header[i]);
    if (a == MISMATCH) {
        xdr_put_u32(&w, 2);
        xdr_put_u32(&w, 2);
    } else if (a == GARBAGE) {
        xdr_put_u32(&w, 0xfffffff0);
    } else if (version == 2) {
        xdr_put_u32(&w, a == PORT ? 2049 : 0);
    } else {
        const char *uaddr = a == PORT ? "::.8.1" : "";
        xdr_put_opaque(&w, uaddr, (uint32_t)strlen(uaddr));
    }
    size_t n = (size_t)(w.at - out);
    xdr_store_u32(out, 0x80000000u | (uint32_t)(n - 4));
    return n;
}

static void on_call(evutil_socket_t fd, short what, void *arg)
{
    uint8_t in[512], out[128];
    uint32_t len;
    (void)what, (void)arg;
    ssize_t n = recv(fd, in, sizeof in, 0);
    if (n <= 0) {
        event_del(read_event);
        return;
    }
    struct xdr_reader r = xdr_reader_of(in, (size_t)n);
    uint32_t words[11];
    for (size_t i = 0; i < 11; i++)
        words[i] = xdr_get_u32(&r); /* mark, xid, call, 2, program, version, procedure, credential, verifier */
    uint32_t version = words[5];
    asked[n_asked++] = version;
    if (version > 2) {
        xdr_get_u32(&r);
        xdr_get_u32(&r);
        const uint8_t *name = xdr_get_opaque(&r, 15, &len);
        snprintf(netid, sizeof netid, "%.*s", (int)len, (const char *)name);
    }
    if (answers[version] == HANG_UP) {
        shutdown(fd, SHUT_RDWR);
        return;
    }
    size_t bytes = reply_to(words[1], version, out, sizeof out);
    cr_assert_eq(send(fd, out, bytes, MSG_NOSIGNAL), (ssize_t)bytes);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
    (void)what, (void)arg;
    int accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
    read_event = event_new(base, accepted, EV_READ | EV_PERSIST, on_call, NULL);
    event_add(read_event, NULL);
}

static void on_port(uint16_t port, int error, const char *message, void *arg)
{
    (void)arg;
    got_port = port;
    got_error = error;
    snprintf(got_message, sizeof got_message, "%s", message);
    event_base_loopbreak(base);
}

static void look_up(const char *host)
{
    struct sockaddr_storage ss = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&ss;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&ss;
    bool is_v6 = strchr(host, ':');
    socklen_t len = is_v6 ? sizeof *v6 : sizeof *v4;
    ss.ss_family = is_v6 ? AF_INET6 : AF_INET;
    if (is_v6)
        inet_pton(AF_INET6, host, &v6->sin6_addr);
    else
        inet_pton(AF_INET, host, &v4->sin_addr);
    base = event_base_new();
    int fd = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (bind(fd, (struct sockaddr *)&ss, len) != 0)
        cr_skip_test("no address %s here", host);
    cr_assert_eq(listen(fd, 8), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&ss, &len), 0);
    listen_event = event_new(base, fd, EV_READ | EV_PERSIST, on_accept, NULL);
    event_add(listen_event, NULL);
    struct rpc_connect_options options = {
        .host = host, .port = ntohs(is_v6 ? v6->sin6_port : v4->sin_port), .timeout_ns = 20 * NS_PER_S};
    cr_assert_not_null(portmap_client_start(base, &options, 100003, 3, on_port, NULL));
    event_base_dispatch(base);
}

Test(portmap_client, ipv4_asks_version_2_first)
{
    answers[2] = PORT;
    look_up("127.0.0.1");
    cr_assert(got_error == 0 && got_port == 2049 && n_asked == 1 && asked[0] == 2);
}

Test(portmap_client, rpcbind_4_and_3_follow_when_2_is_not_offered)
{
    answers[2] = answers[4] = MISMATCH;
    answers[3] = PORT;
    look_up("127.0.0.1");
    cr_assert(got_error == 0 && got_port == 2049 && n_asked == 3 && asked[1] == 4 && asked[2] == 3);
    cr_assert_str_eq(netid, "tcp");
}

Test(portmap_client, ipv6_asks_rpcbind_4_first_and_for_tcp6)
{
    answers[4] = PORT;
    look_up("::1");
    cr_assert(got_error == 0 && got_port == 2049 && n_asked == 1 && asked[0] == 4);
    cr_assert_str_eq(netid, "tcp6");
}

Test(portmap_client, a_program_that_is_not_registered_is_named_with_the_remedy)
{
    answers[2] = answers[3] = answers[4] = ABSENT;
    look_up("127.0.0.1");
    cr_assert_eq(got_error, -ENXIO);
    cr_assert(strstr(got_message, "100003") && strstr(got_message, "not registered") &&
              strstr(got_message, "nfs_port"));
}

Test(portmap_client, a_reply_that_does_not_decode_is_an_error)
{
    answers[2] = GARBAGE;
    look_up("127.0.0.1");
    cr_assert_eq(got_error, -EPROTO);
}

Test(portmap_client, a_connection_that_closes_is_an_error)
{
    answers[2] = HANG_UP;
    look_up("127.0.0.1");
    cr_assert_lt(got_error, 0);
    cr_assert(strstr(got_message, "without a portmapper"));
}

static uint16_t port(const char *uaddr)
{
    return portmap_port_of_uaddr(uaddr, strlen(uaddr));
}

Test(portmap_client, port_of_a_universal_address)
{
    cr_assert_eq(port("10.0.0.1.8.1"), 2049);
    cr_assert_eq(port("::1.78.80"), 78 * 256 + 80);
    cr_assert_eq(port("0.0.0.0.255.255"), 65535);
}

Test(portmap_client, what_is_no_universal_address_has_no_port)
{
    static const char *const bad[] = {
        "", "2049", "1.2", "10.0.0.1.256.1", "10.0.0.1.8.", "10.0.0.1..1", "a.b.c.d.e.f", "10.0.0.1.8.1x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_assert_eq(port(bad[i]), 0, "%s", bad[i]);
}
