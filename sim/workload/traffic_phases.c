/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applications whose ranks calculate, then send by one phase of a pattern, then meet at a barrier,
 * again and again (section IV of the paper in doc/papers/routing-keys.md). All applications have the same phases, each in an order
 * of its own. The time to calculate follows from the utilisation: the share that communication would
 * have of the whole time if only the hosts' cables limited it.
 */
#include "traffic_draw.h"
#include "traffic_keys.h"
#include "traffic_ranks.h"

#include <heddle/base/grow.h>
#include <heddle/keyd/key_pattern.h>
#include <inttypes.h>
#include <stdlib.h>

struct key {
	struct keys_settings settings;
	struct hd_key *key;
	bool in_force;
	struct hd_key_shift *shift; /* while it is in force: NULL is the key as it was made */
	struct hd_key_overlay overlay;
	uint8_t *before; /* [overlay.count] what the tables had */
};

struct traffic_keys {
	struct hd_key_tree *tree;
	struct hd_key_loads *loads;
	const struct hd_fabric *fabric;
	struct hd_routes *tables;
	uint32_t count, room, largest;
	struct key *keys;
	uint64_t *owner; /* [LIDs] application whose keys have entries for a LID; 0: none */
};

/* Reads KEYS_OPTIONS. */
void keys_settings(const struct hd_options *options, struct keys_settings *settings)
{
	*settings = (struct keys_settings){
	    .mode = (enum keys_mode)hd_options_get(options, "keys")->number,
	    .first_offset = (unsigned)hd_options_get(options, "key_offset")->number,
	    .offsets = (unsigned)hd_options_get(options, "key_offsets")->number,
	    .delay = traffic_time(options, "key_delay"),
	    .objective = (enum hd_key_objective)hd_options_get(options, "key_shift")->number,
	};
	hd_colour_algorithm_parse(hd_options_get(options, "key_colours")->text,
				  &settings->algorithm);
}

void keys_free(struct traffic_keys *keys)
{
	if (!keys)
		return;
	for (uint32_t i = 0; i < keys->count; i++) {
		hd_key_free(keys->keys[i].key);
		hd_key_shift_free(keys->keys[i].shift);
		hd_key_overlay_release(&keys->keys[i].overlay);
		free(keys->keys[i].before);
	}
	free(keys->keys);
	free(keys->owner);
	hd_key_loads_free(keys->loads);
	hd_key_tree_free(keys->tree);
	free(keys);
}

static int open_keys(struct hd_traffic *traffic, struct hd_error *err)
{
	const struct hd_traffic_scene *scene = traffic->scene;

	if (traffic->keys)
		return 0;
	if (scene->network->subnet_count != 1)
		return hd_error_set(err, -EINVAL, "option 'keys': keys are for one subnet");
	if (!scene->tables)
		return hd_error_set(err, -EINVAL, "option 'keys': there are no tables to write to");
	struct traffic_keys *keys = calloc(1, sizeof(*keys));
	if (!keys)
		return hd_error_no_memory(err);
	traffic->keys = keys;
	keys->fabric = scene->network->subnets[0].fabric;
	keys->tables = scene->tables;
	int rc = hd_key_tree_new(keys->fabric, &keys->tree, err);
	if (rc)
		return rc;
	keys->loads = hd_key_loads_new(keys->tree);
	keys->owner = calloc(keys->fabric->lid_count, sizeof(*keys->owner));
	return keys->loads && keys->owner ? 0 : hd_error_no_memory(err);
}

/* Two keys in force must not have entries for one LID. */
static int own_lids(struct traffic_keys *keys, const struct hd_key_overlay *overlay, uint64_t owner,
		    struct hd_error *err)
{
	for (uint32_t i = 0; i < overlay->count; i++) {
		uint64_t *of = &keys->owner[overlay->entries[i].lid];

		if (*of && *of != owner)
			return hd_error_set(
			    err, -EINVAL,
			    "two applications have keys for LID %u: give them other "
			    "hosts, or another 'key_offset'",
			    overlay->entries[i].lid);
		*of = owner;
	}
	return 0;
}

