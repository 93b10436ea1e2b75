/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layers: each further LID of a host has a tree of its own, by paths that are one hop longer than the shortest at most.
 *
 * Base LIDs come first, and have the paths and lanes that spf would give them if they were alone. For the other LIDs the
 * best trees are planned, without regard to lanes (layer_plan.h), in a few passes. Then they are settled one after the
 * other, with what the lanes have room for (layer_settle.h). If nothing else is left, a path is that of the base LID.
 */
#include "layers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- tables ---- */

static void write_row(const struct layers *layers, uint32_t host, uint32_t offset,
		      struct hd_routes *routes)
{
	const struct hd_fabric *fabric = layers->fabric;
	const uint32_t row = layers->first[host] + offset, lid = layers_lid(layers, host, offset);

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t link = layer_choice_link(fabric, layers->tree[row], sw);
		hd_routes_row(routes, sw)[lid] =
		    link == HD_NONE ? HD_NO_PORT : fabric->isl_port[link];
		if (routes->sl)
			routes->sl[(size_t)sw * routes->stride + lid] =
			    link != HD_NONE && hd_has_hosts(fabric, sw) ? layers->lane[row][sw] : 0;
	}
	hd_routes_row(routes, fabric->host_switch[host])[lid] = fabric->host_switch_port[host];
}

/* Lanes from the first to the last one that paths between hosts have. */
static unsigned count_lanes(const struct layers *layers)
{
	const struct hd_fabric *fabric = layers->fabric;
	unsigned used = 0;

	for (uint32_t row = 0; layers->guarded && row < layers->first[fabric->host_count]; row++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (hd_has_hosts(fabric, sw) && layers->tree[row][sw] != LINK_NUMBER_NONE &&
			    layers->lane[row][sw] >= used)
				used = layers->lane[row][sw] + 1u;
	return used;
}

/* Turns the tables of the base LIDs into those of all. */
static int write_tables(struct layers *layers, struct hd_error *err)
{
	struct hd_routes *routes = layers->base;
	const unsigned used = count_lanes(layers);

	free(routes->sl);
	routes->sl = used > 1 ? calloc(routes->switch_count, routes->stride) : NULL;
	if (used > 1 && !routes->sl)
		return hd_error_no_memory(err);
	for (unsigned sl = 0; sl < 16; sl++)
		routes->sl2vl[sl] = (uint8_t)(sl < used ? sl : 0);
	for (uint32_t host = 0; host < layers->fabric->host_count; host++)
		for (uint32_t offset = 0; offset < layers_host(layers, host).count; offset++)
			write_row(layers, host, offset, routes);
	return 0;
}

static uint64_t count_moved(const struct layers *layers, const struct hd_routes *routes)
{
	const struct hd_routes *previous = layers->job->request->previous;
	const struct hd_fabric *fabric = layers->fabric;
	uint64_t moved = 0;

	for (uint32_t host = 0; previous && host < fabric->host_count; host++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			for (uint32_t i = 0;
			     hd_has_hosts(fabric, sw) && sw != fabric->host_switch[host] &&
			     i < layers_host(layers, host).count;
			     i++) {
				const uint32_t lid = layers_lid(layers, host, i);
				moved += hd_routes_vl(routes, sw, lid) !=
					 hd_routes_vl(previous, sw, lid);
			}
	return moved;
}

static void remark(const struct layers *layers)
{
	const struct hd_log *log = layers->job->request->log;
	const unsigned used = count_lanes(layers);
	const uint64_t moved = count_moved(layers, layers->base);

	if (used > 1)
		hd_log(log, HD_LOG_INFO, "the paths are free of credit loops on %u virtual lanes",
		       used);
	if (layers->settle.fallen)
		hd_log(log, HD_LOG_INFO,
		       "multipath: %" PRIu64 " paths to further LIDs are those to base LIDs: %u "
		       "virtual lane%s no room for others",
		       layers->settle.fallen, layers->lanes.count,
		       layers->lanes.count == 1 ? " has" : "s have");
	if (layers->crowded)
		hd_log(log, HD_LOG_INFO,
		       "multipath: %" PRIu32
		       " further LIDs do not keep their paths, or do not return to them: the lanes "
		       "have no room for them beside base LIDs",
		       layers->crowded);
	if (moved)
		hd_log(log, HD_LOG_INFO,
		       "%" PRIu64 " paths have another lane than before; a connection follows when "
		       "it asks the SA again",
		       moved);
}

/* ---- all of it ---- */

int multipath_route_layers(struct multipath_job *job, struct hd_routes **out, struct hd_error *err)
{
	const bool again = job->request->previous != NULL;
	struct layers layers;
	int rc = layers_begin(&layers, job, again, err);

	if (!rc)
		rc = again ? layers_again(&layers, err) : layers_fresh(&layers, err);
	if (!rc)
		rc = write_tables(&layers, err);
	if (!rc) {
		remark(&layers);
		*out = layers.base;
		layers.base = NULL;
	}
	layers_release(&layers);
	return rc;
}
