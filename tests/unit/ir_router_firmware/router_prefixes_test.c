/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The prefix table, alone against a slow one, and in networks of routers that advertise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "router_testing.h"

#include <router.h>

#define ROWS 64u
#define PREFIXES 6u
#define ROUTERS 12u

static const uint64_t base = 0xFEC0000000000000u;

/* ---- the table alone ---- */

/* What one port advertised last. */
struct advertisement {
	uint8_t hops[PREFIXES]; /* 0: not advertised */
	uint64_t expires;
};

static struct hd_router_prefix_row rows[ROWS];
static struct hd_router_prefixes table;

static void learn(uint8_t subnet, uint64_t port, const struct advertisement *said)
{
	struct hd_router_message message = {
	    .type = HD_ROUTER_PREFIXES, .port_guid = port, .lid = (uint16_t)(port & 0xFFF)};
	struct hd_router_writer writer;

	hd_router_write_begin(&writer, testing_bytes, sizeof(testing_bytes), &message);
	for (uint32_t p = 0; p < PREFIXES; p++) {
		const struct hd_router_prefix_entry entry = {base + p, said->hops[p]};

		if (said->hops[p])
			hd_router_write_prefix(&writer, &entry);
	}
	assert_int_equal(hd_router_decode(testing_bytes, hd_router_write_end(&writer), &message),
			 0);
	assert_int_equal(router_prefixes_learn(&table, subnet, &message, said->expires), 0);
}

/* Random advertisements, static rows and expiries: the chosen hops are always those that a walk
 * over all last advertisements finds. */
static void choices_are_as_a_slow_table_says(void **state)
{
	struct advertisement said[2][4];
	uint64_t random = 21;

	(void)state;
	table = (struct hd_router_prefixes){.rows = rows, .capacity = ROWS};
	memset(said, 0, sizeof(said));
	assert_int_equal(hd_router_prefixes_add_static(&table, base + 2, 1, 0, 44), 0);
	for (uint64_t now = 1; now < 3000; now++) {
		uint8_t subnet = (uint8_t)hd_random_below(&random, 2);
		uint8_t port = (uint8_t)hd_random_below(&random, 4);
		struct advertisement *one = &said[subnet][port];

		for (uint32_t p = 0; p < PREFIXES; p++)
			one->hops[p] = (uint8_t)hd_random_below(&random, 4);
		one->expires = now + 1 + hd_random_below(&random, 12);
		learn(subnet, 0x100u + port, one);
		hd_router_prefixes_expire(&table, 0, now);
		hd_router_prefixes_expire(&table, 1, now);
		for (uint32_t p = 0; p < PREFIXES; p++) {
			struct router_prefixes_choice choice =
			    router_prefixes_choose(&table, base + p);
			uint32_t best = 99, count = 0, place = 0;

			for (uint32_t i = 0; i < 8; i++)
				if (said[i / 4][i % 4].expires > now &&
				    said[i / 4][i % 4].hops[p] && said[i / 4][i % 4].hops[p] < best)
					best = said[i / 4][i % 4].hops[p];
			for (uint32_t i = 0; i < 8; i++)
				count += said[i / 4][i % 4].expires > now &&
					 said[i / 4][i % 4].hops[p] == best;
			if (p == 2) { /* the static row overrides */
				assert_int_equal(choice.count, 1);
				assert_int_equal(choice.rows[0].lid, 44);
				continue;
			}
			assert_int_equal(choice.count, count);
			for (uint32_t i = 0; i < 8; i++) {
				if (said[i / 4][i % 4].expires <= now ||
				    said[i / 4][i % 4].hops[p] != best)
					continue;
				assert_int_equal(choice.rows[place].subnet, i / 4);
				assert_int_equal(choice.rows[place].port_guid, 0x100u + i % 4);
				place++;
			}
		}
	}
}

