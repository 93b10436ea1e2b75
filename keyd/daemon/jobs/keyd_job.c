/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jobs, steps and slots: what there is, who owns what, and the memory that each user has. Only the event thread
 * calls it.
 *
 * A job is found by its id, a slot by the number of its key. Bytes are counted for the step, the job and the user
 * together, and given back when one is freed. keyd_step_active() and keyd_step_take_active() are the text that the
 * database keeps of active phases.
 */
#include "keyd_job.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- user ---- */

struct keyd_user *keyd_user_of(struct keyd_users *users, uint32_t uid)
{
	struct keyd_user *user;

	LIST_FOREACH(user, users, link)
	{
		if (user->uid == uid)
			return user;
	}
	user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	user->uid = uid;
	TAILQ_INIT(&user->recent);
	LIST_INSERT_HEAD(users, user, link);
	return user;
}

void keyd_user_free_all(struct keyd_users *users)
{
	while (!LIST_EMPTY(users)) {
		struct keyd_user *user = LIST_FIRST(users);

		LIST_REMOVE(user, link);
		free(user);
	}
}

/* ---- job ---- */

static int compare_ids(const void *one, const void *other)
{
	return strcmp(((const struct keyd_job *)one)->id, ((const struct keyd_job *)other)->id);
}

static int compare_keys(const void *one, const void *other)
{
	uint64_t a = ((const struct keyd_slot *)one)->key;
	uint64_t b = ((const struct keyd_slot *)other)->key;

	return a < b ? -1 : a > b;
}

struct keyd_job *keyd_job_find(const struct keyd_jobs *jobs, const char *id)
{
	struct keyd_job wanted;
	void *const *found;

	snprintf(wanted.id, sizeof(wanted.id), "%s", id);
	found = tfind(&wanted, &jobs->by_id, compare_ids);
	return found ? *found : NULL;
}

struct keyd_slot *keyd_job_slot_of_key(const struct keyd_jobs *jobs, uint64_t key)
{
	const struct keyd_slot wanted = {.key = key};
	void *const *found = tfind(&wanted, &jobs->by_key, compare_keys);

	return found ? *found : NULL;
}

#define HOST_BYTES 72u /* a pointer, and the least that an arena gives for a name */

/* Counts bytes of a job, and of a step of it if that is not NULL. */
static void charge(struct keyd_job *job, struct keyd_step *step, size_t bytes)
{
	if (step)
		step->bytes += bytes;
	job->bytes += bytes;
	job->user->bytes += bytes;
}

static void discharge(struct keyd_job *job, struct keyd_step *step, size_t bytes)
{
	if (step)
		step->bytes -= bytes;
	job->bytes -= bytes;
	job->user->bytes -= bytes;
}

static size_t bytes_of(const struct keyd_place_request *placement)
{
	size_t flows = placement->base ? placement->base[placement->phase_count] : 0;

	return strlen(placement->text) + placement->host_count * (HOST_BYTES + sizeof(uint32_t)) +
	       placement->phase_count * sizeof(uint32_t) + flows * sizeof(struct hd_rank_flow);
}

int keyd_job_new(struct keyd_jobs *jobs, const char *id, uint32_t uid,
		 struct keyd_place_request *placement, struct keyd_job **out)
{
	struct keyd_job *job = calloc(1, sizeof(*job));

	if (!job)
		return -ENOMEM;
	snprintf(job->id, sizeof(job->id), "%s", id);
	job->uid = uid;
	job->user = keyd_user_of(&jobs->users, uid);
	job->hosts = malloc((placement->host_count + 1) * sizeof(*job->hosts));
	LIST_INIT(&job->steps);
	TAILQ_INIT(&job->ops);
	if (!job->user || !job->hosts || !tsearch(job, &jobs->by_id, compare_ids)) {
		free(job->hosts);
		free(job);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < placement->host_count; i++)
		job->hosts[i] = HD_NONE;
	job->placement = *placement;
	*placement = (struct keyd_place_request){.uid = 0};
	charge(job, NULL, sizeof(*job) + bytes_of(&job->placement));
	TAILQ_INSERT_TAIL(&jobs->list, job, link);
	jobs->count++;
	*out = job;
	return 0;
}

