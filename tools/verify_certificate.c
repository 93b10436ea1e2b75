/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify_certificate CERTIFICATE TOPOLOGY TABLES [LEVELS]
 *
 * Proves with a certificate that every packet that finds an entry arrives, and that no lane has a
 * credit loop: doc/guide/certificates.md. TOPOLOGY is what ibnetdiscover prints, TABLES what
 * OpenSM, ibroute or dump_lfts.sh write, LEVELS what heddle route --sl writes. Needs only libc:
 *	cc -O2 -o verify_certificate verify_certificate.c
 * Exit status: 0 proved, 1 not proved, 2 bad usage.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 256, NO_PORT = 255, LIDS = 0xC000, LANES = 16, LINE = 1 << 18 };
#define NONE UINT32_MAX

typedef unsigned long long number; /* what sscanf() reads as %llu and %llx */

static struct {
	FILE *stream; /* that is being read */
	const char *path; /* its path */
	number line; /* the number of the last line */
	char buffer[LINE + 1], *at, *end; /* what is read, and not yet a line */
	uint32_t switches, lids; /* lids: the highest + 1 */
	number guid[LIDS]; /* [switches] in the order of the topology */
	uint32_t *peer; /* [switches * PORTS] switch behind the cable of a port, or NONE */
	bool sends[LIDS]; /* [switches] an adapter is cabled to it */
	uint32_t to[LIDS]; /* switch * PORTS + port that has the LID (0: the switch), or NONE */
	uint8_t *port, *lane; /* [cells] of the tables and levels; lane NULL: all 0 */

	char made[128]; /* what the certificate says of itself */
	number rows, unreached, missing; /* of distances; pairs without an entry: said, found */
	uint32_t sw_of[LIDS], row[LIDS]; /* the certificate's order; numbers in this order */
	uint32_t *rank[LANES]; /* [switches * PORTS] */
	uint32_t *distance; /* [rows * switches]; `switches`: none */
	uint32_t row_of[LIDS]; /* NONE: no destination */
	uint32_t order[LIDS]; /* [switches] by distance, farthest first */
	uint32_t first[LIDS + 2]; /* where switches of a distance begin in `order` */
	uint32_t above[LIDS][LANES]; /* 1 + the highest rank by which packets come */
	uint16_t passing[LIDS]; /* [switches] lanes of the packets to the LID at hand */

	unsigned (*add_ports)(uint32_t lid, uint32_t sw, uint8_t *ports, unsigned count); /* more */
	bool lossy; /* packets may get lost, but not go in a circle */
} s;

#define REFUSE(...)                                                                                \
	(printf("not proved: %s:%llu: ", s.path, s.line), printf(__VA_ARGS__), puts(""), exit(1))

/* `size` bytes 0xFF, and one more. */
static void *take(size_t size)
{
	void *block = malloc(size + 1);

	return block ? memset(block, 0xFF, size) : (REFUSE("no memory"), NULL);
}

static uint32_t below(number value, number limit)
{
	if (value >= limit)
		REFUSE("%llu is not below %llu", value, limit);
	return (uint32_t)value;
}

static void begin(const char *path)
{
	s.path = path;
	s.line = 0;
	s.at = s.end = s.buffer;
	if (!(s.stream = fopen(path, "re")))
		REFUSE("cannot be opened");
}

/* The next line without its end; NULL at the end of the file, unless there must be one. */
static char *next(bool must)
{
	char *line = s.at, *end;

	while (!(end = memchr(line, '\n', (size_t)(s.end - line)))) {
		memmove(s.buffer, line, (size_t)(s.end - line));
		s.end -= line - s.buffer;
		line = s.buffer;
		size_t room = (size_t)(s.buffer + LINE - s.end),
		       got = fread(s.end, 1, room, s.stream);
		if (!room || (!got && s.end == line && must))
			REFUSE(room ? "the file ends too early" : "the line is too long");
		if (!got && s.end == line)
			return NULL;
		if (!got)
			*s.end++ = '\n';
		s.end += got;
	}
	s.line++;
	s.at = end + 1;
	end[-(end > line && end[-1] == '\r')] = '\0';
	return line;
}

