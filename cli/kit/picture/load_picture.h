/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The loads of the links between switches as a picture: a small tree as its switches and lines, any
 * other fabric as a matrix, group by group.
 */
#ifndef CLI_LOAD_PICTURE_H
#define CLI_LOAD_PICTURE_H

#include "switch_groups.h"

#include <heddle/analysis.h>
#include <stdio.h>

struct load_picture {
	const struct hd_fabric *fabric;
	struct switch_groups groups; /* of the matrix */
	uint32_t *level; /* of each switch */
	bool drawn; /* switches and lines, not a matrix */
	double hottest; /* the load with the last colour */
};

/*
 * Prepares `pictures` pictures of one fabric, whose loads are up to `hottest`. Everything belongs
 * to the arena.
 */
void load_picture_prepare(const struct hd_fabric *fabric, uint32_t pictures, double hottest,
			  struct hd_arena *arena, struct load_picture *out);

/*
 * Draws the mean loads, flows a round, of one report. `id` is a word of its own in the page,
 * `letter` names the tables. All pictures of a page together have some thousand shapes at most.
 */
void load_picture_draw(FILE *page, const struct load_picture *picture,
		       const struct hd_congestion_report *report, const char *id, char letter);

/* Says how to read the pictures, as paragraphs and a list of the groups. */
void load_picture_explain(FILE *page, const struct load_picture *picture);

#endif