void keyd_job_set_answer(struct keyd_job *job, struct keyd_text *answer, struct keyd_text *names)
{
	job->answer = answer;
	job->names = names;
	charge(job, NULL, (answer ? answer->length : 0) + (names ? names->length : 0));
}

void keyd_job_free(struct keyd_jobs *jobs, struct keyd_job *job)
{
	while (!LIST_EMPTY(&job->steps))
		keyd_step_free(jobs, LIST_FIRST(&job->steps));
	tdelete(job, &jobs->by_id, compare_ids);
	TAILQ_REMOVE(&jobs->list, job, link);
	jobs->count--;
	discharge(job, NULL, job->bytes);
	keyd_paths_free(job->spread.paths);
	hd_arena_release(&job->placement.arena);
	free(job->hosts);
	keyd_text_release(job->answer);
	keyd_text_release(job->names);
	free(job);
}

int keyd_job_resolve(struct keyd_job *job, const struct keyd_view *view,
		     const struct keyd_hosts *names, struct hd_error *err)
{
	int first_rc = 0;

	job->missing[0] = '\0';
	for (uint32_t i = 0; i < job->placement.host_count; i++) {
		struct hd_error why = {""};
		int rc = keyd_view_host(view, names, job->placement.hosts[i], &job->hosts[i], &why);

		if (rc)
			job->hosts[i] = HD_NONE;
		if (rc && !first_rc) {
			first_rc = hd_error_set(err, rc, "%s", why.text);
			snprintf(job->missing, sizeof(job->missing), "%s", why.text);
		}
	}
	return first_rc;
}

struct place {
	uint32_t host, index;
};

static int compare_places(const void *one, const void *other)
{
	const struct place *a = one, *b = other;

	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

bool keyd_job_duplicate(const struct keyd_job *job, uint32_t *first, uint32_t *second)
{
	uint32_t count = job->placement.host_count;
	struct place *places = malloc(count * sizeof(*places));
	bool found = false;

	for (uint32_t i = 0; places && i < count; i++)
		places[i] = (struct place){job->hosts[i], i};
	if (places)
		qsort(places, count, sizeof(*places), compare_places);
	for (uint32_t i = 1; places && !found && i < count; i++)
		if (places[i].host != HD_NONE && places[i].host == places[i - 1].host) {
			*first = places[i - 1].index;
			*second = places[i].index;
			found = true;
		}
	free(places);
	return found;
}

const char *keyd_job_state_name(enum keyd_job_state state)
{
	static const char *const names[] = {"placing", "placed", "releasing"};

	return names[state];
}

struct named {
	const char *name;
	uint32_t index;
};

static int compare_names(const void *one, const void *other)
{
	return strcmp(((const struct named *)one)->name, ((const struct named *)other)->name);
}

/* The job's host of each rank, by its name. */
static int find_rank_hosts(struct keyd_step *step, const struct keyd_layout_request *layout,
			   struct hd_error *err)
{
	const struct keyd_place_request *placement = &step->job->placement;
	struct named *sorted = malloc(placement->host_count * sizeof(*sorted));
	int rc = 0;

	if (!sorted)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < placement->host_count; i++)
		sorted[i] = (struct named){placement->hosts[i], i};
	qsort(sorted, placement->host_count, sizeof(*sorted), compare_names);
	for (uint32_t rank = 0; !rc && rank < step->rank_count; rank++) {
		const struct named wanted = {layout->ranks[rank], 0};
		const struct named *found =
		    bsearch(&wanted, sorted, placement->host_count, sizeof(*sorted), compare_names);

		if (found)
			step->rank_host[rank] = found->index;
		else
			rc = hd_error_set(err, -ENOENT,
					  "rank %u is on '%s', which is not one of the job's hosts",
					  rank, wanted.name);
	}
	free(sorted);
	return rc;
}

uint32_t keyd_job_slot_count(const struct keyd_job *job, uint32_t phase_count)
{
	switch (job->placement.mode) {
	case KEYD_OFFSET:
		return phase_count;
	case KEYD_ALTERNATE:
		return job->offsets;
	default:
		return 1;
	}
}

