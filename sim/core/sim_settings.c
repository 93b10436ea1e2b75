/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core_state.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/sim/settings.h>
#include <inttypes.h>

#define DEADLOCK_CHECK_LEAST 100000u /* ps: a search looks at all buffers */

struct hd_sim_settings hd_sim_settings_default(void)
{
	return (struct hd_sim_settings){
	    .bit_rate = UINT64_C(40000000000),
	    .link_latency = 100000,
	    .mtu = 2048,
	    .header = 26,
	    .switch_latency = 100000,
	    .lanes = 1,
	    .buffer = 32768,
	    .central_buffer = 262144,
	    .ageing_time = 30 * HD_SIM_MICROSECOND,
	    .flowlet_gap = 500 * HD_SIM_MICROSECOND,
	    .conga_age = 10000 * HD_SIM_MICROSECOND,
	    .conga_tau = 160 * HD_SIM_MICROSECOND,
	    .head_lifetime = HD_SIM_NEVER,
	    .switch_lifetime = HD_SIM_NEVER,
	    .host_buffer = 65536,
	    .class_count = 1,
	    .seed = 1,
	};
}

static int in_range(const char *name, uint64_t value, uint64_t least, uint64_t most,
		    struct hd_error *err)
{
	if (value >= least && value <= most)
		return 0;
	return hd_error_set(err, -ERANGE, "%s is %" PRIu64 ", but must be %" PRIu64 " .. %" PRIu64,
			    name, value, least, most);
}

static int check_arbitration(const char *name, const struct hd_sim_arbitration_entry *entries,
			     uint32_t count, uint32_t lanes, struct hd_error *err)
{
	int rc = in_range(name, count, 0, HD_SIM_ARBITRATION_MAX, err);

	for (uint32_t i = 0; !rc && i < count; i++)
		rc = in_range(name, entries[i].lane, 0, lanes - 1, err);
	return rc;
}

int hd_sim_settings_check(const struct hd_sim_settings *settings, struct hd_error *err)
{
	const struct hd_sim_arbitration *arbitration = &settings->arbitration;
	uint64_t packet = (uint64_t)settings->mtu + settings->header;

	const struct {
		const char *name;
		uint64_t value, least, most;
	} limits[] = {
	    {"bit_rate", settings->bit_rate, 0, UINT64_C(10000000000000)},
	    {"forced_rate", settings->forced_rate, 0, UINT64_C(10000000000000)},
	    {"link_latency", settings->link_latency, 0, HD_SIM_SECOND},
	    {"mtu", settings->mtu, 1, 1u << 20},
	    {"header", settings->header, 0, 1u << 16},
	    {"switch_latency", settings->switch_latency, 0, HD_SIM_SECOND},
	    {"lanes", settings->lanes, 1, HD_SIM_LANES - 1},
	    {"buffer", settings->buffer, packet, 1u << 30},
	    {"host_buffer", settings->host_buffer, packet, 1u << 30},
	    {"central_buffer", settings->central_buffer, packet, 1u << 30},
	    {"conga_tau", settings->conga_tau, 1000, HD_SIM_SECOND},
	    {"class_count", settings->class_count, 1, 1u << 16},
	};
	int rc = 0;

	for (uint32_t i = 0; !rc && i < sizeof(limits) / sizeof(limits[0]); i++)
		rc =
		    in_range(limits[i].name, limits[i].value, limits[i].least, limits[i].most, err);
	if (!rc && settings->deadlock_check)
		rc = in_range("deadlock_check", settings->deadlock_check, DEADLOCK_CHECK_LEAST,
			      HD_SIM_NEVER, err);
	if (!rc)
		rc = check_arbitration("arbitration, high table", arbitration->high,
				       arbitration->high_count, settings->lanes, err);
	if (!rc)
		rc = check_arbitration("arbitration, low table", arbitration->low,
				       arbitration->low_count, settings->lanes, err);
	return rc;
}

uint64_t hd_sim_stream(const struct hd_sim *sim, uint64_t stream)
{
	uint64_t state = sim->settings.seed, mixed = hd_random_next(&state) ^ stream;

	return hd_random_next(&mixed);
}
