/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Histories of fabrics: they boot piecemeal, grow, lose and regain cables, switches and hosts, and each sweep routes from
 * the tables in place and the baseline, as in OpenSM. Tables must not age: at the end of each chapter they are compared
 * with a routing afresh of the same fabric.
 *
 *	histories [HISTORIES [FIRST [ENGINE]]]
 *
 * Chapters: a boot with 5 to 40% of the cables missing; all come at once, or one after the other; losses and returns.
 * Two histories in three have the losses of their last chapter in two orders.
 *
 * Prints a line for each engine: histories; worth, by effective bisection bandwidth, mean and least; entries moved in
 * growth that comes together and one by one, beside the least possible, which are the entries that the new links carry after
 * a routing afresh; entries moved by losses, beside those whose path was lost. Exit status 1 if tables are not clean, an
 * idle sweep moves an entry, or a worth is below its bound.
 */
#include "ebb_figure.h"
#include "generated.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/fabric/changes.h>
#include <heddle/fabric/stored_tables.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HISTORIES_DEFAULT 12u
#define EVENTS_MOST 12u /* single cables that come */
#define LOSSES_MOST 8u /* percent of the cables */
#define WORTH_LEAST .95
#define WORTH_MEAN .98

static const struct family {
	const char *kind, *settings;
	bool aggregation;
} families[] = {
    {"xgft", "children=4,4,4 parents=1,4,4", false},
    {"xgft", "children=8,8 parents=1,8", true},
    {"directors", "leaves=12 hosts=6 directors=2 uplinks=3 line-chips=4 outside=9 spine-chips=3",
     false},
    {"torus", "dims=5,5 hosts=3", false},
    {"hypercube", "dimensions=4 hosts=4", false},
    {"dragonfly-plus", "islands=5 leaves=4 spines=4 hosts=4", false},
    {"jellyfish", "switches=20 degree=6 hosts=4", false},
    {"irregular", "switches=24 radix=16 cycles=20 hosts=4", false},
    {"xgft", "children=6,6 parents=1,3 parallel=1,2", false},
    {"torus", "dims=3,3,3 hosts=2", true},
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

struct figures {
	unsigned histories, refused, checkpoints, faults;
	double worth, least;
	uint64_t together, together_least, single, single_least, lost, affected;
	unsigned orders, other_orders;
};

/* A fabric, what it lacks now, and what a subnet manager knows of it. */
struct history {
	const struct hd_engine *engine;
	unsigned lanes;
	const struct hd_fabric *whole;
	uint32_t *cables, cable_count; /* a link of each cable */
	bool *missing; /* [whole->isl_count] by that link */
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_stored_tables *baseline;
	struct figures *figures;
	uint64_t number;
};

static void demand(int rc, const struct hd_error *err)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(2);
}

static void fault(struct history *history, const char *what, uint64_t count)
{
	printf("history %" PRIu64 ", %s: %" PRIu64 " %s\n", history->number, history->engine->name,
	       count, what);
	history->figures->faults++;
}

/* ---- the fabric ---- */

static uint32_t cable_of(const struct hd_fabric *fabric, uint32_t link)
{
	return link < fabric->isl_reverse[link] ? link : fabric->isl_reverse[link];
}

static struct hd_fabric *fabric_now(const struct history *history)
{
	const struct hd_fabric *whole = history->whole;
	struct hd_fabric_change *losses = calloc(history->cable_count + 1, sizeof(*losses));
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};
	uint32_t count = 0;

	for (uint32_t i = 0; i < history->cable_count; i++) {
		const uint32_t link = history->cables[i], sw = hd_isl_from(whole, link);

		if (history->missing[link])
			losses[count++] = (struct hd_fabric_change){
			    true, true, hd_port_index(whole, sw, whole->isl_port[link])};
	}
	demand(hd_fabric_without(whole, losses, count, whole->port_node[whole->host_port[0]],
				 &fabric, &err),
	       &err);
	free(losses);
	return fabric;
}

/* ---- sweeps ---- */

/* NULL: the engine refuses. */
static struct hd_routes *route(const struct history *history, const struct hd_fabric *fabric,
			       const struct hd_routes *previous, const struct hd_routes *baseline)
{
	const struct hd_route_request request = {.fabric = fabric,
						 .previous = previous,
						 .baseline = baseline,
						 .lanes = history->lanes,
						 .threads = 2};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	return hd_engine_route(history->engine, &request, &routes, &err) ? NULL : routes;
}

