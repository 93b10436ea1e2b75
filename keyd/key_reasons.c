/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What has no place in the tree of keys, and why flows have no path. */
#include "key_ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hd_key_tree_is_regular(const struct hd_key_tree *tree)
{
	return !tree->ranks;
}

static void mark_used(const struct hd_key_tree *tree, bool *used)
{
	if (!tree->ranks) {
		/* Marks both directions of all cables of a regular tree. */
		for (uint32_t number = 0; number < tree->top; number++) {
			const struct key_level *level = &tree->level[number];
			size_t cables = (size_t)level->blocks * level->groups * level->cables;
			for (size_t i = 0; i < cables; i++) {
				if (level->link[i] == HD_NONE)
					continue;
				used[level->link[i]] = true;
				used[tree->fabric->isl_reverse[level->link[i]]] = true;
			}
		}
		return;
	}
	for (uint32_t link = 0; link < tree->fabric->isl_count; link++)
		used[link] = tree->ranks->direction[link] != KEY_STRAY;
}

uint32_t hd_key_tree_strays(const struct hd_key_tree *tree, uint32_t *links)
{
	const struct hd_fabric *fabric = tree->fabric;
	bool *used = calloc((size_t)fabric->isl_count + 1, sizeof(*used));
	uint32_t count = 0;

	if (!used)
		return 0;
	mark_used(tree, used);
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		if (used[link] || fabric->isl_reverse[link] < link)
			continue;
		if (links)
			links[count] = link;
		count++;
	}
	free(used);
	return count;
}

bool key_tree_joins(const struct hd_key_tree *tree, uint32_t source, uint32_t destination)
{
	const uint32_t *host_switch = tree->fabric->host_switch;

	if (host_switch[source] == host_switch[destination])
		return key_tree_has(tree, source);
	if (tree->ranks)
		return key_ranks_reaches(tree->ranks, host_switch[source],
					 host_switch[destination]);
	return tree->leaf[source] != HD_NONE && tree->leaf[destination] != HD_NONE &&
	       key_tree_meets(tree, 0, 0, tree->leaf[source], tree->leaf[destination]);
}

bool hd_key_has_path(const struct hd_key_tree *tree, const struct hd_key_flow *flow)
{
	return key_tree_joins(tree, flow->source, flow->destination);
}

/* Cables of a host's switch by which keys climb. */
static uint32_t cables_up(const struct hd_key_tree *tree, uint32_t host)
{
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t sw = fabric->host_switch[host], cables = 0;

	if (!tree->ranks)
		return tree->level[0].usable[tree->leaf[host]];
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		cables += tree->ranks->direction[link] == KEY_CLIMBS;
	return cables;
}

/* A cable of the switch that has no place in the tree, or HD_NONE. */
static uint32_t stray_of(const struct hd_key_tree *tree, uint32_t sw)
{
	const struct hd_fabric *fabric = tree->fabric;
	bool *used = calloc((size_t)fabric->isl_count + 1, sizeof(*used));
	uint32_t link = fabric->isl_base[sw];

	if (!used)
		return HD_NONE;
	mark_used(tree, used);
	while (link < fabric->isl_base[sw + 1] && used[link])
		link++;
	free(used);
	return link < fabric->isl_base[sw + 1] ? link : HD_NONE;
}

/* Names what is wrong with the switch of a host. False: nothing is to be seen there. */
static bool explain_switch(const struct hd_key_tree *tree, uint32_t host, char *text, size_t size)
{
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t sw = fabric->host_switch[host], stray = stray_of(tree, sw);
	uint32_t cables = key_tree_has(tree, host) ? cables_up(tree, host) : 0;
	char near[HD_LABEL_SIZE], far[HD_LABEL_SIZE];

	if (stray != HD_NONE) {
		uint32_t port = hd_port_index(fabric, sw, fabric->isl_port[stray]);
		snprintf(text, size,
			 "the cable %s - %s does not join neighbouring levels of the tree",
			 hd_port_label(fabric, port, near, sizeof(near)),
			 hd_port_label(fabric, fabric->peer[port], far, sizeof(far)));
	} else if (!cables) {
		snprintf(text, size, "switch '%s' 0x%016" PRIx64 " has no cable upwards",
			 fabric->node_name[sw], fabric->node_guid[sw]);
	}
	return stray != HD_NONE || !cables;
}

int key_tree_no_path(const struct hd_key_tree *tree, const struct hd_key_flow *flow,
		     struct hd_error *err)
{
	const struct hd_fabric *fabric = tree->fabric;
	char source[HD_LABEL_SIZE], destination[HD_LABEL_SIZE], why[3 * HD_LABEL_SIZE];
	const char *missing = "cables or switches are missing";

	if (!explain_switch(tree, flow->source, why, sizeof(why)) &&
	    !explain_switch(tree, flow->destination, why, sizeof(why)))
		snprintf(why, sizeof(why), "%s", missing);
	return hd_error_set(
	    err, -EHOSTUNREACH, "no path from %s climbs and then descends to %s: %s",
	    hd_port_label(fabric, fabric->host_port[flow->source], source, sizeof(source)),
	    hd_port_label(fabric, fabric->host_port[flow->destination], destination,
			  sizeof(destination)),
	    why);
}

void hd_key_explain_flow(const struct hd_key_tree *tree, const struct hd_key_flow *flow,
			 struct hd_error *why)
{
	key_tree_no_path(tree, flow, why);
}
