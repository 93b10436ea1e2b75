/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A router between simulated subnets: its lists, the switches behind its ports, and a clock that
 * only moves when a test says so. Lists go through the codec and through sessions, as in life.
 */
#ifndef ROUTER_TESTING_H
#define ROUTER_TESTING_H

#include <heddle/base/random.h>
#include <router_session.h>
#include <stdlib.h>
#include <string.h>

#define TESTING_SUBNETS 3u
#define TESTING_SWITCHES 6u
#define TESTING_PORTS 24u
#define TESTING_HOSTS 400u
#define TESTING_LIDS 1024u
#define TESTING_PENDING 256u
#define TESTING_PREFIX 0xFEC0000000000001u /* of subnet 0; the others follow */

struct testing_switch {
	uint64_t guid;
	uint8_t lft[TESTING_LIDS];
	bool silent, refuses;
	uint32_t delay_ms;
	uint8_t node_type; /* 2 */
	uint32_t asked;
};

struct testing_subnet {
	struct testing_switch switches[TESTING_SWITCHES];
	struct hd_router_port_entry ports[TESTING_PORTS];
	struct hd_router_host_entry hosts[TESTING_HOSTS];
	struct hd_router_map_entry map[TESTING_HOSTS];
	uint32_t port_count, host_count, map_count;
	struct hd_router_session sm, router; /* the two ends */
};

struct testing_answer {
	uint64_t due;
	struct hd_router_answer answer;
	bool used;
};

struct testing {
	struct hd_router *router;
	void *memory;
	struct testing_subnet subnets[TESTING_SUBNETS];
	uint32_t subnet_count;
	uint64_t now;
	struct testing_answer pending[TESTING_PENDING];
};

static struct testing testing;
static uint8_t testing_bytes[HD_ROUTER_MESSAGE_MAX];

static struct testing_switch *testing_switch_of(uint8_t subnet, uint16_t switch_lid)
{
	return &testing.subnets[subnet].switches[switch_lid - 900u];
}

static bool testing_send(void *context, uint8_t subnet, const struct hd_router_port *port,
			 enum hd_router_attribute attribute, uint32_t modifier, uint32_t id)
{
	struct testing_switch *sw = testing_switch_of(subnet, port->switch_lid);
	struct testing_answer *slot = testing.pending;

	(void)context;
	sw->asked++;
	if (sw->silent)
		return true;
	while (slot->used)
		slot++;
	*slot = (struct testing_answer){.due = testing.now + sw->delay_ms, .used = true};
	slot->answer.id = id;
	slot->answer.failed = sw->refuses;
	if (attribute == HD_ROUTER_LFT) {
		memcpy(slot->answer.data, sw->lft + modifier * 64, 64);
	} else {
		slot->answer.data[2] = sw->node_type;
		for (int i = 0; i < 8; i++)
			slot->answer.data[12 + i] = (uint8_t)(sw->guid >> (56 - 8 * i));
	}
	return true;
}

static bool testing_receive(void *context, struct hd_router_answer *answer)
{
	(void)context;
	for (uint32_t i = 0; i < TESTING_PENDING; i++) {
		struct testing_answer *slot = &testing.pending[i];

		if (slot->used && slot->due <= testing.now) {
			*answer = slot->answer;
			slot->used = false;
			return true;
		}
	}
	return false;
}

static uint64_t testing_now(void *context)
{
	(void)context;
	return testing.now;
}

/* A router attached to that many subnets, with an open session in each. */
static inline void testing_begin(uint32_t subnets, enum hd_router_hash hash)
{
	const struct hd_router_limits limits = {.subnets = TESTING_SUBNETS,
						.ports = TESTING_PORTS,
						.hosts = TESTING_HOSTS,
						.mapped = TESTING_HOSTS,
						.prefixes = 16};
	struct hd_router_settings settings = HD_ROUTER_SETTINGS_DEFAULT;
	const struct hd_router_callbacks callbacks = {testing_send, testing_receive, testing_now,
						      NULL};

	memset(&testing, 0, sizeof(testing));
	settings.hash = hash;
	testing.subnet_count = subnets;
	testing.memory = malloc(hd_router_size(&limits));
	assert_non_null(testing.memory);
	testing.router =
	    hd_router_init(testing.memory, hd_router_size(&limits), &limits, &settings, &callbacks);
	assert_non_null(testing.router);
	for (uint32_t s = 0; s < subnets; s++) {
		struct testing_subnet *at = &testing.subnets[s];
		uint8_t index;

		assert_int_equal(hd_router_attach(testing.router, TESTING_PREFIX + s, &index),
				 HD_ROUTER_OK);
		assert_int_equal(index, s);
		hd_router_session_begin(&at->sm, HD_ROUTER_ROLE_SM, 0x10 + s, TESTING_PREFIX + s,
					0);
		hd_router_session_begin(&at->router, HD_ROUTER_ROLE_ROUTER, 0x20 + s, 0, 0x300000);
		for (uint32_t k = 0; k < TESTING_SWITCHES; k++)
			at->switches[k] = (struct testing_switch){
			    .guid = 0x1000u * (s + 1) + k, .delay_ms = 1, .node_type = 2};
	}
}

