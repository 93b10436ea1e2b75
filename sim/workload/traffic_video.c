/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Video streams with deadlines (section 4 of the paper in doc/papers/irregular.md). A frame is one message. The paper used
 * recordings of seven films that are not public; here frames follow a model (traffic_draw.h).
 * Of the I frames no packet may be dropped.
 */
#include "traffic.h"
#include "traffic_draw.h"
#include "traffic_targets.h"

#include <errno.h>
#include <heddle/base/text.h>
#include <heddle/fabric/mfts.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/*
 * Bandwidth that streams reserve before they send, section 3.4 of the paper in doc/papers/irregular.md. There a probe goes
 * along one path after the other, the shortest first. A switch without enough bandwidth left sends a NACK, which takes the
 * reservation back; the destination sends an ACK. Here the answer is there at once: a probe takes microseconds, and a
 * stream lasts for seconds.
 */

struct traffic_reserve;

/*
 * Reserves `rate` bits/s on each cable of the shortest path that has them, of those that the option `offset` allows; of
 * equal ones that with the lowest LID offset. Sets the message's LID offset. False: there is no such path, and nothing is
 * reserved. While the simulation runs. O(LIDs * hops).
 */
bool traffic_reserve_take(struct traffic_reserve *reserve, const struct hd_traffic_part *part,
			  struct hd_sim_message *message, double rate);

#define NO_PATH UINT32_MAX

struct traffic_reserve {
	const struct hd_traffic *traffic;
	double share; /* of a cable's rate */
	double **taken; /* [subnet][port] bits/s that are reserved */
};

/* A path on which a reservation is tried. */
struct probe {
	struct traffic_reserve *reserve;
	double rate; /* bits/s */
	uint32_t hops;
	bool refused;
};

/* Nothing is reserved; streams may have `share` (millionths) of each cable. Memory is the traffic's. Errors: -ENOMEM. */
static int traffic_reserve_new(struct hd_traffic *traffic, uint64_t share,
			       struct traffic_reserve **out, struct hd_error *err)
{
	const struct hd_sim_network *network = traffic->scene->network;
	struct traffic_reserve *reserve = hd_arena_alloc(&traffic->arena, 1, sizeof(*reserve));
	double **taken =
	    hd_arena_alloc(&traffic->arena, network->subnet_count, sizeof(*reserve->taken));

	for (uint32_t i = 0; taken && i < network->subnet_count; i++)
		taken[i] = hd_arena_alloc(&traffic->arena, network->subnets[i].fabric->port_count,
					  sizeof(**taken));
	if (hd_arena_check(&traffic->arena))
		return hd_error_no_memory(err);
	*reserve = (struct traffic_reserve){traffic, (double)share / 1e6, taken};
	*out = reserve;
	return 0;
}

static void video_ask(void *context, uint32_t subnet, uint32_t port)
{
	struct probe *probe = context;
	const struct traffic_reserve *reserve = probe->reserve;
	const double cable = (double)traffic_cable_rate(
	    reserve->traffic, reserve->traffic->scene->network->subnets[subnet].fabric, port);

	probe->hops++;
	probe->refused |= reserve->taken[subnet][port] + probe->rate > cable * reserve->share;
}

static void video_take(void *context, uint32_t subnet, uint32_t port)
{
	const struct probe *probe = context;

	probe->reserve->taken[subnet][port] += probe->rate;
}

bool traffic_reserve_take(struct traffic_reserve *reserve, const struct hd_traffic_part *part,
			  struct hd_sim_message *message, double rate)
{
	const struct hd_sim *sim = part->traffic->sim;
	const uint32_t count = traffic_offset_count(part, message->destination);
	uint32_t least = NO_PATH;
	uint16_t best = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct probe probe = {.reserve = reserve, .rate = rate};
		message->lid_offset = (uint16_t)(part->offset + i);
		if (hd_sim_follow(sim, message, video_ask, &probe, NULL) || probe.refused ||
		    probe.hops >= least)
			continue;
		least = probe.hops;
		best = message->lid_offset;
	}
	message->lid_offset = best;
	if (least != NO_PATH)
		hd_sim_follow(sim, message, video_take,
			      &(struct probe){.reserve = reserve, .rate = rate}, NULL);
	return least != NO_PATH;
}

