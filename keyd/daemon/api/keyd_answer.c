/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What calls answer, as JSON. Long lists are written as text (keyd_text.h), short answers as objects of jansson.
 * keyd_place.c, keyd_phase.c and keyd_show.c call it.
 *
 * The answer to a placement is made once by a worker, stored, and sent again for the same call. Members never
 * change their order.
 */
#include "keyd_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_TEXT (2 * KEYD_ID_LONGEST + 16)
#define REASON_TEXT 256

/* The key of a phase, or NULL: it is not made. */
static const struct hd_key *key_of(const struct keyd_step *step, uint32_t phase)
{
	const struct keyd_keys *keys = step->keys;

	return keys && phase < keys->phase_count ? keys->keys[phase] : NULL;
}

static uint32_t left_out_of(const struct keyd_step *step, uint32_t phase)
{
	const struct hd_key *key = key_of(step, phase);

	return key ? key->left_out : 0;
}

/* Why the key of a phase leaves flows out. */
static const char *why_left_out(const struct keyd_step *step, uint32_t phase)
{
	const char *why = step->keys ? step->keys->notes[phase].why : NULL;

	return why ? why : "unknown";
}

/* What a phase that could have more LID offsets lacks. */
static bool lacks_offsets(uint32_t contention, uint32_t wanted, uint32_t offsets, uint32_t demand,
			  uint32_t usable)
{
	return contention > 1 && wanted > offsets && demand <= usable;
}

static const char *explain_offsets(char *text, size_t size, uint32_t wanted, uint32_t offsets)
{
	snprintf(text, size,
		 "%u flows from one leaf go to one host, which takes as many LID offsets; too few "
		 "were free, or more are "
		 "not allowed, and the phase has %u",
		 wanted, offsets);
	return text;
}

/* One key for each phase. prefix: what its id begins with. */
static void write_keys(struct keyd_writer *writer, const struct keyd_answering *answering,
		       const char *prefix)
{
	const struct keyd_paths *paths = answering->paths;

	keyd_paths_write_ranks(writer, paths, answering->job->offset);
	keyd_write_name(writer, "keys");
	keyd_write(writer, "[");
	for (uint32_t phase = 0; phase < answering->phase_count; phase++) {
		const struct keyd_figures *figures = &answering->figures[phase];
		uint32_t first = keyd_step_first_offset(answering->step, phase);
		uint32_t offsets = keyd_paths_count(paths, phase);
		char text[KEY_TEXT], reason[REASON_TEXT];

		snprintf(text, sizeof(text), "%s.%u", prefix, phase);
		keyd_write_comma(writer);
		keyd_write(writer, "{");
		keyd_write_text(writer, "key", text);
		keyd_write_member(writer, "phase", phase);
		keyd_write_member(writer, "offset", first);
		keyd_write_member(writer, "flows", figures->flows);
		keyd_write_member(writer, "contention", figures->contention);
		keyd_write_member(writer, "demand", figures->demand);
		keyd_write_member(writer, "usable", figures->usable);
		keyd_paths_write(writer, paths, phase, first);
		if (lacks_offsets(figures->contention, figures->wanted, offsets, figures->demand,
				  figures->usable))
			keyd_write_text(
			    writer, "reason",
			    explain_offsets(reason, sizeof(reason), figures->wanted, offsets));
		keyd_write(writer, "}");
	}
	keyd_write(writer, "]}");
}

/* Answers begin with the job and its state, "placed". */
static void write_identity(struct keyd_writer *writer, const struct keyd_job *job,
			   enum keyd_job_state state)
{
	keyd_write(writer, "{");
	keyd_write_text(writer, "job", job->id);
	keyd_write_text(writer, "state", keyd_job_state_name(state));
}

struct keyd_text *keyd_answer_names(const struct keyd_job *job)
{
	struct keyd_writer writer = {.room = 0};

