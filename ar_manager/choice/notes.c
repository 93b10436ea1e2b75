/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why not more entries of a plan are adaptive, in words for an administrator. plan.c begins the notes, adds what
 * each algorithm says, and ends them; nothing is done if nobody asks.
 *
 * A cause is looked for in this order: cables that no tree has, then the first packets that turn downwards and
 * upwards again. Reasons are computed after the plan, and never change it.
 */
#include "notes.h"

#include "climbs.h"
#include "host_lids.h"
#include "levels.h"

#include <errno.h>
#include <heddle/fabric/dragonfly_plus.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Turns of forwarding tables: packets that climb after they have descended. */

struct turns_first {
	uint32_t lid;
	uint32_t link, next; /* packets descend by `link`, then climb by `next` */
	bool of_hosts; /* they go from a host to a host */
	uint32_t source, destination; /* switches at the ends of their way */
	bool needed; /* no path climbs, then descends from the one to the other */
};

/* ---- turns ---- */

struct search {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const uint8_t *up; /* [isl_count] */
	struct host_lids lids;
	uint32_t *seen; /* [switch_count] the LID + 1 whose packets were last followed from there */
};

/* Follows packets to a LID until they arrive, or come to a switch that others have passed. */
static bool notes_follow(struct search *search, uint32_t sw, uint32_t lid, struct turns_first *out)
{
	uint32_t link = HD_NONE;

	while (search->seen[sw] != lid + 1 || link != HD_NONE) {
		uint32_t next =
		    hd_fabric_find_isl(search->fabric, sw, hd_routes_port(search->routes, sw, lid));
		if (next != HD_NONE && link != HD_NONE && !search->up[link] && search->up[next]) {
			*out = (struct turns_first){.lid = lid, .link = link, .next = next};
			return true;
		}
		if (next == HD_NONE || search->seen[sw] == lid + 1)
			return false;
		search->seen[sw] = lid + 1;
		link = next;
		sw = search->fabric->isl_to[next];
	}
	return false;
}

static bool follow_all(struct search *search, bool of_hosts, struct turns_first *out)
{
	const struct hd_fabric *fabric = search->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		search->seen[sw] = 0;
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
		if (search->lids.destination[lid] == HD_NONE ||
		    (of_hosts && !search->lids.may_adapt[lid]))
			continue;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if ((of_hosts ? hd_has_hosts(fabric, sw) : hd_has_adapters(fabric, sw)) &&
			    notes_follow(search, sw, lid, out)) {
				out->of_hosts = of_hosts;
				out->source = sw;
				out->destination = search->lids.sw[search->lids.destination[lid]];
				return true;
			}
	}
	return false;
}

static int notes_find(struct search *search, struct hd_arena *arena, struct turns_first *out)
{
	if (!(follow_all(search, true, out) || follow_all(search, false, out)))
		return -ENOENT;
	/* Whether no path does without a turn. */
	const struct hd_go_on always = {NULL, NULL};
	size_t switches = search->fabric->switch_count;
	struct climbs climbs;
	int rc = climbs_find(&climbs, search->fabric, search->up, switches, 1, &always, arena);
	if (!rc)
		out->needed =
		    climbs.states[out->source * switches + out->destination] == CLIMBS_NONE;
	return rc;
}

/* The first turn, of hosts if they have one, else of adapters that are set aside. Errors: -ENOENT there is none,
 * -ENOTSUP the fabric has no levels, -ERANGE, -ENOMEM. Cost: O(switches * LIDs), and that of climbs_find(). */
static int turns_find(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      struct turns_first *out)
{
	struct hd_arena arena = {0};
	struct search search = {.fabric = fabric, .routes = routes};
	struct levels levels;
	uint8_t *up;
	int rc = levels_find(fabric, &arena, &levels, NULL);

	if (!rc)
		rc = levels_directions(&levels, &arena, &up);
	if (!rc)
		rc = host_lids_init(&search.lids, fabric, &arena);
	search.seen = hd_arena_alloc(&arena, fabric->switch_count, sizeof(*search.seen));
	if (!rc)
		rc = hd_arena_check(&arena);
	if (!rc) {
		search.up = up;
		rc = notes_find(&search, &arena, out);
	}
	hd_arena_release(&arena);
	return rc;
}

/* ---- notes ---- */

static struct hd_ar_note *notes_add(const struct hd_ar_request *request, enum hd_ar_note_kind kind,
				    enum hd_ar_algorithm algorithm)
{
	struct hd_ar_notes *notes = request->notes;

	if (!notes || notes->count == HD_AR_NOTES_MAX)
		return NULL;
	notes->list[notes->count] = (struct hd_ar_note){.kind = kind, .algorithm = algorithm};
	return &notes->list[notes->count++];
}

