/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every reader with each of its allocations failing in turn: always -ENOMEM, never half a result.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "levels_testing.h"
#include "short_memory.h"
#include <heddle/base/text.h>

/* One text, and what is read from it. */
struct reading {
	const char *text;
	const char *path; /* of a file or folder; NULL: the text is read */
	const struct hd_fabric *known; /* whose tables these are */
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_mfts *mfts;
	uint64_t *guids;
	struct hd_port_ref *refs;
	uint32_t count;
	/* the same when memory is plenty */
	const struct hd_fabric *expected_fabric;
	const struct hd_routes *expected_routes;
	uint32_t expected_count;
};

typedef int read_fn(void *context, struct hd_error *err);

static void forget(struct reading *reading)
{
	hd_fabric_free(reading->fabric);
	hd_routes_free(reading->routes);
	hd_mfts_free(reading->mfts);
	free(reading->guids);
	free(reading->refs);
	reading->fabric = NULL;
	reading->routes = NULL;
	reading->mfts = NULL;
	reading->guids = NULL;
	reading->refs = NULL;
}

static void settle(void *context, int rc)
{
	struct reading *reading = context;
	bool any =
	    reading->fabric || reading->routes || reading->mfts || reading->guids || reading->refs;

	assert_int_equal(any, !rc);
	if (!rc && reading->fabric)
		assert_same_fabric(reading->fabric, reading->expected_fabric);
	if (!rc && reading->routes)
		assert_true(hd_routes_equal(reading->routes, reading->expected_routes));
	if (!rc)
		assert_int_equal(reading->count, reading->expected_count);
	forget(reading);
}

/* Reads once when memory is plenty, and then with all allocations failing in turn. */
static void try_reading(const char *what, read_fn *call, struct reading *reading)
{
	struct reading plenty = *reading;
	struct hd_error err = {""};

	if (call(&plenty, &err))
		fail_msg("%s: %s", what, err.text);
	reading->expected_fabric = plenty.fabric;
	reading->expected_routes = plenty.routes;
	reading->expected_count = plenty.count;
	struct short_memory_case tried = {what, reading, call, settle, 0};
	assert_true(short_memory_try(&tried) > 0);
	forget(&plenty);
}

/* ---- topologies ---- */

static int read_fabric(void *context, struct hd_error *err)
{
	struct reading *reading = context;

	return reading->path ? hd_fabric_read(reading->path, NULL, &reading->fabric, err)
			     : hd_fabric_parse(reading->text, strlen(reading->text), "topology",
					       NULL, &reading->fabric, err);
}

#define PORT_ROW(kind, lid, port, guid, far_kind, far_lid, far_port, far_guid, name, far_name)     \
	kind "   " lid " " port " " guid " 4x EDR - " far_kind "   " far_lid " " far_port          \
	     " " far_guid " ( '" name "' - '" far_name "' )\n"
#define LEAF_GUID "0x0000000000200000"
#define SPINE_GUID "0x0000000000200010"
#define HOST_GUID "0x0000000000100001"

/* A host with two ports at a leaf, and a spine. */
static const char ports_text[] =
    PORT_ROW("SW", "1", "1", LEAF_GUID, "CA", "3", "1", HOST_GUID, "leaf", "host")
	PORT_ROW("SW", "1", "2", LEAF_GUID, "CA", "4", "2", "0x0000000000100002", "leaf", "host")
	    PORT_ROW("SW", "1", "3", LEAF_GUID, "SW", "2", "1", SPINE_GUID, "leaf", "spine")
		PORT_ROW("SW", "2", "1", SPINE_GUID, "SW", "1", "3", LEAF_GUID, "spine", "leaf")
		    PORT_ROW("CA", "3", "1", HOST_GUID, "SW", "1", "1", LEAF_GUID, "host", "leaf")
			PORT_ROW("CA", "4", "2", "0x0000000000100002", "SW", "1", "2", LEAF_GUID,
				 "host", "leaf");

#define LST_END(kind, ports, guid, name, lid, port)                                                \
	"{ " kind " Ports:" ports " SystemGUID:" guid " NodeGUID:" guid " PortGUID:" guid          \
	" VenID:0002C9 DevID:C738 Rev:000000A1 {" name "} LID:" lid " PN:" port " } "
