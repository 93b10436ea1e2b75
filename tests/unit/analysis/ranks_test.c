/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who takes part, and in what order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing.h"
#include <heddle/fabric/aside.h>

/* One switch with named adapters on its ports; LIDs in order unless the name ends in '-'. */
static struct hd_fabric *fabric_of(const char *const *names, uint32_t count)
{
	struct hd_error err = {""};
	struct hd_fabric *fabric = NULL;
	struct hd_builder *builder = hd_builder_new();
	uint32_t sw, host;

	CHECK(hd_builder_add_node(
	    builder,
	    &(struct hd_node_spec){.type = HD_SWITCH, .guid = 1, .port_count = count, .name = "S"},
	    &sw, &err));
	CHECK(hd_builder_set_lid(builder, sw, 0, 100, 0, &err));
	for (uint32_t i = 0; i < count; i++) {
		struct hd_node_spec spec = {
		    .type = HD_CA, .guid = 0x10 + 2 * i, .port_count = 1, .name = names[i]};
		if (strstr(names[i], "Aggregation"))
			spec.device_id = HD_DEVICE_AGGREGATION;
		CHECK(hd_builder_add_node(builder, &spec, &host, &err));
		CHECK(hd_builder_set_port_guid(builder, host, 1, spec.guid + 1, &err));
		if (names[i][strlen(names[i]) - 1] != '-')
			CHECK(hd_builder_set_lid(builder, host, 1, 1 + i, 0, &err));
		CHECK(hd_builder_link(builder, sw, i + 1, host, 1, 4, HD_SPEED_EDR, &err));
	}
	CHECK(hd_builder_build(builder, &fabric, &err));
	hd_builder_free(builder);
	return fabric;
}

static const char *const cluster[] = {"node1 HCA-1", "node2 HCA-1",  "node2 HCA-2",
				      "node10",	     "no lid here-", "Mellanox Aggregation Node"};

static void aggregation_nodes_and_hosts_without_lid_stay_out(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_fabric *fabric = fabric_of(cluster, 6);
	struct hd_ranks *ranks = all_ranks(fabric);
	assert_int_equal(ranks->count, 4);
	assert_int_equal(ranks->aggregation_nodes, 1);
	assert_int_equal(ranks->without_lid, 1);
	for (uint32_t rank = 0; rank < 4; rank++)
		assert_int_equal(ranks->host[rank], rank);
	hd_ranks_free(ranks);
	CHECK(hd_ranks_new(fabric, true, &ranks, &err));
	assert_int_equal(ranks->count, 5);
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
}

static void a_fabric_without_hosts_that_can_take_part_is_refused(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_ranks *ranks = NULL;
	struct hd_fabric *fabric = fabric_of(cluster + 4, 2);
	assert_int_equal(hd_ranks_new(fabric, false, &ranks, &err), -ENODATA);
	assert_non_null(strstr(err.text, "of 2 hosts, 1 are aggregation nodes and 1 have no LID"));
	hd_fabric_free(fabric);
}

static void a_host_file_gives_ranks_in_its_order(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_fabric *fabric = fabric_of(cluster, 6);
	struct hd_ranks *ranks = NULL;
	char path[32];
	write_file(path, "node10\r\n# the first is node10\n\n\"node2 HCA-2\"\nnode1");
	CHECK(hd_ranks_read(fabric, path, &ranks, &err));
	assert_int_equal(ranks->count, 3);
	assert_int_equal(ranks->host[0], 3);
	assert_int_equal(ranks->host[1], 2);
	assert_int_equal(ranks->host[2], 0);
	hd_ranks_free(ranks);
	unlink(path);
	hd_fabric_free(fabric);
}

static void bad_host_files_are_refused_with_line_and_reason(void **state)
{
	(void)state;
	struct hd_fabric *fabric = fabric_of(cluster, 6);
	const char *bad[][2] = {
	    {"node1\nnode9\n", "hosts:2: 'node9' is not a host of the fabric"},
	    {"node1\nnode10\nnode1\n", "hosts:3: host 'node1' is listed twice"},
	    {"node2\n", "hosts:1: 'node2' means 2 ports"},
	    {"node1 node10\n", "hosts:1: more than one word"},
	    {"\"no lid here-\"", "hosts:1: host 'no lid here-' has no LID"},
	    {"# nobody\n", "hosts: the file has no host"},
	    {"100\n", "hosts:1: '100' is a switch"},
	    {"", "hosts: the file is empty"},
	};
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hd_error err = {""};
		struct hd_ranks *ranks = NULL;
		assert_true(hd_ranks_parse(fabric, bad[i][0], strlen(bad[i][0]), "hosts", &ranks,
					   &err) < 0);
		if (!strstr(err.text, bad[i][1]))
			fail_msg("'%s' does not say '%s'", err.text, bad[i][1]);
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(aggregation_nodes_and_hosts_without_lid_stay_out),
	    cmocka_unit_test(a_fabric_without_hosts_that_can_take_part_is_refused),
	    cmocka_unit_test(a_host_file_gives_ranks_in_its_order),
	    cmocka_unit_test(bad_host_files_are_refused_with_line_and_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
