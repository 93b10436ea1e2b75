/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multicast_planner.h"

#include <string.h>

/* Breadth first; a row of MULTICAST_UNREACHED on entry. */
static void search(struct hd_multicast *multicast, uint32_t from, uint16_t *row)
{
	const struct hd_fabric *fabric = multicast->fabric;
	uint32_t head = 0, tail = 0;

	row[from] = 0;
	multicast->queue[tail++] = from;
	while (head < tail) {
		uint32_t sw = multicast->queue[head++];
		uint16_t beyond = (uint16_t)(row[sw] + 1);

		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t to = fabric->isl_to[link];

			if (row[to] == MULTICAST_UNREACHED && multicast->forwards[to]) {
				row[to] = beyond;
				multicast->queue[tail++] = to;
			}
		}
	}
}

const uint16_t *multicast_distances(struct hd_multicast *multicast, uint32_t sw)
{
	uint32_t count = multicast->fabric->switch_count;
	uint16_t *row = multicast->distance[sw];

	if (row)
		return row;
	row = hd_arena_alloc(&multicast->arena, count, sizeof(*row));
	if (!row)
		return NULL;
	memset(row, 0xFF, count * sizeof(*row));
	if (multicast->forwards[sw])
		search(multicast, sw, row);
	multicast->distance[sw] = row;
	return row;
}

/* Adds the distances to one switch with members. */
static void measure_to(struct hd_multicast *multicast, const uint16_t *row, uint32_t members)
{
	for (uint32_t sw = 0; sw < multicast->fabric->switch_count; sw++) {
		uint32_t distance = row[sw];
		uint32_t near = distance != MULTICAST_UNREACHED;

		if (near && multicast->farthest[sw] < distance)
			multicast->farthest[sw] = distance;
		multicast->sum[sw] += near ? distance : 0;
		multicast->reached[sw] += near ? members : 0;
	}
}

static int measure(struct hd_multicast *multicast, struct hd_error *err)
{
	const struct multicast_members *members = &multicast->members;
	size_t size = multicast->fabric->switch_count * sizeof(uint32_t);

	memset(multicast->farthest, 0, size);
	memset(multicast->sum, 0, size);
	memset(multicast->reached, 0, size);
	for (uint32_t i = 0; i < members->switch_count; i++) {
		uint32_t sw = members->switches[i];
		int rc = hd_go_on_check(&multicast->go_on, err);

		if (rc)
			return rc;
		const uint16_t *row = multicast_distances(multicast, sw);
		if (!row)
			return hd_error_no_memory(err);
		measure_to(multicast, row, members->at[sw]);
	}
	return 0;
}

/* Negative: switch a is the better root; 0: they are equally good. */
static int compare(const struct hd_multicast *multicast, uint32_t a, uint32_t b)
{
	if (multicast->reached[a] != multicast->reached[b])
		return multicast->reached[a] > multicast->reached[b] ? -1 : 1;
	if (multicast->farthest[a] != multicast->farthest[b])
		return multicast->farthest[a] < multicast->farthest[b] ? -1 : 1;
	if (multicast->sum[a] != multicast->sum[b])
		return multicast->sum[a] < multicast->sum[b] ? -1 : 1;
	return 0;
}

/* Keeps `centres` sorted by use. Switches come by ascending index. */
static void insert(const struct hd_multicast *multicast, uint32_t *centres, uint32_t *count,
		   uint32_t sw)
{
	uint32_t at = *count;

	while (at && multicast->through[centres[at - 1]] > multicast->through[sw])
		at--;
	if (at == MULTICAST_CENTRES)
		return;
	*count += *count < MULTICAST_CENTRES;
	for (uint32_t i = *count - 1; i > at; i--)
		centres[i] = centres[i - 1];
	centres[at] = sw;
}

int multicast_centres(struct hd_multicast *multicast, uint32_t *centres, uint32_t *count,
		      struct hd_error *err)
{
	int rc = measure(multicast, err);

	*count = 0;
	if (rc)
		return rc;
	for (uint32_t sw = 0; sw < multicast->fabric->switch_count; sw++) {
		int order = *count ? compare(multicast, sw, centres[0]) : -1;

		if (!multicast->reached[sw] || order > 0)
			continue;
		if (order < 0)
			*count = 0;
		insert(multicast, centres, count, sw);
	}
	return 0;
}