	keyd_write(&writer, ",\"host_names\":[");
	for (uint32_t i = 0; i < job->placement.host_count; i++) {
		keyd_write_comma(&writer);
		keyd_write_string(&writer, job->placement.hosts[i]);
	}
	keyd_write(&writer, "]");
	if (job->placement.pattern)
		keyd_write_text(&writer, "pattern", job->placement.pattern);
	return keyd_writer_end(&writer);
}

static void make_answer(struct keyd_task *task)
{
	struct keyd_answering *answering = (struct keyd_answering *)task;
	struct keyd_writer writer = {.room = 0};

	if (answering->lmc == KEYD_NO_LMC) {
		const struct keyd_step *step = answering->step;
		char prefix[KEY_TEXT];
		snprintf(prefix, sizeof(prefix), "%s.%s", answering->job->id, step->name);
		keyd_write(&writer, "{");
		keyd_write_text(&writer, "job", answering->job->id);
		keyd_write_text(&writer, "step", step->name);
		keyd_write_member(&writer, "ranks", step->rank_count);
		write_keys(&writer, answering, prefix);
	} else {
		const struct keyd_job *job = answering->job;
		write_identity(&writer, job, KEYD_PLACED);
		keyd_write_text(&writer, "mode", keyd_mode_name(job->placement.mode));
		keyd_write_member(&writer, "uid", job->uid);
		keyd_write_member(&writer, "hosts", job->placement.host_count);
		keyd_write_member(&writer, "ranks", job->placement.ranks);
		keyd_write_member(&writer, "offset", job->offset);
		keyd_write_member(&writer, "offsets", job->offsets);
		keyd_write_member(&writer, "lmc", answering->lmc);
		write_keys(&writer, answering, job->id);
		answering->names = keyd_answer_names(answering->job);
	}
	answering->answer = keyd_writer_end(&writer);
}

struct keyd_answering *keyd_answering_new(const struct keyd_job *job, struct keyd_step *step,
					  unsigned lmc)
{
	uint32_t count = step->keys->phase_count;
	struct keyd_answering *answering =
	    calloc(1, sizeof(*answering) + count * sizeof(answering->figures[0]));

	if (!answering)
		return NULL;
	answering->task.run = make_answer;
	answering->job = job;
	answering->step = step;
	answering->paths = keyd_step_spread(step)->paths;
	answering->lmc = lmc;
	answering->phase_count = count;
	for (uint32_t phase = 0; phase < count; phase++) {
		const struct hd_key *key = step->keys->keys[phase];

		answering->figures[phase] =
		    (struct keyd_figures){key->flow_count, key->contention, key->demand,
					  key->usable, key->wanted_offsets};
	}
	return answering;
}

void keyd_answering_free(struct keyd_answering *answering)
{
	keyd_text_release(answering->answer);
	keyd_text_release(answering->names);
	free(answering);
}

/* What a grant tells of a key: the one in the switches, or else the one that would be. */
struct key_figures {
	uint32_t contention, flows, left_out;
};

static struct key_figures figures_of(const struct keyd_step *step, const struct keyd_slot *slot,
				     uint32_t phase)
{
	const struct hd_key *key = key_of(step, phase);

	if (slot->in_force && slot->phase == phase)
		return (struct key_figures){slot->contention, slot->flows, slot->left_out};
	return key ? (struct key_figures){key->contention, key->flow_count, key->left_out}
		   : (struct key_figures){0};
}

/* Which offsets the flows use, if not all of the phase have one. rank: of which the flows are, or HD_NONE. */
static void add_paths(json_t *json, struct keyd_step *step, uint32_t phase, uint32_t first,
		      uint32_t rank)
{
	const struct keyd_paths *paths = keyd_step_spread(step)->paths;
	uint32_t count, offset = first;

	if (keyd_paths_count(paths, phase) < 2)
		return;
	if (paths->of_rank && rank != HD_NONE)
		offset += paths->of_rank[rank];
	json_object_set_new(json, "offset", json_integer(offset));
	json_object_set_new(json, "offsets", json_integer(keyd_paths_count(paths, phase)));
	if (paths->of_rank || rank == HD_NONE)
		return;
	json_t *list = json_array();
	const struct keyd_path *path = keyd_paths_of(paths, phase, rank, &count);
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, json_pack("[I,I,I]", (json_int_t)path[i].source,
						      (json_int_t)path[i].destination,
						      (json_int_t)(first + path[i].offset)));
	json_object_set_new(json, "paths", list);
}

