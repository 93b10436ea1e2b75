/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bodies of calls: JSON to structs (keyd_request.h says what each may have). The API's calls and the fuzz target
 * use it.
 *
 * Nothing is believed: types, lengths and numbers are checked, unknown members are refused, and a problem names
 * the byte or the member. What a pattern means is checked later.
 */
#include "keyd_request.h"

#include <ctype.h>
#include <errno.h>
#include <heddle/keyd/key_choose.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct keyd_problem *problem)
{
	keyd_problem_set(problem, 503, "heddle-keyd has no memory for this request");
	return -ENOMEM;
}

bool keyd_request_is_id(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !memchr("._-", text[i], 3))
			return false;
	return length > 0 && length <= KEYD_ID_LONGEST;
}

/* The object in a body, whose members must all be in the list of known ones, which ends with NULL. */
static json_t *request_load(const char *body, size_t length, const char *const *known,
			    struct keyd_problem *problem)
{
	json_error_t fault;
	json_t *root = json_loadb(body, length, JSON_REJECT_DUPLICATES, &fault), *value;
	const char *name;

	if (!root) {
		keyd_problem_set(problem, 400, "the body is no JSON: %s", fault.text);
		problem->has_offset = true;
		problem->offset = fault.position < 0 ? 0 : (size_t)fault.position;
		return NULL;
	}
	if (!json_is_object(root)) {
		keyd_problem_set(problem, 422, "the body is no JSON object");
		json_decref(root);
		return NULL;
	}
	json_object_foreach(root, name, value)
	{
		unsigned i = 0;

		while (known[i] && strcmp(known[i], name))
			i++;
		if (!known[i]) {
			keyd_problem_set(problem, 422, "this call has no member '%.60s'", name);
			json_decref(root);
			return NULL;
		}
	}
	return root;
}

/* Takes a whole number; leaves *number alone if there is no such member. */
static int take_number(const json_t *root, const char *name, json_int_t least, json_int_t most,
		       uint32_t *number, struct keyd_problem *problem)
{
	const json_t *value = json_object_get(root, name);

	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < least ||
	    json_integer_value(value) > most)
		return keyd_problem_set(problem, 422, "'%s' is no whole number from %lld to %lld",
					name, (long long)least, (long long)most);
	*number = (uint32_t)json_integer_value(value);
	return 0;
}

static int take_bool(const json_t *root, const char *name, bool *truth,
		     struct keyd_problem *problem)
{
	const json_t *value = json_object_get(root, name);

	if (value && !json_is_boolean(value))
		return keyd_problem_set(problem, 422, "'%s' is neither true nor false", name);
	if (value)
		*truth = json_is_true(value);
	return 0;
}

/* Takes an array of host names. */
static int take_names(const json_t *root, const char *member, struct hd_arena *arena, char ***names,
		      uint32_t *count, struct keyd_problem *problem)
{
	const json_t *array = json_object_get(root, member);
	size_t size = json_array_size(array);

	if (!json_is_array(array) || !size || size > KEYD_HOSTS_MAX)
		return keyd_problem_set(problem, 422, "'%s' is no list of 1 to %u hosts", member,
					KEYD_HOSTS_MAX);
	*names = hd_arena_alloc(arena, size, sizeof(**names));
	for (size_t i = 0; *names && i < size; i++) {
		const json_t *name = json_array_get(array, i);

		if (!json_is_string(name) || !json_string_length(name) ||
		    json_string_length(name) > KEYD_NAME_LONGEST)
			return keyd_problem_set(problem, 422, "%s[%zu] is no name of 1 to %u bytes",
						member, i, KEYD_NAME_LONGEST);
		(*names)[i] = hd_arena_strdup(arena, json_string_value(name));
	}
	*count = (uint32_t)size;
	return hd_arena_check(arena) ? no_memory(problem) : 0;
}

static char *canonical(const json_t *root, struct hd_arena *arena)
{
	char *dump = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
	char *text = dump ? hd_arena_strdup(arena, dump) : NULL;

	free(dump);
	return text;
}

/* Counts the flows. Their values are checked when they are taken. */
static int count_flows(const json_t *phases, struct keyd_place_request *out, size_t *flows,
		       struct keyd_problem *problem)
{
	size_t count = json_array_size(phases);

	*flows = 0;
	if (!json_is_array(phases) || !count || count > HD_KEY_PHASES_MAX)
		return keyd_problem_set(problem, 422, "'phases' is no list of 1 to %u phases",
					HD_KEY_PHASES_MAX);
	for (size_t phase = 0; phase < count; phase++) {
		const json_t *list = json_array_get(phases, phase);

		if (!json_is_array(list))
			return keyd_problem_set(problem, 422, "phases[%zu] is no list of flows",
						phase);
		*flows += json_array_size(list);
	}
	out->phase_count = (uint32_t)count;
	return 0;
}

