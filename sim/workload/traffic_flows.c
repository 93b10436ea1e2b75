/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Flows that send as fast as the network takes their packets. The host always has the next messages
 * of a flow ready, so its cable never runs dry. */
#include "traffic.h"
#include "traffic_targets.h"

#include <stdlib.h>

struct flows {
	uint32_t first, count; /* of the traffic's flows */
	uint32_t bytes, depth;
	uint64_t *random; /* [count] for offsets */
	uint64_t *delivered; /* [count] bytes after the warm-up */
};

static int add_flows(struct hd_traffic_part *part, struct flows *flows,
		     const struct traffic_pair *pairs, uint32_t count, struct hd_error *err)
{
	flows->first = part->traffic->flow_count;
	for (uint32_t i = 0; i < count; i++) {
		struct hd_traffic_flow *flow = traffic_add_flow(part->traffic);
		if (!flow)
			return hd_error_no_memory(err);
		*flow = (struct hd_traffic_flow){
		    .traffic = part->name,
		    .source = pairs[i].source,
		    .destination = pairs[i].destination,
		    .from = pairs[i].from > part->start ? pairs[i].from : part->start,
		    .to = pairs[i].to < part->stop ? pairs[i].to : part->stop};
	}
	flows->count = count;
	flows->random = hd_arena_alloc(&part->traffic->arena, count, sizeof(*flows->random));
	flows->delivered = hd_arena_alloc(&part->traffic->arena, count, sizeof(*flows->delivered));
	return hd_arena_check(&part->traffic->arena) ? hd_error_no_memory(err) : 0;
}

static int flows_create(struct hd_traffic_part *part, const struct hd_options *options,
			struct hd_error *err)
{
	struct flows *flows = hd_arena_alloc(&part->traffic->arena, 1, sizeof(*flows));
	struct traffic_pair *pairs = NULL;
	uint32_t count = 0;

	if (!flows)
		return hd_error_no_memory(err);
	part->state = flows;
	flows->bytes = (uint32_t)traffic_size(options, "size");
	flows->depth = (uint32_t)hd_options_get(options, "depth")->number;
	if (!flows->bytes)
		return hd_error_set(err, -ERANGE, "option 'size' is 0");
	int rc = targets_read_pairs(part->traffic, hd_options_get(options, "flows")->text, true,
				    &pairs, &count, err);
	if (rc)
		hd_error_prefix(err, rc, "option 'flows'");
	else
		rc = add_flows(part, flows, pairs, count, err);
	free(pairs);
	return rc;
}

static int flows_list(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
		      struct hd_error *err)
{
	const struct flows *flows = part->state;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < flows->count; i++) {
		const struct hd_traffic_flow *flow = &part->traffic->flows[flows->first + i];
		rc = traffic_visit(part, flow->source, flow->destination, visit, context, err);
	}
	return rc;
}

static int flows_start(struct hd_traffic_part *part, struct hd_error *err)
{
	struct flows *flows = part->state;

	(void)err;
	for (uint32_t i = 0; i < flows->count; i++) {
		flows->random[i] = traffic_stream(part, TRAFFIC_STREAM_SENDERS + i);
		traffic_wake(part, part->traffic->flows[flows->first + i].from, i);
	}
	return 0;
}

static void send_one(struct hd_traffic_part *part, struct flows *flows, uint32_t index)
{
	const struct hd_traffic_flow *flow = &part->traffic->flows[flows->first + index];
	struct hd_sim_message message =
	    traffic_message(part, flow->source, flow->destination, flows->bytes);

	if (traffic_now(part) >= flow->to)
		return;
	message.flow = flows->first + index;
	message.lid_offset = traffic_offset(part, flow->destination, &flows->random[index]);
	traffic_send(part, &message, index);
}

static void flows_wake(struct hd_traffic_part *part, uint64_t token)
{
	struct flows *flows = part->state;

	for (uint32_t i = 0; i < flows->depth; i++)
		send_one(part, flows, (uint32_t)token);
}

static void sent(struct hd_traffic_part *part, const struct hd_sim_message *message,
		 const struct hd_sim_times *times)
{
	(void)times;
	send_one(part, part->state, (uint32_t)message->tag);
}

static void delivered(struct hd_traffic_part *part, const struct hd_sim_message *message,
		      const struct hd_sim_times *times, uint32_t endpoint)
{
	struct flows *flows = part->state;

	(void)endpoint;
	if (times->done >= part->traffic->warm_up)
		flows->delivered[message->tag] += message->bytes;
}

static double throughput(const struct hd_traffic_part *part, uint32_t index)
{
	const struct flows *flows = part->state;
	const struct hd_traffic_flow *flow = &part->traffic->flows[flows->first + index];
	uint64_t now = part->traffic->sim ? traffic_now(part) : 0;
	uint64_t from = flow->from > part->traffic->warm_up ? flow->from : part->traffic->warm_up;
	uint64_t to = flow->to < now ? flow->to : now;

	if (to <= from)
		return 0;
	return (double)flows->delivered[index] * (double)HD_SIM_SECOND / (double)(to - from);
}

static void flows_figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct flows *flows = part->state;

	for (uint32_t i = 0; i < flows->count; i++) {
		struct traffic_value value = {"throughput",
					      "payload of messages that came while the flow was on",
					      HD_TRAFFIC_BYTES_PER_SECOND,
					      throughput(part, i),
					      "flow",
					      i};
		traffic_report(report, &value);
	}
}

static const struct hd_option options[] = {
    {.name = "flows",
     .summary = "SOURCE>DESTINATION[@FROM[-TO]] and more of them after commas, or file:PATH",
     .type = HD_OPTION_STRING},
    TRAFFIC_CHECKED("size", "of a message", "64 KiB", hd_sim_check_size),
    TRAFFIC_INT("depth", "messages of a flow that wait at its host", "2", 1, 64),
    TRAFFIC_COMMON_OPTIONS("sl", "none"),
};

const struct hd_traffic_kind traffic_flows = {
    .name = "flows",
    .summary = "flows that take all the bandwidth they get, each for its time",
    .options = options,
    .option_count = TRAFFIC_COUNT(options),
    .create = flows_create,
    .list = flows_list,
    .start = flows_start,
    .wake = flows_wake,
    .sent = sent,
    .delivered = delivered,
    .figures = flows_figures,
};
