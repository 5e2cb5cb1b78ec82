/* fuzz_result.c - bytes as a result file, of any kind; what is accepted must survive every report and a round trip. */
#include "json_text.h"
#include "report.h"
#include "result.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const struct result *r, FILE *nowhere)
{
    static const enum report_format formats[] = {REPORT_HTML,          REPORT_TEXT, REPORT_CSV,    REPORT_CSV_OPS,
                                                 REPORT_CSV_INTERVALS, REPORT_SVG,  REPORT_SFSSUM, REPORT_GNUPLOT,
                                                 REPORT_MARKDOWN,      REPORT_HGRM, REPORT_HLOG};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        report_render(r, formats[i], nowhere);
    }
    struct disclosure_findings findings;
    if (disclosure_check(r, &findings) == 0) {
        disclosure_findings_print(&findings, nowhere);
    }
    disclosure_findings_fini(&findings);
    const struct result *both[] = {r, r};
    struct compare_group groups[] = {{"a", both, 2}, {"b", both, 1}};
    compare_render(groups, 2, REPORT_HTML, nowhere);
    compare_render(groups, 2, REPORT_TEXT, nowhere);
}

static char *text_of(const struct result *r, size_t *n)
{
    json_t *root = result_to_json(r);
    char *text = json_text(root, n);
    json_decref(root);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct result r, again;
    struct result_error error;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    if (result_from_text("fuzz", text, size, &r, &error) == 0) {
        FILE *nowhere = fopen("/dev/null", "w");
        size_t n, n_again;
        render(&r, nowhere);
        fclose(nowhere);
        char *first = text_of(&r, &n);
        if (result_from_text("fuzz", first, n, &again, &error) != 0) {
            abort();
        }
        char *second = text_of(&again, &n_again);
        if (n != n_again || memcmp(first, second, n) != 0) {
            abort();
        }
        free(first);
        free(second);
        result_fini(&again);
        result_fini(&r);
    }
    free(text);
    return 0;
}
