/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "held_log.h"

struct held_line {
	struct held_line *next;
	enum hd_log_level level;
	const char *text;
};

static void hold(void *context, enum hd_log_level level, const char *text)
{
	struct held_log *held = context;
	struct held_line *line = hd_arena_alloc(&held->arena, 1, sizeof(*line));
	const char *copy = hd_arena_strdup(&held->arena, text);

	if (!line || !copy)
		return;
	*line = (struct held_line){.level = level, .text = copy};
	*held->end = line;
	held->end = &line->next;
}

void held_log_begin(struct held_log *held)
{
	*held = (struct held_log){.log = {hold, held}, .end = &held->first};
}

void held_log_write(const struct held_log *held, const struct hd_log *log)
{
	for (const struct held_line *line = held->first; line; line = line->next)
		hd_log(log, line->level, "%s", line->text);
}

void held_log_release(struct held_log *held)
{
	hd_arena_release(&held->arena);
	held->first = NULL;
	held->end = &held->first;
}
