/* cmd_report.h - the commands that only read results: report, compare, and import of curves. Each returns an
 * exit_status. */
#ifndef NFSCURVE_PRIME_CMD_REPORT_H
#define NFSCURVE_PRIME_CMD_REPORT_H

int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);

/* kind: "sfssum" or "csv"; out_path NULL: standard output. */
int cmd_import_curve(const char *kind, const char *file, const char *out_path);

#endif