static void set_cause(struct hd_ar_note *note, const char *text)
{
	snprintf(note->cause, sizeof(note->cause), "%s", text);
}

static void set_remedy(struct hd_ar_note *note, const char *text)
{
	snprintf(note->remedy, sizeof(note->remedy), "%s", text);
}

const char *hd_ar_note_kind_name(enum hd_ar_note_kind kind)
{
	static const char *const names[] = {"refused", "fewer", "static", "nothing"};

	return names[kind];
}

static size_t print_fact(const struct hd_ar_note *note, char *buffer, size_t size)
{
	const char *name = hd_ar_algorithm_name(note->algorithm);
	int used = 0;

	switch (note->kind) {
	case HD_AR_NOTE_REFUSED:
		used = snprintf(buffer, size, "algorithm %s is not possible", name);
		break;
	case HD_AR_NOTE_FEWER:
		used =
		    snprintf(buffer, size, "algorithm %s would make fewer entries adaptive", name);
		break;
	case HD_AR_NOTE_STATIC:
		used = snprintf(buffer, size, "algorithm %s leaves %" PRIu64 " entries static",
				name, note->entries);
		break;
	case HD_AR_NOTE_NOTHING:
		used = snprintf(buffer, size, "no entry is adaptive");
		break;
	}
	return (size_t)used < size ? (size_t)used : size;
}

const char *hd_ar_note_text(const struct hd_ar_note *note, char *buffer, size_t size)
{
	size_t used = print_fact(note, buffer, size);

	snprintf(buffer + used, size - used, ": %s%s%s", note->cause,
		 *note->remedy ? "; what would allow it: " : "", note->remedy);
	return buffer;
}

void notes_begin(const struct hd_ar_request *request)
{
	if (request->notes)
		request->notes->count = 0;
}

/* ---- cables ---- */

static const char *label(const struct hd_fabric *fabric, uint32_t sw, uint32_t link,
			 char text[HD_LABEL_SIZE])
{
	return hd_port_label(fabric, hd_port_index(fabric, sw, fabric->isl_port[link]), text,
			     HD_LABEL_SIZE);
}

static void name_strays(const struct levels *levels, struct hd_ar_note *note)
{
	const struct hd_fabric *fabric = levels->fabric;
	uint32_t link = levels_first_stray(levels);
	uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
	char near[HD_LABEL_SIZE], far[HD_LABEL_SIZE], joined[64];

	if (levels->level[from] == levels->level[to])
		snprintf(joined, sizeof(joined), "two switches of level %u", levels->level[to]);
	else
		snprintf(joined, sizeof(joined), "levels %u and %u", levels->level[from],
			 levels->level[to]);
	snprintf(
	    note->cause, sizeof(note->cause),
	    "the cable %s - %s joins %s; %u of %u cables do not join neighbouring levels of a tree",
	    label(fabric, from, link, near), label(fabric, to, fabric->isl_reverse[link], far),
	    joined, levels->strays, fabric->isl_count / 2);
	set_remedy(note, "cable these switches by a level above them, or take these cables out");
}

/* ---- turns ---- */

static void name_turn(const struct hd_ar_request *request, const struct turns_first *turn,
		      struct hd_ar_note *note)
{
	const struct hd_fabric *fabric = request->fabric;
	char in[HD_LABEL_SIZE], out[HD_LABEL_SIZE];
	uint32_t sw = hd_isl_from(fabric, turn->next);

	snprintf(note->cause, sizeof(note->cause),
		 "packets from '%.60s' to LID %u at '%.60s' go down and up again: they reach %s, "
		 "and leave by %s%s",
		 fabric->node_name[turn->source], turn->lid, fabric->node_name[turn->destination],
		 label(fabric, sw, fabric->isl_reverse[turn->link], in),
		 label(fabric, sw, turn->next, out),
		 turn->needed ? "; no path climbs, then descends" : "");
	if (turn->needed)
		set_remedy(note, "cables from both to the same switches of a higher level, or to "
				 "such as have them");
	else
		set_remedy(note, "paths that climb, then descend: an engine such as updown, with "
				 "the switches at the top as its roots");
}

/* ---- notes ---- */

