/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Outputs: credits, the inputs that ask for them, and the lane that sends next.
 *
 * An input asks by outputs_mark(); egress_choose() runs for each output that could send at a time, after all events of
 * that time, by ascending number. For each wanted lane it takes the next input in turn, looks whether credits are
 * there (outputs_await() if not), and lets VL arbitration choose among the lanes. outputs_depart() sends: it takes
 * credits, and pushes the packet's arrival. outputs_return() gives bytes back to the sender, in order of time;
 * SIM_CREDIT comes only if somebody waits for them. A lane of an output whose credits are on their way is never
 * starved.
 */
#include "core_state.h"
#include "sim_hosts.h"
#include "sim_switches.h"

enum { HIGH, LOW, BOTH };

#define NO_LIMIT 255u
#define LIMIT_UNIT 4096u
#define WEIGHT_UNIT 64u

static uint32_t count_of(const struct hd_sim *sim, uint32_t table)
{
	const struct hd_sim_arbitration *tables = &sim->settings.arbitration;

	return (table == LOW ? 0 : tables->high_count) + (table == HIGH ? 0 : tables->low_count);
}

static const struct hd_sim_arbitration_entry *entry_of(const struct hd_sim *sim, uint32_t table,
						       uint32_t number)
{
	const struct hd_sim_arbitration *tables = &sim->settings.arbitration;

	if (table == LOW)
		return &tables->low[number];
	return number < tables->high_count ? &tables->high[number]
					   : &tables->low[number - tables->high_count];
}

void arbiter_reset(const struct hd_sim *sim, struct sim_arbiter *arbiter)
{
	*arbiter = (struct sim_arbiter){0};
	for (uint32_t table = HIGH; table <= BOTH; table++)
		arbiter->weight[table] = count_of(sim, table) ? entry_of(sim, table, 0)->weight : 0;
}

/* The lanes take turns. */
static uint32_t in_turn(uint32_t able, uint32_t last)
{
	uint32_t later = able & ~((2u << last) - 1);

	return (uint32_t)__builtin_ctz(later ? later : able);
}

/* The lane that a table gives; HD_NONE: it has no entry for any of them. */
static uint32_t from_table(const struct hd_sim *sim, struct sim_arbiter *arbiter, uint32_t table,
			   uint32_t able)
{
	uint32_t count = count_of(sim, table);

	/* the present entry, all others, and the present one with its weight renewed */
	for (uint32_t i = 0; i <= count && count; i++) {
		uint8_t *entry = &arbiter->entry[table];
		uint8_t lane = entry_of(sim, table, *entry)->lane;
		if (arbiter->weight[table] > 0 && able >> lane & 1)
			return lane;
		*entry = (uint8_t)((*entry + 1u) % count);
		arbiter->weight[table] = entry_of(sim, table, *entry)->weight;
	}
	return HD_NONE;
}

static bool high_exhausted(const struct hd_sim *sim, const struct sim_arbiter *arbiter)
{
	uint32_t limit = sim->settings.arbitration.high_limit;

	return limit != NO_LIMIT && arbiter->high_bytes &&
	       arbiter->high_bytes >= (uint64_t)limit * LIMIT_UNIT;
}

/* The lane by both tables, and the table that it is from; HD_NONE: none of them has it. */
static uint32_t by_priority(const struct hd_sim *sim, struct sim_arbiter *arbiter, uint32_t able,
			    uint32_t *table)
{
	uint32_t lane = HD_NONE;

	*table = HIGH;
	if (!high_exhausted(sim, arbiter))
		lane = from_table(sim, arbiter, HIGH, able);
	if (lane == HD_NONE) {
		*table = LOW;
		lane = from_table(sim, arbiter, LOW, able);
	}
	if (lane == HD_NONE) {
		*table = HIGH;
		arbiter->high_bytes = 0;
		lane = from_table(sim, arbiter, HIGH, able);
	}
	return lane;
}

uint32_t arbiter_choose(struct hd_sim *sim, uint32_t port, uint32_t able,
			const struct arbiter_offer *offers)
{
	bool one = sim->settings.arbitration.hosts_alone && sim->ports[port].kind != SIM_HOST;
	uint32_t management = sim->lanes - 1, lane, table = BOTH;
	struct sim_arbiter *arbiter;

	if (able >> management & 1)
		return management;
	if (!sim->arbiters)
		return in_turn(able, sim->ports[port].last_lane);
	arbiter = &sim->arbiters[port];
	lane = one ? from_table(sim, arbiter, BOTH, able) : by_priority(sim, arbiter, able, &table);
	if (lane == HD_NONE)
		return in_turn(able, sim->ports[port].last_lane);
	uint32_t bytes = offers[lane].bytes;
	arbiter->weight[table] -= (int32_t)((bytes + WEIGHT_UNIT - 1) / WEIGHT_UNIT);
	arbiter->high_bytes = table == HIGH ? arbiter->high_bytes + bytes : 0;
	return lane;
}

