/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Machines: grouping by each source against a slow one of pairs, the order of rails, refusals. */
#include <errno.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "generate_testing.h"

#include <heddle/base/random.h>
#include <heddle/base/text.h>
#include <heddle/fabric/builder.h>

/* ---- one switch with adapters ---- */

struct adapter {
	const char *name;
	uint64_t system;
	unsigned ports;
};

#define SWITCH_SYSTEM 0x50

static struct hd_fabric *one_switch(const struct adapter *adapters, uint32_t count)
{
	struct hd_builder *builder = hd_builder_new();
	struct hd_node_spec spec = {.type = HD_SWITCH,
				    .guid = 0x50,
				    .system_guid = SWITCH_SYSTEM,
				    .port_count = 200,
				    .name = "leaf"};
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};
	uint32_t sw, node, port = 1;

	assert_int_equal(hd_builder_add_node(builder, &spec, &sw, &err), 0);
	for (uint32_t i = 0; i < count; i++) {
		unsigned ports = adapters[i].ports;
		spec = (struct hd_node_spec){.type = HD_CA,
					     .guid = 0x1000 + 0x10 * i,
					     .system_guid = adapters[i].system,
					     .port_count = ports,
					     .name = adapters[i].name};
		assert_int_equal(hd_builder_add_node(builder, &spec, &node, &err), 0);
		for (unsigned p = 1; p <= ports; p++)
			assert_int_equal(
			    hd_builder_link(builder, sw, port++, node, p, 4, HD_SPEED_EDR, &err),
			    0);
	}
	hd_builder_assign_lids(builder, 0);
	if (hd_builder_build(builder, &fabric, &err))
		fail_msg("%s", err.text);
	hd_builder_free(builder);
	return fabric;
}

static const char *name_of(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_name[fabric->port_node[fabric->host_port[host]]];
}

static struct hd_machines *find(const struct hd_fabric *fabric, enum hd_machines_by by)
{
	struct hd_machines *machines = NULL;
	struct hd_error err = {""};

	if (hd_machines_find(fabric, by, &machines, &err))
		fail_msg("%s", err.text);
	return machines;
}

static void assert_no_machines(const struct hd_fabric *fabric, enum hd_machines_by by,
			       const char *reason)
{
	struct hd_machines *machines = NULL;
	struct hd_error err = {""};

	assert_int_equal(hd_machines_find(fabric, by, &machines, &err), -ENODATA);
	assert_null(machines);
	if (!strstr(err.text, reason))
		fail_msg("'%s' does not say '%s'", err.text, reason);
}

/* Both arrays say the same, machines are ordered by their first hosts, and none is empty. */
static void assert_whole(const struct hd_fabric *fabric, const struct hd_machines *machines)
{
	uint32_t before = 0;

	assert_int_equal(machines->base[machines->count], fabric->host_count);
	for (uint32_t i = 0; i < machines->count; i++) {
		uint32_t first = HD_NONE;
		assert_true(hd_machines_size(machines, i) > 0);
		assert_non_null(machines->name[i]);
		for (uint32_t at = machines->base[i]; at < machines->base[i + 1]; at++) {
			assert_int_equal(machines->of_host[machines->host[at]], i);
			first = machines->host[at] < first ? machines->host[at] : first;
		}
		assert_true(!i || first > before);
		before = first;
	}
}

/* ---- rail trees ---- */

/* Every source finds the machines of a rail tree, in the order of its rails. */
static void assert_rail_tree(const char *settings, enum hd_machines_by asked,
			     enum hd_machines_by found)
{
	struct hd_fabric *fabric = generate("rail-tree", settings);
	struct hd_machines *machines = find(fabric, asked);

	assert_whole(fabric, machines);
	assert_int_equal(machines->by, found);
	assert_int_equal(machines->count, 5);
	for (uint32_t i = 0; i < machines->count; i++) {
		char wanted[32];
		assert_int_equal(hd_machines_size(machines, i), 12);
		snprintf(wanted, sizeof(wanted), "gpu%02u", i + 1);
		assert_string_equal(machines->name[i], wanted);
		for (uint32_t rail = 0; rail < 12; rail++) {
			snprintf(wanted, sizeof(wanted), "gpu%02u mlx5_%u", i + 1, rail);
			assert_string_equal(
			    name_of(fabric, machines->host[machines->base[i] + rail]), wanted);
		}
	}
	hd_machines_free(machines);
	hd_fabric_free(fabric);
}

