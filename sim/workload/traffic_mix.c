/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The traffics of a simulation behind one set of callbacks. The upper bits of a token or a tag name
 * the traffic. */
#include "traffic.h"
#include "traffic_keys.h"

#include <heddle/base/grow.h>
#include <heddle/base/lookup.h>
#include <heddle/base/text.h>
#include <inttypes.h>
#include <stdlib.h>

#define PARTS_MAX 65536u

/* ---- making ---- */

static int check_request(const struct hd_traffic_request *requests, uint32_t index,
			 struct hd_error *err)
{
	const struct hd_traffic_request *request = &requests[index];

	for (uint32_t i = 0; i < index; i++)
		if (!strcmp(requests[i].name, request->name))
			return hd_error_set(err, -EINVAL, "there are two traffics of this name");
	return hd_options_complete(request->options, err);
}

static int make_part(struct hd_traffic *traffic, const struct hd_traffic_request *requests,
		     uint32_t index, struct hd_error *err)
{
	const struct hd_traffic_request *request = &requests[index];
	struct hd_traffic_part *part = &traffic->parts[index];
	int rc = check_request(requests, index, err);

	*part = (struct hd_traffic_part){.traffic = traffic,
					 .kind = request->kind,
					 .name = hd_arena_strdup(&traffic->arena, request->name),
					 .index = index};
	if (!rc && hd_arena_check(&traffic->arena))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = traffic_common(part, request->options, err);
	if (!rc)
		rc = request->kind->create(part, request->options, err);
	traffic->finite_count += request->kind->finite;
	return rc == -ENOMEM ? hd_error_no_memory(err)
	       : rc	     ? hd_error_prefix(err, rc, "traffic %s", request->name)
			     : 0;
}

static int make(struct hd_traffic *traffic, const struct hd_traffic_request *requests,
		uint32_t count, struct hd_error *err)
{
	if (!count || count > PARTS_MAX)
		return hd_error_set(err, -EINVAL,
				    "a simulation needs 1 .. %u traffics, not %" PRIu32, PARTS_MAX,
				    count);
	int rc = traffic_places(traffic, err);
	if (rc)
		return rc;
	traffic->parts = hd_arena_alloc(&traffic->arena, count, sizeof(*traffic->parts));
	traffic->classes = hd_arena_alloc(&traffic->arena, count, sizeof(*traffic->classes));
	if (hd_arena_check(&traffic->arena))
		return hd_error_no_memory(err);
	for (; !rc && traffic->part_count < count; traffic->part_count++)
		rc = make_part(traffic, requests, traffic->part_count, err);
	return rc;
}

int hd_traffic_new(const struct hd_traffic_scene *scene, const struct hd_traffic_request *requests,
		   uint32_t count, struct hd_traffic **out, struct hd_error *err)
{
	struct hd_traffic *traffic = calloc(1, sizeof(*traffic));

	if (!traffic)
		return hd_error_no_memory(err);
	traffic->scene = scene;
	traffic->seed = scene->settings->seed;
	traffic->warm_up = scene->settings->warm_up;
	traffic->mtu = scene->settings->mtu;
	traffic->header = scene->settings->header;
	int rc = make(traffic, requests, count, err);
	if (rc)
		hd_traffic_free(traffic);
	else
		*out = traffic;
	return rc;
}

void hd_traffic_free(struct hd_traffic *traffic)
{
	if (!traffic)
		return;
	keys_free(traffic->keys);
	free(traffic->flows);
	free(traffic->groups);
	free(traffic->figures);
	hd_arena_release(&traffic->arena);
	free(traffic);
}

/* ---- what the caller asks ---- */

uint32_t hd_traffic_class_count(const struct hd_traffic *traffic)
{
	return traffic->class_count;
}

const char *hd_traffic_class_name(const struct hd_traffic *traffic, uint32_t index)
{
	return traffic->classes[index];
}

uint32_t hd_traffic_flow_count(const struct hd_traffic *traffic)
{
	return traffic->flow_count;
}

const struct hd_traffic_flow *hd_traffic_flow(const struct hd_traffic *traffic, uint32_t index)
{
	return &traffic->flows[index];
}

const struct hd_traffic_group *hd_traffic_groups(const struct hd_traffic *traffic, uint32_t *count)
{
	*count = traffic->group_count;
	return traffic->groups;
}

int hd_traffic_list(const struct hd_traffic *traffic, hd_traffic_visit visit, void *context,
		    struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < traffic->part_count; i++) {
		const struct hd_traffic_part *part = &traffic->parts[i];
		rc = part->kind->list(part, visit, context, err);
		if (rc)
			hd_error_prefix(err, rc, "traffic %s", part->name);
	}
	return rc;
}

