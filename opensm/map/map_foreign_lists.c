/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_foreign_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_places(const void *a, const void *b)
{
	const struct hd_handshake_host *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static struct hd_handshake_host *copy_hosts(const struct hd_handshake_host *hosts, uint32_t count)
{
	struct hd_handshake_host *copy = calloc((size_t)count + 1, sizeof(*copy));

	if (copy && count)
		memcpy(copy, hosts, count * sizeof(*copy));
	return copy;
}

static bool same_hosts(const struct map_foreign_list *list, const struct hd_handshake_host *hosts,
		       uint32_t count)
{
	if (list->host_count != count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (list->hosts[i].guid != hosts[i].guid ||
		    list->hosts[i].place != hosts[i].place ||
		    !list->hosts[i].top_switch != !hosts[i].top_switch)
			return false;
	return true;
}

int map_foreign_lists_put(struct map_foreign_lists *lists, const struct hd_handshake_foreign *list,
			  bool *changed)
{
	uint32_t at = 0;

	while (at < lists->count && lists->items[at].prefix < list->prefix)
		at++;
	bool known = at < lists->count && lists->items[at].prefix == list->prefix;
	if (!known && lists->count == HD_HANDSHAKE_FOREIGN_MAX)
		return -ENOSPC;
	struct hd_handshake_host *hosts = copy_hosts(list->hosts, list->host_count);
	if (!hosts)
		return -ENOMEM;
	qsort(hosts, list->host_count, sizeof(*hosts), compare_places);
	*changed = !known || !same_hosts(&lists->items[at], hosts, list->host_count);
	if (known) {
		free(lists->items[at].hosts);
	} else {
		memmove(&lists->items[at + 1], &lists->items[at],
			(lists->count - at) * sizeof(*lists->items));
		lists->count++;
	}
	lists->items[at] = (struct map_foreign_list){list->prefix, hosts, list->host_count};
	return 0;
}

void map_foreign_lists_remove(struct map_foreign_lists *lists, uint64_t prefix)
{
	uint32_t at = 0;

	while (at < lists->count && lists->items[at].prefix != prefix)
		at++;
	if (at == lists->count)
		return;
	free(lists->items[at].hosts);
	lists->count--;
	memmove(&lists->items[at], &lists->items[at + 1],
		(lists->count - at) * sizeof(*lists->items));
}

int map_foreign_lists_copy(const struct map_foreign_lists *lists, struct map_foreign_lists *out)
{
	for (uint32_t i = 0; i < lists->count; i++) {
		const struct map_foreign_list *item = &lists->items[i];
		struct hd_handshake_host *hosts = copy_hosts(item->hosts, item->host_count);
		if (!hosts) {
			map_foreign_lists_release(out);
			return -ENOMEM;
		}
		out->items[out->count++] =
		    (struct map_foreign_list){item->prefix, hosts, item->host_count};
	}
	return 0;
}

void map_foreign_lists_release(struct map_foreign_lists *lists)
{
	for (uint32_t i = 0; i < lists->count; i++)
		free(lists->items[i].hosts);
	lists->count = 0;
}