static struct hd_routes *carry(const struct history *history, const struct hd_fabric *fabric)
{
	struct hd_routes *carried = NULL;
	struct hd_error err = {""};

	demand(hd_routes_rebase(history->fabric, history->routes, fabric, &carried, &err), &err);
	return carried;
}

static struct hd_routes *baseline_of(const struct history *history, const struct hd_fabric *fabric)
{
	struct hd_routes *baseline = NULL;
	struct hd_error err = {""};

	demand(hd_stored_tables_baseline(history->baseline, fabric, &baseline, &err), &err);
	return baseline;
}

static void note(struct history *history)
{
	struct hd_error err = {""};
	bool grown;

	demand(
	    hd_stored_tables_add(history->baseline, history->fabric, history->routes, &grown, &err),
	    &err);
}

static void look_for_faults(struct history *history)
{
	struct hd_check_report *report = NULL;
	struct hd_error err = {""};

	demand(hd_check(history->fabric, history->routes, &(struct hd_check_options){.threads = 2},
			&report, &err),
	       &err);
	if (report->no_route + report->dead_end + report->loop)
		fault(history, "paths that do not arrive",
		      report->no_route + report->dead_end + report->loop);
	if (report->credit_loops)
		fault(history, "credit loops", report->credit_loops);
	hd_check_report_free(report);
}

/* Routes what there is now. False: the engine refuses; nothing has changed then. *moved: entries that differ. */
static bool sweep(struct history *history, uint64_t *moved)
{
	struct hd_fabric *fabric = fabric_now(history);
	struct hd_routes *previous = carry(history, fabric),
			 *baseline = baseline_of(history, fabric);
	struct hd_routes *routes = route(history, fabric, previous, baseline);

	*moved = routes ? hd_routes_count_changes(previous, routes) : 0;
	hd_routes_free(previous);
	hd_routes_free(baseline);
	if (!routes) {
		hd_fabric_free(fabric);
		return false;
	}
	hd_routes_free(history->routes);
	hd_fabric_free(history->fabric);
	history->routes = routes;
	history->fabric = fabric;
	note(history);
	look_for_faults(history);
	return true;
}

/* The same fabric again. */
static void sweep_idle(struct history *history)
{
	uint64_t moved;

	if (sweep(history, &moved) && moved)
		fault(history, "entries that an idle sweep moves", moved);
}

static void compare_afresh(struct history *history, const char *chapter)
{
	struct hd_routes *afresh = route(history, history->fabric, NULL, NULL);
	struct figures *figures = history->figures;

	if (!afresh)
		return;
	const double worth =
	    ebb_figure(history->fabric, history->routes) / ebb_figure(history->fabric, afresh);

	figures->checkpoints++;
	figures->worth += worth;
	figures->least = worth < figures->least ? worth : figures->least;
	if (worth < .985)
		printf("history %" PRIu64
		       ", %s on %s, lanes %u, %s: worth %.3f of a routing afresh\n",
		       history->number, history->engine->name,
		       families[history->number % FAMILIES].kind, history->lanes, chapter, worth);
	hd_routes_free(afresh);
}

/* ---- what has to move ---- */

/* Entries by which a routing afresh uses links that older tables of the same switches do not have. */
static uint64_t count_carried(const struct history *history, const struct hd_fabric *older)
{
	const struct hd_fabric *fabric = history->fabric;
	struct hd_routes *afresh = route(history, fabric, NULL, NULL);
	uint64_t count = 0;

	for (uint32_t sw = 0; afresh && sw < fabric->switch_count; sw++) {
		const uint32_t before = hd_fabric_find_node(older, fabric->node_guid[sw]);
		bool new[256] = {false};

		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			const uint8_t port = fabric->isl_port[link];

			new[port] = before >= older->switch_count ||
				    hd_fabric_find_isl(older, before, port) == HD_NONE;
		}
		for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
			count += new[hd_routes_row(afresh, sw)[lid]];
	}
	hd_routes_free(afresh);
	return count;
}

