/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of figures in words for readers; --csv, --json and [expect] have the names themselves. */
#ifndef CLI_SIM_WORDS_H
#define CLI_SIM_WORDS_H

#include <stddef.h>

/* "class.a.latency.mean" is "mean latency of a". Returns buffer. */
const char *sim_words_figure(const char *name, char *buffer, size_t size);

/* What every class of messages has, as table heads: "latency.mean" is "mean latency". */
struct sim_words_ending {
	const char *ending, *words;
};
#define SIM_WORDS_ENDINGS 7
extern const struct sim_words_ending sim_words_endings[SIM_WORDS_ENDINGS];

#endif