void outputs_watch(struct hd_sim *sim, uint32_t port)
{
	struct sim_port *out = &sim->ports[port];

	if (out->scheduled)
		return;
	out->scheduled = true;
	sim_push(sim, out->busy_until, SIM_FREE, port);
}

void outputs_wake(struct hd_sim *sim, uint32_t port)
{
	if (sim->ports[port].busy_until <= sim->now)
		sim_touch(sim, port);
	else
		outputs_watch(sim, port);
}

int64_t outputs_credits(struct hd_sim *sim, struct sim_lane *lane)
{
	while (lane->first != HD_NONE && sim->returns[lane->first].time <= sim->now) {
		uint32_t item = lane->first;
		lane->credits += sim->returns[item].bytes;
		lane->first = sim->returns[item].next;
		pools_free_return(sim, item);
	}
	return lane->credits;
}

static void set_timer(struct hd_sim *sim, uint32_t index, uint64_t time)
{
	if (time >= sim->lane[index].timer)
		return;
	sim->lane[index].timer = time;
	sim_push(sim, time, SIM_CREDIT, index);
}

bool outputs_await(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t bytes)
{
	uint32_t index = port * sim->lanes + lane;
	struct sim_lane *waiting = &sim->lane[index];
	int64_t credits = waiting->credits;

	for (uint32_t item = waiting->first; item != HD_NONE; item = sim->returns[item].next) {
		credits += sim->returns[item].bytes;
		if (credits >= bytes) {
			set_timer(sim, index, sim->returns[item].time);
			return true;
		}
	}
	waiting->starved = true;
	return false;
}

/* By time, behind all of the same time. Mostly it is the last. */
static void insert_return(struct hd_sim *sim, struct sim_lane *lane, uint32_t item)
{
	struct sim_return *returns = sim->returns;
	uint64_t time = returns[item].time;
	uint32_t place = lane->first;

	returns[item].next = HD_NONE;
	if (place == HD_NONE) {
		lane->first = lane->last = item;
	} else if (returns[lane->last].time <= time) {
		returns[lane->last].next = item;
		lane->last = item;
	} else if (returns[place].time > time) {
		returns[item].next = place;
		lane->first = item;
	} else {
		while (returns[returns[place].next].time <= time)
			place = returns[place].next;
		returns[item].next = returns[place].next;
		returns[place].next = item;
	}
}

void outputs_return(struct hd_sim *sim, uint32_t input, uint32_t lane, uint64_t when,
		    uint32_t bytes)
{
	uint32_t index = sim->ports[input].peer * sim->lanes + lane, item = pools_return(sim);

	if (item == HD_NONE)
		return;
	sim->returns[item].time = when + sim->settings.link_latency;
	sim->returns[item].bytes = bytes;
	insert_return(sim, &sim->lane[index], item);
	/* with VOQ, bytes may come back sooner than others that were sent back before */
	if (sim->lane[index].starved || sim->lane[index].timer != HD_SIM_NEVER)
		set_timer(sim, index, sim->returns[item].time);
}

void outputs_release_copy(struct hd_sim *sim, uint32_t copies, uint64_t when)
{
	if (!--sim->copies[copies].shares)
		sim_push(sim, when, SIM_CENTRAL, copies);
}

void outputs_note_blocked(struct hd_sim *sim, uint32_t port, bool blocked)
{
	uint64_t *since = &sim->counted[port].blocked_since;

	if (blocked == sim->ports[port].blocked)
		return;
	sim->ports[port].blocked = blocked;
	if (blocked) {
		*since = sim->now;
		return;
	}
	if (*since < sim->settings.warm_up)
		*since = sim->settings.warm_up;
	if (sim->now > *since)
		sim->link[port]->blocked += sim->now - *since;
}

void outputs_mark(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t input)
{
	sim_asking(sim, port, lane)[input / 64] |= UINT64_C(1) << input % 64;
	sim->ports[port].wanted |= (uint16_t)(1u << lane);
	outputs_wake(sim, port);
}

void outputs_ask(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *asking = &sim->queues[queue];
	const struct sim_packet *packet = &sim->packets[asking->head];

	asking->state = SIM_QUEUE_ASKING;
	outputs_mark(sim, packet->out, packet->lane_out, sim->ports[asking->port].number);
}

/* Whether the first packet of a queue asks for a lane of an output. */
static bool asks(const struct hd_sim *sim, const struct sim_queue *queue, uint32_t port,
		 uint32_t lane)
{
	const struct sim_packet *packet;

	if (queue->state != SIM_QUEUE_ASKING)
		return false;
	packet = &sim->packets[queue->head];
	if (packet->lane_out != lane)
		return false;
	if (packet->out != HD_NONE)
		return packet->out == port;
	/* copies that leave together have no part in the choices of outputs */
	return sim->settings.replication != HD_SIM_SYNCHRONOUS &&
	       hd_port_set_has(&sim->copies[packet->copies].pending, sim->ports[port].number);
}

