/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The vendor attributes of a channel adapter: GeneralInfo, and MlnxExtPortInfo of its ports. */
#ifndef EMULATOR_HOST_H
#define EMULATOR_HOST_H

#include <stdint.h>

#define HOST_RECORD 64u

/* The records of the ports 1 .. ports after power-on, to be freed with free(): records[ports + 1].
 * NULL: no memory. */
uint8_t (*host_records(uint8_t ports))[HOST_RECORD];

/* Does a Get or Set as attributes_do() does for a switch. A Set may change the two masks only. */
uint16_t host_do(uint8_t (*records)[HOST_RECORD], uint8_t ports, uint8_t method, uint16_t attribute,
		 uint32_t modifier, uint8_t *data);

#endif
