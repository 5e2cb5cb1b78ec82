/* compare_render.c - a comparison as text, Markdown, CSV, JSON and gnuplot; compare_html.c has the pictures and the
 * page. */
#include "compare.h"
#include "compare_internal.h"
#include "escape.h"
#include "json_text.h"
#include "report_internal.h"

#include <errno.h>
#include <math.h>

const char *compare_noise_words(enum compare_noise noise)
{
    switch (noise) {
    case COMPARE_NOISE_REPEATS:
        return "noise: scatter of the repeats";
    case COMPARE_NOISE_WITHIN_RUN:
        return "noise: only that within a run is known; repeats would tell that between runs";
    default:
        return "noise unknown: there are no repeats; nothing is said to differ";
    }
}

const char *compare_verdict(const struct compare_difference *d)
{
    if (isnan(d->percent)) {
        return "";
    }
    if (isnan(d->half_width_percent)) {
        return "noise unknown";
    }
    return d->exceeds_noise ? "DIFFERENT" : "within noise";
}

/* A difference whose noise is unknown was not judged: where nothing else differs, the heading must not deny it. */
const char *compare_pair_words(const struct comparison *c, size_t g)
{
    const struct compare_difference *figures[] = {&c->peak_d[g], &c->ort_d[g]};
    bool is_partly = false;
    for (size_t i = 0; i < 2; i++) {
        is_partly |= isfinite(figures[i]->percent) && figures[i]->percent != 0 && isnan(figures[i]->half_width_percent);
    }
    return c->noise == COMPARE_NOISE_UNKNOWN ? "not judged (noise unknown)"
           : c->is_different[g]              ? "DIFFERENT: more than the noise explains"
           : is_partly ? "no difference beyond the noise where it is known; the rest is not judged"
                       : "no difference beyond the noise";
}

const char *compare_percent(double v, char out[static 48])
{
    if (isnan(v)) {
        snprintf(out, 48, "\xe2\x80\x93");
    } else {
        snprintf(out, 48, "%+.2f %%", v);
    }
    return out;
}

const char *compare_half_width(double v, char out[static 48])
{
    if (isnan(v)) {
        snprintf(out, 48, "\xe2\x80\x93");
    } else {
        snprintf(out, 48, "%.2f %%", v);
    }
    return out;
}

char compare_letter(size_t g)
{
    return g < 26 ? (char)('A' + g) : '?';
}

/* --- text --- */

static void print_groups(const struct compare_group *groups, const struct comparison *c, FILE *out)
{
    char peak[48], sd[48], ort[48], sd_ort[48];
    fprintf(out, "    %-28s %7s %12s %10s %10s %10s\n", "", "repeats", "peak ops/s", "+/- sd", "ORT ms", "+/- sd");
    for (size_t g = 0; g < c->n_groups; g++) {
        fprintf(out, "%c   ", compare_letter(g));
        escape_terminal(out, c->labels[g], 60);
        fprintf(out, "\n    %-28s %7zu %12s %10s %10s %10s\n", "", groups[g].n, report_ops(c->peak[g].mean, peak),
                isnan(c->peak[g].sd) ? "-" : chart_number(c->peak[g].sd, 3, sd), report_ort(c->ort[g].mean, ort),
                isnan(c->ort[g].sd) ? "-" : chart_number(c->ort[g].sd, 3, sd_ort));
        for (size_t i = 0; i < groups[g].n; i++) {
            if (!groups[g].repeats[i]->is_valid) {
                fprintf(out, "    INVALID: at least one of its results is invalid\n");
                break;
            }
        }
    }
}

static void print_difference(FILE *out, const char *what, const struct compare_difference *d)
{
    char percent[48], width[48];
    if (isnan(d->percent)) {
        return;
    }
    fprintf(out, "  %-30s %12s   noise +/- %-10s %s\n", what, compare_percent(d->percent, percent),
            isnan(d->half_width_percent) ? "?" : compare_half_width(d->half_width_percent, width), compare_verdict(d));
}

