/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify_certificate CERTIFICATE TOPOLOGY TABLES [LEVELS]
 *
 * Proves with a certificate that every packet that finds an entry arrives, and that no lane has a
 * credit loop: doc/guide/certificates.md. TOPOLOGY is what ibnetdiscover prints, TABLES what
 * OpenSM, ibroute or dump_lfts write, LEVELS what heddle route --sl writes. Needs only libc and
 * verify_files.c and verify_levels.c, which read all but the certificate:
 *	cc -O2 -o verify_certificate verify_certificate.c
 * Exit status: 0 proved, 1 not proved, 2 bad usage.
 */
#include "verify_files.c"
#include "verify_levels.c"

static const char *const certificate_lines[] = {"Vheddle certificate %u",
						"Mmade %u-%u-%uT%u:%u:%u.%uZ sweep %u change %u",
						"Uunreached %u",
						"Sswitches %u",
						"G0x%x",
						"Aabove digits 1",
						"Llane %u digits %u",
						"Ddistances %u digits %u",
						"Nlids %u",
						"R0x%x %u",
						"Tstep %u entries %u",
						"W0x%x %u n",
						"Y0x%x %u t",
						"Eend",
						"$",
						NULL};

static struct { /* what the certificate says, and the proof */
	char made[128]; /* when, and of which sweep; "": not said */
	number rows, unreached, missing; /* of distances; pairs without an entry: said, found */
	uint32_t sw_of[LIDS], row[LIDS]; /* its order of switches; numbers in this order */
	uint32_t *rank[LANES]; /* [switches * PORTS] */
	uint32_t *distance; /* [rows * switches]; `switches`: none */
	uint32_t row_of[LIDS]; /* NONE: no destination */
	uint32_t order[LIDS]; /* [switches] by distance, farthest first */
	uint32_t first[LIDS + 2]; /* where switches of a distance begin in `order` */
	/* Packets to the LID at hand, by switch * inputs + input port. Without maps there is one input. */
	uint32_t inputs;
	uint16_t *passing; /* their lanes, or with maps their levels */
	uint32_t (*above)[LANES]; /* of each: 1 + the highest rank by which packets come */

	unsigned (*add_ports)(uint32_t lid, uint32_t sw, uint8_t *ports, unsigned count); /* more */
	bool lossy; /* packets may get lost, but not go in a circle */
} p;

/* A line of at most so many numbers of so many hexadecimal digits. All digits f: NONE. */
static void read_row(number digits, size_t most, uint32_t *numbers)
{
	if (!next() || digits - 1 > 7 || strlen(text) > most * digits || strlen(text) % digits)
		REFUSE("the line has another length");
	for (const char *at = text; *at; numbers++) {
		*numbers = strspn(at, "f") >= digits ? NONE : 0;
		for (number digit = 0; digit < digits; digit++, at++)
			*numbers |= below(digit_of(*at), 16) << 4 * (digits - 1 - digit);
	}
}

/* Ranks, distances, and the row of each LID. Returns the letter of the line after these. */
static char read_numbers(void)
{
	char kind;

	memset(p.rank, 0, sizeof(p.rank));
	while ((kind = get(certificate_lines)) == 'L') {
		number digits = n[1];
		uint32_t **rank = &p.rank[below(n[0], LANES)];
		if (*rank)
			REFUSE("the lane is there twice");
		*rank = take(s.switches * PORTS * sizeof(uint32_t));
		for (uint32_t i = 0; i < s.switches; i++)
			read_row(digits, NO_PORT - 1, *rank + p.sw_of[i] * PORTS + 1);
	}
	if (kind != 'D')
		REFUSE("expected distances");
	number digits = n[1];
	p.rows = below(n[0], LIDS * 4);
	p.distance = take(p.rows * s.switches * sizeof(*p.distance));
	for (number row = 0; row < p.rows; row++) {
		memset(p.row, 0xFF, s.switches * sizeof(*p.row));
		read_row(digits, s.switches, p.row);
		for (uint32_t i = 0; i < s.switches; i++)
			p.distance[row * s.switches + p.sw_of[i]] =
			    p.row[i] < s.switches ? p.row[i] : s.switches;
	}
	memset(p.row_of, 0xFF, sizeof(p.row_of));
	if (get(certificate_lines) != 'N')
		REFUSE("expected LIDs");
	number lids = n[0];
	for (; (kind = get(certificate_lines)) == 'R'; lids--) {
		uint32_t *row = &p.row_of[below(n[0], s.lids)];
		if (*row != NONE || s.to[n[0]] == NONE)
			REFUSE("the LID is there twice, or is no destination");
		*row = below(n[1], p.rows);
	}
	if (lids)
		REFUSE("another number of LIDs came before");
	return kind;
}

static void read_head(const char *path)
{
	begin(path);
	if (get(certificate_lines) != 'V' || n[0] - 1 > 1)
		REFUSE("no certificate of version 1 or 2");
	char kind = get(certificate_lines);
	if (kind == 'M') {
		snprintf(p.made, sizeof(p.made), ", %.120s", text);
		kind = get(certificate_lines);
	}
	p.unreached = n[0];
	if (kind != 'U' || get(certificate_lines) != 'S' || n[0] != s.switches)
		REFUSE("expected pairs that are not reached, and all switches");
	for (uint32_t i = 0; i < s.switches; i++) {
		p.sw_of[i] = get(certificate_lines) == 'G' ? switch_of(n[0]) : NONE;
		for (uint32_t before = 0; before < i || p.sw_of[i] == NONE; before++)
			if (p.sw_of[before] == p.sw_of[i])
				REFUSE("no switch, or the switch is there twice");
	}
}

