/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify_adaptive CERTIFICATE TOPOLOGY TABLES LEVELS|- PLAN
 *
 * verify_certificate for switches with adaptive routing: packets may leave by each port of a group.
 * PLAN is what heddle ar plan or heddle ar status -o writes. With private tables (DFP) a switch
 * chooses one of three by the state of a packet: whether it came from above, as the certificate
 * says of each port, and whether it is on the raised lane, as it is after it has turned upwards.
 *	cc -O2 -o verify_adaptive verify_adaptive.c
 */
#define NO_MAIN
#include "verify_certificate.c"

enum { GROUPS = 4096, STATIC = 0xFFFE, NO_ENTRY = 0xFFFF }; /* the last two in place of a group */
enum { RAISED = 1, ABOVE = 2, STATES = 4, TABLES = 3 };

typedef uint64_t port_set[PORTS / 64];

static const unsigned table_of[STATES] = {1, 2, 0, 0};

static struct {
	bool is_private; /* the plan has private tables */
	bool planned[LIDS]; /* [switches] it has the switch */
	uint8_t *port[TABLES]; /* [cells] static ports of the private tables */
	uint16_t *group[TABLES]; /* [cells] */
	port_set *ports[LIDS]; /* [switches][GROUPS]; NULL: no groups */
	bool *above; /* [switches * PORTS] packets that leave by the port arrive from above */

	/* of the LID at hand; places are state * switches + switch */
	uint32_t order[STATES * LIDS]; /* by distance, farthest first */
	uint32_t held[STATES * LIDS]; /* 1 + the highest rank by which packets come on their lane */
	bool passing[STATES * LIDS];
} a;

/* `1 - 0 : 5, 6,`: the ports of a sub-group. */
static void read_group(uint32_t sw, number group, const char *ports)
{
	if (!a.ports[sw] && !(a.ports[sw] = calloc(GROUPS, sizeof(port_set))))
		REFUSE("no memory");
	for (ports += *ports == ' '; digit_of(*ports) < 10; ports += strspn(ports, ", ")) {
		uint32_t port = below(parse(&ports, 10), NO_PORT);
		a.ports[sw][below(group, GROUPS)][port / 64] |= UINT64_C(1) << port % 64;
	}
}

/* `0x0004 : 5 : free : 1`, or `-` for a static entry. */
static void read_entry(uint32_t sw, unsigned table, const char *line, const char *group)
{
	static const port_set none;
	size_t place = cell(below(parse(&line, 16), s.lids), sw);
	uint16_t *entry = &a.group[table][place];

	line += strspn(line, " :");
	uint8_t port = (uint8_t)below(parse(&line, 10), NO_PORT);
	if (*entry != NO_ENTRY || (!table && s.port[place] != port && !a.is_private))
		REFUSE("a LID is there twice, or its static port is not that of the tables");
	a.port[table][place] = port;
	*entry = STATIC;
	if (!strcmp(group, " -"))
		return;
	*entry = (uint16_t)below(parse(&group, 10), GROUPS);
	if (!a.ports[sw] || !memcmp(a.ports[sw][*entry], none, sizeof(none)))
		REFUSE("the switch has no such group");
}

static void read_lines(void)
{
	const char *line, *colon;
	number guid, group, table = 0;
	uint32_t sw = NONE;

	while ((line = next(false))) {
		colon = strrchr(line, ':');
		if (line[0] == '0' && line[1] == 'x' && sw != NONE && colon) {
			read_entry(sw, (unsigned)table, line, colon + 1);
		} else if (sscanf(line, "Switch %llx", &guid) == 1) {
			sw = switch_of(guid);
			a.planned[sw] = true;
			line = strrchr(line, ')');
			if (!line || sscanf(line, ") table %llu", &table) != 1)
				REFUSE("expected a table");
			below(table, a.is_private ? TABLES : 1);
		} else if (sw != NONE && colon && sscanf(line, "%llu -", &group) == 1) {
			read_group(sw, group, colon + 1);
		}
	}
}

/* Whether the plan has a table 1. */
static bool has_private_tables(const char *path)
{
	for (begin(path); (path = next(false));)
		if (!strncmp(path, "Switch ", 7) && strstr(path, ") table 1"))
			return true;
	return false;
}

static void read_plan(const char *path)
{
	a.is_private = has_private_tables(path);
	for (unsigned table = 0; table < (a.is_private ? TABLES : 1); table++) {
		a.port[table] = take(cell(s.lids + 63, 0));
		a.group[table] = take(cell(s.lids + 63, 0) * sizeof(**a.group));
	}
	begin(path);
	read_lines();
	/* At a switch with groups the AR table replaces the forwarding table. */
	for (uint32_t lid = 1; lid < s.lids && !a.is_private; lid++)
		for (uint32_t sw = 0; sw < s.switches; sw++)
			if (a.ports[sw] && s.to[lid] != NONE && s.port[cell(lid, sw)] != NO_PORT &&
			    a.group[0][cell(lid, sw)] == NO_ENTRY)
				REFUSE("a switch with groups has no entry for LID %u", lid);
}

static unsigned add_group(uint32_t sw, uint16_t group, uint8_t *ports, unsigned count)
{
	for (unsigned i = 0; group < GROUPS && i < PORTS / 64; i++)
		for (uint64_t left = a.ports[sw][group][i]; left; left &= left - 1)
			ports[count++] = (uint8_t)(i * 64 + (unsigned)__builtin_ctzll(left));
	return count;
}

static unsigned add_ports(uint32_t lid, uint32_t sw, uint8_t *ports, unsigned count)
{
	return add_group(sw, a.group[0][cell(lid, sw)], ports, count);
}

