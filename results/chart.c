#include "chart.h"
#include "escape.h"

#include <math.h>
#include <string.h>

#define N_SERIES 8

/* Okabe-Ito order, darkened for white paper: told apart by the colour-blind too. */
static const char *const light[N_SERIES] = {"#0b62b8", "#c2410c", "#047857", "#9d174d",
                                            "#7c5a00", "#0e7490", "#6d28d9", "#475569"};
static const char *const dark[N_SERIES] = {"#6cb2ff", "#fb923c", "#4ade9f", "#f472b6",
                                           "#eab308", "#38d3ee", "#b794ff", "#a8b5c7"};

double chart_step(double range, int about)
{
    if (!(range > 0)) {
        return 1;
    }
    double raw = range / about, power = pow(10, floor(log10(raw))), fraction = raw / power;
    return power * (fraction <= 1 ? 1 : fraction <= 2 ? 2 : fraction <= 2.5 ? 2.5 : fraction <= 5 ? 5 : 10);
}

void chart_scale(struct chart *c, double x_min, double x_max, double y_max)
{
    c->x_min = x_min;
    c->y_min = 0;
    if (!(x_max > x_min) || !isfinite(x_max)) {
        x_max = x_min + 1;
    }
    if (!(y_max > 0) || !isfinite(y_max)) {
        y_max = 1;
    }
    double step = chart_step(x_max - x_min, 8);
    c->x_max = x_min + step * ceil((x_max - x_min) / step - 1e-9);
    step = chart_step(y_max, 6);
    c->y_max = step * ceil(y_max / step - 1e-9);
}

double chart_x(const struct chart *c, double x)
{
    return c->left + (x - c->x_min) / (c->x_max - c->x_min) * (c->width - c->left - c->right);
}

double chart_y(const struct chart *c, double y)
{
    return c->height - c->bottom - (y - c->y_min) / (c->y_max - c->y_min) * (c->height - c->top - c->bottom);
}

static bool is_drawable(const struct chart *c, double x, double y)
{
    return isfinite(x) && isfinite(y) && x >= c->x_min - 1e9 * (c->x_max - c->x_min) && fabs(y) < 1e9 * c->y_max;
}

const char *chart_number(double v, int digits, char out[static 48])
{
    char plain[32];
    if (!isfinite(v)) {
        memcpy(out, "\xe2\x80\x93", 4); /* en dash */
        return out;
    }
    int decimals = fabs(v) >= 1 ? digits - 1 - (int)floor(log10(fabs(v))) : digits;
    if (fabs(v) > 1e15) {
        snprintf(plain, sizeof plain, "%.3g", v);
    } else {
        snprintf(plain, sizeof plain, "%.*f", decimals < 0 ? 0 : decimals > 6 ? 6 : decimals, v);
    }
    char *dot = strchr(plain, '.');
    if (dot && !strchr(plain, 'e')) { /* trailing zeros say nothing on an axis */
        char *end = plain + strlen(plain);
        while (end > dot && (end[-1] == '0' || end[-1] == '.')) {
            *--end = '\0';
        }
    }
    size_t whole = strcspn(plain, ".e"), o = 0;
    for (size_t i = 0; plain[i]; i++) {
        bool is_group = i > 0 && i < whole && (whole - i) % 3 == 0 && plain[i - 1] != '-';
        if (is_group) {
            out[o++] = ',';
        }
        out[o++] = plain[i];
    }
    out[o] = '\0';
    return out;
}

