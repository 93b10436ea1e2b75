/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Node name maps: they change names and nothing else, and errors name the line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "read_testing.h"
#include <heddle/base/text.h>

static int rename_nodes(const struct hd_fabric *fabric, const char *map, struct remarks *remarks,
			struct hd_fabric **out, struct hd_error *err)
{
	const struct hd_text text = {.bytes = map, .length = strlen(map), .name = "map"};
	struct hd_log log = {remember, remarks};

	return hd_fabric_rename(fabric, &text, remarks ? &log : NULL, out, err);
}

/* Property: named nodes get their names, the others keep theirs, and all else is equal. */
static void names_change_and_nothing_else(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=2,2 parents=1,2"), *named = NULL;
	struct remarks remarks = {""};
	int rc = rename_nodes(fabric,
			      "# all of them\r\n\r\n0x0000000000200000 \"leaf (rack 7)\" # new\n"
			      "\t100000\t\"node1\"\n0xabcdef \"gone\"\n",
			      &remarks, &named, NULL);
	assert_int_equal(rc, 0);
	assert_string_equal(named->node_name[0], "leaf (rack 7)");
	assert_string_equal(named->node_name[fabric->switch_count], "node1");
	assert_string_equal(named->node_name[1], fabric->node_name[1]);
	assert_says(remarks.text, "map: 1 names are of nodes that the fabric does not have");
	for (uint32_t node = 0; node < fabric->node_count; node++)
		((const char **)(uintptr_t)named->node_name)[node] = fabric->node_name[node];
	assert_same_fabric(fabric, named);
	hd_fabric_free(named);
	hd_fabric_free(fabric);
}

/* Property: a port's GUID names its node, because ibnetdiscover -p prints no others. */
static void a_port_guid_names_its_node(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=2 parents=1"), *named = NULL;
	assert_int_equal(rename_nodes(fabric, "0x100001 \"node1\"\n", NULL, &named, NULL), 0);
	assert_string_equal(named->node_name[fabric->switch_count], "node1");
	hd_fabric_free(named);
	hd_fabric_free(fabric);
}

static void wrong_lines_are_refused_by_number(void **state)
{
	static const char *const bad[] = {"\nspine1 \"s\"\n",	"\n0x200000\n",
					  "\n0x200000 spine\n", "\n0x200000 \"spine\n",
					  "\n0x200000 \"\"\n",	"\n0x200000 \"a\" \"b\"\n",
					  "\n0x0 \"a\"\n",	"\n\"a\" 0x200000\n"};

	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=2 parents=1"), *named = NULL;
	struct hd_error err = {""};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int rc = rename_nodes(fabric, bad[i], NULL, &named, &err);
		assert_refusal(rc, -EINVAL, &err, "map:2: ", "GUID and its name in quotes");
	}
	int rc = rename_nodes(fabric, "0x200000 \"a\"\n0x200000 \"b\"\n", NULL, &named, &err);
	assert_refusal(rc, -EINVAL, &err, "map:2: ", "line 1 names this node already");
	assert_null(named);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_change_and_nothing_else),
	    cmocka_unit_test(a_port_guid_names_its_node),
	    cmocka_unit_test(wrong_lines_are_refused_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