static uint32_t digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return (uint32_t)(letter - '0');
	return letter >= 'a' && letter <= 'f' ? (uint32_t)(letter - 'a') + 10 : NONE;
}

/* The number behind blanks, of that base, with or without 0x; *text moves behind it. */
static number parse(const char **text, unsigned base)
{
	const char *at = *text + strspn(*text, " ");
	number value = 0;

	at += at[0] == '0' && at[1] == 'x' ? 2 : 0;
	if (digit_of(*at) >= base)
		REFUSE("expected a number");
	for (uint32_t digit; (digit = digit_of(*at)) < base; at++)
		value = value * base + digit;
	*text = at;
	return value;
}

static uint32_t switch_of(number guid)
{
	for (uint32_t sw = 0; sw < s.switches; sw++)
		if (s.guid[sw] == guid)
			return sw;
	REFUSE("the topology has no such switch");
}

static void own(number lid, number lmc, uint32_t place)
{
	for (number end = lid + (1u << below(lmc, 17)); lid && lid < end; lid++) {
		if (s.to[below(lid, LIDS)] != NONE)
			REFUSE("LID %llu has two owners", lid);
		s.to[lid] = place;
		s.lids = lid >= s.lids ? (uint32_t)lid + 1 : s.lids;
	}
}

/* A cable of a switch, or of an adapter (sw NONE). */
static void read_cable(const char *line, uint32_t sw)
{
	number port, guid, far, lid, lmc;
	const char *form = "[%llu]%*[^\"]\"S-%llx\"[%llu]%*[^#]# lid %llu lmc %llu";
	int found = sscanf(line, form, &port, &guid, &far, &lid, &lmc);

	if (found < 3 && sw != NONE) {
		s.sends[sw] = true;
	} else if (sw != NONE) {
		s.peer[sw * PORTS + below(port, PORTS)] = switch_of(guid);
	} else if (found == 5) {
		s.sends[sw = switch_of(guid)] = true;
		own(lid, lmc, sw * PORTS + below(far, PORTS));
	} else if (found >= 3) {
		REFUSE("expected a LID");
	}
}

static void read_topology(const char *path)
{
	const char *line;
	number guid, lid, lmc;
	uint32_t sw = NONE;

	for (begin(path); (line = next(false));)
		if (sscanf(line, "Switch %*u \"S-%llx", &guid) == 1)
			s.guid[below(s.switches++, LIDS)] = guid;
	s.peer = take(s.switches * PORTS * sizeof(*s.peer));
	memset(s.to, 0xFF, sizeof(s.to));
	for (begin(path); (line = next(false));) {
		if (*line == '[')
			read_cable(line, sw);
		else
			sw = NONE;
		if (sscanf(line, "Switch %*u \"S-%llx", &guid) != 1)
			continue;
		sw = switch_of(guid);
		line = strrchr(line, '"');
		if (sscanf(line, "\" %*s port 0 lid %llu lmc %llu", &lid, &lmc) != 2)
			REFUSE("expected a LID");
		own(lid, lmc, sw * PORTS);
	}
}

/* Numbers of 64 LIDs lie together, for one switch after the other: a proof takes LID by LID. */
static size_t cell(number lid, uint32_t sw)
{
	return ((size_t)(lid / 64) * s.switches + sw) * 64 + lid % 64;
}

/* The switch that a line names with its GUID, or else the one before. */
static uint32_t named(const char *line, uint32_t before)
{
	const char *guid = strstr(line, " guid 0x");

	return guid && (guid += 6) ? switch_of(parse(&guid, 16)) : before;
}

