/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts with MlnxExtPortInfo on a simulated port. Include after <cmocka.h>. */
#ifndef HOST_MASKS_TESTING_H
#define HOST_MASKS_TESTING_H

#include "simulated_port.h"

#include <heddle/ar_manager/codec.h>
#include <heddle/ar_manager/link.h>
#include <heddle/mad/queue.h>
#include <string.h>

#define HOSTS 6u
#define UNSUPPORTED 0x0C

/* What the hosts are. */
enum { HOST_TOLD, HOST_UNTOLD, HOST_OLD, HOST_DUMB, HOST_STUBBORN, HOST_SILENT };

struct hosts {
	struct simulated_port port;
	struct hd_smp_address addresses[HOSTS];
	uint8_t ports[HOSTS];
	uint8_t records[HOSTS][HD_AR_DATA];
	uint32_t sets;
	bool going; /* what go_on says */
};

static uint16_t answer_of_host(void *context, uint32_t host, const struct hd_smp *smp,
			       uint8_t *data)
{
	struct hosts *hosts = context;
	const struct hd_ar_capability_mask mask = {
	    .words = {host == HOST_OLD ? 0 : 1u << HD_AR_CAN_EXT_PORT_INFO}};

	if (host == HOST_DUMB)
		return UNSUPPORTED;
	if (smp->attribute == HD_AR_GENERAL_INFO) {
		hd_ar_capability_mask_encode(&mask, data);
		return 0;
	}
	if (smp->attribute != HD_AR_EXT_PORT_INFO || smp->modifier != host + 1)
		return UNSUPPORTED;
	hosts->sets += smp->method == HD_SMP_SET;
	if (smp->method == HD_SMP_SET && host != HOST_STUBBORN)
		memcpy(hosts->records[host], smp->data, HD_AR_DATA);
	memcpy(data, hosts->records[host], HD_AR_DATA);
	return 0;
}

static inline void hosts_begin(struct hosts *hosts, uint32_t sl_mask)
{
	const struct hd_ar_ext_port_info told = {.adaptive_timeout_sl_mask = 3,
						 .ooo_sl_mask = sl_mask};

	memset(hosts, 0, sizeof(*hosts));
	assert_true(simulated_port_start(&hosts->port, HOSTS, 1));
	hosts->port.answer = answer_of_host;
	hosts->port.context = hosts;
	hosts->port.nodes[HOST_SILENT].silent = SIMULATED_FOREVER;
	hosts->going = true;
	for (uint32_t i = 0; i < HOSTS; i++) {
		hosts->addresses[i] = simulated_address(i);
		hosts->ports[i] = (uint8_t)(i + 1);
		memset(hosts->records[i], 0x5A, HD_AR_DATA);
	}
	hd_ar_ext_port_info_encode(&told, hosts->records[HOST_TOLD]);
}

/* The first `count` of them. */
static inline struct hd_ar_hosts hosts_list(const struct hosts *hosts, uint32_t count)
{
	return (struct hd_ar_hosts){hosts->addresses, hosts->ports, count};
}

static inline bool hosts_go_on(void *context)
{
	return ((struct hosts *)context)->going;
}

#endif
