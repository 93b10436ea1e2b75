/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the file of the fabric itself shows: LIDs, cables and names. */
#include "doctor_site.h"
#include "need.h"

#include <heddle/base/text.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_LARGEST ((size_t)64 << 20) /* bytes */
#define LAST_WITHOUT_SPEEDS "OpenSM 3.3.24"
#define QUANTUM2 0xd2f2

static void check_lids(struct doctor_site *site)
{
	const struct hd_fabric *fabric = site->fabric;
	char place[DOCTOR_PLACE_SIZE];
	uint32_t with = 0, first = HD_NONE, without = 0;

	doctor_report_begin(&site->report, "lids");
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		const uint32_t node = fabric->port_node[port];
		const bool counts = hd_is_switch(fabric, node) ? !hd_port_number(fabric, port)
							       : fabric->peer[port] != HD_NONE;
		with += fabric->lid[port] != 0;
		if (counts && !fabric->lid[port]) {
			first = without++ ? first : port;
		}
	}
	if (!with)
		doctor_report_skip(&site->report,
				   "the file has no LIDs; use the output of ibnetdiscover");
	else if (without)
		doctor_report_add(&site->report, DOCTOR_ERROR,
				  doctor_port_place(site, first, place),
				  "wait for a sweep; if it stays so, OpenSM's log says why",
				  without == 1 ? "%u port has no LID: this"
					       : "%u ports have no LID, the first one is this",
				  without);
}

static void check_cable(struct doctor_site *site, uint32_t port)
{
	const struct hd_fabric *fabric = site->fabric;
	const uint32_t peer = fabric->peer[port];
	char near[DOCTOR_PLACE_SIZE], far[DOCTOR_PLACE_SIZE];

	if (fabric->width[port] == fabric->width[peer] &&
	    fabric->speed[port] == fabric->speed[peer])
		return;
	if (!fabric->width[port] || !fabric->width[peer] || !fabric->speed[port] ||
	    !fabric->speed[peer])
		return;
	doctor_report_add(&site->report, DOCTOR_ERROR, doctor_port_place(site, port, near),
			  "look at both ends with iblinkinfo; reset the port, or replace the cable",
			  "the cable has another width or speed at its other end, %s",
			  doctor_port_place(site, peer, far));
}

static uint32_t rate_of(const struct hd_fabric *fabric, uint32_t port)
{
	return (uint32_t)fabric->width[port] * (1u << fabric->speed[port]);
}

/* Cables between the same two switches are meant to be alike. */
static void check_parallel(struct doctor_site *site)
{
	const struct hd_fabric *fabric = site->fabric;
	char place[DOCTOR_PLACE_SIZE], other[DOCTOR_PLACE_SIZE];

	doctor_report_begin(&site->report, "parallel-cables");
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t a = fabric->isl_base[sw]; a < fabric->isl_base[sw + 1]; a++)
			for (uint32_t b = fabric->isl_base[sw]; b < fabric->isl_base[sw + 1]; b++) {
				const uint32_t slow =
				    hd_port_index(fabric, sw, fabric->isl_port[a]);
				const uint32_t fast =
				    hd_port_index(fabric, sw, fabric->isl_port[b]);
				if (fabric->isl_to[a] != fabric->isl_to[b] ||
				    fabric->isl_to[a] < sw || !rate_of(fabric, slow) ||
				    rate_of(fabric, slow) >= rate_of(fabric, fast))
					continue;
				doctor_report_add(&site->report, DOCTOR_WARNING,
						  doctor_port_place(site, slow, place),
						  "replace the cable, or reset the port",
						  "the cable is slower than one beside it, %s",
						  doctor_port_place(site, fast, other));
				break;
			}
}

