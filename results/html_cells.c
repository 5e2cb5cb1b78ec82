#include "html_cells.h"
#include "escape.h"
#include "report_internal.h"

#include <math.h>

void cell_number(FILE *out, double v, int decimals, const char *unit, bool is_off)
{
    char number[48];
    fprintf(out, "<td%s>%s%s</td>", is_off ? " class=\"off\"" : "", report_ms_column(v, decimals, number),
            isfinite(v) ? unit : "");
}

void cell_ms(FILE *out, double v)
{
    cell_number(out, v, 3, "", false);
}

void cell_count(FILE *out, uint64_t n)
{
    cell_number(out, n == RESULT_UNKNOWN ? NAN : (double)n, 0, "", false);
}

void cell_text(FILE *out, const char *classes, const char *text)
{
    fprintf(out, "<td class=\"%s\">", classes);
    escape_html(out, text);
    fputs("</td>", out);
}

void cell_point(const struct result *r, size_t i, FILE *out)
{
    char load[48];
    const struct point_result *p = &r->points[i];
    double ops = isnan(p->requested_ops_per_s) ? p->achieved_ops_per_s : p->requested_ops_per_s;
    fprintf(out, "<td>%zu</td><td>%s</td>", i + 1, report_ops(ops, load));
}
