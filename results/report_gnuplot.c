/* report_gnuplot.c - a script with its data inside: `gnuplot -p FILE` draws it. */
#include "escape.h"
#include "json_text.h"
#include "report_internal.h"

#include <math.h>

static void put(FILE *out, double v)
{
    char number[32];
    fprintf(out, " %s", isfinite(v) ? json_text_number(v, number) : "NaN");
}

static void put_data(const struct result *r, FILE *out, bool is_valid)
{
    fprintf(out, "$%s << END\n# requested achieved response_ms ci95_ms p50_ms p90_ms p99_ms\n",
            is_valid ? "points" : "invalid");
    size_t n = 0;
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        const struct response_figures *h = point_headline(p);
        if (p->is_valid != is_valid) {
            continue;
        }
        put(out, p->requested_ops_per_s);
        put(out, p->achieved_ops_per_s);
        put(out, p->response_ms);
        put(out, p->response_ci95_ms);
        put(out, h->p50_ms);
        put(out, h->p90_ms);
        put(out, h->p99_ms);
        fputc('\n', out);
        n++;
    }
    if (n == 0) { /* gnuplot refuses an empty block */
        fputs(" NaN NaN NaN NaN NaN NaN NaN\n", out);
    }
    fputs("END\n", out);
}

int report_gnuplot(const struct result *r, FILE *out)
{
    char metric[96], number[32];
    bool has_valid = false, has_invalid = false;
    for (size_t i = 0; i < r->n_points; i++) {
        has_valid = has_valid || r->points[i].is_valid;
        has_invalid = has_invalid || !r->points[i].is_valid;
    }
    report_metric_name(r, metric, sizeof metric);
    fputs("# gnuplot -p THIS-FILE; for a picture first: set terminal pngcairo size 900,520; set output "
          "'curve.png'\n# " RESULT_TRADEMARK "\n",
          out);
    put_data(r, out, true);
    put_data(r, out, false);
    fputs("set encoding utf8\nset title ", out);
    escape_gnuplot(out, r->name ? r->name : metric);
    fputs(" noenhanced\nset xlabel 'throughput (ops/s)'\nset ylabel 'response time (ms)'\nset key top left\nset "
          "grid\nset xrange [0:*]\nset yrange [0:*]\n",
          out);
    if (r->ceiling_ms > 0) {
        fprintf(out,
                "set arrow from graph 0, first %s to graph 1, first %s nohead dashtype 2 linecolor rgb '#b42318'\n",
                json_text_number(r->ceiling_ms, number), number);
    }
    if (!has_valid) {
        fputs("set xrange [0:1]\nset yrange [0:1]\n", out);
    }
    fputs("plot ", out);
    if (report_has_percentiles(r)) {
        fputs("$points using 2:6:7 with filledcurves fillcolor rgb '#0b62b8' fillstyle transparent solid 0.12 title "
              "'p90 to p99', \\\n"
              "     $points using 2:5:6 with filledcurves fillcolor rgb '#0b62b8' fillstyle transparent solid 0.22 "
              "title 'p50 to p90', \\\n     ",
              out);
    }
    fputs("$points using 2:3 with linespoints linewidth 2 pointtype 7 linecolor rgb '#0b62b8' title 'mean' noenhanced",
          out);
    if (has_invalid) {
        fputs(", \\\n     $invalid using 2:3 with points pointtype 2 linecolor rgb '#b42318' title 'invalid'", out);
    }
    fputs("\n", out);
    return 0;
}
