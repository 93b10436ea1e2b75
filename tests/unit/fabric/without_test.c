/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric that is left after a loss, compared with what a builder makes of the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "variants.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/fabric/changes.h>

#define LOSSES_MOST 12
#define ROUNDS 60

static const char *const kinds[][2] = {
    {"xgft", "children=4,3,3 parents=1,2,3"},
    {"torus", "dims=3,3,2 hosts=2"},
    {"irregular", "switches=20 radix=12 hosts=3 seed=5"},
};

#define SAME(field, count)                                                                         \
	(!memcmp(a->field, b->field, (size_t)(count) * sizeof(*a->field)) ||                       \
	 (print_error("%s differs\n", #field), false))

static bool same_arrays(const struct hd_fabric *a, const struct hd_fabric *b)
{
	const uint32_t nodes = a->node_count, ports = a->port_count, switches = a->switch_count;

	return same_fabric(a, b) && switches == b->switch_count && ports == b->port_count &&
	       a->isl_count == b->isl_count && a->host_count == b->host_count &&
	       a->aside_count == b->aside_count && SAME(system_guid, nodes) &&
	       SAME(vendor_id, nodes) && SAME(device_id, nodes) && SAME(node_type, nodes) &&
	       SAME(port_base, nodes + 1) && SAME(port_node, ports) && SAME(lmc, ports) &&
	       SAME(width, ports) && SAME(speed, ports) && SAME(aside, ports) &&
	       SAME(host_port, a->host_count) && SAME(host_switch, a->host_count) &&
	       SAME(host_switch_port, a->host_count) && SAME(host_base, switches + 1) &&
	       SAME(aside_port, a->aside_count) && SAME(aside_switch, a->aside_count) &&
	       SAME(aside_switch_port, a->aside_count) && SAME(aside_base, switches + 1) &&
	       SAME(isl_base, switches + 1) && SAME(isl_to, a->isl_count) &&
	       SAME(isl_port, a->isl_count) && SAME(isl_reverse, a->isl_count) &&
	       SAME(lid_owner, a->lid_count);
}

/* Each node and each port is found by its GUID, and none that is lost. */
static void assert_found(const struct hd_fabric *fabric, const struct hd_fabric *left,
			 const bool *gone)
{
	for (uint32_t node = 0; node < fabric->node_count; node++) {
		uint32_t now = hd_fabric_find_node(left, fabric->node_guid[node]);
		assert_int_equal(now == HD_NONE, gone[node]);
		for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1];
		     port++) {
			if (!fabric->port_guid[port])
				continue;
			uint32_t at = hd_fabric_find_port(left, fabric->port_guid[port]);
			assert_int_equal(at == HD_NONE, gone[node]);
			if (at != HD_NONE)
				assert_int_equal(at, left->port_base[now] +
							 hd_port_number(fabric, port));
		}
	}
}

/* A cable is left if it is not lost and both its nodes are left. */
static void assert_cables(const struct hd_fabric *fabric, const struct hd_fabric *left,
			  const bool *gone, const bool *cut)
{
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		uint32_t node = fabric->port_node[port], peer = fabric->peer[port];
		if (gone[node])
			continue;
		uint32_t now =
		    hd_port_index(left, hd_fabric_find_node(left, fabric->node_guid[node]),
				  hd_port_number(fabric, port));
		bool lost = peer == HD_NONE || cut[port] || gone[fabric->port_node[peer]];
		assert_int_equal(left->peer[now] == HD_NONE, lost);
		if (lost)
			continue;
		uint32_t far = left->peer[now];
		assert_int_equal(left->node_guid[left->port_node[far]],
				 fabric->node_guid[fabric->port_node[peer]]);
		assert_int_equal(hd_port_number(left, far), hd_port_number(fabric, peer));
	}
}

static void draw(const struct hd_fabric *fabric, uint64_t *random, struct hd_fabric_change *loss,
		 bool *gone, bool *cut)
{
	*loss = (struct hd_fabric_change){.lost = true, .cable = hd_random_below(random, 3) > 0};
	if (loss->cable) {
		uint32_t link = (uint32_t)hd_random_below(random, fabric->isl_count);
		loss->index =
		    hd_random_below(random, 2)
			? hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link])
			: fabric->host_port[hd_random_below(random, fabric->host_count)];
		cut[loss->index] = cut[fabric->peer[loss->index]] = true;
	} else {
		loss->index = (uint32_t)hd_random_below(random, fabric->node_count);
		gone[loss->index] = true;
	}
}

static void check_losses(const struct hd_fabric *fabric, uint64_t *random)
{
	struct hd_fabric_change losses[LOSSES_MOST];
	const uint32_t count = 1 + (uint32_t)hd_random_below(random, LOSSES_MOST);
	bool *gone = calloc(fabric->node_count, sizeof(*gone));
	bool *cut = calloc(fabric->port_count, sizeof(*cut));
	struct hd_fabric *left = NULL, *built = NULL;
	struct hd_error err = {""};

	for (uint32_t i = 0; i < count; i++)
		draw(fabric, random, &losses[i], gone, cut);
	if (hd_fabric_without(fabric, losses, count, HD_NONE, &left, &err) ||
	    variants_copy(left, &built, &err))
		fail_msg("%s", err.text);
	assert_true(same_arrays(left, built));
	assert_found(fabric, left, gone);
	assert_cables(fabric, left, gone, cut);
	hd_fabric_free(left);
	hd_fabric_free(built);
	free(gone);
	free(cut);
}

/* Property: nothing but what is lost is missing, and all arrays are those of a build. */
static void equals_a_build(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hd_fabric *fabric = generate(kinds[i][0], kinds[i][1]);
		for (unsigned round = 0; round < ROUNDS; round++)
			check_losses(fabric, &random);
		hd_fabric_free(fabric);
	}
}

/* Property: what has no path to `own` is gone, too. */
static void leaves_out_the_unseen(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,2 parents=1,1"), *left = NULL;
	const uint32_t own = fabric->port_node[fabric->host_port[0]];
	const uint32_t leaf = fabric->host_switch[0];
	const struct hd_fabric_change loss = {
	    .lost = true,
	    .cable = true,
	    .index = hd_port_index(fabric, leaf, fabric->isl_port[fabric->isl_base[leaf]])};
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_fabric_without(fabric, &loss, 1, own, &left, &err), 0);
	assert_int_equal(left->switch_count, 1);
	assert_int_equal(left->host_count, 2);
	hd_fabric_free(left);
	hd_fabric_free(fabric);
}

/* Property: without a switch there is no fabric. */
static void refuses_nothing(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2 parents=1"), *left = NULL;
	const struct hd_fabric_change loss = {.lost = true, .index = 0};
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_fabric_without(fabric, &loss, 1, HD_NONE, &left, &err), -EINVAL);
	assert_null(left);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(equals_a_build),
					   cmocka_unit_test(leaves_out_the_unseen),
					   cmocka_unit_test(refuses_nothing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