/* Why a grant is worth less than it could be, in a buffer[REASON_TEXT] if need be. NULL: it is not. */
static const char *reason_of(struct keyd_step *step, uint32_t phase, bool ready, uint32_t left_out,
			     const char *reason, char *buffer)
{
	const struct hd_key *key = key_of(step, phase);
	uint32_t offsets = keyd_paths_count(keyd_step_spread(step)->paths, phase);

	if (!ready)
		return reason;
	if (left_out)
		return why_left_out(step, phase);
	if (key &&
	    lacks_offsets(key->contention, key->wanted_offsets, offsets, key->demand, key->usable))
		return explain_offsets(buffer, REASON_TEXT, key->wanted_offsets, offsets);
	return NULL;
}

json_t *keyd_answer_phase(const struct keyd_slot *slot, uint32_t phase, uint32_t rank, bool ready,
			  const char *reason)
{
	struct keyd_step *step = slot->step;
	const struct key_figures key = figures_of(step, slot, phase);
	char text[KEY_TEXT], buffer[REASON_TEXT];

	snprintf(text, sizeof(text), "%s.%s.%u", step->job->id, step->name, phase);
	reason = reason_of(step, phase, ready, key.left_out, reason, buffer);
	json_t *json =
	    json_pack("{s:s, s:I, s:I, s:I, s:i, s:b, s:I, s:I, s:I, s:I, s:I}", "key", text,
		      "phase", (json_int_t)phase, "turn", (json_int_t)step->turn, "offset",
		      (json_int_t)(ready ? slot->offset : 0), "sl", 0, "ready", ready, "contention",
		      (json_int_t)key.contention, "flows", (json_int_t)key.flows, "flows_with_key",
		      (json_int_t)(ready ? key.flows - key.left_out : 0), "blocks",
		      (json_int_t)(ready ? slot->blocks : 0), "changed",
		      (json_int_t)(ready ? slot->changed : 0));
	if (json && ready)
		add_paths(json, step, phase, slot->offset, rank);
	if (json && reason) {
		json_t *why = json_string(reason);

		json_object_set_new(json, "reason", why ? why : json_string("unknown"));
	}
	return json;
}

static void write_active(struct keyd_writer *writer, const struct keyd_step *step)
{
	for (uint32_t i = 0; i < step->slot_count; i++) {
		if (!step->slots[i].active)
			continue;
		keyd_write_comma(writer);
		keyd_write_number(writer, step->slots[i].phase);
	}
}

static void write_all_active(struct keyd_writer *writer, const struct keyd_job *job)
{
	const struct keyd_step *step;

	keyd_write_name(writer, "active");
	keyd_write(writer, "[");
	LIST_FOREACH(step, &job->steps, link)
	{
		write_active(writer, step);
	}
	keyd_write(writer, "]");
}

/* Flows of a slot's active phase that use the routes without keys. Unknown before the keys are made: 0. */
static uint32_t count_without(const struct keyd_slot *slot)
{
	if (!slot->active)
		return 0;
	const struct hd_key *key = key_of(slot->step, slot->phase);
	if (!key)
		return 0;
	return slot->in_force ? key->left_out : key->flow_count;
}

