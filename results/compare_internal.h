/* compare_internal.h - the forms of a comparison. */
#ifndef NFSCURVE_RESULTS_COMPARE_INTERNAL_H
#define NFSCURVE_RESULTS_COMPARE_INTERNAL_H

#include "compare.h"

#include <jansson.h>
#include <stdio.h>

int compare_text(const struct compare_group *groups, const struct comparison *c, FILE *out);
int compare_markdown(const struct compare_group *groups, const struct comparison *c, FILE *out);
int compare_csv(const struct comparison *c, FILE *out);
int compare_json(const struct compare_group *groups, const struct comparison *c, FILE *out);
int compare_gnuplot(const struct compare_group *groups, const struct comparison *c, FILE *out);
int compare_svg(const struct compare_group *groups, const struct comparison *c, FILE *out);
int compare_png(const struct compare_group *groups, const struct comparison *c, FILE *out);
int compare_html(const struct compare_group *groups, const struct comparison *c, FILE *out);

/* Array of strings, one for each thing that group g was not measured alike with as the first; the caller's. */
json_t *compare_setup_differences(const struct compare_group *groups, size_t g);

/* The verdict on a pair in words: what was judged, and whether everything was. */
const char *compare_pair_words(const struct comparison *c, size_t g);

const char *compare_noise_words(enum compare_noise noise);
const char *compare_verdict(const struct compare_difference *d);
const char *compare_percent(double v, char out[static 48]);
const char *compare_half_width(double v, char out[static 48]);
char compare_letter(size_t g); /* A, B, ... */

#endif