/* The earlier of two queues that ask for a lane of an output; HD_NONE: neither does. */
static uint32_t earlier(const struct hd_sim *sim, uint32_t best, uint32_t queue, uint32_t port,
			uint32_t lane)
{
	if (!asks(sim, &sim->queues[queue], port, lane) ||
	    (best != HD_NONE && sim->queues[best].since <= sim->queues[queue].since))
		return best;
	return queue;
}

/* The queue of an input that has asked first; HD_NONE: none has. */
static uint32_t find_queue(const struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t input)
{
	const struct sim_node *node = &sim->nodes[sim->ports[port].node];
	const struct sim_port *from = &sim->ports[node->first_port + input];
	bool many = sim->settings.queueing == HD_SIM_VOQ || !input;
	uint32_t slot = many ? sim->ports[port].number : 0, slots = many ? node->ports : 1;
	uint32_t best = HD_NONE;

	if (sim->plain_lanes)
		return from->queue + lane * slots + slot;
	for (uint32_t i = 0; i < sim->lanes; i++) {
		uint32_t queue = from->queue + i * slots;
		best = earlier(sim, best, queue + slot, port, lane);
		if (slot) /* that of multicast packets */
			best = earlier(sim, best, queue, port, lane);
	}
	return best;
}

void outputs_forget(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t input)
{
	uint64_t *words = sim_asking(sim, port, lane), any = 0;

	if (!sim->plain_lanes && find_queue(sim, port, lane, input) != HD_NONE)
		return;
	words[input / 64] &= ~(UINT64_C(1) << input % 64);
	for (uint32_t i = 0; i < sim->words; i++)
		any |= words[i];
	if (!any)
		sim->ports[port].wanted &= (uint16_t) ~(1u << lane);
}

void outputs_withdraw(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *asking = &sim->queues[queue];
	const struct sim_packet *packet = &sim->packets[asking->head];

	asking->state = SIM_QUEUE_IDLE;
	outputs_forget(sim, packet->out, packet->lane_out, sim->ports[asking->port].number);
	if (!sim->ports[packet->out].wanted)
		outputs_note_blocked(sim, packet->out, false);
}

/* The next input after another one that asks for the lane. One does. */
static uint32_t input_after(const struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t before)
{
	const uint64_t *words = sim_asking(sim, port, lane);
	uint32_t from = before + 1, word = from / 64;
	uint64_t bits = word < sim->words ? words[word] >> from % 64 : 0;

	if (bits)
		return from + (uint32_t)__builtin_ctzll(bits);
	do
		word = word + 1 < sim->words ? word + 1 : 0;
	while (!words[word]);
	return word * 64 + (uint32_t)__builtin_ctzll(words[word]);
}

/* The next input in turn, or the next one with a multicast packet. */
static uint32_t next_input(const struct hd_sim *sim, uint32_t port, uint32_t lane)
{
	uint32_t first = input_after(sim, port, lane, sim_lane(sim, port, lane)->turn);
	uint32_t input = first, queue;

	if (!sim->settings.multicast_first)
		return first;
	do {
		queue = find_queue(sim, port, lane, input);
		if (sim->packets[sim->queues[queue].head].copies != HD_NONE)
			return input;
		input = input_after(sim, port, lane, input);
	} while (input != first);
	return first;
}

uint32_t outputs_next(const struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t *queue)
{
	uint32_t input = next_input(sim, port, lane);

	*queue = find_queue(sim, port, lane, input);
	return input;
}

uint64_t outputs_ready_time(const struct hd_sim *sim, const struct sim_packet *packet, uint32_t out)
{
	const struct sim_port *from = &sim->ports[packet->at], *to = &sim->ports[out];

	if (to->rate <= from->rate)
		return 0;
	return packet->tail + sim->settings.switch_latency - sim_time(sim, to, packet->bytes);
}

uint64_t outputs_depart(struct hd_sim *sim, uint32_t port, uint32_t packet)
{
	struct sim_port *out = &sim->ports[port];
	struct sim_packet *leaving = &sim->packets[packet];
	uint64_t time = sim_time(sim, out, leaving->bytes), end = sim->now + time;
	uint64_t delay = sim->settings.switch_latency;

	if (sim->conga)
		conga_depart(sim, port, packet);
	out->busy_until = end;
	out->last_lane = leaving->lane_out;
	sim_lane(sim, port, leaving->lane_out)->credits -= leaving->bytes;
	leaving->at = out->peer;
	leaving->arrived = sim->now + sim->settings.link_latency;
	leaving->tail = end + sim->settings.link_latency;
	leaving->lane_in = leaving->lane_out;
	leaving->ready = HD_SIM_NEVER;
	leaving->out = HD_NONE;
	leaving->copies = HD_NONE;
	if (out->peer_kind == SIM_HOST)
		sim_push(sim, leaving->tail, SIM_ARRIVE, packet);
	else
		sim_push(sim,
			 (sim->settings.store_and_forward ? leaving->tail : leaving->arrived) +
			     delay,
			 SIM_ARRIVE, packet);
	sim->hops++;
	if (sim_counts(sim)) {
		sim->link[port]->bytes += leaving->bytes;
		sim->link[port]->packets++;
		sim->link[port]->busy += time;
	}
	return end;
}