static inline void testing_end(void)
{
	free(testing.memory);
}

/* From one end of a session to the other; `writer` has been begun. */
static inline enum hd_router_reason testing_pass(struct hd_router_session *to, uint32_t length,
						 struct hd_router_message *message)
{
	return hd_router_session_receive(to, testing_bytes, length, message);
}

/* Sends a part of a list of an SM, entries first .. end - 1, to the router. */
static inline enum hd_router_reason testing_send_part(uint8_t subnet, enum hd_router_type type,
						      uint64_t epoch, uint32_t first, uint32_t end)
{
	struct testing_subnet *at = &testing.subnets[subnet];
	struct hd_router_message message = {
	    .type = type, .epoch = epoch, .prefix = TESTING_PREFIX + subnet, .first = first};
	struct hd_router_writer writer;
	enum hd_router_reason reason;

	if (type == HD_ROUTER_HOSTS)
		message.total = at->host_count;
	if (type == HD_ROUTER_MAP)
		message.total = at->map_count;
	if (type == HD_ROUTER_READY) {
		message.ports = at->port_count;
		message.hosts = at->host_count;
		message.mapped = at->map_count;
	}
	hd_router_session_stamp(&at->sm, &message);
	hd_router_write_begin(&writer, testing_bytes, sizeof(testing_bytes), &message);
	for (uint32_t i = first; i < end; i++) {
		if (type == HD_ROUTER_PORTS)
			hd_router_write_port(&writer, &at->ports[i]);
		else if (type == HD_ROUTER_HOSTS)
			hd_router_write_host(&writer, &at->hosts[i]);
		else
			hd_router_write_map(&writer, &at->map[i]);
	}
	reason = testing_pass(&at->router, hd_router_write_end(&writer), &message);
	return reason ? reason : hd_router_update(testing.router, subnet, &message);
}

static inline void testing_greet(uint8_t subnet)
{
	struct testing_subnet *at = &testing.subnets[subnet];
	struct hd_router_message message = {.type = HD_ROUTER_HELLO};
	struct hd_router_writer writer;

	hd_router_session_stamp(&at->router, &message);
	hd_router_write_begin(&writer, testing_bytes, sizeof(testing_bytes), &message);
	assert_int_equal(testing_pass(&at->sm, hd_router_write_end(&writer), &message), 0);
	message = (struct hd_router_message){.type = HD_ROUTER_HELLO};
	hd_router_session_stamp(&at->sm, &message);
	hd_router_write_begin(&writer, testing_bytes, sizeof(testing_bytes), &message);
	assert_int_equal(testing_pass(&at->router, hd_router_write_end(&writer), &message), 0);
}

/* A whole epoch of a subnet: PORTS, HOSTS in two parts, MAP, READY. */
static inline void testing_send_epoch(uint8_t subnet, uint64_t epoch)
{
	struct testing_subnet *at = &testing.subnets[subnet];
	uint32_t half = at->host_count / 2;

	if (!at->router.greeted)
		testing_greet(subnet);
	assert_int_equal(testing_send_part(subnet, HD_ROUTER_PORTS, epoch, 0, at->port_count), 0);
	assert_int_equal(testing_send_part(subnet, HD_ROUTER_HOSTS, epoch, 0, half), 0);
	assert_int_equal(testing_send_part(subnet, HD_ROUTER_HOSTS, epoch, half, at->host_count),
			 0);
	assert_int_equal(testing_send_part(subnet, HD_ROUTER_MAP, epoch, 0, at->map_count), 0);
	assert_int_equal(testing_send_part(subnet, HD_ROUTER_READY, epoch, 0, 0), 0);
}

