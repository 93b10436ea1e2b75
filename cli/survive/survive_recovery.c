/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle survive --ar: what fast recovery delivers right after links are removed. */
#include "need.h"
#include "survive.h"

#include <string.h>

int survive_recovery_begin(struct survive_recovery *recovery, const struct hd_fabric *fabric,
			   const struct hd_routes *routes, unsigned threads,
			   const struct hd_log *log, struct hd_error *err)
{
	const struct hd_ar_request asked = {.fabric = fabric,
					    .routes = routes,
					    .mode = HD_AR_BOUNDED,
					    .threads = threads,
					    .log = log};

	if (!recovery->wanted)
		return 0;
	int rc = hd_ar_plan_new(&asked, &recovery->plan, NULL, err);
	if (rc)
		return rc;
	recovery->request = (struct hd_ar_recovery_request){
	    .fabric = fabric, .routes = routes, .plan = recovery->plan, .threads = threads};
	return hd_ar_recovery_prove(&recovery->request, true, err);
}

int survive_recovery_try(const struct survive_recovery *recovery, const struct hd_fabric *damaged,
			 uint64_t *delivered, uint64_t *pairs, struct hd_error *err)
{
	const struct hd_fabric *fabric = recovery->request.fabric;
	struct hd_arena arena = {0};
	struct hd_ar_bridged bridged;
	uint32_t first[2] = {0, 0};
	uint32_t *links = need_of(&arena, fabric->isl_count, sizeof(*links));

	/* The cables that the other fabric, with the same nodes and ports, does not have. */
	uint32_t count = 0;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t port =
		    hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
		if (link < fabric->isl_reverse[link] && damaged->peer[port] == HD_NONE)
			links[count++] = link;
	}
	first[1] = count;
	const struct hd_ar_losses losses = {1, first, links};
	int rc = hd_ar_recovery_bridge(&recovery->request, &losses, &bridged, pairs, err);
	if (!rc)
		memcpy(delivered, bridged.delivered, sizeof(bridged.delivered));
	hd_arena_release(&arena);
	return rc;
}

void survive_recovery_release(struct survive_recovery *recovery)
{
	hd_ar_plan_free(recovery->plan);
}
