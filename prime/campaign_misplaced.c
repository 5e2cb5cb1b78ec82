/* campaign_misplaced.c - keys that a campaign knows, but not where they stand: "nfs_port" beside "targets", or "run_s"
 * inside of one. config.c knows one table at a time, and calls them unknown. */
#include "campaign_config.h"
#include "campaign_rows.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

struct place {
    const char *name; /* behind "belongs into" */
    const struct config_key *keys;
};

enum { TOP, TARGET, LOCAL_TARGET, LOADGEN, N_PLACES };

struct misplaced {
    struct config_source *src;
    struct config_errors *errors;
    struct place places[N_PLACES];
};

static bool has_key(const struct config_key *keys, const char *key)
{
    for (; keys->key; keys++) {
        if (strcmp(keys->key, key) == 0) {
            return true;
        }
    }
    return false;
}

static bool belongs(const struct misplaced *m, int place, const char *key)
{
    if (has_key(m->places[place].keys, key)) {
        return true;
    }
    for (const char *const *extra = workload_keys(); place == TOP && *extra; extra++) {
        if (strcmp(*extra, key) == 0) {
            return true;
        }
    }
    return false;
}

/* The keys of one object, which stands at `path` and is what `place` says. */
static void check_object(const struct misplaced *m, json_t *object, const char *path, int place)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, key, value)
    {
        char homes[256] = "";
        for (int p = 0; p < N_PLACES && !belongs(m, place, key); p++) {
            size_t used = strlen(homes);
            if (belongs(m, p, key)) {
                snprintf(homes + used, sizeof homes - used, "%s%s", used ? " or " : "", m->places[p].name);
            }
        }
        if (homes[0]) {
            char *at = text_format("%s%s%s", path, *path ? "." : "", key);
            config_complain(&(struct config_ctx){m->src, m->errors, at != NULL ? at : key}, "belongs into %s, not here",
                            homes);
            free(at);
            json_object_del(object, key);
        }
    }
}

static void check_list(const struct misplaced *m, const char *name, int place)
{
    json_t *list = json_object_get(m->src->root, name);
    if (json_is_object(list)) {
        check_object(m, list, name, place);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *entry = json_array_get(list, i), *local = json_object_get(entry, "local");
        char *path = text_format("%s[%zu]", name, i), *below = text_format("%s[%zu].local", name, i);
        if (path != NULL && below != NULL) {
            check_object(m, entry, path, place);
            if (place == TARGET) {
                check_object(m, local, below, LOCAL_TARGET);
            }
        }
        free(path);
        free(below);
    }
}

void campaign_complain_of_misplaced(struct config_source *src, const struct config_key *campaign_keys,
                                    struct config_errors *errors)
{
    struct misplaced m = {.src = src,
                          .errors = errors,
                          .places = {[TOP] = {"the outermost object", campaign_keys},
                                     [TARGET] = {"the entries of \"targets\"", campaign_target_keys()},
                                     [LOCAL_TARGET] = {"\"local\" of a target", campaign_local_target_keys()},
                                     [LOADGEN] = {"the entries of \"loadgens\"", campaign_loadgen_keys()}}};
    check_object(&m, src->root, "", TOP);
    check_list(&m, "targets", TARGET);
    check_list(&m, "loadgens", LOADGEN);
}
