/* plan.c - see plan.h. Prints figures that campaign_layout.c computed; computes nothing itself. */
#include "plan.h"

#include "campaign_config.h"
#include "campaign_layout.h"
#include "units.h"

#include <inttypes.h>

double plan_phases_s(const struct campaign_config *c)
{
    return (double)c->repeats * (double)c->n_loads * (c->warmup_s + c->run_s);
}

static void print_nonstandard(const struct campaign_config *c, FILE *out)
{
    size_t n = json_array_size(c->nonstandard);
    if (n == 0) {
        fprintf(out, "  standard values throughout\n");
        return;
    }
    fprintf(out, "  non-standard, which every report will say:\n");
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "    - %s\n", json_string_value(json_array_get(c->nonstandard, i)));
    }
}

static void print_head(const struct campaign_config *c, FILE *out)
{
    char duration[UNITS_TEXT_MAX];
    fprintf(out, "campaign %s: workload %s, %zu point%s from %g to %g ops/s", c->name, c->workload.name, c->n_loads,
            c->n_loads == 1 ? "" : "s", c->loads[0], c->loads[c->n_loads - 1]);
    if (c->repeats > 1) {
        fprintf(out, ", measured %" PRId64 " times", c->repeats);
    }
    fprintf(out, "\n  warm-up %g s, run %g s a point: %s of load, populating not counted\n", c->warmup_s, c->run_s,
            units_format_duration(duration, (int64_t)(plan_phases_s(c) * 1e9)));
    fprintf(out,
            "  %zu load generator%s x %" PRId64 " processes x %" PRId64
            " connection%s, engine %s, biods %u read, %u write\n",
            c->n_loadgens, c->n_loadgens == 1 ? "" : "s", c->processes_per_loadgen, c->connections_per_process,
            c->connections_per_process == 1 ? "" : "s", campaign_engine_name(c), c->workload.biod_max_read,
            c->workload.biod_max_write);
    if (c->workload.block_size_bytes > 0) {
        fprintf(out, "  block size %u KiB\n", c->workload.block_size_bytes / 1024);
    } else {
        fprintf(out, "  block size as the server's FSINFO says, at most %u KiB\n",
                c->workload.block_size_max_bytes / 1024);
    }
    print_nonstandard(c, out);
}

static void print_port(const char *what, int64_t port, FILE *out)
{
    if (port == 0) {
        fprintf(out, "%s from the portmapper", what);
    } else {
        fprintf(out, "%s %" PRId64, what, port);
    }
}

static void print_targets(const struct campaign_config *c, FILE *out)
{
    fprintf(out, "\ntargets\n");
    for (size_t i = 0; i < c->n_targets; i++) {
        const struct campaign_target *t = &c->targets[i];
        if (t->is_local) {
            fprintf(out, "  %-12s nfscurve-target on this host, export %s, data %s%s%s\n", t->name, t->export_path,
                    t->local.data, t->local.latency[0] ? ", latency " : "", t->local.latency);
        } else {
            fprintf(out, "  %-12s %s:%s", t->name, t->server, t->export_path);
            print_port(", NFS port", t->nfs_port, out);
            print_port(", MOUNT port", t->mount_port, out);
            fputc('\n', out);
        }
    }
}

static void print_mapping(const struct campaign_config *c, FILE *out)
{
    bool is_uniform = campaign_access_is_uniform(c);
    fprintf(out, "\nload generators and mapping (%s)\n",
            is_uniform ? "uniform access: each drives every target with the same number of processes"
                       : "access is NOT uniform: the campaign maps load generators to targets");
    for (size_t g = 0; g < c->n_loadgens; g++) {
        const struct campaign_loadgen *lg = &c->loadgens[g];
        if (lg->is_local) {
            fprintf(out, "  %-12s nfscurve-loadgen on this host ->", lg->name);
        } else {
            fprintf(out, "  %-12s %s:%" PRId64 " ->", lg->name, lg->host, lg->port);
        }
        for (size_t t = 0; t < c->n_targets; t++) {
            int n = 0;
            for (uint32_t p = 0; p < (uint32_t)c->processes_per_loadgen; p++) {
                n += campaign_process_target(c, (uint32_t)g, p) == t;
            }
            if (n > 0) {
                fprintf(out, " %s x %d", c->targets[t].name, n);
            }
        }
        fprintf(out, "\n");
    }
}