static void expect_end(char kind)
{
	if (kind != 'E' || get(certificate_lines) != '$')
		REFUSE("expected 'end', and nothing after it");
}

/* A port leads nearer, with a higher rank than any link by which packets came. All have come. */
static void check_port(uint32_t lid, uint32_t sw, uint32_t port, const uint32_t *distance)
{
	const uint32_t peer = s.peer[sw * PORTS + port], next_sw = peer / PORTS;
	bool right = sw == s.to[lid] / PORTS ? port == s.to[lid] % PORTS
		     : peer == NONE	     ? p.lossy
					     : distance[next_sw] < distance[sw];

	for (uint32_t in = 0; in < p.inputs && right && peer != NONE; in++) {
		const size_t from = sw * p.inputs + in;
		const size_t then = next_sw * p.inputs + (s.by_ports ? peer % PORTS : 0);
		for (unsigned left = p.passing[from]; right && left; left &= left - 1) {
			unsigned kind = (unsigned)__builtin_ctz(left);
			unsigned lane = s.by_ports ? map_of(sw, in, port)[kind] : kind;
			uint32_t rank = p.rank[lane] ? p.rank[lane][sw * PORTS + port] : NONE;
			right = rank != NONE && rank >= p.above[from][kind];
			if (!(p.passing[then] >> kind & 1) || p.above[then][kind] <= rank)
				p.above[then][kind] = rank + 1;
			p.passing[then] |= (uint16_t)(1u << kind);
		}
	}
	if (!right)
		REFUSE("switch %llx: LID %u by port %u: no nearer, or no higher", s.guid[sw], lid,
		       port);
}

/* Adapters at the switch send packets to the LID. */
static void send(uint32_t lid, uint32_t sw)
{
	unsigned kind = s.level ? s.level[cell(lid, sw)] : 0;

	if (!s.by_ports)
		kind = s.lanes[kind];
	for (uint32_t in = s.by_ports; in < p.inputs; in++)
		if (s.sends[sw * PORTS + in] && !(p.passing[sw * p.inputs + in] >> kind & 1)) {
			p.passing[sw * p.inputs + in] |= (uint16_t)(1u << kind);
			p.above[sw * p.inputs + in][kind] = 0;
		}
}

static void check_switch(uint32_t lid, uint32_t sw, const uint32_t *distance)
{
	uint8_t ports[PORTS + 1];
	bool adapter = s.to[lid] % PORTS; /* packets to a switch are management packets */

	if (s.sends[sw * PORTS] && adapter)
		send(lid, sw);
	ports[0] = s.port[cell(lid, sw)];
	unsigned count = ports[0] != NO_PORT;
	if (p.add_ports && (p.lossy || p.passing[sw] || !adapter))
		count = p.add_ports(lid, sw, ports, count);
	if (!count && distance[sw] < s.switches && !p.lossy)
		REFUSE("switch %llx: LID %u has a distance, but no entry", s.guid[sw], lid);
	p.missing += !count;
	for (unsigned i = 0; i < count; i++)
		check_port(lid, sw, ports[i], distance);
}

/* Puts switches in order: those without a distance, then those farthest from the destination. */
static void sort_row(const uint32_t *distance)
{
	memset(p.first, 0, (s.switches + 2) * sizeof(*p.first));
	for (uint32_t sw = 0; sw < s.switches; sw++)
		p.first[s.switches - distance[sw] + 1]++;
	for (uint32_t i = 0; i <= s.switches; i++)
		p.first[i + 1] += p.first[i];
	for (uint32_t sw = 0; sw < s.switches; sw++)
		p.order[p.first[s.switches - distance[sw]]++] = sw;
}

/* Room for packets: the highest number of ports that a switch has counts as that of all. */
static void make_room(void)
{
	p.inputs = 1;
	for (uint32_t sw = 0; sw < s.switches && s.by_ports; sw++)
		p.inputs = s.ports[sw] + 1 > p.inputs ? s.ports[sw] + 1 : p.inputs;
	p.passing = take((size_t)s.switches * p.inputs * sizeof(*p.passing));
	p.above = take((size_t)s.switches * p.inputs * sizeof(*p.above));
}

static void prove(void)
{
	if (!p.inputs)
		make_room();
	for (uint32_t lid = 1, row, sorted = NONE; lid < s.lids; lid++) {
		if (s.to[lid] == NONE)
			continue;
		if ((row = p.row_of[lid]) == NONE)
			REFUSE("LID %u has no distances", lid);
		const uint32_t *distance = p.distance + (size_t)row * s.switches;
		if (row != sorted)
			sort_row(distance);
		sorted = row;
		memset(p.passing, 0, (size_t)s.switches * p.inputs * sizeof(*p.passing));
		for (uint32_t i = 0; i < s.switches; i++)
			check_switch(lid, p.order[i], distance);
	}
	if (p.missing != p.unreached && !p.lossy)
		REFUSE("%llu pairs of a switch and a LID have no entry", p.missing);
}

#ifndef NO_MAIN /* verify_adaptive.c and verify_change.c have their own */
int main(int argc, char **argv)
{
	if (argc < 4 || argc > 5) {
		fputs("usage: verify_certificate CERTIFICATE TOPOLOGY TABLES [LEVELS]\n", stderr);
		return 2;
	}
	read_topology(argv[2]);
	s.port = read_tables(argv[3]);
	if (argc > 4)
		read_levels(argv[4]);
	read_head(argv[1]);
	expect_end(read_numbers());
	prove();
	printf("proved%s; %llu pairs of a switch and a LID have no entry\n", p.made, p.missing);
	return 0;
}
#endif
