/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine `rotate`: shortest paths. If several links are as near, LIDs take them round robin. */
#include <heddle/engines/module.h>

#include <stdlib.h>

/* The port by which a switch sends to `lid`: that of the tables in place while it is a good one. */
static uint8_t choose_port(const struct hd_route_request *request, const uint8_t *hops, uint32_t sw,
			   uint32_t to, uint32_t lid)
{
	const struct hd_fabric *fabric = request->fabric;
	const struct hd_routes *const kept[] = {request->baseline, request->previous};
	const uint8_t *to_each = hops + (size_t)to * fabric->switch_count;
	uint8_t near[HD_PORTS_MAX];
	uint32_t count = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (to_each[fabric->isl_to[link]] + 1 == to_each[sw])
			near[count++] = fabric->isl_port[link];
	for (uint32_t i = 0; i < 2 * count; i++)
		if (kept[i / count] && hd_routes_port(kept[i / count], sw, lid) == near[i % count])
			return near[i % count];
	return count ? near[lid % count] : HD_NO_PORT;
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	const struct hd_fabric *fabric = request->fabric;
	uint8_t *hops = malloc((size_t)fabric->switch_count * fabric->switch_count), port;
	struct hd_routes *routes = hd_routes_new(fabric);
	int rc = hops && routes ? hd_fabric_distances(fabric, request->threads, hops, err)
				: hd_error_no_memory(err);

	for (uint32_t lid = 1, to; !rc && lid < fabric->lid_count; lid++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (hd_fabric_lid_destination(fabric, lid, &to, &port))
				hd_routes_row(routes, sw)[lid] =
				    sw == to ? port : choose_port(request, hops, sw, to, lid);
	free(hops);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	return rc;
}

static const struct hd_engine engine = {
    .name = "rotate",
    .summary = "shortest paths, links taken round robin by LID",
    .description = "An example of an engine outside Heddle's own tree.",
    .shortest_paths = true,
    .route = route,
};

HD_ENGINE_MODULE(&engine)
