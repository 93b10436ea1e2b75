/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a site that verify_certificate.c and the other programs read; they include this file.
 *
 * Names are data: whoever names a node must not be able to say anything else. So each file has a grammar, a list of
 * forms. Every line has one of them from its first to its last byte, or the file is refused. A form begins with a letter
 * for the reader. In the rest a tab stands for blanks and tabs, %u for a decimal and %x for a hexadecimal number of at
 * most 16 digits, %g for such a number in parentheses, which may be missing, %X for one of 16 digits, %c for S, H or R, %s for any text, as long as possible, and %p for text without quotes, as short as possible. "$" stands
 * for the end of the file. Blanks at the end of a line do not count. doc/guide/certificates.md shows the forms.
 *
 * The readers come in this order: topology, tables, service levels. What a file leaves out is refused where a proof
 * could miss it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 256, NO_PORT = 255, LANES = 16, NO_LANE = 15, LINE = 1 << 18 };
#define NONE UINT32_MAX
#ifndef LIDS /* a test has fewer, which is faster */
#define LIDS 0xC000
#endif

typedef unsigned long long number;

static number n[20]; /* the numbers of the last line */
static char text[LINE]; /* the last line */

static struct {
	FILE *stream; /* that is being read */
	const char *path;
	number line; /* the number of the last line */
} file;

struct end { /* of a cable: the letter and GUID of the node, and so on */
	number letter, guid, port, port_guid, lid;
};

static struct { /* what the files say */
	uint32_t switches, lids; /* lids: the highest + 1 */
	number guid[LIDS], lid[LIDS]; /* [switches] in the order of the topology */
	uint32_t ports[LIDS]; /* [switches] */
	uint32_t adapters;
	number adapter[LIDS]; /* [adapters] their GUIDs */
	struct end *far[LIDS]; /* [switches][PORTS] port ~0: no cable */
	uint32_t *peer; /* [switches * PORTS] switch * PORTS + port of a switch there, or NONE */
	bool *sends; /* [switches * PORTS] an adapter is cabled to the port; port 0: to any port */
	uint32_t to[LIDS]; /* switch * PORTS + port that has the LID (0: the switch), or NONE */
	number owner[LIDS]; /* the GUID of that port; 0: unknown */
	uint8_t *port, *level; /* [cells] of the tables and levels; level NULL: all 0 */
	uint32_t whole; /* tables that have a last line */
	uint8_t lanes[LANES]; /* of the levels */
	uint8_t *maps[LIDS]; /* [switches] lanes by input port, output port and level */
	bool by_ports; /* the maps count, not the lanes */
	unsigned used, dropped; /* levels that packets have; levels that have no lane somewhere */
} s;

#define REFUSE(...)                                                                                \
	(printf("not proved: %s:%llu: ", file.path, file.line), printf(__VA_ARGS__), puts(""),     \
	 exit(1))

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

/* Lines. */

static void begin(const char *path)
{
	file.path = path;
	file.line = 0;
	if (!(file.stream = fopen(path, "re")))
		REFUSE("cannot be opened");
}

/* Reads a line without the blanks at its end; false at the end of the file. */
static bool next(void)
{
	file.line++;
	if (!fgets(text, LINE, file.stream))
		return false;
	size_t length = strlen(text);
	if (!length || text[length - 1] != '\n')
		REFUSE("the line is too long, or has no end, or a byte 0");
	while (length && strchr(" \t\r\n", text[length - 1]))
		text[--length] = '\0';
	return true;
}

static uint32_t digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return (uint32_t)(letter - '0');
	return letter >= 'a' && letter <= 'f' ? (uint32_t)(letter - 'a') + 10 : NONE;
}

