#include "histogram_json.h"
#include "json_text.h"
#include "rng.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct histogram filled(void)
{
    struct rng rng;
    static struct histogram h;
    histogram_init(&h);
    rng_seed(&rng, 7, 7);
    for (int i = 0; i < 10000; i++) {
        histogram_record(&h, (int64_t)rng_exponential(&rng, 2e6));
    }
    histogram_record(&h, HISTOGRAM_MAX_NS + 5);
    return h;
}

Test(histogram_json, nothing_is_lost_on_the_way_through_text)
{
    static struct histogram before, after;
    before = filled();
    json_t *o = histogram_to_json(&before);
    char *text = json_text(o, NULL);
    json_t *again = json_loads(text, 0, NULL);
    cr_assert_eq(histogram_from_json(again, &after), 0);
    cr_assert_eq(memcmp(&before, &after, sizeof before), 0);
    free(text);
    json_decref(o);
    json_decref(again);
}

Test(histogram_json, empty_histogram_stays_empty)
{
    static struct histogram before, after;
    histogram_init(&before);
    json_t *o = histogram_to_json(&before);
    cr_assert_eq(histogram_from_json(o, &after), 0);
    cr_assert_eq(memcmp(&before, &after, sizeof before), 0);
    json_decref(o);
}

static void check_refused(const char *key, const char *value)
{
    static struct histogram h;
    h = filled();
    json_t *o = histogram_to_json(&h);
    json_object_set_new(o, key, json_loads(value, JSON_DECODE_ANY, NULL));
    cr_assert_neq(histogram_from_json(o, &h), 0, "%s: %s", key, value);
    json_decref(o);
}

Test(histogram_json, contradictions_are_refused)
{
    check_refused("count", "3");
    check_refused("count", "-3");
    check_refused("buckets", "[1]");
    check_refused("buckets", "[3968, 1]");
    check_refused("buckets", "[-1, 1]");
    check_refused("buckets", "[1, -10001]");
    check_refused("buckets", "[\"1\", 1]");
    check_refused("sum_ns", "\"12x\"");
    check_refused("sum_ns", "\"999999999999999999999999999999999999999\"");
    check_refused("sum_sq_ns2", "null");
}
