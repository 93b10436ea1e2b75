/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service levels and lanes, which heddle route --sl writes: the last file that verify_certificate.c reads. */

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
