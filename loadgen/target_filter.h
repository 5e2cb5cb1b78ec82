/* target_filter.h - which servers this load generator may drive: --allow-target CIDR.
 *
 * Without any range everything is allowed: who holds the key may choose the target. With ranges, a target outside all
 * of them is refused at CONFIGURE, before anything is sent to it. Names are looked up once, here, and the address that
 * was checked is the one that is used.
 */
#ifndef NFSCURVE_LOADGEN_TARGET_FILTER_H
#define NFSCURVE_LOADGEN_TARGET_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARGET_FILTER_MAX_RANGES 64

struct target_range {
    bool is_ipv6;
    uint8_t prefix_bits;
    uint8_t address[16]; /* IPv4: the first four */
};

struct target_filter {
    uint32_t n;
    struct target_range ranges[TARGET_FILTER_MAX_RANGES];
};

/* Adds "10.1.0.0/16", "fd00::/8" or a single address. 0, -EINVAL (not a range, or bits set behind the prefix), -ENOSPC.
 */
int target_filter_add(struct target_filter *filter, const char *cidr);

/* A numeric address. False also for what is none. An IPv4 address written as ::ffff:a.b.c.d is judged as IPv4. */
bool target_filter_allows(const struct target_filter *filter, const char *address);

/* Looks `server` up when it is a name and there are ranges, and leaves in out the numeric address to use (server itself
 * when there are no ranges). 0, -EACCES, or -EHOSTUNREACH for an unknown name; the reason in message. Blocks while a
 * name is looked up. */
int target_filter_resolve(const struct target_filter *filter, const char *server, char *out, size_t out_cap,
                          char *message, size_t cap);

#endif