/* How many video streams a host has, and of which rates. */

#define STREAM_RATES_MAX 16u

struct stream_rates {
	uint32_t count;
	uint64_t rate[STREAM_RATES_MAX]; /* bits/s */
	uint32_t frames; /* per second */
	bool whole_packets; /* frames are filled up to packets of the MTU */
};

struct stream_plan {
	uint32_t streams; /* of the host */
	double scale; /* of their rates */
};

/* Reads "2 Mb/s, 3 Mb/s" into count and rate. Errors: -EINVAL, -ERANGE. */
static int streams_read_rates(struct stream_rates *rates, const char *text, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)}, piece;
	char rate[HD_QUOTE_SIZE];
	int rc = 0;

	do {
		if (rates->count == STREAM_RATES_MAX)
			return hd_error_set(err, -ERANGE, "more than %u rates", STREAM_RATES_MAX);
		if (!hd_take_until(&cursor, ",", &piece)) {
			piece = cursor;
			cursor.at = cursor.end;
		}
		hd_cursor_trim(&piece);
		hd_cursor_quote(&piece, rate, sizeof(rate));
		rc = hd_sim_parse_rate(rate, &rates->rate[rates->count], err);
		if (!rc && !rates->rate[rates->count++])
			rc = hd_error_set(err, -ERANGE, "a rate is 0");
	} while (!rc && !hd_cursor_done(&cursor));
	return rc;
}

static int streams_check_rates(const char *text, struct hd_error *err)
{
	struct stream_rates rates = {.count = 0};

	return streams_read_rates(&rates, text, err);
}

/* Bytes on the cable of a mean frame are mean * *factor + *constant: on average the last packet is
 * half full. */
static void wire_bytes(const struct hd_traffic *traffic, const struct stream_rates *rates,
		       double *factor, double *constant)
{
	double mtu = traffic->mtu, header = traffic->header;

	*factor = 1 + header / mtu;
	*constant = (rates->whole_packets ? mtu + header : header) / 2;
}

/* Mean bytes of a frame of a host's stream: hosts use the rates in turn. */
static double streams_mean_frame(const struct stream_rates *rates, uint32_t host, uint32_t stream)
{
	uint64_t rate = rates->rate[((uint64_t)host + stream) % rates->count];

	return (double)rate / 8 / rates->frames;
}

/* As many streams as come nearest to `load` (millionths) of the endpoint's cable with headers, then
 * the scale that meets it. `host` is the endpoint's number among the members. O(streams). */
static struct stream_plan streams_plan(const struct stream_rates *rates,
				       const struct hd_traffic *traffic, uint32_t endpoint,
				       uint32_t host, uint64_t load)
{
	double cable = (double)traffic->places.rate[endpoint];
	double wanted = cable / 8 / rates->frames * (double)load / 1e6; /* bytes a frame time */
	double factor, constant, mean = 0, sum = 0;

	wire_bytes(traffic, rates, &factor, &constant);
	for (uint32_t i = 0; i < rates->count; i++)
		mean += streams_mean_frame(rates, 0, i) / rates->count;
	double count = floor(wanted / (mean * factor + constant) + 0.5);
	uint32_t streams = count < 1 ? 1 : count < 1e6 ? (uint32_t)count : 1000000;
	for (uint32_t k = 0; k < streams; k++)
		sum += streams_mean_frame(rates, host, k) * factor;
	double scale = (wanted - streams * constant) / sum;
	return (struct stream_plan){streams, scale > 0.01 ? scale : 0.01};
}

#define FRAME_BITS 24
#define STREAM_BITS 22
#define COUNTS (UINT64_C(1) << (FRAME_BITS + STREAM_BITS)) /* sent after the warm-up */