void keyd_answer_row(const struct keyd_job *job, struct keyd_writer *writer)
{
	keyd_write_comma(writer);
	write_identity(writer, job, job->state);
	keyd_write_member(writer, "uid", job->uid);
	keyd_write_member(writer, "hosts", job->placement.host_count);
	keyd_write_text(writer, "mode", keyd_mode_name(job->placement.mode));
	write_all_active(writer, job);
	/* How many flows of the active phases have no key, and why the first of them has none. */
	const struct keyd_slot *first = NULL;
	const struct keyd_step *step;
	uint64_t count = 0;
	LIST_FOREACH(step, &job->steps, link)
	{
		for (uint32_t i = 0; i < step->slot_count; i++) {
			uint32_t without = count_without(&step->slots[i]);
			if (without && !first)
				first = &step->slots[i];
			count += without;
		}
	}
	if (first) {
		keyd_write_member(writer, "without_key", count);
		keyd_write_text(writer, "reason",
				first->in_force ? why_left_out(first->step, first->phase)
						: first->reason);
	}
	keyd_write(writer, "}");
}

static void write_bool(struct keyd_writer *writer, const char *name, bool value)
{
	keyd_write_name(writer, name);
	keyd_write(writer, value ? "true" : "false");
}

static void write_slot(struct keyd_writer *writer, const struct keyd_slot *slot)
{
	keyd_write_comma(writer);
	keyd_write(writer, "{");
	keyd_write_member(writer, "number", slot->key);
	keyd_write_member(writer, "offset", slot->offset);
	write_bool(writer, "active", slot->active);
	write_bool(writer, "in_force", slot->in_force);
	if (slot->phase != HD_NONE) {
		keyd_write_member(writer, "phase", slot->phase);
		keyd_paths_write(writer, keyd_step_spread(slot->step)->paths, slot->phase,
				 slot->offset);
	}
	/* Flows that are left out, and why; or why the slot's key is not in force. */
	uint32_t left_out = slot->phase == HD_NONE ? 0 : left_out_of(slot->step, slot->phase);
	if (slot->in_force && left_out) {
		keyd_write_member(writer, "left_out", left_out);
		keyd_write_text(writer, "reason", why_left_out(slot->step, slot->phase));
	} else if (slot->reason[0]) {
		keyd_write_text(writer, "reason", slot->reason);
	}
	keyd_write(writer, "}");
}

void keyd_answer_job(const struct keyd_job *job, struct keyd_writer *head, size_t *skip,
		     struct keyd_writer *tail)
{
	const struct keyd_step *step;

	write_identity(head, job, KEYD_PLACED);
	*skip = head->text ? head->text->length : 0;
	if (head->text)
		head->text->length = 0;
	write_identity(head, job, job->state);
	write_all_active(head, job);
	keyd_write(tail, ",\"claimed\":");
	keyd_write_number(tail, job->offsets);
	keyd_write(tail, ",\"steps\":[");
	LIST_FOREACH(step, &job->steps, link)
	{
		keyd_write_comma(tail);
		keyd_write(tail, "{");
		keyd_write_text(tail, "step", step->name);
		keyd_write_member(tail, "ranks", step->rank_count);
		keyd_write_member(tail, "phases", step->phase_count);
		write_bool(tail, "layout", step->layout.rank_count > 0);
		keyd_paths_write_ranks(tail, step->own_spread.paths, step->job->offset);
		keyd_write_name(tail, "active");
		keyd_write(tail, "[");
		write_active(tail, step);
		keyd_write(tail, "],\"slots\":[");
		for (uint32_t i = 0; i < step->slot_count; i++)
			write_slot(tail, &step->slots[i]);
		keyd_write(tail, "]}");
	}
	keyd_write(tail, "]");
	if (job->missing[0])
		keyd_write_text(tail, "reason", job->missing);
	keyd_write(tail, "}");
}

struct keyd_text *keyd_answer_stored(const struct keyd_job *job, const char *text)
{
	json_t *stored = json_loads(text, 0, NULL);
	json_t *json =
	    json_pack("{s:s, s:s}", "job", job->id, "state", keyd_job_state_name(KEYD_PLACED));
	struct keyd_text *answer = NULL;
	char *dumped;

	if (json && !json_object_update_missing(json, stored)) {
		dumped = json_dumps(json, JSON_COMPACT);
		answer = dumped ? keyd_text_new(dumped) : NULL;
		free(dumped);
	}
	json_decref(json);
	json_decref(stored);
	return answer;
}
