/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of a page that needs nothing from outside: text, histograms, a map of links. */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include <heddle/analysis.h>
#include <stdio.h>

/* Head and style, up to where the contents begin; and the end. */
void html_begin(FILE *page, const char *title);
void html_end(FILE *page);

/* Text with what HTML would take for markup made harmless. */
void html_text(FILE *page, const char *text);

/* Patterns by mean share; all histograms of one page are drawn over the same range. */
void html_histogram(FILE *page, const struct hd_congestion_report *report, uint32_t first_bin,
		    uint32_t end_bin);

/*
 * Switches in rows by level (hosts' switches below), lines between them by colour: the larger
 * of both directions' flows a round, `hottest` is the darkest. Draws at most the 4,000 hottest
 * pairs of switches and says so.
 */
void html_link_map(FILE *page, const struct hd_fabric *fabric,
		   const struct hd_congestion_report *report, double hottest);

#endif