/* Whether the destinations have the LIDs that the key needs: a shift needs the same ones. */
static int try_overlay(struct traffic_keys *keys, const struct hd_key *key,
		       const struct keys_settings *settings, uint64_t owner, struct hd_error *err)
{
	struct hd_key_overlay overlay;
	int rc = hd_key_overlay(keys->tree, key, NULL, settings->first_offset, &overlay, err);

	if (rc)
		return rc;
	rc = own_lids(keys, &overlay, owner, err);
	hd_key_overlay_release(&overlay);
	return rc;
}

static int store(struct traffic_keys *keys, struct hd_key *key,
		 const struct keys_settings *settings, uint32_t *number, struct hd_error *err)
{
	struct key *all = hd_grow(keys->keys, keys->count, 1, &keys->room, sizeof(*all));

	if (!all)
		return hd_error_no_memory(err);
	keys->keys = all;
	all[keys->count] = (struct key){.settings = *settings, .key = key};
	*number = keys->count++;
	return 0;
}

static uint8_t *entry_at(const struct traffic_keys *keys, const struct hd_key_entry *entry)
{
	uint32_t sw = hd_fabric_find_node(keys->fabric, entry->switch_guid);

	return hd_routes_row(keys->tables, sw) + entry->lid;
}

/* Puts a key in force, which must not be so yet. Errors: -ENOMEM, those of hd_key_overlay(). */
static int keys_begin(struct traffic_keys *keys, uint32_t number, struct hd_error *err)
{
	struct key *key = &keys->keys[number];
	int rc = 0;

	if (key->settings.mode == KEYS_NRK)
		rc = hd_key_shift_choose(keys->tree, key->key, keys->loads, key->settings.objective,
					 &key->shift, err);
	if (!rc)
		rc = hd_key_overlay(keys->tree, key->key, key->shift, key->settings.first_offset,
				    &key->overlay, err);
	if (rc)
		return rc;
	key->before = malloc(key->overlay.count ? key->overlay.count : 1);
	if (!key->before)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < key->overlay.count; i++) {
		uint8_t *entry = entry_at(keys, &key->overlay.entries[i]);

		key->before[i] = *entry;
		*entry = key->overlay.entries[i].port;
	}
	hd_key_loads_add(keys->loads, keys->tree, key->key, key->shift, 1);
	for (uint32_t i = 0; i < keys->loads->link_count; i++)
		if (keys->loads->flows[i] > keys->largest)
			keys->largest = keys->loads->flows[i];
	key->in_force = true;
	return 0;
}

/* Flows of a phase of the pattern by source and by destination. */
struct phase {
	const struct hd_rank_flow *flows;
	uint32_t count;
	uint32_t *out_base, *out; /* flows of a source: out[out_base[r]] ... */
	uint32_t *in_base, *in;
	uint32_t busiest; /* most flows of one rank, out or in */
};

struct turn { /* what an application does in its n-th phase */
	uint32_t phase;
	uint32_t bytes;
};

struct progress_of_rank {
	uint32_t turn, at;
};

struct application {
	struct turn *turns; /* [turn_count] */
	uint32_t *keys; /* [phase_count] */
	struct progress_of_rank *ranks;
};

struct phases {
	struct ranks *ranks; /* first */
	struct hd_traffic_part *part;
	struct hd_key_pattern *pattern;
	struct phase *phase;
	uint32_t application_count, turn_count, turns_done;
	const struct rank_job *jobs;
	struct application *applications;
	struct keys_settings keys;
	bool ideal_barrier, preloaded; /* preloaded: all keys are in force from the start */
	uint64_t utilisation, deviation; /* millionths */
	uint64_t jitter; /* ps */
	uint32_t contention; /* of the worst key */
};

