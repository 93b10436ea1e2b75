/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which hosts are siblings: drawn nodes against a slow search of pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle_siblings.h"

#include <heddle/base/random.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/siblings.h>

#define NODES 12u
#define TRIALS 400u
#define GUID_OF(node) (UINT64_C(0x1000) + 0x10 * (node))

/* A system image GUID: none, a node's own, that of a node or of the switch, or one that no node has. */
static uint64_t draw_system(uint32_t node, uint64_t *random)
{
	switch (hd_random_below(random, 5)) {
	case 0:
		return 0;
	case 1:
		return GUID_OF(node);
	case 2:
		return GUID_OF(hd_random_below(random, NODES));
	case 3:
		return hd_random_below(random, 8) ? GUID_OF(node) : 0x50;
	default:
		return 0x77 + hd_random_below(random, 4);
	}
}

static struct hd_fabric *draw_fabric(uint64_t seed)
{
	uint64_t random = seed;
	struct hd_builder *builder = hd_builder_new();
	struct hd_node_spec spec = {.type = HD_SWITCH,
				    .guid = 0x50,
				    .system_guid = 0x50,
				    .port_count = 100,
				    .name = "leaf"};
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};
	uint32_t sw, node, port = 1;

	assert_int_equal(hd_builder_add_node(builder, &spec, &sw, &err), 0);
	for (uint32_t i = 0; i < NODES; i++) {
		const uint32_t ports = 1 + (uint32_t)hd_random_below(&random, 3);

		spec =
		    (struct hd_node_spec){.type = hd_random_below(&random, 8) ? HD_CA : HD_ROUTER,
					  .guid = GUID_OF(i),
					  .system_guid = draw_system(i, &random),
					  .port_count = ports,
					  .name = "node"};
		assert_int_equal(hd_builder_add_node(builder, &spec, &node, &err), 0);
		for (uint32_t p = 1; p <= ports; p++)
			if (hd_random_below(&random, 4))
				assert_int_equal(hd_builder_link(builder, sw, port++, node, p, 4,
								 HD_SPEED_EDR, &err),
						 0);
	}
	hd_builder_assign_lids(builder, (unsigned)hd_random_below(&random, 2));
	if (hd_builder_build(builder, &fabric, &err))
		fail_msg("%s", err.text);
	hd_builder_free(builder);
	return fabric;
}

static void siblings_are_those_of_a_slow_search(void **state)
{
	uint32_t pairs = 0, none = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		struct hd_fabric *fabric = draw_fabric(seed);
		struct hd_arena arena = {0};
		uint32_t *sibling, found = 0;
		uint16_t *lid;

		assert_int_equal(hd_siblings_find(fabric, &arena, &sibling), 0);
		assert_int_equal(hd_siblings_lids(fabric, &arena, &lid), 0);
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			const uint32_t other = oracle_siblings_other(fabric, host);
			const uint32_t own = fabric->lid[fabric->host_port[host]];

			assert_int_equal(sibling ? sibling[host] : HD_NONE, other);
			if (other == HD_NONE) {
				assert_true(!lid || !lid[own]);
				continue;
			}
			found++;
			assert_int_equal(lid[own], fabric->lid[fabric->host_port[other]]);
		}
		assert_true((sibling != NULL) == (found != 0) && (lid != NULL) == (found != 0));
		pairs += found / 2;
		none += !found;
		hd_arena_release(&arena);
		hd_fabric_free(fabric);
	}
	assert_true(pairs > TRIALS && none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(siblings_are_those_of_a_slow_search)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
