/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify_change CERTIFICATE TOPOLOGY BEFORE AFTER [LEVELS]
 *
 * verify_certificate for a change from tables to others, in steps. It proves AFTER, and of each
 * step that no mixture of the entries before and after it has a circle or a credit loop.
 *	cc -O2 -o verify_change verify_change.c
 */
#define NO_MAIN
#include "verify_certificate.c"

static struct {
	uint8_t *other; /* [cells] the port after the step at hand; NO_PORT: no other */
	size_t *places; /* [count] cells that change in the step */
	number count;
} c;

static unsigned add_other(uint32_t lid, uint32_t sw, uint8_t *ports, unsigned count)
{
	uint8_t other = c.other[cell(lid, sw)];

	if (other != NO_PORT)
		ports[count++] = other;
	return count;
}

/* The entries of a step, and the numbers that prove it. Returns the letter of the line after these. */
static char read_step(const uint8_t *after)
{
	for (number i = 0; i < c.count; i++) {
		if (get(certificate_lines) != 'R')
			REFUSE("expected an entry of the step");
		c.places[i] = cell(below(n[0], s.lids), p.sw_of[below(n[1], s.switches)]);
		c.other[c.places[i]] = after[c.places[i]];
	}
	return read_numbers();
}

static void finish_step(const uint8_t *after)
{
	for (number i = 0; i < c.count; i++) {
		s.port[c.places[i]] = after[c.places[i]];
		c.other[c.places[i]] = NO_PORT;
	}
}

/* Every step from the tables before to those after. Returns their number. */
static number prove_steps(char kind, const uint8_t *after)
{
	size_t cells = cell(s.lids + 63, 0);
	number steps = 0;

	p.lossy = true;
	p.add_ports = add_other;
	c.other = take(cells);
	for (; kind == 'T' && n[0] == steps + 1; steps++) {
		c.count = n[1];
		c.places = take(below(c.count, cells + 1) * sizeof(*c.places));
		kind = read_step(after);
		prove();
		finish_step(after);
		free(c.places);
	}
	expect_end(kind);
	for (uint32_t lid = 1; lid < s.lids; lid++)
		for (uint32_t sw = 0; sw < s.switches; sw++)
			if (s.to[lid] != NONE && s.port[cell(lid, sw)] != after[cell(lid, sw)])
				REFUSE("switch %llx: LID %u changes in no step", s.guid[sw], lid);
	return steps;
}

int main(int argc, char **argv)
{
	if (argc < 5 || argc > 6) {
		fputs("usage: verify_change CERTIFICATE TOPOLOGY BEFORE AFTER [LEVELS]\n", stderr);
		return 2;
	}
	read_topology(argv[2]);
	uint8_t *before = read_whole_tables(argv[3]), *after = s.port = read_whole_tables(argv[4]);
	if (argc > 5)
		read_levels(argv[5]);
	if (s.by_ports)
		REFUSE("lanes that depend on ports");
	read_head(argv[1]);
	char kind = read_numbers();
	prove();
	s.port = before;
	number steps = prove_steps(kind, after);
	printf("proved, steps: %llu; %llu pairs of a switch and a LID have no entry\n", steps,
	       p.unreached);
	return 0;
}
