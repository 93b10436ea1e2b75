/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_rows.h"
#include "link_number.h"

#include <heddle/base/parallel.h>

#define BLOCK 64u /* destinations transposed together: a cache line of an LFT row */

void tree_rows_read(const struct hd_fabric *fabric, const struct destinations *list,
		    const struct hd_routes *routes, uint8_t *trees)
{
	uint8_t number[256];

	for (uint32_t begin = 0; begin < list->count; begin += BLOCK) {
		const uint32_t end = begin + BLOCK < list->count ? begin + BLOCK : list->count;

		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			const uint8_t *row = hd_routes_row(routes, sw);

			link_number_fill(fabric, sw, number);
			for (uint32_t d = begin; d < end; d++)
				trees[(size_t)d * fabric->switch_count + sw] =
				    number[row[list->items[d].lid]];
		}
	}
}

struct writing {
	const struct hd_fabric *fabric;
	const struct destinations *list;
	const uint8_t *trees;
	struct hd_routes *routes;
};

/* Destinations begin .. end-1 of one block into their columns. */
static void write_block(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct writing *writing = context;
	const struct hd_fabric *fabric = writing->fabric;

	(void)worker;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t *row = hd_routes_row(writing->routes, sw);
		const uint8_t *port = fabric->isl_port + fabric->isl_base[sw];

		for (uint32_t d = begin; d < end; d++) {
			const struct balance_destination *to = &writing->list->items[d];
			const uint8_t link = writing->trees[(size_t)d * fabric->switch_count + sw];

			if (to->sw == sw)
				row[to->lid] = to->port;
			else if (link != LINK_NUMBER_NONE)
				row[to->lid] = port[link];
		}
	}
}

int tree_rows_write(const struct hd_route_request *request, const struct destinations *list,
		    const uint8_t *trees, struct hd_routes **out, struct hd_error *err)
{
	struct writing writing = {.fabric = request->fabric, .list = list, .trees = trees};

	writing.routes = hd_routes_new(request->fabric);
	if (!writing.routes)
		return hd_error_no_memory(err);
	if (hd_parallel_for_while(request->threads, list->count, BLOCK, write_block, &writing,
				  &request->go_on)) {
		hd_routes_free(writing.routes);
		return hd_go_on_stopped(err);
	}
	*out = writing.routes;
	return 0;
}
