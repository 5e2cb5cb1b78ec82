#include "report_output.h"
#include "exit_status.h"
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_COLUMNS 100
#define MAX_COLUMNS     1000

static void say_formats(const char *command, const char *format_name)
{
    fprintf(stderr, "nfscurve %s: there is no format \"%.60s\"; there are", command, format_name);
    for (int f = 0; f < REPORT_FORMAT_COUNT; f++) {
        fprintf(stderr, "%s %s", f == 0 ? "" : ",", report_format_name((enum report_format)f));
    }
    fputc('\n', stderr);
}

int report_output_choose(struct report_output *o, const char *format_name)
{
    static const char *const endings[][2] = {
        {".html", "html"},   {".htm", "html"},  {".txt", "text"},   {".csv", "csv"},         {".svg", "svg"},
        {".png", "png"},     {".json", "json"}, {".gp", "gnuplot"}, {".gnuplot", "gnuplot"}, {".plt", "gnuplot"},
        {".md", "markdown"}, {".hgrm", "hgrm"}, {".hlog", "hlog"},  {"sfssum", "sfssum"},
    };
    o->format = REPORT_TEXT;
    if (format_name != NULL) {
        if (report_format_parse(format_name, &o->format) == 0) {
            return 0;
        }
        say_formats(o->command, format_name);
        return -EINVAL;
    }
    size_t n = o->out_path != NULL ? strlen(o->out_path) : 0;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t n_ending = strlen(endings[i][0]);
        if (n >= n_ending && strcmp(o->out_path + n - n_ending, endings[i][0]) == 0) {
            return report_format_parse(endings[i][1], &o->format);
        }
    }
    return 0;
}

int report_output_columns(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long wanted = columns != NULL ? strtol(columns, NULL, 10) : 0;
    if (wanted > 0) {
        return wanted < MAX_COLUMNS ? (int)wanted : MAX_COLUMNS;
    }
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return DEFAULT_COLUMNS;
}

static int complain(const struct report_output *o, int error)
{
    const char *to = o->out_path != NULL ? o->out_path : "standard output";
    if (error == -ENOTSUP) {
        fprintf(stderr, "nfscurve %s: format %s needs figures that this result does not hold\n", o->command,
                report_format_name(o->format));
        return EXIT_STATUS_USAGE;
    }
    fprintf(stderr, "nfscurve %s: %s cannot be written: %s\n", o->command, to, strerror(-error));
    return error == -ENOMEM ? EXIT_STATUS_COULD_NOT_RUN : EXIT_STATUS_USAGE;
}

int report_output_write(const struct report_output *o,
                        int (*render)(const void *subject, enum report_format format, FILE *out), const void *subject)
{
    bool is_stdout = o->out_path == NULL || strcmp(o->out_path, "-") == 0;
    if (is_stdout && o->format == REPORT_PNG && isatty(STDOUT_FILENO)) {
        fprintf(stderr, "nfscurve %s: a PNG picture does no good to a terminal; use --out FILE.png\n", o->command);
        return EXIT_STATUS_USAGE;
    }
    char *text = NULL;
    size_t n = 0;
    FILE *out = is_stdout ? stdout : open_memstream(&text, &n);
    int error = out != NULL ? render(subject, o->format, out) : -ENOMEM;
    if (out != NULL && (is_stdout ? fflush(out) : fclose(out)) != 0 && error == 0) {
        error = errno != 0 ? -errno : -EIO;
    }
    if (error == 0 && !is_stdout) {
        error = file_write(o->out_path, text, n);
    }
    free(text);
    return error == 0 ? EXIT_STATUS_VALID : complain(o, error);
}
