/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_lost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By GUID; of two for the same node the newer one first. */
static int compare_nodes(const void *a, const void *b)
{
	const struct status_node *left = a, *right = b;

	if (left->guid != right->guid)
		return left->guid < right->guid ? -1 : 1;
	return (int)right->here - (int)left->here;
}

static int compare_node_guid(const void *guid, const void *node)
{
	const uint64_t *left = guid;
	const struct status_node *right = node;

	return *left < right->guid ? -1 : *left > right->guid;
}

static const struct status_node *find_node(const struct status_node *nodes, uint32_t count,
					   uint64_t guid)
{
	return bsearch(&guid, nodes, count, sizeof(*nodes), compare_node_guid);
}

static struct status_node node_of(const struct hd_fabric *fabric, uint32_t number)
{
	struct status_node node = {
	    .guid = fabric->node_guid[number], .type = fabric->node_type[number], .here = true};

	snprintf(node.name, sizeof(node.name), "%s", fabric->node_name[number]);
	return node;
}

/* All that were known and all that are here. */
static uint32_t gather_nodes(const struct status_lost *lost, const struct hd_fabric *fabric,
			     struct status_node *nodes)
{
	uint32_t count = lost->node_count, kept = 0;

	if (count)
		memcpy(nodes, lost->nodes, count * sizeof(*nodes));
	for (uint32_t i = 0; i < count; i++)
		nodes[i].here = false;
	for (uint32_t i = 0; i < fabric->node_count; i++)
		nodes[count++] = node_of(fabric, i);
	qsort(nodes, count, sizeof(*nodes), compare_nodes);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || nodes[kept - 1].guid != nodes[i].guid)
			nodes[kept++] = nodes[i];
	return kept;
}

static int compare_ends(const struct status_cable *left, const struct status_cable *right)
{
	for (unsigned end = 0; end < 2; end++) {
		if (left->guid[end] != right->guid[end])
			return left->guid[end] < right->guid[end] ? -1 : 1;
		if (left->port[end] != right->port[end])
			return left->port[end] < right->port[end] ? -1 : 1;
	}
	return 0;
}

/* Of two for the same cable the newer one first. */
static int compare_cables(const void *a, const void *b)
{
	const struct status_cable *left = a, *right = b;
	int order = compare_ends(left, right);

	return order ? order : (int)right->here - (int)left->here;
}

static struct status_cable cable_of(const struct hd_fabric *fabric, uint32_t port)
{
	struct status_cable cable = {.here = true};
	const uint32_t ends[2] = {port, fabric->peer[port]};
	const uint64_t guids[2] = {fabric->node_guid[fabric->port_node[ends[0]]],
				   fabric->node_guid[fabric->port_node[ends[1]]]};
	const bool swap = guids[1] < guids[0] || (guids[0] == guids[1] && ends[1] < ends[0]);

	for (unsigned end = 0; end < 2; end++) {
		cable.guid[end] = guids[end ^ swap];
		cable.port[end] = (uint8_t)hd_port_number(fabric, ends[end ^ swap]);
	}
	return cable;
}

/* Whether the fabric has a cable at one end of a cable that it does not have any more. */
static bool is_replaced(const struct hd_fabric *fabric, const struct status_cable *cable)
{
	for (unsigned end = 0; end < 2; end++) {
		uint32_t node = hd_fabric_find_node(fabric, cable->guid[end]);
		if (node != HD_NONE && cable->port[end] <= hd_node_ports(fabric, node) &&
		    fabric->peer[hd_port_index(fabric, node, cable->port[end])] != HD_NONE)
			return true;
	}
	return false;
}

static uint32_t gather_cables(const struct status_lost *lost, const struct hd_fabric *fabric,
			      struct status_cable *cables)
{
	uint32_t count = lost->cable_count, kept = 0;

	if (count)
		memcpy(cables, lost->cables, count * sizeof(*cables));
	for (uint32_t i = 0; i < count; i++)
		cables[i].here = false;
	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (fabric->peer[port] != HD_NONE && port <= fabric->peer[port])
			cables[count++] = cable_of(fabric, port);
	qsort(cables, count, sizeof(*cables), compare_cables);
	for (uint32_t i = 0; i < count; i++) {
		if (kept && !compare_ends(&cables[kept - 1], &cables[i]))
			continue;
		if (cables[i].here || !is_replaced(fabric, &cables[i]))
			cables[kept++] = cables[i];
	}
	return kept;
}

/* Not here, though its nodes are. */
static bool is_lost(const struct status_lost *lost, const struct status_cable *cable)
{
	for (unsigned end = 0; end < 2; end++) {
		const struct status_node *node =
		    find_node(lost->nodes, lost->node_count, cable->guid[end]);
		if (!node || !node->here)
			return false;
	}
	return !cable->here;
}

static void count_lost(struct status_lost *lost)
{
	lost->switches = lost->others = lost->lost_cables = 0;
	for (uint32_t i = 0; i < lost->node_count; i++) {
		lost->switches += !lost->nodes[i].here && lost->nodes[i].type == HD_SWITCH;
		lost->others += !lost->nodes[i].here && lost->nodes[i].type != HD_SWITCH;
	}
	for (uint32_t i = 0; i < lost->cable_count; i++)
		lost->lost_cables += !lost->cables[i].here && is_lost(lost, &lost->cables[i]);
}

int status_lost_note(struct status_lost *lost, const struct hd_fabric *fabric, struct hd_error *err)
{
	const size_t nodes = (size_t)lost->node_count + fabric->node_count;
	const size_t cables = (size_t)lost->cable_count + fabric->port_count;
	struct status_lost now = {.nodes = malloc((nodes + 1) * sizeof(*now.nodes)),
				  .cables = malloc((cables + 1) * sizeof(*now.cables))};

	if (!now.nodes || !now.cables) {
		status_lost_release(&now);
		return hd_error_no_memory(err);
	}
	now.node_count = gather_nodes(lost, fabric, now.nodes);
	now.cable_count = gather_cables(lost, fabric, now.cables);
	count_lost(&now);
	status_lost_release(lost);
	*lost = now;
	return 0;
}

static void print_cable(const struct status_lost *lost, const struct status_cable *cable,
			char *text, size_t size)
{
	const struct status_node *ends[2];

	for (unsigned end = 0; end < 2; end++)
		ends[end] = find_node(lost->nodes, lost->node_count, cable->guid[end]);
	snprintf(text, size, "cable '%s'[%u] - '%s'[%u]", ends[0]->name, cable->port[0],
		 ends[1]->name, cable->port[1]);
}

bool status_lost_next(const struct status_lost *lost, uint32_t *at, char *text, size_t size)
{
	for (; *at < lost->node_count; ++*at) {
		const struct status_node *node = &lost->nodes[*at];
		if (node->here || node->type != HD_SWITCH)
			continue;
		snprintf(text, size, "switch '%s'", node->name);
		++*at;
		return true;
	}
	for (; *at < lost->node_count + lost->cable_count; ++*at) {
		const struct status_cable *cable = &lost->cables[*at - lost->node_count];
		if (cable->here || !is_lost(lost, cable))
			continue;
		print_cable(lost, cable, text, size);
		++*at;
		return true;
	}
	return false;
}

void status_lost_release(struct status_lost *lost)
{
	free(lost->nodes);
	free(lost->cables);
	*lost = (struct status_lost){0};
}
