/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans as data: what is in them, and their memory. */
#include "plan_data.h"

#include <errno.h>
#include <heddle/ar_manager/plan_copy.h>
#include <stdlib.h>
#include <string.h>

const struct hd_ar_capability hd_ar_capability_full = {.form = HD_AR_FORM_REV1,
						       .group_cap = HD_AR_GROUPS_MAX,
						       .sub_groups = HD_AR_SUB_GROUPS,
						       .private_tables = true};

/* ---- plan row ---- */

struct hd_ar_row *plan_row_new(uint32_t table_count, uint32_t lid_count, uint32_t group_count)
{
	const size_t cells = (size_t)table_count * lid_count;
	const size_t head = (sizeof(struct hd_ar_row) + 63) / 64 * 64;
	const size_t group_bytes = group_count * sizeof(struct hd_ar_group);
	const size_t lid_bytes = group_count * sizeof(uint32_t);
	char *memory =
	    malloc(head + group_bytes + lid_bytes + cells * (sizeof(uint16_t) + sizeof(uint8_t)));

	if (!memory)
		return NULL;
	struct hd_ar_row *row = (struct hd_ar_row *)memory;
	*row = (struct hd_ar_row){
	    .table_count = table_count, .lid_count = lid_count, .group_count = group_count};
	atomic_init(&row->holders, 1);
	row->groups = (struct hd_ar_group *)(memory + head);
	row->lids = (uint32_t *)(memory + head + group_bytes);
	row->lid_group = (uint16_t *)(memory + head + group_bytes + lid_bytes);
	row->lid_port = (uint8_t *)(row->lid_group + cells);
	memset(memory + head, 0, group_bytes + lid_bytes);
	return row;
}

/* The number of holders is all that changes in a shared row. */
static struct hd_ar_row *writable(const struct hd_ar_row *row)
{
	return (struct hd_ar_row *)(uintptr_t)row;
}

const struct hd_ar_row *plan_row_hold(const struct hd_ar_row *row)
{
	if (row)
		atomic_fetch_add_explicit(&writable(row)->holders, 1, memory_order_relaxed);
	return row;
}

void plan_row_release(const struct hd_ar_row *row)
{
	struct hd_ar_row *last = writable(row);

	if (!row || atomic_fetch_sub_explicit(&last->holders, 1, memory_order_acq_rel) != 1)
		return;
	free(last->more);
	free(last);
}

void plan_row_use(const struct hd_ar_row *row, struct hd_ar_switch *sw)
{
	sw->row = row;
	sw->groups = row->groups;
	for (uint32_t table = 0; table < row->table_count; table++) {
		sw->lid_group[table] = row->lid_group + (size_t)table * row->lid_count;
		sw->lid_port[table] = row->lid_port + (size_t)table * row->lid_count;
	}
}

#define CHUNK                                                                                      \
	64u /* entries that are counted at a time, which the compiler turns into vector instructions */

static uint32_t count_groups(const uint16_t *groups, uint32_t count)
{
	uint16_t none = 0;
	uint32_t i = 0, sum = 0;

	for (; i + CHUNK <= count; i += CHUNK, sum += CHUNK - none) {
		none = 0;
		for (uint32_t j = 0; j < CHUNK; j++)
			none = (uint16_t)(none + (groups[i + j] == HD_AR_NO_GROUP));
	}
	for (; i < count; i++)
		sum += groups[i] != HD_AR_NO_GROUP;
	return sum;
}

void plan_row_count(const struct hd_ar_switch *sw, uint32_t table_count, uint32_t lid_count,
		    uint64_t *entries, uint64_t *adaptive)
{
	*entries = *adaptive = 0;
	if (sw->row && sw->row->counted) {
		*entries = sw->row->entries;
		*adaptive = sw->row->adaptive;
		return;
	}
	for (uint32_t table = 0; table < table_count; table++) {
		const uint8_t *ports = sw->lid_port[table];
		uint8_t none = 0;
		uint32_t i = 0, sum = 0;
		for (; i + CHUNK <= lid_count; i += CHUNK, sum += CHUNK - none) {
			none = 0;
			for (uint32_t j = 0; j < CHUNK; j++)
				none = (uint8_t)(none + (ports[i + j] == HD_NO_PORT));
		}
		for (; i < lid_count; i++)
			sum += ports[i] != HD_NO_PORT;
		*entries += sum;
		*adaptive += count_groups(sw->lid_group[table], lid_count);
	}
}

