/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify_adaptive_change CERTIFICATE TOPOLOGY BEFORE AFTER LEVELS|- PLAN_BEFORE|- PLAN_AFTER|-
 *
 * verify_change for switches with adaptive routing. It proves AFTER with its plan, and of each step that packets go in
 * no circle and no lane has a credit loop, whichever of the ports they take that an entry has before or after it.
 *	cc -O2 -o verify_adaptive_change verify_adaptive_change.c
 */
#define ONE_TABLE
#include "verify_adaptive.c"

/* What an entry is. NARROW and MOVED have the ports that the groups before and after share. */
enum { IS_BEFORE, NARROW, MOVED, IS_AFTER, NAMED = 0x80 };

struct side { /* tables and plan before, or after */
	uint8_t *port; /* [cells] */
	uint16_t *group; /* [cells] */
	port_set *ports[LIDS];
};

static struct {
	struct side side[2];
	uint8_t
	    *is; /* [cells] before the step at hand, and << 4 after it; NAMED: the step has it */
	size_t *places; /* [count] cells of the step */
	number count;
} c;

static void read_side(struct side *side, const char *tables, const char *plan)
{
	memset(&a, 0, sizeof(a));
	s.port = side->port = read_whole_tables(tables);
	if (strcmp(plan, "-") != 0) {
		read_plan(plan);
		if (a.is_private)
			REFUSE("a plan with private tables");
	} else {
		a.group[0] = take(cell(s.lids + 63, 0) * sizeof(**a.group));
	}
	side->group = a.group[0];
	memcpy(side->ports, a.ports, sizeof(side->ports));
}

static void side_ports(struct side *side, size_t at, uint32_t sw, uint64_t *ports)
{
	group_ports(side->ports[sw], side->group[at], ports);
}

/* Adds the ports of an entry that is BEFORE, ..., to the set. */
static void unite(unsigned is, size_t at, uint32_t sw, bool groups, uint64_t *set)
{
	port_set ports[2];
	uint8_t port = c.side[is >= MOVED].port[at];

	side_ports(&c.side[0], at, sw, ports[0]);
	side_ports(&c.side[1], at, sw, ports[1]);
	for (unsigned i = 0; groups && i < PORTS / 64; i++)
		set[i] |= is == IS_BEFORE  ? ports[0][i]
			  : is == IS_AFTER ? ports[1][i]
					   : ports[0][i] & ports[1][i];
	if (port != NO_PORT)
		set[port / 64] |= UINT64_C(1) << port % 64;
}

/* All ports before and after the step. Groups count where adapters' packets pass. */
static unsigned add_both(uint32_t lid, uint32_t sw, uint8_t *ports, unsigned count)
{
	bool groups = p.passing[sw] || s.to[lid] % PORTS == 0;
	size_t at = cell(lid, sw);
	port_set set = {0};

	count = 0;
	unite(c.is[at] & 7, at, sw, groups, set);
	unite(c.is[at] >> 4 & 7, at, sw, groups, set);
	for (unsigned i = 0; i < PORTS / 64; i++)
		for (uint64_t left = set[i]; left; left &= left - 1)
			ports[count++] = (uint8_t)(i * 64 + (unsigned)__builtin_ctzll(left));
	return count;
}

/* `0x0004 3`, `0x0004 3 n` or `0x0004 3 t`: what the entry is after the step. */
static void read_change(number i)
{
	const char kind = get(certificate_lines);
	size_t at = cell(below(n[0], s.lids), p.sw_of[below(n[1], s.switches)]);
	unsigned is_then = kind == 'R' ? IS_AFTER : kind == 'W' ? NARROW : MOVED;

	if ((is_then == MOVED && kind != 'Y') || c.is[at] & NAMED)
		REFUSE("no entry, or an entry that the step has twice");
	c.places[i] = at;
	c.is[at] = (uint8_t)(NAMED | is_then << 4 | (c.is[at] & 7));
}

/* Every step from the tables before to those after. Returns their number. */
static number prove_steps(char kind)
{
	const size_t cells = cell(s.lids + 63, 0);
	number steps = 0;

	p.lossy = true;
	p.add_ports = add_both;
	c.is = memset(take(cells), IS_BEFORE, cells);
	for (; kind == 'T' && n[0] == steps + 1; steps++) {
		c.count = n[1];
		c.places = take(below(c.count, cells + 1) * sizeof(*c.places));
		for (number i = 0; i < c.count; i++)
			read_change(i);
		kind = read_numbers();
		prove();
		for (number i = 0; i < c.count; i++)
			c.is[c.places[i]] = (uint8_t)(c.is[c.places[i]] >> 4 & 7) * 17;
		free(c.places);
	}
	expect_end(kind);
	return steps;
}

/* Every entry has become what it is after the change, or it has been that all the time. */
static void check_end(void)
{
	port_set ports[2];

	for (uint32_t lid = 1; lid < s.lids; lid++)
		for (uint32_t sw = 0; s.to[lid] != NONE && sw < s.switches; sw++) {
			size_t at = cell(lid, sw);
			side_ports(&c.side[0], at, sw, ports[0]);
			side_ports(&c.side[1], at, sw, ports[1]);
			if ((c.is[at] & 7) != IS_AFTER &&
			    (c.side[0].port[at] != c.side[1].port[at] ||
			     memcmp(ports[0], ports[1], sizeof(port_set)) != 0))
				REFUSE("switch %llx: LID %u changes in no step", s.guid[sw], lid);
		}
}

int main(int argc, char **argv)
{
	if (argc != 8) {
		fputs("usage: verify_adaptive_change CERTIFICATE TOPOLOGY BEFORE AFTER LEVELS|- "
		      "PLAN_BEFORE|- PLAN_AFTER|-\n",
		      stderr);
		return 2;
	}
	read_topology(argv[2]);
	read_side(&c.side[0], argv[3], argv[6]);
	read_side(&c.side[1], argv[4], argv[7]);
	if (strcmp(argv[5], "-") != 0)
		read_levels(argv[5]);
	if (s.by_ports)
		REFUSE("lanes that depend on ports");
	p.add_ports = add_ports;
	read_head(argv[1]);
	char kind = read_numbers();
	prove();
	number steps = prove_steps(kind);
	check_end();
	printf("proved, steps: %llu; %llu pairs of a switch and a LID have no entry\n", steps,
	       p.unreached);
	return 0;
}