static uint32_t *group_flows(struct hd_arena *arena, const struct phase *phase, uint32_t ranks,
			     bool by_source, uint32_t **base)
{
	uint32_t *starts = hd_arena_alloc(arena, (size_t)ranks + 2, sizeof(*starts));
	uint32_t *flows = hd_arena_alloc(arena, phase->count, sizeof(*flows));

	if (!starts || !flows)
		return NULL;
	for (uint32_t i = 0; i < phase->count; i++)
		starts[(by_source ? phase->flows[i].source : phase->flows[i].destination) + 2]++;
	for (uint32_t r = 1; r <= ranks; r++)
		starts[r + 1] += starts[r];
	for (uint32_t i = 0; i < phase->count; i++)
		flows[starts[(by_source ? phase->flows[i].source : phase->flows[i].destination) +
			     1]++] = i;
	*base = starts;
	return flows;
}

static int make_phases(struct phases *phases, struct hd_error *err)
{
	const struct hd_key_pattern *pattern = phases->pattern;
	struct hd_arena *arena = &phases->part->traffic->arena;

	phases->phase = hd_arena_alloc(arena, pattern->phase_count, sizeof(*phases->phase));
	for (uint32_t p = 0; phases->phase && p < pattern->phase_count; p++) {
		struct phase *phase = &phases->phase[p];
		phase->flows = pattern->flows + pattern->base[p];
		phase->count = pattern->base[p + 1] - pattern->base[p];
		phase->out = group_flows(arena, phase, pattern->ranks, true, &phase->out_base);
		phase->in = group_flows(arena, phase, pattern->ranks, false, &phase->in_base);
		for (uint32_t r = 0; phase->out && phase->in && r < pattern->ranks; r++) {
			uint32_t out = phase->out_base[r + 1] - phase->out_base[r];
			uint32_t in = phase->in_base[r + 1] - phase->in_base[r];
			phase->busiest = out > phase->busiest ? out : phase->busiest;
			phase->busiest = in > phase->busiest ? in : phase->busiest;
		}
	}
	return hd_arena_check(arena) ? hd_error_no_memory(err) : 0;
}

static int add_key(struct phases *phases, uint32_t application, uint32_t index,
		   struct hd_error *err)
{
	const struct phase *phase = &phases->phase[index];
	const uint32_t *hosts = phases->jobs[application].hosts;
	struct hd_key_flow *flows =
	    hd_arena_alloc(&phases->part->traffic->arena, phase->count, sizeof(*flows));
	uint32_t number = 0;

	if (!flows)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < phase->count; i++)
		flows[i] = (struct hd_key_flow){hosts[phase->flows[i].source],
						hosts[phase->flows[i].destination]};
	struct keys_settings settings = phases->keys;
	if (phases->preloaded)
		settings.first_offset += index * settings.offsets;
	struct hd_traffic_part *part = phases->part;
	uint32_t count = phase->count;
	uint64_t owner = ((uint64_t)part->index << 32 | application) + 1;
	struct hd_key *key = NULL;
	int rc = open_keys(part->traffic, err);
	if (rc)
		return rc;
	struct traffic_keys *keys = part->traffic->keys;
	struct hd_key_request request = {.tree = keys->tree,
					 .flows = flows,
					 .flow_count = count,
					 .algorithm = settings.algorithm,
					 .offsets = settings.offsets,
					 .best_effort = true,
					 .threads = 1};
	rc = hd_key_make(&request, &key, err);
	if (!rc)
		rc = try_overlay(keys, key, &settings, owner, err);
	if (!rc)
		rc = store(keys, key, &settings, &number, err);
	if (rc)
		hd_key_free(key);

	if (rc)
		return rc;
	phases->applications[application].keys[index] = number;
	uint32_t contention = phases->part->traffic->keys->keys[number].key->contention;
	phases->contention = contention > phases->contention ? contention : phases->contention;
	return 0;
}

/* Puts all keys in force, in the order of the applications: as when each of them is placed. */
static int preload(struct phases *phases, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t a = 0; a < phases->application_count; a++)
		for (uint32_t p = 0; !rc && p < phases->pattern->phase_count; p++)
			rc = keys_begin(phases->part->traffic->keys,
					phases->applications[a].keys[p], err);
	return rc;
}

