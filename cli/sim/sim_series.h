/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The points of sweeps as lines over one of them. */
#ifndef CLI_SIM_SERIES_H
#define CLI_SIM_SERIES_H

#include <heddle/base/arena.h>
#include <heddle/sim/scenario.h>
#include <stddef.h>

/* ---- names of figures ---- */

/* Names of figures in words for readers; --csv, --json and [expect] have the names themselves. */

/* "class.a.latency.mean" is "mean latency of a". Returns buffer. */
const char *sim_words_figure(const char *name, char *buffer, size_t size);

/* What every class of messages has, as table heads: "latency.mean" is "mean latency". */
struct sim_words_ending {
	const char *ending, *words;
};
#define SIM_WORDS_ENDINGS 7
extern const struct sim_words_ending sim_words_endings[SIM_WORDS_ENDINGS];

/* ---- lines ---- */

struct sim_series_line {
	const char *name; /* the labels of the other sweeps; "" if there are none */
	uint32_t *points; /* [count] in the order of the sweep */
	uint32_t count;
};

/* The sweep is the last one whose labels are numbers of the same unit; else the last one. */
struct sim_series {
	const char *title; /* of the sweep; "" without sweeps */
	const char *unit; /* behind all numbers: "%" or " KiB"; "" */
	bool numeric;
	const char **labels; /* [label_count] of the sweep, in order */
	double *numbers; /* [label_count] */
	uint32_t label_count;
	uint32_t *place; /* of each point: its label */
	struct sim_series_line *lines; /* [line_count] */
	uint32_t line_count;
};

/* All belongs to `arena`. O(points^2). */
void sim_series_make(const struct hd_scenario_runs *runs, struct hd_arena *arena,
		     struct sim_series *out);

#endif
