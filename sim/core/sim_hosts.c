/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hosts: what they send, what they take, and what is counted when they do.
 *
 * hd_sim_send() gives a message its addresses and lane and puts it into the line of its host's lane; source_send()
 * cuts off one packet when the output may send. sink_arrive() and sink_drop() are the two ends of every packet. When
 * all packets of a message have come or were dropped, and it has left its source, the workload is called: delivered or
 * lost, once for each member of a multicast group. Figures count from the end of the warm-up on. Packets are
 * conserved: made = in flight + arrived + dropped.
 */
#include "sim_hosts.h"
#include "core_state.h"
#include "sim_switches.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/ir_router/map.h>
#include <heddle/sim/simulation.h>
#include <stdlib.h>
#include <string.h>

static int prepare_map(struct hd_sim *sim, uint32_t s)
{
	const struct hd_interconnect *interconnect = sim->network.interconnect;
	const struct hd_map *map = interconnect->subnets[s].map;
	struct sim_subnet *subnet = &sim->subnets[s];

	if (!map)
		return 0;
	subnet->usable = hd_arena_alloc(&sim->arena, map->port_count, sizeof(bool));
	subnet->map_lid = hd_arena_alloc(&sim->arena, map->port_count, sizeof(uint16_t));
	if (!subnet->usable || !subnet->map_lid)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->port_count; i++) {
		uint32_t port = hd_interconnect_find_port(interconnect, s, map->port_guid[i]);
		if (port != HD_NONE)
			subnet->map_lid[i] = interconnect->ports[port].lid;
		subnet->usable[i] = subnet->map_lid[i] != 0;
	}
	return 0;
}

int address_prepare(struct hd_sim *sim)
{
	const struct hd_interconnect *interconnect = sim->network.interconnect;
	int rc = 0;

	if (!interconnect)
		return 0;
	sim->router_port = hd_arena_alloc(&sim->arena, sim->port_count, sizeof(uint32_t));
	if (!sim->router_port)
		return -ENOMEM;
	for (uint32_t i = 0; i < interconnect->port_count; i++) {
		const struct hd_router_port *port = &interconnect->ports[i];
		sim->router_port[sim->subnets[port->subnet].port[port->port]] = i;
	}
	for (uint32_t s = 0; !rc && s < sim->subnet_count; s++)
		rc = prepare_map(sim, s);
	return rc;
}

static struct hd_gid gid_of(const struct hd_sim *sim, const struct sim_host *host)
{
	const struct hd_fabric *fabric = sim->given[host->subnet].fabric;

	return (struct hd_gid){sim->network.interconnect->subnets[host->subnet].prefix,
			       fabric->port_guid[fabric->host_port[host->index]]};
}

/* The LID in a subnet to which packets for an endpoint of another subnet go; 0: the map has none. */
static uint16_t router_lid(const struct hd_sim *sim, uint32_t subnet, const struct sim_host *to)
{
	const struct hd_map *map = sim->network.interconnect->subnets[subnet].map;
	struct hd_gid gid = gid_of(sim, to);
	struct hd_map_answer answer;

	if (!map || !hd_map_resolve(map, &gid, sim->subnets[subnet].usable, &answer))
		return 0;
	return sim->subnets[subnet].map_lid[answer.port];
}

static uint32_t lane_number(const struct hd_sim *sim, uint32_t lane)
{
	if (lane == HD_SIM_LANES - 1)
		return sim->lanes - 1;
	return lane < sim->settings.lanes ? lane : HD_NONE;
}

/* The lane of a service level in a subnet; HD_NONE: ports do not have it. */
static uint32_t lane_of_level(const struct hd_sim *sim, uint32_t subnet, uint32_t sl)
{
	if (sim->settings.sl_is_vl)
		return sl % sim->settings.lanes;
	return lane_number(sim, sim->subnets[subnet].given->routes->sl2vl[sl & 15]);
}

