/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "notes.h"
#include "turns.h"

#include <errno.h>
#include <heddle/fabric/dragonfly_plus.h>
#include <heddle/fabric/tree.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct hd_ar_note *add(const struct hd_ar_request *request, enum hd_ar_note_kind kind,
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

static bool is_stray(const uint8_t *level, uint32_t near, uint32_t far)
{
	return level[near] != HD_TREE_NO_LEVEL && level[far] != HD_TREE_NO_LEVEL &&
	       level[near] + 1 != level[far] && level[far] + 1 != level[near];
}

static uint32_t first_stray(const struct hd_fabric *fabric, const uint8_t *level)
{
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (is_stray(level, hd_isl_from(fabric, link), fabric->isl_to[link]))
			return link;
	return HD_NONE;
}

static void name_strays(const struct hd_fabric *fabric, const struct hd_tree_pruned *pruned,
			struct hd_ar_note *note)
{
	uint32_t link = first_stray(fabric, pruned->level);
	char near[HD_LABEL_SIZE], far[HD_LABEL_SIZE], levels[64];
	uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];

	if (pruned->level[from] == pruned->level[to])
		snprintf(levels, sizeof(levels), "two switches of level %u", pruned->level[to]);
	else
		snprintf(levels, sizeof(levels), "levels %u and %u", pruned->level[from],
			 pruned->level[to]);
	snprintf(note->cause, sizeof(note->cause),
		 "the cable %s - %s joins %s, and so %u of %u cables do not join neighbouring "
		 "levels of a tree",
		 label(fabric, from, link, near), label(fabric, to, fabric->isl_reverse[link], far),
		 levels, pruned->strays, fabric->isl_count / 2);
	set_remedy(note, "cable these switches by a level above them, or take these cables out");
}

/* A fabric that is a tree but for some cables, or is none. False if it is a tree. */
static bool name_cables(const struct hd_fabric *fabric, struct hd_ar_note *note)
{
	static const struct hd_tree_facts no_facts;
	struct hd_arena arena = {0};
	struct hd_tree tree;
	struct hd_tree_pruned pruned;
	struct hd_error reason = {""};
	bool found = false;

	if (hd_tree_find(fabric, &no_facts, 1, &arena, &tree, &reason) == -ENOTSUP) {
		int rc = hd_tree_prune(fabric, &no_facts, NULL, &arena, &pruned);
		found = !rc || rc == -ENOTSUP;
		if (!rc) {
			name_strays(fabric, &pruned, note);
		} else if (found) {
			set_cause(note, reason.text);
			set_remedy(note, "a fabric in which each cable joins neighbouring levels");
		}
	}
	hd_arena_release(&arena);
	return found;
}

/* ---- turns ---- */

static void name_turn(const struct hd_ar_request *request, const struct turns_first *turn,
		      struct hd_ar_note *note)
{
	const struct hd_fabric *fabric = request->fabric;
	char in[HD_LABEL_SIZE], out[HD_LABEL_SIZE];
	uint32_t sw = hd_isl_from(fabric, turn->next);

	snprintf(
	    note->cause, sizeof(note->cause),
	    "the tables lead packets to LID %u down and up again: they reach %s, and leave by %s",
	    turn->lid, label(fabric, sw, fabric->isl_reverse[turn->link], in),
	    label(fabric, sw, turn->next, out));
	if (!turn->of_hosts)
		set_remedy(
		    note,
		    "cable the switch of that adapter so that a path leads to it without a turn");
	else if (!request->routes->rank && !*request->routes->engine)
		set_remedy(note, "if they are of an engine such as updown, name it instead of "
				 "them: files do not "
				 "say which links climb");
	else
		set_remedy(note, "take an engine whose paths climb, then descend, such as updown");
}

static bool name_turns(const struct hd_ar_request *request, struct hd_ar_note *note)
{
	struct turns_first turn;

	if (turns_find(request->fabric, request->routes, &turn))
		return false;
	name_turn(request, &turn, note);
	return true;
}

/* ---- notes ---- */

/* Why groups close a loop: the cables, else the tables, else shortest paths that the tables do not take. */
static void explain(const struct hd_ar_request *request, const struct hd_error *loop,
		    struct hd_ar_note *note)
{
	if (name_cables(request->fabric, note) || name_turns(request, note))
		return;
	snprintf(note->cause, sizeof(note->cause),
		 "some paths of fewest hops lead down and up again: %.400s",
		 *loop->text ? loop->text : "their groups close a credit loop");
	set_remedy(note, "more cables upwards, so that paths of fewest hops climb, then descend");
}

static bool is_dragonfly_plus(const struct hd_fabric *fabric)
{
	struct hd_arena arena = {0};
	struct hd_dragonfly_plus shape;
	int rc = hd_dragonfly_plus_find(fabric, &arena, &shape, NULL);

	hd_arena_release(&arena);
	return !rc;
}

void notes_refused(const struct hd_ar_request *request, enum hd_ar_algorithm algorithm, int rc,
		   const struct hd_error *reason)
{
	if (!request->notes || (algorithm == HD_AR_DFP && request->algorithm == HD_AR_AUTO &&
				rc == -ENOTSUP && !is_dragonfly_plus(request->fabric)))
		return;
	struct hd_ar_note *note = add(request, HD_AR_NOTE_REFUSED, algorithm);
	if (!note)
		return;
	if (algorithm == HD_AR_TREE)
		explain(request, reason, note);
	else
		set_cause(note, reason->text);
	if (algorithm == HD_AR_DFP && rc == -ENOTSUP)
		set_remedy(
		    note, "tables of the engine dfp on one lane, and switches with private tables");
}

void notes_in_part(const struct hd_ar_request *request, const struct hd_ar_plan *plan,
		   uint64_t entries, const struct hd_error *loop)
{
	struct hd_ar_note *note = add(request, HD_AR_NOTE_STATIC, plan->algorithm);

	if (!note)
		return;
	note->entries = entries;
	explain(request, loop, note);
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
	struct hd_ar_note *note;

	if (request->notes && request->notes->count && any_able(plan))
		return; /* the cause is known */
	note = add(request, HD_AR_NOTE_NOTHING, plan->algorithm);
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
