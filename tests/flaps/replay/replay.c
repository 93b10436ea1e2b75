/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replays what simulated switches took, Set by Set, and looks after each at what it changes: packets that can come back
 * to the switch, credit loops, packets that may be lost. It shares no code with Heddle. For large fabrics: the slow
 * checker is tests/integration/repair_adaptive.py.
 *
 *	heddle-replay FABRIC HOME LFTS SETS [own] [each]
 *
 * FABRIC is what ibnetdiscover printed when all was up, with LIDs, HOME the node in which OpenSM runs, LFTS the record
 * of libheddlelftclock.so, SETS that of the emulator. Both begin with the switches as they are at power-on, and may
 * grow. `own`: a switch with adaptive routing sends by its AR table alone, else by its forwarding table, too. `each`: a
 * line for each Set, and the order of channels is checked. Commands come from standard input:
 *
 *	load                    takes what the records have, without a look
 *	dead NS END...          from then on these ends of cables are dead, such as S-0000000000200000[3], and no others
 *	go                      replays what the records have by now
 *	row NODE                what a switch holds: LFT and, of its AR table, ports and groups; hexadecimal
 *
 * `load` and `go` write a line for each finding, and then one that begins with "end". Packets are those of all adapters
 * to all adapters, and of switches to them where they loop.
 */
#include "replay_graph.h"
#include "replay_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is on a loop: the first of these that is true. */
enum loop {
	LOOP_NONE,
	LOOP_HOSTS, /* packets to hosts alone, and not by static ports alone */
	LOOP_STATIC_HOSTS, /* packets to hosts alone, also by static ports alone */
	LOOP_GROUPS, /* packets to all adapters, and not by static ports alone */
	LOOP_STATIC, /* packets to all adapters, also by static ports alone */
	LOOPS
};

struct totals {
	unsigned long lfts, sets, broken, cuts, changed, loops, still, plain, lost, cyclic[LOOPS];
};

struct replay {
	struct fabric fabric;
	struct tables tables;
	struct graph graph;
	struct record record;
	bool each, ready;
	uint64_t *before[LAYERS]; /* [lids] ports before a Set */
	uint32_t *changed; /* [lids] list */
	enum loop loop;
	struct totals totals;
};

static const char *const loop_names[] = {"none", "hosts", "static-hosts", "groups", "static"};

static const char *name_of(const struct replay *replay, uint32_t sw)
{
	static char name[24];

	snprintf(name, sizeof(name), "S-%016" PRIx64, replay->fabric.key[sw].guid);
	return name;
}

/* ---- findings ---- */

static void print_cycle(struct replay *replay, const char *what, uint64_t when, uint32_t length)
{
	printf("credit %" PRIu64 " %s", when, what);
	for (uint32_t i = 0; i < length && i < 16; i++) {
		const uint32_t channel = replay->graph.queue[i];
		printf(" %s[%u]", name_of(replay, channel / PORTS), channel % PORTS);
	}
	printf("%s\n", length > 16 ? " ..." : "");
}

/* Of a graph that is cyclic. A cycle is in queue[0] to queue[*length - 1]. */
static enum loop loop_of(struct graph *graph, uint32_t *length)
{
	const unsigned hosts = 1 << COUNT_HOSTS, still = 1 << COUNT_STATIC_HOSTS;
	const unsigned all = hosts | 1 << COUNT_ASIDE, all_still = still | 1 << COUNT_STATIC_ASIDE;

	if (order_find_cycle(graph, still, length))
		return LOOP_STATIC_HOSTS;
	if (order_find_cycle(graph, hosts, length))
		return LOOP_HOSTS;
	if (order_find_cycle(graph, all_still, length))
		return LOOP_STATIC;
	order_find_cycle(graph, all, length);
	return LOOP_GROUPS;
}

/* After a Set or a cut. */
static void look_for_cycles(struct replay *replay, uint64_t when)
{
	const enum loop before = replay->loop;
	uint32_t length = 0;

	if (!order_settle(&replay->graph))
		return;
	replay->loop = replay->graph.cyclic ? loop_of(&replay->graph, &length) : LOOP_NONE;
	if (replay->loop != before)
		print_cycle(replay, loop_names[replay->loop], when, length);
}