#define RAILS "machines=5 adapters=12 spines=1 "

static void rail_trees_have_their_machines(void **state)
{
	(void)state;
	assert_rail_tree(RAILS, HD_MACHINES_NAME, HD_MACHINES_NAME);
	assert_rail_tree(RAILS, HD_MACHINES_SYSTEM_GUID, HD_MACHINES_SYSTEM_GUID);
	assert_rail_tree(RAILS, HD_MACHINES_AUTO, HD_MACHINES_SYSTEM_GUID);
	assert_rail_tree(RAILS "system-guids=adapter", HD_MACHINES_AUTO, HD_MACHINES_NAME);
	assert_rail_tree(RAILS "system-guids=none", HD_MACHINES_AUTO, HD_MACHINES_NAME);
}

/* Aggregation nodes have the system image GUIDs of their switches, and are in no machine. */
static void aggregation_nodes_are_in_no_machine(void **state)
{
	struct hd_fabric *fabric = generate("rail-tree", "machines=3 adapters=2 spines=1"),
			 *with = NULL;

	(void)state;
	assert_int_equal(hd_fabric_add_aggregation(fabric, &with, NULL), 0);
	struct hd_machines *machines = find(with, HD_MACHINES_SYSTEM_GUID);
	assert_whole(with, machines);
	assert_int_equal(machines->count, 3);
	assert_int_equal(with->aside_count, 3);
	hd_machines_free(machines);
	hd_fabric_free(with);
	hd_fabric_free(fabric);
}

/* ---- what cannot be ---- */

static void useless_sources_are_refused_with_the_reason(void **state)
{
	static const struct adapter same_name[] = {
	    {"localhost mlx5_0", 0, 1}, {"localhost mlx5_0", 0, 1}, {"localhost mlx5_1", 0, 1}};
	static const struct adapter no_form[] = {
	    {"MT25408 ConnectX Mellanox Technologies", 1, 1}, {"gpu1", 2, 1}, {"node 17", 3, 1}};
	static const struct adapter shared[] = {{"gpu1 mlx5_0", 7, 1}, {"gpu2 mlx5_0", 7, 1}};

	(void)state;
	struct hd_fabric *fabric = one_switch(same_name, 3);
	assert_no_machines(fabric, HD_MACHINES_NAME,
			   "two adapters are called 'localhost mlx5_0', GUIDs 0x1000 and 0x1010");
	assert_no_machines(fabric, HD_MACHINES_SYSTEM_GUID, "no adapter has a system image GUID");
	struct hd_machines *machines = find(fabric, HD_MACHINES_AUTO);
	assert_int_equal(machines->by, HD_MACHINES_ALONE);
	assert_int_equal(machines->count, 3);
	assert_non_null(strstr(machines->why, "names: two adapters are called"));
	assert_non_null(strstr(machines->why, "; system image GUIDs: no adapter has"));
	hd_machines_free(machines);
	hd_fabric_free(fabric);
	fabric = one_switch(no_form, 3);
	assert_no_machines(fabric, HD_MACHINES_NAME, "no two adapters have names of one machine");
	assert_no_machines(fabric, HD_MACHINES_SYSTEM_GUID, "no two adapters share");
	hd_fabric_free(fabric);
	fabric = one_switch(shared, 2);
	assert_no_machines(fabric, HD_MACHINES_SYSTEM_GUID,
			   "'gpu1 mlx5_0' and 'gpu2 mlx5_0' have the same system image GUID 0x7");
	hd_fabric_free(fabric);
}

/* One GUID for all adapters of a fabric is no machine of a hundred adapters. */
static void a_guid_of_too_many_ports_is_refused(void **state)
{
	struct adapter adapters[HD_MACHINE_PORTS_MAX + 1];

	(void)state;
	for (uint32_t i = 0; i <= HD_MACHINE_PORTS_MAX; i++)
		adapters[i] = (struct adapter){"adapter", 9, 1};
	struct hd_fabric *fabric = one_switch(adapters, HD_MACHINE_PORTS_MAX + 1);
	assert_no_machines(
	    fabric, HD_MACHINES_SYSTEM_GUID,
	    "65 ports have the system image GUID 0x9, more than the 64 of a machine");
	hd_fabric_free(fabric);
	fabric = one_switch(adapters, HD_MACHINE_PORTS_MAX);
	struct hd_machines *machines = find(fabric, HD_MACHINES_SYSTEM_GUID);
	assert_int_equal(machines->count, 1);
	hd_machines_free(machines);
	hd_fabric_free(fabric);
}

