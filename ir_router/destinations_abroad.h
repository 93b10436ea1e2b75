/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the assignments of ISSR and ISFR share: the lists of ports and of destinations of a subnet. */
#ifndef IR_ROUTER_DESTINATIONS_ABROAD_H
#define IR_ROUTER_DESTINATIONS_ABROAD_H

#include <heddle/ir_router/issr.h>

struct destinations_abroad {
	const struct hd_interconnect *interconnect;
	uint32_t subnet; /* whose map it is */
	struct hd_assign_port *ports;
	bool *leads;
	struct hd_assign_destination *list;
	uint32_t *host; /* [count] index of the destination in the fabric of its subnet */
	uint32_t count;
	struct hd_arena arena;
};

/* Lists all ports of channel adapters of other subnets, each without a wanted port; the group is
 * the subnet. Released in any case. Errors: -ENOMEM. */
int destinations_abroad_list(struct destinations_abroad *abroad,
			     const struct hd_interconnect *interconnect, uint32_t subnet);

/* The request for these lists. Valid as long as both. */
struct hd_assign_request destinations_abroad_request(const struct destinations_abroad *abroad,
						     const struct hd_map_options *options);

#endif
