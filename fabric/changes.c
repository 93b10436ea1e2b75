/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/changes.h>

#include <heddle/base/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME(field, count) (!memcmp(a->field, b->field, (count) * sizeof(*a->field)))

static bool same_nodes(const struct hd_fabric *a, const struct hd_fabric *b)
{
	uint32_t nodes = a->node_count;

	return nodes == b->node_count && a->switch_count == b->switch_count &&
	       SAME(node_guid, nodes) && SAME(system_guid, nodes) && SAME(vendor_id, nodes) &&
	       SAME(device_id, nodes) && SAME(node_type, nodes) && SAME(port_base, nodes + 1);
}

static bool same_ports(const struct hd_fabric *a, const struct hd_fabric *b)
{
	uint32_t ports = a->port_count;

	return ports == b->port_count && SAME(peer, ports) && SAME(port_guid, ports) &&
	       SAME(lid, ports) && SAME(lmc, ports) && SAME(width, ports) && SAME(speed, ports) &&
	       SAME(aside, ports);
}

bool hd_fabric_same(const struct hd_fabric *a, const struct hd_fabric *b)
{
	return same_nodes(a, b) && same_ports(a, b); /* all else is derived from these */
}

/* Both snapshots, and the changes found so far. */
struct comparison {
	const struct hd_fabric *older, *newer;
	uint32_t *in_newer; /* [nodes of older] the same node in newer, or HD_NONE */
	uint32_t *in_older; /* [nodes of newer] */
	struct hd_fabric_change *changes;
	uint32_t room, count;
};

static void add(struct comparison *comparison, bool lost, bool cable, uint32_t index)
{
	if (comparison->count < comparison->room)
		comparison->changes[comparison->count] =
		    (struct hd_fabric_change){.lost = lost, .cable = cable, .index = index};
	comparison->count++;
}

/* Matches the nodes of one kind, which both snapshots have in the order of their GUIDs. */
static void match_nodes(struct comparison *comparison, uint32_t a, uint32_t a_end, uint32_t b,
			uint32_t b_end)
{
	const uint64_t *older = comparison->older->node_guid;
	const uint64_t *newer = comparison->newer->node_guid;

	while (a < a_end || b < b_end) {
		if (a < a_end && b < b_end && older[a] == newer[b]) {
			comparison->in_newer[a] = b;
			comparison->in_older[b++] = a++;
		} else if (b == b_end || (a < a_end && older[a] < newer[b])) {
			comparison->in_newer[a] = HD_NONE;
			add(comparison, true, false, a++);
		} else {
			comparison->in_older[b] = HD_NONE;
			add(comparison, false, false, b++);
		}
	}
}

/* Whether the cable at `port` of `fabric` is in `other`, whose nodes `matching` names. */
static bool has_cable(const struct hd_fabric *fabric, uint32_t port, const struct hd_fabric *other,
		      const uint32_t *matching)
{
	uint32_t peer = fabric->peer[port];
	uint32_t node = matching[fabric->port_node[port]];
	uint32_t peer_node = matching[fabric->port_node[peer]];
	uint32_t number = hd_port_number(fabric, port);
	uint32_t peer_number = hd_port_number(fabric, peer);

	return number <= hd_node_ports(other, node) &&
	       peer_number <= hd_node_ports(other, peer_node) &&
	       other->peer[hd_port_index(other, node, number)] ==
		   hd_port_index(other, peer_node, peer_number);
}

/* The cables between common nodes that only `fabric` has. Each has two ends: the one with the
 * smaller index stands for it. */
static void compare_cables(struct comparison *comparison, bool lost)
{
	const struct hd_fabric *fabric = lost ? comparison->older : comparison->newer;
	const struct hd_fabric *other = lost ? comparison->newer : comparison->older;
	const uint32_t *matching = lost ? comparison->in_newer : comparison->in_older;

	for (uint32_t port = 0; port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];

		if (peer == HD_NONE || peer < port ||
		    matching[fabric->port_node[port]] == HD_NONE ||
		    matching[fabric->port_node[peer]] == HD_NONE)
			continue;
		if (!has_cable(fabric, port, other, matching))
			add(comparison, lost, true, port);
	}
}

