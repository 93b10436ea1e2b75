/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router_check.h"

static bool gid_is_below(const struct hd_router_gid *a, const struct hd_router_gid *b)
{
	return a->prefix != b->prefix ? a->prefix < b->prefix : a->guid < b->guid;
}

/* Whether the entries lie within the list. */
static enum hd_router_reason check_part(const struct hd_router_message *message)
{
	if (message->first > message->total || message->count > message->total - message->first)
		return HD_ROUTER_BAD_VALUE;
	return HD_ROUTER_OK;
}

static enum hd_router_reason check_ports(const struct hd_router_message *message)
{
	struct hd_router_port_entry entry;
	uint64_t before = 0;

	for (uint32_t i = 0; i < message->count; i++) {
		hd_router_port_at(message, i, &entry);
		if (!hd_router_lid_is_unicast(entry.lid) ||
		    (entry.switch_guid && !hd_router_lid_is_unicast(entry.switch_lid)))
			return HD_ROUTER_BAD_VALUE;
		if (entry.guid <= before)
			return HD_ROUTER_NOT_SORTED;
		before = entry.guid;
	}
	return HD_ROUTER_OK;
}

static enum hd_router_reason check_hosts(const struct hd_router_message *message)
{
	bool foreign = message->type == HD_ROUTER_FOREIGN;
	struct hd_router_host_entry entry;
	uint64_t before = 0;

	for (uint32_t i = 0; i < message->count; i++) {
		hd_router_host_at(message, i, &entry);
		if (entry.gid.prefix != message->prefix)
			return HD_ROUTER_FOREIGN_GID;
		if (foreign ? entry.lid != 0 : !hd_router_lid_is_unicast(entry.lid))
			return HD_ROUTER_BAD_VALUE;
		if (entry.gid.guid <= before)
			return HD_ROUTER_NOT_SORTED;
		before = entry.gid.guid;
	}
	return check_part(message);
}

static enum hd_router_reason check_map(const struct hd_router_message *message)
{
	struct hd_router_gid before = {0, 0};
	struct hd_router_map_entry entry;

	for (uint32_t i = 0; i < message->count; i++) {
		hd_router_map_at(message, i, &entry);
		if (entry.gid.prefix == message->prefix)
			return HD_ROUTER_OWN_GID;
		if (!entry.port_guid || !hd_router_prefix_is_global(entry.gid.prefix))
			return HD_ROUTER_BAD_VALUE;
		if (!gid_is_below(&before, &entry.gid))
			return HD_ROUTER_NOT_SORTED;
		before = entry.gid;
	}
	return check_part(message);
}

static enum hd_router_reason check_prefixes(uint64_t own, const struct hd_router_message *message)
{
	struct hd_router_prefix_entry entry;
	uint64_t before = 0;

	if (!message->port_guid || !hd_router_lid_is_unicast(message->lid))
		return HD_ROUTER_BAD_VALUE;
	for (uint32_t i = 0; i < message->count; i++) {
		hd_router_prefix_at(message, i, &entry);
		if (entry.prefix == own)
			return HD_ROUTER_WRONG_PREFIX;
		if (!hd_router_prefix_is_global(entry.prefix) || !entry.hops ||
		    entry.hops > HD_ROUTER_HOPS_MAX)
			return HD_ROUTER_BAD_VALUE;
		if (entry.prefix <= before)
			return HD_ROUTER_NOT_SORTED;
		before = entry.prefix;
	}
	return HD_ROUTER_OK;
}

/* Lists of other subnets may be about any prefix but the session's. */
static enum hd_router_reason check_foreign(uint64_t own, const struct hd_router_message *message)
{
	if (message->prefix == own)
		return HD_ROUTER_WRONG_PREFIX;
	if (!hd_router_prefix_is_global(message->prefix) || !message->hops ||
	    message->hops > HD_ROUTER_HOPS_MAX)
		return HD_ROUTER_BAD_VALUE;
	return check_hosts(message);
}

static enum hd_router_reason check_refused(const struct hd_router_message *message)
{
	return message->reason && message->reason < HD_ROUTER_REASONS ? HD_ROUTER_OK
								      : HD_ROUTER_BAD_VALUE;
}

enum hd_router_reason router_check_content(uint64_t prefix, const struct hd_router_message *message)
{
	switch (message->type) {
	case HD_ROUTER_PREFIXES:
		return check_prefixes(prefix, message);
	case HD_ROUTER_FOREIGN:
		return check_foreign(prefix, message);
	case HD_ROUTER_REFUSED:
		return check_refused(message);
	case HD_ROUTER_HELLO:
	case HD_ROUTER_ALIVE:
		return HD_ROUTER_OK;
	default:
		break;
	}
	if (message->prefix != prefix)
		return HD_ROUTER_WRONG_PREFIX;
	if (message->type == HD_ROUTER_PORTS)
		return check_ports(message);
	if (message->type == HD_ROUTER_HOSTS)
		return check_hosts(message);
	return message->type == HD_ROUTER_MAP ? check_map(message) : HD_ROUTER_OK;
}