static int make_applications(struct phases *phases, struct hd_error *err)
{
	struct hd_arena *arena = &phases->part->traffic->arena;
	uint32_t ranks = phases->pattern->ranks;
	int rc = 0;

	phases->applications =
	    hd_arena_alloc(arena, phases->application_count, sizeof(*phases->applications));
	for (uint32_t a = 0; phases->applications && a < phases->application_count; a++) {
		struct application *application = &phases->applications[a];
		application->keys =
		    hd_arena_alloc(arena, phases->pattern->phase_count, sizeof(uint32_t));
		application->ranks = hd_arena_alloc(arena, ranks, sizeof(*application->ranks));
	}
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t a = 0; phases->keys.mode && a < phases->application_count; a++)
		for (uint32_t p = 0; !rc && p < phases->pattern->phase_count; p++)
			rc = add_key(phases, a, p, err);
	return rc || !phases->preloaded ? rc : preload(phases, err);
}

/* The time that the messages of a turn need on the cable of one host, ps. */
static uint64_t ideal_time(const struct phases *phases, const struct turn *turn)
{
	const struct hd_traffic *traffic = phases->part->traffic;
	uint64_t rate = traffic->places.rate[phases->part->members[0]];
	uint64_t bytes = sizes_wire(turn->bytes, traffic->mtu, traffic->header) *
			 phases->phase[turn->phase].busiest;

	return (uint64_t)((double)bytes * 8 / (double)rate * (double)HD_SIM_SECOND + 0.5);
}

static void message_step(const struct phases *phases, const struct application *application,
			 uint32_t rank, uint32_t at, struct rank_step *step)
{
	const struct turn *turn = &application->turns[application->ranks[rank].turn];
	const struct phase *phase = &phases->phase[turn->phase];
	uint32_t in = phase->in_base[rank + 1] - phase->in_base[rank];
	bool receives = at < in;
	uint32_t flow = receives ? phase->in[phase->in_base[rank] + at]
				 : phase->out[phase->out_base[rank] + at - in];

	step->action = receives ? RANK_RECEIVE : RANK_SEND;
	step->peer = receives ? phase->flows[flow].source : phase->flows[flow].destination;
	step->bytes = turn->bytes;
	step->tag = application->ranks[rank].turn & RANKS_TAG_MAX;
	if (phases->keys.mode) {
		/* The LID offset of a flow of a key. */
		const struct traffic_keys *keys = phases->part->traffic->keys;
		uint32_t number = application->keys[turn->phase];
		const struct key *key = &keys->keys[number];
		step->offset = key->settings.first_offset + key->key->routes[flow].offset;
	}
}

static void phases_next(void *context, uint32_t job, uint32_t rank, struct rank_step *step)
{
	struct phases *phases = context;
	struct application *application = &phases->applications[job];
	struct progress_of_rank *state = &application->ranks[rank];

	*step = (struct rank_step){.action = RANK_END, .offset = HD_NONE};
	if (state->turn == phases->turn_count)
		return;
	const struct turn *turn = &application->turns[state->turn];
	const struct phase *phase = &phases->phase[turn->phase];
	uint32_t messages = phase->in_base[rank + 1] - phase->in_base[rank] +
			    phase->out_base[rank + 1] - phase->out_base[rank];
	uint32_t at = state->at++;
	step->tag = turn->phase;
	if (at == 0) {
		step->action = RANK_CALCULATE;
		uint64_t *random = ranks_random(phases->ranks, job, rank);
		double share = (double)phases->utilisation / 1e6;
		double time = (double)ideal_time(phases, turn) * (1 - share) / share;
		double deviation = (double)phases->deviation / 1e6;
		if (phases->deviation)
			time *= 1 + deviation * (2 * draw_uniform(random) - 1);
		if (phases->jitter)
			time += (double)phases->jitter * draw_uniform(random);
		step->time = (uint64_t)(time + 0.5);
	} else if (at == 1) {
		step->action = phases->keys.mode ? RANK_REQUEST : RANK_WAIT;
	} else if (at < messages + 2) {
		message_step(phases, application, rank, at - 2, step);
	} else if (at == messages + 2) {
		step->action = RANK_WAIT;
	} else if (at == messages + 3) {
		step->action = phases->ideal_barrier ? RANK_MEET : RANK_EXCHANGE;
		step->exchange = EXCHANGE_BARRIER;
	} else {
		step->action = RANK_DONE;
		state->turn++;
		state->at = 0;
	}
}

