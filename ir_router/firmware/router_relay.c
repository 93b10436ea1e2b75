/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LRH: 0 VL and version, 1 SL and next header (2 bits), 2 DLID, 4 length, 6 SLID. GRH: 8 version,
 * class and flow, 12 length, 14 next header, 15 HopLimit, 16 SGID, 32 DGID.
 */
#include "router_relay.h"

#include "router_codec.h"

#define NEXT_HEADER_AT 1u
#define NEXT_IS_GLOBAL 3u /* an InfiniBand packet with a GRH */
#define DLID_AT 2u
#define SLID_AT 6u
#define VERSION_AT 8u
#define HOP_LIMIT_AT 15u
#define SGID_AT 16u
#define DGID_AT 32u

/* The router port that the map of a subnet names for a GID; 0: none. */
static uint64_t mapped_port(const struct hd_router_lists *lists,
			    const struct hd_router_gid *destination)
{
	uint32_t low = 0, high = lists->map_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct hd_router_mapped *at = &lists->map[middle];

		if (at->gid.prefix == destination->prefix && at->gid.guid == destination->guid)
			return at->port_guid;
		if (at->gid.prefix != destination->prefix ? at->gid.prefix < destination->prefix
							  : at->gid.guid < destination->guid)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* The next hop that the map of its own subnet names, or NULL. */
static const struct hd_router_prefix_row *hop_by_map(const struct hd_router *router,
						     const struct router_prefixes_choice *choice,
						     const struct hd_router_gid *destination)
{
	uint8_t subnet = 0xFF;
	uint64_t port = 0;

	if (!router->limits.mapped)
		return NULL;
	for (uint32_t i = 0; i < choice->count; i++) {
		const struct hd_router_prefix_row *row = &choice->rows[i];

		if (row->subnet != subnet) {
			subnet = row->subnet;
			port = mapped_port(hd_router_lists_of(router, subnet), destination);
		}
		if (port && row->port_guid == port)
			return row;
	}
	return NULL;
}

enum hd_router_drop hd_router_next_lid(const struct hd_router *router,
				       const struct hd_router_gid *destination,
				       struct hd_router_hop *hop)
{
	const struct hd_router_host *host;
	int subnet;

	if (!hd_router_prefix_is_global(destination->prefix))
		return HD_ROUTER_DROP_NOT_GLOBAL;
	subnet = hd_router_subnet_of(router, destination->prefix);
	if (subnet < 0) {
		struct router_prefixes_choice choice =
		    router_prefixes_choose(&router->prefixes, destination->prefix);
		const struct hd_router_prefix_row *row;

		if (!choice.count)
			return HD_ROUTER_DROP_NO_PREFIX;
		row = hop_by_map(router, &choice, destination);
		if (!row) {
			uint32_t mixed = hd_router_mix((uint32_t)destination->guid ^
						       (uint32_t)(destination->guid >> 32));

			row = &choice.rows[(uint64_t)mixed * choice.count >> 32];
		}
		*hop = (struct hd_router_hop){.subnet = row->subnet, .lid = row->lid};
		return HD_ROUTER_FORWARDED;
	}
	host = router_host_of(hd_router_lists_of(router, (uint8_t)subnet), destination->guid);
	if (!host)
		return HD_ROUTER_DROP_NO_HOST;
	*hop = (struct hd_router_hop){.subnet = (uint8_t)subnet, .lid = host->lid, .host = host};
	return HD_ROUTER_FORWARDED;
}

uint16_t hd_router_choose_egress_port(const struct hd_router *router, uint8_t subnet,
				      uint16_t source_lid, uint16_t destination_lid)
{
	const struct hd_router_subnet *at = &router->subnets[subnet];

	if (!at->candidate_count)
		return HD_ROUTER_NO_PORT;
	return at->candidates[hd_router_hash_index(router->settings.hash, source_lid,
						   destination_lid, at->candidate_count)];
}

uint16_t hd_router_confirmed_port(const struct hd_router *router, uint8_t subnet,
				  const struct hd_router_host *host)
{
	const struct hd_router_port *port;

	if (host->state != HD_ROUTER_CONFIRMED || host->port == HD_ROUTER_NO_PORT)
		return HD_ROUTER_NO_PORT;
	port = &hd_router_lists_of(router, subnet)->ports[host->port];
	return port->usable && port->query.trusted ? host->port : HD_ROUTER_NO_PORT;
}

static struct hd_router_gid gid_at(const uint8_t *at)
{
	return (struct hd_router_gid){router_bytes_get64(at), router_bytes_get64(at + 8)};
}

/* Where the packet goes; it is not changed. */
static enum hd_router_drop decide(const struct hd_router *router, uint8_t from,
				  const uint8_t *packet, struct hd_router_hop *hop,
				  struct hd_router_egress *egress)
{
	struct hd_router_gid source = gid_at(packet + SGID_AT);
	struct hd_router_gid destination = gid_at(packet + DGID_AT);
	enum hd_router_drop drop;

	if ((packet[NEXT_HEADER_AT] & 3) != NEXT_IS_GLOBAL || packet[VERSION_AT] >> 4 != 6 ||
	    !hd_router_prefix_is_global(source.prefix))
		return HD_ROUTER_DROP_NOT_GLOBAL;
	drop = hd_router_next_lid(router, &destination, hop);
	if (drop)
		return drop;
	if (hop->subnet == from)
		return HD_ROUTER_DROP_SAME_SUBNET;
	if (packet[HOP_LIMIT_AT] <= 1)
		return HD_ROUTER_DROP_HOP_LIMIT;
	egress->subnet = hop->subnet;
	egress->port = hop->host ? hd_router_confirmed_port(router, hop->subnet, hop->host)
				 : HD_ROUTER_NO_PORT;
	egress->confirmed = egress->port != HD_ROUTER_NO_PORT;
	if (!egress->confirmed)
		egress->port = hd_router_choose_egress_port(
		    router, hop->subnet, router_bytes_get16(packet + SLID_AT), hop->lid);
	return egress->port == HD_ROUTER_NO_PORT ? HD_ROUTER_DROP_NO_PORT : HD_ROUTER_FORWARDED;
}

enum hd_router_drop hd_router_relay(struct hd_router *router, uint8_t from,
				    uint8_t packet[HD_ROUTER_PACKET],
				    struct hd_router_egress *egress)
{
	struct hd_router_egress found;
	struct hd_router_hop hop;
	enum hd_router_drop drop = decide(router, from, packet, &hop, &found);

	router->counts.packets[drop]++;
	if (drop)
		return drop;
	if (found.confirmed)
		router->counts.isfr++;
	else
		router->counts.issr++;
	packet[HOP_LIMIT_AT]--;
	router_bytes_put16(packet + DLID_AT, hop.lid);
	router_bytes_put16(packet + SLID_AT,
			   hd_router_lists_of(router, found.subnet)->ports[found.port].lid);
	*egress = found;
	return HD_ROUTER_FORWARDED;
}
