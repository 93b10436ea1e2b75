/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_detours.h"
#include "repair_state.h"
#include "routing.h"

#include <errno.h>
#include <stdlib.h>

#define TRIES_ENOUGH 2 /* if there are new traps */
#define SEARCHES_MOST 16u /* in a repair: a search looks at all links */

static const struct hd_fabric *fabric_of(const struct repair_detours *detours)
{
	return detours->repairs->start->routing->fabric;
}

/* Keeps the path if there is no other one. */
static void aim(struct repair_detours *detours, uint32_t sw)
{
	struct repairs *repairs = detours->repairs;
	struct hd_smp_address address;

	if (repair_paths_address(&detours->paths, sw, repairs->start->m_key, &address))
		hd_smp_queue_aim(repairs->queue, sw, &address);
}

static bool on_late(void *context, uint32_t destination, uint32_t tries)
{
	struct repair_detours *detours = context;

	if (destination >= fabric_of(detours)->switch_count)
		return true; /* a question, which has paths of its own */
	detours->late[destination] = true;
	if (detours->searches < SEARCHES_MOST) {
		detours->searches++;
		repair_paths_search(&detours->paths, detours->repairs->cut, detours->late, tries);
	}
	aim(detours, destination);
	return tries < TRIES_ENOUGH || !repair_shared_has_traps(detours->repairs->shared);
}

int repair_detours_begin(struct repair_detours *detours, struct repairs *repairs,
			 struct hd_error *err)
{
	*detours = (struct repair_detours){.repairs = repairs};
	const struct hd_fabric *fabric = fabric_of(detours);
	int rc = repair_paths_init(&detours->paths, fabric, repairs->start->own_port);

	detours->late = calloc(fabric->switch_count + 1u, sizeof(bool));
	if (rc == -ENOMEM || !detours->late)
		return hd_error_no_memory(err);
	if (rc)
		return hd_error_set(err, rc, "our own port is not in the fabric");
	repair_paths_search(&detours->paths, repairs->cut, NULL, 0);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		aim(detours, sw); /* a switch without a path has no block in the plan */
		hd_smp_queue_forgive(repairs->queue, sw);
	}
	hd_smp_queue_on_late(repairs->queue, on_late, detours);
	return 0;
}

void repair_detours_end(struct repair_detours *detours)
{
	if (!detours->repairs)
		return;
	hd_smp_queue_on_late(detours->repairs->queue, NULL, NULL);
	repair_paths_release(&detours->paths);
	free(detours->late);
	*detours = (struct repair_detours){0};
}
