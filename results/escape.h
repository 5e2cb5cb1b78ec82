/* escape.h - text from outside, put into each medium so that it can do no harm there.
 *
 * All input is valid UTF-8 (utf8.h). Control characters and what turns the direction of text are replaced; very long
 * texts are cut with their length said, so that a hostile megabyte neither hides a page nor floods a terminal.
 */
#ifndef NFSCURVE_RESULTS_ESCAPE_H
#define NFSCURVE_RESULTS_ESCAPE_H

#include <stdio.h>

#define ESCAPE_LONG_BYTES  8000 /* paragraphs and table cells */
#define ESCAPE_SHORT_BYTES 120  /* titles, legends, file names */

/* HTML or XML, element content and quoted attributes; newlines stay. NULL prints nothing. */
void escape_html(FILE *out, const char *text);
void escape_html_whole(FILE *out, const char *text); /* however long it is: for our own JSON */
void escape_html_short(FILE *out, const char *text); /* one line, short */

/* Terminal: one line, control characters as \xNN. */
void escape_terminal(FILE *out, const char *text, size_t max_bytes);

/* One CSV field, quoted when it must be; a spreadsheet takes it for text (no leading = + - @), newlines become spaces.
 */
void escape_csv(FILE *out, const char *text);

/* Inside a Markdown table cell or paragraph: nothing in it is markup. */
void escape_markdown(FILE *out, const char *text);

/* A gnuplot string literal with its quotes: nothing is expanded in it. */
void escape_gnuplot(FILE *out, const char *text);

#endif
