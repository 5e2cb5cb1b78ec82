/* report_hdr.c - histograms in the forms of HdrHistogram's tools: percentile text (.hgrm) and V2 compressed log lines.
 *
 * The buckets are HdrHistogram's own (lowest discernible value 1, highest 100 s, two significant digits), so the counts
 * go over as they are. Times in logs are nanoseconds; percentile text is in milliseconds.
 */
#include "histogram.h"
#include "histogram_json.h"
#include "report_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define COOKIE_V2            0x1c849303u
#define COOKIE_V2_COMPRESSED 0x1c849304u
#define COOKIE_WORD          0x10u
#define SIGNIFICANT_DIGITS   2
#define TICKS_PER_HALF       5
#define ENCODED_MAX          (40 + 9 * (size_t)HISTOGRAM_BUCKETS)

/* Histogram of one op of a point; 0, -ENOENT when there is none. */
static int op_histogram(const struct op_figures *f, bool from_due, struct histogram *h)
{
    const json_t *value = json_object_get(f->histograms, from_due ? "from_due" : "from_sent");
    return value && histogram_from_json(value, h) == 0 && h->count > 0 ? 0 : -ENOENT;
}

static int point_histogram(const struct point_result *p, struct histogram *all, struct histogram *one)
{
    int found = -ENOENT;
    histogram_init(all);
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        if (!p->ops[op].is_present || op_histogram(&p->ops[op], p->is_headline_from_due, one)) {
            continue;
        }
        histogram_merge(all, one);
        found = 0;
    }
    return found;
}

/* --- percentile text --- */

static void put_percentile(FILE *out, int64_t value_ns, double percentile, uint64_t count)
{
    fprintf(out, "%12.6f %2.12f %10llu", (double)value_ns / 1e6, percentile / 100, (unsigned long long)count);
    if (percentile < 100) {
        fprintf(out, " %14.2f\n", 1 / (1 - percentile / 100));
    } else {
        fputs("            inf\n", out);
    }
}

static void put_hgrm(const struct histogram *h, FILE *out)
{
    uint64_t in_buckets = h->count - h->n_beyond, seen = 0;
    double level = 0;
    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS && seen < in_buckets; i++) {
        seen += h->buckets[i];
        while (h->buckets[i] && level < 100 && 100.0 * (double)seen / (double)h->count >= level) {
            put_percentile(out, histogram_bucket_high_ns(i), level, seen);
            /* HdrHistogram's percentile iterator: ticks double with every halving of the distance to 100 % */
            double halvings = floor(log2(100 / (100 - level))) + 1;
            double ticks = TICKS_PER_HALF * pow(2, halvings);
            level += 100 / ticks;
            if (seen == h->count) {
                break;
            }
        }
    }
    put_percentile(out, h->max_ns, 100, h->count);
    fprintf(out,
            "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n#[Max     = %12.6f, Total count    = %12llu]\n#[Buckets = "
            "%12u, SubBuckets     = %12u]\n",
            histogram_mean_ns(h) / 1e6, histogram_stddev_ns(h) / 1e6, (double)h->max_ns / 1e6,
            (unsigned long long)h->count, HISTOGRAM_BUCKETS / 128 - 1, HISTOGRAM_SUB_BUCKETS);
}

int report_hgrm(const struct result *r, FILE *out)
{
    struct histogram *all = calloc(2, sizeof *all);
    size_t n = 0;
    if (!all) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < r->n_points; i++) {
        if (point_histogram(&r->points[i], all, all + 1)) {
            continue;
        }
        /* two blank lines: gnuplot's "index" */
        fprintf(out, "%s# point %zu, all operations, %s, ms\n", n++ ? "\n\n" : "", i + 1, report_response_label(r));
        put_hgrm(all, out);
    }
    free(all);
    return n ? 0 : -ENOTSUP;
}

/* --- V2 log lines --- */

static unsigned char *put_be32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        *p++ = (unsigned char)(v >> (24 - 8 * i));
    }
    return p;
}

static unsigned char *put_be64(unsigned char *p, uint64_t v)
{
    return put_be32(put_be32(p, (uint32_t)(v >> 32)), (uint32_t)v);
}