bool plan_row_equal(const struct hd_ar_switch *a, const struct hd_ar_switch *b,
		    uint32_t table_count, uint32_t lid_count)
{
	if (hd_ar_switch_same(a, b))
		return true;
	if (a->guid != b->guid || a->form != b->form || a->sub_groups != b->sub_groups ||
	    a->group_count != b->group_count)
		return false;
	for (uint32_t group = 0; group < a->group_count; group++)
		if (!hd_ar_group_equal(&a->groups[group], &b->groups[group]))
			return false;
	for (uint32_t table = 0; table < table_count; table++)
		if (memcmp(a->lid_group[table], b->lid_group[table],
			   lid_count * sizeof(*a->lid_group[table])) ||
		    memcmp(a->lid_port[table], b->lid_port[table], lid_count))
			return false;
	return true;
}

/* ---- plan data ---- */

void plan_memory_free(struct plan_memory *memory)
{
	if (!memory)
		return;
	hd_arena_release(&memory->arena);
	free(memory);
}

void hd_ar_plan_free(struct hd_ar_plan *plan)
{
	struct plan_holder *holder = (struct plan_holder *)plan;

	if (!holder || atomic_fetch_sub(&holder->others, 1))
		return;
	hd_ar_plan_free(holder->unpinned);
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		plan_row_release(plan->switches[sw].row);
	plan_memory_free(holder->memory);
	hd_arena_release(&holder->arena);
	free(holder);
}

const char *hd_ar_state_name(enum hd_ar_state state)
{
	static const char *const names[] = {"bounded", "free", "static", "hash"};

	return names[state];
}