static int request(void *context, uint32_t job, uint32_t tag, uint64_t *delay, struct hd_error *err)
{
	struct phases *phases = context;

	*delay = phases->preloaded ? 0 : phases->keys.delay;
	if (phases->preloaded)
		return 0;
	return keys_begin(phases->part->traffic->keys, phases->applications[job].keys[tag], err);
}

static void done(void *context, uint32_t job, uint32_t tag)
{
	struct phases *phases = context;

	phases->turns_done++;
	if (phases->keys.mode && !phases->preloaded) {
		/* The phase is over. Nothing happens if the key is not in force. */
		struct traffic_keys *keys = phases->part->traffic->keys;
		uint32_t number = phases->applications[job].keys[tag];
		struct key *key = &keys->keys[number];
		if (!key->in_force)
			return;
		for (uint32_t i = 0; i < key->overlay.count; i++)
			*entry_at(keys, &key->overlay.entries[i]) = key->before[i];
		hd_key_loads_add(keys->loads, keys->tree, key->key, key->shift, -1);
		hd_key_shift_free(key->shift);
		hd_key_overlay_release(&key->overlay);
		free(key->before);
		*key = (struct key){.settings = key->settings, .key = key->key};
	}
}

static int read_options(struct phases *phases, const struct hd_options *options,
			struct hd_error *err)
{
	phases->application_count = (uint32_t)hd_options_get(options, "applications")->number;
	phases->utilisation = traffic_share(options, "utilisation");
	phases->deviation = traffic_share(options, "deviation");
	phases->jitter = traffic_time(options, "jitter");
	phases->ideal_barrier = hd_options_get(options, "barrier")->number;
	keys_settings(options, &phases->keys);
	phases->preloaded = phases->keys.mode && hd_options_get(options, "key_mode")->number;
	if (!phases->utilisation)
		return hd_error_set(err, -ERANGE, "option 'utilisation' is 0");
	return 0;
}

static int take_pattern(struct phases *phases, const struct hd_options *options,
			struct hd_error *err)
{
	struct hd_key_pattern *pattern = NULL;
	int rc = hd_key_pattern_new(hd_options_get(options, "pattern")->text, phases->jobs[0].count,
				    &pattern, err);

	if (rc)
		return hd_error_prefix(err, rc, "option 'pattern'");
	uint64_t turns =
	    (uint64_t)hd_options_get(options, "iterations")->number * pattern->phase_count;
	if (!turns || turns > 10000000) {
		hd_key_pattern_free(pattern);
		return hd_error_set(err, -ERANGE, "%" PRIu64 " phases, expected 1 .. 10000000",
				    turns);
	}
	phases->turn_count = (uint32_t)turns;
	/* The pattern's memory goes with the traffic's arena. */
	struct hd_arena *arena = &phases->part->traffic->arena;
	uint32_t flows = pattern->base[pattern->phase_count];
	struct hd_key_pattern *copy = hd_arena_alloc(arena, 1, sizeof(*copy));
	uint32_t *base = hd_arena_alloc(arena, (size_t)pattern->phase_count + 1, sizeof(*base));
	struct hd_rank_flow *list = hd_arena_alloc(arena, flows, sizeof(*list));
	if (hd_arena_check(arena)) {
		hd_key_pattern_free(pattern);
		return hd_error_no_memory(err);
	}
	memcpy(base, pattern->base, ((size_t)pattern->phase_count + 1) * sizeof(*base));
	memcpy(list, pattern->flows, flows * sizeof(*list));
	*copy = (struct hd_key_pattern){pattern->ranks, pattern->phase_count, base, list};
	phases->pattern = copy;
	hd_key_pattern_free(pattern);
	return make_phases(phases, err);
}

