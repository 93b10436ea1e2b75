/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The builder: what it refuses, and that the snapshot does not depend on the order of telling. */
#include <heddle/fabric.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static uint32_t add(struct hd_builder *builder, enum hd_node_type type, uint64_t guid,
		    uint32_t ports)
{
	char name[32];

	snprintf(name, sizeof(name), "node-%lx", (unsigned long)guid);
	struct hd_node_spec spec = {.type = type, .guid = guid, .port_count = ports, .name = name};
	uint32_t handle = HD_NONE;
	struct hd_error err;
	assert_int_equal(hd_builder_add_node(builder, &spec, &handle, &err), 0);
	return handle;
}

static void link_ports(struct hd_builder *builder, uint32_t a, uint32_t pa, uint32_t b, uint32_t pb)
{
	struct hd_error err;

	assert_int_equal(hd_builder_link(builder, a, pa, b, pb, 4, HD_SPEED_HDR, &err), 0);
}

/* Two leaves with two hosts each under two spines; nodes and cables added backwards on demand. */
static struct hd_fabric *small_tree(bool backwards, int lmc)
{
	static const struct {
		enum hd_node_type type;
		uint64_t guid;
		uint32_t ports;
	} nodes[] = {{HD_SWITCH, 10, 4}, {HD_SWITCH, 11, 4}, {HD_SWITCH, 20, 2}, {HD_SWITCH, 21, 2},
		     {HD_CA, 100, 1},	 {HD_CA, 101, 1},    {HD_CA, 102, 1},	 {HD_CA, 103, 1}};
	static const uint64_t cables[][4] = {{10, 1, 100, 1}, {10, 2, 101, 1}, {11, 1, 102, 1},
					     {11, 2, 103, 1}, {10, 3, 20, 1},  {10, 4, 21, 1},
					     {11, 3, 20, 2},  {11, 4, 21, 2}};
	struct hd_builder *builder = hd_builder_new();
	for (int i = 0; i < 8; i++) {
		int at = backwards ? 7 - i : i;
		add(builder, nodes[at].type, nodes[at].guid, nodes[at].ports);
	}
	for (int i = 0; i < 8; i++) {
		const uint64_t *c = cables[backwards ? 7 - i : i];
		link_ports(builder, hd_builder_find(builder, c[0]), (uint32_t)c[1],
			   hd_builder_find(builder, c[2]), (uint32_t)c[3]);
	}
	hd_builder_assign_lids(builder, (unsigned)lmc);
	struct hd_fabric *fabric = NULL;
	struct hd_error err;
	assert_int_equal(hd_builder_build(builder, &fabric, &err), 0);
	hd_builder_free(builder);
	return fabric;
}

/* Indices follow GUIDs, hosts are leaf-major, links are paired with their reverse. */
static void canonical_order(void **state)
{
	(void)state;
	struct hd_fabric *a = small_tree(false, 0), *b = small_tree(true, 0);
	assert_int_equal(a->switch_count, 4);
	assert_int_equal(a->host_count, 4);
	assert_int_equal(a->isl_count, 8);
	for (uint32_t node = 0; node < a->node_count; node++)
		assert_int_equal(a->node_guid[node], b->node_guid[node]);
	for (uint32_t port = 0; port < a->port_count; port++) {
		assert_int_equal(a->peer[port], b->peer[port]);
		assert_int_equal(a->lid[port], b->lid[port]);
	}
	for (uint32_t link = 0; link < a->isl_count; link++) {
		uint32_t reverse = a->isl_reverse[link];
		assert_int_equal(a->isl_reverse[reverse], link);
		assert_int_equal(a->isl_to[link], b->isl_to[link]);
	}
	assert_int_equal(hd_fabric_find_node(a, 103), 7);
	assert_int_equal(hd_fabric_find_node(a, 104), HD_NONE);
	assert_int_equal(hd_fabric_find_port(a, 20), hd_port_index(a, 2, 0));
	hd_fabric_free(a);
	hd_fabric_free(b);
}

/* Base LIDs are aligned to 2^LMC, and the destination of each LID of a host is the switch port to
 * which the host is cabled. */
