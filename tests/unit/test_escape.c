#include "escape.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE "<script>alert('x')</script>\"&\n\x1b[31m\xe2\x80\xae|`rm -rf`$(x)\\"

static char *with(void (*put)(FILE *, const char *), const char *text)
{
    char *out = NULL;
    size_t n;
    FILE *file = open_memstream(&out, &n);
    put(file, text);
    fclose(file);
    return out;
}

static void terminal(FILE *out, const char *text)
{
    escape_terminal(out, text, 2000);
}

Test(escape, html_leaves_no_markup_and_no_control_character)
{
    char *out = with(escape_html, HOSTILE);
    cr_assert_null(strpbrk(out, "<>\"'\x1b"));
    cr_assert(strstr(out, "&lt;script&gt;"));
    cr_assert_null(strstr(out, "\xe2\x80\xae"));
    free(out);
}

Test(escape, terminal_gets_one_line_without_escape_sequences)
{
    char *out = with(terminal, HOSTILE);
    cr_assert_null(strpbrk(out, "\n\x1b"));
    cr_assert(strstr(out, "\\x1b"));
    free(out);
}

Test(escape, csv_field_is_one_quoted_text)
{
    char *out = with(escape_csv, "=1+\"2\"\n,x");
    cr_assert_str_eq(out, "\"'=1+\"\"2\"\" ,x\"");
    free(out);
    out = with(escape_csv, "plain");
    cr_assert_str_eq(out, "plain");
    free(out);
}

Test(escape, markdown_is_text)
{
    char *out = with(escape_markdown, "[a](b) *c* | `d` @me\n# x");
    cr_assert_str_eq(out, "\\[a\\]\\(b\\) \\*c\\* \\| \\`d\\` &#64;me \\# x");
    free(out);
}

Test(escape, gnuplot_expands_nothing)
{
    char *out = with(escape_gnuplot, "it's `date`\\n\"");
    cr_assert_str_eq(out, "'it''s  date  n\"'");
    free(out);
}

Test(escape, megabyte_is_cut_with_its_length_said)
{
    char *big = malloc((1 << 20) + 1);
    memset(big, 'x', 1 << 20);
    big[1 << 20] = '\0';
    char *out = with(escape_html, big);
    cr_assert_lt(strlen(out), ESCAPE_LONG_BYTES + 100);
    cr_assert(strstr(out, "1048576 bytes"));
    free(out);
    free(big);
}
