/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dumps of real clusters, read where they are: sizes as their owners give them, and that what
 * is read survives being written and read again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read_testing.h"

static struct hd_fabric *read_field(const char *name)
{
	char *path = field_file(name);
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	if (!path)
		skip();
	if (hd_fabric_read(path, NULL, &fabric, &err))
		fail_msg("%s", err.text);
	free(path);
	return fabric;
}

static void assert_field(const char *name, uint32_t hosts, uint32_t switches, uint32_t cables)
{
	struct hd_fabric *fabric = read_field(name);

	assert_int_equal(fabric->host_count, hosts);
	assert_int_equal(fabric->switch_count, switches);
	assert_int_equal(fabric->isl_count, 2 * cables);
	char *text = netlist_of(fabric);
	struct hd_fabric *again = parse(text);
	assert_same_fabric(fabric, again);
	hd_fabric_free(again);
	free(text);
	hd_fabric_free(fabric);
}

static void psmn_x5_is_read_whole(void **state)
{
	(void)state;
	assert_field("psmn-x5/X5.topofile", 89, 11, 70);
}

static void ib145_is_read_whole(void **state)
{
	(void)state;
	assert_field("ib145/topo.ibnet", 145, 8, 47);
}

static void avakas_ports_are_read_whole(void **state)
{
	(void)state;
	assert_field("avakas/ibnetdiscover-p.txt", 281, 25, 288);
}

static void the_chic_like_netlist_is_read_whole(void **state)
{
	(void)state;
	assert_field("chic-like/chic.net", 528, 116, 1104);
}

static void avakas_live_tables_fit_its_ports_without_a_gap(void **state)
{
	(void)state;
	struct hd_fabric *fabric = read_field("avakas/ibnetdiscover-p.txt");
	char *folder = field_file("avakas/ibroute");
	assert_non_null(folder);
	const char *paths[] = {folder};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	struct remarks remarks = {""};
	struct hd_log log = {remember, &remarks};
	if (hd_routes_read(paths, 1, fabric, &log, &routes, &err))
		fail_msg("%s", err.text);
	assert_null(strstr(remarks.text, "missing"));
	assert_null(strstr(remarks.text, "have no table"));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			assert_true(fabric->lid_owner[lid] == HD_NONE ||
				    hd_routes_port(routes, sw, lid) != HD_NO_PORT);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	free(folder);
}

static void tables_of_one_cluster_are_refused_for_another(void **state)
{
	(void)state;
	struct hd_fabric *fabric = read_field("ib145/topo.ibnet");
	char *folder = field_file("avakas/ibroute");
	if (!folder) {
		hd_fabric_free(fabric);
		skip();
	}
	const char *paths[] = {folder};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	assert_int_equal(hd_routes_read(paths, 1, fabric, NULL, &routes, &err), -EINVAL);
	assert_says(err.text, "lid1.txt:1: switch 'QLogic 12800-180 GUID=0x00066a00e8001310 L101'");
	assert_says(err.text, "tables of another fabric?");
	assert_null(routes);
	hd_fabric_free(fabric);
	free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(psmn_x5_is_read_whole),
	    cmocka_unit_test(ib145_is_read_whole),
	    cmocka_unit_test(avakas_ports_are_read_whole),
	    cmocka_unit_test(the_chic_like_netlist_is_read_whole),
	    cmocka_unit_test(avakas_live_tables_fit_its_ports_without_a_gap),
	    cmocka_unit_test(tables_of_one_cluster_are_refused_for_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