struct stream {
	uint64_t random, origin; /* ps of frame 0 */
	uint64_t frame; /* number of the next one; the first is anywhere in its group */
	uint64_t sent_frames;
	double mean; /* bytes of a frame */
	uint32_t source;
	uint32_t receiver_count, first_receiver;
	uint16_t offset; /* LID offset of the path that is reserved */
	uint32_t group_index; /* of the traffic's groups; HD_NONE: one receiver */
};

struct receiver {
	uint32_t endpoint;
	struct frame_deadline deadline;
};

struct video {
	struct frame_model model;
	struct stream_rates rates;
	bool from_creation, damaged_count, replicate;
	uint64_t multicast; /* millionths */
	uint32_t groups, group_members;
	struct traffic_targets *targets;
	uint64_t reserved; /* millionths of a cable that streams may reserve; 0: they do not */
	uint32_t stream_count, receiver_count, refused;
	struct stream *streams;
	struct receiver *receivers;
	/* figures, of frames that were sent after the warm-up */
	uint64_t sent, bytes, delivered, damaged, lost, missed;
	double late, latency; /* ps, sums */
};

static struct stream_plan plan_of(const struct hd_traffic_part *part, const struct video *video,
				  uint32_t host, uint32_t streams, uint64_t load)
{
	if (!targets_sends(video->targets, host))
		return (struct stream_plan){0, 1};
	return streams
		   ? (struct stream_plan){streams, 1}
		   : streams_plan(&video->rates, part->traffic, part->members[host], host, load);
}

static int draw_group(struct hd_traffic_part *part, struct video *video, uint32_t host,
		      uint64_t *random, struct hd_error *err)
{
	struct hd_traffic *traffic = part->traffic;
	uint32_t *order = hd_arena_alloc(&traffic->arena, part->member_count, sizeof(*order));
	uint32_t count = 0;

	if (!order)
		return hd_error_no_memory(err);
	if (traffic->group_count > HD_MLID_LAST - HD_MLID_FIRST)
		return hd_error_set(err, -ERANGE, "too many multicast groups");
	for (uint32_t i = 0; i < part->member_count; i++)
		if (i != host)
			order[count++] = part->members[i];
	draw_order(random, order, count);
	for (uint32_t i = 1; i < video->group_members; i++) /* ascending, by insertion */
		for (uint32_t k = i; k && order[k - 1] > order[k]; k--) {
			uint32_t kept = order[k];
			order[k] = order[k - 1];
			order[k - 1] = kept;
		}
	struct hd_traffic_group *group = traffic_add_group(traffic);
	if (!group)
		return hd_error_no_memory(err);
	*group =
	    (struct hd_traffic_group){.mlid = (uint16_t)(HD_MLID_FIRST + traffic->group_count - 1),
				      .source = part->members[host],
				      .member_count = video->group_members,
				      .members = order};
	return 0;
}

static bool is_multicast(const struct video *video, uint32_t stream)
{
	return (stream + 1) * video->multicast / 1000000 > stream * video->multicast / 1000000;
}

/* One stream of a host, its `stream`th; `first_group` is the host's first one. */
static void add_stream(struct hd_traffic_part *part, struct video *video, uint32_t host,
		       uint32_t index, double scale, uint32_t first_group)
{
	uint32_t number = video->stream_count++;
	struct stream *stream = &video->streams[number];
	uint64_t random = traffic_stream(part, TRAFFIC_STREAM_SENDERS + number);

	*stream = (struct stream){.source = part->members[host],
				  .mean = streams_mean_frame(&video->rates, host, index) * scale,
				  .receiver_count = 1,
				  .first_receiver = video->receiver_count,
				  .group_index = HD_NONE};
	stream->origin = part->start + hd_random_below(&random, frames_time(&video->model, 1));
	stream->frame = hd_random_below(&random, video->model.length);
	if (is_multicast(video, index)) {
		uint64_t before = index * video->multicast / 1000000;
		stream->group_index = first_group + (uint32_t)(before % video->groups);
		stream->receiver_count = video->group_members;
		const uint32_t *members = part->traffic->groups[stream->group_index].members;
		for (uint32_t i = 0; i < stream->receiver_count; i++)
			video->receivers[video->receiver_count++].endpoint = members[i];
	} else {
		video->receivers[video->receiver_count++].endpoint =
		    targets_draw(video->targets, host, &random);
	}
	stream->random = random;
}