static void lids_are_laid_out(void **state)
{
	(void)state;
	struct hd_fabric *fabric = small_tree(false, 2);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		assert_int_equal(fabric->lid[port] % 4, 0);
		for (uint32_t offset = 0; offset < 4; offset++) {
			uint32_t sw;
			uint8_t leaf_port;
			assert_true(hd_fabric_lid_destination(fabric, fabric->lid[port] + offset,
							      &sw, &leaf_port));
			assert_int_equal(sw, fabric->host_switch[host]);
			assert_int_equal(leaf_port, fabric->host_switch_port[host]);
		}
	}
	assert_int_equal(fabric->lid[fabric->port_base[0]], 1);
	assert_int_equal(fabric->lid[fabric->port_base[3]], 20);
	hd_fabric_free(fabric);
}

/* A host's port enters the fabric at the port of its switch, a switch's port 0 at itself, and no
 * other port does. */
static void ports_enter_where_they_hang(void **state)
{
	(void)state;
	struct hd_fabric *fabric = small_tree(false, 2);
	uint32_t entries = 0;
	for (uint32_t port = 0; port < fabric->port_count; port++)
		entries += hd_fabric_entry(fabric, port) != HD_NONE;
	assert_int_equal(entries, fabric->host_count + fabric->switch_count);
	for (uint32_t host = 0; host < fabric->host_count; host++)
		assert_int_equal(hd_fabric_entry(fabric, fabric->host_port[host]),
				 hd_port_index(fabric, fabric->host_switch[host],
					       fabric->host_switch_port[host]));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		assert_int_equal(hd_fabric_entry(fabric, hd_port_index(fabric, sw, 0)),
				 hd_port_index(fabric, sw, 0));
	assert_int_equal(hd_fabric_entry(fabric, fabric->port_count), HD_NONE);
	assert_int_equal(hd_fabric_entry(fabric, HD_NONE), HD_NONE);
	assert_int_equal(hd_fabric_largest_lmc(fabric), 2);
	hd_fabric_free(fabric);
}

static void expect(struct hd_builder *builder, int rc, const char *part)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	assert_int_equal(hd_builder_build(builder, &fabric, &err), rc);
	assert_null(fabric);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
	hd_builder_free(builder);
}

/* What cannot be right is refused, with the places and the names in the message. */
static void refusals(void **state)
{
	(void)state;
	struct hd_error err;
	uint32_t handle;
	struct hd_builder *builder = hd_builder_new();
	hd_builder_at(builder, "net", 3);
	uint32_t a = add(builder, HD_SWITCH, 1, 4), b = add(builder, HD_SWITCH, 2, 4);
	struct hd_node_spec twin = {.type = HD_CA, .guid = 2, .port_count = 1, .name = "twin"};
	hd_builder_at(builder, "net", 9);
	assert_int_equal(hd_builder_add_node(builder, &twin, &handle, &err), -EEXIST);
	assert_non_null(strstr(err.text, "net:9: duplicate GUID 0x0000000000000002"));
	assert_non_null(strstr(err.text, "net:3: "));
	assert_int_equal(hd_builder_link(builder, a, 5, b, 1, 4, 0, &err), -ERANGE);
	assert_non_null(strstr(err.text, "port 5 of 'node-1'"));
	assert_int_equal(hd_builder_set_lid(builder, a, 0, 0xC000, 0, &err), -EINVAL);
	assert_int_equal(hd_builder_set_lid(builder, a, 0, UINT32_MAX, 1, &err), -EINVAL);
	assert_int_equal(hd_builder_set_lid(builder, a, 0, 0xBF81, 7, &err), -EINVAL);
	assert_int_equal(hd_builder_half_link(builder, a, 1, b, 2, 4, 0, &err), 0);
	expect(builder, -EINVAL, "net:9: one-sided link: 'node-1'");

	builder = hd_builder_new();
	a = add(builder, HD_SWITCH, 1, 4), b = add(builder, HD_SWITCH, 2, 4);
	hd_builder_at(builder, "net", 4);
	assert_int_equal(hd_builder_set_lid(builder, a, 0, 7, 0, &err), 0);
	hd_builder_at(builder, "net", 8);
	assert_int_equal(hd_builder_set_lid(builder, b, 0, 7, 0, &err), 0);
	expect(builder, -EINVAL, "net:8: LID 7 belongs to 'node-2'");

	builder = hd_builder_new();
	add(builder, HD_CA, 1, 1);
	expect(builder, -EINVAL, "no switch");
}