/* Why groups close a loop: the cables, else the tables, else shortest paths that the tables do not take. */
static int notes_explain(const struct hd_ar_request *request, const struct hd_error *loop,
			 struct hd_ar_note *note)
{
	/* A fabric that is a tree but for some cables, or is none. */
	const struct hd_fabric *fabric = request->fabric;
	struct hd_arena arena = {0};
	struct hd_error reason = {""};
	struct levels levels;
	int rc = levels_find(fabric, &arena, &levels, &reason);
	if (rc == -ENOTSUP) {
		set_cause(note, reason.text);
		set_remedy(note, "a fabric in which each cable joins neighbouring levels");
		rc = 0;
	} else if (!rc && levels.strays) {
		name_strays(&levels, note);
	} else if (!rc) {
		rc = -ENOENT;
	}
	hd_arena_release(&arena);
	if (rc && rc != -ENOMEM) {
		struct turns_first turn;
		rc = turns_find(request->fabric, request->routes, &turn);
		if (!rc)
			name_turn(request, &turn, note);
	}
	if (!rc || rc == -ENOMEM)
		return rc;
	snprintf(note->cause, sizeof(note->cause),
		 "some paths of fewest hops lead down and up again: %.400s",
		 *loop->text ? loop->text : "their groups close a credit loop");
	set_remedy(note, "more cables upwards, so that paths of fewest hops climb, then descend");
	return 0;
}

/* Whether DFP is no algorithm for the fabric at all. Errors: -ENOMEM. */
static int find_kind(const struct hd_fabric *fabric, bool *is_other)
{
	struct hd_arena arena = {0};
	struct hd_dragonfly_plus shape;
	int rc = hd_dragonfly_plus_find(fabric, &arena, &shape, NULL);

	hd_arena_release(&arena);
	*is_other = rc == -ENOTSUP;
	return rc == -ENOMEM ? rc : 0;
}

static int add_dfp(const struct hd_ar_request *request, const struct hd_error *reason)
{
	bool is_other = false;
	int rc = request->algorithm == HD_AR_AUTO ? find_kind(request->fabric, &is_other) : 0;
	struct hd_ar_note *note =
	    rc || is_other ? NULL : notes_add(request, HD_AR_NOTE_REFUSED, HD_AR_DFP);

	if (!note)
		return rc;
	set_cause(note, reason->text);
	set_remedy(note, "tables of the engine dfp on one lane, and switches with private tables");
	return 0;
}

int notes_refused(const struct hd_ar_request *request, enum hd_ar_algorithm algorithm,
		  const struct hd_error *reason)
{
	if (!request->notes)
		return 0;
	if (algorithm == HD_AR_DFP)
		return add_dfp(request, reason);
	struct hd_ar_note *note = notes_add(request, HD_AR_NOTE_REFUSED, algorithm);
	if (!note)
		return 0;
	if (algorithm == HD_AR_TREE)
		return notes_explain(request, reason, note);
	set_cause(note, reason->text);
	return 0;
}

int notes_in_part(const struct hd_ar_request *request, const struct hd_ar_plan *plan,
		  uint64_t entries, const struct hd_error *loop)
{
	struct hd_ar_note *note = notes_add(request, HD_AR_NOTE_STATIC, plan->algorithm);

	if (!note)
		return 0;
	note->entries = entries;
	return notes_explain(request, loop, note);
}

/* The note of the plan that was left stays, and says what is in its way. */
void notes_replaced(const struct hd_ar_request *request, const struct hd_ar_plan *left,
		    const struct hd_ar_plan *taken)
{
	struct hd_ar_notes *notes = request->notes;

	hd_log(request->log, HD_LOG_INFO,
	       "algorithm %s makes %" PRIu64 " entries adaptive, %s %" PRIu64,
	       hd_ar_algorithm_name(left->algorithm), left->adaptive,
	       hd_ar_algorithm_name(taken->algorithm), taken->adaptive);
	for (uint32_t i = 0; notes && i < notes->count; i++)
		if (notes->list[i].algorithm == left->algorithm) {
			notes->list[i].kind = HD_AR_NOTE_FEWER;
			notes->list[i].entries = 0;
		}
}

static bool any_able(const struct hd_ar_plan *plan)
{
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		if (plan->switches[sw].form != HD_AR_FORM_NONE)
			return true;
	return false;
}

void notes_none(const struct hd_ar_request *request, const struct hd_ar_plan *plan)
{
	if (request->notes && request->notes->count && any_able(plan))
		return; /* the cause is known */
	struct hd_ar_note *note = notes_add(request, HD_AR_NOTE_NOTHING, plan->algorithm);
	if (!note)
		return;
	if (!any_able(plan)) {
		set_cause(note,
			  "no switch has adaptive routing, or it is switched off for all of them");
		set_remedy(note, "switches with adaptive routing, and a configuration that does "
				 "not exclude them");
	} else {
		set_cause(note, plan->algorithm == HD_AR_LAG
				    ? "no two switches are joined by parallel cables"
				    : "no switch has two ports for a path to the same host");
		set_remedy(note, "more cables between switches");
	}
}
