#include "histogram_json.h"
#include "json_text.h"

#include <errno.h>
#include <string.h>

static const char *print_u128(unsigned __int128 v, char out[static 40])
{
    char digits[40];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + (int)(v % 10));
        v /= 10;
    } while (v > 0);
    for (size_t i = 0; i < n; i++) {
        out[i] = digits[n - 1 - i];
    }
    out[n] = '\0';
    return out;
}

static int parse_u128(const char *text, unsigned __int128 *out)
{
    if (!text || !*text || strlen(text) > 39) {
        return -EINVAL;
    }
    unsigned __int128 v = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') {
            return -EINVAL;
        }
        unsigned __int128 next = v * 10 + (unsigned)(*text - '0');
        if (next / 10 != v) {
            return -EINVAL;
        }
        v = next;
    }
    *out = v;
    return 0;
}

json_t *histogram_to_json(const struct histogram *h)
{
    char number[40];
    json_t *o = json_object();
    json_t *buckets = json_array();
    if (!o || !buckets) {
        json_decref(o);
        json_decref(buckets);
        return NULL;
    }
    json_put_count(o, "count", h->count);
    if (h->n_beyond) {
        json_put_count(o, "beyond", h->n_beyond);
    }
    json_put_count(o, "min_ns", h->count ? (unsigned long long)h->min_ns : 0);
    json_put_count(o, "max_ns", (unsigned long long)h->max_ns);
    json_put_text(o, "sum_ns", print_u128(h->sum_ns, number));
    json_put_text(o, "sum_sq_ns2", print_u128(h->sum_sq_ns2, number));
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (h->buckets[i] == 0) {
            continue;
        }
        json_array_append_new(buckets, json_integer(i));
        json_array_append_new(buckets, json_integer((json_int_t)h->buckets[i]));
    }
    json_object_set_new(o, "buckets", buckets);
    return o;
}

int histogram_from_json(const json_t *value, struct histogram *out)
{
    histogram_init(out);
    json_int_t count = json_count(value, "count"), beyond = json_count(value, "beyond");
    json_int_t min_ns = json_count(value, "min_ns"), max_ns = json_count(value, "max_ns");
    const json_t *buckets = json_object_get(value, "buckets");
    if (count < 0 || min_ns < 0 || max_ns < 0 || !json_is_array(buckets) || json_array_size(buckets) % 2) {
        return -EINVAL;
    }
    if (parse_u128(json_text_of(value, "sum_ns"), &out->sum_ns) ||
        parse_u128(json_text_of(value, "sum_sq_ns2"), &out->sum_sq_ns2)) {
        return -EINVAL;
    }
    out->count = (uint64_t)count;
    out->n_beyond = beyond > 0 ? (uint64_t)beyond : 0;
    out->min_ns = count ? min_ns : INT64_MAX;
    out->max_ns = max_ns;
    uint64_t total = out->n_beyond;
    for (size_t i = 0; i < json_array_size(buckets); i += 2) {
        json_t *index = json_array_get(buckets, i), *n = json_array_get(buckets, i + 1);
        if (!json_is_integer(index) || !json_is_integer(n) || json_integer_value(n) < 0) {
            return -EINVAL;
        }
        if (json_integer_value(index) < 0 || json_integer_value(index) >= (json_int_t)HISTOGRAM_BUCKETS) {
            return -EINVAL;
        }
        out->buckets[json_integer_value(index)] += (uint64_t)json_integer_value(n);
        total += (uint64_t)json_integer_value(n);
    }
    return total == out->count ? 0 : -EINVAL;
}