#define LST_LEAF(port) LST_END("SW", "24", "0000000000200000", "leaf", "0001", port)

static const char lst_text[] = LST_LEAF("01") LST_END(
    "CA", "01", "0000000000100001", "host", "0003", "01") "PHY=4x LOG=ACT SPD=25\n" LST_LEAF("03")
    LST_END("SW", "24", "0000000000200010", "spine", "0002", "01") "PHY=4x LOG=ACT SPD=25\n";

#define LINK_ROW(lid, port, far_lid, far_port, far_name)                                           \
	lid " " port "[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==> " far_lid " " far_port         \
	    "[  ] \"" far_name "\" ( )\n"

static const char linkinfo_text[] =
    "Switch: " LEAF_GUID " leaf:\n" LINK_ROW("1", "1", "3", "1", "host")
	LINK_ROW("1", "3", "2", "1", "spine") "Switch: " SPINE_GUID " spine:\n" LINK_ROW(
	    "2", "1", "1", "3", "leaf") "CA: host:\n" HOST_GUID
					" " LINK_ROW("3", "1", "1", "1", "leaf");

/* Nodes with names in place of GUIDs, as in netlists that people write. */
static const char netlist_text[] = "Switch 4 \"leaf\"\n[1] \"host\"[1]\n[3] \"spine\"[1]\n\n"
				   "Switch 4 \"spine\"\n[1] \"leaf\"[3]\n\nHca 1 \"host\"\n[1] "
				   "\"leaf\"[1]\n";

/* Property: topologies of every dialect, from memory and from a file. */
static void topologies(void **state)
{
	static const struct {
		const char *dialect, *text;
	} texts[] = {{"ibnetdiscover", levels_topology},
		     {"ibnetdiscover -p", ports_text},
		     {".lst", lst_text},
		     {"iblinkinfo", linkinfo_text},
		     {"netlist", netlist_text}};
	struct scratch scratch = scratch_new();

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *path = scratch_file(&scratch, "topology", texts[i].text);
		try_reading(texts[i].dialect, read_fabric,
			    &(struct reading){.text = texts[i].text});
		try_reading(texts[i].dialect, read_fabric, &(struct reading){.path = path});
		scratch_drop(path);
	}
	scratch_free(&scratch);
}

/* ---- names ---- */

static int rename_nodes(void *context, struct hd_error *err)
{
	struct reading *reading = context;
	const struct hd_text map = {
	    .bytes = reading->text, .length = strlen(reading->text), .name = "map"};

	return hd_fabric_rename(reading->known, &map, NULL, &reading->fabric, err);
}

/* Property: a node name map. */
static void name_maps(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(ports_text);
	try_reading("name map", rename_nodes,
		    &(struct reading){.text = LEAF_GUID " \"leaf (rack 7)\"\n", .known = fabric});
	hd_fabric_free(fabric);
}

/* ---- tables ---- */

static int read_tables(void *context, struct hd_error *err)
{
	struct reading *reading = context;

	return reading->path
		   ? hd_routes_read(&reading->path, 1, reading->known, NULL, &reading->routes, err)
		   : hd_routes_parse(reading->text, strlen(reading->text), "tables", reading->known,
				     NULL, &reading->routes, err);
}

#define DUMP_TEXT                                                                                  \
	"Unicast lids [0-8] of switch Lid 1 guid 0x0000000000200000 ('leaf1'):\n"                  \
	"0x0006 003 # Channel Adapter portguid 0x0000000000100003: 'h2'\n8 lids dumped\n"

static const char *const table_texts[] = {
    DUMP_TEXT,
    "Unicast lids [0x0-0x8] of switch Lid 1 guid 0x0000000000200000 (leaf1):\n"
    "  Lid  Out   Destination\n       Port     Info \n"
    "0x0006 003 : (Channel Adapter portguid 0x0000000000100003: 'h2')\n1 valid lids dumped \n",
    "osm_ucast_mgr_dump_ucast_routes: Switch 0x0000000000200000\n"
    "LID    : Port : Hops : Optimal\n0x0006 : 003  : 02   : yes\n",
    DUMP_TEXT "SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
	      "Service levels at switch guid 0x0000000000200000 ('leaf1'):\n"
	      "0x0006 1\n1 runs dumped\n1 switches dumped\n",
    DUMP_TEXT "0x0000000000100000 6 1\n0x0000000000100004 6 1\n",
    DUMP_TEXT "Channel Adapter 0x0000000000100001, base LID 4, \"h1\"\n0x0006 : 1\n",
    DUMP_TEXT "0x0000000000200000 4 3 0x01 0x21 0x45 0x67 0x89 0xab 0xcd 0xef\n",
    DUMP_TEXT "Switch 0x00000000002000aa, base LID 1, \"leaf1\"\n"
	      "4   3   : 0  1  2  1  4  5  6  7  8  9  10 11 12 13 14 15\n",
};

