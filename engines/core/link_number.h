/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A switch's inter-switch links numbered among its own, so that a tree takes a byte a switch. */
#ifndef ENGINES_LINK_NUMBER_H
#define ENGINES_LINK_NUMBER_H

#include <heddle/fabric/graph.h>
#include <string.h>

#define LINK_NUMBER_NONE 0xFF /* of a port without an inter-switch link; also: no next hop */

/* Fills number[port] for all ports of the switch. */
static inline void link_number_fill(const struct hd_fabric *fabric, uint32_t sw,
				    uint8_t number[256])
{
	memset(number, LINK_NUMBER_NONE, 256);
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		number[fabric->isl_port[link]] = (uint8_t)(link - fabric->isl_base[sw]);
}

#endif
