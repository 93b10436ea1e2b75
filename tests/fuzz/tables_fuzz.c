/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as the forwarding tables and service levels of one small fabric. What is accepted
 * must fit the fabric and survive being written and read again. */
#include "fuzzing.h"

static const char topology[] =
    "sysimgguid=0x2000ff\nswitchguid=0x200000(2000aa)\n"
    "Switch 4 \"S-0000000000200000\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"h1\" lid 4 4xEDR\n"
    "[3] \"S-0000000000200001\"[3] # \"leaf2\" lid 2 4xEDR\n"
    "switchguid=0x200001(200001)\n"
    "Switch 4 \"S-0000000000200001\" # \"leaf2\" base port 0 lid 2 lmc 0\n"
    "[1] \"H-0000000000100002\"[1](100003) # \"h2\" lid 6 4xEDR\n"
    "[3] \"S-0000000000200000\"[3] # \"leaf1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"h1\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 4 lmc 1 \"leaf1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100002\" # \"h2\"\n"
    "[1](100003) \"S-0000000000200001\"[1] # lid 6 lmc 1 \"leaf2\" lid 2 4xEDR\n";

static void check_fit(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(routes, sw);
		for (uint32_t lid = 0; lid < routes->stride; lid++)
			demand(row[lid] == HD_NO_PORT ||
			       (lid < fabric->lid_count && fabric->lid_owner[lid] != HD_NONE &&
				row[lid] <= hd_node_ports(fabric, sw)));
	}
}

static void check_levels(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	for (uint32_t level = 0; level < 16; level++)
		demand(routes->sl2vl[level] < 16);
	if (!routes->sl)
		return;
	for (uint32_t i = 0; i < fabric->switch_count * routes->stride; i++) {
		uint32_t lid = i % routes->stride;
		demand(routes->sl[i] < 16);
		demand(!routes->sl[i] || (lid < fabric->lid_count && lid >= 4));
	}
}

/* ibdmchk's file has the lanes of packets that come by a cable and go by a link between switches. */
static void check_same_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes,
			     struct hd_routes *back)
{
	for (uint32_t link = 0; back->maps && link < fabric->isl_count; link++) {
		const uint32_t sw = hd_isl_from(fabric, link), out = fabric->isl_port[link];
		for (uint32_t in = 1; in <= hd_node_ports(fabric, sw); in++) {
			if (fabric->peer[hd_port_index(fabric, sw, in)] == HD_NONE)
				continue;
			demand(!memcmp(hd_lane_maps_get(routes->maps, sw, in, out),
				       hd_lane_maps_get(back->maps, sw, in, out), 16));
		}
	}
	hd_lane_maps_free(back->maps);
	back->maps = hd_lane_maps_copy(routes->maps);
	demand(back->maps != NULL);
	memcpy(back->sl2vl, routes->sl2vl, sizeof(back->sl2vl));
}

/* The tables, and their levels as our dump or as ibdmchk's two files. */
static void check_round_trip(const struct hd_fabric *fabric, const struct hd_routes *routes,
			     bool for_ibdmchk)
{
	char *text = NULL;
	size_t length = 0;
	struct hd_routes *back = NULL;
	FILE *stream = open_memstream(&text, &length);

	demand(stream != NULL);
	demand(hd_routes_write_dump(fabric, routes, stream, NULL) == 0);
	if (!for_ibdmchk)
		demand(hd_routes_write_levels(fabric, routes, stream, NULL) == 0);
	else
		demand(hd_routes_write_psl(fabric, routes, stream, NULL) == 0 &&
		       hd_routes_write_slvl(fabric, routes, stream, NULL) == 0);
	fclose(stream);
	demand(hd_routes_parse(text, length, "again", fabric, NULL, &back, NULL) == 0);
	if (for_ibdmchk && routes->maps)
		check_same_lanes(fabric, routes, back);
	demand(hd_routes_equal(routes, back));
	hd_routes_free(back);
	free(text);
}

/* The same in blocks, without levels. */
static void check_blocks(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	char *text = NULL;
	size_t length = 0;
	struct hd_routes *back = NULL;
	FILE *stream = open_memstream(&text, &length);

	demand(stream != NULL);
	demand(hd_routes_write_blocks(fabric, routes, stream, NULL) == 0);
	fclose(stream);
	demand(hd_routes_parse(text, length, "again", fabric, NULL, &back, NULL) == 0);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		demand(!memcmp(hd_routes_row(routes, sw), hd_routes_row(back, sw), routes->stride));
	hd_routes_free(back);
	free(text);
}

/* What a reader accepts, a checker accepts. The result is the same but for ports that a switch does
 * not have: these the reader takes for holes. */
static void check_examination(const struct hd_fabric *fabric, const char *text, size_t length,
			      const struct hd_routes *strict)
{
	struct hd_table_defects defects = {0};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	int rc =
	    hd_routes_examine_text(text, length, "lfts", fabric, NULL, &defects, &routes, &err);

	demand(rc ? !routes && err.text[0] : routes != NULL);
	demand(!strict || !rc);
	demand(defects.kept == defects.count);
	for (size_t i = 0; i < defects.kept; i++)
		demand(defects.list[i].text[0]);
	for (uint32_t sw = 0; !rc && strict && sw < fabric->switch_count; sw++)
		for (uint32_t lid = 0; lid < routes->stride; lid++) {
			uint8_t port = hd_routes_row(routes, sw)[lid];
			demand(port == hd_routes_row(strict, sw)[lid] ||
			       port > hd_node_ports(fabric, sw));
		}
	hd_table_defects_release(&defects);
	hd_routes_free(routes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hd_fabric *fabric = fabric_of(topology);
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	if (hd_routes_parse((const char *)data, size, "lfts", fabric, NULL, &routes, &err)) {
		demand(!routes && err.text[0]);
		check_examination(fabric, (const char *)data, size, NULL);
		return 0;
	}
	check_examination(fabric, (const char *)data, size, routes);
	check_fit(fabric, routes);
	check_levels(fabric, routes);
	check_blocks(fabric, routes);
	check_round_trip(fabric, routes, false);
	if (routes->sl)
		check_round_trip(fabric, routes, true);
	hd_routes_free(routes);
	return 0;
}
