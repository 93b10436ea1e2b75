/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loads of a small tree: its switches in rows by level, and lines between them. */
#ifndef CLI_LOAD_LINES_H
#define CLI_LOAD_LINES_H

#include "load_picture.h"

/* load_picture_draw() for a fabric of which `drawn` is true. */
int load_lines_draw(FILE *page, const struct load_picture *picture,
		    const struct hd_congestion_report *report, const char *id, char letter);

#endif
