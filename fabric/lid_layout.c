/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lid_layout.h"

#include <errno.h>
#include <inttypes.h>

/* LIDs with an LMC: hosts from 2^lmc on, switches in the gap below and after them, adapters that
 * are set aside at the end. */
struct layout {
	uint64_t step;
	uint64_t gap; /* switches that fit below the first host */
	uint64_t hosts_end; /* first LID after the hosts */
	uint64_t aside_begin;
	uint64_t last;
};

static struct layout lay_out(const struct hd_fabric *fabric, unsigned lmc)
{
	uint64_t step = UINT64_C(1) << lmc, switches = fabric->switch_count;
	struct layout layout = {.step = step, .gap = fabric->host_count ? step - 1 : switches};

	layout.hosts_end = fabric->host_count ? step * (fabric->host_count + UINT64_C(1)) : 1;
	uint64_t end = layout.hosts_end;
	if (switches > layout.gap)
		end += switches - layout.gap;
	else if (!fabric->host_count)
		end += switches;
	layout.last = end - 1;
	layout.aside_begin = (end + step - 1) / step * step;
	if (fabric->aside_count)
		layout.last = layout.aside_begin + step * fabric->aside_count - 1;
	return layout;
}

static int exhausted(const struct hd_fabric *fabric, unsigned lmc, struct hd_error *err)
{
	uint32_t adapters = fabric->host_count + fabric->aside_count;
	int fits = (int)lmc;

	while (fits >= 0 && lay_out(fabric, (unsigned)fits).last > HD_LID_LAST)
		fits--;
	if (fits < 0)
		return hd_error_set(err, -ENOSPC,
				    "%u hosts and %u switches need more than the %d unicast LIDs, "
				    "even with LMC 0",
				    adapters, fabric->switch_count, HD_LID_LAST);
	return hd_error_set(err, -ENOSPC,
			    "%u hosts with LMC %u and %u switches need LIDs up to %" PRIu64
			    ", the last unicast LID is %d; the largest LMC that fits is %d",
			    adapters, lmc, fabric->switch_count, lay_out(fabric, lmc).last,
			    HD_LID_LAST, fits);
}

int lid_layout(const struct hd_fabric *fabric, unsigned lmc, uint16_t *lid, uint8_t *port_lmc,
	       struct hd_error *err)
{
	const struct layout layout = lay_out(fabric, lmc);

	if (layout.last > HD_LID_LAST)
		return exhausted(fabric, lmc, err);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		lid[fabric->host_port[host]] = (uint16_t)(layout.step * (host + 1));
		port_lmc[fabric->host_port[host]] = (uint8_t)lmc;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		lid[fabric->port_base[sw]] =
		    (uint16_t)(sw < layout.gap ? sw + UINT64_C(1)
					       : layout.hosts_end + sw - layout.gap);
	for (uint32_t i = 0; i < fabric->aside_count; i++) {
		lid[fabric->aside_port[i]] = (uint16_t)(layout.aside_begin + layout.step * i);
		port_lmc[fabric->aside_port[i]] = (uint8_t)lmc;
	}
	return 0;
}