void chart_style(FILE *out)
{
    fputs(".nc-svg{font-family:system-ui,-apple-system,'Segoe UI','DejaVu "
          "Sans',sans-serif;font-size:13px;background:transparent}"
          ".nc-text{fill:#3d4654}.nc-title{fill:#1b2330;font-size:14px;font-weight:600}.nc-heading{fill:#1b2330;font-"
          "size:19px;font-weight:700}.nc-sub{font-size:14px}.nc-foot{font-size:9.5px}.nc-strong{fill:#1b2330;font-"
          "weight:600}"
          ".nc-grid{stroke:#e3e7ed;stroke-width:1}.nc-axis{stroke:#8b95a5;stroke-width:1.2}.nc-back{fill:#ffffff}"
          ".nc-line{fill:none;stroke-width:2.4;stroke-linejoin:round;stroke-linecap:round}.nc-thin{stroke-width:1.3}"
          ".nc-dashed{stroke-dasharray:6 5}.nc-faint{opacity:.55}"
          ".nc-ceiling{stroke:#b42318;stroke-width:1.4;stroke-dasharray:8 "
          "4}.nc-ort{stroke:#64748b;stroke-width:1.2;stroke-dasharray:2 4}"
          ".nc-split{stroke:#b6bfcc;stroke-width:1;stroke-dasharray:3 4}"
          ".nc-label-ceiling{fill:#b42318}.nc-label-ort{fill:#52606f}"
          ".nc-band-50{fill:#0b62b8;fill-opacity:.22}.nc-band-90{fill:#0b62b8;fill-opacity:.12}.nc-area{fill:#0b62b8;"
          "fill-opacity:.07}"
          ".nc-invalid{stroke:#b42318;stroke-width:2.2;fill:#ffffff}.nc-off{fill:#ffffff;stroke-width:2}"
          ".nc-mark{stroke:#ffffff;stroke-width:1.5}.nc-hit{fill:#ffffff;fill-opacity:0}",
          out);
    for (int i = 0; i < N_SERIES; i++) {
        fprintf(out, ".nc-s%d{stroke:%s}.nc-f%d{fill:%s}", i, light[i], i, light[i]);
    }
    fputs("@media screen and "
          "(prefers-color-scheme:dark){.nc-text{fill:#b9c3d1}.nc-title,.nc-heading,.nc-strong{fill:#eef2f7}.nc-grid{"
          "stroke:#2b3442}"
          ".nc-axis{stroke:#7c8798}.nc-back,.nc-invalid,.nc-off{fill:#141a23}.nc-mark{stroke:#141a23}.nc-ceiling{"
          "stroke:#ff8a7a}"
          ".nc-label-ceiling{fill:#ff8a7a}.nc-ort{stroke:#94a3b8}.nc-label-ort{fill:#a8b5c7}.nc-invalid{stroke:#ff8a7a}"
          ".nc-split{stroke:#46536a}"
          ".nc-band-50,.nc-band-90,.nc-area{fill:#6cb2ff}",
          out);
    for (int i = 0; i < N_SERIES; i++) {
        fprintf(out, ".nc-s%d{stroke:%s}.nc-f%d{fill:%s}", i, dark[i], i, dark[i]);
    }
    fputs("}", out);
}

void chart_begin(struct chart *c, const char *title, bool is_alone)
{
    fprintf(c->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"nc-svg\" role=\"img\" aria-label=\"");
    escape_html_short(c->out, title);
    fprintf(c->out, "\" viewBox=\"0 0 %.0f %.0f\" ", c->width, c->height);
    if (is_alone) {
        fprintf(c->out, "width=\"%.0f\" height=\"%.0f\"", c->width, c->height);
    } else {
        fputs("width=\"100%\"", c->out);
    }
    fputs(">\n<title>", c->out);
    escape_html_short(c->out, title);
    fputs("</title>\n", c->out);
    if (is_alone) {
        fputs("<style>", c->out);
        chart_style(c->out);
        fputs("</style>\n", c->out);
        fprintf(c->out, "<rect class=\"nc-back\" x=\"0\" y=\"0\" width=\"%.0f\" height=\"%.0f\"/>\n", c->width,
                c->height);
    }
    /* lines and marks may stand out of the plot by their width, areas may not */
    for (int margin = 0; margin <= 8; margin += 8) {
        fprintf(c->out,
                "<clipPath id=\"nc-%s-%u\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></clipPath>\n",
                margin ? "clip" : "plot", c->id, c->left - margin, c->top - margin,
                c->width - c->left - c->right + 2 * margin, c->height - c->top - c->bottom + 2 * margin);
    }
}