struct keyd_spread *keyd_step_spread(struct keyd_step *step)
{
	return step->layout.rank_count ? &step->own_spread : &step->job->spread;
}

void keyd_job_take_paths(struct keyd_job *job, struct keyd_step *step, struct keyd_paths *paths)
{
	*(step ? &step->own_spread : &job->spread) = (struct keyd_spread){true, paths};
	charge(job, step, keyd_paths_bytes(paths));
}

/* The step if the offsets are those of its layout. */
static struct keyd_step *owner_of_spread(struct keyd_step *step)
{
	return step->layout.rank_count ? step : NULL;
}

void keyd_step_take_paths(struct keyd_step *step, struct keyd_paths *paths)
{
	keyd_job_take_paths(step->job, owner_of_spread(step), paths);
}

void keyd_step_forget_paths(struct keyd_step *step)
{
	struct keyd_spread *spread = keyd_step_spread(step);

	discharge(step->job, owner_of_spread(step), keyd_paths_bytes(spread->paths));
	keyd_paths_free(spread->paths);
	*spread = (struct keyd_spread){.known = false};
}

uint32_t keyd_step_first_offset(struct keyd_step *step, uint32_t phase)
{
	const struct keyd_paths *paths = keyd_step_spread(step)->paths;

	if (step->job->placement.mode != KEYD_OFFSET)
		return step->job->offset;
	return step->job->offset + (paths ? paths->phases[phase].first : phase);
}

uint32_t keyd_step_offsets(struct keyd_step *step, uint32_t phase_count)
{
	const struct keyd_paths *paths = keyd_step_spread(step)->paths;

	return paths ? paths->offsets : keyd_job_slot_count(step->job, phase_count);
}

int keyd_step_add_slots(struct keyd_jobs *jobs, struct keyd_step *step, uint32_t phase_count,
			uint64_t first_key)
{
	uint32_t count = keyd_job_slot_count(step->job, phase_count);
	bool many = step->job->placement.mode == KEYD_OFFSET;

	step->slots = calloc(count + 1, sizeof(*step->slots));
	if (!step->slots)
		return -ENOMEM;
	step->phase_count = phase_count;
	charge(step->job, step, count * sizeof(*step->slots));
	for (uint32_t i = 0; i < count; i++) {
		step->slots[i] = (struct keyd_slot){.step = step,
						    .number = i,
						    .key = first_key + i,
						    .phase = many ? i : HD_NONE,
						    .offset = many ? keyd_step_first_offset(step, i)
								   : step->job->offset + i};
		if (!tsearch(&step->slots[i], &jobs->by_key, compare_keys))
			return -ENOMEM;
		step->slot_count++;
	}
	return 0;
}

static int lay_out(struct keyd_step *step, struct keyd_layout_request *layout, struct hd_error *err)
{
	int rc;

	step->rank_count = layout ? layout->rank_count : step->job->placement.ranks;
	step->rank_host = malloc((step->rank_count + 1) * sizeof(*step->rank_host));
	if (!step->rank_host)
		return hd_error_no_memory(err);
	if (layout) {
		rc = find_rank_hosts(step, layout, err);
		if (rc)
			return rc;
		/* Keeps the text of a layout whose hosts are found. */
		step->layout.text = hd_arena_strdup(&step->layout.arena, layout->text);
		if (!step->layout.text)
			return hd_error_no_memory(err);
		step->layout.rank_count = layout->rank_count;
		hd_arena_release(&layout->arena);
		*layout = (struct keyd_layout_request){.rank_count = 0};
		return 0;
	}
	/* Rank i is on host i; if there are more ranks than hosts, in blocks. */
	uint64_t hosts = step->job->placement.host_count;
	for (uint32_t rank = 0; rank < step->rank_count; rank++)
		step->rank_host[rank] =
		    step->rank_count <= hosts ? rank : (uint32_t)(rank * hosts / step->rank_count);
	return 0;
}

int keyd_step_new(struct keyd_job *job, const char *name, struct keyd_layout_request *layout,
		  struct keyd_step **out, struct hd_error *err)
{
	struct keyd_step *step = calloc(1, sizeof(*step));