static void print_setup(const struct compare_group *groups, size_t g, FILE *out)
{
    json_t *setup = compare_setup_differences(groups, g);
    for (size_t i = 0; i < json_array_size(setup); i++) {
        fputs("  not measured alike: ", out);
        escape_terminal(out, json_string_value(json_array_get(setup, i)), 300);
        fputc('\n', out);
    }
    json_decref(setup);
}

static void print_pair(const struct compare_group *groups, const struct comparison *c, size_t g, FILE *out)
{
    char load[48], a[48], b[48], percent[48], width[48];
    fprintf(out, "\n%c against A: %s\n", compare_letter(g), compare_pair_words(c, g));
    print_setup(groups, g, out);
    print_difference(out, "peak throughput", &c->peak_d[g]);
    print_difference(out, "overall response time", &c->ort_d[g]);
    print_difference(out, "response time over all loads", &c->mean_d[g]);
    if (c->n_rows == 0) {
        fprintf(out, "  no load is common to all\n");
        return;
    }
    fprintf(out, "\n  %10s %12s %12s %11s %10s  %s\n", c->has_requests ? "requested" : "at ops/s", "A ms", "ms",
            "difference", "+/- 95%", "");
    for (size_t k = 0; k < c->n_rows; k++) {
        const struct compare_row *row = &c->rows[k];
        const struct compare_difference *d = &row->response_d[g];
        fprintf(out, "  %10s %12s %12s %11s %10s  %s", report_ops(row->ops_per_s, load),
                isnan(row->response[0].mean) ? "-" : report_ms(row->response[0].mean, a),
                isnan(row->response[g].mean) ? "-" : report_ms(row->response[g].mean, b),
                isnan(d->percent) ? "-" : compare_percent(d->percent, percent),
                isnan(d->half_width_percent) ? "-" : compare_half_width(d->half_width_percent, width),
                compare_verdict(d));
        if (row->achieved_d[g].exceeds_noise) {
            fprintf(out, "; throughput %s DIFFERENT", compare_percent(row->achieved_d[g].percent, percent));
        }
        fputc('\n', out);
    }
}

int compare_text(const struct compare_group *groups, const struct comparison *c, FILE *out)
{
    print_groups(groups, c, out);
    for (size_t g = 1; g < c->n_groups; g++) {
        print_pair(groups, c, g, out);
    }
    fprintf(out, "\n%s\n" RESULT_TRADEMARK "\n", compare_noise_words(c->noise));
    return 0;
}

/* --- Markdown --- */

int compare_markdown(const struct compare_group *groups, const struct comparison *c, FILE *out)
{
    char a[48], b[48], d[48], e[48], f[48];
    fputs("| | result | repeats | peak ops/s | overall response time (ms) | peak against A | response time against A | "
          "verdict |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
          out);
    for (size_t g = 0; g < c->n_groups; g++) {
        fprintf(out, "| %c | ", compare_letter(g));
        escape_markdown(out, c->labels[g]);
        fprintf(out, " | %zu | %s | %s |", groups[g].n, report_ops(c->peak[g].mean, a), report_ort(c->ort[g].mean, b));
        if (g == 0) {
            fputs(" | | |\n", out);
        } else {
            fprintf(out, " %s (\xc2\xb1 %s) | %s (\xc2\xb1 %s) | %s |\n", compare_percent(c->peak_d[g].percent, a),
                    compare_half_width(c->peak_d[g].half_width_percent, b), compare_percent(c->ort_d[g].percent, d),
                    compare_half_width(c->ort_d[g].half_width_percent, e), compare_pair_words(c, g));
        }
    }
    if (c->n_rows) {
        fprintf(out, "\n| %s ops/s |", c->has_requests ? "requested" : "at");
        for (size_t g = 0; g < c->n_groups; g++) {
            fprintf(out, g ? " %c ms | against A |" : " %c ms |", compare_letter(g));
        }
        fputs("\n| ---: |", out);
        for (size_t g = 0; g < c->n_groups; g++) {
            fputs(g ? " ---: | ---: |" : " ---: |", out);
        }
        fputc('\n', out);
    }
    for (size_t k = 0; k < c->n_rows; k++) {
        fprintf(out, "| %s |", report_ops(c->rows[k].ops_per_s, a));
        for (size_t g = 0; g < c->n_groups; g++) {
            const struct compare_difference *diff = &c->rows[k].response_d[g];
            fprintf(out, " %s |", report_ms(c->rows[k].response[g].mean, f));
            if (g) {
                fprintf(out, " %s%s%s |", diff->exceeds_noise ? "**" : "", compare_percent(diff->percent, b),
                        diff->exceeds_noise ? "**" : "");
            }
        }
        fputc('\n', out);
    }
    fputc('\n', out);
    for (size_t g = 1; g < c->n_groups; g++) {
        json_t *setup = compare_setup_differences(groups, g);
        for (size_t i = 0; i < json_array_size(setup); i++) {
            fprintf(out, "- not measured alike: %c: ", compare_letter(g));
            escape_markdown(out, json_string_value(json_array_get(setup, i)));
            fputc('\n', out);
        }
        json_decref(setup);
    }
    fprintf(out, "\n_%s. " RESULT_TRADEMARK "_\n", compare_noise_words(c->noise));
    return 0;
}

