/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The traffics of a simulation behind one set of callbacks. The upper bits of a token or a tag name
 * the traffic. */
#include "traffic.h"
#include "traffic_keys.h"

#include <heddle/base/grow.h>
#include <heddle/base/index.h>
#include <heddle/base/text.h>
#include <inttypes.h>
#include <stdlib.h>

#define PARTS_MAX 65536u

static const struct hd_traffic_kind *const kinds[] = {
    &traffic_flows,  &traffic_constant, &traffic_poisson, &traffic_control,
    &traffic_video,  &traffic_ring,	&traffic_phases,  &traffic_collective,
    &traffic_rounds, &traffic_goal,	&traffic_chakra,  &traffic_arrivals,
};

const struct hd_traffic_kind *const *hd_traffic_kinds(unsigned *count)
{
	*count = TRAFFIC_COUNT(kinds);
	return kinds;
}

const struct hd_traffic_kind *hd_traffic_find(const char *name)
{
	for (unsigned i = 0; i < TRAFFIC_COUNT(kinds); i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

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

static int mix_make(struct hd_traffic *traffic, const struct hd_traffic_request *requests,
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
	int rc = mix_make(traffic, requests, count, err);
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
	for (uint32_t i = 0; i < traffic->part_count; i++)
		if (traffic->parts[i].kind->release)
			traffic->parts[i].kind->release(&traffic->parts[i]);
	keys_free(traffic->keys);
	free(traffic->flows);
	free(traffic->groups);
	free(traffic->figures);
	hd_arena_release(&traffic->arena);
	free(traffic);
}

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
	struct hd_sim *sim;
	const struct hd_go_on *go_on;
};

static int check_message(void *context, const struct hd_sim_message *message, struct hd_error *err)
{
	const struct check *check = context;
	char source[HD_NAME_SIZE], destination[HD_NAME_SIZE] = "a multicast group";
	int rc = hd_go_on_check(check->go_on, err);

	if (rc)
		return rc;
	rc = hd_sim_check_message(check->sim, message, err);
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

int hd_traffic_check(const struct hd_traffic *traffic, struct hd_sim *sim,
		     const struct hd_go_on *go_on, struct hd_error *err)
{
	struct check check = {traffic, sim, go_on};

	return hd_traffic_list(traffic, check_message, &check, err);
}

bool hd_traffic_ends(const struct hd_traffic *traffic)
{
	for (uint32_t i = 0; !traffic->finite_count && i < traffic->part_count; i++)
		if (traffic->parts[i].stop == HD_SIM_NEVER)
			return false;
	return true;
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

static int mix_start(void *context, struct hd_sim *sim, struct hd_error *err)
{
	struct hd_traffic *traffic = context;

	traffic->sim = sim;
	/* Kinds take the numbers of endpoints from the fabrics, before there is a simulation. */
	bool same = hd_sim_endpoint_count(traffic->sim) == traffic->places.count;
	for (uint32_t s = 0; same && s < traffic->places.subnet_count; s++)
		same = traffic->places.base[s] == traffic->places.base[s + 1] ||
		       hd_sim_endpoint(traffic->sim, s, 0) == traffic->places.base[s];
	int rc = same
		     ? 0
		     : hd_error_set(err, -EINVAL,
				    "the traffic was made for another network than the simulation");
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
