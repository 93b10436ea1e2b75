/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "service_levels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int service_levels_begin(struct service_levels *levels, const struct hd_fabric *fabric,
			 const struct hd_routes *routes, struct hd_error *err)
{
	size_t bytes = (size_t)routes->switch_count * routes->stride;

	if (levels->sl)
		return 0;
	levels->of_host = hd_fabric_adapter_lids(fabric);
	levels->sl = levels->of_host ? malloc(bytes) : NULL;
	if (!levels->sl)
		return hd_error_no_memory(err);
	memset(levels->sl, SERVICE_UNSET, bytes);
	return 0;
}

void service_levels_release(struct service_levels *levels)
{
	free(levels->sl);
	free(levels->of_host);
	free(levels->said);
	free(levels->map_said);
	*levels = (struct service_levels){.sl = NULL};
}

static const char *place_text(const struct hd_fabric *fabric, const struct service_place *place,
			      char *buffer, size_t size)
{
	if (place->sw == HD_NONE)
		return "at all switches";
	snprintf(buffer, size, "at '%.40s' 0x%016" PRIx64 " from port %" PRIu32 " to port %" PRIu32,
		 fabric->node_name[place->sw], fabric->node_guid[place->sw], place->in, place->out);
	return buffer;
}

void service_levels_map(struct service_levels *levels, const struct hd_fabric *fabric,
			const uint8_t vls[SERVICE_LEVELS], const struct service_place *place,
			const char *file)
{
	char here[128], there[128];

	if (!levels->has_map) {
		levels->has_map = true;
		memcpy(levels->map, vls, SERVICE_LEVELS);
		levels->map_place = *place;
		return;
	}
	for (unsigned level = 0; level < SERVICE_LEVELS; level++) {
		char *clash = levels->clash[level];
		if (*clash || vls[level] == levels->map[level])
			continue;
		snprintf(clash, HD_ERROR_TEXT, "%.160s:%u: SL %u goes to VL %u %s and to VL %u %s",
			 file, place->line, level, vls[level],
			 place_text(fabric, place, here, sizeof(here)), levels->map[level],
			 place_text(fabric, &levels->map_place, there, sizeof(there)));
	}
}

/* One bit for each SL by which some host sends to another. */
static uint16_t levels_in_use(const struct service_levels *levels, const struct hd_fabric *fabric,
			      const struct hd_routes *routes)
{
	uint32_t used = 0;

	if (!levels->sl)
		return 1;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = levels->sl + (size_t)sw * routes->stride;
		if (!hd_has_adapters(fabric, sw))
			continue;
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			if (levels->of_host[lid])
				used |= 1u << (row[lid] & 15);
	}
	return (uint16_t)used;
}

static int check_map(const struct service_levels *levels, uint16_t used, struct hd_error *err)
{
	for (unsigned level = 0; level < SERVICE_LEVELS; level++) {
		if (!(used >> level & 1))
			continue;
		if (*levels->clash[level])
			return hd_error_set(err, -EINVAL,
					    "%.*s: Heddle needs one map for all switches",
					    HD_ERROR_TEXT - 64, levels->clash[level]);
		if ((levels->has_map ? levels->map[level] : level) == SERVICE_VL_NONE)
			return hd_error_set(err, -EINVAL,
					    "hosts send on SL %u, which goes to VL %u: expected a "
					    "virtual lane for data, 0..14",
					    level, SERVICE_VL_NONE);
	}
	return 0;
}

/*
 * A pair without an SL gets SL 0, also if the source has no hosts or the LID belongs to no host.
 * Pairs of hosts at one switch are not counted as missing, because their packets use no
 * inter-switch link.
 */
static void fill_up(struct service_levels *levels, const struct hd_fabric *fabric,
		    const struct hd_routes *routes, const struct hd_log *log)
{
	uint64_t missing = 0;
	uint32_t first_sw = 0, first_lid = 0, destination;
	uint8_t port;

	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		uint8_t *row = levels->sl + (size_t)sw * routes->stride;
		bool sends = hd_has_adapters(fabric, sw);
		for (uint32_t lid = 0; lid < routes->stride; lid++) {
			if (row[lid] != SERVICE_UNSET)
				continue;
			row[lid] = 0;
			if (!sends || lid >= fabric->lid_count || !levels->of_host[lid] ||
			    !hd_fabric_lid_destination(fabric, lid, &destination, &port) ||
			    destination == sw)
				continue;
			if (!missing++) {
				first_sw = sw;
				first_lid = lid;
			}
		}
	}
	if (missing)
		hd_log(log, HD_LOG_WARNING,
		       "%" PRIu64
		       " service levels are missing, so SL 0 is used; the first is that of "
		       "LID %" PRIu32 " from hosts of '%s'",
		       missing, first_lid, fabric->node_name[first_sw]);
}

int service_levels_end(struct service_levels *levels, const struct hd_fabric *fabric,
		       struct hd_routes *routes, const struct hd_log *log, struct hd_error *err)
{
	if (levels->sl)
		fill_up(levels, fabric, routes, log);
	if (!levels->sl && !levels->has_map)
		return 0;
	int rc = check_map(levels, levels_in_use(levels, fabric, routes), err);
	if (rc)
		return rc;
	for (uint8_t level = 0; level < SERVICE_LEVELS; level++)
		routes->sl2vl[level] = levels->has_map ? levels->map[level] : level;
	routes->sl = levels->sl;
	levels->sl = NULL;
	return 0;
}
