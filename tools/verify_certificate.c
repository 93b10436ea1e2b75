/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify_certificate CERTIFICATE TOPOLOGY TABLES [LEVELS|- [PLAN]]
 *
 * Proves with a certificate that every packet that finds an entry arrives, and that no lane has a
 * credit loop. TOPOLOGY is what ibnetdiscover prints, TABLES what OpenSM, ibroute or dump_lfts.sh
 * write, LEVELS and PLAN what heddle route --sl and heddle ar plan write. Needs nothing but libc:
 *	cc -O2 -o verify_certificate verify_certificate.c
 * Exit status: 0 proved, 1 not proved, 2 bad usage or no memory. doc/guide/certificates.md has the
 * format and says what is proved.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CERTIFICATE = 1, TOPOLOGY, TABLES, LEVELS, PLAN, FILES };
enum { PORTS = 256, NO_PORT = 255, LIDS = 0xC000, LANES = 16, GROUPS = 4096 };
enum { STATIC = 0xFFFE, NO_ENTRY = 0xFFFF }; /* in place of a group */
#define NONE UINT32_MAX

typedef unsigned long long number; /* what sscanf() reads as %llu and %llx */

static struct {
	const char *path; /* of the file that is being read; NULL: none is */
	FILE *stream;
	char *line;
	size_t line_room;
	number line_number;

	uint32_t switches, lids; /* lids: the highest + 1 */
	uint64_t guid[LIDS]; /* [switches] ascending */
	uint32_t *peer; /* [switches * PORTS] switch behind the cable of a port, or NONE */
	bool *sends; /* [switches] an adapter is cabled to it */
	uint32_t to[LIDS]; /* switch * PORTS + port that has the LID (0: the switch), or NONE */
	uint8_t *port, *lane; /* [switches * lids] of the tables and levels */
	uint16_t *group; /* [switches * lids] of the plan */
	uint64_t (**ports)[PORTS / 64]; /* [switches][GROUPS] sets; NULL: no groups */

	number unreached; /* pairs of a switch and a LID without an entry */
	uint32_t *rank[LANES]; /* [switches * PORTS] */
	uint32_t *distance; /* [rows * switches]; `switches`: none */
	uint32_t row_of[LIDS]; /* NONE: no destination */
	uint32_t *order; /* [switches] by distance, farthest first */
	uint32_t *first; /* [switches + 2] where switches of a distance begin in `order` */
	uint32_t *above; /* [switches * LANES] 1 + the highest rank by which packets come */
	uint16_t *passing; /* [switches] lanes of the packets to the LID at hand */
} s;

static _Noreturn void refuse(const char *format, ...)
{
	va_list arguments;

	printf("not proved: ");
	if (s.path)
		printf("%s:%llu: ", s.path, s.line_number);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	exit(1);
}

/* count * size bytes of that value, and one element more. */
static void *take(size_t count, size_t size, int byte)
{
	void *block = calloc(count + 1, size);

	if (!block)
		refuse("no memory");
	return byte ? memset(block, byte, count * size) : block;
}

static uint32_t below(number value, number limit)
{
	if (value >= limit)
		refuse("%llu is not below %llu", value, limit);
	return (uint32_t)value;
}

static void begin(const char *path)
{
	if (s.stream)
		fclose(s.stream);
	s.path = path;
	s.line_number = 0;
	s.stream = fopen(path, "re");
	if (!s.stream)
		refuse("cannot be opened");
}

/* The next line without its end; NULL at the end of the file, unless there must be one. */
static char *next(bool must)
{
	ssize_t length = getline(&s.line, &s.line_room, s.stream);

	s.line_number++;
	while (length > 0 && (s.line[length - 1] == '\n' || s.line[length - 1] == '\r'))
		s.line[--length] = '\0';
	if (length < 0 && must)
		refuse("the file ends too early");
	return length < 0 ? NULL : s.line;
}