	if (!step)
		return hd_error_no_memory(err);
	step->job = job;
	step->newest = HD_NONE;
	snprintf(step->name, sizeof(step->name), "%s", name);
	int rc = lay_out(step, layout, err);
	if (rc) {
		hd_arena_release(&step->layout.arena);
		free(step->rank_host);
		free(step);
		return rc;
	}
	LIST_INSERT_HEAD(&job->steps, step, link);
	charge(job, step,
	       sizeof(*step) + step->rank_count * sizeof(*step->rank_host) +
		   (step->layout.text ? strlen(step->layout.text) : 0));
	*out = step;
	return 0;
}

void keyd_step_set_answer(struct keyd_step *step, struct keyd_text *answer)
{
	step->answer = answer;
	if (answer)
		charge(step->job, step, answer->length);
}

void keyd_step_take_keys(struct keyd_step *step, struct keyd_keys *keys)
{
	struct keyd_user *user = step->job->user;

	keyd_step_drop_keys(step);
	step->keys = keys;
	user->key_bytes += keys->bytes;
	TAILQ_INSERT_TAIL(&user->recent, step, recent);
}

void keyd_step_use_keys(struct keyd_step *step)
{
	TAILQ_REMOVE(&step->job->user->recent, step, recent);
	TAILQ_INSERT_TAIL(&step->job->user->recent, step, recent);
}

void keyd_step_drop_keys(struct keyd_step *step)
{
	struct keyd_user *user = step->job->user;

	if (!step->keys)
		return;
	TAILQ_REMOVE(&user->recent, step, recent);
	user->key_bytes -= step->keys->bytes;
	user->freed += step->keys->bytes;
	keyd_keys_free(step->keys);
	step->keys = NULL;
}

void keyd_step_free(struct keyd_jobs *jobs, struct keyd_step *step)
{
	for (uint32_t i = 0; i < step->slot_count; i++) {
		tdelete(&step->slots[i], &jobs->by_key, compare_keys);
		keyd_slot_forget_shift(&step->slots[i]);
		free(step->slots[i].recipe);
	}
	LIST_REMOVE(step, link);
	keyd_step_drop_keys(step);
	discharge(step->job, step, step->bytes);
	keyd_paths_free(step->own_spread.paths);
	hd_arena_release(&step->layout.arena);
	free(step->rank_host);
	free(step->slots);
	keyd_text_release(step->answer);
	free(step);
}

struct keyd_step *keyd_step_find(const struct keyd_job *job, const char *name)
{
	struct keyd_step *step;

	LIST_FOREACH(step, &job->steps, link)
	{
		if (!strcmp(step->name, name))
			return step;
	}
	return NULL;
}

void keyd_slot_forget_shift(struct keyd_slot *slot)
{
	if (!slot->borrows_shift)
		hd_key_shift_free(slot->shift);
	slot->shift = NULL;
	slot->borrows_shift = false;
}

struct keyd_slot *keyd_step_slot(struct keyd_step *step, uint32_t phase)
{
	uint32_t other = 0;

	if (step->job->placement.mode != KEYD_ALTERNATE)
		return &step->slots[step->job->placement.mode == KEYD_OFFSET ? phase : 0];
	for (uint32_t i = 0; i < step->slot_count; i++) {
		if (step->slots[i].phase == phase)
			return &step->slots[i];
		if (step->newest != HD_NONE && step->slots[other].phase == step->newest)
			other = i; /* ranks may still use the newest phase */
	}
	return &step->slots[other];
}

bool keyd_step_is_active(const struct keyd_step *step)
{
	for (uint32_t i = 0; i < step->slot_count; i++)
		if (step->slots[i].active)
			return true;
	return false;
}

uint32_t keyd_step_present(struct keyd_step *step)
{
	if (step->newest == HD_NONE || keyd_step_slot(step, step->newest)->active)
		return step->newest;
	for (uint32_t i = 0; i < step->slot_count; i++)
		if (step->slots[i].active)
			return step->slots[i].phase;
	return step->newest;
}