int hd_fabric_changes(const struct hd_fabric *older, const struct hd_fabric *newer,
		      struct hd_fabric_change *changes, uint32_t room, uint32_t *count,
		      struct hd_error *err)
{
	size_t nodes = (size_t)older->node_count + newer->node_count;
	struct comparison comparison = {
	    .older = older, .newer = newer, .changes = changes, .room = room};

	comparison.in_newer = malloc((nodes + 1) * sizeof(*comparison.in_newer));
	if (!comparison.in_newer)
		return hd_error_no_memory(err);
	comparison.in_older = comparison.in_newer + older->node_count;
	match_nodes(&comparison, 0, older->switch_count, 0, newer->switch_count);
	match_nodes(&comparison, older->switch_count, older->node_count, newer->switch_count,
		    newer->node_count);
	compare_cables(&comparison, true);
	compare_cables(&comparison, false);
	free(comparison.in_newer);
	*count = comparison.count;
	return 0;
}

/* ---- as a text ---- */

/* A text that grows up to its size; what does not fit is cut. */
struct growing_text {
	char *at;
	int left;
};

static void append(struct growing_text *text, const char *format, ...) HD_PRINTF(2, 3);

static void append(struct growing_text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(text->at, (size_t)text->left, format, arguments);
	va_end(arguments);
	if (length >= text->left)
		length = text->left - 1;
	text->at += length;
	text->left -= length;
}

static void append_node(struct growing_text *text, const struct hd_fabric *fabric, uint32_t node)
{
	static const char *const kind[] = {
	    [HD_SWITCH] = "switch", [HD_CA] = "host", [HD_ROUTER] = "router"};

	append(text, "%s '%s'", kind[fabric->node_type[node]], fabric->node_name[node]);
}

static void append_end(struct growing_text *text, const struct hd_fabric *fabric, uint32_t port)
{
	append(text, "'%s'[%u]", fabric->node_name[fabric->port_node[port]],
	       hd_port_number(fabric, port));
}

static void append_change(struct growing_text *text, const struct hd_fabric *fabric,
			  const struct hd_fabric_change *change)
{
	if (!change->cable) {
		append_node(text, fabric, change->index);
		return;
	}
	append(text, "cable ");
	append_end(text, fabric, change->index);
	append(text, " - ");
	append_end(text, fabric, fabric->peer[change->index]);
}

/* The changes of one kind, after the word for it. */
static void append_all(struct growing_text *text, const struct hd_fabric *fabric,
		       const struct hd_fabric_change *changes, uint32_t count, bool lost)
{
	const char *before = lost ? "lost " : "new ";

	for (uint32_t i = 0; i < count; i++) {
		if (changes[i].lost != lost)
			continue;
		append(text, "%s", before);
		append_change(text, fabric, &changes[i]);
		before = ", ";
	}
}

int hd_fabric_changes_print(const struct hd_fabric *older, const struct hd_fabric *newer,
			    uint32_t named, char *text, int size, struct hd_error *err)
{
	struct growing_text growing = {text, size};
	struct hd_fabric_change *changes = calloc(named + 1u, sizeof(*changes));
	uint32_t count, losses = 0;
	int rc = changes ? hd_fabric_changes(older, newer, changes, named, &count, err)
			 : hd_error_no_memory(err);

	text[0] = '\0';
	if (!rc) {
		uint32_t shown = count < named ? count : named;

		for (uint32_t i = 0; i < shown; i++)
			losses += changes[i].lost;
		append_all(&growing, older, changes, shown, true);
		if (losses && losses < shown)
			append(&growing, "; ");
		append_all(&growing, newer, changes, shown, false);
		if (count > shown)
			append(&growing, "%s%u %s", shown ? "; " : "", count - shown,
			       shown ? "more" : "changes");
	}
	free(changes);
	return rc;
}
