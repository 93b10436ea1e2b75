/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any 64 bytes as a SwitchPortStateTable: each state is below 16, and together they are those bytes again. */
#include "fuzzing.h"

#include <heddle/mad/smp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t states[HD_PORT_STATES];

	if (size < HD_SMP_DATA)
		return 0;
	memset(states, 0xFF, sizeof(states));
	hd_port_states_decode(data, states);
	for (uint32_t port = 0; port < HD_PORT_STATES; port++)
		demand(states[port] < 16);
	for (uint32_t i = 0; i < HD_SMP_DATA; i++)
		demand(data[i] == (states[2 * i] << 4 | states[2 * i + 1]));
	return 0;
}
