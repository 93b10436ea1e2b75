/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A port as a person names it. */
#include <heddle/base/text.h>

#include <errno.h>
#include <heddle/fabric/graph.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CANDIDATES_SHOWN 8

/* Ports that were meant, perhaps: the first is the answer when it is the only one. */
struct candidates {
	uint32_t count;
	uint32_t ports[CANDIDATES_SHOWN];
};

static void add_candidate(struct candidates *candidates, uint32_t port)
{
	if (candidates->count < CANDIDATES_SHOWN)
		candidates->ports[candidates->count] = port;
	candidates->count++;
}

static void add_node(const struct hd_fabric *fabric, uint32_t node, struct candidates *candidates)
{
	for (uint32_t port = 0; port <= hd_node_ports(fabric, node); port++)
		if (hd_fabric_entry(fabric, hd_port_index(fabric, node, port)) != HD_NONE)
			add_candidate(candidates, hd_port_index(fabric, node, port));
}

/* What people call a host is its description up to the first blank. */
static bool first_word_is(const char *name, const char *text)
{
	size_t length = strlen(text);

	return !strncmp(name, text, length) && name[length] == ' ';
}

static void add_named(const struct hd_fabric *fabric, const char *text, bool whole,
		      struct candidates *candidates)
{
	for (uint32_t node = 0; node < fabric->node_count; node++) {
		const char *name = fabric->node_name[node];
		if (whole ? !strcmp(name, text) : first_word_is(name, text))
			add_node(fabric, node, candidates);
	}
}

/* By port GUID, else all ports of the node with that GUID. */
static void add_guid(const struct hd_fabric *fabric, uint64_t guid, struct candidates *candidates)
{
	uint32_t port = hd_fabric_find_port(fabric, guid), node = hd_fabric_find_node(fabric, guid);

	if (port != HD_NONE && fabric->port_guid[port] == guid &&
	    hd_fabric_entry(fabric, port) != HD_NONE)
		add_candidate(candidates, port);
	else if (node != HD_NONE)
		add_node(fabric, node, candidates);
}

static void add_lid(const struct hd_fabric *fabric, uint32_t lid, struct candidates *candidates)
{
	uint32_t port = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;

	if (port != HD_NONE && hd_fabric_entry(fabric, port) != HD_NONE)
		add_candidate(candidates, port);
}

static int several(const struct hd_fabric *fabric, const char *text,
		   const struct candidates *candidates, struct hd_error *err)
{
	char list[HD_ERROR_TEXT] = "", label[HD_LABEL_SIZE];
	size_t used = 0;

	for (uint32_t i = 0; i < candidates->count && i < CANDIDATES_SHOWN; i++) {
		uint32_t port = candidates->ports[i];
		if (used < sizeof(list))
			used += (size_t)snprintf(
			    list + used, sizeof(list) - used, "%s%s LID %u", i ? ", " : "",
			    hd_port_label(fabric, port, label, sizeof(label)), fabric->lid[port]);
	}
	return hd_error_set(err, -EINVAL,
			    "'%.64s' may be any of %" PRIu32 " ports, give a LID or port GUID: "
			    "%.300s%s",
			    text, candidates->count, list,
			    candidates->count > CANDIDATES_SHOWN ? ", ..." : "");
}

int hd_fabric_resolve(const struct hd_fabric *fabric, const char *text, uint32_t *port,
		      struct hd_error *err)
{
	struct candidates candidates = {.count = 0};
	struct hd_cursor cursor = {text, text + strlen(text)};
	uint32_t lid;
	uint64_t guid;

	if (!strncmp(text, "0x", 2) && hd_take_hex(&cursor, &guid) && hd_cursor_done(&cursor))
		add_guid(fabric, guid, &candidates);
	else if (hd_take_decimal(&cursor, &lid) && hd_cursor_done(&cursor))
		add_lid(fabric, lid, &candidates);
	if (!candidates.count)
		add_named(fabric, text, true, &candidates);
	if (!candidates.count)
		add_named(fabric, text, false, &candidates);
	if (candidates.count == 1) {
		*port = candidates.ports[0];
		return 0;
	}
	if (candidates.count)
		return several(fabric, text, &candidates, err);
	return hd_error_set(err, -ENOENT,
			    "'%.128s' is no host or switch of the fabric: expected a GUID with 0x, "
			    "a LID, or a node's description",
			    text);
}