/* --- CSV and JSON --- */

static void put(FILE *out, double v)
{
    char number[32];
    fputc(',', out);
    if (isfinite(v)) {
        fputs(json_text_number(v, number), out);
    }
}

static void put_row(FILE *out, const char *label, const char *figure, double load, const struct compare_figure *base,
                    const struct compare_figure *f, const struct compare_difference *d)
{
    escape_csv(out, label);
    fprintf(out, ",%s", figure);
    put(out, load);
    put(out, base->mean);
    put(out, f->mean);
    put(out, f->sd);
    put(out, d->percent);
    put(out, d->half_width_percent);
    fprintf(out, ",%s\n", isnan(d->half_width_percent) ? "" : d->exceeds_noise ? "true" : "false");
}

int compare_csv(const struct comparison *c, FILE *out)
{
    fputs("result,figure,load_ops_per_s,base,value,sd,difference_percent,noise_half_width_percent,exceeds_noise\n",
          out);
    for (size_t g = 0; g < c->n_groups; g++) {
        put_row(out, c->labels[g], "peak_ops_per_s", NAN, &c->peak[0], &c->peak[g], &c->peak_d[g]);
        put_row(out, c->labels[g], "ort_ms", NAN, &c->ort[0], &c->ort[g], &c->ort_d[g]);
        for (size_t k = 0; k < c->n_rows; k++) {
            put_row(out, c->labels[g], "response_ms", c->rows[k].ops_per_s, &c->rows[k].response[0],
                    &c->rows[k].response[g], &c->rows[k].response_d[g]);
            if (c->has_requests) {
                put_row(out, c->labels[g], "achieved_ops_per_s", c->rows[k].ops_per_s, &c->rows[k].achieved[0],
                        &c->rows[k].achieved[g], &c->rows[k].achieved_d[g]);
            }
        }
    }
    return 0;
}

static json_t *figure_json(const struct compare_figure *f, const struct compare_difference *d)
{
    json_t *o = json_object();
    json_put_double(o, "value", f->mean);
    json_put_double(o, "sd", f->sd);
    json_put_double(o, "difference_percent", d->percent);
    json_put_double(o, "noise_half_width_percent", d->half_width_percent);
    if (!isnan(d->half_width_percent)) {
        json_object_set_new(o, "exceeds_noise", json_boolean(d->exceeds_noise));
    }
    return o;
}

