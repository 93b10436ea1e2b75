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

/* The entries of a step, and the numbers that prove it. Returns the line after these. */
static const char *read_step(const uint8_t *after)
{
	for (number i = 0; i < c.count; i++) {
		const char *line = next(true);
		number lid = parse(&line, 16), sw = parse(&line, 10);
		c.places[i] = cell(below(lid, s.lids), s.sw_of[below(sw, s.switches)]);
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
static number prove_steps(const char *line, const uint8_t *after)
{
	size_t cells = cell(s.lids + 63, 0);
	number steps = 0, step;

	s.lossy = true;
	s.add_ports = add_other;
	c.other = take(cells);
	for (; sscanf(line, "step %llu entries %llu", &step, &c.count) == 2; steps++) {
		c.places = take(below(c.count, cells + 1) * sizeof(*c.places));
		line = read_step(after);
		prove();
		finish_step(after);
		free(c.places);
	}
	if (strcmp(line, "end") != 0)
		REFUSE("expected 'step' or 'end'");
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
	uint8_t *before = read_tables(argv[3]), *after = s.port = read_tables(argv[4]);
	if (argc > 5)
		read_levels(argv[5]);
	read_head(argv[1]);
	const char *line = read_numbers();
	prove();
	s.port = before;
	number steps = prove_steps(line, after);
	printf("proved, steps: %llu; %llu pairs of a switch and a LID have no entry\n", steps,
	       s.unreached);
	return 0;
}
