/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/resolve.h>

#include <errno.h>
#include <heddle/base/plain.h>
#include <heddle/base/text.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_LONGEST 2048u
#define CANDIDATES_MAX 4u /* kept for the message; all are counted */

struct search {
	const struct hd_fabric *fabric;
	enum hd_resolve_filter filter;
	uint32_t count;
	uint32_t ports[CANDIDATES_MAX];
	/* Nodes that match the text but cannot be the result; HD_NONE: no such node. */
	uint32_t left_out; /* by the filter */
	uint32_t without_cable;
};

/* False if the filter leaves the port out. Several readings of a text may give the same port. */
static bool add_port(struct search *search, uint32_t port)
{
	const struct hd_fabric *fabric = search->fabric;
	uint32_t node = fabric->port_node[port];

	if (!(search->filter &
	      (hd_is_switch(fabric, node) ? HD_RESOLVE_SWITCHES : HD_RESOLVE_HOSTS))) {
		search->left_out = node;
		return false;
	}
	for (uint32_t i = 0; i < search->count && i < CANDIDATES_MAX; i++)
		if (search->ports[i] == port)
			return true;
	if (search->count < CANDIDATES_MAX)
		search->ports[search->count] = port;
	search->count++;
	return true;
}

/* False if the node has no port that can be meant. */
static bool add_node(struct search *search, uint32_t node)
{
	const struct hd_fabric *fabric = search->fabric;
	bool cabled = false, added = false;

	for (uint32_t number = 0; number <= hd_node_ports(fabric, node); number++) {
		uint32_t port = hd_port_index(fabric, node, number);
		if (hd_fabric_entry(fabric, port) == HD_NONE)
			continue;
		cabled = true;
		added = add_port(search, port) || added;
	}
	if (!cabled)
		search->without_cable = node;
	return added;
}

/* ---- addresses ---- */

static void add_lid(struct search *search, uint32_t lid)
{
	const struct hd_fabric *fabric = search->fabric;
	uint32_t port = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;

	if (port == HD_NONE)
		return;
	if (hd_fabric_entry(fabric, port) != HD_NONE)
		add_port(search, port);
	else
		search->without_cable = fabric->port_node[port];
}

static void add_guid(struct search *search, uint64_t guid)
{
	const struct hd_fabric *fabric = search->fabric;
	uint32_t port = hd_fabric_find_port(fabric, guid), node = hd_fabric_find_node(fabric, guid);

	if (port != HD_NONE && fabric->port_guid[port] == guid &&
	    hd_fabric_entry(fabric, port) != HD_NONE)
		add_port(search, port);
	else if (node != HD_NONE)
		add_node(search, node);
	else if (port != HD_NONE)
		search->without_cable = fabric->port_node[port];
}

static void add_address(struct search *search, const char *text)
{
	struct hd_cursor cursor = {text, text + strlen(text)};
	uint32_t lid;
	uint64_t guid;

	if (!strncmp(text, "0x", 2) || !strncmp(text, "0X", 2)) {
		if (hd_take_hex(&cursor, &guid) && hd_cursor_done(&cursor))
			add_guid(search, guid);
	} else if (hd_take_decimal(&cursor, &lid) && hd_cursor_done(&cursor)) {
		add_lid(search, lid);
	}
}

/* ---- names ---- */

/* The first word of a description is usually the name of the host. */
static bool first_word_is(const char *name, const char *text)
{
	size_t length = strlen(text);

	return !strncmp(name, text, length) && (name[length] == ' ' || name[length] == '\t');
}

/* False if no node that can be meant has that name. */
static bool add_named(struct search *search, const char *text, bool complete)
{
	const struct hd_fabric *fabric = search->fabric;
	bool found = false;

	for (uint32_t node = 0; node < fabric->node_count; node++) {
		const char *name = fabric->node_name[node];
		if (complete ? strcmp(name, text) != 0 : !first_word_is(name, text))
			continue;
		found = add_node(search, node) || found;
	}
	return found;
}

/* ---- messages ---- */

static const char *kind_of(enum hd_resolve_filter filter)
{
	return filter == HD_RESOLVE_HOSTS      ? "host"
	       : filter == HD_RESOLVE_SWITCHES ? "switch"
					       : "host or switch";
}

/* "'n1 mlx5_0'[1] GUID 0x0000000000100001 LID 4"; a switch has no port behind it */
static void describe(const struct hd_fabric *fabric, uint32_t port, char *buffer, size_t size)
{
	uint32_t node = fabric->port_node[port];
	uint64_t guid = fabric->port_guid[port];

	char number[16] = "", lid[16] = "";

	if (!hd_is_switch(fabric, node))
		snprintf(number, sizeof(number), "[%" PRIu32 "]", hd_port_number(fabric, port));
	if (fabric->lid[port])
		snprintf(lid, sizeof(lid), " LID %u", fabric->lid[port]);
	snprintf(buffer, size, "'%.32s'%s GUID 0x%016" PRIx64 "%s", fabric->node_name[node], number,
		 guid ? guid : fabric->node_guid[node], lid);
}

static int several(const struct search *search, const char *text, struct hd_error *err)
{
	char list[CANDIDATES_MAX * 96] = "", one[96];
	size_t used = 0;

	for (uint32_t i = 0; i < search->count && i < CANDIDATES_MAX; i++) {
		describe(search->fabric, search->ports[i], one, sizeof(one));
		used +=
		    (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", one);
	}
	return hd_error_set(err, -EEXIST,
			    "'%.32s' means %" PRIu32 " %s, give a GUID instead: "
			    "%s%s",
			    text, search->count,
			    search->filter == HD_RESOLVE_SWITCHES ? "switches" : "ports", list,
			    search->count > CANDIDATES_MAX ? ", ..." : "");
}

static int none(const struct search *search, const char *text, struct hd_error *err)
{
	const struct hd_fabric *fabric = search->fabric;

	if (search->left_out != HD_NONE)
		return hd_error_set(
		    err, -ENOENT, "'%.64s' is a %s ('%.64s' 0x%016" PRIx64 "), expected a %s", text,
		    hd_is_switch(fabric, search->left_out) ? "switch" : "host",
		    fabric->node_name[search->left_out], fabric->node_guid[search->left_out],
		    kind_of(search->filter));
	if (search->without_cable != HD_NONE)
		return hd_error_set(err, -ENOENT,
				    "'%.64s' is '%.64s' 0x%016" PRIx64
				    ", but it has no cable to a switch",
				    text, fabric->node_name[search->without_cable],
				    fabric->node_guid[search->without_cable]);
	return hd_error_set(err, -ENOENT,
			    "'%.128s' is not a %s of the fabric: expected a LID, a GUID with 0x, a "
			    "node's description, or the first word of it",
			    text, kind_of(search->filter));
}

int hd_fabric_resolve(const struct hd_fabric *fabric, const char *text,
		      enum hd_resolve_filter filter, uint32_t *port, struct hd_error *err)
{
	struct search search = {
	    .fabric = fabric, .filter = filter, .left_out = HD_NONE, .without_cable = HD_NONE};

	char name[NAME_LONGEST];

	add_address(&search, text);
	/* Nodes' names are plain, and people type what they have seen. */
	hd_plain(text, name, sizeof(name));
	if (*name && !add_named(&search, name, true))
		add_named(&search, name, false);
	if (search.count > 1)
		return several(&search, text, err);
	if (!search.count)
		return none(&search, text, err);
	*port = search.ports[0];
	return 0;
}
