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

enum {
	GROUPS = 4096,
	SUB_GROUPS = 2,
	STATIC = 0xFFFE,
	NO_ENTRY = 0xFFFF
}; /* the last two in place of a group */
enum { RAISED = 1, ABOVE = 2, STATES = 4, TABLES = 3 };

typedef uint64_t port_set[PORTS / 64];

static const unsigned table_of[STATES] = {1, 2, 0, 0};

static struct {
	bool is_private; /* the plan has private tables */
	char mode; /* F or B, free or bounded, of all entries that have a group; 0: none has */
	unsigned
	    tables[LIDS]; /* [switches] bits of the tables that the plan has; 0: not the switch */
	uint8_t *port[TABLES]; /* [cells] static ports of the private tables */
	uint16_t *group[TABLES]; /* [cells] */
	port_set *ports[LIDS]; /* [switches][GROUPS * SUB_GROUPS]; NULL: no groups */
	bool *above; /* [switches * PORTS] packets that leave by the port arrive from above */

	/* of the LID at hand; places are state * switches + switch */
	uint32_t order[STATES * LIDS]; /* by distance, farthest first */
	uint32_t held[STATES * LIDS]; /* 1 + the highest rank by which packets come on their lane */
	bool passing[STATES * LIDS];
} a;

static const char *const plan_lines[] = {"SSwitch 0x%x ('%s') table %u",
					 "G%u - %u :%p",
					 "E0x%x : %u : static : -",
					 "F0x%x : %u : free : %u",
					 "B0x%x : %u : bounded : %u",
					 "-(Group - Sub-group) : Ports",
					 "-LID : Static port : State : Group",
					 "-",
					 "$",
					 NULL};

/* The ports of both sub-groups of an entry. */
static void group_ports(port_set *groups, uint16_t group, uint64_t *ports)
{
	for (unsigned i = 0; i < PORTS / 64; i++)
		ports[i] = group < GROUPS && groups
			       ? groups[group * SUB_GROUPS][i] | groups[group * SUB_GROUPS + 1][i]
			       : 0;
}

/* `1 - 0 : 5, 6,`: a sub-group, which is the same in all tables of the switch. `first`: its first table. */
static void read_group(uint32_t sw, bool first)
{
	static const port_set none;
	const char *at = strchr(text, ':') + 1;
	const number group = below(n[0], GROUPS), sub = below(n[1], a.is_private ? 2 : 1);
	port_set ports = {0};

	for (; *at; at = strchr(at, ',') + 1) {
		if (!is(at, " %u,%s", n) || n[0] - 1 >= s.ports[sw])
			REFUSE("expected ports of the switch");
		ports[n[0] / 64] |= UINT64_C(1) << n[0] % 64;
	}
	if (!a.ports[sw] && !(a.ports[sw] = calloc(GROUPS * SUB_GROUPS, sizeof(port_set))))
		REFUSE("no memory");
	port_set *held = &a.ports[sw][group * SUB_GROUPS + sub], whole;
	group_ports(a.ports[sw], (uint16_t)group, whole);
	if (memcmp(held, first ? &none : &ports, sizeof(ports)) != 0 ||
	    (!first && !memcmp(whole, none, sizeof(none))))
		REFUSE("the sub-group is there twice, or differs from that of another table");
	memcpy(held, ports, sizeof(ports));
}

/* `0x0004 : 5 : free : 1`, or `0x0004 : 5 : static : -`. */
static void read_planned(uint32_t sw, unsigned table, char kind)
{
	static const port_set none;
	const size_t place = cell(below(n[0], s.lids), sw);
	const uint8_t port = (uint8_t)below(n[1], s.ports[sw] + 1);
	uint16_t *entry = &a.group[table][place];
	port_set ports;

	if (*entry != NO_ENTRY || (a.is_private ? s.port[place] == NO_PORT : s.port[place] != port))
		REFUSE("a LID is there twice, or its static port is not that of the tables");
	a.port[table][place] = port;
	*entry = kind == 'E' ? STATIC : (uint16_t)below(n[2], GROUPS);
	if (kind == 'E')
		return;
	group_ports(a.ports[sw], *entry, ports);
	if (!memcmp(ports, none, sizeof(none)) || (a.mode && a.mode != kind))
		REFUSE("the switch has no such group, or the plan is of both modes");
	a.mode = kind;
}

static void read_plan(const char *path)
{
	uint32_t sw = NONE;
	unsigned table = 0;
	bool first = false;
	char kind;

	for (begin(path); (kind = get(plan_lines)) != '$';)
		a.is_private |= kind == 'S' && n[1] > 0;
	for (unsigned i = 0; i < (a.is_private ? TABLES : 1); i++) {
		a.port[i] = take(cell(s.lids + 63, 0));
		a.group[i] = take(cell(s.lids + 63, 0) * sizeof(**a.group));
	}
	for (begin(path); (kind = get(plan_lines)) != '$';) {
		if (kind == 'S') {
			sw = switch_of(n[0]);
			table = below(n[1], TABLES);
			first = !a.tables[sw];
			if (a.tables[sw] >> table & 1)
				REFUSE("the table is there twice");
			a.tables[sw] |= 1u << table;
		} else if (sw == NONE && *text) {
			REFUSE("a line before the first switch");
		} else if (kind == 'G') {
			read_group(sw, first);
		} else if (kind != '-') {
			read_planned(sw, table, kind);
		}
	}
	if (sw == NONE || s.by_ports)
		REFUSE("no switch, or lanes that depend on ports");
	/* At a switch with groups the AR table replaces the forwarding table. */
	for (uint32_t lid = 1; lid < s.lids; lid++)
		for (sw = 0; sw < s.switches; sw++)
			for (table = 0; table < (a.is_private ? TABLES : 1); table++)
				if ((a.is_private ? a.tables[sw] != 0 : a.ports[sw] != NULL) &&
				    s.to[lid] != NONE && s.port[cell(lid, sw)] != NO_PORT &&
				    a.group[table][cell(lid, sw)] == NO_ENTRY)
					REFUSE("a switch with groups has no entry for LID %u", lid);
}

