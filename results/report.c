/* report.c - one table of forms: names and functions. */
#include "report.h"
#include "json_text.h"
#include "report_internal.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

static int report_json(const struct result *r, FILE *out)
{
    json_t *root = result_to_json(r);
    if (!root) {
        return -ENOMEM;
    }
    int error = json_text_write(root, out);
    json_decref(root);
    return error;
}

static int report_text(const struct result *r, FILE *out)
{
    return report_render_text(r, 100, false, out);
}

static const struct {
    const char *name;
    int (*render)(const struct result *r, FILE *out);
} formats[REPORT_FORMAT_COUNT] = {
    [REPORT_HTML] = {"html", report_html},
    [REPORT_TEXT] = {"text", report_text},
    [REPORT_CSV] = {"csv", report_csv},
    [REPORT_CSV_OPS] = {"csv-ops", report_csv_ops},
    [REPORT_CSV_INTERVALS] = {"csv-intervals", report_csv_intervals},
    [REPORT_SVG] = {"svg", report_svg},
    [REPORT_PNG] = {"png", report_png},
    [REPORT_JSON] = {"json", report_json},
    [REPORT_SFSSUM] = {"sfssum", report_sfssum},
    [REPORT_GNUPLOT] = {"gnuplot", report_gnuplot},
    [REPORT_MARKDOWN] = {"markdown", report_markdown},
    [REPORT_HGRM] = {"hgrm", report_hgrm},
    [REPORT_HLOG] = {"hlog", report_hlog},
};

int report_format_parse(const char *name, enum report_format *format)
{
    for (int i = 0; i < REPORT_FORMAT_COUNT; i++) {
        if (strcasecmp(formats[i].name, name) == 0) {
            *format = (enum report_format)i;
            return 0;
        }
    }
    return -EINVAL;
}

const char *report_format_name(enum report_format format)
{
    return formats[format].name;
}

int report_render(const struct result *r, enum report_format format, FILE *out)
{
    int error = formats[format].render(r, out);
    return error ? error : ferror(out) ? -EIO : 0;
}
