/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "smp_request.h"
#include <assert.h>
#include <stddef.h>

void smp_request_append(struct smp_request_list *list, struct smp_request *request)
{
	request->next = NULL;
	if (list->last)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
}

struct smp_request *smp_request_take(struct smp_request_list *list)
{
	struct smp_request *taken = list->first;

	if (!taken)
		return NULL;
	list->first = taken->next;
	if (!list->first)
		list->last = NULL;
	return taken;
}

void smp_request_put_back(struct smp_request_list *list, struct smp_request *request)
{
	struct smp_request **at = &list->first;

	while (*at && (*at)->sequence < request->sequence)
		at = &(*at)->next;
	request->next = *at;
	*at = request;
	if (!request->next)
		list->last = request;
}

void smp_request_turn_add(struct smp_turns *turns, struct smp_turn turn)
{
	uint32_t at = turns->count++;

	for (; at && turns->heap[(at - 1) / 2].sequence > turn.sequence; at = (at - 1) / 2)
		turns->heap[at] = turns->heap[(at - 1) / 2];
	turns->heap[at] = turn;
}

struct smp_turn smp_request_turn_take(struct smp_turns *turns)
{
	struct smp_turn first, moved;
	uint32_t at = 0;

	assert(turns->count);
	first = turns->heap[0];
	moved = turns->heap[--turns->count];
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < turns->count &&
		    turns->heap[child + 1].sequence < turns->heap[child].sequence)
			child++;
		if (child >= turns->count || turns->heap[child].sequence >= moved.sequence)
			break;
		turns->heap[at] = turns->heap[child];
		at = child;
	}
	if (turns->count)
		turns->heap[at] = moved;
	return first;
}
