/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router_prefixes.h"

/* By prefix; then static rows first, then near ones; then an order that does not depend on the
 * order of advertisements. */
static bool is_before(const struct hd_router_prefix_row *a, const struct hd_router_prefix_row *b)
{
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix;
	if (a->is_static != b->is_static)
		return a->is_static;
	if (a->hops != b->hops)
		return a->hops < b->hops;
	if (a->subnet != b->subnet)
		return a->subnet < b->subnet;
	if (a->port_guid != b->port_guid)
		return a->port_guid < b->port_guid;
	return a->lid < b->lid;
}

static enum hd_router_reason insert(struct hd_router_prefixes *prefixes,
				    const struct hd_router_prefix_row *row)
{
	uint16_t at = prefixes->count;

	if (prefixes->count == prefixes->capacity)
		return HD_ROUTER_TOO_MANY;
	while (at > 0 && is_before(row, &prefixes->rows[at - 1])) {
		prefixes->rows[at] = prefixes->rows[at - 1];
		at--;
	}
	prefixes->rows[at] = *row;
	prefixes->count++;
	return HD_ROUTER_OK;
}

enum hd_router_reason hd_router_prefixes_add_static(struct hd_router_prefixes *prefixes,
						    uint64_t prefix, uint8_t subnet,
						    uint64_t port_guid, uint16_t lid)
{
	const struct hd_router_prefix_row row = {.prefix = prefix,
						 .port_guid = port_guid,
						 .lid = lid,
						 .subnet = subnet,
						 .hops = 1,
						 .is_static = true};

	if (!hd_router_prefix_is_global(prefix) || !hd_router_lid_is_unicast(lid))
		return HD_ROUTER_BAD_VALUE;
	return insert(prefixes, &row);
}

static void forget_port(struct hd_router_prefixes *prefixes, uint8_t subnet, uint64_t port_guid)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < prefixes->count; i++) {
		const struct hd_router_prefix_row *row = &prefixes->rows[i];

		if (row->is_static || row->subnet != subnet || row->port_guid != port_guid)
			prefixes->rows[kept++] = *row;
	}
	prefixes->count = kept;
}

enum hd_router_reason router_prefixes_learn(struct hd_router_prefixes *prefixes, uint8_t subnet,
					    const struct hd_router_message *message,
					    uint64_t expires)
{
	struct hd_router_prefix_row row = {.port_guid = message->port_guid,
					   .expires = expires,
					   .lid = message->lid,
					   .subnet = subnet};
	enum hd_router_reason reason = HD_ROUTER_OK;
	struct hd_router_prefix_entry entry;

	forget_port(prefixes, subnet, message->port_guid);
	for (uint32_t i = 0; !reason && i < message->count; i++) {
		hd_router_prefix_at(message, i, &entry);
		row.prefix = entry.prefix;
		row.hops = entry.hops;
		reason = insert(prefixes, &row);
	}
	return reason;
}

void hd_router_prefixes_expire(struct hd_router_prefixes *prefixes, uint8_t subnet, uint64_t now)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < prefixes->count; i++) {
		const struct hd_router_prefix_row *row = &prefixes->rows[i];

		if (row->is_static || row->subnet != subnet || row->expires > now)
			prefixes->rows[kept++] = *row;
	}
	prefixes->count = kept;
}

/* The first row of a prefix, or of a higher one. */
static uint16_t lower_bound(const struct hd_router_prefixes *prefixes, uint64_t prefix)
{
	uint16_t low = 0, high = prefixes->count;

	while (low < high) {
		uint16_t middle = (uint16_t)(low + (high - low) / 2);

		if (prefixes->rows[middle].prefix < prefix)
			low = (uint16_t)(middle + 1);
		else
			high = middle;
	}
	return low;
}

struct router_prefixes_choice router_prefixes_choose(const struct hd_router_prefixes *prefixes,
						     uint64_t prefix)
{
	uint16_t first = lower_bound(prefixes, prefix), end = first;
	const struct hd_router_prefix_row *best = &prefixes->rows[first];

	while (end < prefixes->count && prefixes->rows[end].prefix == prefix &&
	       prefixes->rows[end].is_static == best->is_static &&
	       prefixes->rows[end].hops == best->hops)
		end++;
	return (struct router_prefixes_choice){.rows = best, .count = (uint32_t)(end - first)};
}