static int phases_create(struct hd_traffic_part *part, const struct hd_options *options,
			 struct hd_error *err)
{
	struct phases *phases = hd_arena_alloc(&part->traffic->arena, 1, sizeof(*phases));
	struct rank_job *jobs = NULL;
	struct traffic_sizes sizes;

	if (!phases)
		return hd_error_no_memory(err);
	part->state = phases;
	phases->part = part;
	struct rank_script script = {phases_next, request, done, NULL, phases};
	int rc = read_options(phases, options, err);
	if (!rc)
		rc = draw_sizes_parse(hd_options_get(options, "size")->text, &sizes, err);
	if (!rc)
		rc = ranks_place(part, phases->application_count,
				 !hd_options_get(options, "placement")->number, &jobs, err);
	phases->jobs = jobs;
	if (!rc)
		rc = take_pattern(phases, options, err);
	if (!rc)
		rc = make_applications(phases, err);
	if (!rc) {
		/* The list of turns is the same for all; each application has its own order of it. */
		bool shuffled = !hd_options_get(options, "order")->number;
		struct hd_arena *arena = &phases->part->traffic->arena;
		struct turn *turns = hd_arena_alloc(arena, phases->turn_count, sizeof(*turns));
		uint32_t *order = hd_arena_alloc(arena, phases->turn_count, sizeof(*order));
		uint64_t random = traffic_stream(phases->part, TRAFFIC_STREAM_TURNS);
		if (hd_arena_check(arena))
			return hd_error_no_memory(err);
		for (uint32_t i = 0; i < phases->turn_count; i++) {
			turns[i].phase = i % phases->pattern->phase_count;
			turns[i].bytes = draw_sizes_next(&sizes, &random);
		}
		for (uint32_t a = 0; a < phases->application_count; a++) {
			struct application *application = &phases->applications[a];
			application->turns =
			    hd_arena_alloc(arena, phases->turn_count, sizeof(*application->turns));
			if (!application->turns)
				return hd_error_no_memory(err);
			random = traffic_stream(phases->part, TRAFFIC_STREAM_ORDERS + a);
			for (uint32_t i = 0; i < phases->turn_count; i++)
				order[i] = i;
			if (shuffled)
				draw_order(&random, order, phases->turn_count);
			for (uint32_t i = 0; i < phases->turn_count; i++)
				application->turns[i] = turns[order[i]];
		}
	}
	return rc ? rc
		  : ranks_new(part, &script, jobs, phases->application_count, &phases->ranks, err);
}

/* With keys, the messages of phases go by other LID offsets, whose entries are written later. */
static int phases_list(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
		       struct hd_error *err)
{
	const struct phases *phases = part->state;
	int rc = 0;

	for (uint32_t a = 0; a < phases->application_count; a++) {
		const struct rank_job *job = &phases->jobs[a];
		for (uint32_t p = 0; p < phases->pattern->phase_count; p++)
			for (uint32_t i = 0; !rc && i < phases->phase[p].count; i++)
				rc = traffic_visit(
				    part, job->hosts[phases->phase[p].flows[i].source],
				    job->hosts[phases->phase[p].flows[i].destination], visit,
				    context, err);
		if (!rc && !phases->ideal_barrier)
			rc = ranks_list_exchange(part, job, EXCHANGE_BARRIER, 0, 1, visit, context,
						 err);
	}
	return rc;
}

static double phases_progress(const struct hd_traffic_part *part)
{
	const struct phases *phases = part->state;

	return (double)phases->turns_done /
	       ((double)phases->turn_count * phases->application_count);
}

static double ideal_seconds(const struct phases *phases)
{
	double sum = 0;

	for (uint32_t i = 0; i < phases->turn_count; i++)
		sum += (double)ideal_time(phases, &phases->applications[0].turns[i]);
	return sum / (double)HD_SIM_SECOND;
}