static uint8_t level_of(const struct hd_sim *sim, const struct sim_host *source, uint32_t lid)
{
	const struct hd_routes *routes = sim->subnets[source->subnet].given->routes;

	if (!routes->sl || lid >= routes->lid_count)
		return 0;
	return routes->sl[(size_t)source->leaf * routes->stride + lid] & 15;
}

static bool choose_lane(const struct hd_sim *sim, const struct sim_host *source,
			struct sim_message *message)
{
	uint32_t lane;

	message->sl = message->what.sl == HD_SIM_SL_OF_ROUTES ? level_of(sim, source, message->dlid)
							      : message->what.sl & 15;
	lane = message->what.lane == HD_SIM_LANE_OF_SL
		   ? lane_of_level(sim, source->subnet, message->sl)
		   : lane_number(sim, message->what.lane);
	message->lane = (uint8_t)lane;
	return lane != HD_NONE;
}

bool address_message(const struct hd_sim *sim, struct sim_message *message)
{
	const struct sim_host *source = &sim->hosts[message->what.source], *to;
	const struct hd_fabric *fabric;

	message->slid = source->lid;
	if (message->what.destination == HD_NONE) {
		message->dlid = message->what.mlid;
		return groups_of_hosts_find(sim, source->subnet, message->dlid) &&
		       choose_lane(sim, source, message);
	}
	if (message->what.destination >= sim->endpoint_count)
		return false;
	to = &sim->hosts[message->what.destination];
	fabric = sim->subnets[to->subnet].given->fabric;
	if (to->port == HD_NONE || !to->lid ||
	    message->what.lid_offset >> fabric->lmc[fabric->host_port[to->index]])
		return false;
	message->dlid = to->subnet == source->subnet
			    ? (uint16_t)(to->lid + message->what.lid_offset)
			    : router_lid(sim, source->subnet, to);
	return message->dlid && choose_lane(sim, source, message);
}

bool address_relay(const struct hd_sim *sim, const struct sim_message *message,
		   struct sim_packet *packet)
{
	const struct hd_interconnect *interconnect = sim->network.interconnect;
	const struct sim_host *to = &sim->hosts[message->what.destination];
	const struct hd_router_port *egress;
	uint32_t lane = packet->lane_in;

	const struct hd_relay_packet come = {
	    .ingress = sim->router_port[packet->at],
	    .slid = packet->slid,
	    .dlid = packet->dlid,
	    .destination = gid_of(sim, to),
	    .subnet = to->subnet,
	    .host = to->index,
	    .lid = (uint16_t)(to->lid + message->what.lid_offset),
	};
	struct hd_relay_choice choice;

	if (!sim->network.relay->choose(sim->network.relay->context, &come, &choice))
		return false;
	egress = &interconnect->ports[choice.egress];
	if (message->what.lane == HD_SIM_LANE_OF_SL)
		lane = lane_of_level(sim, egress->subnet, packet->sl);
	if (!egress->lid || !choice.dlid || lane == HD_NONE)
		return false;
	packet->out = sim->subnets[egress->subnet].port[egress->port];
	packet->lane_out = (uint8_t)lane;
	packet->slid = egress->lid;
	packet->dlid = choice.dlid;
	return sim->ports[packet->out].peer != HD_NONE;
}

#define STEPS 64u /* bins of values between a power of 2 and the next */

static uint32_t bin_of(uint64_t value)
{
	uint32_t shift;

	if (value < 2 * STEPS)
		return (uint32_t)value;
	if (value >> 63)
		return HD_SIM_HISTOGRAM_BINS - 1;
	shift = 57u - (uint32_t)__builtin_clzll(value);
	return shift * STEPS + (uint32_t)(value >> shift);
}

/* The greatest value of a bin. */
static uint64_t top_of(uint32_t bin)
{
	uint32_t shift;

	if (bin < 2 * STEPS)
		return bin;
	shift = bin / STEPS - 1;
	return ((uint64_t)(bin % STEPS + STEPS + 1) << shift) - 1;
}

