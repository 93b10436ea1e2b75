/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of the simulator share. Include after <cmocka.h>. */
#ifndef SIM_TESTING_H
#define SIM_TESTING_H

#include "random_fabrics_testing.h"

#include <heddle/ar_manager.h>
#include <heddle/sim.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NANOSECOND UINT64_C(1000)
#define GIGABIT UINT64_C(1000000000)

/* ---- fabrics ---- */

struct drawing {
	struct hd_builder *builder;
	uint32_t switches, hosts;
};

static inline uint32_t draw_switch(struct drawing *drawing, uint32_t ports)
{
	struct hd_node_spec spec = {
	    .type = HD_SWITCH, .guid = 0x200000 + 16u * drawing->switches++, .port_count = ports};
	uint32_t node;

	CHECK(hd_builder_add_node(drawing->builder, &spec, &node, &err));
	return node;
}

/* Hosts are numbered in the order of switches and their ports. */
static inline void draw_host(struct drawing *drawing, uint32_t sw, uint32_t port,
			     enum hd_speed speed)
{
	struct hd_node_spec spec = {
	    .type = HD_CA, .guid = 0x100000 + 16u * drawing->hosts++, .port_count = 1};
	uint32_t node;

	CHECK(hd_builder_add_node(drawing->builder, &spec, &node, &err));
	CHECK(hd_builder_link(drawing->builder, node, 1, sw, port, speed ? 4 : 0, speed, &err));
}

static inline struct hd_fabric *drawn(struct drawing *drawing)
{
	struct hd_fabric *fabric = NULL;

	hd_builder_assign_lids(drawing->builder, 0);
	CHECK(hd_builder_build(drawing->builder, &fabric, &err));
	hd_builder_free(drawing->builder);
	return fabric;
}

/* One switch with that many hosts. */
static inline struct hd_fabric *star(uint32_t hosts)
{
	struct drawing drawing = {.builder = hd_builder_new()};
	uint32_t sw = draw_switch(&drawing, hosts);

	for (uint32_t i = 0; i < hosts; i++)
		draw_host(&drawing, sw, i + 1, HD_SPEED_UNKNOWN);
	return drawn(&drawing);
}

/* Switches in a row, or in a ring, with `hosts` hosts each on the first ports; the cable to the next
 * switch is at port hosts + 1, that to the one before at hosts + 2. */
static inline struct hd_fabric *row(uint32_t switches, uint32_t hosts, bool ring)
{
	struct drawing drawing = {.builder = hd_builder_new()};

	for (uint32_t i = 0; i < switches; i++)
		draw_switch(&drawing, hosts + 2);
	for (uint32_t i = 0; i < switches; i++)
		for (uint32_t port = 1; port <= hosts; port++)
			draw_host(&drawing, i, port, HD_SPEED_UNKNOWN);
	for (uint32_t i = 0; i + !ring < switches; i++)
		CHECK(hd_builder_link(drawing.builder, i, hosts + 1, (i + 1) % switches, hosts + 2,
				      0, HD_SPEED_UNKNOWN, &err));
	return drawn(&drawing);
}

/* ---- traffic: each source has one kind of it ---- */

enum pace {
	SILENT,
	ONE, /* one message, at time 0 */
	GREEDY, /* always a few messages in line */
	POISSON,
	UNIFORM /* gaps of 0 to twice the average: the same numbers with any mathematical library */
};

struct flow {
	enum pace pace;
	uint32_t to; /* endpoint; HD_NONE: each message to a random other one */
	double gap; /* ps between two messages, on average */
	struct hd_sim_message message;
};

struct traffic {
	struct flow *flows;
	uint32_t count;
	uint64_t *random; /* [count] */
	uint64_t end; /* no messages after it, ps; 0: none at all */
	uint64_t hash; /* of all that was told */
	uint64_t sent, delivered, lost;
	uint32_t check; /* hd_sim_check() after so many callbacks; 0: never */
	uint32_t calls;
};

static inline void mix(uint64_t *hash, uint64_t value)
{
	uint64_t state = *hash ^ value;

	*hash = hd_random_next(&state);
}

static inline void send_one(struct traffic *traffic, struct hd_sim *sim, uint32_t index)
{
	struct flow *flow = &traffic->flows[index];
	struct hd_sim_message message = flow->message;
	uint32_t endpoints = hd_sim_endpoint_count(sim), to;

	message.tag = index;
	if (message.destination != HD_NONE || !message.mlid) {
		to = flow->to;
		if (to == HD_NONE) {
			to = (uint32_t)hd_random_below(&traffic->random[index], endpoints - 1);
			to += to >= message.source;
		}
		message.destination = to;
	}
	if (traffic->end && hd_sim_now(sim) >= traffic->end)
		return;
	assert_int_equal(hd_sim_send(sim, &message), 0);
}

static inline void wait_next(struct traffic *traffic, struct hd_sim *sim, uint32_t index)
{
	double share = (double)(hd_random_next(&traffic->random[index]) >> 11) * 0x1p-53;
	double gaps = traffic->flows[index].pace == POISSON ? -log1p(-share) : 2 * share;
	double gap = gaps * traffic->flows[index].gap;

	if (!traffic->end || hd_sim_now(sim) < traffic->end)
		hd_sim_wake(sim, hd_sim_now(sim) + (uint64_t)gap, index);
}