static int add_host(struct hd_traffic_part *part, struct video *video, uint32_t host,
		    struct stream_plan plan, struct hd_error *err)
{
	uint32_t first_group = part->traffic->group_count;
	uint64_t random = traffic_stream(part, TRAFFIC_STREAM_GROUPS + host);
	int rc = 0;

	for (uint32_t i = 0; !rc && video->multicast && plan.streams && i < video->groups; i++)
		rc = draw_group(part, video, host, &random, err);
	for (uint32_t k = 0; !rc && k < plan.streams; k++)
		add_stream(part, video, host, k, plan.scale, first_group);
	return rc;
}

static int read_options(struct hd_traffic_part *part, struct video *video,
			const struct hd_options *options, struct hd_error *err)
{
	const struct hd_option_value *weights = hd_options_get(options, "weights");
	const struct hd_option_value *deviations = hd_options_get(options, "deviations");

	if (weights->count != FRAME_TYPES || deviations->count != FRAME_TYPES)
		return hd_error_set(
		    err, -EINVAL,
		    "options 'weights' and 'deviations' have 3 numbers: of I, P and "
		    "B frames");
	video->rates.whole_packets = hd_options_get(options, "whole_packets")->number;
	video->rates.frames = (uint32_t)hd_options_get(options, "frames")->number;
	video->from_creation = hd_options_get(options, "first_deadline")->number;
	video->damaged_count = !hd_options_get(options, "damaged")->number;
	video->replicate = hd_options_get(options, "copies")->number;
	video->multicast = traffic_share(options, "multicast");
	video->reserved = traffic_share(options, "reserve");
	if (video->reserved && video->multicast)
		return hd_error_set(err, -EINVAL,
				    "option 'reserve': there is no path for several receivers");
	video->groups = (uint32_t)hd_options_get(options, "groups")->number;
	video->group_members = (uint32_t)hd_options_get(options, "group_members")->number;
	if (video->multicast && video->group_members >= part->member_count)
		return hd_error_set(err, -EINVAL,
				    "option 'group_members': a sender has only %" PRIu32 " others",
				    part->member_count - 1);
	int rc = streams_read_rates(&video->rates, hd_options_get(options, "rates")->text, err);
	if (rc)
		return rc;
	return draw_frames_model(&video->model, hd_options_get(options, "group")->text,
				 weights->list, deviations->list, video->rates.frames, err);
}

static int video_create(struct hd_traffic_part *part, const struct hd_options *options,
			struct hd_error *err)
{
	struct video *video = hd_arena_alloc(&part->traffic->arena, 1, sizeof(*video));

	if (!video)
		return hd_error_no_memory(err);
	part->state = video;
	int rc = read_options(part, video, options, err);
	if (!rc)
		rc = targets_new(part, options, &video->targets, err);
	if (rc)
		return rc;
	uint32_t wanted = (uint32_t)hd_options_get(options, "streams")->number;
	uint64_t load = traffic_share(options, "load"), streams = 0;
	uint32_t most = video->multicast && video->group_members ? video->group_members : 1;
	for (uint32_t i = 0; i < part->member_count; i++)
		streams += plan_of(part, video, i, wanted, load).streams;
	if (!streams || streams >> STREAM_BITS)
		return hd_error_set(err, -ERANGE, "%" PRIu64 " streams, expected 1 .. %u", streams,
				    (1u << STREAM_BITS) - 1);
	video->streams = hd_arena_alloc(&part->traffic->arena, streams, sizeof(*video->streams));
	video->receivers =
	    hd_arena_alloc(&part->traffic->arena, streams * most, sizeof(*video->receivers));
	if (hd_arena_check(&part->traffic->arena))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < part->member_count; i++)
		rc = add_host(part, video, i, plan_of(part, video, i, wanted, load), err);
	return rc;
}

