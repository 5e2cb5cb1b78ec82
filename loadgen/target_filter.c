/* target_filter.c - see target_filter.h. */
#include "target_filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static bool parse_address(const char *text, bool *is_ipv6, uint8_t out[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    memset(out, 0, 16);
    *is_ipv6 = false;
    if (inet_pton(AF_INET, text, out) == 1) {
        return true;
    }
    if (inet_pton(AF_INET6, text, out) != 1) {
        return false;
    }
    *is_ipv6 = true;
    /* The kernel reaches a.b.c.d through it, so it must not pass by as an IPv6 address. */
    if (memcmp(out, mapped, sizeof(mapped)) == 0) {
        memmove(out, out + 12, 4);
        memset(out + 4, 0, 12);
        *is_ipv6 = false;
    }
    return true;
}

static bool has_prefix(const uint8_t address[16], const uint8_t prefix[16], unsigned bits)
{
    if (memcmp(address, prefix, bits / 8) != 0) {
        return false;
    }
    return bits % 8 == 0 || ((address[bits / 8] ^ prefix[bits / 8]) >> (8 - bits % 8)) == 0;
}

int target_filter_add(struct target_filter *filter, const char *cidr)
{
    char address[64], *end = NULL;
    const char *slash = strchr(cidr, '/');
    size_t length = slash ? (size_t)(slash - cidr) : strlen(cidr);
    struct target_range range = {0};

    if (filter->n == TARGET_FILTER_MAX_RANGES) {
        return -ENOSPC;
    }
    if (length >= sizeof(address)) {
        return -EINVAL;
    }
    memcpy(address, cidr, length);
    address[length] = 0;
    if (!parse_address(address, &range.is_ipv6, range.address)) {
        return -EINVAL;
    }
    unsigned long max = range.is_ipv6 ? 128 : 32, bits = max;
    if (slash) {
        bits = strtoul(slash + 1, &end, 10);
        if (slash[1] < '0' || slash[1] > '9' || *end || bits > max) {
            return -EINVAL;
        }
    }
    range.prefix_bits = (uint8_t)bits;
    /* 10.1.2.3/8 is more often a slip than a wish. */
    for (unsigned i = (unsigned)bits; i < max; i++) {
        if (range.address[i / 8] & (0x80 >> (i % 8))) {
            return -EINVAL;
        }
    }
    filter->ranges[filter->n++] = range;
    return 0;
}

bool target_filter_allows(const struct target_filter *filter, const char *text)
{
    uint8_t address[16];
    bool is_ipv6;

    if (!parse_address(text, &is_ipv6, address)) {
        return false;
    }
    for (uint32_t i = 0; i < filter->n; i++) {
        const struct target_range *r = &filter->ranges[i];
        if (r->is_ipv6 == is_ipv6 && has_prefix(address, r->address, r->prefix_bits)) {
            return true;
        }
    }
    return filter->n == 0;
}

int target_filter_resolve(const struct target_filter *filter, const char *server, char *out, size_t out_cap,
                          char *message, size_t cap)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int status, error = -EACCES;

    if (filter->n == 0) {
        snprintf(out, out_cap, "%s", server);
        return 0;
    }
    status = getaddrinfo(server, NULL, &hints, &found);
    if (status != 0) {
        snprintf(message, cap, "target %s: %s", server, gai_strerror(status));
        return -EHOSTUNREACH;
    }
    for (struct addrinfo *a = found; a && error; a = a->ai_next) {
        if (getnameinfo(a->ai_addr, a->ai_addrlen, out, (socklen_t)out_cap, NULL, 0, NI_NUMERICHOST) == 0 &&
            target_filter_allows(filter, out)) {
            error = 0;
        }
    }
    freeaddrinfo(found);
    if (error) {
        snprintf(message, cap, "target %s is outside the ranges that this load generator may drive (--allow-target)",
                 server);
    }
    return error;
}