/* Whether a path of the tables in place needs something that the fabric has not. */
static bool is_lost(const struct history *history, const struct hd_fabric *now, uint32_t sw,
		    uint32_t lid)
{
	const struct hd_fabric *fabric = history->fabric;
	uint32_t exit;
	uint8_t out;

	if (!hd_fabric_lid_destination(fabric, lid, &exit, &out))
		return false;
	for (uint32_t hops = 0; sw != exit && hops < fabric->switch_count; hops++) {
		const uint8_t port = hd_routes_row(history->routes, sw)[lid];
		const uint32_t link = hd_fabric_find_isl(fabric, sw, port);
		const uint32_t there = hd_fabric_find_node(now, fabric->node_guid[sw]);

		if (link == HD_NONE)
			return false;
		if (there >= now->switch_count || hd_fabric_find_isl(now, there, port) == HD_NONE)
			return true;
		sw = fabric->isl_to[link];
	}
	return false;
}

static uint64_t count_lost(const struct history *history)
{
	struct hd_fabric *now = fabric_now(history);
	uint64_t count = 0;

	for (uint32_t sw = 0; sw < history->fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < history->fabric->lid_count; lid++)
			count += is_lost(history, now, sw, lid);
	hd_fabric_free(now);
	return count;
}

/* ---- chapters ---- */

static void shuffle_cables(struct history *history, uint64_t *random)
{
	for (uint32_t left = history->cable_count; left > 1; left--) {
		const uint32_t drawn = (uint32_t)hd_random_below(random, left),
			       cable = history->cables[drawn];

		history->cables[drawn] = history->cables[left - 1];
		history->cables[left - 1] = cable;
	}
}

/* The first sweep. False: the engine refuses. */
static bool boot(struct history *history, uint64_t *random)
{
	const uint32_t percent = 5 + (uint32_t)hd_random_below(random, 36);

	shuffle_cables(history, random);
	for (uint32_t i = 0; i < history->cable_count * percent / 100; i++)
		history->missing[history->cables[i]] = true;
	history->fabric = fabric_now(history);
	history->routes = route(history, history->fabric, NULL, NULL);
	if (!history->routes)
		return false;
	note(history);
	look_for_faults(history);
	return true;
}

static bool grow_at_once(struct history *history)
{
	struct hd_fabric *older = fabric_now(history);
	uint64_t moved;

	memset(history->missing, 0, history->whole->isl_count);
	const bool routed = sweep(history, &moved);
	if (routed) {
		history->figures->together += moved;
		history->figures->together_least += count_carried(history, older);
	}
	hd_fabric_free(older);
	return routed;
}

static bool grow_one_by_one(struct history *history)
{
	unsigned events = 0;

	for (uint32_t i = 0; i < history->cable_count && events < EVENTS_MOST; i++) {
		struct hd_fabric *older;
		uint64_t moved;

		if (!history->missing[history->cables[i]])
			continue;
		older = fabric_now(history);
		history->missing[history->cables[i]] = false;
		const bool routed = sweep(history, &moved);
		/* a cable that brings switches with it is growth that comes together */
		if (routed && older->node_count == history->fabric->node_count) {
			history->figures->single += moved;
			history->figures->single_least += count_carried(history, older);
		}
		hd_fabric_free(older);
		if (!routed)
			return false;
		events++;
	}
	sweep_idle(history);
	compare_afresh(history, "one by one");
	return grow_at_once(history);
}

/* Cables that are lost one after the other, from the first number on, or backwards. Copies of the tables, or NULL. */
static bool lose(struct history *history, uint32_t first, uint32_t count, bool backwards,
		 bool counted)
{
	bool routed = true;

	for (uint32_t i = 0; routed && i < count; i++) {
		const uint32_t place = first + (backwards ? count - 1 - i : i);
		uint64_t moved, affected;

		history->missing[history->cables[place]] = true;
		affected = count_lost(history);
		routed = sweep(history, &moved);
		if (routed && counted) {
			history->figures->lost += moved;
			history->figures->affected += affected;
		}
	}
	return routed;
}

static bool regain(struct history *history)
{
	uint64_t moved;

	memset(history->missing, 0, history->whole->isl_count);
	return sweep(history, &moved);
}