/* Whether packets go round by forwarding tables alone, through the switch. */
static bool loops_plainly(const struct replay *replay, uint32_t sw, uint32_t lid)
{
	uint32_t at = sw;

	for (uint32_t hops = 0; hops < replay->fabric.switches; hops++) {
		const uint8_t port = replay->tables.lft[(size_t)at * replay->tables.lids + lid];
		if (port >= PORTS || !(replay->fabric.links[at] >> port & 1))
			return false;
		at = fabric_next(&replay->fabric, at, port);
		if (at == sw)
			return true;
	}
	return false;
}

/* Where packets of adapters to adapters come back, the graph is cyclic. */
static bool may_loop(const struct replay *replay, uint32_t lid)
{
	return replay->graph.cyclic || replay->fabric.kind[lid] == KIND_LOOSE;
}

/* LIDs whose packets can come back: by groups only, or (`still`) by static ports alone. */
static void look_for_loops(struct replay *replay, const struct set *set, uint32_t count, bool still)
{
	struct graph *graph = &replay->graph;
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t lid = replay->changed[i];
		if (!may_loop(replay, lid) || !graph_loops(graph, LAYER_ALL, set->sw, lid) ||
		    graph_loops(graph, LAYER_STATIC, set->sw, lid) != still)
			continue;
		if (!found++)
			printf("%s %" PRIu64 " 0x%x %s", still ? "still" : "loop", set->when,
			       set->attribute, name_of(replay, set->sw));
		printf(" %u", lid);
	}
	if (found)
		printf("\n");
	*(still ? &replay->totals.still : &replay->totals.loops) += found;
}

static void count_plain_loops(struct replay *replay, const struct set *set, uint32_t count)
{
	for (uint32_t i = 0; set->attribute == ATTRIBUTE_LFT && i < count; i++)
		replay->totals.plain += replay->fabric.kind[replay->changed[i]] != KIND_NONE &&
					loops_plainly(replay, set->sw, replay->changed[i]);
}

/* ---- Sets ---- */

/* The ports of the switch as they are before the Set. */
static void keep_ports(struct replay *replay, const struct set *set, uint32_t first, uint32_t end)
{
	for (uint32_t lid = first; lid < end; lid++) {
		replay->before[LAYER_ALL][lid] = tables_ports(&replay->tables, set->sw, lid);
		replay->before[LAYER_STATIC][lid] = tables_static(&replay->tables, set->sw, lid);
	}
}

/* Takes over the ports that are others. Returns how many LIDs may go by other ports, which are in changed[]. */
static uint32_t update(struct replay *replay, const struct set *set, uint32_t first, uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t lid = first; lid < end; lid++) {
		const bool ways =
		    replay->fabric.owner[lid] != NONE &&
		    replay->before[LAYER_ALL][lid] != tables_ports(&replay->tables, set->sw, lid);
		if (ways)
			replay->changed[count++] = lid;
		if (ways || replay->before[LAYER_STATIC][lid] !=
				tables_static(&replay->tables, set->sw, lid))
			graph_update(&replay->graph, set->sw, lid);
	}
	return count;
}

static void take(struct replay *replay, const struct set *set)
{
	struct graph *graph = &replay->graph;
	uint32_t first, end;

	if (!tables_range(&replay->tables, set, &first, &end))
		return;
	if (!replay->ready) {
		tables_take(&replay->tables, set);
		return;
	}
	keep_ports(replay, set, first, end);
	tables_take(&replay->tables, set);
	graph->lost_now = 0;
	const uint32_t count = update(replay, set, first, end);
	look_for_cycles(replay, set->when);
	if (replay->each && !order_holds(graph))
		fail("channels have no order", name_of(replay, set->sw));
	look_for_loops(replay, set, count, false);
	look_for_loops(replay, set, count, true);
	count_plain_loops(replay, set, count);
	replay->totals.changed += count;
	replay->totals.lost += graph->lost_now;
	replay->totals.cyclic[replay->loop]++;
	if (graph->lost_now)
		printf("lost %" PRIu64 " 0x%x %s %" PRIu64 " %" PRIu64 "\n", set->when,
		       set->attribute, name_of(replay, set->sw), graph->lost_now, graph->lost);
	if (replay->each)
		printf("set %" PRIu64 " 0x%x %s %u %u %s %" PRIu64 "\n", set->when, set->attribute,
		       name_of(replay, set->sw), set->modifier, count, loop_names[replay->loop],
		       graph->lost);
}

