/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as the body of a call to heddle-keyd: the first byte chooses the call. A body that is
 * taken says the same when it is read again in its canonical form, and all its ranks are in range; a
 * refusal has a status and a reason.
 */
#include "fuzzing.h"

#include <keyd_request.h>

static void check_problem(const struct keyd_problem *problem)
{
	json_t *json = keyd_problem_json(problem);

	demand(problem->status == 400 || problem->status == 422);
	demand(problem->detail[0] != '\0' && json);
	demand(problem->status != 400 || problem->has_offset);
	json_decref(json);
}

static void check_placement(const struct keyd_place_request *request)
{
	demand(request->host_count > 0 && request->host_count <= KEYD_HOSTS_MAX);
	demand(request->ranks > 0 && request->ranks <= HD_KEY_RANKS_MAX);
	demand(!request->pattern != !request->phase_count);
	for (uint32_t phase = 0; phase < request->phase_count; phase++)
		for (uint32_t i = request->base[phase]; i < request->base[phase + 1]; i++) {
			const struct hd_rank_flow *flow = &request->flows[i];

			demand(flow->source < request->ranks && flow->destination < request->ranks);
			demand(flow->source != flow->destination);
		}
}

static void place(const char *body, size_t length)
{
	struct keyd_place_request request, again;
	struct keyd_problem problem;

	if (keyd_request_place(body, length, &request, &problem)) {
		check_problem(&problem);
		return;
	}
	check_placement(&request);
	demand(!keyd_request_place(request.text, strlen(request.text), &again, &problem));
	demand(!strcmp(request.text, again.text));
	hd_arena_release(&again.arena);
	hd_arena_release(&request.arena);
}

static void propose(const char *body, size_t length)
{
	struct keyd_propose_request request;
	struct keyd_problem problem;

	if (keyd_request_propose(body, length, &request, &problem)) {
		check_problem(&problem);
		return;
	}
	check_placement(&request.place);
	demand(request.choose <= request.place.host_count && request.tries <= KEYD_TRIES_MAX);
	hd_arena_release(&request.place.arena);
}

static void layout(const char *body, size_t length)
{
	struct keyd_layout_request request, again;
	struct keyd_problem problem;

	if (keyd_request_layout(body, length, &request, &problem)) {
		check_problem(&problem);
		return;
	}
	demand(!keyd_request_layout(request.text, strlen(request.text), &again, &problem));
	demand(request.rank_count == again.rank_count && !strcmp(request.text, again.text));
	hd_arena_release(&again.arena);
	hd_arena_release(&request.arena);
}

static void phase(enum keyd_phase_call call, const char *body, size_t length)
{
	struct keyd_phase_request request;
	struct keyd_problem problem;

	if (keyd_request_phase(body, length, call, &request, &problem))
		check_problem(&problem);
	else
		demand(keyd_request_is_id(request.step, strlen(request.step)) &&
		       request.phase < HD_KEY_PHASES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *body = (const char *)data + 1;

	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:
		place(body, size - 1);
		break;
	case 1:
		layout(body, size - 1);
		break;
	case 2:
		propose(body, size - 1);
		break;
	default:
		phase((enum keyd_phase_call)(data[0] / 4 % 3), body, size - 1);
	}
	return 0;
}
