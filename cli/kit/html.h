/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of a page that loads nothing else: text, histograms, a map of links. */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include <heddle/analysis.h>
#include <stdio.h>

/* Everything before the contents, and everything after them. */
void html_begin(FILE *page, const char *title);
void html_end(FILE *page);

/* Text with all markup escaped. */
void html_text(FILE *page, const char *text);

/* Patterns by mean share. All histograms of a page have the same range of bins. */
void html_histogram(FILE *page, const struct hd_congestion_report *report, uint32_t first_bin,
		    uint32_t end_bin);

/*
 * Switches in rows by level, those with hosts at the bottom, and lines between them. The colour of
 * a line shows the flows a round of its busier direction; `hottest` is the darkest. Draws at most
 * the 4,000 hottest pairs of switches, and says so.
 */
int html_link_map(FILE *page, const struct hd_fabric *fabric,
		  const struct hd_congestion_report *report, double hottest);

#endif
