#include "control_file.h"

#include "path_kind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES  (1 << 20)
#define LINE_BYTES 1200
#define WHY_BYTES  384

/* One line, without comment and newline. */
static int take_line(char *line, struct fault_set *faults, struct latency **latency, char *why, size_t cap)
{
    char *text = line + strspn(line, " \t");
    if (*text == '\0') {
        return 0;
    }
    char *value = text + strcspn(text, " \t");
    if (*value) {
        *value++ = '\0';
        value += strspn(value, " \t");
        /* A curve's file name may hold spaces. */
        for (char *end = value + strlen(value); end > value && strchr(" \t\r", end[-1]); end--) {
            end[-1] = '\0';
        }
    }
    if (strcmp(text, "fault") == 0) {
        return fault_add(faults, value, why, cap);
    }
    if (strcmp(text, "latency") == 0) {
        latency_destroy(*latency);
        *latency = latency_create(value, why, cap);
        return *latency ? 0 : -EINVAL;
    }
    snprintf(why, cap, "'%.60s' is not 'fault RULE' or 'latency MODEL'", text);
    return -EINVAL;
}

int control_file_load(const char *path, struct nfs3_shared *shared, uint64_t seed, char *message, size_t cap)
{
    char line[LINE_BYTES], why[WHY_BYTES];
    unsigned number = 0;
    int error = 0;
    struct latency *latency = NULL;
    struct fault_set *faults = fault_set_create(seed);
    bool is_endless = path_is_endless(path, MAX_BYTES);
    FILE *file = is_endless ? NULL : fopen(path, "re");
    if (!file || !faults) {
        error = is_endless ? -EFBIG : file ? -ENOMEM : -errno;
        snprintf(message, cap, "control file %s: %s", path, strerror(-error));
        goto out;
    }
    while (fgets(line, sizeof line, file)) {
        number++;
        line[strcspn(line, "#\n")] = '\0';
        error = take_line(line, faults, &latency, why, sizeof why);
        if (error) {
            snprintf(message, cap, "%s:%u: %s", path, number, why);
            goto out;
        }
    }
    fault_replace(shared->faults, faults);
    if (latency) {
        struct latency *old = atomic_exchange(&shared->latency, latency);
        shared->retired = old ? latency_retire(old, shared->retired) : shared->retired;
        latency = NULL;
    }
out:
    if (file) {
        fclose(file);
    }
    latency_destroy(latency);
    fault_set_destroy(faults);
    return error;
}
