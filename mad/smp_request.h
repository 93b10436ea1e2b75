/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of a queue in lists, and the order in which destinations have their turn. */
#ifndef MAD_SMP_REQUEST_H
#define MAD_SMP_REQUEST_H

#include <heddle/mad/queue.h>

struct smp_request {
	struct smp_request *next;
	uint64_t sequence; /* order of submission */
	uint32_t destination;
	struct hd_smp smp;
	hd_smp_done *done;
	void *cookie;
	uint32_t tries; /* times sent */
	uint32_t id; /* of the present try */
	bool counted; /* takes a place of the window */
	bool waits; /* the port did not take it: not a try */
	uint64_t due; /* when its answer is late, or when it is sent again */
	int rc; /* once it has ended */
	uint16_t status;
	bool answered; /* smp_request.answer is valid */
	uint8_t answer[HD_SMP_DATA];
};

/* A list by sequence, or by order of arrival. Zero-initialise before use. */
struct smp_request_list {
	struct smp_request *first, *last;
};

void smp_request_append(struct smp_request_list *list, struct smp_request *request);

/* The first one, taken out; NULL: the list is empty. */
struct smp_request *smp_request_take(struct smp_request_list *list);

/* Puts a request back into a list by sequence. Cost: O(requests that are before it). */
void smp_request_put_back(struct smp_request_list *list, struct smp_request *request);

/* A destination's turn comes by its oldest request. */
struct smp_turn {
	uint64_t sequence;
	uint32_t destination;
};

/* A heap of turns; room for one turn of each destination. */
struct smp_turns {
	struct smp_turn *heap; /* [count] */
	uint32_t count;
};

void smp_request_turn_add(struct smp_turns *turns, struct smp_turn turn);

/* The oldest turn, taken out. There must be one. */
struct smp_turn smp_request_turn_take(struct smp_turns *turns);

#endif
