/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frame of a page that loads nothing else, and text in it. */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include <stdint.h>
#include <stdio.h>

/*
 * Everything before the contents, and everything after them. The page has no scripts. Its style
 * fits a phone and follows the reader's choice of a light or a dark screen. The page is HTML, and
 * also well-formed XML.
 */
void html_begin(FILE *page, const char *title);
void html_end(FILE *page);

/* Text in plain form, see heddle/base/plain.h, with all markup escaped. */
void html_text(FILE *page, const char *text);

/* The same for a name, which may be long: one of more than HTML_NAME_MOST characters loses those in
 * the middle. html_name() also keeps the directions of writing apart; html_short() is for titles in
 * pictures, which must not have elements. */
void html_name(FILE *page, const char *name);
void html_short(FILE *page, const char *name);

#define HTML_NAME_MOST 64u

/* The same for an engine with its options or a path: lines may break behind , : / . and _. */
void html_tables(FILE *page, const char *name);

/* Loads in colours: classes h0 (no load) to h8 (the largest of the page). */
#define HTML_HEATS 8u

/* The class of a load, 0 .. HTML_HEATS. 0 only if the load is 0 or nothing has a load. */
unsigned html_heat(double load, double hottest);

/* A row of all these colours, and what the first and the last of them mean. */
void html_heat_key(FILE *page, double hottest, const char *unit);

#endif
