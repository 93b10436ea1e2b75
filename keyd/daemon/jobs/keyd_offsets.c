/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_offsets.h"

#include <errno.h>
#include <heddle/base/index.h>
#include <stdlib.h>

int keyd_offsets_reset(struct keyd_offsets *offsets, const struct keyd_view *view)
{
	keyd_offsets_release(offsets);
	if (!view)
		return 0;
	offsets->used = calloc(view->fabric->host_count + 1, sizeof(*offsets->used));
	if (!offsets->used)
		return -ENOMEM;
	offsets->host_count = view->fabric->host_count;
	return 0;
}

void keyd_offsets_release(struct keyd_offsets *offsets)
{
	free(offsets->used);
	*offsets = (struct keyd_offsets){0};
}

static bool is_used(const uint64_t *used, uint32_t offset)
{
	return used[offset / 64] >> offset % 64 & 1;
}

/* The first of `count` free offsets in a row; 0: there are not so many. */
static uint32_t find_run(const uint64_t *used, uint32_t limit, uint32_t count)
{
	uint32_t run = 0;

	for (uint32_t offset = 1; offset < limit; offset++) {
		run = is_used(used, offset) ? 0 : run + 1;
		if (run == count)
			return offset + 1 - count;
	}
	return 0;
}

/* The offsets that any of the hosts uses; returns how many offsets all of them have. */
static uint32_t used_by(const struct keyd_offsets *offsets, const struct keyd_view *view,
			const uint32_t *hosts, uint32_t host_count, uint64_t *used)
{
	uint32_t limit = KEYD_OFFSETS_LIMIT;

	for (uint32_t i = 0; i < host_count; i++) {
		unsigned lmc;

		if (hosts[i] == HD_NONE)
			continue;
		lmc = keyd_view_lmc(view, hosts[i]);
		if (lmc < 7 && (1u << lmc) < limit)
			limit = 1u << lmc;
		for (unsigned word = 0; word < KEYD_OFFSETS_LIMIT / 64; word++)
			used[word] |= offsets->used[hosts[i]][word];
	}
	return limit;
}

int keyd_offsets_find(const struct keyd_offsets *offsets, const struct keyd_view *view,
		      const uint32_t *hosts, uint32_t host_count, uint32_t count, uint32_t *first,
		      struct hd_error *err)
{
	uint64_t used[KEYD_OFFSETS_LIMIT / 64] = {0};
	uint32_t limit = used_by(offsets, view, hosts, host_count, used), found;

	if (count >= limit)
		return hd_error_set(
		    err, -ERANGE,
		    "the job needs %u LID offset%s, and the LMC of its hosts leaves "
		    "%u for keys; raise lmc in opensm.conf%s",
		    count, count > 1 ? "s" : "", limit - 1,
		    count > 1 ? ", or use mode rewrite" : "");
	found = find_run(used, limit, count);
	if (!found)
		return hd_error_set(err, -EBUSY,
				    "other jobs on the same hosts use too many of the %u LID "
				    "offsets; %u in a row must be free",
				    limit - 1, count);
	*first = found;
	return 0;
}

uint32_t keyd_offsets_room(const struct keyd_offsets *offsets, const struct keyd_view *view,
			   const uint32_t *hosts, uint32_t host_count, uint32_t first,
			   uint32_t count)
{
	uint64_t used[KEYD_OFFSETS_LIMIT / 64] = {0};
	uint32_t limit = used_by(offsets, view, hosts, host_count, used), run = 0, longest = 0;

	if (count) {
		while (first + count < limit && !is_used(used, first + count))
			count++;
		return count;
	}
	for (uint32_t offset = 1; offset < limit; offset++) {
		run = is_used(used, offset) ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	return longest;
}

void keyd_offsets_mark(struct keyd_offsets *offsets, const uint32_t *hosts, uint32_t host_count,
		       uint32_t first, uint32_t count, bool used)
{
	for (uint32_t i = 0; i < host_count; i++)
		for (uint32_t offset = first; hosts[i] < offsets->host_count &&
					      offset < first + count && offset < KEYD_OFFSETS_LIMIT;
		     offset++) {
			uint64_t bit = UINT64_C(1) << offset % 64;
			uint64_t *word = &offsets->used[hosts[i]][offset / 64];

			*word = used ? *word | bit : *word & ~bit;
		}
}