uint32_t hd_ar_plan_find(const struct hd_ar_plan *plan, uint64_t guid)
{
	uint32_t low = 0, high = plan->switch_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (plan->switches[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < plan->switch_count && plan->switches[low].guid == guid ? low : HD_NONE;
}

bool hd_ar_plan_equal(const struct hd_ar_plan *a, const struct hd_ar_plan *b)
{
	if (a->switch_count != b->switch_count || a->lid_count != b->lid_count ||
	    a->table_count != b->table_count || a->mode != b->mode)
		return false;
	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		if (!plan_row_equal(&a->switches[sw], &b->switches[sw], a->table_count,
				    a->lid_count))
			return false;
	return true;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0.0;
}

double hd_ar_plan_share(const struct hd_ar_plan *plan)
{
	return share(plan->adaptive, plan->entries);
}

double hd_ar_plan_possible_share(const struct hd_ar_plan *plan)
{
	return share(plan->possible, plan->entries);
}

bool hd_ar_plan_has_groups(const struct hd_ar_plan *plan)
{
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		if (plan->switches[sw].used)
			return true;
	return false;
}

/* ---- plan copy ---- */

/* A row of its own for a switch: what `was` has, whose plan has so many LIDs; NULL: nothing. Errors: -ENOMEM. */
static int copy_row(const struct hd_ar_plan *plan, const struct hd_ar_switch *was,
		    uint32_t lids_before, struct hd_ar_switch *sw)
{
	struct hd_ar_row *row =
	    plan_row_new(plan->table_count, plan->lid_count, was ? was->group_count : 0);

	if (!row)
		return -ENOMEM;
	/* What both shapes have of one switch; the rest is static, without a port. */
	const size_t cells = (size_t)row->table_count * row->lid_count;
	const uint32_t both = lids_before < row->lid_count ? lids_before : row->lid_count;
	memset(row->lid_group, 0xFF, cells * sizeof(*row->lid_group));
	memset(row->lid_port, HD_NO_PORT, cells);
	for (uint32_t table = 0; was && table < row->table_count; table++) {
		const size_t first = (size_t)table * row->lid_count;
		memcpy(row->lid_group + first, was->lid_group[table],
		       both * sizeof(*row->lid_group));
		memcpy(row->lid_port + first, was->lid_port[table], both);
	}
	if (was && was->group_count)
		memcpy(row->groups, was->groups, was->group_count * sizeof(*row->groups));
	plan_row_use(row, sw);
	return 0;
}

static int copy_switch(struct hd_ar_plan_copy *copy, const struct hd_ar_plan *from, uint64_t guid,
		       uint32_t sw)
{
	const uint32_t index = hd_ar_plan_find(from, guid);
	const struct hd_ar_switch *was = index == HD_NONE ? NULL : &from->switches[index];
	struct hd_ar_switch *now = &copy->switches[sw], made;
	uint64_t entries, adaptive;
	int rc = 0;

	made = was ? *was : (struct hd_ar_switch){.guid = guid};
	if (was && was->row && from->lid_count == copy->plan->lid_count)
		plan_row_hold(was->row);
	else
		rc = copy_row(copy->plan, was, from->lid_count, &made);
	if (rc)
		return rc;
	*now = made;
	plan_row_count(now, copy->plan->table_count, copy->plan->lid_count, &entries, &adaptive);
	copy->plan->entries += entries;
	copy->plan->adaptive += adaptive;
	return 0;
}

int hd_ar_plan_copy_new(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
			const struct hd_go_on *go_on, struct hd_ar_plan_copy *out)
{
	struct plan_holder *holder = calloc(1, sizeof(*holder));

	*out = (struct hd_ar_plan_copy){0};
	if (!holder)
		return -ENOMEM;
	struct hd_ar_plan_copy copy = {.plan = &holder->plan};
	copy.switches =
	    hd_arena_alloc(&holder->arena, fabric->switch_count, sizeof(*copy.switches));
	if (!copy.switches) {
		hd_ar_plan_free(&holder->plan);
		return -ENOMEM;
	}
	holder->plan = *plan;
	holder->plan.switch_count = fabric->switch_count;
	holder->plan.lid_count = fabric->lid_count;
	holder->plan.switches = copy.switches;
	holder->plan.entries = holder->plan.adaptive = 0;
	int rc = 0;
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++)
		rc = hd_go_on_ask(go_on) ? copy_switch(&copy, plan, fabric->node_guid[sw], sw)
					 : -ECANCELED;
	if (rc)
		hd_ar_plan_free(&holder->plan);
	else
		*out = copy;
	return rc;
}

/* ---- changes ---- */

/* The row of a switch that the copy owns. */
static struct hd_ar_row *own_row(const struct hd_ar_plan_copy *copy, uint32_t sw)
{
	struct hd_ar_row *row = (struct hd_ar_row *)(uintptr_t)copy->switches[sw].row;

	assert(row && atomic_load(&row->holders) == 1 && !row->counted);
	return row;
}

int hd_ar_plan_copy_own(struct hd_ar_plan_copy *copy, uint32_t sw)
{
	struct hd_ar_switch *now = &copy->switches[sw];
	struct hd_ar_row *row = (struct hd_ar_row *)(uintptr_t)now->row;

	if (atomic_load_explicit(&row->holders, memory_order_acquire) == 1) {
		row->counted = false;
		return 0;
	}
	int rc = copy_row(copy->plan, now, copy->plan->lid_count, now);
	if (!rc)
		plan_row_release(row);
	return rc;
}

int hd_ar_plan_copy_share(struct hd_ar_plan_copy *copy, uint32_t sw,
			  const struct hd_ar_switch *from)
{
	struct hd_ar_plan *plan = copy->plan;
	struct hd_ar_switch *now = &copy->switches[sw], made = *from;
	uint64_t entries, adaptive;
	int rc = 0;

	if (from->row)
		plan_row_hold(from->row);
	else
		rc = copy_row(plan, from, plan->lid_count, &made);
	if (rc)
		return rc;
	plan_row_count(now, plan->table_count, plan->lid_count, &entries, &adaptive);
	plan->entries -= entries;
	plan->adaptive -= adaptive;
	plan_row_release(now->row);
	made.guid = now->guid;
	*now = made;
	plan_row_count(now, plan->table_count, plan->lid_count, &entries, &adaptive);
	plan->entries += entries;
	plan->adaptive += adaptive;
	return 0;
}

struct hd_ar_group *hd_ar_plan_copy_new_groups(struct hd_ar_plan_copy *copy, uint32_t sw,
					       uint32_t count)
{
	struct hd_ar_row *row = own_row(copy, sw);
	struct hd_ar_group *groups = calloc(count + 1u, sizeof(*groups));

	if (!groups)
		return NULL;
	free(row->more);
	row->more = row->groups = groups;
	copy->switches[sw].groups = groups;
	copy->switches[sw].group_count = count;
	return groups;
}

uint64_t hd_ar_plan_copy_make_static(struct hd_ar_plan_copy *copy, uint32_t sw, uint32_t lid)
{
	uint64_t changed = 0;

	own_row(copy, sw);
	for (uint32_t table = 0; table < copy->plan->table_count; table++) {
		uint16_t *group = &hd_ar_plan_copy_groups(copy, sw, table)[lid];
		changed += *group != HD_AR_NO_GROUP;
		*group = HD_AR_NO_GROUP;
	}
	copy->plan->adaptive -= changed;
	return changed;
}

uint64_t hd_ar_plan_copy_switch_off(struct hd_ar_plan_copy *copy, uint32_t sw)
{
	uint64_t changed = 0;

	for (uint32_t lid = 0; lid < copy->plan->lid_count; lid++)
		changed += hd_ar_plan_copy_make_static(copy, sw, lid);
	copy->switches[sw].group_count = copy->switches[sw].used = 0;
	return changed;
}
