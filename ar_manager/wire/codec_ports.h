/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of ports as masks of 256 bits: port p is bit p mod 8 of byte 31 - p/8. */
#ifndef AR_MANAGER_CODEC_PORTS_H
#define AR_MANAGER_CODEC_PORTS_H

#include <heddle/ar_manager/codec.h>

void codec_ports_put(const struct hd_port_set *ports, uint8_t *bytes);
void codec_ports_get(const uint8_t *bytes, struct hd_port_set *ports);

#endif
