/* compare_setup.c - what two results were not measured alike with. Curves of different loads say nothing about the
 * difference of two servers, however large it is. */
#include "compare_internal.h"
#include "result.h"

#include <stdlib.h>
#include <string.h>

/* Of the campaign; what is measured (targets, loads) and what has no bearing on figures is not looked at. */
static const char *const campaign_keys[] = {"warmup_s", "run_s", "processes_per_loadgen", "connections_per_process",
                                            "engine"};

/* Of the workload: everything but its name and what is said about it. */
static const char *const not_figures[] = {"name",     "description", "derived",
                                          "standard", "tunable",     "response_ceiling_ms"};

static void say(json_t *out, const char *key, const char *is, const char *was)
{
    json_array_append_new(out, json_sprintf("%.60s is %.80s, A has %.80s", key, is, was));
}

static void compare_texts(json_t *out, const char *key, const char *is, const char *was)
{
    if (is && was && strcmp(is, was) != 0) {
        say(out, key, is, was);
    }
}

/* Unknown on one side is no difference. */
static void compare_values(json_t *out, const char *key, const json_t *is, const json_t *was)
{
    if (!is || !was || json_equal(is, was) ||
        (json_is_number(is) && json_is_number(was) && json_number_value(is) == json_number_value(was))) {
        return;
    }
    if (json_is_object(is) || json_is_array(is) || json_is_object(was) || json_is_array(was)) {
        json_array_append_new(out, json_sprintf("%.60s is not that of A", key));
        return;
    }
    char *is_text = json_dumps(is, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    char *was_text = json_dumps(was, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    if (is_text && was_text) {
        say(out, key, is_text, was_text);
    }
    free(is_text);
    free(was_text);
}

static bool is_figure(const char *key)
{
    for (size_t i = 0; i < sizeof not_figures / sizeof *not_figures; i++) {
        if (strcmp(key, not_figures[i]) == 0) {
            return false;
        }
    }
    return true;
}

json_t *compare_setup_differences(const struct compare_group *groups, size_t g)
{
    json_t *out = json_array();
    if (groups[0].n == 0 || groups[g].n == 0) {
        return out;
    }
    const struct result *a = groups[0].repeats[0], *b = groups[g].repeats[0];
    compare_texts(out, "workload", b->workload, a->workload);
    bool is_other_workload = json_array_size(out) > 0;
    json_t *was = json_object_get(a->campaign, "workload"), *is = json_object_get(b->campaign, "workload");
    if (is_other_workload || !json_is_object(is) || !json_is_object(was)) {
        compare_texts(out, "pacing", b->pacing, a->pacing);
    } else {
        const char *key;
        json_t *value;
        json_object_foreach(is, key, value)
        {
            if (is_figure(key)) {
                compare_values(out, key, value, json_object_get(was, key));
            }
        }
    }
    for (size_t i = 0; i < sizeof campaign_keys / sizeof *campaign_keys; i++) {
        compare_values(out, campaign_keys[i], json_object_get(b->campaign, campaign_keys[i]),
                       json_object_get(a->campaign, campaign_keys[i]));
    }
    if (a->n_loadgens && b->n_loadgens && a->n_loadgens != b->n_loadgens) {
        json_array_append_new(out, json_sprintf("%zu load generators, A has %zu", b->n_loadgens, a->n_loadgens));
    }
    return out;
}
