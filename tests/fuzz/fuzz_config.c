/* fuzz_config.c - a campaign file and --set assignments are anybody's text: reading them ends in a struct or in
 * messages of one printable line each, and a line number is found or not, but never looked for outside the text.
 *
 * The input is the file's text, and after a NUL byte an assignment.
 */
#include "config.h"
#include "workload.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_messages(const struct config_errors *errors)
{
    for (size_t i = 0; i < errors->n; i++) {
        for (const char *c = errors->messages[i]; *c; c++) {
            if ((unsigned char)*c < 0x20 || *c == 0x7f) {
                abort(); /* a message that could forge a second one or drive the terminal */
            }
        }
    }
}

/* Every key path of the document, as messages would name it, down to some depth. */
static void find_lines(const struct config_source *src, const json_t *value, const char *path, unsigned depth)
{
    char below[600];
    const char *key;
    json_t *member;
    size_t i;
    (void)config_line_of(src, path);
    if (depth == 0) {
        return;
    }
    json_object_foreach((json_t *)value, key, member)
    {
        snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", key);
        find_lines(src, member, below, depth - 1);
    }
    json_array_foreach(value, i, member)
    {
        if (i == 8) {
            break;
        }
        snprintf(below, sizeof below, "%s[%zu]", path, i);
        find_lines(src, member, below, depth - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config_source src;
    struct config_errors errors;
    struct workload w;
    char *text = malloc(size + 2);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';

    config_errors_init(&errors);
    if (config_load_text(&src, "fuzz.json", text, &errors) == 0) {
        const char *assignment = text + strlen(text) + 1;
        if (assignment < text + size) {
            size_t n_before = errors.n;
            int error = config_set(&src, assignment, &errors);
            if ((error != 0) != (errors.n > n_before)) {
                abort(); /* refused without a word, or a word and not refused */
            }
        }
        find_lines(&src, src.root, "", 4);
        if (workload_resolve(&src, json_object_get(src.root, "workload"), src.root, &w, &errors) == 0) {
            (void)workload_range_bytes(&w, 17, 12345);
            (void)workload_requests_per_op(&w);
            (void)workload_request_max_bytes(&w, NFS_OP_READ, 32768);
            workload_fini(&w);
        }
    }
    check_messages(&errors);
    config_errors_fini(&errors);
    config_source_fini(&src);
    free(text);
    return 0;
}