/* A full table says so, and does not write behind its end. */
static void a_full_table_says_so(void **state)
{
	(void)state;
	table = (struct hd_router_prefixes){.rows = rows, .capacity = 2};
	memset(&rows[2], 0xEE, sizeof(rows[2]));
	assert_int_equal(hd_router_prefixes_add_static(&table, base + 1, 0, 1, 1), 0);
	assert_int_equal(hd_router_prefixes_add_static(&table, base, 0, 1, 1), 0);
	assert_int_equal(hd_router_prefixes_add_static(&table, base + 3, 0, 1, 1),
			 HD_ROUTER_TOO_MANY);
	assert_int_equal(((uint8_t *)&rows[2])[0], 0xEE);
	assert_int_equal(hd_router_prefixes_add_static(&table, HD_ROUTER_LINK_LOCAL, 0, 1, 1),
			 HD_ROUTER_BAD_VALUE);
	assert_int_equal(hd_router_prefixes_add_static(&table, base, 0, 1, 0), HD_ROUTER_BAD_VALUE);
}

/* ---- networks ---- */

/* Router r joins the subnets ends[r][0] and ends[r][1]. */
struct network {
	struct hd_router *routers[ROUTERS];
	void *memory[ROUTERS];
	uint8_t ends[ROUTERS][2];
	uint32_t count;
	uint64_t epoch;
};

static struct network network;

static void give_ports(uint32_t r, uint8_t side)
{
	const uint64_t prefix = base + 1 + network.ends[r][side];
	struct hd_router_message message = {
	    .type = HD_ROUTER_PORTS, .epoch = ++network.epoch, .prefix = prefix};
	const struct hd_router_port_entry port = {.guid = 0x1000u + r * 16 + side,
						  .lid = (uint16_t)(100 + r)};
	struct hd_router_writer writer;

	hd_router_write_begin(&writer, testing_bytes, sizeof(testing_bytes), &message);
	hd_router_write_port(&writer, &port);
	assert_int_equal(hd_router_decode(testing_bytes, hd_router_write_end(&writer), &message),
			 0);
	assert_int_equal(hd_router_update(network.routers[r], side, &message), 0);
	message = (struct hd_router_message){
	    .type = HD_ROUTER_READY, .epoch = network.epoch, .prefix = prefix, .ports = 1};
	assert_int_equal(hd_router_update(network.routers[r], side, &message), 0);
}

static void add_router(uint8_t a, uint8_t b)
{
	const struct hd_router_limits limits = {.subnets = 2, .ports = 1, .prefixes = 64};
	const struct hd_router_settings settings = HD_ROUTER_SETTINGS_DEFAULT;
	const struct hd_router_callbacks callbacks = {testing_send, testing_receive, testing_now,
						      NULL};
	uint32_t r = network.count++;
	uint8_t index;

	network.ends[r][0] = a;
	network.ends[r][1] = b;
	network.memory[r] = malloc(hd_router_size(&limits));
	network.routers[r] = hd_router_init(network.memory[r], hd_router_size(&limits), &limits,
					    &settings, &callbacks);
	assert_non_null(network.routers[r]);
	for (uint8_t side = 0; side < 2; side++) {
		assert_int_equal(
		    hd_router_attach(network.routers[r], base + 1 + network.ends[r][side], &index),
		    0);
		give_ports(r, side);
	}
}

static void end_network(void)
{
	for (uint32_t r = 0; r < network.count; r++)
		free(network.memory[r]);
	memset(&network, 0, sizeof(network));
	testing.now = 0;
}

/* Each router advertises to all routers with a port in the same subnet, as subnet managers pass it
 * on; `dead` does not. */
static void advertise_all(uint32_t dead)
{
	struct hd_router_message message;

	for (uint32_t r = 0; r < network.count; r++) {
		for (uint8_t side = 0; r != dead && side < 2; side++) {
			uint32_t length;

			memset(&message, 0, sizeof(message));
			length = hd_router_write_prefixes(network.routers[r], side, 0, &message,
							  testing_bytes, sizeof(testing_bytes));
			assert_int_equal(hd_router_decode(testing_bytes, length, &message), 0);
			for (uint32_t to = 0; to < network.count; to++)
				for (uint8_t end = 0; end < 2; end++)
					if (network.ends[to][end] == network.ends[r][side])
						assert_int_equal(
						    hd_router_update(network.routers[to], end,
								     &message),
						    0);
		}
	}
	testing.now += 30000;
	for (uint32_t r = 0; r < network.count; r++)
		for (uint8_t side = 0; side < 2; side++)
			hd_router_prefixes_expire(&network.routers[r]->prefixes, side, testing.now);
}