static int compare_guids(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

struct names {
	struct doctor_site *site;
	uint64_t *known; /* [known_count] GUIDs of the fabric's nodes, ascending */
	uint32_t known_count;
	uint64_t *seen; /* [seen_count] of the map */
	uint32_t seen_count;
};

static void take_name(struct names *names, const struct hd_lines *lines)
{
	struct hd_cursor line = hd_lines_cursor(lines);
	char place[DOCTOR_PLACE_SIZE];
	uint64_t guid;

	hd_take_blanks(&line);
	if (hd_cursor_done(&line) || *line.at == '#')
		return;
	snprintf(place, sizeof(place), "%s:%u", lines->name, lines->number);
	if (!hd_take_hex(&line, &guid)) {
		doctor_report_add(&names->site->report, DOCTOR_WARNING, place,
				  "write GUID \"NAME\"", "the line does not begin with a GUID");
		return;
	}
	if (!bsearch(&guid, names->known, names->known_count, sizeof(guid), compare_guids))
		doctor_report_add(&names->site->report, DOCTOR_WARNING, place,
				  "take the line out, or look for the switch",
				  "the fabric has no node 0x%016" PRIx64, guid);
	for (uint32_t i = 0; i < names->seen_count; i++)
		if (names->seen[i] == guid) {
			doctor_report_add(&names->site->report, DOCTOR_WARNING, place,
					  "take one of the lines out",
					  "0x%016" PRIx64 " has a name already", guid);
			return;
		}
	names->seen[names->seen_count++] = guid;
}

static uint32_t count_lines(const struct hd_text *text)
{
	uint32_t count = 1;

	for (size_t i = 0; i < text->length; i++)
		count += text->bytes[i] == '\n';
	return count;
}

static void check_names(struct doctor_site *site)
{
	const char *path =
	    site->name_map ? site->name_map : doctor_option(site, "node_name_map_name", "");
	struct names names = {.site = site, .known_count = site->fabric->node_count};
	struct hd_text text;
	struct hd_error err;

	doctor_report_begin(&site->report, "names");
	if (!*path) {
		doctor_report_skip(&site->report, "no name map is given");
		return;
	}
	if (hd_text_open_regular(path, NAMES_LARGEST, &text, &err)) {
		doctor_report_add(&site->report, DOCTOR_WARNING, path, "mend the path", "%s",
				  err.text);
		return;
	}
	text.name = path;
	names.known = need(malloc((names.known_count + 1u) * sizeof(*names.known)));
	names.seen = need(malloc((count_lines(&text) + 1u) * sizeof(*names.seen)));
	memcpy(names.known, site->fabric->node_guid, names.known_count * sizeof(*names.known));
	qsort(names.known, names.known_count, sizeof(*names.known), compare_guids);
	struct hd_lines lines = hd_lines_of(&text);
	int more;
	while ((more = hd_lines_next(&lines, &err)) > 0)
		take_name(&names, &lines);
	if (more < 0)
		doctor_report_add(&names.site->report, DOCTOR_ERROR, text.name, "mend the file",
				  "%s", err.text);
	free(names.known);
	free(names.seen);
	hd_text_close(&text);
}

void doctor_check_fabric(struct doctor_site *site)
{
	static const char *const names[] = {"lids", "cables", "parallel-cables", "ndr", "names"};

	if (!site->fabric) {
		for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			doctor_report_begin(&site->report, names[i]);
			doctor_report_skip(&site->report, "the fabric was not read");
		}
		return;
	}
	check_lids(site);
	/* A cable that is slower than most of those with which it is parallel, or all of the same kind, stands
	 * out. */
	const struct hd_fabric *fabric = site->fabric;
	doctor_report_begin(&site->report, "cables");
	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (fabric->peer[port] != HD_NONE && port < fabric->peer[port])
			check_cable(site, port);
	check_parallel(site);
	uint32_t fast = 0;
	doctor_report_begin(&site->report, "ndr");
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		fast += fabric->device_id[sw] == QUANTUM2;
	for (uint32_t port = 0; port < fabric->port_count; port++)
		fast += fabric->speed[port] >= HD_SPEED_NDR && fabric->peer[port] != HD_NONE;
	if (fast && !*site->version)
		doctor_report_skip(&site->report, "the version of OpenSM is not known");
	else if (fast && !strncmp(site->version, "OpenSM 3.", 9) &&
		 strverscmp(site->version, LAST_WITHOUT_SPEEDS) <= 0)
		doctor_report_add(
		    &site->report, DOCTOR_ERROR, site->version,
		    "build OpenSM from its sources at commit a58c675e or later, and Heddle for it: "
		    "doc/guide/opensm-versions.md",
		    "the fabric has NDR ports: this OpenSM does not ask for extended speeds at "
		    "first, and "
		    "larger packets were reported to fail (linux-rdma/opensm issue 38)");
	check_names(site);
}