static uint8_t *read_tables(const char *path)
{
	uint8_t *ports = take(cell(s.lids + 63, 0));
	const char *line;
	uint32_t sw = NONE;

	for (begin(path); (line = next(false));) {
		if (line[0] != '0' || line[1] != 'x') {
			sw = named(line, sw);
			continue;
		}
		number lid = parse(&line, 16), port = parse(&line, 10);
		if (sw == NONE || (lid < s.lids && ports[cell(lid, sw)] != NO_PORT))
			REFUSE("a row before the first switch, or a LID twice");
		if (lid < s.lids)
			ports[cell(lid, sw)] = (uint8_t)below(port, PORTS);
	}
	return ports;
}

static void read_levels(const char *path)
{
	uint8_t lanes[LANES];
	uint32_t sw = NONE;

	begin(path);
	const char *line = strchr(next(true), ':');
	if (!line)
		REFUSE("expected 'SL to VL:' and 16 lanes");
	line++;
	for (unsigned i = 0; i < LANES; i++)
		lanes[i] = (uint8_t)below(parse(&line, 10), LANES);
	s.lane = memset(take(cell(s.lids + 63, 0)), lanes[0], cell(s.lids + 63, 0));
	while (!strstr(line = next(true), "switches dumped")) {
		sw = named(line, sw);
		if (line[0] != '0' || line[1] != 'x' || sw == NONE)
			continue;
		number lid = parse(&line, 16),
		       last = *line == '-' && line++ ? parse(&line, 16) : lid;
		uint8_t lane = lanes[below(parse(&line, 10), LANES)];
		for (; lid <= last && lid < s.lids; lid++)
			s.lane[cell(lid, sw)] = lane;
	}
}

/* A line of at most so many numbers of so many hexadecimal digits. All digits f: NONE. */
static void read_row(number digits, size_t most, uint32_t *numbers)
{
	const char *line = next(true);
	size_t length = strlen(line);

	if (digits - 1 > 7 || length > most * digits || length % digits)
		REFUSE("the line has another length");
	for (; *line; numbers++) {
		*numbers = strspn(line, "f") >= digits ? NONE : 0;
		for (number digit = 0; digit < digits; digit++, line++)
			*numbers |= below(digit_of(*line), 16) << 4 * (digits - 1 - digit);
	}
}

/* Ranks, distances, and the row of each LID. Returns the line after these. */
static const char *read_numbers(void)
{
	const char *line;
	number lane, digits, lid, row;

	memset(s.rank, 0, sizeof(s.rank));
	while (sscanf(line = next(true), "lane %llu digits %llu", &lane, &digits) == 2) {
		s.rank[below(lane, LANES)] = take(s.switches * PORTS * sizeof(uint32_t));
		for (uint32_t i = 0; i < s.switches; i++)
			read_row(digits, NO_PORT - 1, s.rank[lane] + s.sw_of[i] * PORTS + 1);
	}
	if (sscanf(line, "distances %llu digits %llu", &s.rows, &digits) != 2)
		REFUSE("expected distances");
	s.distance = take(below(s.rows, LIDS) * s.switches * sizeof(*s.distance));
	for (row = 0; row < s.rows; row++) {
		read_row(digits, s.switches, s.row);
		for (uint32_t i = 0; i < s.switches; i++)
			s.distance[row * s.switches + s.sw_of[i]] =
			    s.row[i] < s.switches ? s.row[i] : s.switches;
	}
	memset(s.row_of, 0xFF, sizeof(s.row_of));
	next(true); /* the number of LIDs */
	while (sscanf(line = next(true), "0x%llx %llu", &lid, &row) == 2)
		s.row_of[below(lid, LIDS)] = below(row, s.rows);
	return line;
}

static void read_head(const char *path)
{
	number version;
	const char *line;

	begin(path);
	if (sscanf(next(true), "heddle certificate %llu", &version) != 1 || version - 1 > 1)
		REFUSE("no certificate of version 1 or 2");
	if (sscanf(line = next(true), "made %127[^\n]", s.made) == 1)
		line = next(true);
	sscanf(line, "unreached %llu", &s.unreached);
	next(true); /* the number of switches, which is that of the topology */
	for (uint32_t i = 0; i < s.switches; i++) {
		line = next(true);
		s.sw_of[i] = switch_of(parse(&line, 16));
		if (s.passing[s.sw_of[i]]++)
			REFUSE("the switch is there twice");
	}
}

