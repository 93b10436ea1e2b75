/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_siblings.h"

#define HOPS_MOST 16u

static uint32_t node_of(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->port_node[fabric->host_port[host]];
}

/* The only other host that is like this one; HD_NONE: no other is, or several are. */
static uint32_t only_other(const struct hd_fabric *fabric, uint32_t host, bool by_system,
			   uint32_t *others)
{
	uint32_t found = HD_NONE;

	*others = 0;
	for (uint32_t other = 0; other < fabric->host_count; other++) {
		const uint32_t a = node_of(fabric, host), b = node_of(fabric, other);
		const bool alike =
		    by_system ? fabric->system_guid[a] == fabric->system_guid[b] : a == b;

		if (other == host || !alike)
			continue;
		found = other;
		++*others;
	}
	return *others == 1 ? found : HD_NONE;
}

uint32_t oracle_siblings_other(const struct hd_fabric *fabric, uint32_t host)
{
	const uint32_t node = node_of(fabric, host);
	uint32_t others, other = only_other(fabric, host, false, &others);

	if (fabric->node_type[node] != HD_CA)
		return HD_NONE;
	if (others || !fabric->system_guid[node])
		return other;
	other = only_other(fabric, host, true, &others);
	return other != HD_NONE && fabric->node_type[node_of(fabric, other)] == HD_CA ? other
										      : HD_NONE;
}

/* The switches after the first. Returns their number. */
static uint32_t list_path(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  uint32_t sw, uint32_t lid, uint32_t *path)
{
	uint32_t count = 0;

	while (count < HOPS_MOST) {
		const uint32_t link =
		    hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));

		if (link == HD_NONE)
			break;
		sw = path[count++] = fabric->isl_to[link];
	}
	return count;
}

bool oracle_siblings_meet(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  const uint32_t source[2], const uint32_t lid[2])
{
	uint32_t path[2][HOPS_MOST], count[2];

	for (int i = 0; i < 2; i++)
		count[i] = list_path(fabric, routes, source[i], lid[i], path[i]);
	for (uint32_t a = 0; a < count[0]; a++)
		for (uint32_t b = 0; b < count[1]; b++)
			if (path[0][a] == path[1][b] && !(a + 1 == count[0] && b + 1 == count[1]))
				return true;
	return false;
}

static bool is_cabled(const struct hd_fabric *fabric, uint32_t a, uint32_t b)
{
	for (uint32_t link = fabric->isl_base[a]; link < fabric->isl_base[a + 1]; link++)
		if (fabric->isl_to[link] == b)
			return true;
	return false;
}

bool oracle_siblings_can_part(const struct hd_fabric *fabric, const uint32_t source[2],
			      const uint32_t leaf[2])
{
	for (uint32_t a = 0; a < fabric->switch_count; a++)
		for (uint32_t b = 0; b < fabric->switch_count; b++)
			if (a != b && is_cabled(fabric, source[0], a) &&
			    is_cabled(fabric, a, leaf[0]) && is_cabled(fabric, source[1], b) &&
			    is_cabled(fabric, b, leaf[1]))
				return true;
	return false;
}
