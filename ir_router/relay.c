/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router_hash.h"

#include <heddle/ir_router/relay.h>

static bool choose_by_hash(const struct hd_interconnect *interconnect, uint32_t router,
			   uint32_t subnet, uint16_t slid, struct hd_relay_choice *choice)
{
	uint32_t first, count = hd_interconnect_ports(interconnect, router, subnet, &first);

	if (!count)
		return false;
	choice->egress =
	    first + hd_router_hash_index(HD_ROUTER_HASH_PAIR, slid, choice->dlid, count);
	return true;
}

/* The attached subnet that is nearest to the destination's: the first of equals. */
static uint32_t next_subnet(const struct hd_interconnect *interconnect, uint32_t router,
			    uint32_t from, uint32_t to)
{
	uint32_t count = interconnect->subnet_count, best = HD_NONE, first;
	uint32_t nearest = interconnect->distance[(size_t)from * count + to];

	for (uint32_t subnet = 0; subnet < count; subnet++) {
		uint32_t distance = interconnect->distance[(size_t)subnet * count + to];
		if (distance >= nearest ||
		    !hd_interconnect_ports(interconnect, router, subnet, &first))
			continue;
		nearest = distance;
		best = subnet;
	}
	return best;
}

/* Whether port number i of the subnet's order is one of another router that leads on. */
static bool leads_on(const struct hd_interconnect *interconnect, uint32_t i, uint32_t router,
		     uint32_t to)
{
	uint32_t port = interconnect->ordered[i];

	return interconnect->ports[port].router != router &&
	       hd_interconnect_leads(interconnect, port, to);
}

/* LID of the port of the next router; false if no router leads on. */
static bool next_hop(const struct hd_interconnect *interconnect, uint32_t router, uint32_t through,
		     const struct hd_relay_packet *packet, uint16_t *lid)
{
	const uint32_t *base = &interconnect->ordered_base[through];
	uint32_t count = 0;

	for (uint32_t i = base[0]; i < base[1]; i++)
		count += leads_on(interconnect, i, router, packet->subnet);
	if (!count)
		return false;
	uint64_t mixed =
	    hd_hash_number(packet->destination.prefix ^ hd_hash_number(packet->destination.guid));
	uint32_t left = (uint32_t)(mixed % count);
	for (uint32_t i = base[0]; i < base[1]; i++)
		if (leads_on(interconnect, i, router, packet->subnet) && !left--)
			*lid = interconnect->ports[interconnect->ordered[i]].lid;
	return true;
}

static bool choose_issr(void *context, const struct hd_relay_packet *packet,
			struct hd_relay_choice *choice)
{
	const struct hd_relay_tables *tables = context;
	const struct hd_interconnect *interconnect = tables->interconnect;
	const struct hd_router_port *ingress = &interconnect->ports[packet->ingress];

	choice->dlid = packet->lid;
	if (choose_by_hash(interconnect, ingress->router, packet->subnet, packet->slid, choice))
		return true;
	uint32_t through =
	    next_subnet(interconnect, ingress->router, ingress->subnet, packet->subnet);
	return through != HD_NONE &&
	       next_hop(interconnect, ingress->router, through, packet, &choice->dlid) &&
	       choose_by_hash(interconnect, ingress->router, through, packet->slid, choice);
}

static bool choose_isfr(void *context, const struct hd_relay_packet *packet,
			struct hd_relay_choice *choice)
{
	const struct hd_relay_tables *tables = context;
	const struct hd_router_port *ingress = &tables->interconnect->ports[packet->ingress];
	uint32_t egress =
	    hd_isfr_egress(tables->plan, ingress->router, packet->subnet, packet->host);

	if (egress == HD_NONE)
		return choose_issr(context, packet, choice);
	*choice = (struct hd_relay_choice){egress, packet->lid};
	return true;
}

struct hd_relay hd_relay_issr(struct hd_relay_tables *tables)
{
	return (struct hd_relay){"issr", choose_issr, tables};
}

struct hd_relay hd_relay_isfr(struct hd_relay_tables *tables)
{
	return (struct hd_relay){"isfr", choose_isfr, tables};
}