/* ZigZag LEB128, at most 9 bytes: the ninth carries 8 bits. */
static unsigned char *put_zigzag(unsigned char *p, int64_t value)
{
    uint64_t v = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    for (int i = 0; i < 8; i++) {
        if (v < 0x80) {
            *p++ = (unsigned char)v;
            return p;
        }
        *p++ = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    *p++ = (unsigned char)v;
    return p;
}

static size_t encode_v2(const struct histogram *h, unsigned char *out)
{
    unsigned char *p = out;
    unsigned last = HISTOGRAM_BUCKETS;
    while (last > 0 && h->buckets[last - 1] == 0) {
        last--;
    }
    p = put_be32(p, COOKIE_V2 | COOKIE_WORD);
    unsigned char *length = p;
    p = put_be32(p, 0);
    p = put_be32(p, 0); /* normalizing index offset */
    p = put_be32(p, SIGNIFICANT_DIGITS);
    p = put_be64(p, 1);
    p = put_be64(p, (uint64_t)HISTOGRAM_MAX_NS);
    p = put_be64(p, UINT64_C(0x3ff0000000000000)); /* conversion ratio 1.0 */
    unsigned char *payload = p;
    for (unsigned i = 0; i < last;) {
        int64_t zeros = 0;
        for (; i < last && h->buckets[i] == 0; i++) {
            zeros++;
        }
        if (zeros) {
            p = put_zigzag(p, zeros == 1 ? 0 : -zeros);
        } else {
            p = put_zigzag(p, (int64_t)h->buckets[i++]);
        }
    }
    put_be32(length, (uint32_t)(p - payload));
    return (size_t)(p - out);
}

static void put_base64(const unsigned char *data, size_t n, FILE *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v =
            (uint32_t)data[i] << 16 | (i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0) | (i + 2 < n ? data[i + 2] : 0);
        fputc(digits[v >> 18], out);
        fputc(digits[v >> 12 & 63], out);
        fputc(i + 1 < n ? digits[v >> 6 & 63] : '=', out);
        fputc(i + 2 < n ? digits[v & 63] : '=', out);
    }
}

/* One line: tag, start and length in seconds, maximum in ms, the histogram. */
static int put_log_line(const struct histogram *h, const char *tag, double start_s, double length_s, FILE *out)
{
    unsigned char *encoded = malloc(2 * ENCODED_MAX + 64), *compressed = encoded + ENCODED_MAX;
    if (!encoded) {
        return -ENOMEM;
    }
    size_t n = encode_v2(h, encoded);
    uLongf n_compressed = ENCODED_MAX + 56;
    int error = compress(compressed + 8, &n_compressed, encoded, n) == Z_OK ? 0 : -EIO;
    if (!error) {
        put_be32(put_be32(compressed, COOKIE_V2_COMPRESSED | COOKIE_WORD), (uint32_t)n_compressed);
        fprintf(out, "Tag=%s,%.3f,%.3f,%.3f,", tag, start_s, length_s, (double)h->max_ns / 1e6);
        put_base64(compressed, n_compressed + 8, out);
        fputc('\n', out);
    }
    free(encoded);
    return error;
}

int report_hlog(const struct result *r, FILE *out)
{
    struct histogram *all = calloc(2, sizeof *all), *one = all + 1;
    size_t n = 0;
    double start_s = 0;
    int error = 0;
    if (!all) {
        return -ENOMEM;
    }
    fputs("#[Logged with nfscurve; values in nanoseconds]\n#[Histogram log format version 1.3]\n#[StartTime: 0.000 "
          "(seconds since epoch), recorded runs one after the other]\n"
          "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
          out);
    for (size_t i = 0; i < r->n_points && !error; i++) {
        const struct point_result *p = &r->points[i];
        double length_s = isfinite(p->run_s) ? p->run_s : 1;
        char tag[64];
        if (point_histogram(p, all, one)) {
            continue;
        }
        n++;
        snprintf(tag, sizeof tag, "point%zu.all", i + 1);
        error = put_log_line(all, tag, start_s, length_s, out);
        for (int op = 0; op < NFS_OP_COUNT && !error; op++) {
            if (op_histogram(&p->ops[op], p->is_headline_from_due, one)) {
                continue;
            }
            snprintf(tag, sizeof tag, "point%zu.%s", i + 1, nfs_op_name((enum nfs_op)op));
            error = put_log_line(one, tag, start_s, length_s, out);
        }
        start_s += length_s;
    }
    free(all);
    return error ? error : n ? 0 : -ENOTSUP;
}
