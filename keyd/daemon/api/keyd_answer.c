/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_answer.h"

#include <stdio.h>
#include <string.h>

#define KEY_TEXT (2 * KEYD_ID_LONGEST + 16)

static const char *mode_name(const struct keyd_job *job)
{
	return job->placement.mode == KEYD_OFFSET ? "offset" : "rewrite";
}

/* One key for each phase. prefix: what its id begins with. */
static json_t *keys_json(const struct keyd_step *step, const char *prefix)
{
	json_t *list = json_array();

	for (uint32_t phase = 0; phase < step->keys->phase_count; phase++) {
		const struct hd_key *key = step->keys->keys[phase];
		bool many = step->job->placement.mode == KEYD_OFFSET;
		char text[KEY_TEXT];

		snprintf(text, sizeof(text), "%s.%u", prefix, phase);
		json_array_append_new(
		    list, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "key", text, "phase",
				    (json_int_t)phase, "offset",
				    (json_int_t)(step->job->offset + (many ? phase : 0)), "flows",
				    (json_int_t)key->flow_count, "contention",
				    (json_int_t)key->contention, "demand", (json_int_t)key->demand,
				    "usable", (json_int_t)key->usable));
	}
	return list;
}

static char *dump(json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	return text;
}

char *keyd_answer_place(const struct keyd_job *job, const struct keyd_step *step, unsigned lmc)
{
	return dump(json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "job", job->id,
			      "state", "placed", "mode", mode_name(job), "uid",
			      (json_int_t)job->uid, "hosts", (json_int_t)job->placement.host_count,
			      "ranks", (json_int_t)job->placement.ranks, "offset",
			      (json_int_t)job->offset, "offsets", (json_int_t)job->offsets, "lmc",
			      (json_int_t)lmc, "keys", keys_json(step, job->id)));
}

char *keyd_answer_layout(const struct keyd_step *step)
{
	char prefix[KEY_TEXT];

	snprintf(prefix, sizeof(prefix), "%s.%s", step->job->id, step->name);
	return dump(json_pack("{s:s, s:s, s:I, s:o}", "job", step->job->id, "step", step->name,
			      "ranks", (json_int_t)step->rank_count, "keys",
			      keys_json(step, prefix)));
}

json_t *keyd_answer_phase(const struct keyd_step *step, const struct keyd_slot *slot,
			  uint32_t phase, bool ready, const char *reason)
{
	const struct keyd_keys *keys = step->keys;
	char text[KEY_TEXT];
	json_t *json;

	snprintf(text, sizeof(text), "%s.%s.%u", step->job->id, step->name, phase);
	json = json_pack(
	    "{s:s, s:I, s:I, s:I, s:i, s:b, s:I, s:I, s:I}", "key", text, "phase",
	    (json_int_t)phase, "turn", (json_int_t)step->turn, "offset",
	    (json_int_t)(ready ? slot->offset : 0), "sl", 0, "ready", ready, "contention",
	    (json_int_t)(keys && phase < keys->phase_count ? keys->keys[phase]->contention : 0),
	    "blocks", (json_int_t)(ready ? slot->blocks : 0), "changed",
	    (json_int_t)(ready ? slot->changed : 0));
	if (json && !ready) {
		json_t *why = json_string(reason);

		json_object_set_new(json, "reason", why ? why : json_string("unknown"));
	}
	return json;
}

/* ---- jobs ---- */

static json_t *active_json(const struct keyd_step *step, json_t *list)
{
	for (uint32_t i = 0; i < step->slot_count; i++)
		if (step->slots[i].active)
			json_array_append_new(list, json_integer(step->slots[i].phase));
	return list;
}

json_t *keyd_answer_job(const struct keyd_job *job)
{
	const struct keyd_step *step;
	json_t *active = json_array();

	LIST_FOREACH(step, &job->steps, link)
	{
		active_json(step, active);
	}
	return json_pack("{s:s, s:s, s:I, s:I, s:s, s:o}", "job", job->id, "state",
			 keyd_job_state_name(job->state), "uid", (json_int_t)job->uid, "hosts",
			 (json_int_t)job->placement.host_count, "mode", mode_name(job), "active",
			 active);
}

static json_t *slot_json(const struct keyd_slot *slot)
{
	json_t *json =
	    json_pack("{s:I, s:I, s:b, s:b}", "number", (json_int_t)slot->key, "offset",
		      (json_int_t)slot->offset, "active", slot->active, "in_force", slot->in_force);

	if (json && slot->phase != HD_NONE)
		json_object_set_new(json, "phase", json_integer(slot->phase));
	if (json && slot->reason[0])
		json_object_set_new(json, "reason", json_string(slot->reason));
	return json;
}

static json_t *step_json(const struct keyd_step *step)
{
	json_t *slots = json_array();

	for (uint32_t i = 0; i < step->slot_count; i++)
		json_array_append_new(slots, slot_json(&step->slots[i]));
	return json_pack("{s:s, s:I, s:I, s:b, s:o, s:o}", "step", step->name, "ranks",
			 (json_int_t)step->rank_count, "phases", (json_int_t)step->phase_count,
			 "layout", step->layout.rank_count > 0, "active",
			 active_json(step, json_array()), "slots", slots);
}

json_t *keyd_answer_whole(const struct keyd_job *job)
{
	json_t *whole = job->answer ? json_loads(job->answer, 0, NULL) : json_object();
	json_t *hosts = json_array(), *steps = json_array();
	const struct keyd_step *step;

	for (uint32_t i = 0; i < job->placement.host_count; i++)
		json_array_append_new(hosts, json_string(job->placement.hosts[i]));
	LIST_FOREACH(step, &job->steps, link)
	{
		json_array_append_new(steps, step_json(step));
	}
	json_object_update_new(whole, keyd_answer_job(job));
	json_object_set_new(whole, "hosts", json_integer(job->placement.host_count));
	json_object_set_new(whole, "host_names", hosts);
	json_object_set_new(whole, "steps", steps);
	if (job->placement.pattern)
		json_object_set_new(whole, "pattern", json_string(job->placement.pattern));
	if (job->missing[0])
		json_object_set_new(whole, "reason", json_string(job->missing));
	return whole;
}
