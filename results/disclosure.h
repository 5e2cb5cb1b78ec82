/* disclosure.h - what a full disclosure says, as one table: for the page, for report --check and for the documentation.
 *
 * The fields are those of the published result pages, in their order.
 */
#ifndef NFSCURVE_RESULTS_DISCLOSURE_H
#define NFSCURVE_RESULTS_DISCLOSURE_H

#include <jansson.h>
#include <stddef.h>

enum disclosure_need {
    DISCLOSURE_REQUIRED, /* missing is an error */
    DISCLOSURE_EXPECTED, /* missing is a warning */
    DISCLOSURE_OPTIONAL
};

enum disclosure_kind {
    DISCLOSURE_TEXT,   /* a paragraph */
    DISCLOSURE_RECORD, /* one object */
    DISCLOSURE_ROWS    /* an array of objects */
};

enum disclosure_type { DISCLOSURE_IS_TEXT, DISCLOSURE_IS_NUMBER };

struct disclosure_field {
    const char *key, *title;
    enum disclosure_need need;
    enum disclosure_type type;
};

struct disclosure_section {
    const char *key;     /* in "disclosure" */
    const char *heading; /* of the page; NULL: stands under the heading before it */
    const char *title;
    enum disclosure_kind kind;
    enum disclosure_need need;
    const struct disclosure_field *fields; /* ends with key == NULL; NULL for a text */
};

/* Ends with key == NULL. */
const struct disclosure_section *disclosure_sections(void);

/* A value as text: strings as they are, numbers in shortest form, into buffer[>= 48] when needed; "" for anything else.
 */
const char *disclosure_text(const json_t *value, char buffer[static 48]);

#endif