struct check {
	const struct hd_traffic *traffic;
	const struct hd_sim *sim;
};

static int check_message(void *context, const struct hd_sim_message *message, struct hd_error *err)
{
	const struct check *check = context;
	char source[HD_NAME_SIZE], destination[HD_NAME_SIZE] = "a multicast group";
	int rc = hd_sim_check_message(check->sim, message, err);

	if (!rc)
		return 0;
	if (message->destination != HD_NONE)
		traffic_label(check->traffic, message->destination, destination,
			      sizeof(destination));
	return hd_error_prefix(
	    err, rc, "from %s to %s, LID offset %u",
	    traffic_label(check->traffic, message->source, source, sizeof(source)), destination,
	    message->lid_offset);
}

int hd_traffic_check(const struct hd_traffic *traffic, const struct hd_sim *sim,
		     struct hd_error *err)
{
	struct check check = {traffic, sim};

	return hd_traffic_list(traffic, check_message, &check, err);
}

double hd_traffic_progress(const struct hd_traffic *traffic)
{
	double sum = 0;

	if (!traffic->finite_count)
		return -1;
	for (uint32_t i = 0; i < traffic->part_count; i++)
		if (traffic->parts[i].kind->finite)
			sum += traffic->parts[i].kind->progress(&traffic->parts[i]);
	return sum / traffic->finite_count;
}

int hd_traffic_result(const struct hd_traffic *traffic, struct hd_error *err)
{
	return traffic->rc ? hd_error_set(err, traffic->rc, "%s", traffic->err.text) : 0;
}

/* ---- callbacks ---- */

/* Kinds take the numbers of endpoints from the fabrics, before there is a simulation. */
static int check_places(const struct hd_traffic *traffic, struct hd_error *err)
{
	bool same = hd_sim_endpoint_count(traffic->sim) == traffic->places.count;

	for (uint32_t s = 0; same && s < traffic->places.subnet_count; s++)
		same = traffic->places.base[s] == traffic->places.base[s + 1] ||
		       hd_sim_endpoint(traffic->sim, s, 0) == traffic->places.base[s];
	return same ? 0
		    : hd_error_set(err, -EINVAL,
				   "the traffic was made for another network than the simulation");
}

static int mix_start(void *context, struct hd_sim *sim, struct hd_error *err)
{
	struct hd_traffic *traffic = context;

	traffic->sim = sim;
	int rc = check_places(traffic, err);
	for (uint32_t i = 0; !rc && i < traffic->part_count; i++) {
		struct hd_traffic_part *part = &traffic->parts[i];
		rc = part->kind->start(part, err);
		if (rc)
			hd_error_prefix(err, rc, "traffic %s", part->name);
	}
	return rc;
}

static struct hd_traffic_part *part_of(void *context, uint64_t tag)
{
	return &((struct hd_traffic *)context)->parts[tag >> TRAFFIC_TAG_BITS];
}

static struct hd_sim_message own(const struct hd_sim_message *message)
{
	struct hd_sim_message copy = *message;

	copy.tag &= TRAFFIC_TAG_MASK;
	return copy;
}

static void mix_wake(void *context, struct hd_sim *sim, uint64_t token)
{
	struct hd_traffic_part *part = part_of(context, token);

	(void)sim;
	part->kind->wake(part, token & TRAFFIC_TAG_MASK);
}

static void mix_sent(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
		     const struct hd_sim_times *times)
{
	struct hd_traffic_part *part = part_of(context, message->tag);
	struct hd_sim_message copy = own(message);

	(void)sim;
	if (part->kind->sent)
		part->kind->sent(part, &copy, times);
}

static void mix_delivered(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
			  const struct hd_sim_times *times, uint32_t endpoint)
{
	struct hd_traffic_part *part = part_of(context, message->tag);
	struct hd_sim_message copy = own(message);

	(void)sim;
	if (part->kind->delivered)
		part->kind->delivered(part, &copy, times, endpoint);
}

static void mix_lost(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
		     const struct hd_sim_times *times, uint32_t endpoint)
{
	struct hd_traffic_part *part = part_of(context, message->tag);
	struct hd_sim_message copy = own(message);

	(void)sim;
	if (part->kind->lost)
		part->kind->lost(part, &copy, times, endpoint);
}

struct hd_sim_workload hd_traffic_workload(struct hd_traffic *traffic)
{
	return (struct hd_sim_workload){.start = mix_start,
					.wake = mix_wake,
					.sent = mix_sent,
					.delivered = mix_delivered,
					.lost = mix_lost,
					.context = traffic};
}

/* ---- what kinds call ---- */