/* ---- forms of names ---- */

static void names_of_all_forms_are_split(void **state)
{
	static const struct adapter adapters[] = {
	    {"a mlx5_10", 0, 1},	{"a mlx5_9", 0, 1},   {"b.site.org HCA-2", 0, 1},
	    {"b.site.org HCA-1", 0, 1}, {"c-mlx5_0", 0, 1},   {"c-mlx5_1", 0, 1},
	    {"d-12/rail1", 0, 1},	{"d-12/rail0", 0, 1}, {"e mlx5_0", 0, 2},
	    {"e mlx5_bond_0", 0, 1},	{"f_ib0", 0, 1},      {"f_ib1", 0, 1},
	};
	static const char *const order[] = {
	    "a mlx5_9", "a mlx5_10", "b.site.org HCA-1", "b.site.org HCA-2",
	    "c-mlx5_0", "c-mlx5_1",  "d-12/rail0",	 "d-12/rail1",
	    "e mlx5_0", "e mlx5_0",  "e mlx5_bond_0",	 "f_ib0",
	    "f_ib1"};
	static const char *const names[] = {"a", "b.site.org", "c", "d-12", "e", "f"};

	(void)state;
	struct hd_fabric *fabric = one_switch(adapters, sizeof(adapters) / sizeof(*adapters));
	struct hd_machines *machines = find(fabric, HD_MACHINES_NAME);
	assert_whole(fabric, machines);
	assert_int_equal(machines->count, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_string_equal(machines->name[i], names[i]);
	for (uint32_t i = 0; i < fabric->host_count; i++)
		assert_string_equal(name_of(fabric, machines->host[i]), order[i]);
	hd_machines_free(machines);
	hd_fabric_free(fabric);
}

/* ---- random adapters against pairs ---- */

/* The words for random names: few, so that many adapters meet. */
static const char *random_name(uint64_t *random, char *name, size_t size)
{
	static const char *const forms[] = {"gpu%u mlx5_%u", "gpu%u HCA-%u", "gpu%u",
					    "MT4123 ConnectX%u card %u", "n%u/rail%u"};
	unsigned form = (unsigned)hd_random_below(random, 5);
	unsigned machine = (unsigned)hd_random_below(random, 6);
	unsigned device = (unsigned)hd_random_below(random, 400);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(name, size, forms[form], machine, device);
#pragma GCC diagnostic pop
	return name;
}

/* The machine in a name, by a regular expression; false: none. */
static bool slow_machine(const char *full, char *machine)
{
	static regex_t form;
	static bool ready;
	regmatch_t found[2];

	if (!ready)
		assert_int_equal(
		    regcomp(&form,
			    "^(.*[^ ])( +[^ 0-9][^ ]*|[-_/:.](mlx[45]_|rail|ib|HCA-?))[0-9]+$",
			    REG_EXTENDED),
		    0);
	ready = true;
	bool has = !regexec(&form, full, 2, found, 0);
	if (has)
		snprintf(machine, HD_NAME_SIZE, "%.*s", (int)found[1].rm_eo, full);
	return has;
}

static bool slow_by_name(const struct hd_fabric *fabric, uint32_t a, uint32_t b)
{
	char one[HD_NAME_SIZE], other[HD_NAME_SIZE];

	return slow_machine(name_of(fabric, a), one) && slow_machine(name_of(fabric, b), other) &&
	       !strcmp(one, other);
}

static bool slow_by_system(const struct hd_fabric *fabric, uint32_t a, uint32_t b)
{
	uint64_t one = fabric->system_guid[fabric->port_node[fabric->host_port[a]]];
	uint64_t other = fabric->system_guid[fabric->port_node[fabric->host_port[b]]];

	return one == other && one && one != SWITCH_SYSTEM;
}

/* Two hosts are in one machine exactly if the slow rule says so, or if they are one adapter's. */
static void assert_pairs(const struct hd_fabric *fabric, const struct hd_machines *machines,
			 bool (*slow)(const struct hd_fabric *, uint32_t, uint32_t))
{
	assert_whole(fabric, machines);
	for (uint32_t a = 0; a < fabric->host_count; a++)
		for (uint32_t b = 0; b < a; b++) {
			bool one = fabric->port_node[fabric->host_port[a]] ==
				   fabric->port_node[fabric->host_port[b]];
			assert_int_equal(machines->of_host[a] == machines->of_host[b],
					 one || slow(fabric, a, b));
		}
}

static struct hd_fabric *random_adapters(uint64_t *random, char (*names)[HD_NAME_SIZE])
{
	uint32_t count = 2 + (uint32_t)hd_random_below(random, 40);
	struct adapter adapters[42];

	for (uint32_t i = 0; i < count; i++)
		adapters[i] = (struct adapter){
		    .name = random_name(random, names[i], HD_NAME_SIZE),
		    .system = hd_random_below(random, 4) ? 0x4C + hd_random_below(random, 9) : 0,
		    .ports = 1 + (hd_random_below(random, 4) == 0)};
	return one_switch(adapters, count);
}

static void random_adapters_are_grouped_as_pairs_say(void **state)
{
	static char names[42][HD_NAME_SIZE];
	uint64_t random = 1;
	unsigned named = 0, grouped = 0;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct hd_fabric *fabric = random_adapters(&random, names);
		struct hd_machines *machines = NULL;
		if (!hd_machines_find(fabric, HD_MACHINES_NAME, &machines, NULL)) {
			assert_pairs(fabric, machines, slow_by_name);
			named++;
		}
		hd_machines_free(machines);
		machines = NULL;
		if (!hd_machines_find(fabric, HD_MACHINES_SYSTEM_GUID, &machines, NULL)) {
			assert_pairs(fabric, machines, slow_by_system);
			grouped++;
		}
		hd_machines_free(machines);
		hd_fabric_free(fabric);
	}
	assert_true(named > 100 && grouped > 10);
}