static int by_guid(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static uint32_t switch_of(uint64_t guid)
{
	uint64_t *found = bsearch(&guid, s.guid, s.switches, sizeof(guid), by_guid);

	if (!found)
		refuse("the topology has no such switch");
	return (uint32_t)(found - s.guid);
}

/* ---- the topology ---- */

static void own(number lid, number lmc, uint32_t place)
{
	for (number end = lid + (1u << below(lmc, 17)); lid && lid < end; lid++) {
		if (s.to[below(lid, LIDS)] != NONE)
			refuse("LID %llu has two owners", lid);
		s.to[lid] = place;
		s.lids = lid >= s.lids ? (uint32_t)lid + 1 : s.lids;
	}
}

/* A cable of a switch, or of an adapter (sw NONE). */
static void read_cable(const char *line, uint32_t sw)
{
	number port, guid, far, lid, lmc;
	int found = sscanf(line, "[%llu]%*[^\"]\"S-%llx\"[%llu]%*[^#]# lid %llu lmc %llu", &port,
			   &guid, &far, &lid, &lmc);

	if (found < 3 && sw != NONE) {
		s.sends[sw] = true;
	} else if (sw != NONE) {
		s.peer[sw * PORTS + below(port, PORTS)] = switch_of(guid);
	} else if (found == 5) {
		s.sends[sw = switch_of(guid)] = true;
		own(lid, lmc, sw * PORTS + below(far, PORTS));
	} else if (found >= 3) {
		refuse("expected a LID");
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
	qsort(s.guid, s.switches, sizeof(*s.guid), by_guid);
	s.peer = take((size_t)s.switches * PORTS, sizeof(*s.peer), 0xFF);
	s.sends = take(s.switches, sizeof(*s.sends), 0);
	s.order = take(s.switches, sizeof(*s.order), 0);
	s.first = take(s.switches + 2, sizeof(*s.first), 0);
	s.above = take((size_t)s.switches * LANES, sizeof(*s.above), 0);
	s.passing = take(s.switches, sizeof(*s.passing), 0);
	memset(s.to, 0xFF, sizeof(s.to));
	for (begin(path); (line = next(false));) {
		if (sscanf(line, "Switch %*u \"S-%llx", &guid) == 1) {
			sw = switch_of(guid);
			line = strrchr(line, '"');
			if (sscanf(line, "\" %*s port 0 lid %llu lmc %llu", &lid, &lmc) != 2)
				refuse("expected a LID");
			own(lid, lmc, sw * PORTS);
		} else if (*line == '[') {
			read_cable(line, sw);
		} else if (!strncmp(line, "Ca", 2) || !strncmp(line, "Rt", 2)) {
			sw = NONE;
		}
	}
}

/* ---- tables, service levels, plan ---- */

static size_t cell(number lid, uint32_t sw)
{
	return (size_t)sw * s.lids + lid;
}

static void read_tables(const char *path)
{
	const char *line;
	number guid;
	uint32_t sw = NONE;

	s.port = take((size_t)s.lids * s.switches, 1, NO_PORT);
	for (begin(path); (line = next(false));) {
		if (!strncmp(line, "0x", 2)) {
			char *rest;
			number lid = strtoull(line, &rest, 16), port = strtoull(rest, NULL, 10);
			if (sw == NONE || (lid < s.lids && s.port[cell(lid, sw)] != NO_PORT))
				refuse("a row before the first switch, or a LID twice");
			if (lid < s.lids)
				s.port[cell(lid, sw)] = (uint8_t)below(port, PORTS);
		} else if (sscanf(line, "Unicast lids [%*[^]]] of switch Lid %*u guid %llx",
				  &guid) == 1) {
			sw = switch_of(guid);
		}
	}
}

static void read_levels(const char *path)
{
	number guid, first, last;
	uint8_t lanes[LANES];
	uint32_t sw = NONE;
	char *line, *rest;

	begin(path);
	rest = strchr(next(true), ':');
	for (unsigned i = 0; rest && i < LANES; i++)
		lanes[i] = (uint8_t)below(strtoull(rest + 1, &rest, 10), LANES);
	if (!rest)
		refuse("expected 'SL to VL:' and 16 lanes");
	s.lane = take((size_t)s.lids * s.switches, 1, lanes[0]);
	while (!strstr(line = next(true), "switches dumped")) {
		if (sscanf(line, "Service levels at switch guid %llx", &guid) == 1)
			sw = switch_of(guid);
		if (strncmp(line, "0x", 2) != 0 || sw == NONE)
			continue;
		first = last = strtoull(line, &rest, 16);
		if (*rest == '-')
			last = strtoull(rest + 1, &rest, 16);
		for (; first <= last && first < s.lids; first++)
			s.lane[cell(first, sw)] = lanes[below(strtoull(rest, NULL, 10), LANES)];
	}
}

/* `1 - 0 : 5, 6,`: the ports of a sub-group. */
static void read_group(uint32_t sw, number group, char *ports)
{
	if (!s.ports[sw])
		s.ports[sw] = take(GROUPS, sizeof(**s.ports), 0);
	for (char *end = NULL; end != ports; ports = *end == ',' ? end + 1 : end) {
		number port = below(strtoull(ports, &end, 10), NO_PORT);
		if (end != ports)
			s.ports[sw][below(group, GROUPS)][port / 64] |= UINT64_C(1) << port % 64;
	}
}

/* `0x0004 : 5 : free : 1`, or `- ` for a static entry. */
static void read_entry(uint32_t sw, number lid, number port, const char *group)
{
	static const uint64_t none[PORTS / 64];
	uint16_t *place = &s.group[cell(below(lid, s.lids), sw)];

	if (*place != NO_ENTRY || s.port[cell(lid, sw)] != below(port, NO_PORT))
		refuse("a LID is there twice, or its static port is not that of the tables");
	*place = STATIC;
	if (!strcmp(group, ": -"))
		return;
	*place = (uint16_t)below(strtoull(group + 1, NULL, 10), GROUPS);
	if (!s.ports[sw] || !memcmp(s.ports[sw][*place], none, sizeof(none)))
		refuse("the switch has no such group");
}

static void read_plan(const char *path)
{
	char *line, *colon, *rest;
	number guid, lid, group;
	uint32_t sw = NONE;

	s.group = take((size_t)s.lids * s.switches, sizeof(*s.group), 0xFF);
	s.ports = take(s.switches, sizeof(*s.ports), 0);
	for (begin(path); (line = next(false));) {
		colon = strrchr(line, ':');
		if (!strncmp(line, "0x", 2) && sw != NONE && colon) {
			lid = strtoull(line, &rest, 16);
			read_entry(sw, lid, strtoull(strchr(rest, ':') + 1, NULL, 10), colon);
		} else if (sscanf(line, "Switch %llx", &guid) == 1) {
			sw = switch_of(guid);
			if (!strstr(line, ") table 0"))
				refuse("plans with private tables (DFP) cannot be verified");
		} else if (sw != NONE && colon && sscanf(line, "%llu -", &group) == 1) {
			read_group(sw, group, colon + 1);
		}
	}
	/* At a switch with groups the AR table replaces the forwarding table. */
	for (lid = 1; lid < s.lids; lid++)
		for (sw = 0; sw < s.switches; sw++)
			if (s.ports[sw] && s.to[lid] != NONE && s.port[cell(lid, sw)] != NO_PORT &&
			    s.group[cell(lid, sw)] == NO_ENTRY)
				refuse("a switch with groups has no entry for LID %llu", lid);
}

/* ---- the certificate ---- */

/* A line of numbers of so many hexadecimal digits. All digits f: NONE. Returns their count. */
static size_t read_row(number digits, size_t most, uint32_t *numbers)
{
	const char *line = next(true);
	size_t count = digits && digits <= 8 ? strlen(line) / digits : most + 1;
	char one[9] = "";

	if (count > most || count * digits != strlen(line))
		refuse("the line has another length");
	for (size_t i = 0; i < count; i++) {
		memcpy(one, line + i * digits, digits);
		numbers[i] = strspn(one, "f") == digits ? NONE : (uint32_t)strtoul(one, NULL, 16);
	}
	return count;
}

static void read_numbers(const uint32_t *sw_of)
{
	uint32_t *row = take(s.switches, sizeof(*row), 0);
	const char *line;
	number lane, digits, rows, lid, at;

	while (sscanf(line = next(true), "lane %llu digits %llu", &lane, &digits) == 2) {
		if (s.rank[below(lane, LANES)])
			refuse("the lane is there twice");
		s.rank[lane] = take((size_t)s.switches * PORTS, sizeof(uint32_t), 0xFF);
		for (uint32_t i = 0; i < s.switches; i++)
			read_row(digits, NO_PORT - 1, s.rank[lane] + sw_of[i] * PORTS + 1);
	}
	if (sscanf(line, "distances %llu digits %llu", &rows, &digits) != 2)
		refuse("expected distances");
	s.distance = take((size_t)below(rows, LIDS) * s.switches, sizeof(*s.distance), 0);
	for (at = 0; at < rows; at++) {
		if (read_row(digits, s.switches, row) != s.switches)
			refuse("expected a distance for each switch");
		for (uint32_t i = 0; i < s.switches; i++)
			s.distance[at * s.switches + sw_of[i]] =
			    row[i] == NONE ? s.switches : below(row[i], s.switches);
	}
	memset(s.row_of, 0xFF, sizeof(s.row_of));
	while (strcmp(line = next(true), "end") != 0)
		if (sscanf(line, "0x%llx %llu", &lid, &at) == 2)
			s.row_of[below(lid, LIDS)] = below(at, rows);
}

static void read_certificate(const char *path)
{
	uint32_t *sw_of = take(s.switches, sizeof(*sw_of), 0);
	number count = 0, guid;

	begin(path);
	if (strcmp(next(true), "heddle certificate 1") != 0)
		refuse("no certificate of version 1");
	if (sscanf(next(true), "unreached %llu", &s.unreached) != 1 ||
	    sscanf(next(true), "switches %llu", &count) != 1 || count != s.switches)
		refuse("expected 'unreached', and the %u switches of the topology", s.switches);
	for (uint32_t i = 0; i < s.switches; i++)
		sw_of[i] = switch_of(sscanf(next(true), "%llx", &guid) == 1 ? guid : 0);
	read_numbers(sw_of);
}

/* ---- the proof ---- */

/* The ports by which packets to the LID may leave the switch; their number. */
static unsigned ports_of(uint32_t lid, uint32_t sw, bool groups, uint8_t *ports)
{
	size_t at = cell(lid, sw);
	unsigned count = 0;

	if (s.port[at] != NO_PORT)
		ports[count++] = s.port[at];
	for (unsigned i = 0; groups && s.group[at] < GROUPS && i < PORTS / 64; i++)
		for (uint64_t left = s.ports[sw][s.group[at]][i]; left; left &= left - 1)
			ports[count++] = (uint8_t)(i * 64 + (unsigned)__builtin_ctzll(left));
	return count;
}

/* Packets on the lane leave by the port. The rank is above that of any link by which they came. */
static bool cross(uint32_t sw, uint32_t port, unsigned lane)
{
	uint32_t rank = s.rank[lane] ? s.rank[lane][sw * PORTS + port] : NONE;
	uint32_t to = s.peer[sw * PORTS + port], *above = &s.above[to * LANES + lane];

	if (!(s.passing[to] >> lane & 1) || *above <= rank)
		*above = rank + 1;
	s.passing[to] |= (uint16_t)(1u << lane);
	return rank != NONE && rank >= s.above[sw * LANES + lane];
}

/* A port leads nearer to the destination, and the ranks rise. All packets that pass have come. */
static bool check_port(uint32_t lid, uint32_t sw, uint32_t port, const uint32_t *distance)
{
	uint32_t peer = s.peer[sw * PORTS + port];
	bool right = peer != NONE && distance[peer] < distance[sw];

	if (sw == s.to[lid] / PORTS)
		return port == s.to[lid] % PORTS;
	for (unsigned left = s.passing[sw]; right && left; left &= left - 1)
		right = cross(sw, port, (unsigned)__builtin_ctz(left));
	return right;
}

static void check_switch(uint32_t lid, uint32_t sw, const uint32_t *distance)
{
	uint8_t ports[PORTS + 1];
	unsigned lane = s.lane ? s.lane[cell(lid, sw)] : 0;
	bool adapter = s.to[lid] % PORTS; /* packets to a switch are management packets */

	if (s.sends[sw] && adapter && !(s.passing[sw] >> lane & 1)) {
		s.passing[sw] |= (uint16_t)(1u << lane);
		s.above[sw * LANES + lane] = 0;
	}
	unsigned count = ports_of(lid, sw, s.group && (s.passing[sw] || !adapter), ports);
	if (!count != (distance[sw] == s.switches))
		refuse("switch 0x%016llx, LID %u: an entry or a distance is missing",
		       (number)s.guid[sw], lid);
	for (unsigned i = 0; i < count; i++)
		if (!check_port(lid, sw, ports[i], distance))
			refuse("switch 0x%016llx, LID %u: port %u leads no nearer, or has no "
			       "higher rank",
			       (number)s.guid[sw], lid, ports[i]);
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
	number unreached = 0;
	uint32_t sorted = NONE;

	s.path = NULL;
	for (uint32_t lid = 1; lid < LIDS; lid++) {
		if ((s.to[lid] == NONE) != (s.row_of[lid] == NONE))
			refuse("LID %u: distances without a port, or a port without distances",
			       lid);
		if (s.to[lid] == NONE)
			continue;
		const uint32_t *distance = s.distance + (size_t)s.row_of[lid] * s.switches;
		if (s.row_of[lid] != sorted)
			sort_row(distance);
		sorted = s.row_of[lid];
		memset(s.passing, 0, s.switches * sizeof(*s.passing));
		for (uint32_t i = 0; i < s.switches; i++) {
			check_switch(lid, s.order[i], distance);
			unreached += distance[s.order[i]] == s.switches;
		}
	}
	if (unreached != s.unreached)
		refuse("%llu pairs of a switch and a LID have no entry", unreached);
}

int main(int argc, char **argv)
{
	if (argc < TABLES + 1 || argc > FILES) {
		fprintf(stderr, "Usage: %s CERTIFICATE TOPOLOGY TABLES [LEVELS|- [PLAN]]\n",
			argv[0]);
		return 2;
	}
	read_topology(argv[TOPOLOGY]);
	read_tables(argv[TABLES]);
	if (argc > LEVELS && strcmp(argv[LEVELS], "-") != 0)
		read_levels(argv[LEVELS]);
	if (argc > PLAN)
		read_plan(argv[PLAN]);
	read_certificate(argv[CERTIFICATE]);
	prove();
	printf("proved; %llu pairs of a switch and a LID have no entry\n", s.unreached);
	return 0;
}
