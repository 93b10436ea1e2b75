/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slurm's topology.conf: names in short form, each node once, and what has no name is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "read_testing.h"

static int write_slurm(const struct hd_fabric *fabric, char **text, struct hd_error *err)
{
	size_t length = 0;
	FILE *stream = open_memstream(text, &length);
	int rc = hd_fabric_write_slurm(fabric, stream, err);

	fclose(stream);
	return rc;
}

/* A fabric of one switch, with an adapter of each name. */
static struct hd_fabric *leaf_with(const char *const *names, unsigned count)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	fprintf(stream, "Switch 36 \"S1\" # \"leaf one\"\n");
	for (unsigned i = 0; i < count; i++)
		fprintf(stream, "[%u] \"H%u\"[1]\n", i + 1, i);
	for (unsigned i = 0; i < count; i++)
		fprintf(stream, "\nHca 1 \"H%u\" # \"%s\"\n[1] \"S1\"[%u]\n", i, names[i], i + 1);
	fclose(stream);
	struct hd_fabric *fabric = parse(text);
	free(text);
	return fabric;
}

static void assert_nodes(const char *const *names, unsigned count, const char *expected)
{
	struct hd_fabric *fabric = leaf_with(names, count);
	char *text = NULL;

	assert_int_equal(write_slurm(fabric, &text, NULL), 0);
	assert_says(text, expected);
	free(text);
	hd_fabric_free(fabric);
}

#define ASSERT_NODES(expected, ...)                                                                \
	do {                                                                                       \
		static const char *const names[] = {__VA_ARGS__};                                  \
		assert_nodes(names, sizeof(names) / sizeof(*names), "Nodes=" expected "\n");       \
	} while (0)

/* Property: names that differ in their last number share brackets, and zeros in front are kept. */
static void names_are_listed_in_short_form(void **state)
{
	(void)state;
	ASSERT_NODES("n[1-3]", "n3 HCA-1", "n1 HCA-1", "n2 HCA-1");
	ASSERT_NODES("n[08-10,12]", "n08", "n09", "n10", "n12");
	ASSERT_NODES("n[9-10]", "n10", "n9");
	ASSERT_NODES("n[9,010]", "n010", "n9");
	ASSERT_NODES("n[099-100]", "n099", "n100");
	ASSERT_NODES("a1,b1-ib,c", "c", "b1-ib", "a1");
	ASSERT_NODES("n1-[1-2],n2-1", "n1-1", "n1-2", "n2-1");
	ASSERT_NODES("n[1,001]", "n001", "n1");
	ASSERT_NODES("n000[111111111-111111112]", "n000111111111", "n000111111112");
	ASSERT_NODES("[7-8]", "7", "8");
}

/* Property: a machine with two adapters is one node. */
static void a_machine_with_two_adapters_is_one_node(void **state)
{
	(void)state;
	ASSERT_NODES("n[1-2]", "n1 mlx5_0", "n1 mlx5_1", "n2 mlx5_0");
	static const char *const names[] = {"n1 mlx5_0", "n1 mlx5_1"};
	assert_nodes(names, 2, "# 1 adapter ports are left out");
}

/* Property: characters that mean something to Slurm do not get into the names of switches. */
static void a_switch_has_a_name_without_blanks(void **state)
{
	(void)state;
	static const char *const names[] = {"n1"};
	assert_nodes(names, 1, "SwitchName=leaf_one Nodes=n1\n");
}

/* Property: switches of one name keep apart by their GUIDs. */
static void switches_of_one_name_differ(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    parse("Switch 3 \"S1\" # \"sw\"\n[1] \"H1\"[1]\n[3] \"S2\"[3]\n"
		  "Switch 3 \"S2\" # \"sw\"\n[1] \"H2\"[1]\n[3] \"S1\"[3]\n"
		  "Hca 1 \"H1\" # \"a\"\n[1] \"S1\"[1]\nHca 1 \"H2\" # \"b\"\n[1] \"S2\"[1]\n");
	char *text = NULL;
	assert_int_equal(write_slurm(fabric, &text, NULL), 0);
	assert_says(text, "SwitchName=sw-0000000000200000 Nodes=a\n");
	assert_says(text, "SwitchName=sw-0000000000200001 Nodes=b\n");
	assert_says(text, "SwitchName=level0-1 Switches=sw-0000000[000200000-000200001]\n");
	free(text);
	hd_fabric_free(fabric);
}

/* Property: a single switch above two leaves has its own name, and is their parent. */
static void a_single_spine_keeps_its_name(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=2,2 parents=1,1");
	char *text = NULL;
	assert_int_equal(write_slurm(fabric, &text, NULL), 0);
	assert_says(text, "SwitchName=S2_0 Switches=S1_[0-1]\n");
	free(text);
	hd_fabric_free(fabric);
}

/* Property: a node without a name for Slurm is refused by its GUID. */
static void a_node_without_a_name_is_refused(void **state)
{
	(void)state;
	static const char *const names[] = {"a,b"};
	struct hd_fabric *fabric = leaf_with(names, 1);
	struct hd_error err = {""};
	char *text = NULL;
	assert_int_equal(write_slurm(fabric, &text, &err), -EINVAL);
	assert_says(err.text, "node 0x");
	assert_says(err.text, "is called 'a,b'");
	free(text);
	hd_fabric_free(fabric);
}

/* Property: each leaf has a weight of its own, and those of a pod follow one another. */
static void leaves_have_ascending_weights(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,2,2 parents=1,2,2");
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	(void)state;
	assert_int_equal(hd_fabric_write_slurm_weights(fabric, stream, NULL), 0);
	fclose(stream);
	assert_string_equal(text, "# For slurm.conf, behind NodeName=DEFAULT: 8 nodes on 4 leaf "
				  "switches\n"
				  "NodeName=H_0_0_[0-1] Weight=1\nNodeName=H_0_1_[0-1] Weight=2\n"
				  "NodeName=H_1_0_[0-1] Weight=3\nNodeName=H_1_1_[0-1] Weight=4\n");
	free(text);
	hd_fabric_free(fabric);
}

/* Property: a block has the nodes of a leaf; sizes double while joined blocks keep to the pods. */
static void blocks_are_leaves(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,6,2 parents=1,2,2");
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	(void)state;
	assert_int_equal(hd_fabric_write_slurm_blocks(fabric, stream, NULL), 0);
	fclose(stream);
	assert_says(text,
		    "\nBlockName=S1_0_5 Nodes=H_0_5_[0-1]\nBlockName=S1_1_0 Nodes=H_1_0_[0-1]\n");
	assert_says(text, "\nBlockSizes=2,4\n");
	free(text);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_listed_in_short_form),
	    cmocka_unit_test(a_machine_with_two_adapters_is_one_node),
	    cmocka_unit_test(a_switch_has_a_name_without_blanks),
	    cmocka_unit_test(switches_of_one_name_differ),
	    cmocka_unit_test(a_single_spine_keeps_its_name),
	    cmocka_unit_test(a_node_without_a_name_is_refused),
	    cmocka_unit_test(leaves_have_ascending_weights),
	    cmocka_unit_test(blocks_are_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