static bool take_rank(const json_t *value, uint32_t ranks, uint32_t *rank)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) >= ranks)
		return false;
	*rank = (uint32_t)json_integer_value(value);
	return true;
}

static int take_flow(const json_t *pair, size_t phase, size_t index, uint32_t ranks,
		     struct hd_rank_flow *flow, struct keyd_problem *problem)
{
	if (json_array_size(pair) != 2)
		return keyd_problem_set(problem, 422, "phases[%zu][%zu] is no pair of ranks", phase,
					index);
	if (!take_rank(json_array_get(pair, 0), ranks, &flow->source) ||
	    !take_rank(json_array_get(pair, 1), ranks, &flow->destination))
		return keyd_problem_set(problem, 422,
					"phases[%zu][%zu] has a rank that is out of range: ranks "
					"are 0 to %u",
					phase, index, ranks - 1);
	if (flow->source == flow->destination)
		return keyd_problem_set(problem, 422,
					"phases[%zu][%zu] is a flow from rank %u to itself", phase,
					index, flow->source);
	return 0;
}

static int take_phases(const json_t *phases, struct keyd_place_request *out,
		       struct keyd_problem *problem)
{
	uint32_t at = 0;
	size_t flows;
	int rc = count_flows(phases, out, &flows, problem);

	if (rc)
		return rc;
	out->base = hd_arena_alloc(&out->arena, out->phase_count + 1, sizeof(*out->base));
	out->flows = hd_arena_alloc(&out->arena, flows + 1, sizeof(*out->flows));
	if (hd_arena_check(&out->arena))
		return no_memory(problem);
	for (uint32_t phase = 0; !rc && phase < out->phase_count; phase++) {
		const json_t *list = json_array_get(phases, phase);
		size_t count = json_array_size(list);

		for (size_t i = 0; !rc && i < count; i++)
			rc = take_flow(json_array_get(list, i), phase, i, out->ranks,
				       &out->flows[at++], problem);
		out->base[phase + 1] = at;
	}
	return rc;
}

static int take_pattern(const json_t *root, struct keyd_place_request *out,
			struct keyd_problem *problem)
{
	const json_t *pattern = json_object_get(root, "pattern");
	const json_t *phases = json_object_get(root, "phases");

	if (!pattern == !phases)
		return keyd_problem_set(problem, 422,
					"a job needs either 'pattern' or 'phases', not both");
	if (phases)
		return take_phases(phases, out, problem);
	if (!json_is_string(pattern))
		return keyd_problem_set(problem, 422, "'pattern' is no text");
	if (!strncmp(json_string_value(pattern), "file:", 5))
		return keyd_problem_set(problem, 422,
					"heddle-keyd reads no files of its clients: send 'phases' "
					"instead of a pattern 'file:'");
	out->pattern = hd_arena_strdup(&out->arena, json_string_value(pattern));
	return out->pattern ? 0 : no_memory(problem);
}

const char *keyd_mode_name(enum keyd_mode mode)
{
	static const char *const names[] = {
	    [KEYD_REWRITE] = "rewrite", [KEYD_OFFSET] = "offset", [KEYD_ALTERNATE] = "alternate"};

	return names[mode];
}

static int take_mode(const json_t *root, struct keyd_place_request *out,
		     struct keyd_problem *problem)
{
	const json_t *mode = json_object_get(root, "mode");
	const char *text = mode ? json_string_value(mode) : keyd_mode_name(KEYD_REWRITE);

	for (unsigned i = KEYD_REWRITE; text && i <= KEYD_ALTERNATE; i++)
		if (!strcmp(text, keyd_mode_name((enum keyd_mode)i))) {
			out->mode = (enum keyd_mode)i;
			return 0;
		}
	return keyd_problem_set(problem, 422,
				"'mode' is not \"rewrite\", \"offset\" or \"alternate\"");
}

static int take_place(const json_t *root, struct keyd_place_request *out,
		      struct keyd_problem *problem)
{
	int rc = take_names(root, "hosts", &out->arena, &out->hosts, &out->host_count, problem);

	if (rc)
		return rc;
	out->has_uid = json_object_get(root, "uid") != NULL;
	out->best_effort = true;
	out->ranks = out->host_count;
	rc = take_number(root, "uid", 0, UINT32_MAX - 1, &out->uid, problem);
	if (!rc)
		rc = take_number(root, "ranks", 1, HD_KEY_RANKS_MAX, &out->ranks, problem);
	if (!rc)
		rc = take_number(root, "keys", 0, 127, &out->keys, problem);
	if (!rc)
		rc = take_bool(root, "best_effort", &out->best_effort, problem);
	if (!rc)
		rc = take_mode(root, out, problem);
	if (!rc)
		rc = take_pattern(root, out, problem);
	if (rc)
		return rc;
	out->text = canonical(root, &out->arena);
	return out->text ? 0 : no_memory(problem);
}