bool keyd_step_overlaps(const struct keyd_step *one, const struct keyd_step *other)
{
	uint32_t count = one->job->placement.host_count;
	bool *used = calloc(count, sizeof(*used));
	bool found = !used; /* no memory: better too many than too few */

	for (uint32_t rank = 0; used && rank < one->rank_count; rank++)
		used[one->rank_host[rank]] = true;
	for (uint32_t rank = 0; !found && rank < other->rank_count; rank++)
		found = used[other->rank_host[rank]];
	free(used);
	return found;
}

/* Whether the slot has an active phase after the change; then which, and since which turn. */
static bool is_active_after(const struct keyd_slot *slot, enum keyd_step_change change,
			    uint32_t phase, uint32_t *active, uint32_t *turn)
{
	struct keyd_step *step = slot->step;
	bool own = slot == keyd_step_slot(step, phase);

	*active = slot->phase;
	*turn = slot->turn;
	if (change == KEYD_STEP_CEASES || (change == KEYD_STEP_ENDS && own))
		return false;
	if (change == KEYD_STEP_BEGINS && !own && step->job->placement.mode == KEYD_ALTERNATE)
		return false;
	if (change != KEYD_STEP_BEGINS || !own)
		return slot->active;
	*active = phase;
	*turn = step->turn + 1;
	return true;
}

char *keyd_step_active(struct keyd_step *step, enum keyd_step_change change, uint32_t phase)
{
	size_t size = 32 + 36 * (size_t)step->slot_count, at = 0;
	uint32_t active,
	    turn = step->turn + (change == KEYD_STEP_BEGINS || change == KEYD_STEP_CEASES), began;
	char *text = malloc(size);

	if (!text)
		return NULL;
	text[0] = '\0';
	for (uint32_t i = 0; i < step->slot_count; i++)
		if (is_active_after(&step->slots[i], change, phase, &active, &began))
			at += (size_t)snprintf(
			    text + at, size - at,
			    step->job->placement.mode == KEYD_ALTERNATE ? "%u:%u+%u " : "%u:%u ",
			    active, began, step->slots[i].number);
	if (!at && step->newest != HD_NONE)
		at = (size_t)snprintf(text, size, "-%u ", step->newest);
	if (turn)
		snprintf(text + at, size - at, "@%u", turn);
	return text;
}

/* A phase that was active is wanted again. */
static void take_phase(struct keyd_step *step, struct keyd_slot *slot, uint32_t phase,
		       uint32_t turn)
{
	slot->phase = phase;
	slot->active = slot->wanted = true;
	slot->turn = turn;
	if (step->newest == HD_NONE || turn >= step->turn) {
		step->newest = phase;
		step->turn = turn;
	}
}

/* Takes a word: "3:7", "3", "-3" or "@8". NULL: it is none. */
static const char *take_word(struct keyd_step *step, const char *text)
{
	const char *digits = text + (*text == '-' || *text == '@');
	char *end;
	unsigned long number = strtoul(digits, &end, 10);

	if (*digits < '0' || *digits > '9')
		return NULL;
	if (*text == '@') {
		step->turn = (uint32_t)number;
	} else if (number >= step->phase_count) {
		return NULL;
	} else if (*text == '-') {
		step->newest = (uint32_t)number;
		step->turn = 1;
	} else {
		unsigned long turn = *end == ':' ? strtoul(end + 1, &end, 10) : 1;
		unsigned long place = *end == '+' ? strtoul(end + 1, &end, 10) : 0;

		take_phase(step,
			   step->job->placement.mode == KEYD_ALTERNATE && place < step->slot_count
			       ? &step->slots[place]
			       : keyd_step_slot(step, (uint32_t)number),
			   (uint32_t)number, (uint32_t)turn);
	}
	return end;
}

void keyd_step_take_active(struct keyd_step *step, const char *text)
{
	while (text && *text) {
		text = take_word(step, text);
		while (text && *text == ' ')
			text++;
	}
	/* in mode offset all phases are in the switches, once one has begun */
	for (uint32_t i = 0; i < step->slot_count && step->job->placement.mode == KEYD_OFFSET; i++)
		step->slots[i].wanted |= keyd_step_is_active(step);
}
