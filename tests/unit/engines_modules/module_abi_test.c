/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout of what modules and programs share is that of the file abi_HD_ENGINE_ABI.txt. If this
 * test fails, a struct has changed: increment HD_ENGINE_ABI in heddle/engines/module.h and commit the
 * file under its new name, with the new layout, which the test prints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "options_layout.h"

#include <heddle/engines/lanes.h>
#include <heddle/engines/module.h>
#include <heddle/fabric/regular_tree.h>
#include <stdio.h>

#define TEXT_SIZE 16384

/* clang-format off */
#define LAYOUT(STRUCT, MEMBER) \
	STRUCT(hd_engine_module) \
	MEMBER(hd_engine_module, abi) \
	MEMBER(hd_engine_module, sizes) \
	MEMBER(hd_engine_module, engine) \
	STRUCT(hd_engine) \
	MEMBER(hd_engine, name) \
	MEMBER(hd_engine, summary) \
	MEMBER(hd_engine, description) \
	MEMBER(hd_engine, options) \
	MEMBER(hd_engine, option_count) \
	MEMBER(hd_engine, policies) \
	MEMBER(hd_engine, needs_tree) \
	MEMBER(hd_engine, needs_grid) \
	MEMBER(hd_engine, one_lane) \
	MEMBER(hd_engine, delegates) \
	MEMBER(hd_engine, shortest_paths) \
	MEMBER(hd_engine, keeps_entries) \
	MEMBER(hd_engine, takes_keys) \
	MEMBER(hd_engine, from_module) \
	MEMBER(hd_engine, route) \
	STRUCT(hd_route_request) \
	MEMBER(hd_route_request, fabric) \
	MEMBER(hd_route_request, options) \
	MEMBER(hd_route_request, policy) \
	MEMBER(hd_route_request, previous) \
	MEMBER(hd_route_request, baseline) \
	MEMBER(hd_route_request, in_place) \
	MEMBER(hd_route_request, lanes) \
	MEMBER(hd_route_request, threads) \
	MEMBER(hd_route_request, log) \
	MEMBER(hd_route_request, go_on) \
	STRUCT(hd_go_on) \
	MEMBER(hd_go_on, ask) \
	MEMBER(hd_go_on, context) \
	STRUCT(hd_option) \
	MEMBER(hd_option, name) \
	MEMBER(hd_option, summary) \
	MEMBER(hd_option, type) \
	MEMBER(hd_option, fallback) \
	MEMBER(hd_option, minimum) \
	MEMBER(hd_option, maximum) \
	MEMBER(hd_option, choices) \
	MEMBER(hd_option, validate) \
	STRUCT(hd_option_value) \
	MEMBER(hd_option_value, text) \
	MEMBER(hd_option_value, number) \
	MEMBER(hd_option_value, count) \
	MEMBER(hd_option_value, list) \
	MEMBER(hd_option_value, given) \
	STRUCT(hd_fabric) \
	MEMBER(hd_fabric, node_count) \
	MEMBER(hd_fabric, switch_count) \
	MEMBER(hd_fabric, node_guid) \
	MEMBER(hd_fabric, system_guid) \
	MEMBER(hd_fabric, vendor_id) \
	MEMBER(hd_fabric, device_id) \
	MEMBER(hd_fabric, node_type) \
	MEMBER(hd_fabric, node_name) \
	MEMBER(hd_fabric, port_base) \
	MEMBER(hd_fabric, port_count) \
	MEMBER(hd_fabric, port_node) \
	MEMBER(hd_fabric, peer) \
	MEMBER(hd_fabric, port_guid) \
	MEMBER(hd_fabric, lid) \
	MEMBER(hd_fabric, lmc) \
	MEMBER(hd_fabric, width) \
	MEMBER(hd_fabric, speed) \
	MEMBER(hd_fabric, aside) \
	MEMBER(hd_fabric, host_count) \
	MEMBER(hd_fabric, host_port) \
	MEMBER(hd_fabric, host_switch) \
	MEMBER(hd_fabric, host_switch_port) \
	MEMBER(hd_fabric, host_base) \
	MEMBER(hd_fabric, aside_count) \
	MEMBER(hd_fabric, aside_port) \
	MEMBER(hd_fabric, aside_switch) \
	MEMBER(hd_fabric, aside_switch_port) \
	MEMBER(hd_fabric, aside_base) \
	MEMBER(hd_fabric, isl_count) \
	MEMBER(hd_fabric, isl_base) \
	MEMBER(hd_fabric, isl_to) \
	MEMBER(hd_fabric, isl_port) \
	MEMBER(hd_fabric, isl_reverse) \
	MEMBER(hd_fabric, lid_count) \
	MEMBER(hd_fabric, lid_owner) \
	STRUCT(hd_routes) \
	MEMBER(hd_routes, switch_count) \
	MEMBER(hd_routes, lid_count) \
	MEMBER(hd_routes, stride) \
	MEMBER(hd_routes, lft) \
	MEMBER(hd_routes, sl) \
	MEMBER(hd_routes, sl2vl) \
	MEMBER(hd_routes, maps) \
	MEMBER(hd_routes, rank) \
	MEMBER(hd_routes, labels) \
	MEMBER(hd_routes, engine) \
	MEMBER(hd_routes, chosen) \
	MEMBER(hd_routes, chosen_for) \
	MEMBER(hd_routes, options) \
	STRUCT(hd_policy) \
	MEMBER(hd_policy, root_guids) \
	MEMBER(hd_policy, root_count) \
	MEMBER(hd_policy, cn_guids) \
	MEMBER(hd_policy, cn_count) \
	MEMBER(hd_policy, io_guids) \
	MEMBER(hd_policy, io_count) \
	MEMBER(hd_policy, order_guids) \
	MEMBER(hd_policy, order_count) \
	MEMBER(hd_policy, hop_weights) \
	MEMBER(hd_policy, hop_weight_count) \
	MEMBER(hd_policy, ignored_ports) \
	MEMBER(hd_policy, ignored_port_count) \
	MEMBER(hd_policy, aggregation_guids) \
	MEMBER(hd_policy, aggregation_count) \
	MEMBER(hd_policy, max_reverse_hops) \
	MEMBER(hd_policy, connect_roots) \
	STRUCT(hd_port_ref) \
	MEMBER(hd_port_ref, node_guid) \
	MEMBER(hd_port_ref, port) \
	MEMBER(hd_port_ref, value) \
	STRUCT(hd_error) \
	MEMBER(hd_error, text) \
	STRUCT(hd_log) \
	MEMBER(hd_log, write) \
	MEMBER(hd_log, context) \
	STRUCT(hd_tree_labels) \
	MEMBER(hd_tree_labels, arena) \
	MEMBER(hd_tree_labels, holders) \
	MEMBER(hd_tree_labels, level_count) \
	MEMBER(hd_tree_labels, hosts) \
	MEMBER(hd_tree_labels, next_ordinal) \
	MEMBER(hd_tree_labels, whole) \
	MEMBER(hd_tree_labels, children) \
	MEMBER(hd_tree_labels, parents) \
	MEMBER(hd_tree_labels, parent_links) \
	MEMBER(hd_tree_labels, count) \
	MEMBER(hd_tree_labels, items) \
	STRUCT(hd_tree_label) \
	MEMBER(hd_tree_label, guid) \
	MEMBER(hd_tree_label, level) \
	MEMBER(hd_tree_label, first_leaf) \
	MEMBER(hd_tree_label, group) \
	MEMBER(hd_tree_label, ordinal) \
	MEMBER(hd_tree_label, up_port) \
	MEMBER(hd_tree_label, down_port) \
	STRUCT(hd_arena) \
	MEMBER(hd_arena, chunks) \
	MEMBER(hd_arena, failed) \
	STRUCT(hd_options) \
	MEMBER(hd_options, table) \
	MEMBER(hd_options, count) \
	MEMBER(hd_options, values) \
	MEMBER(hd_options, owned)
