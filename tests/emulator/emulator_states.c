/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_states.h"
#include "emulator_wire.h"

/* Offsets in a PortInfo. */
enum { CAPABILITIES = 20, STATE = 32, MORE_CAPABILITIES = 60 };

int states_last(unsigned ports, uint32_t block)
{
	unsigned first = block * STATES_PORTS;

	if (block > 1 || first > ports)
		return (int)first - 1;
	return (int)(ports < first + STATES_PORTS ? ports : first + STATES_PORTS - 1);
}

void states_put(uint8_t *block, unsigned port, const uint8_t *port_info)
{
	uint8_t state = port_info[STATE] & 0x0F;

	block[port / 2] |= (uint8_t)(port % 2 ? state : state << 4);
}

void states_announce(uint8_t *port_info)
{
	wire_put32(port_info + CAPABILITIES, wire_get32(port_info + CAPABILITIES) | 1u << 15);
	wire_put16(port_info + MORE_CAPABILITIES,
		   (uint16_t)(wire_get16(port_info + MORE_CAPABILITIES) | 1u << 3));
}
