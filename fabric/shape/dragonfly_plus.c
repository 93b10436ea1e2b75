/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/dragonfly_plus.h>

#include <errno.h>

static uint32_t hosts_at(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->host_base[sw + 1] - fabric->host_base[sw];
}

/* The island of a switch, as the root of a tree of switches. */
static uint32_t find(uint32_t *island, uint32_t sw)
{
	while (island[sw] != sw)
		sw = island[sw] = island[island[sw]];
	return sw;
}

static int refuse_link(const struct hd_fabric *fabric, uint32_t link, const char *why,
		       struct hd_error *err)
{
	char from[HD_LABEL_SIZE], to[HD_LABEL_SIZE];
	uint32_t sw = hd_isl_from(fabric, link), far = fabric->isl_to[link];

	hd_port_label(fabric, hd_port_index(fabric, sw, fabric->isl_port[link]), from,
		      sizeof(from));
	hd_port_label(fabric,
		      hd_port_index(fabric, far, fabric->isl_port[fabric->isl_reverse[link]]), to,
		      sizeof(to));
	return hd_error_set(err, -ENOTSUP, "no Dragonfly+: the link from %s to %s joins %s", from,
			    to, why);
}

/* Joins leaves and spines that are cabled to each other. */
static int join_islands(const struct hd_fabric *fabric, struct hd_dragonfly_plus *shape,
			struct hd_error *err)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		shape->island[sw] = sw;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		if (!shape->is_spine[from] && !shape->is_spine[to])
			return refuse_link(fabric, link, "two leaves", err);
		if (shape->is_spine[from] != shape->is_spine[to])
			shape->island[find(shape->island, from)] = find(shape->island, to);
	}
	return 0;
}

static int check_globals(const struct hd_fabric *fabric, struct hd_dragonfly_plus *shape,
			 bool *has_leaf, struct hd_error *err)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (!shape->is_spine[sw])
			has_leaf[find(shape->island, sw)] = true;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		if (!shape->is_spine[from] || !shape->is_spine[to])
			continue;
		if (find(shape->island, from) == find(shape->island, to))
			return refuse_link(fabric, link, "two spines of one island", err);
		if (!has_leaf[find(shape->island, from)])
			return refuse_link(fabric, link, "a switch without a leaf to another", err);
	}
	return 0;
}

/* Numbers the islands by their first switch. */
static void number_islands(const struct hd_fabric *fabric, struct hd_dragonfly_plus *shape,
			   uint32_t *number)
{
	shape->island_count = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		number[sw] = HD_NONE;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t root = find(shape->island, sw);
		if (fabric->isl_base[sw] == fabric->isl_base[sw + 1])
			continue;
		if (number[root] == HD_NONE)
			number[root] = shape->island_count++;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t root = find(shape->island, sw);
		bool alone = fabric->isl_base[sw] == fabric->isl_base[sw + 1];
		number[fabric->switch_count + sw] = alone ? HD_NONE : number[root];
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		shape->island[sw] = number[fabric->switch_count + sw];
}

static int try_leaves(const struct hd_fabric *fabric, uint32_t least_hosts,
		      struct hd_dragonfly_plus *shape, bool *has_leaf, struct hd_error *err)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		shape->is_spine[sw] = hosts_at(fabric, sw) < least_hosts;
		has_leaf[sw] = false;
	}
	int rc = join_islands(fabric, shape, err);
	return rc ? rc : check_globals(fabric, shape, has_leaf, err);
}

int hd_dragonfly_plus_find(const struct hd_fabric *fabric, struct hd_arena *arena,
			   struct hd_dragonfly_plus *out, struct hd_error *err)
{
	uint32_t switches = fabric->switch_count, most = 0;
	struct hd_dragonfly_plus shape = {
	    .island = hd_arena_alloc(arena, switches, sizeof(*shape.island)),
	    .is_spine = hd_arena_alloc(arena, switches, sizeof(*shape.is_spine))};
	bool *has_leaf = hd_arena_alloc(arena, switches, sizeof(*has_leaf));
	uint32_t *number = hd_arena_alloc(arena, 2 * (size_t)switches, sizeof(*number));
	struct hd_error later = {""};

	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < switches; sw++)
		most = hosts_at(fabric, sw) > most ? hosts_at(fabric, sw) : most;
	int rc = try_leaves(fabric, 1, &shape, has_leaf, err);
	for (uint32_t least = 2; rc && least <= most; least++)
		rc = try_leaves(fabric, least, &shape, has_leaf, &later);
	if (rc)
		return rc;
	number_islands(fabric, &shape, number);
	if (shape.island_count < 2)
		return hd_error_set(err, -ENOTSUP, "no Dragonfly+: it has fewer than two islands");
	*out = shape;
	return 0;
}
