/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of port states of a switch (SwitchPortStateTable, InfiniBand specification, volume 1, 14.2.5.20), which
 * ibsim does not know: its bytes, and the bits of PortInfo by which a switch says that it has the table.
 */
#ifndef EMULATOR_STATES_H
#define EMULATOR_STATES_H

#include <stdint.h>

#define STATES_PORTS 128u /* in a block */

/* The last port in a block; below the first one: the switch has no such block. */
int states_last(unsigned ports, uint32_t block);

/* Puts the state that a PortInfo tells into a block. `port` counts from the first one of the block. */
void states_put(uint8_t *block, unsigned port, const uint8_t *port_info);

/* The PortInfo of port 0 says that the switch has the table. */
void states_announce(uint8_t *port_info);

#endif
