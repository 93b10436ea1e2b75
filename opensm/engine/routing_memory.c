/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "routing_memory.h"
#include "routing.h"

#include <string.h>

struct hd_stored_tables *routing_memory_find(const struct routing_memory *memory,
					     const char *engine)
{
	for (uint32_t i = 0; i < memory->baseline_count; i++)
		if (!strcmp(memory->baselines[i]->routes->engine, engine))
			return memory->baselines[i];
	return NULL;
}

bool routing_memory_same_options(const struct hd_routes *routes, const struct hd_options *options)
{
	char text[sizeof(routes->options)] = "";

	if (options)
		hd_options_print(options, text, sizeof(text));
	return !strcmp(routes->options, text);
}

static void forget_baselines(struct routing_memory *memory)
{
	while (memory->baseline_count)
		hd_stored_tables_free(memory->baselines[--memory->baseline_count]);
}

/* A baseline for the routing's engine, which has none yet. */
static int add_baseline(struct routing_memory *memory, const struct routing *routing,
			struct hd_error *err)
{
	struct hd_stored_tables *stored;
	bool grown;
	int rc;

	if (memory->baseline_count == sizeof(memory->baselines) / sizeof(memory->baselines[0]))
		return 0;
	stored = hd_stored_tables_new();
	if (!stored)
		return hd_error_no_memory(err);
	stored->policy = routing->policy;
	rc = hd_stored_tables_add(stored, routing->fabric, routing_base(routing), &grown, err);
	if (rc)
		hd_stored_tables_free(stored);
	else
		memory->baselines[memory->baseline_count++] = stored;
	return rc;
}

int routing_memory_note(struct routing_memory *memory, const struct routing *routing,
			struct hd_error *err)
{
	struct hd_stored_tables *baseline;
	bool grown = false;
	int rc;

	hd_stored_tables_free(memory->in_place);
	memory->in_place = NULL;
	baseline = routing_memory_find(memory, routing->engine->name);
	if (routing->afresh && (baseline || !memory->replaced)) {
		forget_baselines(memory);
		baseline = NULL;
	}
	memory->replaced = false;
	rc = baseline ? hd_stored_tables_add(baseline, routing->fabric, routing_base(routing),
					     &grown, err)
		      : add_baseline(memory, routing, err);
	memory->changed |= grown || !baseline || routing->changes || routing->other_shape;
	return rc;
}

void routing_memory_note_other(struct routing_memory *memory)
{
	hd_stored_tables_free(memory->in_place);
	memory->in_place = NULL;
	memory->replaced = true;
	memory->changed = true;
}

void routing_memory_clear(struct routing_memory *memory)
{
	forget_baselines(memory);
	hd_stored_tables_free(memory->in_place);
	*memory = (struct routing_memory){.changed = true};
}
