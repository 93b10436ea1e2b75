/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The netlist: reading it back gives the same fabric, and it keeps to what ibsim can read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "read_testing.h"

static void assert_round_trip(const struct hd_fabric *fabric)
{
	char *text = netlist_of(fabric), *again;
	struct hd_fabric *back = parse(text);

	assert_same_fabric(fabric, back);
	again = netlist_of(back);
	assert_string_equal(text, again);
	free(again);
	free(text);
	hd_fabric_free(back);
}

static void every_generated_fabric_comes_back(void **state)
{
	static const char *const fabrics[][2] = {{"xgft", "children=6,6,6 parents=1,6,6"},
						 {"xgft", "children=4,4 parents=1,2 parallel=1,2"},
						 {"torus", "dims=3,3,3"},
						 {"irregular", "switches=30 radix=8 seed=7"},
						 {"hypercube", "dimensions=4"}};

	(void)state;
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++) {
		struct hd_fabric *fabric = generate(fabrics[i][0], fabrics[i][1]), *other = NULL;
		assert_round_trip(fabric);
		assert_int_equal(hd_fabric_assign_lids(fabric, 3, &other, NULL), 0);
		assert_round_trip(other);
		hd_fabric_free(other);
		assert_int_equal(hd_fabric_remove_links(fabric, 30, 1, &other, NULL), 0);
		assert_round_trip(other);
		hd_fabric_free(other);
		hd_fabric_free(fabric);
	}
}

static uint32_t add(struct hd_builder *builder, enum hd_node_type type, uint64_t guid,
		    uint64_t system_guid, uint32_t ports, const char *name)
{
	struct hd_node_spec spec = {.type = type,
				    .guid = guid,
				    .system_guid = system_guid,
				    .port_count = ports,
				    .name = name};
	uint32_t handle = HD_NONE;

	assert_int_equal(hd_builder_add_node(builder, &spec, &handle, NULL), 0);
	return handle;
}

static void tie(struct hd_builder *builder, uint32_t a, uint32_t port_a, uint32_t b,
		uint32_t port_b, unsigned width, int speed)
{
	assert_int_equal(
	    hd_builder_link(builder, a, port_a, b, port_b, width, (enum hd_speed)speed, NULL), 0);
}

/* Everything that generators do not make: routers, two-port adapters, hosts back to back, a
 * cable of a switch to itself, unknown GUIDs and speeds, no names, nodes without cables. */
static struct hd_builder *odd_builder(void)
{
	struct hd_builder *b = hd_builder_new();
	uint32_t s1 = add(b, HD_SWITCH, 0x1000000, 0x1000009, 254, "leaf # 1 lid 9 lmc 3");
	uint32_t s2 = add(b, HD_SWITCH, 0xFFFFFFFFFFFFFFFF, 0, 24, "");
	uint32_t ca = add(b, HD_CA, 0x2000000, 0x2000003, 2, "node1 [1] (x) 'HCA-1'");
	uint32_t router = add(b, HD_ROUTER, 0x3000000, 0, 2, " base port 0 ");
	uint32_t near = add(b, HD_CA, 0x4000000, 0, 1, "near"),
		 far = add(b, HD_CA, 0x5000000, 0, 1, "far");

	add(b, HD_CA, 0x6000000, 0, 3, "alone");
	tie(b, s1, 254, ca, 1, 1, HD_SPEED_SDR);
	tie(b, s2, 1, ca, 2, 12, HD_SPEED_XDR);
	tie(b, s1, 2, s2, 2, 4, HD_SPEED_UNKNOWN);
	tie(b, s1, 3, s2, 3, 0, HD_SPEED_FDR10);
	tie(b, s1, 4, router, 2, 0, HD_SPEED_UNKNOWN);
	tie(b, s1, 5, s1, 6, 2, HD_SPEED_NDR);
	tie(b, near, 1, far, 1, 4, HD_SPEED_EDR);
	assert_int_equal(hd_builder_set_port_guid(b, s1, 0, 0x1000001, NULL), 0);
	assert_int_equal(hd_builder_set_port_guid(b, ca, 2, 0x2000002, NULL), 0);
	assert_int_equal(hd_builder_set_port_guid(b, near, 1, 0x4000001, NULL), 0);
	assert_int_equal(hd_builder_set_lid(b, s1, 0, 8, 2, NULL), 0);
	assert_int_equal(hd_builder_set_lid(b, ca, 2, 16, 4, NULL), 0);
	assert_int_equal(hd_builder_set_lid(b, router, 2, HD_LID_LAST, 0, NULL), 0);
	return b;
}

static void odd_fabrics_come_back(void **state)
{
	(void)state;
	struct hd_builder *builder = odd_builder();
	struct hd_fabric *fabric = NULL;
	assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
	assert_round_trip(fabric);
	hd_fabric_free(fabric);
	hd_builder_free(builder);
}

/* ibsim reads at most 254 bytes of a line and takes the first quotation mark for a name's end. */
static void names_that_ibsim_could_not_bear_are_made_plain(void **state)
{
	(void)state;
	struct hd_builder *builder = hd_builder_new();
	char name[300];
	memset(name, 'n', sizeof(name));
	memcpy(name, "a \"quoted\"\nname", 15);
	name[sizeof(name) - 1] = '\0';
	uint32_t s1 = add(builder, HD_SWITCH, 0xFFFFFFFFFFFFFFFE, ~UINT64_C(0), 254, name);
	uint32_t ca = add(builder, HD_CA, 0xFFFFFFFFFFFFFF00, ~UINT64_C(0), 254, name);
	tie(builder, s1, 254, ca, 254, 12, HD_SPEED_FDR10);
	assert_int_equal(hd_builder_set_port_guid(builder, ca, 254, 0xFFFFFFFFFFFFFFF0, NULL), 0);
	assert_int_equal(hd_builder_set_lid(builder, ca, 254, 0xB000, 7, NULL), 0);
	struct hd_fabric *fabric = NULL;
	assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
	char *text = netlist_of(fabric), *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));)
		assert_true(strlen(line) < 254);
	free(text);
	text = netlist_of(fabric);
	struct hd_fabric *back = parse(text);
	assert_int_equal(strlen(back->node_name[0]), 64);
	assert_memory_equal(back->node_name[0], "a 'quoted'\\u000aname", 20);
	assert_memory_equal(back->peer, fabric->peer, fabric->port_count * sizeof(*fabric->peer));
	free(text);
	hd_fabric_free(back);
	hd_fabric_free(fabric);
	hd_builder_free(builder);
}

static void a_stream_that_fails_is_said(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=3,3,3");
	FILE *full = fopen("/dev/full", "w");
	struct hd_error err = {""};
	if (!full) {
		hd_fabric_free(fabric);
		skip();
	}
	assert_int_equal(hd_fabric_write_netlist(fabric, full, &err), -ENOSPC);
	assert_says(err.text, "cannot write: No space left on device");
	assert_int_equal(hd_fabric_write_dot(fabric, full, &err), -ENOSPC);
	fclose(full);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_generated_fabric_comes_back),
	    cmocka_unit_test(odd_fabrics_come_back),
	    cmocka_unit_test(names_that_ibsim_could_not_bear_are_made_plain),
	    cmocka_unit_test(a_stream_that_fails_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