void hd_sim_histogram_add(struct hd_sim_histogram *histogram, uint64_t value)
{
	double difference = (double)value - histogram->mean;

	if (!histogram->count) {
		histogram->least = UINT64_MAX;
		histogram->greatest = 0;
	}
	histogram->count++;
	histogram->mean += difference / (double)histogram->count;
	histogram->square += difference * ((double)value - histogram->mean);
	if (value < histogram->least)
		histogram->least = value;
	if (value > histogram->greatest)
		histogram->greatest = value;
	histogram->bins[bin_of(value)]++;
}

uint64_t hd_sim_histogram_quantile(const struct hd_sim_histogram *histogram, double share)
{
	double wanted = share * (double)histogram->count;
	uint64_t seen = 0;

	if (!histogram->count)
		return 0;
	for (uint32_t bin = 0; bin < HD_SIM_HISTOGRAM_BINS; bin++) {
		seen += histogram->bins[bin];
		if (seen && (double)seen >= wanted)
			return top_of(bin) < histogram->greatest ? top_of(bin)
								 : histogram->greatest;
	}
	return histogram->greatest;
}

/* What is counted while the simulation runs. */

/* Bytes over time: rows of flows, bin_room entries each */
static int widen(struct hd_sim *sim, uint64_t bins)
{
	uint64_t flows = sim->settings.flow_count;
	uint64_t room = bins > 2ull * sim->bin_room ? bins : 2ull * sim->bin_room;
	uint64_t *grown;

	if (room > UINT32_MAX || room > SIZE_MAX / sizeof(*grown) / flows)
		return -ENOMEM;
	grown = realloc(sim->flow_bins, room * flows * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (uint64_t flow = flows; flow--;) {
		uint64_t *row = grown + flow * room;
		memmove(row, grown + flow * sim->bin_room, sim->bin_count * sizeof(*row));
		memset(row + sim->bin_count, 0, (room - sim->bin_count) * sizeof(*row));
	}
	sim->flow_bins = grown;
	sim->bin_room = (uint32_t)room;
	return 0;
}

static void add_to_bin(struct hd_sim *sim, uint32_t flow, uint32_t bytes)
{
	uint64_t bin = sim->now / sim->settings.bin;

	if (bin >= sim->bin_room && widen(sim, bin + 1)) {
		sim->rc = -ENOMEM;
		return;
	}
	if (bin >= sim->bin_count)
		sim->bin_count = (uint32_t)bin + 1;
	sim->flow_bins[(size_t)flow * sim->bin_room + bin] += bytes;
}

/* Bytes of a message's payload have come. */
static void figures_payload(struct hd_sim *sim, const struct hd_sim_message *message,
			    uint32_t bytes)
{
	if (message->flow != HD_NONE && sim->settings.bin)
		add_to_bin(sim, message->flow, bytes);
	if (!sim_counts(sim))
		return;
	sim->classes[message->traffic_class].bytes_delivered += bytes;
	if (message->flow != HD_NONE)
		sim->flow_bytes[message->flow] += bytes;
}

void hd_sim_figures(struct hd_sim *sim, struct hd_sim_figures *out)
{
	uint64_t from = sim->settings.warm_up;

	if (sim->bin_room > sim->bin_count) {
		/* Leaves no room between rows. */
		for (uint64_t flow = 1; flow < sim->settings.flow_count; flow++)
			memmove(sim->flow_bins + flow * sim->bin_count,
				sim->flow_bins + flow * sim->bin_room,
				sim->bin_count * sizeof(*sim->flow_bins));
		sim->bin_room = sim->bin_count;
	}
	*out = (struct hd_sim_figures){
	    .from = from < sim->now ? from : sim->now,
	    .to = sim->now,
	    .events = sim->event_count,
	    .hops = sim->hops,
	    .in_flight = sim->in_flight,
	    .packets = sim->made,
	    .arrived = sim->arrived,
	    .dropped = sim->dropped,
	    .dropped_head = sim->dropped_head,
	    .dropped_switch = sim->dropped_switch,
	    .dropped_route = sim->dropped_route,
	    .class_count = sim->settings.class_count,
	    .flow_count = sim->settings.flow_count,
	    .bin_count = sim->bin_count,
	    .classes = sim->classes,
	    .flow_bytes = sim->flow_bytes,
	    .flow_bins = sim->flow_bins,
	    .links = sim->links,
	};
}

const struct hd_sim_buffer *hd_sim_deadlock(const struct hd_sim *sim, uint32_t *count)
{
	*count = sim->cycle_length;
	return sim->cycle_length ? sim->cycle : NULL;
}

static struct hd_sim_times times_of(const struct hd_sim *sim, const struct sim_message *message)
{
	return (struct hd_sim_times){message->created, message->injected, sim->now};
}

/* The callbacks may send messages, so the pool may move: they get a copy. */
static void tell_delivered(struct hd_sim *sim, uint32_t message, uint32_t endpoint)
{
	struct sim_message done = sim->messages[message];
	struct hd_sim_times times = times_of(sim, &done);
	struct hd_sim_class *class = &sim->classes[done.what.traffic_class];

	if (sim_counts(sim)) {
		class->messages_delivered++;
		hd_sim_histogram_add(&class->message, sim->now - done.created);
	}
	if (sim->workload.delivered)
		sim->workload.delivered(sim->workload.context, sim, &done.what, &times, endpoint);
}

static void tell_lost(struct hd_sim *sim, uint32_t message, uint32_t endpoint, uint32_t count)
{
	struct sim_message done = sim->messages[message];
	struct hd_sim_times times = times_of(sim, &done);

	if (sim_counts(sim))
		sim->classes[done.what.traffic_class].messages_lost += count;
	if (sim->workload.lost)
		sim->workload.lost(sim->workload.context, sim, &done.what, &times, endpoint);
}

/* The members have got what they will get of a multicast message. */
static void finish_multicast(struct hd_sim *sim, uint32_t message)
{
	const struct sim_message *done = &sim->messages[message];

	if (done->live)
		return;
	if (done->members > done->complete)
		tell_lost(sim, message, HD_NONE, done->members - done->complete);
	groups_of_hosts_end(sim, &sim->messages[message]);
	pools_free_message(sim, message);
}

/* Whether all packets of a message have arrived or were dropped, and it has left its source. */
static void host_finish(struct hd_sim *sim, uint32_t message)
{
	const struct sim_message *done = &sim->messages[message];
	uint32_t destination = done->what.destination;

	if (!done->is_sent)
		return;
	if (destination == HD_NONE) {
		finish_multicast(sim, message);
		return;
	}
	if (done->accounted < done->packets)
		return;
	if (done->dropped)
		tell_lost(sim, message, destination, 1);
	else
		tell_delivered(sim, message, destination);
	pools_free_message(sim, message);
}

/* The last byte of a message has left its source. */
static void sink_sent(struct hd_sim *sim, uint32_t message)
{
	struct sim_message *done = &sim->messages[message];
	struct hd_sim_times times = times_of(sim, done);

	done->is_sent = true;
	if (sim_counts(sim))
		sim->classes[done->what.traffic_class].messages_sent++;
	if (sim->workload.sent) {
		struct hd_sim_message what = done->what;
		sim->workload.sent(sim->workload.context, sim, &what, &times);
	}
	host_finish(sim, message);
}

void sink_self(struct hd_sim *sim, uint32_t message)
{
	const struct hd_sim_message *what = &sim->messages[message].what;

	sim->messages[message].injected = sim->now;
	figures_payload(sim, what, what->bytes);
	sink_sent(sim, message);
}

static void forget_packet(struct hd_sim *sim, uint32_t packet)
{
	sim->packets[packet].message = HD_NONE;
	pools_free_packet(sim, packet);
	sim->in_flight--;
}

void sink_arrive(struct hd_sim *sim, uint32_t packet)
{
	struct sim_packet *come = &sim->packets[packet];
	struct sim_message *message = &sim->messages[come->message];
	uint32_t index = come->message;
	uint32_t endpoint = sim->nodes[sim->ports[come->at].node].index, got = 0;

	if (message->what.destination == HD_NONE)
		got = groups_of_hosts_count(sim, message, endpoint);
	if (endpoint != message->what.destination && !got) {
		sink_drop(sim, packet, &sim->dropped_route);
		return;
	}
	outputs_return(sim, come->at, come->lane_in, sim->now, come->bytes);
	const struct hd_sim_message *what = &message->what;
	struct hd_sim_class *class = &sim->classes[what->traffic_class];
	sim->arrived++;
	if (sim_counts(sim)) {
		class->packets_delivered++;
		hd_sim_histogram_add(&class->packet, sim->now - come->injected);
	}
	figures_payload(sim, what, come->bytes - sim->settings.header);
	message->accounted++;
	message->live--;
	forget_packet(sim, packet);
	if (got && got == message->packets) {
		message->complete++;
		tell_delivered(sim, index, endpoint);
	}
	host_finish(sim, index);
}

void sink_drop(struct hd_sim *sim, uint32_t packet, uint64_t *reason)
{
	struct sim_packet *gone = &sim->packets[packet];
	struct sim_message *message = &sim->messages[gone->message];
	uint64_t end = gone->tail > sim->now ? gone->tail : sim->now;
	uint32_t index = gone->message;

	if (gone->copies == HD_NONE)
		outputs_return(sim, gone->at, gone->lane_in, end, gone->bytes);
	else
		outputs_release_copy(sim, gone->copies, end);
	++*reason;
	sim->dropped++;
	if (sim_counts(sim))
		sim->classes[message->what.traffic_class].packets_dropped++;
	message->accounted++;
	message->live--;
	message->dropped++;
	forget_packet(sim, packet);
	host_finish(sim, index);
}

static struct sim_line *line_of(const struct hd_sim *sim, uint32_t endpoint, uint32_t lane)
{
	return &sim->lines[endpoint * sim->lanes + lane];
}

/* Payload of the next packet of a message. */
static uint32_t payload(const struct hd_sim *sim, const struct sim_message *message)
{
	uint32_t left = message->what.bytes - message->injected_packets * sim->settings.mtu;

	return left < sim->settings.mtu ? left : sim->settings.mtu;
}

uint32_t source_bytes(const struct hd_sim *sim, uint32_t port, uint32_t lane)
{
	uint32_t endpoint = sim->nodes[sim->ports[port].node].index;
	const struct sim_message *message = &sim->messages[line_of(sim, endpoint, lane)->head];

	return payload(sim, message) + sim->settings.header;
}

static uint8_t packet_flags(const struct sim_message *message)
{
	uint32_t number = message->injected_packets, flags = 0;
	uint32_t dropping = message->what.dropping;

	if (dropping == HD_SIM_DROP_ALL ||
	    (dropping == HD_SIM_DROP_MIDDLE && number && number + 1 < message->packets))
		flags |= SIM_DROPPABLE;
	if (message->what.destination == HD_NONE)
		flags |= SIM_MULTICAST;
	return (uint8_t)(flags | (uint32_t)message->what.routing << SIM_ROUTING_SHIFT);
}

static void host_fill(struct hd_sim *sim, uint32_t packet, uint32_t index)
{
	struct sim_message *message = &sim->messages[index];

	sim->packets[packet] = (struct sim_packet){
	    .injected = sim->now,
	    .next = HD_NONE,
	    .message = index,
	    .bytes = payload(sim, message) + sim->settings.header,
	    .out = HD_NONE,
	    .copies = HD_NONE,
	    .dlid = message->dlid,
	    .slid = message->slid,
	    .lane_in = message->lane,
	    .lane_out = message->lane,
	    .sl = message->sl,
	    .flags = packet_flags(message),
	};
	if (!message->injected_packets++)
		message->injected = sim->now;
	message->live++;
	stall_watch(sim);
	sim->made++;
	sim->in_flight++;
	if (sim_counts(sim))
		sim->classes[message->what.traffic_class].packets_injected++;
}

void source_send(struct hd_sim *sim, uint32_t port, uint32_t lane)
{
	uint32_t endpoint = sim->nodes[sim->ports[port].node].index;
	struct sim_host *host = &sim->hosts[endpoint];
	struct sim_line *line = line_of(sim, endpoint, lane);
	uint32_t index = line->head, packet = pools_packet(sim);
	struct sim_message *message = &sim->messages[index];

	if (packet == HD_NONE)
		return;
	host->backlog -= payload(sim, message);
	host_fill(sim, packet, index);
	if (message->injected_packets == message->packets) {
		line->head = message->next;
		host->sending = index;
		if (line->head == HD_NONE)
			sim->ports[port].wanted &= (uint16_t) ~(1u << lane);
	}
	outputs_depart(sim, port, packet);
	if (host->sending != HD_NONE || sim->ports[port].wanted)
		outputs_watch(sim, port);
}

void source_sent(struct hd_sim *sim, uint32_t port)
{
	struct sim_host *host = &sim->hosts[sim->nodes[sim->ports[port].node].index];
	uint32_t message = host->sending;

	host->sending = HD_NONE;
	if (message != HD_NONE)
		sink_sent(sim, message);
}

bool source_fits(const struct hd_sim *sim, const struct hd_sim_message *message)
{
	const struct hd_sim_settings *settings = &sim->settings;

	return message->source < sim->endpoint_count && message->bytes &&
	       sim->hosts[message->source].port != HD_NONE &&
	       message->traffic_class < settings->class_count &&
	       (message->flow == HD_NONE || message->flow < settings->flow_count);
}

static void host_append(struct hd_sim *sim, uint32_t index)
{
	struct sim_message *message = &sim->messages[index];
	struct sim_host *host = &sim->hosts[message->what.source];
	struct sim_line *line = line_of(sim, message->what.source, message->lane);

	message->next = HD_NONE;
	if (line->head == HD_NONE)
		line->head = index;
	else
		sim->messages[line->tail].next = index;
	line->tail = index;
	host->backlog += message->what.bytes;
	sim->ports[host->port].wanted |= (uint16_t)(1u << message->lane);
	outputs_wake(sim, host->port);
}

int hd_sim_send(struct hd_sim *sim, const struct hd_sim_message *message)
{
	struct sim_message made = {.what = *message, .created = sim->now};
	uint32_t index;

	if (!source_fits(sim, message) || !address_message(sim, &made))
		return -EINVAL;
	index = pools_message(sim);
	if (index == HD_NONE)
		return -ENOMEM;
	made.packets = (message->bytes - 1) / sim->settings.mtu + 1;
	sim->messages[index] = made;
	if (message->destination == HD_NONE && groups_of_hosts_begin(sim, &sim->messages[index])) {
		sim->rc = -ENOMEM;
		return -ENOMEM;
	}
	if (message->source != message->destination) {
		host_append(sim, index);
		return sim->rc;
	}
	sim->messages[index].packets = 0;
	sim_push(sim, sim->now, SIM_SELF, index);
	return sim->rc;
}

uint64_t hd_sim_backlog(const struct hd_sim *sim, uint32_t endpoint)
{
	return sim->hosts[endpoint].backlog;
}