static unsigned add_group(uint32_t sw, uint16_t group, uint8_t *ports, unsigned count)
{
	port_set set;

	group_ports(a.ports[sw], group, set);
	for (unsigned i = 0; i < PORTS / 64; i++)
		for (uint64_t left = set[i]; left; left &= left - 1)
			ports[count++] = (uint8_t)(i * 64 + (unsigned)__builtin_ctzll(left));
	return count;
}

static unsigned add_ports(uint32_t lid, uint32_t sw, uint8_t *ports, unsigned count)
{
	return add_group(sw, a.group[0][cell(lid, sw)], ports, count);
}

#ifndef ONE_TABLE /* verify_adaptive_change.c takes no private tables, and has its own main() */
/* All cables from one switch to another are of one kind. */
static void read_above(void)
{
	bool *is_above = take(s.switches * PORTS);

	if (get(certificate_lines) != 'A')
		REFUSE("expected 'above digits 1'");
	for (uint32_t i = 0; i < s.switches; i++) {
		memset(p.row, 0, PORTS * sizeof(*p.row));
		read_row(1, NO_PORT - 1, p.row + 1);
		for (uint32_t port = 0; port < PORTS; port++)
			is_above[p.sw_of[i] * PORTS + port] = p.row[port] != 0;
	}
	a.above = take(s.switches * PORTS);
	for (uint32_t from = 0; from < s.switches * PORTS; from++) {
		uint32_t peer = s.peer[from] / PORTS;
		int kind = -1;
		for (uint32_t port = 0; s.peer[from] != NONE && port < PORTS; port++) {
			if (s.peer[peer * PORTS + port] / PORTS != from / PORTS)
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

	ports[0] = a.tables[sw] ? a.port[table][at] : s.port[at];
	return add_group(sw, a.group[table][at], ports, ports[0] != NO_PORT);
}

static void sort_places(const uint32_t *distance)
{
	memset(p.first, 0, (s.switches + 2) * sizeof(*p.first));
	for (uint32_t place = 0; place < STATES * s.switches; place++)
		p.first[s.switches - distance[place] + 1]++;
	for (uint32_t i = 0; i <= s.switches; i++)
		p.first[i + 1] += p.first[i];
	for (uint32_t place = 0; place < STATES * s.switches; place++)
		a.order[p.first[s.switches - distance[place]]++] = place;
}

static bool check_private(uint32_t lid, uint32_t place, uint32_t port, const uint32_t *distance)
{
	uint32_t sw = place % s.switches, state = place / s.switches;
	uint32_t from = sw * PORTS + port, peer = s.peer[from] / PORTS;

	if (sw == s.to[lid] / PORTS)
		return port == s.to[lid] % PORTS;
	if (s.peer[from] == NONE)
		return false;
	uint32_t then = (state & RAISED) | (a.above[from] ? ABOVE : state & ABOVE ? RAISED : 0);
	uint32_t lane = then & RAISED, next_place = then * s.switches + peer;
	uint32_t rank = p.rank[lane] ? p.rank[lane][from] : NONE;
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
		a.passing[sw] = s.sends[sw * PORTS] && private_ports(lid, sw, 0, ports);
		a.held[sw] = 0;
		p.missing += s.sends[sw * PORTS] && !a.passing[sw];
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
		if (p.row_of[lid] == NONE || p.row_of[lid] + STATES > p.rows)
			REFUSE("LID %u has no distances", lid);
		const uint32_t *distance = p.distance + (size_t)p.row_of[lid] * s.switches;
		if (p.row_of[lid] != sorted)
			sort_places(distance);
		sorted = p.row_of[lid];
		prove_private_lid(lid, distance);
	}
	if (p.missing != p.unreached)
		REFUSE("%llu pairs of a switch and a LID have no entry", p.missing);
}

/* No group has a port that leads nowhere, nor to a switch without an entry, wherever packets pass. */
static void check_groups(void)
{
	uint8_t ports[PORTS + 1];

	for (uint32_t lid = 1; lid < s.lids && !a.is_private; lid++)
		for (uint32_t sw = 0; s.to[lid] != NONE && sw < s.switches; sw++)
			for (unsigned i = add_ports(lid, sw, ports, 0); i-- > 0;) {
				uint32_t peer = s.peer[sw * PORTS + ports[i]];
				if (sw * PORTS + ports[i] != s.to[lid] &&
				    (peer == NONE || s.port[cell(lid, peer / PORTS)] == NO_PORT))
					REFUSE("switch %llx: a group for LID %u leads nowhere",
					       s.guid[sw], lid);
			}
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
	check_groups();
	p.add_ports = add_ports;
	read_head(argv[1]);
	if (a.is_private)
		read_above();
	expect_end(read_numbers());
	if (a.is_private)
		prove_private();
	else
		prove();
	printf("proved%s; %llu pairs of a switch and a LID have no entry\n", p.made, p.missing);
	return 0;
}
#endif
