/* Connecting without blocking: every outcome comes once, from the loop. */
#include "clock.h"
#include "rpc_connect.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static struct event_base *base;
static int n_done, got_fd, got_error;
static char got_message[512];

static void on_done(int fd, int error, const char *message, void *arg)
{
    (void)arg;
    n_done++;
    got_fd = fd;
    got_error = error;
    snprintf(got_message, sizeof got_message, "%s", message);
    event_base_loopbreak(base);
}

/* A listening socket on loopback, or, when `is_closed`, a port where nobody listens. */
static uint16_t some_port(bool is_closed)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, len), 0);
    if (!is_closed)
        cr_assert_eq(listen(fd, 8), 0); /* bound and not listening: refused, and nobody else gets the port */
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    return ntohs(address.sin_port);
}

static void connect_to(const struct rpc_connect_options *options)
{
    base = event_base_new();
    cr_assert_not_null(rpc_connect_start(base, options, on_done, NULL));
    cr_assert_eq(n_done, 0, "not from inside rpc_connect_start");
    event_base_dispatch(base);
    cr_assert_eq(n_done, 1);
}

Test(rpc_connect, a_numeric_address_connects_with_the_options_of_a_long_lived_connection)
{
    struct rpc_connect_options o = {
        .host = "127.0.0.1", .port = some_port(false), .timeout_ns = 20 * NS_PER_S, .user_timeout_ns = 7 * NS_PER_S};
    connect_to(&o);
    cr_assert(got_error == 0 && got_fd >= 0);
    int keepalive = 0, nodelay = 0;
    unsigned user_timeout_ms = 0;
    socklen_t len = sizeof(int);
    getsockopt(got_fd, SOL_SOCKET, SO_KEEPALIVE, &keepalive, &len);
    getsockopt(got_fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, &len);
    getsockopt(got_fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, &len);
    cr_assert(keepalive && nodelay && user_timeout_ms == 7000);
    char name[64];
    cr_assert_eq(strncmp(rpc_connect_peer_name(got_fd, name), "127.0.0.1:", 10), 0);
}

Test(rpc_connect, a_name_is_looked_up_by_the_helper)
{
    struct addrinfo *known = NULL;
    if (getaddrinfo("localhost", NULL, NULL, &known) != 0) {
        cr_skip_test("this machine has no /etc/hosts that names localhost");
    }
    freeaddrinfo(known);
    struct rpc_connect_options o = {.host = "localhost", .port = some_port(false), .timeout_ns = 20 * NS_PER_S};
    connect_to(&o); /* ::1 may come first and refuse; then 127.0.0.1 follows */
    cr_assert_eq(got_error, 0, "%s", got_message);
}

Test(rpc_connect, the_source_address_is_used)
{
    struct rpc_connect_options o = {
        .host = "127.0.0.1", .port = some_port(false), .source_address = "127.0.0.77", .timeout_ns = 20 * NS_PER_S};
    connect_to(&o);
    char name[64];
    cr_assert_eq(got_error, 0);
    cr_assert_eq(strncmp(rpc_connect_local_name(got_fd, name), "127.0.0.77:", 11), 0);
}

Test(rpc_connect, refused_names_the_place)
{
    struct rpc_connect_options o = {.host = "127.0.0.1", .port = some_port(true), .timeout_ns = 20 * NS_PER_S};
    char port[8];
    connect_to(&o);
    cr_assert(got_fd == -1 && got_error == -ECONNREFUSED);
    snprintf(port, sizeof port, "%u", o.port);
    cr_assert(strstr(got_message, "127.0.0.1") && strstr(got_message, port) && strstr(got_message, "refused"));
}

Test(rpc_connect, a_source_address_that_is_not_ours_is_told)
{
    struct rpc_connect_options o = {
        .host = "127.0.0.1", .port = some_port(false), .source_address = "192.0.2.1", .timeout_ns = 20 * NS_PER_S};
    connect_to(&o);
    cr_assert_eq(got_error, -EADDRNOTAVAIL);
    cr_assert(strstr(got_message, "source_address 192.0.2.1"), "%s", got_message);
}

Test(rpc_connect, a_source_address_of_the_other_family_is_told)
{
    struct rpc_connect_options o = {
        .host = "127.0.0.1", .port = some_port(false), .source_address = "::1", .timeout_ns = 20 * NS_PER_S};
    connect_to(&o);
    cr_assert_eq(got_error, -EADDRNOTAVAIL);
}

Test(rpc_connect, a_source_address_that_is_none_is_told)
{
    struct rpc_connect_options o = {
        .host = "127.0.0.1", .port = some_port(false), .source_address = "eth0", .timeout_ns = 20 * NS_PER_S};
    connect_to(&o);
    cr_assert_lt(got_error, 0);
    cr_assert(strstr(got_message, "source_address \"eth0\" is no IP address"), "%s", got_message);
}

Test(rpc_connect, no_time_left_is_a_time_out)
{
    /* A queue of one that is full: the handshake is not answered. */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(listener, (struct sockaddr *)&address, len), 0);
    cr_assert_eq(listen(listener, 0), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    for (int i = 0; i < 3; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        cr_assert(connect(fd, (struct sockaddr *)&address, len) == 0 || errno == EINPROGRESS);
    }
    struct rpc_connect_options o = {.host = "127.0.0.1", .port = ntohs(address.sin_port), .timeout_ns = NS_PER_MS};
    connect_to(&o);
    cr_assert_eq(got_error, -ETIMEDOUT);
}

Test(rpc_connect, cancelled_it_never_completes)
{
    struct addrinfo *known = NULL;
    if (getaddrinfo("localhost", NULL, NULL, &known) != 0) {
        cr_skip_test("this machine has no /etc/hosts that names localhost");
    }
    freeaddrinfo(known);
    struct rpc_connect_options o = {.host = "localhost", .port = some_port(false), .timeout_ns = 20 * NS_PER_S};
    base = event_base_new();
    struct rpc_connect *c = rpc_connect_start(base, &o, on_done, NULL);
    event_base_loop(base, EVLOOP_ONCE); /* the first step only: the look-up is under way */
    cr_assert_eq(n_done, 0);
    rpc_connect_cancel(c);
    event_base_loop(base, EVLOOP_NONBLOCK);
    cr_assert_eq(n_done, 0);
    cr_assert_eq(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0);
}