/* Whether the line has the form; its numbers go to `to`. */
static bool is(const char *line, const char *form, number *to)
{
	for (; *form; form++) {
		size_t blanks = strspn(line, " \t"), length = 0;
		if (*form != '%') {
			if (*form == '\t' ? !blanks : *form != *line)
				return false;
			line += *form == '\t' ? blanks : 1;
		} else if (*++form == 's' || *form == 'p') {
			bool longest = *form++ == 's';
			while (line[length] && (longest || line[length] != '"'))
				length++;
			for (size_t i = 0; i <= length; i++)
				if (is(line + (longest ? length - i : i), form, to))
					return true;
			return false;
		} else if (*form == 'c') {
			*to++ = (number)*line;
			if (!*line || !strchr("SHR", *line++))
				return false;
		} else if (*form == 'g') {
			*to++ = 0;
			if (line[blanks] != '(')
				continue;
			for (line += blanks + 1; digit_of(*line) < 16 && to[-1] >> 60 == 0; line++)
				to[-1] = to[-1] * 16 + digit_of(*line);
			if (*line++ != ')')
				return false;
		} else {
			uint32_t base = *form == 'u' ? 10 : 16;
			for (*to = 0; length < 16 && digit_of(line[length]) < base; length++)
				*to = *to * base + digit_of(line[length]);
			if (!length || (*form == 'X' && length != 16))
				return false;
			line += length;
			to++;
		}
	}
	return !*line;
}

/* Reads a line, and returns the letter of its form. */
static char get(const char *const *forms)
{
	for (bool more = next(); *forms; forms++)
		if (more ? **forms != '$' && is(text, *forms + 1, n) : **forms == '$')
			return **forms;
	REFUSE("the line has none of the forms, or the file ends too early");
}

/* The topology, which ibnetdiscover prints: switches come before adapters. */

static const char *const topology_lines[] = {
    "P[%u]\t\"%c-%X\"[%u]%g\t# \"%s\" lid %u%p", /* a cable of a switch */
    "R[%u]%g\t\"S-%X\"[%u]\t# lid %u lmc %u \"%s\" lid %u%p", /* of an adapter to a switch */
    "X[%u]%g\t\"%c-%X\"[%u]%g\t# lid %u lmc %u \"%s\" lid %u%p", /* to another adapter */
    "SSwitch\t%u\t\"S-%X\"\t# \"%s\" base port 0 lid %u lmc %u",
    "SSwitch\t%u\t\"S-%X\"\t# \"%s\" enhanced port 0 lid %u lmc %u",
    "ACa\t%u\t\"H-%X\"\t# \"%s\"",
    "BRt\t%u\t\"R-%X\"\t# \"%s\"",
    "Gswitchguid=0x%x(%x)",
    "-caguid=0x%x",
    "-rtguid=0x%x",
    "-sysimgguid=0x%x",
    "-vendid=0x%x",
    "-devid=0x%x",
    "-#%s",
    "-",
    "$",
    NULL};

static uint32_t switch_of(number guid)
{
	for (uint32_t sw = 0; sw < s.switches; sw++)
		if (s.guid[sw] == guid)
			return sw;
	REFUSE("the topology has no such node: %llx", guid);
}

static void own(number lid, number lmc, uint32_t place, number port_guid)
{
	for (number end = lid + (1u << below(lmc, 8)); lid && lid < end; lid++) {
		if (s.to[below(lid, LIDS)] != NONE)
			REFUSE("LID %llu has two owners", lid);
		s.to[lid] = place;
		s.owner[lid] = port_guid;
		s.lids = lid >= s.lids ? (uint32_t)lid + 1 : s.lids;
	}
}

static void check_new(void)
{
	for (uint32_t i = 0; i < s.adapters || i < s.switches; i++)
		if ((i < s.adapters && s.adapter[i] == n[1]) ||
		    (i < s.switches && s.guid[i] == n[1]))
			REFUSE("two nodes have this GUID");
}

static void add_switch(number port_guid)
{
	check_new();
	uint32_t sw = below(s.switches++, LIDS - 1);
	s.ports[sw] = below(n[0], NO_PORT);
	s.guid[sw] = n[1];
	s.lid[sw] = n[2];
	s.far[sw] = take(PORTS * sizeof(**s.far));
	own(n[2], n[3], sw * PORTS, port_guid);
}

