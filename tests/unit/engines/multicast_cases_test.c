/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast trees on fabrics that can be checked by hand, and groups that are no groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multicast_testing.h"

/* Property: a tree is no larger than it must be: members of one leaf need that leaf alone, one
 * host of each leaf below one middle switch need no top switch. */
static void small_trees(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4,4 parents=1,4,4");
	struct hd_multicast *multicast = planner(fabric, NULL);
	uint32_t near[] = {fabric->host_port[0], fabric->host_port[1]};
	uint32_t pod[] = {fabric->host_port[0], fabric->host_port[4], fabric->host_port[8]};
	struct hd_multicast_tree *tree = plan(multicast, near, 2, HD_NONE);

	(void)state;
	assert_int_equal(tree->branch_count, 1);
	free(tree);
	tree = plan(multicast, pod, 3, HD_NONE);
	assert_int_equal(tree->branch_count, 4);
	free(tree);
	tree = plan(multicast, pod, 3, pod[0]);
	assert_int_equal(tree->branch_count, 4);
	free(tree);
	hd_multicast_free(multicast);
	hd_fabric_free(fabric);
}

static void add_node(struct hd_builder *builder, enum hd_node_type type, uint64_t guid,
		     uint32_t ports)
{
	struct hd_node_spec spec = {.type = type, .guid = guid, .port_count = ports};
	uint32_t handle;

	assert_int_equal(hd_builder_add_node(builder, &spec, &handle, NULL), 0);
	assert_int_equal(handle, guid - 1);
}

/* Property: the switch that can be the parent of the most is taken.
 *
 *          root          a reaches all three leaves, b reaches x and z, c reaches y:
 *        /  |  \         one parent is enough.
 *       b   c   a
 *      / \  |  /|\
 *     x   z y x y z
 */
static void fewest_parents(void **state)
{
	enum { ROOT, B, C, A, X, Y, Z, FIRST_HOST, NODES = FIRST_HOST + 4 };
	static const uint8_t cables[][2] = {{ROOT, A}, {ROOT, B}, {ROOT, C}, {A, X}, {A, Y},
					    {A, Z},    {B, X},	  {B, Z},    {C, Y}};
	struct hd_builder *builder = hd_builder_new();
	uint32_t used[FIRST_HOST] = {0};
	struct hd_fabric *fabric = NULL;
	(void)state;
	for (uint32_t node = 0; node < NODES; node++)
		add_node(builder, node < FIRST_HOST ? HD_SWITCH : HD_CA, node + 1,
			 node < FIRST_HOST ? 8 : 1);
	for (size_t i = 0; i < sizeof(cables) / sizeof(*cables); i++)
		assert_int_equal(hd_builder_link(builder, cables[i][0], ++used[cables[i][0]],
						 cables[i][1], ++used[cables[i][1]], 4,
						 HD_SPEED_EDR, NULL),
				 0);
	for (uint32_t host = 0; host < 4; host++) {
		uint32_t leaf = host ? X + host - 1 : ROOT;
		assert_int_equal(hd_builder_link(builder, leaf, ++used[leaf], FIRST_HOST + host, 1,
						 4, HD_SPEED_EDR, NULL),
				 0);
	}
	assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
	hd_builder_free(builder);
	struct hd_multicast *multicast = planner(fabric, NULL);
	struct hd_multicast_tree *tree =
	    plan(multicast, fabric->host_port, 4, hd_port_index(fabric, FIRST_HOST, 1));
	assert_int_equal(tree->branch_count, 5);
	assert_int_equal(tree->branches[0].sw, ROOT);
	assert_non_null(branch_at(tree, A));
	free(tree);
	hd_multicast_free(multicast);
	hd_fabric_free(fabric);
}

/* Property: fewer than two ends need no tree, a lone member and a source elsewhere do. */
static void few_members(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2");
	struct hd_multicast *multicast = planner(fabric, NULL);
	uint32_t first = fabric->host_port[0], last = fabric->host_port[15];
	uint32_t twice[] = {first, first};
	struct hd_multicast_tree *tree = plan(multicast, NULL, 0, HD_NONE);

	(void)state;
	assert_int_equal(tree->branch_count, 0);
	free(tree);
	tree = plan(multicast, twice, 2, HD_NONE);
	assert_int_equal(tree->branch_count, 0);
	free(tree);
	tree = plan(multicast, &first, 1, first);
	assert_int_equal(tree->branch_count, 0);
	free(tree);
	tree = plan(multicast, &first, 1, last);
	assert_int_equal(tree->branch_count, 3);
	assert_delivered(fabric, tree, &first, 1, last);
	free(tree);
	hd_multicast_free(multicast);
	hd_fabric_free(fabric);
}

/* Property: where the fabric is in parts the most members are served and the rest counted. */
static void members_out_of_reach(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2");
	bool *forwards = malloc(fabric->switch_count);
	struct hd_multicast *multicast;
	struct hd_multicast_tree *tree;

	(void)state;
	memset(forwards, true, fabric->switch_count);
	for (uint32_t link = fabric->isl_base[fabric->host_switch[0]];
	     link < fabric->isl_base[fabric->host_switch[0] + 1]; link++)
		forwards[fabric->isl_to[link]] = false; /* every spine */
	multicast = planner(fabric, forwards);
	/* three on the last leaf, two on the first */
	tree = plan(multicast,
		    (const uint32_t[]){fabric->host_port[0], fabric->host_port[1],
				       fabric->host_port[12], fabric->host_port[13],
				       fabric->host_port[14]},
		    5, HD_NONE);
	assert_int_equal(tree->branch_count, 1);
	assert_int_equal(tree->branches[0].sw, fabric->host_switch[12]);
	assert_int_equal(tree->left_out, 2);
	assert_delivered(fabric, tree, fabric->host_port + 12, 3, fabric->host_port[12]);
	free(tree);
	/* a switch that cannot do multicast cannot be a member either */
	tree = plan(
	    multicast,
	    (const uint32_t[]){hd_port_index(fabric, fabric->isl_to[0], 0), fabric->host_port[0]},
	    2, HD_NONE);
	assert_int_equal(tree->branch_count, 0);
	hd_multicast_free(multicast);
	free(tree);
	free(forwards);
	hd_fabric_free(fabric);
}

/* Property: a port that the fabric does not have is refused by name and leaves nothing behind. */
static void bad_ports(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2");
	struct hd_multicast *multicast = planner(fabric, NULL);
	uint32_t members[] = {fabric->host_port[0], fabric->port_count};
	struct hd_multicast_group group = {members, 2, HD_NONE};
	struct hd_multicast_tree *tree = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_multicast_plan(multicast, &group, &tree, &err), -EINVAL);
	assert_null(tree);
	assert_non_null(strstr(err.text, "member port"));
	group = (struct hd_multicast_group){members, 1, fabric->port_count};
	assert_int_equal(hd_multicast_plan(multicast, &group, &tree, &err), -EINVAL);
	assert_non_null(strstr(err.text, "source port"));
	tree = plan(multicast, &fabric->host_port[15], 1, HD_NONE);
	assert_int_equal(tree->branch_count, 0); /* and not joined by the first host */
	free(tree);
	hd_multicast_free(multicast);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(small_trees), cmocka_unit_test(fewest_parents),
	    cmocka_unit_test(few_members), cmocka_unit_test(members_out_of_reach),
	    cmocka_unit_test(bad_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
