/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The answer to a planner's question: how long the traffic takes under each of the tables. Only runs
 * that end with their traffic have an answer. */
#ifndef CLI_SIM_ANSWER_H
#define CLI_SIM_ANSWER_H

#include "sim_view.h"

#define SIM_ANSWER_SENTENCE 400
#define SIM_ANSWER_ADAPTIVE " with AR" /* at the end of a label */

/* Seconds until all of the traffic of a point had arrived; 0: it never did, or not yet. */
double sim_answer_time(const struct sim_view *view, uint32_t point);

/* Which tables are fastest, in one sentence. Returns buffer. */
const char *sim_answer_sentence(const struct sim_view *view, char *buffer, size_t size);

/* The sentence, and a row for each point: to standard output, or to a page. */
void sim_answer_print(const struct sim_view *view);
void sim_answer_html(const struct sim_view *view, FILE *page);

/* {"sentence", "best", "ratio", "tables": [...]}; "best" is the fastest of several, or null. */
json_t *sim_answer_json(const struct sim_view *view);

#endif