static void add_adapter(void)
{
	check_new();
	s.adapter[below(s.adapters++, LIDS)] = n[1];
}

/* What an adapter with that GUID says of its cable to a switch is what the switch has said. */
static void check_cable(number letter, number guid)
{
	const struct end end = {letter, guid, n[0], n[1], n[4]};
	uint32_t sw = switch_of(n[2]), place = sw * PORTS + below(n[3], PORTS);

	if (memcmp(&s.far[sw][n[3]], &end, sizeof(end)) != 0 || s.sends[place] || n[6] != s.lid[sw])
		REFUSE("the switch says otherwise");
	s.sends[place] = s.sends[sw * PORTS] = true;
	own(n[4], n[5], place, n[1]);
}

/* Cables that are not to adapters are to switches, which say the same. */
static void find_peers(void)
{
	s.peer = take(s.switches * PORTS * sizeof(*s.peer));
	for (uint32_t i = 0; i < s.switches * PORTS; i++) {
		const struct end *end = &s.far[i / PORTS][i % PORTS];
		const struct end self = {'S', s.guid[i / PORTS], i % PORTS, 0, s.lid[i / PORTS]};
		if (end->port == UINT64_MAX || s.sends[i])
			continue;
		if (end->letter != 'S')
			REFUSE("switch %llx: an adapter at port %u does not say so",
			       s.guid[i / PORTS], i % PORTS);
		uint32_t sw = switch_of(end->guid), port = below(end->port, PORTS);
		if (memcmp(&s.far[sw][port], &self, sizeof(self)) != 0)
			REFUSE("port %u of switch %llx: the other end says otherwise", i % PORTS,
			       s.guid[i / PORTS]);
		s.peer[i] = sw * PORTS + port;
	}
}

static void read_topology(const char *path)
{
	number guid = 0, letter = 0,
	       said[2] = {0}; /* of the node; of the coming switch and its port 0 */
	number ports = 0; /* of the node to which cables belong; 0: no node */
	uint32_t sw = NONE; /* that node; NONE: an adapter */
	char kind;

	memset(s.to, 0xFF, sizeof(s.to));
	if (!(s.sends = calloc(LIDS, PORTS)))
		REFUSE("no memory");
	for (begin(path); (kind = get(topology_lines)) != '$';) {
		if (kind >= 'P' && kind != 'S') {
			if (n[0] - 1 >= ports || (kind == 'P') != (sw != NONE))
				REFUSE("not a cable of the node before");
			if (kind == 'R')
				check_cable(letter, guid);
			else if (kind != 'X' && s.far[sw][n[0]].port != UINT64_MAX)
				REFUSE("the port has two cables");
			else if (kind != 'X')
				memcpy(&s.far[sw][n[0]], n + 1, sizeof(struct end));
			continue;
		}
		ports = kind == '-' || kind == 'G' ? 0 : n[0];
		if (kind != '-' && kind != 'G' && ports - 1 >= NO_PORT - 1)
			REFUSE("expected 1 to 254 ports");
		guid = n[1];
		sw = kind == 'S' ? s.switches : NONE;
		if (kind == 'S')
			add_switch(said[0] == guid ? said[1] : 0);
		if (kind == 'A' || kind == 'B')
			add_adapter();
		letter = kind == 'A' ? 'H' : 'R';
		if (kind == 'G')
			memcpy(said, n, sizeof(said));
	}
	find_peers();
	if (!s.lids)
		REFUSE("no LIDs");
}

/* Tables, as OpenSM, ibroute and dump_fts write them. */

static const char *const table_lines[] = {
    "R0x%x %u%s",
    "OUnicast lids [%u-%u] of switch Lid %u guid 0x%x (%s):",
    "TUnicast lids [0x%x-0x%x] of switch Lid %u guid 0x%x (%s):",
    "DUnicast lids [0x%x-0x%x] of switch DR path %p guid 0x%x (%s):",
    "C%u lids dumped",
    "C%u valid lids dumped",
    "-\tLid\tOut\tDestination",
    "-\tPort\tInfo",
    "-",
    "-*** WARNING ***: this command has been replaced by dump_fts",
    "$",
    NULL};