static void phases_figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct phases *phases = part->state;
	double longest = 0, sum = 0, last = 0, second = (double)HD_SIM_SECOND;
	struct rank_times times;

	for (uint32_t a = 0; a < phases->application_count; a++) {
		ranks_times(phases->ranks, a, &times);
		double spent = (double)times.communication / second;
		sum += spent;
		longest = spent > longest ? spent : longest;
		last = (double)times.total / second > last ? (double)times.total / second : last;
		const struct traffic_value value = {
		    "communication",	"time outside of calculation, mean of the ranks",
		    HD_TRAFFIC_SECONDS, spent,
		    "application",	a};
		traffic_report(report, &value);
	}
	const struct traffic_value values[] = {
	    {"communication-max", "communication time of the slowest application",
	     HD_TRAFFIC_SECONDS, longest, NULL, 0},
	    {"communication-mean", "mean communication time of the applications",
	     HD_TRAFFIC_SECONDS, sum / phases->application_count, NULL, 0},
	    {"communication-ideal", "communication time if only the hosts' cables limited it",
	     HD_TRAFFIC_SECONDS, ideal_seconds(phases), NULL, 0},
	    {"completion", "time until the last application ended", HD_TRAFFIC_SECONDS, last, NULL,
	     0},
	    {"phases", "phases that all ranks of their application have finished", HD_TRAFFIC_COUNT,
	     phases->turns_done, NULL, 0},
	    {"key-contention", "most flows of one key on a link, before shifts; 0: no keys",
	     HD_TRAFFIC_COUNT, phases->contention, NULL, 0},
	    {"key-load", "most flows of all keys in force on a link, at any time", HD_TRAFFIC_COUNT,
	     phases->keys.mode ? part->traffic->keys->largest : 0, NULL, 0},
	};
	for (unsigned i = 0; i < TRAFFIC_COUNT(values); i++)
		traffic_report(report, &values[i]);
}

static const struct hd_option options[] = {
    TRAFFIC_INT("applications", "that share the hosts equally", "1", 1, 65536),
    TRAFFIC_CHOICE("placement", "of the applications' ranks on hosts", "random",
		   "random|contiguous"),
    TRAFFIC_OPTION("pattern", "of the phases: stencil3d[:XxYxZ] and others of heddle key",
		   "stencil3d"),
    TRAFFIC_CHECKED("size", "of the messages of a phase: 32 KiB; a list or a range to draw from",
		    "32 KiB", draw_sizes_check),
    TRAFFIC_INT("iterations", "how often the phases are repeated", "1", 1, 1000000),
    TRAFFIC_CHOICE("order", "of the phases: shuffled for each application, or as they are",
		   "shuffled", "shuffled|same"),
    TRAFFIC_CHECKED("utilisation",
		    "share of the time that communication would take if only the hosts' cables "
		    "limited it",
		    "100%", hd_sim_check_share),
    TRAFFIC_CHECKED("deviation", "of the time to calculate: uniform, up to this share more or less",
		    "0", hd_sim_check_share),
    TRAFFIC_CHECKED("jitter", "by which each calculation takes longer: uniform, up to this time",
		    "0", hd_sim_check_time),
    TRAFFIC_CHOICE("barrier", "by messages in rounds, or ideal: without time", "messages",
		   "messages|ideal"),
    TRAFFIC_CHOICE("key_mode",
		   "rewrite: a key comes when its phase begins, after key_delay; offset: each "
		   "phase has LID offsets of "
		   "its own, and all keys are in force from the start",
		   "rewrite", "rewrite|offset"),
    KEYS_OPTIONS,
    TRAFFIC_COMMON_OPTIONS("sl", "none"),
};

const struct hd_traffic_kind traffic_phases = {
    .name = "phases",
    .summary = "applications that calculate, send by phases of a pattern, and meet at barriers",
    .options = options,
    .option_count = TRAFFIC_COUNT(options),
    .create = phases_create,
    .list = phases_list,
    RANKS_FUNCTIONS,
    .progress = phases_progress,
    .figures = phases_figures,
};
