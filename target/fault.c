#include "fault.h"
#include "rng.h"
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RULE_MAX_BYTES 256u

struct rule {
    uint32_t ops;         /* bit per operation */
    uint64_t first, last; /* index; 0: not asked for */
    uint64_t every;       /* 0: not asked for */
    double probability;   /* < 0: not asked for */
    uint64_t times;       /* hits left */
    uint64_t n_calls;
    struct fault_action action;
};

struct fault_set {
    pthread_mutex_t lock;
    atomic_uint n_rules;
    struct rule *rules;
    struct rng rng;
};

static const struct {
    const char *name;
    enum fault_kind kind;
    enum { NO_VALUE, STATUS_VALUE, DURATION_VALUE, BYTES_VALUE } value;
} actions[FAULT_KIND_COUNT] = {
    {"status", FAULT_STATUS, STATUS_VALUE},
    {"delay", FAULT_DELAY, DURATION_VALUE},
    {"drop", FAULT_DROP, NO_VALUE},
    {"reset", FAULT_RESET, NO_VALUE},
    {"duplicate", FAULT_DUPLICATE, NO_VALUE},
    {"garbage", FAULT_GARBAGE, NO_VALUE},
    {"truncate", FAULT_TRUNCATE, BYTES_VALUE},
    {"wrong_xid", FAULT_WRONG_XID, NO_VALUE},
    {"short_read", FAULT_SHORT_READ, BYTES_VALUE},
    {"wrong_data", FAULT_WRONG_DATA, NO_VALUE},
    {"ignore_cookie", FAULT_IGNORE_COOKIE, NO_VALUE},
    {"found", FAULT_FOUND, NO_VALUE},
    {"wrong_attributes", FAULT_WRONG_ATTRIBUTES, NO_VALUE},
    {"new_verifier", FAULT_NEW_VERIFIER, NO_VALUE},
    {"pause", FAULT_PAUSE, DURATION_VALUE},
};

static const char *const mount_names[] = {"mount_null", "mnt", "dump", "umnt", "umntall", "export"};

struct fault_set *fault_set_create(uint64_t seed)
{
    struct fault_set *set = calloc(1, sizeof *set);
    if (set) {
        pthread_mutex_init(&set->lock, NULL);
        rng_seed(&set->rng, seed, 1);
    }
    return set;
}

void fault_set_destroy(struct fault_set *set)
{
    if (set) {
        pthread_mutex_destroy(&set->lock);
        free(set->rules);
        free(set);
    }
}

static int parse_one_op(const char *name, uint32_t *ops)
{
    enum nfs_op op;
    if (strcasecmp(name, "any") == 0) {
        *ops |= (UINT32_C(1) << NFS_OP_COUNT) - 1;
        return 0;
    }
    for (unsigned i = 0; i < sizeof mount_names / sizeof *mount_names; i++) {
        if (strcasecmp(name, mount_names[i]) == 0) {
            *ops |= UINT32_C(1) << (FAULT_OP_MOUNT + i);
            return 0;
        }
    }
    if (nfs_op_parse(name, &op) < 0) {
        return -EINVAL;
    }
    *ops |= UINT32_C(1) << op;
    return 0;
}

static int parse_status(const char *text, uint32_t *status)
{
    static const struct {
        const char *name;
        uint32_t status;
    } mount_status[] = {{"MNT3ERR_PERM", 1},        {"MNT3ERR_NOENT", 2},          {"MNT3ERR_IO", 5},
                        {"MNT3ERR_ACCES", 13},      {"MNT3ERR_NOTDIR", 20},        {"MNT3ERR_INVAL", 22},
                        {"MNT3ERR_NOTSUPP", 10004}, {"MNT3ERR_SERVERFAULT", 10006}};
    for (unsigned i = 0; i < NFS_STATUS_COUNT; i++) {
        if (nfs_status_value(i) != UINT32_MAX && strcasecmp(text, nfs_status_name(i)) == 0) {
            *status = nfs_status_value(i);
            return 0;
        }
    }
    for (unsigned i = 0; i < sizeof mount_status / sizeof *mount_status; i++) {
        if (strcasecmp(text, mount_status[i].name) == 0) {
            *status = mount_status[i].status;
            return 0;
        }
    }
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno || end == text || *end || number == 0 || number > UINT32_MAX) {
        return -EINVAL;
    }
    *status = (uint32_t)number;
    return 0;
}

static int parse_count(const char *text, uint64_t *count)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || value == 0 || text[0] == '-') {
        return -EINVAL;
    }
    *count = value;
    return 0;
}

static int parse_index(struct rule *rule, char *text)
{
    char *dash = strchr(text, '-');
    if (dash) {
        *dash = '\0';
    }
    int error = parse_count(text, &rule->first);
    if (!error) {
        rule->last = rule->first;
        error = dash ? parse_count(dash + 1, &rule->last) : 0;
    }
    return error || rule->last < rule->first ? -EINVAL : 0;
}

static int parse_probability(struct rule *rule, const char *text)
{
    char *end;
    rule->probability = strtod(text, &end);
    return end == text || *end || !(rule->probability >= 0 && rule->probability <= 1) ? -EINVAL : 0;
}