/* clang-format on */

static char now[TEXT_SIZE], then[TEXT_SIZE];

static void print(const char *name, const char *member, size_t offset, size_t size)
{
	size_t used = strlen(now);

	snprintf(now + used, sizeof(now) - used, "%s%s%s %zu %zu\n", name, *member ? "." : "",
		 member, offset, size);
}

#define PRINT_STRUCT(name) print(#name, "", 0, sizeof(struct name));
#define PRINT_MEMBER(name, member)                                                                 \
	print(#name, #member, offsetof(struct name, member), sizeof(((struct name *)0)->member));

static void print_layout(void)
{
	LAYOUT(PRINT_STRUCT, PRINT_MEMBER)
	print("HD_POLICY_FILES", "", 0, HD_POLICY_FILES);
	print("HD_OPTION_STRING", "", 0, HD_OPTION_STRING);
	print("HD_SPEED_COUNT", "", 0, HD_SPEED_COUNT);
	print("HD_LOG_DEBUG", "", 0, HD_LOG_DEBUG);
}

/* The files are those of machines with pointers of 64 bits. */
static void the_layout_is_that_of_its_number(void **state)
{
	char path[512];

	(void)state;
	if (sizeof(void *) != 8)
		skip();
	print_layout();
	snprintf(path, sizeof(path), ABI_FOLDER "/abi_%d.txt", HD_ENGINE_ABI);
	FILE *file = fopen(path, "r");
	if (file) {
		size_t length = fread(then, 1, sizeof(then) - 1, file);

		then[length] = '\0';
		fclose(file);
	}
	if (strcmp(now, then)) {
		printf("%s", now);
		fail_msg("the layout is not that of %s", path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_layout_is_that_of_its_number)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