/* When LIDs run out the message says which LMC would fit. */
static void largest_lmc_is_named(void **state)
{
	(void)state;
	struct hd_builder *builder = hd_builder_new();
	for (uint32_t sw = 0; sw < 4; sw++) {
		uint32_t handle = add(builder, HD_SWITCH, sw + 1, 254);
		for (uint32_t host = 1; host <= 250; host++)
			link_ports(builder, handle, host,
				   add(builder, HD_CA, 1000 + sw * 1000 + host, 1), 1);
	}
	hd_builder_assign_lids(builder, 6);
	expect(builder, -ENOSPC, "the largest LMC that fits is 5");
}

/* In memory a port may have more LIDs than InfiniBand's LMC of 7 allows, but no LID beyond the
 * last. */
static void more_path_bits_in_memory(void **state)
{
	(void)state;
	struct hd_fabric *fabric = small_tree(false, 11);
	uint32_t port = fabric->host_port[0];
	assert_int_equal(hd_port_lid_count(fabric, port), 2048);
	assert_int_equal(fabric->lid_owner[fabric->lid[port] + 2047], port);
	hd_fabric_free(fabric);
	struct hd_builder *builder = hd_builder_new();
	uint32_t handle = add(builder, HD_SWITCH, 1, 2);
	assert_int_equal(hd_builder_set_lid(builder, handle, 0, 1, HD_LMC_MAX, NULL), -EINVAL);
	assert_int_equal(hd_builder_set_lid(builder, handle, 0, 16385, 15, NULL), -EINVAL);
	assert_int_equal(hd_builder_set_lid(builder, handle, 0, 16384, 15, NULL), 0);
	hd_builder_free(builder);
}

/* from() and build() are inverse; unlink() takes both ends. */
static void copies_and_edits(void **state)
{
	(void)state;
	struct hd_fabric *fabric = small_tree(false, 1), *copy = NULL;
	struct hd_builder *builder = hd_builder_from(fabric);
	struct hd_error err;
	assert_int_equal(hd_builder_build(builder, &copy, &err), 0);
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		assert_int_equal(copy->peer[port], fabric->peer[port]);
		assert_int_equal(copy->lid[port], fabric->lid[port]);
		assert_int_equal(copy->lmc[port], fabric->lmc[port]);
	}
	hd_fabric_free(copy);
	assert_true(hd_builder_unlink(builder, 0, 3));
	assert_false(hd_builder_unlink(builder, 2, 1));
	assert_int_equal(hd_builder_build(builder, &copy, &err), 0);
	assert_int_equal(copy->isl_count, fabric->isl_count - 2);
	hd_fabric_free(copy);
	hd_builder_free(builder);
	hd_fabric_free(fabric);
}

/* Tables follow GUIDs when the fabric they were made for gains a switch and LIDs move. */
static void rebased_tables_follow_guids(void **state)
{
	(void)state;
	struct hd_fabric *old = small_tree(false, 0), *new = NULL;
	struct hd_routes *routes = hd_routes_new(old), *rebased = NULL;
	for (uint32_t sw = 0; sw < 4; sw++)
		for (uint32_t lid = 1; lid < old->lid_count; lid++)
			hd_routes_row(routes, sw)[lid] = (uint8_t)(sw * 16 + lid);
	struct hd_builder *builder = hd_builder_from(old);
	struct hd_error err;
	add(builder, HD_SWITCH, 5, 3);
	hd_builder_assign_lids(builder, 1);
	assert_int_equal(hd_builder_build(builder, &new, &err), 0);
	assert_int_equal(hd_routes_rebase(old, routes, new, &rebased, &err), 0);
	uint32_t lid = new->lid[new->host_port[2]];
	assert_int_equal(hd_routes_port(rebased, 0, lid), HD_NO_PORT);
	assert_int_equal(hd_routes_port(rebased, 1, lid),
			 hd_routes_port(routes, 0, old->lid[old->host_port[2]]));
	assert_int_equal(hd_routes_port(rebased, 1, lid + 1), HD_NO_PORT);
	hd_routes_free(routes);
	hd_routes_free(rebased);
	hd_builder_free(builder);
	hd_fabric_free(old);
	hd_fabric_free(new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(canonical_order),
	    cmocka_unit_test(lids_are_laid_out),
	    cmocka_unit_test(ports_enter_where_they_hang),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(largest_lmc_is_named),
	    cmocka_unit_test(more_path_bits_in_memory),
	    cmocka_unit_test(copies_and_edits),
	    cmocka_unit_test(rebased_tables_follow_guids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
