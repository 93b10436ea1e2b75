/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_stale.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/fabric/changes.h>
#include <heddle/fabric/repair.h>
#include <stdlib.h>

void repair_stale_begin(struct repair_stale *stale, const struct part_context *context)
{
	struct routing *begun;

	repair_stale_end(stale);
	cl_plock_acquire(&context->osm->lock);
	begun = context->published;
	/* the fabric is all that is needed, and other keys do not change it */
	if (begun)
		stale->begun = routing_hold(begun->origin ? begun->origin : begun);
	cl_plock_release(&context->osm->lock);
}

void repair_stale_end(struct repair_stale *stale)
{
	routing_release(stale->begun);
	stale->begun = NULL;
}

/* ---- which cables ---- */

/* The port of a switch in another snapshot; HD_NONE: that has no such switch or port. */
static uint32_t same_port(const struct hd_fabric *from, uint32_t port, const struct hd_fabric *to)
{
	const uint32_t node = from->port_node[port];
	const uint32_t number = port - from->port_base[node];
	const uint32_t same = hd_fabric_find_node(to, from->node_guid[node]);

	return same < to->switch_count && number <= hd_node_ports(to, same)
		   ? hd_port_index(to, same, number)
		   : HD_NONE;
}

/* The cable of `from` at a port, as a loss of `to`. False: `to` does not have it, or it is not between
 * switches. */
static bool find_cable(const struct hd_fabric *from, uint32_t port, const struct hd_fabric *to,
		       struct hd_fabric_change *loss)
{
	const uint32_t near = same_port(from, port, to),
		       far = same_port(from, from->peer[port], to);

	*loss = (struct hd_fabric_change){.lost = true, .cable = true, .index = near};
	return near != HD_NONE && far != HD_NONE && to->peer[near] == far;
}

/* The cables of `found` that were lost between the two snapshots. *losses is to be freed with free(). */
static int find_losses(const struct hd_fabric *begun, const struct hd_fabric *now,
		       const struct hd_fabric *found, struct hd_fabric_change **losses,
		       uint32_t *count, struct hd_error *err)
{
	struct hd_fabric_change *changes;
	uint32_t all, kept = 0;
	int rc = hd_fabric_changes(begun, now, NULL, 0, &all, err);

	if (rc)
		return rc;
	changes = malloc((all + 1u) * sizeof(*changes));
	if (!changes)
		return hd_error_no_memory(err);
	rc = hd_fabric_changes(begun, now, changes, all, &all, err);
	for (uint32_t i = 0; !rc && i < all; i++)
		if (changes[i].lost && changes[i].cable &&
		    find_cable(begun, changes[i].index, found, &changes[kept]))
			kept++;
	if (rc || !kept) {
		free(changes);
		return rc ? rc : -ENODATA;
	}
	*losses = changes;
	*count = kept;
	return 0;
}

/* ---- whether they join what nothing else joins ---- */

static uint32_t group_of(uint32_t *group, uint32_t sw)
{
	while (group[sw] != sw)
		sw = group[sw] = group[group[sw]];
	return sw;
}

/* `left` has the switches of the snapshot that the losses are of. */
static int check_joined(const struct hd_fabric *found, const struct hd_fabric *left,
			const struct hd_fabric_change *losses, uint32_t count, struct hd_error *err)
{
	uint32_t *group = malloc((left->switch_count + 1u) * sizeof(*group));
	uint32_t apart = 0;

	if (!group)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < left->switch_count; sw++)
		group[sw] = sw;
	for (uint32_t sw = 0; sw < left->switch_count; sw++)
		for (uint32_t link = left->isl_base[sw]; link < left->isl_base[sw + 1]; link++)
			group[group_of(group, sw)] = group_of(group, left->isl_to[link]);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t near = losses[i].index, far = found->peer[near];
		apart += group_of(group, found->port_node[near]) !=
			 group_of(group, found->port_node[far]);
	}
	free(group);
	return apart ? hd_error_set(err, -ENETUNREACH,
				    "no other cable that the sweep has found joins the switches at "
				    "the ends of %u of them",
				    apart)
		     : 0;
}

int repair_stale_leave_out(const struct part_context *context, const struct hd_fabric *found,
			   struct hd_fabric **out, uint32_t *cables, struct hd_error *err)
{
	const struct routing *begun = context->stale ? context->stale->begun : NULL;
	struct hd_fabric_change *losses = NULL;
	struct hd_fabric *left;
	uint32_t count = 0;

	if (!begun || !context->published || begun->fabric == context->published->fabric)
		return -ENODATA;
	int rc =
	    find_losses(begun->fabric, context->published->fabric, found, &losses, &count, err);
	if (rc)
		return rc;
	rc = hd_repair_fabric(found, losses, count, HD_NONE, &left, err);
	if (!rc) {
		rc = check_joined(found, left, losses, count, err);
		if (rc)
			hd_fabric_free(left);
	}
	free(losses);
	if (rc)
		return rc;
	*out = left;
	*cables = count;
	return 0;
}
