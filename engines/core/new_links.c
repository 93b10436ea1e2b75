/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "new_links.h"

/* Clears unused[port] for each port that a row has, until `left` of them are cleared. Returns how many are left. */
static uint32_t strike_out(const uint8_t *row, uint32_t lids, bool unused[256], uint32_t left)
{
	for (uint32_t lid = 0; left && lid < lids; lid++) {
		left -= unused[row[lid]];
		unused[row[lid]] = false;
	}
	return left;
}

uint32_t new_links_mark(const struct hd_fabric *fabric, const struct hd_routes *baseline,
			bool *is_new)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t begin = fabric->isl_base[sw], end = fabric->isl_base[sw + 1];
		bool unused[256] = {false};

		for (uint32_t link = begin; link < end; link++)
			unused[fabric->isl_port[link]] = true;
		count += strike_out(hd_routes_row(baseline, sw), baseline->lid_count, unused,
				    end - begin);
		for (uint32_t link = begin; link < end; link++)
			is_new[link] = unused[fabric->isl_port[link]];
	}
	return count;
}

uint32_t new_links_missing(const struct hd_fabric *fabric, const struct hd_routes *baseline)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(baseline, sw);
		bool used[256] = {false};

		for (uint32_t lid = 0; lid < baseline->lid_count; lid++)
			used[row[lid]] = true;
		for (uint32_t port = 1; port <= hd_node_ports(fabric, sw) && port < HD_NO_PORT;
		     port++)
			count +=
			    used[port] && fabric->peer[hd_port_index(fabric, sw, port)] == HD_NONE;
	}
	return count;
}

uint32_t new_links_used(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t used = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t begin = fabric->isl_base[sw],
			       count = fabric->isl_base[sw + 1] - begin;
		bool unused[256] = {false};

		for (uint32_t link = begin; link < begin + count; link++)
			unused[fabric->isl_port[link]] = true;
		used +=
		    count - strike_out(hd_routes_row(routes, sw), routes->lid_count, unused, count);
	}
	return used;
}
