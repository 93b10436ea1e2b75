/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One breadth-first search that starts at all switches with hosts at once. */
#include <heddle/fabric/graph.h>
#include <stdlib.h>

int hd_fabric_levels(const struct hd_fabric *fabric, uint32_t *level, struct hd_error *err)
{
	uint32_t *queue = malloc(fabric->switch_count * sizeof(*queue)), head = 0, tail = 0;

	if (!queue)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		level[sw] = fabric->host_base[sw] < fabric->host_base[sw + 1] ? 0 : HD_NONE;
		if (!level[sw])
			queue[tail++] = sw;
	}
	while (head < tail) {
		uint32_t sw = queue[head++];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			if (level[far] != HD_NONE)
				continue;
			level[far] = level[sw] + 1;
			queue[tail++] = far;
		}
	}
	free(queue);
	return 0;
}