/* A port leads nearer, with a higher rank than any link by which packets came. All have come. */
static void check_port(uint32_t lid, uint32_t sw, uint32_t port, const uint32_t *distance)
{
	uint32_t peer = s.peer[sw * PORTS + port];
	bool right = sw == s.to[lid] / PORTS ? port == s.to[lid] % PORTS
		     : peer == NONE	     ? s.lossy
					     : distance[peer] < distance[sw];

	for (unsigned left = peer == NONE ? 0 : s.passing[sw]; right && left; left &= left - 1) {
		unsigned lane = (unsigned)__builtin_ctz(left);
		uint32_t rank = s.rank[lane] ? s.rank[lane][sw * PORTS + port] : NONE;
		right = rank != NONE && rank >= s.above[sw][lane];
		if (!(s.passing[peer] >> lane & 1) || s.above[peer][lane] <= rank)
			s.above[peer][lane] = rank + 1;
		s.passing[peer] |= (uint16_t)(1u << lane);
	}
	if (!right)
		REFUSE("switch %llx: LID %u by port %u: no nearer, or no higher", s.guid[sw], lid,
		       port);
}

static void check_switch(uint32_t lid, uint32_t sw, const uint32_t *distance)
{
	uint8_t ports[PORTS + 1];
	unsigned lane = s.lane ? s.lane[cell(lid, sw)] : 0;
	bool adapter = s.to[lid] % PORTS; /* packets to a switch are management packets */

	if (s.sends[sw] && adapter && !(s.passing[sw] >> lane & 1)) {
		s.passing[sw] |= (uint16_t)(1u << lane);
		s.above[sw][lane] = 0;
	}
	ports[0] = s.port[cell(lid, sw)];
	unsigned count = ports[0] != NO_PORT;
	if (s.add_ports && (s.lossy || s.passing[sw] || !adapter))
		count = s.add_ports(lid, sw, ports, count);
	if (!count && distance[sw] < s.switches && !s.lossy)
		REFUSE("switch %llx: LID %u has a distance, but no entry", s.guid[sw], lid);
	s.missing += !count;
	for (unsigned i = 0; i < count; i++)
		check_port(lid, sw, ports[i], distance);
}

/* Puts switches in order: those without a distance, then those farthest from the destination. */
static void sort_row(const uint32_t *distance)
{
	memset(s.first, 0, (s.switches + 2) * sizeof(*s.first));
	for (uint32_t sw = 0; sw < s.switches; sw++)
		s.first[s.switches - distance[sw] + 1]++;
	for (uint32_t i = 0; i <= s.switches; i++)
		s.first[i + 1] += s.first[i];
	for (uint32_t sw = 0; sw < s.switches; sw++)
		s.order[s.first[s.switches - distance[sw]]++] = sw;
}

static void prove(void)
{
	for (uint32_t lid = 1, row, sorted = NONE; lid < s.lids; lid++) {
		if (s.to[lid] == NONE)
			continue;
		if ((row = s.row_of[lid]) == NONE)
			REFUSE("LID %u has no distances", lid);
		const uint32_t *distance = s.distance + (size_t)row * s.switches;
		if (row != sorted)
			sort_row(distance);
		sorted = row;
		memset(s.passing, 0, s.switches * sizeof(*s.passing));
		for (uint32_t i = 0; i < s.switches; i++)
			check_switch(lid, s.order[i], distance);
	}
	if (s.missing != s.unreached && !s.lossy)
		REFUSE("%llu pairs of a switch and a LID have no entry", s.missing);
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
	if (strcmp(read_numbers(), "end") != 0)
		REFUSE("expected 'end'");
	prove();
	printf("proved%s%s; %llu pairs of a switch and a LID have no entry\n",
	       *s.made ? ", made " : "", s.made, s.missing);
	return 0;
}
#endif