/* ---- files ---- */

static const struct adapter three[] = {{"x mlx5_0", 0, 1}, {"y", 0, 1}, {"z", 0, 1}, {"w", 0, 1}};

static int parse(const struct hd_fabric *fabric, const char *text, struct hd_machines **out,
		 struct hd_error *err)
{
	*err = (struct hd_error){""};
	*out = NULL;
	return hd_machines_parse(fabric, text, strlen(text), "file", out, err);
}

static void a_file_says_machines_and_rails(void **state)
{
	struct hd_fabric *fabric = one_switch(three, 4);
	struct hd_machines *machines;
	struct hd_error err;

	(void)state;
	assert_int_equal(
	    parse(fabric, "z one # comment\n\"x mlx5_0\" one\n0x1010 'b'\n", &machines, &err), 0);
	assert_whole(fabric, machines);
	assert_int_equal(machines->by, HD_MACHINES_FILE);
	assert_int_equal(machines->count, 3);
	assert_string_equal(machines->name[0], "one");
	assert_string_equal(machines->name[1], "'b'");
	assert_string_equal(machines->name[2], "w");
	assert_int_equal(hd_machines_size(machines, 0), 2);
	assert_string_equal(name_of(fabric, machines->host[0]), "z");
	assert_string_equal(name_of(fabric, machines->host[1]), "x mlx5_0");
	hd_machines_free(machines);
	hd_fabric_free(fabric);
}

static void bad_files_are_refused_with_the_line(void **state)
{
	static const struct {
		const char *text, *reason;
		int rc;
	} cases[] = {
	    {"z one\nz two\n", "file:2: adapter 'z' is listed twice", -EINVAL},
	    {"z\n", "file:1: expected `ADAPTER MACHINE`", -EINVAL},
	    {"z one two\n", "file:1: expected `ADAPTER MACHINE`", -EINVAL},
	    {"\n\nq one\n", "file:3: ", -EINVAL},
	    {"# nothing\n", "file: the file has no adapter", -ENODATA},
	};
	struct hd_fabric *fabric = one_switch(three, 4);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hd_machines *machines;
		struct hd_error err;
		assert_int_equal(parse(fabric, cases[i].text, &machines, &err), cases[i].rc);
		assert_null(machines);
		if (!strstr(err.text, cases[i].reason))
			fail_msg("'%s' does not say '%s'", err.text, cases[i].reason);
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rail_trees_have_their_machines),
	    cmocka_unit_test(aggregation_nodes_are_in_no_machine),
	    cmocka_unit_test(useless_sources_are_refused_with_the_reason),
	    cmocka_unit_test(a_guid_of_too_many_ports_is_refused),
	    cmocka_unit_test(names_of_all_forms_are_split),
	    cmocka_unit_test(random_adapters_are_grouped_as_pairs_say),
	    cmocka_unit_test(a_file_says_machines_and_rails),
	    cmocka_unit_test(bad_files_are_refused_with_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