static inline int traffic_start(void *context, struct hd_sim *sim, struct hd_error *err)
{
	struct traffic *traffic = context;

	(void)err;
	for (uint32_t i = 0; i < traffic->count; i++) {
		traffic->random[i] = hd_sim_stream(sim, i);
		if (traffic->flows[i].pace == ONE)
			send_one(traffic, sim, i);
		for (int n = 0; traffic->flows[i].pace == GREEDY && n < 3; n++)
			send_one(traffic, sim, i);
		if (traffic->flows[i].pace >= POISSON)
			wait_next(traffic, sim, i);
	}
	return 0;
}

static inline void check_now(struct traffic *traffic, struct hd_sim *sim)
{
	if (traffic->check && ++traffic->calls % traffic->check == 0)
		CHECK(hd_sim_check(sim, &err));
}

static inline void traffic_wake(void *context, struct hd_sim *sim, uint64_t token)
{
	check_now(context, sim);
	send_one(context, sim, (uint32_t)token);
	wait_next(context, sim, (uint32_t)token);
}

static inline void traffic_sent(void *context, struct hd_sim *sim,
				const struct hd_sim_message *message,
				const struct hd_sim_times *times)
{
	struct traffic *traffic = context;

	check_now(traffic, sim);
	traffic->sent++;
	mix(&traffic->hash, 1);
	mix(&traffic->hash, message->tag);
	mix(&traffic->hash, times->done);
	if (traffic->flows[message->tag].pace == GREEDY)
		send_one(traffic, sim, (uint32_t)message->tag);
}

static inline void traffic_delivered(void *context, struct hd_sim *sim,
				     const struct hd_sim_message *message,
				     const struct hd_sim_times *times, uint32_t endpoint)
{
	struct traffic *traffic = context;

	check_now(traffic, sim);
	traffic->delivered++;
	mix(&traffic->hash, 2 + endpoint);
	mix(&traffic->hash, message->tag);
	mix(&traffic->hash, times->created);
	mix(&traffic->hash, times->injected);
	mix(&traffic->hash, times->done);
}

static inline void traffic_lost(void *context, struct hd_sim *sim,
				const struct hd_sim_message *message,
				const struct hd_sim_times *times, uint32_t endpoint)
{
	struct traffic *traffic = context;

	check_now(traffic, sim);
	traffic->lost++;
	mix(&traffic->hash, UINT64_MAX - endpoint);
	mix(&traffic->hash, message->tag);
	mix(&traffic->hash, times->done);
}

/* ---- a run ---- */

struct bed {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
	struct hd_mfts *mfts;
	struct hd_sim_subnet subnet;
	struct hd_sim_settings settings;
	struct traffic traffic;
	struct hd_sim *sim;
};

/* Takes the fabric and the tables (NULL: those of spf). Flow i is from endpoint i, silent. */
static inline void bed_init(struct bed *bed, struct hd_fabric *fabric, struct hd_routes *routes)
{
	memset(bed, 0, sizeof(*bed));
	bed->fabric = fabric;
	bed->routes = routes ? routes : route("spf", fabric);
	bed->settings = hd_sim_settings_default();
	bed->settings.forced_rate = 40 * GIGABIT;
	bed->settings.flow_count = fabric->host_count;
	bed->traffic.count = fabric->host_count;
	bed->traffic.flows = calloc(fabric->host_count, sizeof(*bed->traffic.flows));
	bed->traffic.random = calloc(fabric->host_count, sizeof(*bed->traffic.random));
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		bed->traffic.flows[i].to = HD_NONE;
		bed->traffic.flows[i].message = (struct hd_sim_message){
		    .source = i, .flow = i, .bytes = 2048, .lane = HD_SIM_LANE_OF_SL};
	}
}

static inline struct flow *bed_flow(struct bed *bed, uint32_t from, enum pace pace, uint32_t to)
{
	bed->traffic.flows[from].pace = pace;
	bed->traffic.flows[from].to = to;
	return &bed->traffic.flows[from];
}

static inline void bed_begin(struct bed *bed)
{
	struct hd_sim_workload workload = {.start = traffic_start,
					   .wake = traffic_wake,
					   .sent = traffic_sent,
					   .delivered = traffic_delivered,
					   .lost = traffic_lost,
					   .context = &bed->traffic};
	struct hd_sim_network network = {.subnets = &bed->subnet, .subnet_count = 1};

	bed->subnet = (struct hd_sim_subnet){bed->fabric, bed->routes, bed->plan, bed->mfts};
	CHECK(hd_sim_new(&network, &bed->settings, &workload, &bed->sim, &err));
}

static inline enum hd_sim_end bed_run(struct bed *bed, uint64_t until)
{
	enum hd_sim_end end;

	if (!bed->sim)
		bed_begin(bed);
	CHECK(hd_sim_run(bed->sim, until, &end, &err));
	CHECK(hd_sim_check(bed->sim, &err));
	return end;
}

static inline struct hd_sim_figures bed_figures(const struct bed *bed)
{
	struct hd_sim_figures figures;

	hd_sim_figures(bed->sim, &figures);
	return figures;
}

static inline void bed_free(struct bed *bed)
{
	hd_sim_free(bed->sim);
	hd_ar_plan_free(bed->plan);
	hd_routes_free(bed->routes);
	hd_fabric_free(bed->fabric);
	free(bed->traffic.flows);
	free(bed->traffic.random);
}

static inline void assert_near(double is, double expected, double tolerance)
{
	if (fabs(is - expected) > tolerance * fabs(expected))
		fail_msg("%.9g, but expected %.9g within %g", is, expected, tolerance);
}

#endif