/* Numbers of 64 LIDs lie together, for one switch after the other: a proof takes LID by LID. */
static size_t cell(number lid, uint32_t sw)
{
	return ((size_t)(lid / 64) * s.switches + sw) * 64 + lid % 64;
}

/* `0x0001 012`, and text. The first port GUID in it is that of the port that has the LID. */
static void read_entry(uint8_t *ports, uint32_t sw)
{
	const char *more = text + strlen("0x0001 012"), *guid = strstr(more, "portguid 0x");
	number lid = n[0], port = n[1], said;
	bool known = lid < s.lids && s.to[lid] != NONE;

	if (sw == NONE || text[6] != ' ' || strspn(text + 7, "0123456789") != 3 ||
	    (*more && *more != ' ') || port >= PORTS)
		REFUSE("expected an entry of a switch, such as 0x0001 012");
	if (guid && known && port != NO_PORT &&
	    (!is(guid, "portguid 0x%x%s", &said) || (s.owner[lid] && said != s.owner[lid])))
		REFUSE("another port has this LID");
	if (known && ports[cell(lid, sw)] != NO_PORT)
		REFUSE("the LID is there twice");
	if (known)
		ports[cell(lid, sw)] = (uint8_t)port;
}

/* Tables need no last line: whoever lacks entries has pairs without one, which are counted. */
static uint8_t *read_tables(const char *path)
{
	uint8_t *ports = take(cell(s.lids + 63, 0)), *fresh = take(s.switches);
	number rows = 0, last = NONE; /* the last LID, where OpenSM counts LIDs */
	uint32_t sw = NONE;
	char kind;

	s.whole = 0;
	for (begin(path); (kind = get(table_lines)) != '$';) {
		if (kind == 'R') {
			read_entry(ports, sw);
			rows++;
		} else if (kind == 'C') {
			if (sw == NONE || n[0] != (last == NONE ? rows : last))
				REFUSE("another number of rows, or of LIDs, came before");
			s.whole++;
			sw = NONE;
		} else if (kind != '-') {
			sw = switch_of(n[kind == 'D' ? 2 : 3]);
			last = kind == 'O' ? n[1] : NONE;
			if (!fresh[sw] || (kind != 'D' && n[2] != s.lid[sw]))
				REFUSE("the switch has a table already, or another LID");
			rows = fresh[sw] = 0;
		}
	}
	return ports;
}

/* Tables of which nothing may be missing: no other number of a change would show it. */
static inline uint8_t *read_whole_tables(const char *path)
{
	uint8_t *ports = read_tables(path);

	if (s.whole != s.switches)
		REFUSE("not all switches have a table with a last line");
	return ports;
}

/* Service levels and lanes, which heddle route --sl writes. */

#define SIXTEEN " %u %u %u %u %u %u %u %u %u %u %u %u %u %u %u %u"

static const char *const level_lines[] = {"ASL to VL:" SIXTEEN,
					  "VVirtual lanes at switch guid 0x%x ('%s'):",
					  "P%u %u :" SIXTEEN,
					  "Q* %u :" SIXTEEN,
					  "SService levels at switch guid 0x%x ('%s'):",
					  "L0x%x-0x%x %u",
					  "M0x%x %u",
					  "C%u runs dumped",
					  "E%u switches dumped",
					  "$",
					  NULL};

/* The lane of level 0 from one port of the switch to another; those of other levels follow. */
static uint8_t *map_of(uint32_t sw, number in, number out)
{
	return s.maps[sw] + (in * (s.ports[sw] + 1) + out) * LANES;
}

