/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep_steps.h"
#include "part.h"
#include "routing.h"
#include "sweep_change.h"
#include "writer_sweep.h"

#include <errno.h>
#include <heddle/change/steps.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	uint32_t step, sw, lid; /* of the tables to be written */
};

struct stepping {
	struct sweep_change change; /* first */
	const struct hd_fabric *fabric; /* of the tables to be written */
	const struct hd_routes *wanted;
	const struct routing *routing; /* of the steps: what is drained is not in it */
	struct writer_sweep *send;
	struct entry *entries; /* by step, switch and LID; NULL: not listed yet */
	size_t count;
};

static bool lists(const struct stepping *stepping, uint32_t sw, uint32_t lid)
{
	return hd_routes_port(stepping->send->held, sw, lid) !=
	       hd_routes_port(stepping->wanted, sw, lid);
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return a->lid < b->lid ? -1 : a->lid > b->lid;
}

/* Lists the entries that differ, with their steps. */
static int list_entries(struct stepping *stepping, const struct hd_ar_steps *steps)
{
	const struct hd_fabric *fabric = stepping->fabric, *of = stepping->routing->fabric;
	const uint32_t lids = of->lid_count;
	size_t room = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < lids; lid++)
			room += lists(stepping, sw, lid);
	stepping->entries = calloc(room + 1u, sizeof(*stepping->entries));
	if (!stepping->entries)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t row = hd_fabric_find_node(of, fabric->node_guid[sw]);
		for (uint32_t lid = 1; row != HD_NONE && lid < lids; lid++)
			if (lists(stepping, sw, lid))
				stepping->entries[stepping->count++] =
				    (struct entry){hd_ar_steps_of(steps, row, lid), sw, lid};
	}
	qsort(stepping->entries, stepping->count, sizeof(*stepping->entries), compare);
	return 0;
}

/* The blocks of some entries of one step. Returns how many. */
static uint32_t make_writes(const struct stepping *stepping, size_t first, size_t end,
			    struct hd_repair_write *writes)
{
	uint32_t count = 0;

	for (size_t i = first; i < end; i++) {
		const struct entry *entry = &stepping->entries[i];
		const uint32_t block = entry->lid / HD_LFT_BLOCK;
		struct hd_repair_write *write = count ? &writes[count - 1] : NULL;
		if (!write || write->sw != entry->sw || write->block != block) {
			write = &writes[count++];
			write->sw = entry->sw;
			write->block = block;
			memcpy(write->ports,
			       hd_routes_row(stepping->send->held, entry->sw) +
				   (size_t)block * HD_LFT_BLOCK,
			       HD_LFT_BLOCK);
		}
		write->ports[entry->lid % HD_LFT_BLOCK] =
		    hd_routes_port(stepping->wanted, entry->sw, entry->lid);
	}
	return count;
}

static int write_step(struct sweep_change *change, const struct hd_ar_steps *steps, uint32_t step,
		      struct hd_error *err)
{
	struct stepping *stepping = (struct stepping *)change;
	size_t first = 0, end;
	int rc = stepping->entries ? 0 : list_entries(stepping, steps);

	while (first < stepping->count && stepping->entries[first].step < step)
		first++;
	for (end = first; end < stepping->count && stepping->entries[end].step == step; end++)
		continue;
	struct hd_repair_write *writes = rc ? NULL : calloc(end - first + 1u, sizeof(*writes));
	if (!writes)
		return hd_error_no_memory(err);
	const struct hd_repair_plan plan = {
	    .writes = writes, .write_count = make_writes(stepping, first, end, writes)};
	rc = writer_sweep_run(stepping->send, &plan);
	free(writes);
	if (rc == -EAGAIN)
		return hd_error_set(err, -EIO, "a switch did not take its forwarding table");
	return rc ? hd_error_set(err, rc, "the forwarding tables could not be sent") : 0;
}

static uint64_t count_entries(const struct stepping *stepping)
{
	const struct hd_fabric *fabric = stepping->fabric;
	uint64_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			count += lists(stepping, sw, lid);
	return count;
}

void sweep_steps_run(struct part_context *context, const struct hd_fabric *fabric,
		     const struct hd_routes *wanted, struct writer_sweep *send)
{
	struct stepping stepping = {.change = {.write = write_step},
				    .fabric = fabric,
				    .wanted = wanted,
				    .routing = context->published,
				    .send = send};
	struct hd_routes *before = NULL;
	struct hd_error err;

	if (send && fabric == stepping.routing->fabric)
		before = hd_routes_copy(send->held);
	else if (send &&
		 hd_routes_rebase(fabric, send->held, stepping.routing->fabric, &before, &err))
		before = NULL;
	stepping.change.before = before;
	stepping.change.entries = before ? count_entries(&stepping) : 0;
	part_sweep_programs(context, &stepping.change);
	hd_routes_free(before);
	free(stepping.entries);
}
