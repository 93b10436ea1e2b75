/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random fabrics with shortest-path tables, some with holes. Include after testing.h. */
#ifndef ANALYSIS_RANDOM_TABLES_H
#define ANALYSIS_RANDOM_TABLES_H

/* For each LID a shortest-path tree with parents drawn among the nearest. */
static inline struct hd_routes *random_tables(const struct hd_fabric *fabric, uint64_t *random,
					      bool holes)
{
	struct hd_error err = {""};
	uint32_t switches = fabric->switch_count;
	struct hd_routes *routes = hd_routes_new(fabric);
	uint8_t *hops = malloc((size_t)switches * switches);

	CHECK(hd_fabric_distances(fabric, 1, hops, &err));
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		uint32_t last;
		uint8_t exit;
		if (!hd_fabric_lid_destination(fabric, lid, &last, &exit))
			continue;
		for (uint32_t sw = 0; sw < switches; sw++) {
			uint32_t seen = 0;
			const uint8_t *row = hops + (size_t)last * switches;
			uint8_t *entry = &hd_routes_row(routes, sw)[lid];
			if (sw == last)
				*entry = exit;
			for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
				if (row[sw] != 0xFF && row[fabric->isl_to[i]] + 1 == row[sw] &&
				    !hd_random_below(random, ++seen))
					*entry = fabric->isl_port[i];
			if (holes && !hd_random_below(random, 200))
				*entry =
				    hd_random_below(random, 2)
					? HD_NO_PORT
					: (uint8_t)(1 + hd_random_below(random,
									hd_node_ports(fabric, sw)));
		}
	}
	free(hops);
	return routes;
}

/* A small fabric of some kind. */
static inline struct hd_fabric *random_fabric(uint64_t *random)
{
	char settings[128];
	struct hd_fabric *fabric = NULL;

	switch (hd_random_below(random, 5)) {
	case 0:
		snprintf(settings, sizeof(settings), "k=%d n=%d",
			 2 + (int)hd_random_below(random, 3), 2 + (int)hd_random_below(random, 2));
		fabric = generate("kary-ntree", settings);
		break;
	case 1:
		snprintf(settings, sizeof(settings), "children=%d,%d parents=1,2 parallel=1,%d",
			 2 + (int)hd_random_below(random, 6), 2 + (int)hd_random_below(random, 5),
			 1 + (int)hd_random_below(random, 2));
		fabric = generate("xgft", settings);
		break;
	case 2:
		snprintf(settings, sizeof(settings), "dims=%d,%d,%d hosts=%d",
			 2 + (int)hd_random_below(random, 3), 2 + (int)hd_random_below(random, 3),
			 1 + (int)hd_random_below(random, 3), 1 + (int)hd_random_below(random, 3));
		fabric = generate("torus", settings);
		break;
	default:
		snprintf(settings, sizeof(settings), "switches=%d radix=12 seed=%d",
			 6 + (int)hd_random_below(random, 20),
			 (int)hd_random_below(random, 100000));
		fabric = generate("irregular", settings);
		break;
	}
	if (!hd_random_below(random, 3)) {
		struct hd_error err = {""};
		struct hd_fabric *damaged = NULL;
		CHECK(hd_fabric_remove_links(fabric, 15, hd_random_next(random), &damaged, &err));
		hd_fabric_free(fabric);
		fabric = damaged;
	}
	if (!hd_random_below(random, 4)) {
		struct hd_error err = {""};
		struct hd_fabric *more_lids = NULL;
		CHECK(hd_fabric_assign_lids(fabric, 2, &more_lids, &err));
		hd_fabric_free(fabric);
		fabric = more_lids;
	}
	return fabric;
}

#endif