uint64_t traffic_stream(const struct hd_traffic_part *part, uint32_t number)
{
	uint64_t stream = hd_hash_bytes(part->name, strlen(part->name)) + number;

	if (part->traffic->sim)
		return hd_sim_stream(part->traffic->sim, stream);
	uint64_t state = part->traffic->seed ^ hd_hash_number(stream);
	return hd_random_next(&state);
}

int traffic_fail(struct hd_traffic_part *part, int rc, const struct hd_error *err)
{
	struct hd_traffic *traffic = part->traffic;

	if (!traffic->rc) {
		traffic->rc = rc;
		hd_error_set(&traffic->err, rc, "traffic %s: %s", part->name,
			     err ? err->text : "no memory");
		hd_sim_stop(traffic->sim);
	}
	return rc;
}

uint8_t traffic_lane(const struct hd_traffic_part *part, uint64_t flow)
{
	if (part->lanes < 2)
		return part->template.lane;
	return (uint8_t)(part->template.lane + hd_hash_number(flow) % part->lanes);
}

struct hd_sim_message traffic_message(const struct hd_traffic_part *part, uint32_t source,
				      uint32_t destination, uint64_t bytes)
{
	struct hd_sim_message message = part->template;

	message.source = source;
	message.destination = destination;
	message.bytes = (uint32_t)bytes;
	message.lane = traffic_lane(part, (uint64_t)source << 32 | destination);
	message.lid_offset = part->offset == TRAFFIC_RANDOM_OFFSET ? 0 : (uint16_t)part->offset;
	return message;
}

uint16_t traffic_offset(const struct hd_traffic_part *part, uint32_t destination, uint64_t *random)
{
	if (part->offset != TRAFFIC_RANDOM_OFFSET)
		return (uint16_t)part->offset;
	return (uint16_t)hd_random_below(random, part->traffic->places.lids[destination]);
}

void traffic_send(struct hd_traffic_part *part, struct hd_sim_message *message, uint64_t tag)
{
	message->tag = (uint64_t)part->index << TRAFFIC_TAG_BITS | (tag & TRAFFIC_TAG_MASK);
	int rc = hd_sim_send(part->traffic->sim, message);
	if (rc)
		traffic_fail(part, rc, NULL);
}

void traffic_wake(struct hd_traffic_part *part, uint64_t when, uint64_t token)
{
	int rc =
	    hd_sim_wake(part->traffic->sim, when,
			(uint64_t)part->index << TRAFFIC_TAG_BITS | (token & TRAFFIC_TAG_MASK));

	if (rc)
		traffic_fail(part, rc, NULL);
}

uint64_t traffic_now(const struct hd_traffic_part *part)
{
	return hd_sim_now(part->traffic->sim);
}

void traffic_finish(struct hd_traffic_part *part)
{
	struct hd_traffic *traffic = part->traffic;

	if (part->finished)
		return;
	part->finished = true;
	if (++traffic->finished == traffic->finite_count)
		hd_sim_stop(traffic->sim);
}

int traffic_class(struct hd_traffic *traffic, const char *name, uint16_t *index,
		  struct hd_error *err)
{
	uint32_t i = 0;

	while (i < traffic->class_count && strcmp(traffic->classes[i], name))
		i++;
	*index = (uint16_t)i;
	if (i < traffic->class_count)
		return 0;
	traffic->classes[i] = hd_arena_strdup(&traffic->arena, name);
	if (!traffic->classes[i])
		return hd_error_no_memory(err);
	traffic->class_count++;
	return 0;
}

struct hd_traffic_flow *traffic_add_flow(struct hd_traffic *traffic)
{
	struct hd_traffic_flow *flows =
	    hd_grow(traffic->flows, traffic->flow_count, 1, &traffic->flow_room, sizeof(*flows));

	if (!flows)
		return NULL;
	traffic->flows = flows;
	return &flows[traffic->flow_count++];
}

struct hd_traffic_group *traffic_add_group(struct hd_traffic *traffic)
{
	struct hd_traffic_group *groups = hd_grow(traffic->groups, traffic->group_count, 1,
						  &traffic->group_room, sizeof(*groups));

	if (!groups)
		return NULL;
	traffic->groups = groups;
	return &groups[traffic->group_count++];
}

int traffic_visit(const struct hd_traffic_part *part, uint32_t source, uint32_t destination,
		  hd_traffic_visit visit, void *context, struct hd_error *err)
{
	struct hd_sim_message message = traffic_message(part, source, destination, 1);
	uint32_t offsets = 1;
	int rc = 0;

	if (part->offset == TRAFFIC_RANDOM_OFFSET)
		offsets = part->traffic->places.lids[destination];
	for (uint32_t i = 0; !rc && i < offsets; i++, message.lid_offset++)
		rc = visit(context, &message, err);
	return rc;
}