static void print_points(const struct campaign_config *c, const struct campaign_layout *layouts, FILE *out)
{
    char bytes[UNITS_TEXT_MAX], ws_bytes[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX];
    fprintf(out, "\npoints, over all load generators\n");
    fprintf(out, "  %5s %12s %12s %12s %12s %12s %12s %10s %10s %12s\n", "point", "ops/s", "I/O files", "bytes",
            "working set", "bytes", "directories", "non-I/O", "symlinks", "memory");
    for (size_t i = 0; i < c->n_loads; i++) {
        const struct layout_totals *t = &layouts[i].totals;
        fprintf(out,
                "  %5zu %12g %12" PRIu64 " %12s %12" PRIu64 " %12s %12" PRIu64 " %10" PRIu64 " %10" PRIu64 " %12s\n",
                i + 1, c->loads[i], t->n_files, units_format_bytes_column(bytes, t->file_bytes), t->n_working_set,
                units_format_bytes_column(ws_bytes, t->working_set_bytes), t->n_directories, t->n_non_io_files,
                t->n_symlinks, units_format_bytes_column(memory, t->memory_bytes));
    }
}

static void print_processes(const struct campaign_config *c, const struct campaign_layout *layout, FILE *out)
{
    char bytes[UNITS_TEXT_MAX];
    fprintf(out, "\nprocesses at %g ops/s\n", layout->requested_ops_per_s);
    fprintf(out, "  %-12s %4s %-12s %-24s %10s %10s %10s %12s %11s %6s %6s %8s %16s\n", "loadgen", "proc", "target",
            "directory", "ops/s", "first file", "files", "bytes", "working set", "groups", "dirs", "non-I/O", "seed");
    for (size_t i = 0; i < layout->n_processes; i++) {
        const struct process_layout *l = &layout->processes[i];
        char directory[64];
        snprintf(directory, sizeof directory, "CL%u/testdir%u", l->client, l->process);
        fprintf(out,
                "  %-12s %4u %-12s %-24s %10.4g %10" PRIu64 " %10" PRIu64 " %12s %11" PRIu64 " %6u %6" PRIu64
                " %8" PRIu64 " %016" PRIx64 "\n",
                c->loadgens[l->loadgen].name, l->process, c->targets[l->target].name, directory, l->ops_per_s,
                l->first_file, l->n_files, units_format_bytes_column(bytes, l->file_bytes), l->n_working_set,
                l->n_access_groups, l->n_directories, l->n_non_io_files, l->seed);
    }
}

void plan_print(const struct campaign_config *c, const struct campaign_layout *layouts, FILE *out)
{
    print_head(c, out);
    print_targets(c, out);
    print_mapping(c, out);
    print_points(c, layouts, out);
    print_processes(c, &layouts[c->n_loads - 1], out);
}

static json_t *totals_to_json(const struct layout_totals *t)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "files", (json_int_t)t->n_files, "bytes",
                     (json_int_t)t->file_bytes, "working_set_files", (json_int_t)t->n_working_set, "working_set_bytes",
                     (json_int_t)t->working_set_bytes, "directories", (json_int_t)t->n_directories, "non_io_files",
                     (json_int_t)t->n_non_io_files, "symlinks", (json_int_t)t->n_symlinks, "memory_bytes",
                     (json_int_t)t->memory_bytes);
}

static json_t *process_to_json(const struct campaign_config *c, const struct process_layout *l)
{
    char directory[64], seed[32];
    snprintf(directory, sizeof directory, "CL%u/testdir%u", l->client, l->process);
    snprintf(seed, sizeof seed, "%016" PRIx64, l->seed);
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:i, s:I, s:I, s:I, s:I}", "loadgen",
                     c->loadgens[l->loadgen].name, "process", (int)l->process, "target", c->targets[l->target].name,
                     "directory", directory, "seed", seed, "ops_per_s", l->ops_per_s, "first_file",
                     (json_int_t)l->first_file, "files", (json_int_t)l->n_files, "bytes", (json_int_t)l->file_bytes,
                     "first_working_set_file", (json_int_t)l->first_working_set, "working_set_files",
                     (json_int_t)l->n_working_set, "access_groups", (int)l->n_access_groups, "directories",
                     (json_int_t)l->n_directories, "non_io_files", (json_int_t)l->n_non_io_files, "symlinks",
                     (json_int_t)l->n_symlinks, "memory_bytes", (json_int_t)l->memory_bytes);
}

json_t *plan_to_json(const struct campaign_config *c, const struct campaign_layout *layouts)
{
    json_t *points = json_array();
    for (size_t i = 0; i < c->n_loads; i++) {
        json_t *point = totals_to_json(&layouts[i].totals), *processes = json_array();
        for (size_t p = 0; p < layouts[i].n_processes; p++) {
            json_array_append_new(processes, process_to_json(c, &layouts[i].processes[p]));
        }
        json_object_set_new(point, "requested_ops_per_s", json_real(c->loads[i]));
        json_object_set_new(point, "processes", processes);
        json_array_append_new(points, point);
    }
    return json_pack("{s:s, s:f, s:b, s:b, s:O, s:o, s:o}", "name", c->name, "phases_s", plan_phases_s(c), "standard",
                     json_array_size(c->nonstandard) == 0, "uniform_access", campaign_access_is_uniform(c),
                     "nonstandard", c->nonstandard, "points", points, "campaign", campaign_config_dump(c));
}
