/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a site that verify_certificate.c and the other programs read; they include this file.
 *
 * Names are data: whoever names a node must not be able to say anything else. So each file has a grammar, a list of
 * forms. Every line has one of them from its first to its last byte, or the file is refused. A form begins with a letter
 * for the reader. In the rest a tab stands for blanks and tabs, %u for a decimal and %x for a hexadecimal number of at
 * most 16 digits, %4x for one of 4 digits, %g for a hexadecimal number in parentheses, which may be missing, %c for S, H
 * or R, %p for the numbers of a directed path, %q for the rest without quotes, and %s for any text, as long as possible.
 * "$" stands for the end of the file. Blanks at the end of a line do not count. doc/guide/certificates.md shows the forms.
 *
 * The readers come in this order: topology, tables, and verify_levels.c. What a file leaves out is refused where a
 * proof could miss it.
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

static struct cable { /* as one end says */
	struct end {
		number letter, guid, port, port_guid, lid; /* letter: of the node */
	} here, there;
	number lmc;
} cables[LIDS * 16];

static struct { /* what the files say */
	uint32_t switches, lids; /* lids: the highest + 1 */
	number guid[LIDS], lid[LIDS]; /* [switches] in the order of the topology */
	uint32_t ports[LIDS]; /* [switches] */
	uint32_t nodes, cables;
	number node[LIDS]; /* [nodes] GUIDs, also of switches */
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
		size_t blanks = strspn(line, " \t"), length = 0, width = 0;
		if (*form != '%') {
			if (*form == '\t' ? !blanks : *form != *line)
				return false;
			line += *form == '\t' ? blanks : 1;
			continue;
		}
		for (form++; digit_of(*form) < 10; form++)
			width = width * 10 + digit_of(*form);
		if (*form == 's') {
			for (length = strlen(line) + 1; length-- > 0;)
				if (is(line + length, form + 1, to))
					return true;
			return false;
		}
		bool group = *form == 'g' && *line == '(';
		if (*form == 'p' || *form == 'q') {
			line +=
			    *form == 'p' ? strspn(line, "0123456789,; slid") : strcspn(line, "\"");
		} else if (*form == 'c') {
			if (!*line || !strchr("SHR", *line))
				return false;
			*to++ = (number)*line++;
		} else {
			uint32_t base = *form == 'u' ? 10 : 16;
			line += group;
			*to = 0;
			for (; (*form != 'g' || group) && length < 16 &&
			       digit_of(line[length]) < base;
			     length++)
				*to = *to * base + digit_of(line[length]);
			to++;
			line += length;
			if ((*form != 'g' && !length) || (width && length != width) ||
			    (group && *line++ != ')'))
				return false;
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

/* The topology, which ibnetdiscover prints, also with -g. */

static const char *const topology_lines[] = {
    "P[%u]\t\"%c-%16x\"[%u]%g\t# \"%s\" lid %u%q", /* a cable of a switch */
    "A[%u]%g\t\"%c-%16x\"[%u]%g\t# lid %u lmc %u \"%s\" lid %u%q", /* of an adapter */
    "SSwitch\t%u\t\"S-%16x\"\t# \"%s\" base port 0 lid %u lmc %u",
    "SSwitch\t%u\t\"S-%16x\"\t# \"%s\" enhanced port 0 lid %u lmc %u",
    "HCa\t%u\t\"H-%16x\"\t# \"%s\"",
    "RRt\t%u\t\"R-%16x\"\t# \"%s\"",
    "Gswitchguid=0x%x(%x)",
    "Gswitchguid=0x%x(%x)\t#%s",
    "-caguid=0x%x",
    "-rtguid=0x%x",
    "-sysimgguid=0x%x",
    "-sysimgguid=0x%x\t# Chassis %s",
    "-vendid=0x%x",
    "-devid=0x%x",
    "-Chassis %s",
    "-Non-Chassis Nodes",
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

/* The node of a header; port_guid: that of port 0 of a switch. */
static struct end add_node(char letter, number port_guid)
{
	for (uint32_t i = 0; i < s.nodes; i++)
		if (s.node[i] == n[1])
			REFUSE("two nodes have this GUID");
	s.node[below(s.nodes++, LIDS - 1)] = n[1];
	if (n[0] - 1 >= NO_PORT - 1)
		REFUSE("expected 1 to 254 ports");
	if (letter != 'S')
		return (struct end){.letter = (number)letter, .guid = n[1]};
	s.ports[s.switches] = (uint32_t)n[0];
	s.guid[s.switches] = n[1];
	s.lid[s.switches] = n[2];
	own(n[2], n[3], s.switches++ * PORTS, port_guid);
	return (struct end){.letter = 'S', .guid = n[1], .lid = n[2]};
}

static void add_cable(struct end here, bool adapter)
{
	struct cable *cable = &cables[below(s.cables++, LIDS * 16)];

	here.port = n[0];
	memcpy(&cable->there, n + 1 + adapter, sizeof(cable->there));
	if (adapter) {
		here.port_guid = n[1];
		here.lid = n[6];
		cable->lmc = n[7];
		cable->there.lid = n[8];
	}
	cable->here = here;
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, 2 * sizeof(struct end));
}

/* A port has one cable, and both ends say the same of it. */
static void connect(void)
{
	s.peer = take(s.switches * PORTS * sizeof(*s.peer));
	if (!(s.sends = calloc(s.switches + 1, PORTS)))
		REFUSE("no memory");
	qsort(cables, s.cables, sizeof(*cables), compare);
	for (const struct cable *cable = cables; cable < cables + s.cables; cable++) {
		const struct end here = cable->here, there = cable->there;
		const struct cable back = {there, here, 0};
		if (!bsearch(&back, cables, s.cables, sizeof(back), compare) ||
		    (cable > cables && !memcmp(cable, cable - 1, 3 * sizeof(number))))
			REFUSE("port %llu of node %llx has two cables, or its other end says "
			       "otherwise",
			       here.port, here.guid);
		uint32_t from =
		    here.letter == 'S' ? switch_of(here.guid) * PORTS + (uint32_t)here.port : NONE;
		uint32_t to = there.letter == 'S'
				  ? switch_of(there.guid) * PORTS + (uint32_t)there.port
				  : NONE;
		if (from != NONE && to != NONE)
			s.peer[from] = to;
		else if (from != NONE)
			s.sends[from] = s.sends[from - here.port] = true;
		else if (to != NONE)
			own(here.lid, cable->lmc, to, here.port_guid);
	}
}

static void read_topology(const char *path)
{
	number ports = 0,
	       said[2] = {0}; /* of the node before; of the coming switch and its port 0 */
	struct end node = {0}; /* to which cables belong */
	char kind;

	memset(s.to, 0xFF, sizeof(s.to));
	for (begin(path); (kind = get(topology_lines)) != '$';) {
		if (kind == 'P' || kind == 'A') {
			if (n[0] - 1 >= ports || (kind == 'P') != (node.letter == 'S'))
				REFUSE("not a cable of the node before");
			add_cable(node, kind == 'A');
			continue;
		}
		bool header = kind != '-' && kind != 'G';
		ports = header ? n[0] : 0;
		if (header)
			node = add_node(kind, said[0] == n[1] ? said[1] : 0);
		else if (kind == 'G')
			memcpy(said, n, sizeof(said));
	}
	connect();
	if (!s.lids)
		REFUSE("no LIDs");
}

/* Tables, as OpenSM, ibroute and dump_fts write them. */

static const char *const table_lines[] = {
    "R0x%4x %3u",
    "R0x%4x %3u %s",
    "OUnicast lids [%u-%u] of switch Lid %u guid 0x%x (%s):",
    "TUnicast lids [0x%x-0x%x] of switch Lid %u guid 0x%x (%s):",
    "DUnicast lids [0x%x-0x%x] of switch DR path %pguid 0x%x (%s):",
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
	const char *guid = strstr(text, "portguid 0x");
	number lid = n[0], port = n[1], said;
	bool known = lid < s.lids && s.to[lid] != NONE;

	if (sw == NONE || port >= PORTS)
		REFUSE("expected an entry of a switch");
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
