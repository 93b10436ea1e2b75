/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds a pattern phase by phase, and holds it to the limits. */
#ifndef KEY_PATTERN_BUILD_H
#define KEY_PATTERN_BUILD_H

#include <heddle/keyd/key_pattern.h>
#include <stdbool.h>

struct key_pattern_build {
	struct hd_key_pattern *pattern;
	uint32_t flow_count;
	uint32_t phase_room, flow_room;
	struct hd_error *err;
	int rc; /* the first failure; then nothing more is added */
};

/* Begins a pattern for so many ranks. Errors: in build->rc. */
void key_pattern_build_begin(struct key_pattern_build *build, uint32_t ranks, struct hd_error *err);

/* Begins the next phase. */
void key_pattern_build_phase(struct key_pattern_build *build);

/* Adds a flow to the present phase; nothing if both ranks are the same. The ranks exist. */
void key_pattern_build_flow(struct key_pattern_build *build, uint32_t source, uint32_t destination);

/* Ends the pattern and hands it out, or frees it and returns the first failure: -EINVAL no ranks,
 * -ERANGE a limit, -ENOMEM. */
int key_pattern_build_end(struct key_pattern_build *build, struct hd_key_pattern **out);

#endif
