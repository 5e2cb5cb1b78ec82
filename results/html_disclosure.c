/* html_disclosure.c - the disclosed sections, from the one table of disclosure.c. */
#include "disclosure.h"
#include "escape.h"
#include "report_html.h"

#include <stdlib.h>
#include <string.h>

/* Has any of the shown objects this field? Empty columns are not shown. */
static bool has_field(const json_t *rows, const char *key)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (json_object_get(json_array_get(rows, i), key)) {
            return true;
        }
    }
    return false;
}

static void put_value(FILE *out, const json_t *value)
{
    char number[48];
    escape_html(out, disclosure_text(value, number));
}

static void put_rows(FILE *out, const struct disclosure_section *s, const json_t *rows)
{
    fputs("<div class=\"table-wrap\"><table class=\"wide\"><thead><tr>", out);
    for (const struct disclosure_field *f = s->fields; f->key; f++) {
        if (has_field(rows, f->key)) {
            fprintf(out, "<th>%s</th>", f->title);
        }
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        fputs("<tr>", out);
        for (const struct disclosure_field *f = s->fields; f->key; f++) {
            if (!has_field(rows, f->key)) {
                continue;
            }
            fputs("<td>", out);
            put_value(out, json_object_get(json_array_get(rows, i), f->key));
            fputs("</td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_record(FILE *out, const struct disclosure_section *s, const json_t *record)
{
    fputs("<table class=\"wide record\"><tbody>\n", out);
    for (const struct disclosure_field *f = s->fields; f->key; f++) {
        const json_t *value = json_object_get(record, f->key);
        if (!value) {
            continue;
        }
        fprintf(out, "<tr><th scope=\"row\">%s</th><td class=\"prose\">", f->title);
        put_value(out, value);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

static bool is_there(const struct disclosure_section *s, const json_t *value)
{
    switch (s->kind) {
    case DISCLOSURE_TEXT:
        return json_is_string(value) && json_string_length(value) > 0;
    case DISCLOSURE_RECORD:
        return json_object_size(value) > 0;
    default:
        return json_array_size(value) > 0;
    }
}

/* Does this heading, or one of the sections under it, have something to show? */
static bool is_heading_used(const struct disclosure_section *s, const json_t *disclosure)
{
    do {
        if (is_there(s, json_object_get(disclosure, s->key))) {
            return true;
        }
        s++;
    } while (s->key && !s->heading);
    return false;
}

static void put_section(FILE *out, const struct disclosure_section *s, const json_t *value, bool has_title)
{
    if (has_title) {
        fprintf(out, "<h3>%s</h3>\n", s->title);
    }
    switch (s->kind) {
    case DISCLOSURE_TEXT:
        fputs("<p class=\"prose\">", out);
        escape_html(out, json_string_value(value));
        fputs("</p>\n", out);
        break;
    case DISCLOSURE_RECORD:
        put_record(out, s, value);
        break;
    case DISCLOSURE_ROWS:
        put_rows(out, s, value);
        break;
    }
}

static bool is_known(const char *key)
{
    for (const struct disclosure_section *s = disclosure_sections(); s->key; s++) {
        if (strcmp(s->key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* What somebody disclosed beyond the table is shown as it is. */
static void put_further(FILE *out, const json_t *disclosure)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)disclosure, key, value)
    {
        if (is_known(key)) {
            continue;
        }
        char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY);
        fputs("<section><h2>", out);
        escape_html_short(out, key);
        fputs("</h2><p class=\"prose\">", out);
        escape_html(out, text ? text : json_string_value(value));
        fputs("</p></section>\n", out);
        free(text);
    }
}

void html_disclosure(const struct result *r, FILE *out)
{
    bool is_open = false, is_shown = false, is_any_missing = false;
    if (json_object_size(r->disclosure) == 0) {
        return;
    }
    fputs("<div id=\"disclosure\">\n", out);
    for (const struct disclosure_section *s = disclosure_sections(); s->key; s++) {
        const json_t *value = json_object_get(r->disclosure, s->key);
        if (s->heading) {
            if (is_open) {
                fputs("</section>\n", out);
            }
            is_shown = is_open = is_heading_used(s, r->disclosure);
            if (is_open) {
                fprintf(out, "<section><h2>%s</h2>\n", s->heading);
            }
        }
        if (is_shown && is_there(s, value)) {
            put_section(out, s, value, !s->heading || (s[1].key && !s[1].heading));
        }
        is_any_missing = is_any_missing || (!is_there(s, value) && s->need != DISCLOSURE_OPTIONAL);
    }
    if (is_open) {
        fputs("</section>\n", out);
    }
    put_further(out, r->disclosure);
    if (is_any_missing) {
        const char *before = "<p class=\"hint\">Not disclosed: ";
        for (const struct disclosure_section *s = disclosure_sections(); s->key; s++) {
            if (s->need == DISCLOSURE_OPTIONAL || is_there(s, json_object_get(r->disclosure, s->key))) {
                continue;
            }
            fprintf(out, "%s%s", before, s->title);
            before = ", ";
        }
        fputs(".</p>\n", out);
    }
    fputs("</div>\n", out);
}
