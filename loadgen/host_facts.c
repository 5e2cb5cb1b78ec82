/* host_facts.c - see host_facts.h. */
#include "host_facts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Value of the first line of `path` that begins with `key`, after `separator`, trimmed of blanks and quotes. */
static bool read_value(const char *path, const char *key, char separator, char *out, size_t cap)
{
    char line[512];
    bool is_found = false;
    FILE *f = fopen(path, "re");

    if (!f) {
        return false;
    }
    while (!is_found && fgets(line, sizeof(line), f)) {
        char *value = strchr(line, separator);
        if (strncmp(line, key, strlen(key)) != 0 || !value) {
            continue;
        }
        value += 1 + strspn(value + 1, " \t\"");
        value[strcspn(value, "\"\n")] = 0;
        snprintf(out, cap, "%s", value);
        is_found = true;
    }
    fclose(f);
    return is_found;
}

static void read_os(char *out, size_t cap)
{
    char pretty[128] = "Linux";
    struct utsname u;

    read_value("/etc/os-release", "PRETTY_NAME=", '=', pretty, sizeof(pretty));
    if (uname(&u) == 0) {
        snprintf(out, cap, "%.80s, %.10s %.30s", pretty, u.sysname, u.release);
    } else {
        snprintf(out, cap, "%.80s", pretty);
    }
}

static bool is_worth_telling(const struct sockaddr *address)
{
    if (!address) {
        return false;
    }
    if (address->sa_family == AF_INET) {
        return true;
    }
    return address->sa_family == AF_INET6 &&
           !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static void read_addresses(char *out, size_t cap)
{
    struct ifaddrs *all = NULL;
    size_t used = 0;

    out[0] = 0;
    if (getifaddrs(&all) < 0) {
        return;
    }
    for (struct ifaddrs *a = all; a; a = a->ifa_next) {
        char text[INET6_ADDRSTRLEN];
        if ((a->ifa_flags & IFF_LOOPBACK) || !is_worth_telling(a->ifa_addr)) {
            continue;
        }
        socklen_t len = a->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        if (getnameinfo(a->ifa_addr, len, text, sizeof(text), NULL, 0, NI_NUMERICHOST) != 0 ||
            used + strlen(text) + 2 > cap) {
            continue;
        }
        used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? " " : "", text);
    }
    freeifaddrs(all);
}

void host_facts_read(struct host_facts *facts)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE), cpus = sysconf(_SC_NPROCESSORS_ONLN);

    memset(facts, 0, sizeof(*facts));
    if (gethostname(facts->hostname, sizeof(facts->hostname) - 1) < 0) {
        facts->hostname[0] = 0;
    }
    /* ARM kernels name no model; then the architecture has to do. */
    if (!read_value("/proc/cpuinfo", "model name", ':', facts->cpu_model, sizeof(facts->cpu_model))) {
        struct utsname u;
        if (uname(&u) == 0) {
            snprintf(facts->cpu_model, sizeof(facts->cpu_model), "%s", u.machine);
        }
    }
    read_os(facts->os, sizeof(facts->os));
    read_addresses(facts->addresses, sizeof(facts->addresses));
    facts->n_cpus = cpus > 0 ? (uint32_t)cpus : 0;
    facts->memory_bytes = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

struct host_cpu host_cpu_parse(const char *text)
{
    /* user nice system idle iowait irq softirq steal; guest time is within user time. */
    uint64_t t[8] = {0};
    struct host_cpu cpu = {0, 0};
    int n = 0;

    if (strncmp(text, "cpu ", 4) != 0) {
        return cpu;
    }
    for (const char *at = text + 4; n < 8; n++) {
        char *end;
        t[n] = strtoull(at, &end, 10);
        if (end == at || (*end != ' ' && *end != '\n')) {
            break;
        }
        at = end;
    }
    if (n < 4) {
        return cpu;
    }
    for (int i = 0; i < 8; i++) {
        cpu.total += t[i];
    }
    cpu.busy = cpu.total - t[3] - t[4];
    return cpu;
}

struct host_cpu host_cpu_read(void)
{
    char line[512] = "";
    FILE *f = fopen("/proc/stat", "re");

    if (f) {
        if (!fgets(line, sizeof(line), f)) {
            line[0] = 0;
        }
        fclose(f);
    }
    return host_cpu_parse(line);
}

double host_cpu_percent(struct host_cpu from, struct host_cpu to)
{
    if (to.total <= from.total || to.busy < from.busy) {
        return 0;
    }
    return 100.0 * (double)(to.busy - from.busy) / (double)(to.total - from.total);
}
