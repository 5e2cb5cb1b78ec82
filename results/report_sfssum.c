/* report_sfssum.c - the summary file that SFS left beside its results, one line a point.
 *
 *   sfs3:    <7 blanks> requested achieved ms ops seconds 3 T      filesetKB clients processes biod_r biod_w 3.0
 *   sfs2008: <7 blanks> requested achieved ms ops seconds NFS3 T 4 filesetKB clients processes biod_r biod_w 2008
 *
 * People give these files to gnuplot ("using 2:3"), which counts words: SFS's leading INVALID moved every column by
 * one. Here INVALID is the last word of its line, where it moves nothing; import_curve.c reads both places. Lines that
 * start with # are comments to gnuplot.
 */
#include "json_text.h"
#include "report_internal.h"

#include <math.h>
#include <string.h>

static double whole(double v)
{
    return isfinite(v) ? floor(v + 0.5) : 0;
}

static double parameter(const struct result *r, const char *key, double otherwise)
{
    double v = json_double(json_object_get(r->disclosure, "benchmark_parameters"), key);
    const json_t *workload = json_object_get(r->campaign, "workload");
    if (isnan(v)) {
        v = json_double(r->campaign, key);
    }
    if (isnan(v)) {
        v = json_double(workload, key);
    }
    return isnan(v) ? otherwise : v;
}

int report_sfssum(const struct result *r, FILE *out)
{
    bool is_sfs3 = r->workload && strcmp(r->workload, "sfs3") == 0;
    double clients = r->n_loadgens ? (double)r->n_loadgens : parameter(r, "load_generators", 0);
    double processes = r->n_loadgens && r->loadgens[0].processes != RESULT_UNKNOWN
                           ? (double)r->loadgens[0].processes
                           : parameter(r, "processes_per_loadgen", 0);
    fputs("# " RESULT_TRADEMARK "\n", out);
    if (!r->is_standard) {
        fputs("# non-standard: not measured by the rules of the benchmark\n", out);
    }
    for (size_t i = 0; i < r->n_points; i++) {
        const struct point_result *p = &r->points[i];
        double requested = isnan(p->requested_ops_per_s) ? p->achieved_ops_per_s : p->requested_ops_per_s;
        double ms = isfinite(p->response_ms) ? p->response_ms : 0;
        /* one decimal as SFS printed it; three when that would lose what was measured */
        int decimals = fabs(ms * 10 - round(ms * 10)) < 1e-9 ? 1 : 3;
        double fileset_kb = p->fileset_bytes == RESULT_UNKNOWN ? 0 : (double)p->fileset_bytes / 1024;
        fprintf(out, "       %8.0f %8.0f %8.*f %10.0f %5.0f %s %11.0f %3.0f %3.0f %2.0f %2.0f %s%s\n", whole(requested),
                whole(p->achieved_ops_per_s), decimals, ms, p->n_ops == RESULT_UNKNOWN ? 0 : (double)p->n_ops,
                whole(p->run_s), is_sfs3 ? "3 T" : "NFS3 T 4", floor(fileset_kb), clients, processes,
                parameter(r, "biod_max_read", 2), parameter(r, "biod_max_write", 2), is_sfs3 ? "3.0" : "2008",
                p->is_valid ? "" : " INVALID");
    }
    return 0;
}
