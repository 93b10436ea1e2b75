/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pattern_drawing.h"

#include <string.h>

int pattern_drawing_init(struct pattern_drawing *drawing, const struct hd_pattern *pattern,
			 const struct hd_ranks *ranks, enum hd_mapping mapping, uint64_t seed,
			 struct hd_arena *arena)
{
	*drawing = (struct pattern_drawing){.pattern = pattern,
					    .ranks = ranks,
					    .mapping = mapping,
					    .seed = seed,
					    .host = ranks->host};
	drawing->draw.order = hd_arena_alloc(arena, ranks->count, sizeof(uint32_t));
	drawing->mapped = hd_arena_alloc(arena, ranks->count, sizeof(uint32_t));
	return hd_arena_check(arena);
}

/* Machines change their places as a whole: rails stay rails. */
static void map_machines(struct pattern_drawing *drawing, struct stream *stream)
{
	const struct hd_pattern *pattern = drawing->pattern;
	const uint32_t *host = drawing->ranks->host;
	uint32_t adapters = pattern->adapters, *place = drawing->draw.order;

	stream_permutation(stream, place, pattern->ranks);
	for (uint32_t machine = 0; machine < pattern->ranks; machine++)
		memcpy(drawing->mapped + (size_t)machine * adapters,
		       host + (size_t)place[machine] * adapters, adapters * sizeof(*host));
}

/* A pattern whose flows are random needs no random mapping. */
void pattern_drawing_begin(struct pattern_drawing *drawing, uint64_t index)
{
	drawing->index = index;
	if (drawing->pattern->kind->random ||
	    !hd_pattern_varies(drawing->pattern, drawing->mapping))
		return;
	struct stream stream = stream_at(drawing->seed, index, STREAM_MAPPING);
	if (drawing->pattern->adapters > 1) {
		map_machines(drawing, &stream);
	} else {
		memcpy(drawing->mapped, drawing->ranks->host,
		       drawing->ranks->count * sizeof(uint32_t));
		stream_shuffle(&stream, drawing->mapped, drawing->ranks->count);
	}
	drawing->host = drawing->mapped;
}

/* Puts a flow of every rail in the place of each flow between machines. */
static uint32_t add_rails(const struct hd_pattern *pattern, struct hd_flow *flows, uint32_t count)
{
	const uint32_t adapters = pattern->adapters;

	for (uint32_t i = count; i-- > 0;) {
		struct hd_flow flow = flows[i];
		for (uint32_t rail = 0; rail < adapters; rail++)
			flows[i * adapters + rail] = (struct hd_flow){
			    flow.source * adapters + rail, flow.destination * adapters + rail};
	}
	return count * adapters;
}

uint32_t pattern_drawing_round(struct pattern_drawing *drawing, uint32_t round,
			       struct hd_flow *flows)
{
	drawing->draw.stream = stream_at(drawing->seed, drawing->index, round);
	uint32_t count =
	    drawing->pattern->kind->round(drawing->pattern, round, &drawing->draw, flows);
	const uint32_t *host = drawing->host;
	if (drawing->pattern->adapters > 1 && !drawing->pattern->kind->by_adapter)
		count = add_rails(drawing->pattern, flows, count);
	for (uint32_t i = 0; i < count; i++)
		flows[i] = (struct hd_flow){host[flows[i].source], host[flows[i].destination]};
	return count;
}

int hd_pattern_draw(const struct hd_pattern *pattern, const struct hd_ranks *ranks,
		    enum hd_mapping mapping, uint64_t seed, uint64_t index, uint32_t round,
		    struct hd_flow *flows, uint32_t *count, struct hd_error *err)
{
	struct hd_arena arena = {0};
	struct pattern_drawing drawing;
	int rc = pattern_drawing_init(&drawing, pattern, ranks, mapping, seed, &arena);

	if (!rc) {
		pattern_drawing_begin(&drawing, index);
		*count = pattern_drawing_round(&drawing, round, flows);
	}
	hd_arena_release(&arena);
	return rc ? hd_error_no_memory(err) : 0;
}
