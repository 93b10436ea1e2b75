/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plan_row.h"

#include <stdlib.h>
#include <string.h>

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

static uint32_t count_ports(const uint8_t *ports, uint32_t count)
{
	uint8_t none = 0;
	uint32_t i = 0, sum = 0;

	for (; i + CHUNK <= count; i += CHUNK, sum += CHUNK - none) {
		none = 0;
		for (uint32_t j = 0; j < CHUNK; j++)
			none = (uint8_t)(none + (ports[i + j] == HD_NO_PORT));
	}
	for (; i < count; i++)
		sum += ports[i] != HD_NO_PORT;
	return sum;
}

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
		*entries += count_ports(sw->lid_port[table], lid_count);
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