static void set_lanes(uint8_t *lanes, const number *said)
{
	if (*lanes != NO_PORT)
		REFUSE("these lanes are there twice");
	for (unsigned level = 0; level < LANES; level++) {
		lanes[level] = (uint8_t)below(said[level], LANES);
		s.dropped |= (unsigned)(lanes[level] == NO_LANE) << level;
	}
}

/* Whether an adapter has the LID. */
static bool is_adapter(number lid)
{
	return s.to[below(lid, s.lids)] != NONE && s.to[lid] % PORTS;
}

/* A row of the lanes of a switch (P, Q), or of its levels (L, M). */
static void read_run(uint32_t sw, char kind)
{
	bool two = kind == 'P' || kind == 'L'; /* numbers before the lanes, or level */
	uint32_t ports = s.ports[sw] + 1;
	number level = n[1 + two];

	if (kind == 'P' || kind == 'Q') {
		uint32_t out = below(n[two], ports), first = two ? below(n[0], ports) : 0;
		for (uint32_t in = first; in <= (two ? first : ports - 1); in++)
			set_lanes(map_of(sw, in, out), n + 1 + two);
		return;
	}
	if (n[0] > n[two] || !is_adapter(n[0]) || !is_adapter(n[two]))
		REFUSE("no adapters have these LIDs");
	s.used |= 1u << below(level, LANES);
	for (number lid = n[0]; lid <= n[two]; lid++) {
		if (s.level[cell(lid, sw)] != NO_PORT)
			REFUSE("LID %llu is there twice", lid);
		s.level[cell(lid, sw)] = (uint8_t)level;
	}
}

/* Switches have lanes from each port to each link, if any have; adapters have levels to all LIDs. */
static void check_levels(void)
{
	for (uint32_t sw = 0; sw < s.switches; sw++) {
		for (uint32_t lid = 1; s.level && s.sends[sw * PORTS] && lid < s.lids; lid++)
			if (is_adapter(lid) && s.level[cell(lid, sw)] == NO_PORT)
				REFUSE("switch %llx has no level for LID %u", s.guid[sw], lid);
		uint32_t ports = s.ports[sw] + 1;
		for (uint32_t i = 0; s.by_ports && i < ports * ports; i++)
			if (s.peer[sw * PORTS + i % ports] != NONE &&
			    (!s.maps[sw] || *map_of(sw, 0, i) == NO_PORT))
				REFUSE("switch %llx has no lanes from port %u to port %u",
				       s.guid[sw], i / ports, i % ports);
	}
	if ((s.level ? s.used : 1) & s.dropped)
		REFUSE("packets have a level without a lane");
}

static void read_levels(const char *path)
{
	number blocks = 0, rows = 0;
	uint32_t sw = NONE, ports;
	char kind, block = 0; /* the letter of its first line; 0: between blocks */

	begin(path);
	memset(s.lanes, NO_PORT, LANES);
	if (get(level_lines) != 'A')
		REFUSE("expected the lanes of the levels");
	for (set_lanes(s.lanes, n); (kind = get(level_lines)) != 'E';) {
		bool lanes = kind == 'P' || kind == 'Q', level = kind == 'L' || kind == 'M';
		if (!block && (kind == 'V' || kind == 'S')) {
			sw = switch_of(n[0]);
			ports = s.ports[sw] + 1;
			block = kind;
			rows = 0;
			s.by_ports |= kind == 'V';
			blocks += kind == 'S';
			if (kind == 'V' && s.maps[sw])
				REFUSE("the switch is there twice");
			if (kind == 'V')
				s.maps[sw] = take((size_t)ports * ports * LANES);
			else if (!s.level)
				s.level = take(cell(s.lids + 63, 0));
		} else if ((block == 'V' && lanes) || (block == 'S' && level)) {
			read_run(sw, kind);
			rows++;
		} else if (block && kind == 'C' && n[0] == rows) {
			block = 0;
		} else {
			REFUSE("this line does not belong here, or rows are missing");
		}
	}
	if (block || n[0] != blocks || get(level_lines) != '$')
		REFUSE("another number of switches came before, or more follows");
	check_levels();
}
