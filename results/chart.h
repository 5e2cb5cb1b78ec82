/* chart.h - line charts as SVG text: frame, axes, lines, bands, marks with tooltips, legend.
 *
 * One coordinate system: data units in, the chart knows its pixels. A chart is used alone (curve.svg), inside the HTML
 * page, and as PNG through an SVG renderer that knows no CSS variables: so colours are plain, and dark pages override
 * them by class.
 */
#ifndef NFSCURVE_RESULTS_CHART_H
#define NFSCURVE_RESULTS_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct chart {
    FILE *out; /* borrowed */
    double width, height;
    double left, right, top, bottom;   /* margins */
    double x_min, x_max, y_min, y_max; /* of the axes: chart_scale() */
    double legend_y;                   /* baseline of its first row; 0: 18 */
    unsigned id;                       /* unique in a page */
};

struct chart_xy {
    double x, y; /* y NAN: a gap */
};

/* Axes from (x_min, 0) to rounded values that hold x_max and y_max; both may be anything, 0 and NAN included. */
void chart_scale(struct chart *c, double x_min, double x_max, double y_max);

/* A round step that divides `range` into about so many parts. */
double chart_step(double range, int about);

/* <svg ...> with title for screen readers; the style sheet too when it stands alone. `title` is escaped here. */
void chart_begin(struct chart *c, const char *title, bool is_alone);
/* Grid, tick labels, axis titles (plain text of ours). */
void chart_axes(struct chart *c, const char *x_title, const char *y_title);
void chart_end(struct chart *c);

/* `series` 0..7 picks the colour; extra classes: "nc-dashed", "nc-thin", or "". */
void chart_line(struct chart *c, const struct chart_xy *xy, size_t n, unsigned series, const char *classes);
/* Area between two lines of the same x. */
void chart_band(struct chart *c, const struct chart_xy *low, const struct chart_xy *high, size_t n,
                const char *classes);

enum chart_mark { CHART_MARK_POINT, CHART_MARK_INVALID, CHART_MARK_OFF_CURVE };
/* `tooltip` is escaped here. */
void chart_mark(struct chart *c, double x, double y, enum chart_mark mark, unsigned series, const char *tooltip);

/* Horizontal line across the plot with its label above, right- or left-aligned; nothing when outside of the axes. */
void chart_hline(struct chart *c, double y, const char *label, const char *classes, bool is_left);
/* Vertical line, label at its top. */
void chart_vline(struct chart *c, double x, const char *label, const char *classes);
/* Text near a point, kept inside the plot. */
void chart_label(struct chart *c, double x, double y, const char *text, const char *classes);

/* For a chart that stands alone: heading above everything, and a foot of small print in two lines at the bottom margin.
 */
void chart_heading(struct chart *c, const char *title, const char *subtitle);
void chart_foot(struct chart *c, const char *first, const char *second);

enum chart_swatch { CHART_SWATCH_LINE, CHART_SWATCH_AREA, CHART_SWATCH_INVALID };

struct chart_legend {
    const char *label;   /* escaped here */
    const char *classes; /* of its swatch: "nc-s0", "nc-band-90", ... */
    enum chart_swatch swatch;
};
/* A row above the plot, wrapping. */
void chart_legend(struct chart *c, const struct chart_legend *entries, size_t n);

/* The rules for every class used here, without <style>; light colours, then dark in a media query, then print. */
void chart_style(FILE *out);

/* 12345.6 -> "12,346" and the like: about `digits` significant, thousands separated. Into out[>= 48]; returns out. */
const char *chart_number(double v, int digits, char out[static 48]);

double chart_x(const struct chart *c, double x);
double chart_y(const struct chart *c, double y);

#endif