static bool lose_and_regain(struct history *history, uint64_t *random)
{
	const uint32_t count =
	    1 + (uint32_t)hd_random_below(random, history->cable_count * LOSSES_MOST / 100);
	struct hd_routes *before, *first;
	uint64_t moved;

	shuffle_cables(history, random);
	if (count > history->cable_count || !sweep(history, &moved))
		return false;
	before = hd_routes_copy(history->routes);
	bool routed = lose(history, 0, count, false, true);
	if (routed) {
		sweep_idle(history);
		compare_afresh(history, "losses");
	}
	first = hd_routes_copy(history->routes);
	const uint32_t switches = history->fabric->switch_count;
	routed = routed && regain(history);
	if (routed && hd_routes_count_changes(before, history->routes))
		fault(history, "entries that do not go back",
		      hd_routes_count_changes(before, history->routes));
	routed = routed && lose(history, 0, count, true, false);
	if (routed && switches == history->fabric->switch_count) {
		history->figures->orders++;
		history->figures->other_orders +=
		    hd_routes_count_changes(first, history->routes) != 0;
	}
	routed = routed && regain(history);
	hd_routes_free(before);
	hd_routes_free(first);
	return routed;
}

static bool tell(struct history *history, uint64_t *random)
{
	if (!boot(history, random))
		return false;
	if (!(hd_random_below(random, 2) ? grow_at_once(history) : grow_one_by_one(history)))
		return false;
	sweep_idle(history);
	compare_afresh(history, "all are there");
	return lose_and_regain(history, random);
}

/* ---- all of it ---- */

static struct hd_fabric *make_fabric(uint64_t number)
{
	const struct family *family = &families[number % FAMILIES];
	struct hd_fabric *fabric = NULL, *with = NULL;
	struct hd_error err = {""};

	demand(generated_fabric(family->kind, family->settings, &fabric, &err), &err);
	if (!family->aggregation)
		return fabric;
	demand(hd_fabric_add_aggregation(fabric, &with, &err), &err);
	hd_fabric_free(fabric);
	return with;
}

static void run_history(const struct hd_engine *engine, uint64_t number, struct figures *figures)
{
	struct hd_fabric *whole = make_fabric(number);
	struct history history = {.engine = engine,
				  .lanes = number / FAMILIES % 2 ? 4 : 1,
				  .whole = whole,
				  .cables = calloc(whole->isl_count, sizeof(uint32_t)),
				  .missing = calloc(whole->isl_count, sizeof(bool)),
				  .baseline = hd_stored_tables_new(),
				  .figures = figures,
				  .number = number};
	uint64_t start = number, random = hd_random_next(&start);

	for (uint32_t link = 0; link < whole->isl_count; link++)
		if (cable_of(whole, link) == link)
			history.cables[history.cable_count++] = link;
	if (tell(&history, &random))
		figures->histories++;
	else
		figures->refused++;
	hd_stored_tables_free(history.baseline);
	hd_routes_free(history.routes);
	hd_fabric_free(history.fabric);
	free(history.cables);
	free(history.missing);
	hd_fabric_free(whole);
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

int main(int argc, char **argv)
{
	const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : HISTORIES_DEFAULT;
	const unsigned long first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const char *only = argc > 3 ? argv[3] : NULL;
	unsigned engines;
	const struct hd_engine *const *all = hd_engines(&engines);
	bool failed = false;

	printf("%-10s %9s %7s %6s %6s %8s %8s %7s %6s\n", "engine", "histories", "refused", "worth",
	       "least", "together", "single", "losses", "orders");
	for (unsigned i = 0; i < engines; i++) {
		struct figures figures = {.least = 2};

		if (only && strcmp(only, all[i]->name) != 0)
			continue;
		for (unsigned long n = first; n < first + count; n++)
			run_history(all[i], n, &figures);
		const double mean = figures.checkpoints ? figures.worth / figures.checkpoints : 1;
		printf("%-10s %9u %7u %6.3f %6.3f %8.2f %8.2f %7.2f %3u/%u\n", all[i]->name,
		       figures.histories, figures.refused, mean, figures.least,
		       ratio(figures.together, figures.together_least),
		       ratio(figures.single, figures.single_least),
		       ratio(figures.lost, figures.affected), figures.other_orders, figures.orders);
		failed |= figures.faults || mean < WORTH_MEAN || figures.least < WORTH_LEAST;
	}
	return failed;
}