int compare_json(const struct compare_group *groups, const struct comparison *c, FILE *out)
{
    static const char *const noise[] = {[COMPARE_NOISE_UNKNOWN] = "unknown",
                                        [COMPARE_NOISE_WITHIN_RUN] = "within-run",
                                        [COMPARE_NOISE_REPEATS] = "repeats"};
    json_t *root = json_object(), *results = json_array();
    json_put_text(root, "schema", "nfscurve-comparison/1");
    json_put_text(root, "trademark", RESULT_TRADEMARK);
    json_put_text(root, "noise", noise[c->noise]);
    for (size_t g = 0; g < c->n_groups; g++) {
        json_t *o = json_object(), *loads = json_array();
        json_put_text(o, "name", c->labels[g]);
        json_put_count(o, "repeats", groups[g].n);
        json_object_set_new(o, "peak_ops_per_s", figure_json(&c->peak[g], &c->peak_d[g]));
        json_object_set_new(o, "ort_ms", figure_json(&c->ort[g], &c->ort_d[g]));
        for (size_t k = 0; k < c->n_rows; k++) {
            json_t *row = json_object();
            json_put_double(row, c->has_requests ? "requested_ops_per_s" : "ops_per_s", c->rows[k].ops_per_s);
            json_object_set_new(row, "response_ms", figure_json(&c->rows[k].response[g], &c->rows[k].response_d[g]));
            if (c->has_requests) {
                json_object_set_new(row, "achieved_ops_per_s",
                                    figure_json(&c->rows[k].achieved[g], &c->rows[k].achieved_d[g]));
            }
            json_array_append_new(loads, row);
        }
        json_object_set_new(o, "loads", loads);
        if (g > 0) {
            json_object_set_new(o, "not_measured_alike", compare_setup_differences(groups, g));
        }
        if (g > 0 && c->noise != COMPARE_NOISE_UNKNOWN) {
            json_object_set_new(o, "different", json_boolean(c->is_different[g]));
        }
        json_array_append_new(results, o);
    }
    json_object_set_new(root, "results", results);
    int error = json_text_write(root, out);
    json_decref(root);
    return error;
}

/* --- gnuplot --- */

int compare_gnuplot(const struct compare_group *groups, const struct comparison *c, FILE *out)
{
    fputs("# gnuplot -p THIS-FILE\n# " RESULT_TRADEMARK "\n", out);
    for (size_t g = 0; g < c->n_groups; g++) {
        size_t n = 0;
        fprintf(out, "$r%zu << END\n", g);
        for (size_t i = 0; i < groups[g].n; i++) {
            const struct result *r = groups[g].repeats[i];
            for (size_t k = 0; k < r->n_points; k++) {
                char a[32], b[32];
                if (!r->points[k].is_valid || !isfinite(r->points[k].response_ms)) {
                    continue;
                }
                fprintf(out, "%s %s\n", json_text_number(r->points[k].achieved_ops_per_s, a),
                        json_text_number(r->points[k].response_ms, b));
                n++;
            }
            fputs("\n", out); /* a blank line lifts the pen between repeats */
        }
        fputs(n ? "END\n" : "NaN NaN\nEND\n", out);
    }
    fputs("set encoding utf8\nset xlabel 'throughput (ops/s)'\nset ylabel 'response time (ms)'\nset key top left "
          "noenhanced\nset grid\nset xrange [0:*]\nset yrange [0:*]\nplot ",
          out);
    for (size_t g = 0; g < c->n_groups; g++) {
        fprintf(out, "%s$r%zu using 1:2 with linespoints linewidth 2 pointtype 7 title ", g ? ", \\\n     " : "", g);
        escape_gnuplot(out, c->labels[g]);
    }
    fputc('\n', out);
    return 0;
}

int compare_render(const struct compare_group *groups, size_t n, enum report_format format, FILE *out)
{
    struct comparison c;
    if (n == 0) {
        return -EINVAL;
    }
    int error = comparison_compute(groups, n, &c);
    if (error) {
        return error;
    }
    switch (format) {
    case REPORT_TEXT:
        error = compare_text(groups, &c, out);
        break;
    case REPORT_MARKDOWN:
        error = compare_markdown(groups, &c, out);
        break;
    case REPORT_CSV:
        error = compare_csv(&c, out);
        break;
    case REPORT_JSON:
        error = compare_json(groups, &c, out);
        break;
    case REPORT_GNUPLOT:
        error = compare_gnuplot(groups, &c, out);
        break;
    case REPORT_SVG:
        error = compare_svg(groups, &c, out);
        break;
    case REPORT_PNG:
        error = compare_png(groups, &c, out);
        break;
    case REPORT_HTML:
        error = compare_html(groups, &c, out);
        break;
    default:
        error = -ENOTSUP;
    }
    comparison_fini(&c);
    return error ? error : ferror(out) ? -EIO : 0;
}