/* Property: tables and service levels of every dialect, from memory, a file and a folder. */
static void tables(void **state)
{
	struct hd_fabric *fabric = parse(levels_topology);
	struct scratch scratch = scratch_new();

	(void)state;
	for (size_t i = 0; i < sizeof(table_texts) / sizeof(*table_texts); i++) {
		struct reading reading = {.text = table_texts[i], .known = fabric};
		char what[32];
		snprintf(what, sizeof(what), "tables, text %zu", i);
		try_reading(what, read_tables, &reading);
		char *path = scratch_file(&scratch, "tables", table_texts[i]);
		reading = (struct reading){.path = path, .known = fabric};
		try_reading(what, read_tables, &reading);
		reading = (struct reading){.path = scratch.folder, .known = fabric};
		try_reading(what, read_tables, &reading);
		scratch_drop(path);
	}
	scratch_free(&scratch);
	hd_fabric_free(fabric);
}

/* ---- multicast tables ---- */

static int read_mfts(void *context, struct hd_error *err)
{
	struct reading *reading = context;
	int rc = reading->path
		     ? hd_mfts_read(reading->path, reading->known, NULL, &reading->mfts, err)
		     : hd_mfts_parse(reading->text, strlen(reading->text), "tables", reading->known,
				     NULL, &reading->mfts, err);

	reading->count = rc ? 0 : reading->mfts->count;
	return rc;
}

#define MLIDS "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x0000000000200000 (leaf1):\n"

/* Property: multicast tables in every form. */
static void multicast_tables(void **state)
{
	static const char *const texts[] = {
	    "\nSwitch 0x0000000000200000\nLID    : Out Port(s)\n0xC001 : 0x001  0x003 \n",
	    MLIDS "     Ports: 0 1 2 3 4 \n MLid\n0xc001        x   x   \n1 valid mlids dumped \n",
	    MLIDS " MLid       Port Mask\n0xc001      000a\n1 valid mlids dumped \n"};
	struct hd_fabric *fabric = parse(levels_topology);
	struct scratch scratch = scratch_new();

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *path = scratch_file(&scratch, "tables", texts[i]);
		struct reading from_text = {.text = texts[i], .known = fabric};
		struct reading from_file = {.path = path, .known = fabric};
		try_reading("multicast tables", read_mfts, &from_text);
		try_reading("multicast tables of a file", read_mfts, &from_file);
		scratch_drop(path);
	}
	scratch_free(&scratch);
	hd_fabric_free(fabric);
}

/* ---- policy files ---- */

static int read_guids(void *context, struct hd_error *err)
{
	struct reading *reading = context;

	return hd_guids_read(reading->path, &reading->guids, &reading->count, err);
}

static int read_weights(void *context, struct hd_error *err)
{
	struct reading *reading = context;

	return hd_port_refs_read(reading->path, true, &reading->refs, &reading->count, err);
}

#define LINES 300 /* more than the readers have room for at first */

static void try_list(const struct scratch *scratch, const char *format, read_fn *call)
{
	char text[LINES * 32] = "";
	size_t used = 0;

	for (unsigned i = 1; i <= LINES; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, format, i);
	char *path = scratch_file(scratch, "list", text);
	try_reading(format, call, &(struct reading){.path = path});
	scratch_drop(path);
}

/* Property: lists of GUIDs, and of ports with weights. */
static void policy_files(void **state)
{
	struct scratch scratch = scratch_new();

	(void)state;
	try_list(&scratch, "0x%x\n", read_guids);
	try_list(&scratch, "0x%x 1 2\n", read_weights);
	scratch_free(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(topologies),   cmocka_unit_test(name_maps),
	    cmocka_unit_test(tables),	    cmocka_unit_test(multicast_tables),
	    cmocka_unit_test(policy_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