/* Adds a port to switch k: ports 1 to 12 of a switch lead down, the others up. */
static inline void testing_add_port(uint8_t subnet, uint32_t k)
{
	struct testing_subnet *at = &testing.subnets[subnet];
	uint32_t p = at->port_count++;
	struct hd_router_port_entry *port = &at->ports[p];

	*port = (struct hd_router_port_entry){.guid = 0x400000u + 0x100u * subnet + p,
					      .switch_guid = at->switches[k].guid,
					      .lid = (uint16_t)(800 + p),
					      .switch_lid = (uint16_t)(900 + k),
					      .switch_port = (uint8_t)(20 + p)};
	for (uint32_t down = 1; down <= 12; down++)
		port->down[down / 8] |= (uint8_t)(1u << down % 8);
}

/* Adds a host; GUIDs must ascend. */
static inline void testing_add_host(uint8_t subnet, uint64_t guid, uint16_t lid, uint64_t top)
{
	struct testing_subnet *at = &testing.subnets[subnet];
	uint32_t i = at->host_count++;

	at->hosts[i] = (struct hd_router_host_entry){
	    .gid = {TESTING_PREFIX + subnet, guid}, .top_switch = top, .place = i, .lid = lid};
}

/* A subnet like those of the paper: `ports` ports, in turn to the switches, and hosts whose named
 * switches and entries go in turn. LIDs are shuffled. */
static inline void testing_fill(uint8_t subnet, uint32_t ports, uint32_t hosts, uint64_t *random)
{
	struct testing_subnet *at = &testing.subnets[subnet];
	uint16_t lids[TESTING_HOSTS];

	for (uint32_t p = 0; p < ports; p++)
		testing_add_port(subnet, p % TESTING_SWITCHES);
	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t j = (uint32_t)hd_random_below(random, i + 1);

		lids[i] = lids[j];
		lids[j] = (uint16_t)(i * 2 + 1);
	}
	for (uint32_t i = 0; i < hosts; i++) {
		testing_add_host(subnet, 0x100 + i * 3, lids[i],
				 at->switches[i % TESTING_SWITCHES].guid);
		for (uint32_t k = 0; k < TESTING_SWITCHES; k++)
			at->switches[k].lft[lids[i]] = (uint8_t)(1 + (i + k) % 12);
	}
}

/* Lets time go by, in steps of 1 ms where something is due. */
static inline void testing_run(uint64_t milliseconds)
{
	uint64_t end = testing.now + milliseconds;

	while (testing.now < end) {
		hd_router_work(testing.router);
		testing.now++;
	}
	hd_router_work(testing.router);
}

/* The port of a host as the query has confirmed it. */
static inline uint16_t testing_port(uint8_t subnet, uint32_t host)
{
	const struct hd_router_lists *lists = hd_router_lists_of(testing.router, subnet);
	const struct hd_router_host *found =
	    router_host_of(lists, testing.subnets[subnet].hosts[host].gid.guid);

	assert_non_null(found);
	return hd_router_confirmed_port(testing.router, subnet, found);
}

/* The same, slowly: of the ports whose switch is the named one, number place % n, if the
 * switch's entry is one of its ports that lead down. */
static inline uint16_t testing_oracle_port(uint8_t subnet, uint32_t host)
{
	const struct testing_subnet *at = &testing.subnets[subnet];
	const struct hd_router_host_entry *wanted = &at->hosts[host];
	uint16_t of_switch[TESTING_PORTS], count = 0;

	for (uint16_t p = 0; p < at->port_count; p++)
		if (wanted->top_switch && at->ports[p].switch_guid == wanted->top_switch)
			of_switch[count++] = p;
	if (!count)
		return HD_ROUTER_NO_PORT;
	for (uint32_t k = 0; k < TESTING_SWITCHES; k++) {
		const struct testing_switch *sw = &at->switches[k];
		uint16_t port = of_switch[wanted->place % count];
		uint8_t entry = sw->lft[wanted->lid];

		if (sw->guid != wanted->top_switch)
			continue;
		if (sw->silent || sw->refuses || sw->node_type != 2)
			return HD_ROUTER_NO_PORT;
		for (uint32_t down = 0; down < 256; down++)
			if (at->ports[port].down[down / 8] & 1u << down % 8 && entry == down)
				return port;
	}
	return HD_ROUTER_NO_PORT;
}

#endif