int keyd_request_place(const char *body, size_t length, struct keyd_place_request *out,
		       struct keyd_problem *problem)
{
	static const char *const known[] = {"hosts", "uid",	    "pattern", "phases", "ranks",
					    "mode",  "best_effort", "keys",    NULL};
	json_t *root = request_load(body, length, known, problem);

	if (!root)
		return -EINVAL;
	*out = (struct keyd_place_request){.uid = 0};
	int rc = take_place(root, out, problem);
	json_decref(root);
	if (rc)
		hd_arena_release(&out->arena);
	return rc;
}

int keyd_request_propose(const char *body, size_t length, struct keyd_propose_request *out,
			 struct keyd_problem *problem)
{
	static const char *const known[] = {"hosts",   "choose", "tries", "ranks",
					    "pattern", "phases", NULL};
	json_t *root = request_load(body, length, known, problem);

	if (!root)
		return -EINVAL;
	*out = (struct keyd_propose_request){.tries = HD_KEY_CHOOSE_TRIES};
	struct keyd_place_request *place = &out->place;
	int rc =
	    take_names(root, "hosts", &place->arena, &place->hosts, &place->host_count, problem);
	if (!rc)
		rc = take_number(root, "choose", 1, place->host_count, &out->choose, problem);
	if (!rc)
		rc = take_number(root, "tries", 0, KEYD_TRIES_MAX, &out->tries, problem);
	place->ranks = out->choose ? out->choose : place->host_count;
	if (!rc)
		rc = take_number(root, "ranks", 1, HD_KEY_RANKS_MAX, &place->ranks, problem);
	if (!rc)
		rc = take_pattern(root, place, problem);
	json_decref(root);
	if (rc)
		hd_arena_release(&out->place.arena);
	return rc;
}

int keyd_request_layout(const char *body, size_t length, struct keyd_layout_request *out,
			struct keyd_problem *problem)
{
	static const char *const known[] = {"ranks", NULL};
	json_t *root = request_load(body, length, known, problem);

	if (!root)
		return -EINVAL;
	*out = (struct keyd_layout_request){.rank_count = 0};
	int rc = take_names(root, "ranks", &out->arena, &out->ranks, &out->rank_count, problem);
	if (!rc) {
		out->text = canonical(root, &out->arena);
		rc = out->text ? 0 : no_memory(problem);
	}
	json_decref(root);
	if (rc)
		hd_arena_release(&out->arena);
	return rc;
}

int keyd_request_phase(const char *body, size_t length, enum keyd_phase_call call,
		       struct keyd_phase_request *out, struct keyd_problem *problem)
{
	static const char *const known[][5] = {[KEYD_REQUEST] = {"step", "phase", "turn", "rank"},
					       [KEYD_DONE] = {"step", "phase", "turn"},
					       [KEYD_JOIN] = {"step", "rank"}};
	struct keyd_phase_request request = {.step = "0"};

	if (length > KEYD_PHASE_BODY_LARGEST)
		return keyd_problem_set(problem, 413,
					"the body of this call has more than %zu bytes",
					KEYD_PHASE_BODY_LARGEST);
	json_t *root = request_load(body, length, known[call], problem);
	if (!root)
		return -EINVAL;
	const json_t *step = json_object_get(root, "step");
	request.has_turn = json_object_get(root, "turn") != NULL;
	request.has_rank = json_object_get(root, "rank") != NULL;
	int rc = take_number(root, "phase", 0, HD_KEY_PHASES_MAX - 1, &request.phase, problem);
	if (!rc)
		rc = take_number(root, "turn", 0, UINT32_MAX, &request.turn, problem);
	if (!rc)
		rc = take_number(root, "rank", 0, HD_KEY_RANKS_MAX - 1, &request.rank, problem);
	if (!rc && step) {
		if (json_is_string(step) &&
		    keyd_request_is_id(json_string_value(step), json_string_length(step)))
			memcpy(request.step, json_string_value(step), json_string_length(step) + 1);
		else
			rc = keyd_problem_set(problem, 422,
					      "'step' is no id: 1 to %u letters, digits, dots, "
					      "hyphens or underscores",
					      KEYD_ID_LONGEST);
	}
	json_decref(root);
	if (!rc)
		*out = request;
	return rc;
}
