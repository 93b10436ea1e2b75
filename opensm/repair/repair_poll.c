/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_poll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int repair_poll_init(struct repair_poll *poll, const struct hd_fabric *fabric, uint64_t own_port,
		     const bool *port_states, const bool *cut)
{
	*poll = (struct repair_poll){.fabric = fabric, .cut = cut};
	const int rc = repair_paths_init(&poll->paths, fabric, own_port);

	poll->tables = calloc(fabric->switch_count + 1u, sizeof(bool));
	poll->losing = calloc(fabric->switch_count + 1u, sizeof(bool));
	if (!poll->tables || !poll->losing)
		return -ENOMEM;
	if (port_states)
		memcpy(poll->tables, port_states, fabric->switch_count * sizeof(bool));
	poll->next.sw = fabric->switch_count;
	return rc;
}

void repair_poll_release(struct repair_poll *poll)
{
	repair_paths_release(&poll->paths);
	free(poll->tables);
	free(poll->losing);
}

/* ---- answers ---- */

static bool is_in_use(const struct repair_poll *poll, uint32_t port)
{
	return poll->fabric->peer[port] != HD_NONE && !poll->cut[port];
}

static void on_answer(void *cookie, const struct hd_smp_result *result);

static void take_port(struct repair_poll *poll, uint32_t sw, uint32_t number, uint8_t state)
{
	const uint32_t port = hd_port_index(poll->fabric, sw, number);

	if (state != HD_PORT_DOWN) {
		poll->tables[sw] = false; /* it has none, or one that says something else */
		return;
	}
	if (!is_in_use(poll, port))
		return;
	poll->found++;
	poll->found_port = port;
	poll->losing[sw] = true;
}

/* Asks for the ports that are down and should not be. */
static void take_table(struct repair_poll *poll, uint32_t sw, uint32_t block, const uint8_t *data)
{
	const uint32_t ports = hd_node_ports(poll->fabric, sw);
	uint8_t states[HD_PORT_STATES];

	hd_port_states_decode(data, states);
	for (uint32_t i = block ? 0 : 1; i < HD_PORT_STATES; i++) {
		const uint32_t number = block * HD_PORT_STATES + i;
		const struct hd_smp smp = {
		    .method = HD_SMP_GET, .attribute = HD_SMP_PORT_INFO, .modifier = number};
		if (number > ports || states[i] != HD_PORT_DOWN ||
		    !is_in_use(poll, hd_port_index(poll->fabric, sw, number)))
			continue;
		/* without memory the next round asks */
		poll->again += !hd_smp_queue_submit(poll->queue, sw, &smp, on_answer, poll);
	}
}

static void on_answer(void *cookie, const struct hd_smp_result *result)
{
	struct repair_poll *poll = cookie;
	const bool is_table = result->smp->attribute == HD_SMP_PORT_STATES;
	struct hd_port_info info;

	poll->silent += result->rc == -ETIMEDOUT;
	/* it said that it has the table, and has not */
	if (is_table && result->rc == -EREMOTEIO && !(result->status & HD_SMP_BUSY))
		poll->tables[result->destination] = false;
	if (result->rc)
		return;
	if (is_table) {
		take_table(poll, result->destination, result->smp->modifier, result->data);
		return;
	}
	hd_port_info_decode(result->data, &info);
	take_port(poll, result->destination, result->smp->modifier, info.state);
}

/* ---- questions ---- */

static uint32_t question_count(const struct repair_poll *poll, uint32_t sw)
{
	const uint32_t ports = hd_node_ports(poll->fabric, sw);

	return poll->tables[sw] ? hd_port_states_blocks(ports) : ports;
}

/* Whether there is something to ask: the table, or a port with a cable that is not known to be lost. */
static bool is_worth(const struct repair_poll *poll, uint32_t sw, uint32_t question)
{
	const uint32_t port = hd_port_index(poll->fabric, sw, question + 1);

	return poll->tables[sw] || is_in_use(poll, port);
}

uint32_t repair_poll_cost(const struct repair_poll *poll)
{
	uint32_t cost = 0;

	for (uint32_t sw = 0; sw < poll->fabric->switch_count; sw++)
		for (uint32_t i = 0; i < question_count(poll, sw); i++)
			cost += is_worth(poll, sw, i);
	return cost;
}

void repair_poll_begin(struct repair_poll *poll)
{
	repair_paths_search(&poll->paths, poll->cut, NULL, 0);
	poll->next = (struct repair_poll_place){0};
	poll->silent = 0;
}

bool repair_poll_is_over(const struct repair_poll *poll)
{
	return poll->next.sw == poll->fabric->switch_count;
}

void repair_poll_repeat(struct repair_poll *poll)
{
	poll->next = poll->begun;
}

/* The next switch that there is a path to. False: none. */
static bool find_switch(struct repair_poll *poll)
{
	struct hd_smp_address address;

	for (; !repair_poll_is_over(poll); poll->next.sw++) {
		if (poll->next.question) /* it was aimed at before */
			return true;
		if (!repair_paths_address(&poll->paths, poll->next.sw, poll->m_key, &address))
			continue;
		hd_smp_queue_aim(poll->queue, poll->next.sw, &address);
		hd_smp_queue_forgive(poll->queue, poll->next.sw);
		return true;
	}
	return false;
}

static int submit(struct repair_poll *poll, uint32_t sw, uint32_t question)
{
	const struct hd_smp smp = {.method = HD_SMP_GET,
				   .attribute =
				       poll->tables[sw] ? HD_SMP_PORT_STATES : HD_SMP_PORT_INFO,
				   .modifier = poll->tables[sw] ? question : question + 1};

	return hd_smp_queue_submit(poll->queue, sw, &smp, on_answer, poll);
}

int repair_poll_send(struct repair_poll *poll, uint32_t most, uint32_t *sent)
{
	struct repair_poll_place *next = &poll->next;
	int rc = 0;

	*sent = 0;
	poll->begun = poll->next;
	poll->found = poll->again = 0;
	memset(poll->losing, 0, poll->fabric->switch_count * sizeof(bool));
	while (!rc && *sent < most && find_switch(poll)) {
		if (next->question >= question_count(poll, next->sw)) {
			*next = (struct repair_poll_place){.sw = next->sw + 1};
			continue;
		}
		if (is_worth(poll, next->sw, next->question)) {
			rc = submit(poll, next->sw, next->question);
			*sent += !rc;
		}
		next->question++;
	}
	return rc;
}