static int video_list(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
		      struct hd_error *err)
{
	const struct video *video = part->state;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < video->stream_count; i++) {
		const struct stream *stream = &video->streams[i];
		bool group = stream->group_index != HD_NONE && !video->replicate;
		if (group) {
			struct hd_sim_message message =
			    traffic_message(part, stream->source, HD_NONE, 1);
			message.mlid = part->traffic->groups[stream->group_index].mlid;
			message.lid_offset = 0;
			rc = visit(context, &message, err);
		}
		for (uint32_t k = 0; !rc && !group && k < stream->receiver_count; k++)
			rc = traffic_visit(part, stream->source,
					   video->receivers[stream->first_receiver + k].endpoint,
					   visit, context, err);
	}
	return rc;
}

static int compare_origins(const void *a, const void *b)
{
	const struct stream *x = *(const struct stream *const *)a,
			    *y = *(const struct stream *const *)b;

	if (x->origin != y->origin)
		return x->origin < y->origin ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Streams ask for their paths in the order in which they begin. */
static int reserve_paths(struct hd_traffic_part *part, struct video *video, struct hd_error *err)
{
	struct traffic_reserve *reserve = NULL;
	struct stream **order =
	    hd_arena_alloc(&part->traffic->arena, video->stream_count, sizeof(struct stream *));

	if (!order || traffic_reserve_new(part->traffic, video->reserved, &reserve, err))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < video->stream_count; i++)
		order[i] = &video->streams[i];
	qsort(order, video->stream_count, sizeof(struct stream *), compare_origins);
	for (uint32_t i = 0; i < video->stream_count; i++) {
		struct stream *stream = order[i];
		const uint32_t to = video->receivers[stream->first_receiver].endpoint;
		struct hd_sim_message message = traffic_message(part, stream->source, to, 1);
		double factor, constant;
		wire_bytes(part->traffic, &video->rates, &factor, &constant);
		const double rate = (stream->mean * factor + constant) * 8 * video->rates.frames;
		if (traffic_reserve_take(reserve, part, &message, rate)) {
			stream->offset = message.lid_offset;
		} else {
			stream->origin = part->stop; /* it never begins */
			video->refused++;
		}
	}
	return 0;
}

static int video_start(struct hd_traffic_part *part, struct hd_error *err)
{
	struct video *video = part->state;
	const int rc = video->reserved ? reserve_paths(part, video, err) : 0;

	for (uint32_t i = 0; !rc && i < video->stream_count; i++)
		if (video->streams[i].origin < part->stop)
			traffic_wake(part, video->streams[i].origin, i);
	return rc;
}

static uint16_t offset_of(const struct hd_traffic_part *part, const struct video *video,
			  struct stream *stream, uint32_t to)
{
	return video->reserved ? stream->offset : traffic_offset(part, to, &stream->random);
}

static uint64_t frame_bytes(const struct hd_traffic_part *part, const struct video *video,
			    struct stream *stream)
{
	uint64_t bytes =
	    draw_frames_size(&video->model, stream->frame, stream->mean, &stream->random);
	uint64_t mtu = part->traffic->mtu;

	return video->rates.whole_packets ? (bytes + mtu - 1) / mtu * mtu : bytes;
}

static void send_frame(struct hd_traffic_part *part, struct video *video, uint32_t index)
{
	struct stream *stream = &video->streams[index];
	uint64_t bytes = frame_bytes(part, video, stream);
	bool counts = traffic_now(part) >= part->traffic->warm_up;
	bool group = stream->group_index != HD_NONE && !video->replicate;
	uint64_t tag = (stream->frame & ((1u << FRAME_BITS) - 1)) | (uint64_t)index << FRAME_BITS |
		       (counts ? COUNTS : 0);

	for (uint32_t k = 0; k < (group ? 1 : stream->receiver_count); k++) {
		uint32_t to = video->receivers[stream->first_receiver + k].endpoint;
		struct hd_sim_message message =
		    traffic_message(part, stream->source, group ? HD_NONE : to, bytes);
		message.lane = traffic_lane(part, index);
		if (group)
			message.mlid = part->traffic->groups[stream->group_index].mlid;
		message.lid_offset = group ? 0 : offset_of(part, video, stream, to);
		if (video->model.type[stream->frame % video->model.length] == FRAME_I)
			message.dropping = HD_SIM_DROP_NONE;
		traffic_send(part, &message, tag);
		video->bytes += counts ? bytes : 0;
	}
	video->sent += counts;
	stream->frame++;
}