static void take_lft(struct replay *replay, const struct lft_record *lft)
{
	struct set set = {.when = lft->when, .attribute = ATTRIBUTE_LFT};

	set.sw = fabric_follow(&replay->fabric, lft->route, lft->hops);
	for (unsigned i = 0; i < 4; i++)
		set.modifier = set.modifier << 8 | lft->block[i];
	memcpy(set.data, lft->ports, sizeof(set.data));
	if (set.sw < replay->fabric.switches)
		take(replay, &set);
	else
		replay->totals.broken++;
}

static void take_cut(struct replay *replay, struct cut *cut)
{
	memcpy(replay->fabric.dead, cut->dead, replay->fabric.nodes * sizeof(*cut->dead));
	free(cut->dead);
	fabric_look(&replay->fabric);
	if (!replay->ready)
		return;
	graph_update_all(&replay->graph);
	look_for_cycles(replay, cut->when);
	printf("cut %" PRIu64 " %s %" PRIu64 "\n", cut->when, loop_names[replay->loop],
	       replay->graph.lost);
}

/* ---- commands ---- */

static void begin(struct replay *replay)
{
	const uint32_t lids = replay->fabric.lids;

	graph_make(&replay->graph, &replay->fabric, &replay->tables);
	for (unsigned i = 0; i < LAYERS; i++)
		replay->before[i] = allocate(lids, sizeof(uint64_t));
	replay->changed = allocate(lids, sizeof(uint32_t));
	replay->ready = true;
	graph_update_all(&replay->graph);
	look_for_cycles(replay, 0);
}

static void run(struct replay *replay)
{
	struct totals *totals = &replay->totals;
	enum record_kind kind;

	while ((kind = record_next(&replay->record, &replay->fabric)) != RECORD_END) {
		totals->cuts += kind == RECORD_CUT;
		totals->lfts += kind == RECORD_LFT;
		totals->sets += kind == RECORD_SET;
		if (kind == RECORD_CUT)
			take_cut(replay, &replay->record.cuts[replay->record.cut - 1]);
		else if (kind == RECORD_LFT)
			take_lft(replay, &replay->record.lft);
		else
			take(replay, &replay->record.set);
	}
	printf("end lfts %lu sets %lu broken %lu cuts %lu changed %lu loops %lu still %lu plain "
	       "%lu lost %lu",
	       totals->lfts, totals->sets, totals->broken, totals->cuts, totals->changed,
	       totals->loops, totals->still, totals->plain, totals->lost);
	for (unsigned i = 0; i < LOOPS; i++)
		printf(" %s %lu", loop_names[i], totals->cyclic[i]);
	printf(" missing %" PRIu64 " loop %s\n", replay->graph.lost, loop_names[replay->loop]);
	memset(totals, 0, sizeof(*totals));
}

static void print_row(const struct replay *replay, const char *name)
{
	const struct tables *tables = &replay->tables;
	const uint32_t sw = fabric_node(&replay->fabric, name);

	if (sw >= replay->fabric.switches)
		fail("no such switch", name);
	printf("row %d ", tables->enabled[sw]);
	for (uint32_t lid = 0; lid < tables->lids; lid++) {
		const size_t at = (size_t)sw * tables->lids + lid;
		const unsigned long long ports = tables_ports(tables, sw, lid);
		printf("%02x%02x%04x%016llx", tables->lft[at], tables->port[at], tables->group[at],
		       ports);
	}
	printf("\n");
}

static void obey(struct replay *replay, char *line)
{
	line[strcspn(line, "\n")] = 0;
	if (!strncmp(line, "dead ", 5)) {
		record_add_cut(&replay->record, &replay->fabric, line + 5);
	} else if (!strcmp(line, "load")) {
		run(replay);
	} else if (!strcmp(line, "go")) {
		if (!replay->ready)
			begin(replay);
		run(replay);
	} else if (!strncmp(line, "row ", 4)) {
		print_row(replay, line + 4);
	} else {
		fail("no such command", line);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct replay *replay = allocate(1, sizeof(*replay));
	char *line = NULL;
	size_t size = 0;
	bool own = false;

	if (argc < 5)
		fail("usage: FABRIC HOME LFTS SETS [own] [each]", "arguments");
	for (int i = 5; i < argc; i++) {
		own = own || !strcmp(argv[i], "own");
		replay->each = replay->each || !strcmp(argv[i], "each");
	}
	fabric_read(&replay->fabric, argv[1], argv[2]);
	tables_make(&replay->tables, &replay->fabric, own);
	record_open(&replay->record, argv[3], argv[4]);
	while (getline(&line, &size, stdin) > 0)
		obey(replay, line);
	free(line);
	return 0;
}