void chart_axes(struct chart *c, const char *x_title, const char *y_title)
{
    char number[48];
    double right = c->width - c->right, bottom = c->height - c->bottom;
    double step = chart_step(c->y_max, c->height - c->top - c->bottom < 130 ? 3 : 6);
    fputs("<g class=\"nc-axes\">\n", c->out);
    for (int i = 0; i * step <= c->y_max * (1 + 1e-9); i++) {
        double y = chart_y(c, i * step);
        fprintf(c->out,
                "<path class=\"nc-grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"nc-text nc-tick\" x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"end\">%s</text>\n",
                c->left, y, right, c->left - 8, y + 4, chart_number(i * step, 3, number));
    }
    step = chart_step(c->x_max - c->x_min, 8);
    for (int i = 0; c->x_min + i * step <= c->x_max + step * 1e-9; i++) {
        double x = chart_x(c, c->x_min + i * step);
        fprintf(c->out,
                "<path class=\"nc-grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"nc-text nc-tick\" x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"middle\">%s</text>\n",
                x, c->top, bottom, x, bottom + 18, chart_number(c->x_min + i * step, 6, number));
    }
    fprintf(c->out, "<path class=\"nc-axis nc-line-axis\" fill=\"none\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", c->left,
            c->top, bottom, right);
    fprintf(c->out, "<text class=\"nc-title\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (c->left + right) / 2,
            bottom + 40);
    escape_html_short(c->out, x_title);
    fprintf(c->out,
            "</text>\n<text class=\"nc-title\" transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">",
            16.0, (c->top + bottom) / 2);
    escape_html_short(c->out, y_title);
    fputs("</text>\n</g>\n", c->out);
}

void chart_end(struct chart *c)
{
    fputs("</svg>\n", c->out);
}

static void put_path(struct chart *c, const struct chart_xy *xy, size_t n)
{
    bool is_pen_down = false;
    for (size_t i = 0; i < n; i++) {
        if (!is_drawable(c, xy[i].x, xy[i].y)) {
            is_pen_down = false;
            continue;
        }
        fprintf(c->out, "%c%.1f %.1f", is_pen_down ? 'L' : 'M', chart_x(c, xy[i].x), chart_y(c, xy[i].y));
        is_pen_down = true;
    }
}

void chart_line(struct chart *c, const struct chart_xy *xy, size_t n, unsigned series, const char *classes)
{
    if (n < 2) {
        return;
    }
    fprintf(c->out, "<path clip-path=\"url(#nc-clip-%u)\" class=\"nc-line nc-s%u %s\" d=\"", c->id, series % N_SERIES,
            classes);
    put_path(c, xy, n);
    fputs("\"/>\n", c->out);
}

void chart_band(struct chart *c, const struct chart_xy *low, const struct chart_xy *high, size_t n, const char *classes)
{
    bool is_first = true;
    if (n < 2) {
        return;
    }
    fprintf(c->out, "<path clip-path=\"url(#nc-plot-%u)\" class=\"%s\" d=\"", c->id, classes);
    for (size_t i = 0; i < n; i++) {
        if (!is_drawable(c, high[i].x, high[i].y) || !is_drawable(c, low[i].x, low[i].y)) {
            continue;
        }
        fprintf(c->out, "%c%.1f %.1f", is_first ? 'M' : 'L', chart_x(c, high[i].x), chart_y(c, high[i].y));
        is_first = false;
    }
    for (size_t i = n; i-- > 0;) {
        if (is_drawable(c, low[i].x, low[i].y) && is_drawable(c, high[i].x, high[i].y)) {
            fprintf(c->out, "L%.1f %.1f", chart_x(c, low[i].x), chart_y(c, low[i].y));
        }
    }
    fputs(is_first ? "\"/>\n" : "Z\"/>\n", c->out);
}

void chart_mark(struct chart *c, double x, double y, enum chart_mark mark, unsigned series, const char *tooltip)
{
    if (!is_drawable(c, x, y)) {
        return;
    }
    double px = chart_x(c, x), py = chart_y(c, y);
    fputs("<g class=\"nc-point\"><title>", c->out);
    escape_html(c->out, tooltip);
    fprintf(c->out, "</title><circle class=\"nc-hit\" cx=\"%.1f\" cy=\"%.1f\" r=\"11\"/>", px, py);
    if (mark == CHART_MARK_POINT) {
        fprintf(c->out, "<circle class=\"nc-mark nc-f%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.6\"/>", series % N_SERIES, px,
                py);
    } else if (mark == CHART_MARK_OFF_CURVE) {
        fprintf(c->out, "<circle class=\"nc-off nc-s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.2\"/>", series % N_SERIES, px,
                py);
    } else {
        fprintf(c->out,
                "<circle class=\"nc-invalid\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/><path class=\"nc-invalid\" d=\"M%.1f "
                "%.1fl6 6m0 -6l-6 6\"/>",
                px, py, px - 3, py - 3);
    }
    fputs("</g>\n", c->out);
}