static void video_wake(struct hd_traffic_part *part, uint64_t token)
{
	struct video *video = part->state;
	struct stream *stream = &video->streams[token];

	send_frame(part, video, (uint32_t)token);
	uint64_t next = stream->origin + frames_time(&video->model, ++stream->sent_frames);
	if (next < part->stop)
		traffic_wake(part, next, token);
}

static struct receiver *find_receiver(struct video *video, const struct stream *stream,
				      uint32_t endpoint)
{
	for (uint32_t k = 0; k < stream->receiver_count; k++)
		if (video->receivers[stream->first_receiver + k].endpoint == endpoint)
			return &video->receivers[stream->first_receiver + k];
	return NULL;
}

/* The last packet of a frame has come. */
static void video_arrive(struct hd_traffic_part *part, const struct hd_sim_message *message,
			 const struct hd_sim_times *times, uint32_t endpoint, uint64_t now)
{
	struct video *video = part->state;
	const struct stream *stream =
	    &video->streams[message->tag >> FRAME_BITS & ((1u << STREAM_BITS) - 1)];
	struct receiver *receiver = find_receiver(video, stream, endpoint);
	uint64_t number = message->tag & ((1u << FRAME_BITS) - 1);

	if (!receiver)
		return;
	uint64_t first =
	    video->from_creation ? times->created + frames_time(&video->model, 1) : now;
	uint64_t late = draw_frames_arrive(&video->model, &receiver->deadline, number, now, first);
	if (!(message->tag & COUNTS))
		return;
	video->delivered++;
	video->missed += late > 0;
	video->late += (double)late;
	video->latency += (double)(now - times->created);
}

static void delivered(struct hd_traffic_part *part, const struct hd_sim_message *message,
		      const struct hd_sim_times *times, uint32_t endpoint)
{
	video_arrive(part, message, times, endpoint, times->done);
}

/* The packets in the middle were dropped, but the last one has come: the paper counts such a frame
 * as delivered. */
static void lost(struct hd_traffic_part *part, const struct hd_sim_message *message,
		 const struct hd_sim_times *times, uint32_t endpoint)
{
	struct video *video = part->state;
	bool last_came = message->dropping == HD_SIM_DROP_MIDDLE && endpoint != HD_NONE;

	if (last_came && message->tag & COUNTS)
		video->damaged++;
	if (last_came && video->damaged_count)
		video_arrive(part, message, times, endpoint, traffic_now(part));
	else if (message->tag & COUNTS)
		video->lost++;
}

static void video_figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct video *video = part->state;
	uint64_t from = part->start > part->traffic->warm_up ? part->start : part->traffic->warm_up;
	uint64_t now = part->traffic->sim ? traffic_now(part) : 0;
	uint64_t to = now < part->stop ? now : part->stop;
	double seconds = to > from ? (double)(to - from) / (double)HD_SIM_SECOND : 0;
	double frames = video->delivered ? (double)video->delivered : 1;
	double missed = video->missed ? (double)video->missed : 1;
	const struct traffic_value values[] = {
	    {"streams", "video streams of all hosts", HD_TRAFFIC_COUNT, video->stream_count, NULL,
	     0},
	    {"refused", "streams that found no path with enough bandwidth left", HD_TRAFFIC_COUNT,
	     video->refused, NULL, 0},
	    {"frames", "frames that were sent", HD_TRAFFIC_COUNT, (double)video->sent, NULL, 0},
	    {"offered", "bytes of frames that were sent", HD_TRAFFIC_BYTES_PER_SECOND,
	     seconds > 0 ? (double)video->bytes / seconds : 0, NULL, 0},
	    {"delivered", "frames that came, at each receiver", HD_TRAFFIC_COUNT,
	     (double)video->delivered, NULL, 0},
	    {"damaged", "frames that came without some of their packets", HD_TRAFFIC_COUNT,
	     (double)video->damaged, NULL, 0},
	    {"lost", "frames that do not count as delivered, because packets were dropped",
	     HD_TRAFFIC_COUNT, (double)video->lost, NULL, 0},
	    {"missed", "delivered frames that missed their deadline", HD_TRAFFIC_COUNT,
	     (double)video->missed, NULL, 0},
	    {"dmp", "deadline missing probability: missed frames of the delivered ones",
	     HD_TRAFFIC_SHARE, (double)video->missed / frames, NULL, 0},
	    {"dmt", "deadline missing time: mean lateness of the missed frames", HD_TRAFFIC_SECONDS,
	     video->late / missed / (double)HD_SIM_SECOND, NULL, 0},
	    {"latency", "mean time from the sending of a frame to its last byte",
	     HD_TRAFFIC_SECONDS, video->latency / frames / (double)HD_SIM_SECOND, NULL, 0},
	};

	for (unsigned i = 0; i < TRAFFIC_COUNT(values); i++)
		traffic_report(report, &values[i]);
}

