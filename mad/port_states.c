/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/mad/smp.h>

#define HAS_MASK2 (1u << 15) /* of CapabilityMask */
#define HAS_PORT_STATES (1u << 3) /* of CapabilityMask2 */

_Static_assert(HD_PORT_STATES == 2 * HD_SMP_DATA, "two ports in a byte");

void hd_port_states_decode(const uint8_t data[HD_SMP_DATA], uint8_t states[HD_PORT_STATES])
{
	for (uint32_t port = 0; port < HD_PORT_STATES; port++)
		states[port] = port % 2 ? data[port / 2] & 0x0F : data[port / 2] >> 4;
}

bool hd_port_states_supported(uint32_t capability_mask, uint16_t capability_mask2)
{
	return (capability_mask & HAS_MASK2) && (capability_mask2 & HAS_PORT_STATES);
}
