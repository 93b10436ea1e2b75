/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engines whose tables take routing keys: dmodk for every LID, and in OpenSM the entries of the keys
 * on top (doc/guide/key-channel.md). Which routes a key has is up to heddle-keyd: with ark a key
 * stays as it was made, with nrk it is shifted to the least loaded switches.
 */
#include "all_engines.h"
#include "delegate.h"
#include "dmodk_steps.h"

static const struct hd_option options[] = {DMODK_OPTIONS};

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	return delegate_route_whole(&hd_engine_dmodk, request, out, err);
}

const struct hd_engine hd_engine_ark = {
    .name = "ark",
    .summary = "dmodk, with routing keys: applications get routes of their own, as made",
    .description =
	"Application-aware routing keys: the tables of dmodk, with routes of their own for the "
	"flows of applications that ask heddle-keyd for them. In OpenSM, keys go to the LIDs "
	"above the base LID, so ports need an LMC of at least 1. A key stays as it was made. "
	"Offline, ark gives the tables without keys.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = DMODK_POLICIES,
    .needs_tree = true,
    .one_lane = true,
    .delegates = true,
    .takes_keys = HD_TAKES_KEYS,
    .route = route,
};

const struct hd_engine hd_engine_nrk = {
    .name = "nrk",
    .summary = "dmodk, with routing keys that avoid the links of other keys",
    .description =
	"Network-aware routing keys: as ark, but a key is shifted to the switches whose links "
	"carry the fewest flows of other keys when its phase begins. Offline, nrk gives the "
	"tables without keys.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = DMODK_POLICIES,
    .needs_tree = true,
    .one_lane = true,
    .delegates = true,
    .takes_keys = HD_TAKES_SHIFTED_KEYS,
    .route = route,
};