#ifndef ONE_TABLE /* verify_adaptive_change.c takes no private tables, and has its own main() */
/* ---- private tables ---- */

/* All cables from one switch to another are of one kind. */
static void read_above(void)
{
	bool *is_above = take(s.switches * PORTS);

	if (strcmp(next(true), "above digits 1") != 0)
		REFUSE("expected 'above digits 1'");
	for (uint32_t i = 0; i < s.switches; i++) {
		memset(s.row, 0, PORTS * sizeof(*s.row));
		read_row(1, NO_PORT - 1, s.row + 1);
		for (uint32_t port = 0; port < PORTS; port++)
			is_above[s.sw_of[i] * PORTS + port] = s.row[port] != 0;
	}
	a.above = take(s.switches * PORTS);
	for (uint32_t from = 0; from < s.switches * PORTS; from++) {
		uint32_t peer = s.peer[from];
		int kind = -1;
		for (uint32_t port = 0; peer != NONE && port < PORTS; port++) {
			if (s.peer[peer * PORTS + port] != from / PORTS)
				continue;
			if (kind == !is_above[peer * PORTS + port])
				REFUSE("cables between two switches differ");
			kind = is_above[peer * PORTS + port];
		}
		a.above[from] = kind == 1;
	}
}

static unsigned private_ports(uint32_t lid, uint32_t sw, unsigned state, uint8_t *ports)
{
	unsigned table = table_of[state];
	size_t at = cell(lid, sw);

	ports[0] = a.planned[sw] ? a.port[table][at] : s.port[at];
	return add_group(sw, a.group[table][at], ports, ports[0] != NO_PORT);
}

static void sort_places(const uint32_t *distance)
{
	memset(s.first, 0, (s.switches + 2) * sizeof(*s.first));
	for (uint32_t place = 0; place < STATES * s.switches; place++)
		s.first[s.switches - distance[place] + 1]++;
	for (uint32_t i = 0; i <= s.switches; i++)
		s.first[i + 1] += s.first[i];
	for (uint32_t place = 0; place < STATES * s.switches; place++)
		a.order[s.first[s.switches - distance[place]]++] = place;
}

static bool check_private(uint32_t lid, uint32_t place, uint32_t port, const uint32_t *distance)
{
	uint32_t sw = place % s.switches, state = place / s.switches;
	uint32_t from = sw * PORTS + port, peer = s.peer[from];

	if (sw == s.to[lid] / PORTS)
		return port == s.to[lid] % PORTS;
	if (peer == NONE)
		return false;
	uint32_t then = (state & RAISED) | (a.above[from] ? ABOVE : state & ABOVE ? RAISED : 0);
	uint32_t lane = then & RAISED, next_place = then * s.switches + peer;
	uint32_t rank = s.rank[lane] ? s.rank[lane][from] : NONE;
	if (!a.passing[next_place] || a.held[next_place] <= rank)
		a.held[next_place] = rank + 1;
	a.passing[next_place] = true;
	return distance[next_place] < distance[place] && rank != NONE &&
	       (lane != (state & RAISED) || rank >= a.held[place]);
}

/* Packets of all adapters to a LID of an adapter. */
static void prove_private_lid(uint32_t lid, const uint32_t *distance)
{
	uint8_t ports[PORTS + 1];

	memset(a.passing, 0, STATES * s.switches);
	for (uint32_t sw = 0; sw < s.switches; sw++) {
		a.passing[sw] = s.sends[sw] && private_ports(lid, sw, 0, ports);
		a.held[sw] = 0;
		s.missing += s.sends[sw] && !a.passing[sw];
	}
	for (uint32_t i = 0; i < STATES * s.switches; i++) {
		uint32_t place = a.order[i], sw = place % s.switches;
		if (!a.passing[place])
			continue;
		unsigned count = private_ports(lid, sw, place / s.switches, ports);
		bool right = count > 0;
		while (right && count--)
			right = check_private(lid, place, ports[count], distance);
		if (!right)
			REFUSE("switch %llx: LID %u: no entry, or a port no nearer or no higher",
			       s.guid[sw], lid);
	}
}

static void prove_private(void)
{
	for (uint32_t lid = 1, sorted = NONE; lid < s.lids; lid++) {
		if (s.to[lid] == NONE || s.to[lid] % PORTS == 0)
			continue;
		if (s.row_of[lid] == NONE || s.row_of[lid] + STATES > s.rows)
			REFUSE("LID %u has no distances", lid);
		const uint32_t *distance = s.distance + (size_t)s.row_of[lid] * s.switches;
		if (s.row_of[lid] != sorted)
			sort_places(distance);
		sorted = s.row_of[lid];
		prove_private_lid(lid, distance);
	}
	if (s.missing != s.unreached)
		REFUSE("%llu pairs of a switch and a LID have no entry", s.missing);
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fputs("usage: verify_adaptive CERTIFICATE TOPOLOGY TABLES LEVELS|- PLAN\n", stderr);
		return 2;
	}
	read_topology(argv[2]);
	s.port = read_tables(argv[3]);
	if (strcmp(argv[4], "-") != 0)
		read_levels(argv[4]);
	read_plan(argv[5]);
	s.add_ports = add_ports;
	read_head(argv[1]);
	if (a.is_private)
		read_above();
	if (strcmp(read_numbers(), "end") != 0)
		REFUSE("expected 'end'");
	if (a.is_private)
		prove_private();
	else
		prove();
	printf("proved%s%s; %llu pairs of a switch and a LID have no entry\n",
	       *s.made ? ", made " : "", s.made, s.missing);
	return 0;
}
#endif