/* Routers from router r to a prefix, by walking from next hop to next hop; 0: no path. */
static uint32_t walk(uint32_t r, uint64_t prefix)
{
	for (uint32_t hops = 1; hops <= ROUTERS + 1; hops++) {
		const struct hd_router_gid gid = {prefix, 5};
		struct hd_router_hop hop;
		enum hd_router_drop drop = hd_router_next_lid(network.routers[r], &gid, &hop);

		if (drop == HD_ROUTER_DROP_NO_HOST) /* attached */
			return hops;
		if (drop)
			return 0;
		r = hop.lid - 100u;
	}
	fail_msg("a loop");
	return 0;
}

/* A–B–C: the router between A and B learns of C through B, and does not tell B. */
static void transit_works(void **state)
{
	struct hd_router_message message = {0};

	(void)state;
	add_router(0, 1);
	add_router(1, 2);
	advertise_all(UINT32_MAX);
	assert_int_equal(walk(0, base + 3), 2);
	assert_int_equal(walk(1, base + 1), 2);
	assert_true(hd_router_write_prefixes(network.routers[0], 1, 0, &message, testing_bytes,
					     sizeof(testing_bytes)) > 0);
	assert_int_equal(hd_router_decode(testing_bytes, HD_ROUTER_HEADER + 16 + 16, &message), 0);
	assert_int_equal(message.count, 1);
	assert_int_equal(router_prefixes_choose(&network.routers[0]->prefixes, base + 3).count, 1);
	end_network();
}

/* In a line of 11 subnets a router reaches those that 8 further routers or fewer lead to. */
static void paths_have_at_most_eight_hops(void **state)
{
	(void)state;
	for (uint8_t r = 0; r < 11; r++)
		add_router(r, (uint8_t)(r + 1));
	for (uint32_t round = 0; round < 12; round++)
		advertise_all(UINT32_MAX);
	for (uint64_t s = 1; s < 12; s++) /* router 0 is attached to 0 and 1 */
		assert_int_equal(walk(0, base + 1 + s), s <= 9 ? s : 0);
	end_network();
}

/* In a ring, when a router dies, all prefixes are reached the other way, without a loop; when it
 * returns, so do the short paths. */
static void rings_heal(void **state)
{
	(void)state;
	for (uint8_t r = 0; r < 6; r++)
		add_router(r, (uint8_t)((r + 1) % 6));
	for (uint32_t round = 0; round < 8; round++)
		advertise_all(UINT32_MAX);
	assert_int_equal(walk(0, base + 1 + 5), 2); /* by router 5 */
	for (uint32_t round = 0; round < 16; round++)
		advertise_all(5);
	assert_int_equal(walk(0, base + 1 + 5), 5);
	assert_int_equal(walk(0, base + 1 + 4), 4);
	for (uint32_t round = 0; round < 8; round++)
		advertise_all(UINT32_MAX);
	assert_int_equal(walk(0, base + 1 + 5), 2);
	end_network();
}

/* A prefix that nobody has any more is forgotten: hop counts do not climb for ever. */
static void lost_prefixes_are_forgotten(void **state)
{
	(void)state;
	for (uint8_t r = 0; r < 4; r++)
		add_router(r, (uint8_t)((r + 1) % 4));
	add_router(1, 5);
	for (uint32_t round = 0; round < 8; round++)
		advertise_all(UINT32_MAX);
	assert_int_not_equal(walk(3, base + 6), 0);
	for (uint32_t round = 0; round < 30; round++)
		advertise_all(4);
	for (uint32_t r = 0; r < 4; r++)
		assert_int_equal(walk(r, base + 6), 0);
	end_network();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(choices_are_as_a_slow_table_says),
	    cmocka_unit_test(a_full_table_says_so),
	    cmocka_unit_test(transit_works),
	    cmocka_unit_test(paths_have_at_most_eight_hops),
	    cmocka_unit_test(rings_heal),
	    cmocka_unit_test(lost_prefixes_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