void chart_hline(struct chart *c, double y, const char *label, const char *classes, bool is_left)
{
    if (!(y > 0) || y > c->y_max) {
        return;
    }
    double right = c->width - c->right, py = chart_y(c, y);
    fprintf(c->out,
            "<path class=\"nc-%s\" d=\"M%.1f %.1fH%.1f\"/><text class=\"nc-label-%s\" x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"%s\">",
            classes, c->left, py, right, classes, is_left ? c->left + 8 : right - 6, py - 6, is_left ? "start" : "end");
    escape_html_short(c->out, label);
    fputs("</text>\n", c->out);
}

void chart_vline(struct chart *c, double x, const char *label, const char *classes)
{
    double px = chart_x(c, x);
    fprintf(c->out, "<path class=\"nc-%s\" d=\"M%.1f %.1fV%.1f\"/>", classes, px, c->top, c->height - c->bottom);
    if (label) {
        fprintf(c->out, "<text class=\"nc-text\" x=\"%.1f\" y=\"%.1f\">", px + 3, c->top + 10);
        escape_html_short(c->out, label);
        fputs("</text>", c->out);
    }
    fputs("\n", c->out);
}

void chart_label(struct chart *c, double x, double y, const char *text, const char *classes)
{
    if (!is_drawable(c, x, y)) {
        return;
    }
    double px = chart_x(c, x), py = chart_y(c, y), right = c->width - c->right;
    bool is_at_right = px > right - 140;
    fprintf(c->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", classes,
            is_at_right ? px - 10 : px + 10, fmax(c->top + 12, py - 10), is_at_right ? "end" : "start");
    escape_html_short(c->out, text);
    fputs("</text>\n", c->out);
}

void chart_heading(struct chart *c, const char *title, const char *subtitle)
{
    fprintf(c->out, "<text class=\"nc-heading\" x=\"%.1f\" y=\"28\">", c->left);
    escape_html_short(c->out, title);
    fprintf(c->out, "</text>\n<text class=\"nc-text nc-sub\" x=\"%.1f\" y=\"49\">", c->left);
    escape_html_short(c->out, subtitle);
    fputs("</text>\n", c->out);
}

void chart_foot(struct chart *c, const char *first, const char *second)
{
    fprintf(c->out, "<text class=\"nc-text nc-foot\" x=\"%.1f\" y=\"%.1f\">", c->left, c->height - 24);
    escape_html_short(c->out, first);
    fprintf(c->out, "</text>\n<text class=\"nc-text nc-foot\" x=\"%.1f\" y=\"%.1f\">", c->left, c->height - 10);
    escape_html_short(c->out, second);
    fputs("</text>\n", c->out);
}

/* About the width of a text in the 12 px font. */
static double text_width(const char *text)
{
    double n = 0;
    for (; *text; text++) {
        n += (*text & 0xc0) != 0x80;
    }
    return fmin(n, ESCAPE_SHORT_BYTES) * 7.3;
}

void chart_legend(struct chart *c, const struct chart_legend *entries, size_t n)
{
    double x = c->left, y = c->legend_y > 0 ? c->legend_y : 18, right = c->width - c->right;
    for (size_t i = 0; i < n; i++) {
        double width = 30 + text_width(entries[i].label) + 16;
        if (x > c->left && x + width > right) {
            x = c->left;
            y += 18;
        }
        if (entries[i].swatch == CHART_SWATCH_AREA) {
            fprintf(c->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"10\"/>", entries[i].classes,
                    x, y - 9);
        } else if (entries[i].swatch == CHART_SWATCH_INVALID) {
            fprintf(c->out, "<circle class=\"nc-invalid\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>", x + 11, y - 4);
        } else {
            fprintf(c->out, "<path class=\"nc-line %s\" d=\"M%.1f %.1fh22\"/>", entries[i].classes, x, y - 4);
        }
        fprintf(c->out, "<text class=\"nc-text\" x=\"%.1f\" y=\"%.1f\">", x + 28, y);
        escape_html_short(c->out, entries[i].label);
        fputs("</text>\n", c->out);
        x += width;
    }
}