static const struct hd_option options[] = {
    TRAFFIC_CHECKED("load", "share of each host's cable that its streams take, with headers", "30%",
		    hd_sim_check_share),
    TRAFFIC_INT("streams", "streams of each host, instead of a load; 0: by the load", "0", 0,
		1000000),
    TRAFFIC_CHECKED("rates", "mean rates of streams; each host uses them in turn",
		    "2 Mb/s, 3 Mb/s, 4 Mb/s, 5 Mb/s, 6 Mb/s, 8 Mb/s, 10 Mb/s", streams_check_rates),
    TRAFFIC_INT("frames", "per second", "30", 1, 1000),
    TRAFFIC_CHECKED("group", "types of the frames of a group of pictures", "IBBPBBPBBPBB",
		    draw_frames_check_group),
    {.name = "weights",
     .summary = "ratio of the mean sizes of I, P and B frames",
     .type = HD_OPTION_INT_LIST,
     .fallback = "160,60,30",
     .minimum = 1,
     .maximum = 1000000},
    {.name = "deviations",
     .summary = "standard deviations of the sizes of I, P and B frames, in percent of their means",
     .type = HD_OPTION_INT_LIST,
     .fallback = "20,40,40",
     .minimum = 0,
     .maximum = 1000},
    TRAFFIC_BOOL("whole_packets", "a frame is filled up to packets of the MTU", "yes"),
    TRAFFIC_CHOICE(
	"first_deadline",
	"when the first frame of a stream is due: when it comes, or one frame time after "
	"it was made",
	"arrival", "arrival|creation"),
    TRAFFIC_CHOICE("damaged", "what a frame counts as whose middle packets were dropped",
		   "delivered", "delivered|lost"),
    TRAFFIC_CHECKED("reserve",
		    "share of each cable that streams reserve in all before they send, each on the "
		    "shortest path with enough left; the others are not sent; 0: no reservation",
		    "0", hd_sim_check_share),
    TRAFFIC_CHECKED("multicast", "share of the streams that have several receivers", "0",
		    hd_sim_check_share),
    TRAFFIC_INT("groups", "multicast groups of each host", "3", 1, 1000),
    TRAFFIC_INT("group_members", "receivers of a group", "4", 1, 1000),
    TRAFFIC_CHOICE(
	"copies",
	"who makes the copies for a group: switches, or the host with one message for each "
	"receiver",
	"switches", "switches|host"),
    TARGETS_OPTIONS,
    TRAFFIC_COMMON_OPTIONS("sl", "middle"),
};

const struct hd_traffic_kind traffic_video = {
    .name = "video",
    .summary = "MPEG-2 streams of variable rate, whose frames have deadlines",
    .options = options,
    .option_count = TRAFFIC_COUNT(options),
    .create = video_create,
    .list = video_list,
    .start = video_start,
    .wake = video_wake,
    .delivered = delivered,
    .lost = lost,
    .figures = video_figures,
};