/* 0, -ENOENT: no action of that name, -EINVAL: a value that does not fit. */
static int parse_action(struct fault_action *action, const char *name, const char *value)
{
    uint64_t bytes;
    if (strcmp(name, "jukebox") == 0) {
        *action = (struct fault_action){.kind = FAULT_STATUS, .status = 10008};
        return value ? -EINVAL : 0;
    }
    for (unsigned i = 0; i < FAULT_KIND_COUNT; i++) {
        if (strcmp(name, actions[i].name) != 0) {
            continue;
        }
        action->kind = actions[i].kind;
        switch (actions[i].value) {
        case NO_VALUE:
            return value ? -EINVAL : 0;
        case STATUS_VALUE:
            return value ? parse_status(value, &action->status) : -EINVAL;
        case DURATION_VALUE:
            return value ? units_parse_duration_ns(value, &action->duration_ns) : -EINVAL;
        case BYTES_VALUE:
            if (value) {
                char *end;
                errno = 0;
                bytes = strtoull(value, &end, 10);
                if (errno || end == value || *end || bytes > UINT32_MAX) {
                    return -EINVAL;
                }
                action->has_bytes = true;
                action->bytes = (uint32_t)bytes;
            }
            return 0;
        }
    }
    return -ENOENT;
}

/* One NAME or NAME=VALUE behind the operations. */
static int parse_part(struct rule *rule, char *name, bool *has_action)
{
    char *value = strchr(name, '=');
    if (value) {
        *value++ = '\0';
    }
    if (value && strcmp(name, "index") == 0) {
        return parse_index(rule, value);
    }
    if (value && strcmp(name, "every") == 0) {
        return parse_count(value, &rule->every);
    }
    if (value && strcmp(name, "times") == 0) {
        return parse_count(value, &rule->times);
    }
    if (value && strcmp(name, "probability") == 0) {
        return parse_probability(rule, value);
    }
    if (*has_action) {
        return -EEXIST;
    }
    *has_action = true;
    return parse_action(&rule->action, name, value);
}

static int complain(const char *rule, const char *part, const char *why, char *message, size_t cap)
{
    snprintf(message, cap, "fault rule '%.100s': '%.60s' %s", rule, part, why);
    return -EINVAL;
}

static int parse_rule(struct rule *rule, const char *text, char *message, size_t cap)
{
    char copy[RULE_MAX_BYTES], part_copy[RULE_MAX_BYTES];
    if (strlen(text) >= sizeof copy) {
        return complain(text, text, "is longer than a rule can be", message, cap);
    }
    snprintf(copy, sizeof copy, "%s", text);
    *rule = (struct rule){.probability = -1, .times = UINT64_MAX};
    char *rest = copy, *save = NULL;
    char *ops = strsep(&rest, ":");
    for (char *name = strtok_r(ops, "+", &save); name; name = strtok_r(NULL, "+", &save)) {
        if (parse_one_op(name, &rule->ops) < 0) {
            return complain(text, name, "is no operation (any, a name such as read, several as read+write)", message,
                            cap);
        }
    }
    bool has_action = false;
    for (char *part = strsep(&rest, ":"); part; part = strsep(&rest, ":")) {
        snprintf(part_copy, sizeof part_copy, "%s", part);
        int error = parse_part(rule, part, &has_action);
        if (error == -EEXIST) {
            return complain(text, part_copy, "is a second action; write two rules", message, cap);
        }
        if (error == -ENOENT) {
            return complain(text, part_copy, "is no selector (index, every, probability, times) and no action", message,
                            cap);
        }
        if (error) {
            return complain(text, part_copy, "has a value that does not read", message, cap);
        }
    }
    if (rule->ops == 0 || !has_action) {
        return complain(text, text, "needs OPS and an ACTION, as in read:index=5:status=NFS3ERR_IO", message, cap);
    }
    return 0;
}

int fault_add(struct fault_set *set, const char *text, char *message, size_t cap)
{
    struct rule rule;
    int error = parse_rule(&rule, text, message, cap);
    if (error) {
        return error;
    }
    pthread_mutex_lock(&set->lock);
    unsigned n = atomic_load(&set->n_rules);
    struct rule *grown = realloc(set->rules, (n + 1) * sizeof *grown);
    if (grown) {
        set->rules = grown;
        grown[n] = rule;
        atomic_store(&set->n_rules, n + 1);
    } else {
        error = complain(text, text, "finds no memory", message, cap);
    }
    pthread_mutex_unlock(&set->lock);
    return error;
}

void fault_replace(struct fault_set *to, struct fault_set *from)
{
    pthread_mutex_lock(&to->lock);
    free(to->rules);
    to->rules = from->rules;
    atomic_store(&to->n_rules, atomic_load(&from->n_rules));
    pthread_mutex_unlock(&to->lock);
    from->rules = NULL;
    atomic_store(&from->n_rules, 0);
}

/* Counts the call, and says whether it is hit. */
static bool is_hit(struct rule *rule, struct rng *rng)
{
    uint64_t index = ++rule->n_calls;
    if (rule->first != 0 && (index < rule->first || index > rule->last)) {
        return false;
    }
    if (rule->every != 0 && index % rule->every != 0) {
        return false;
    }
    if (rule->probability >= 0 && rng_unit(rng) >= rule->probability) {
        return false;
    }
    if (rule->times == 0) {
        return false;
    }
    rule->times--;
    return true;
}

void fault_match(struct fault_set *set, unsigned op, struct fault_hits *hits)
{
    hits->n = 0;
    if (atomic_load_explicit(&set->n_rules, memory_order_relaxed) == 0) {
        return;
    }
    pthread_mutex_lock(&set->lock);
    unsigned n = atomic_load(&set->n_rules);
    for (unsigned i = 0; i < n; i++) {
        struct rule *rule = &set->rules[i];
        if (rule->ops >> op & 1 && is_hit(rule, &set->rng) && hits->n < FAULT_MAX_ACTIONS) {
            hits->actions[hits->n++] = rule->action;
        }
    }
    pthread_mutex_unlock(&set->lock);
}
