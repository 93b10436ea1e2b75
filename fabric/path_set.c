/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/walk.h>

#include <errno.h>
#include <heddle/base/arena.h>
#include <stdlib.h>

struct holder {
	struct hd_path_set set; /* first: a set's address is its holder's */
	struct hd_arena arena;
	struct hd_path *paths;
	uint32_t *link_uses;
};

static bool is_host(const struct hd_fabric *fabric, uint32_t port)
{
	return !hd_is_switch(fabric, fabric->port_node[port]);
}

static int find_links(struct holder *holder, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, struct hd_path *path)
{
	uint32_t *links =
	    hd_arena_alloc(&holder->arena, path->switch_count - 1, sizeof(*path->links));

	if (!links)
		return -ENOMEM;
	for (uint32_t i = 0; i + 1 < path->switch_count; i++)
		links[i] = hd_fabric_find_isl(fabric, path->switches[i],
					      hd_routes_port(routes, path->switches[i], path->lid));
	path->links = links;
	return 0;
}

/* `scratch` is as long as the longest route. */
static int walk(struct holder *holder, const struct hd_fabric *fabric,
		const struct hd_routes *routes, uint32_t *scratch, struct hd_path *path)
{
	const struct hd_path_set *set = &holder->set;
	uint32_t entry = fabric->port_node[hd_fabric_entry(fabric, set->source)];

	path->end = hd_routes_walk(fabric, routes, entry, path->lid, scratch, &path->switch_count);
	uint32_t *switches = hd_arena_alloc(&holder->arena, path->switch_count, sizeof(*switches));
	if (!switches)
		return -ENOMEM;
	memcpy(switches, scratch, path->switch_count * sizeof(*switches));
	path->switches = switches;
	bool between_hosts = is_host(fabric, set->source) && is_host(fabric, set->destination);
	if (between_hosts && routes->sl)
		path->sl = routes->sl[(size_t)entry * routes->stride + path->lid] & 15;
	path->vl = routes->sl2vl[path->sl];
	return find_links(holder, fabric, routes, path);
}

static bool same_links(const struct hd_path *a, const struct hd_path *b)
{
	return a->end == HD_WALK_ARRIVED && b->end == HD_WALK_ARRIVED &&
	       a->switch_count == b->switch_count &&
	       !memcmp(a->links, b->links, (a->switch_count - 1) * sizeof(*a->links));
}

static void count_uses(struct holder *holder, uint32_t links)
{
	struct hd_path_set *set = &holder->set;

	for (uint32_t i = 0; i < set->count; i++) {
		struct hd_path *path = &holder->paths[i];
		while (path->same_as < i && !same_links(path, &holder->paths[path->same_as]))
			path->same_as++;
		set->arrived += path->end == HD_WALK_ARRIVED;
		if (path->end != HD_WALK_ARRIVED || path->same_as != i)
			continue;
		set->distinct++;
		for (uint32_t hop = 0; hop + 1 < path->switch_count; hop++)
			holder->link_uses[path->links[hop]]++;
	}
	for (uint32_t link = 0; link < links; link++) {
		set->links += holder->link_uses[link] > 0;
		set->shared += holder->link_uses[link] > 1;
	}
}

static int fill(struct holder *holder, const struct hd_fabric *fabric,
		const struct hd_routes *routes)
{
	struct hd_path_set *set = &holder->set;
	uint32_t *scratch =
	    hd_arena_alloc(&holder->arena, (size_t)fabric->switch_count + 1, sizeof(*scratch));

	set->count = hd_port_lid_count(fabric, set->destination);
	holder->paths = hd_arena_alloc(&holder->arena, set->count, sizeof(*holder->paths));
	holder->link_uses =
	    hd_arena_alloc(&holder->arena, fabric->isl_count, sizeof(*holder->link_uses));
	if (hd_arena_check(&holder->arena))
		return -ENOMEM;
	set->paths = holder->paths;
	set->link_uses = holder->link_uses;
	for (uint32_t i = 0; i < set->count; i++) {
		holder->paths[i].lid = fabric->lid[set->destination] + i;
		if (walk(holder, fabric, routes, scratch, &holder->paths[i]))
			return -ENOMEM;
	}
	count_uses(holder, fabric->isl_count);
	return 0;
}

static int check_ends(const struct hd_fabric *fabric, uint32_t source, uint32_t destination,
		      struct hd_error *err)
{
	const uint32_t ends[] = {source, destination};
	char label[HD_LABEL_SIZE] = "a port that is not there";

	for (unsigned i = 0; i < 2; i++) {
		if (hd_fabric_entry(fabric, ends[i]) != HD_NONE)
			continue;
		if (ends[i] < fabric->port_count)
			hd_port_label(fabric, ends[i], label, sizeof(label));
		return hd_error_set(err, -EINVAL,
				    "%s: expected port 0 of a switch, or a host's port with a "
				    "cable to a switch",
				    label);
	}
	if (fabric->lid[destination])
		return 0;
	return hd_error_set(err, -EINVAL, "%s has no LID",
			    hd_port_label(fabric, destination, label, sizeof(label)));
}

int hd_path_set_new(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t source,
		    uint32_t destination, struct hd_path_set **out, struct hd_error *err)
{
	int rc = check_ends(fabric, source, destination, err);

	if (rc)
		return rc;
	struct holder *holder = calloc(1, sizeof(*holder));
	if (!holder)
		return hd_error_no_memory(err);
	holder->set = (struct hd_path_set){.source = source, .destination = destination};
	if (fill(holder, fabric, routes)) {
		hd_path_set_free(&holder->set);
		return hd_error_no_memory(err);
	}
	*out = &holder->set;
	return 0;
}

void hd_path_set_free(struct hd_path_set *set)
{
	struct holder *holder = (struct holder *)set;

	if (!holder)
		return;
	hd_arena_release(&holder->arena);
	free(holder);
}
