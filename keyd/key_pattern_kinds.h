/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of named patterns: what their arguments are, and who makes them. */
#ifndef KEY_PATTERN_KINDS_H
#define KEY_PATTERN_KINDS_H

#include "key_pattern_build.h"

#define KEY_PATTERN_AXES 3u

enum key_pattern_form {
	KEY_PATTERN_PLAIN, /* no arguments */
	KEY_PATTERN_GRID, /* [:SIZExSIZE...] */
	KEY_PATTERN_NUMBER, /* :NUMBER */
	KEY_PATTERN_SEED, /* [:NUMBER] */
	KEY_PATTERN_PATH /* :PATH */
};

struct key_pattern_arguments {
	bool given;
	uint32_t size[KEY_PATTERN_AXES]; /* of a grid; 0: it does not have that axis */
	uint32_t number;
	const char *path;
};

struct key_pattern_kind {
	enum key_pattern_form form;
	unsigned axes; /* of the grid in which the ranks lie; 0: in none */
	/* Adds phases and flows. NULL: the pattern is in a file. */
	void (*make)(struct key_pattern_build *build, const struct key_pattern_arguments *with);
};

/*
 * Cuts the ranks into a grid as evenly as they can be cut: the sizes with the lowest sum, descending.
 * Axes that the grid does not have get 0. O(ranks).
 */
void key_pattern_kinds_cut(uint32_t ranks, unsigned axes, uint32_t size[KEY_PATTERN_AXES]);

/* One for each of hd_key_pattern_kinds(). */
const struct key_pattern_kind *key_pattern_kinds_of(unsigned index);

#endif
