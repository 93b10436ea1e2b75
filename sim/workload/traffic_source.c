/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources that make messages by the clock, however loaded the network is: at a constant rate, or as a
 * Poisson process. The mean time between two messages is an exact fraction
 * of picoseconds; what is below one picosecond is carried to the next message.
 */
#include "traffic.h"
#include "traffic_draw.h"
#include "traffic_targets.h"

#include <errno.h>

#define WAITING_LEAST 64u /* bytes that a message counts for in the backlog, at least */

__extension__ typedef unsigned __int128 wide;

enum arrivals { CONSTANT, POISSON };

/* A time between messages: whole picoseconds, and the rest as a fraction of 2^64. */
struct interval {
	uint64_t whole, fraction;
};

struct source {
	uint64_t random;
	uint64_t when, fraction; /* of the next message */
	struct interval interval;
	uint64_t waiting; /* bytes of its messages that have not left the host */
};

struct sources {
	enum arrivals arrivals;
	bool phases; /* random time of the first message */
	uint64_t backlog; /* bytes of a source that wait at its host, at most */
	struct traffic_sizes sizes;
	struct traffic_targets *targets;
	struct source *source; /* [member_count] */
	/* figures, after the warm-up */
	uint64_t messages, refused, bytes, delivered_bytes, latency_count;
	double latency_sum; /* ps */
};

static struct interval quotient(wide numerator, wide denominator)
{
	wide whole = numerator / denominator, rest = numerator % denominator;

	/* rest < denominator < 2^110: drop bits of both until the shift by 64 fits */
	while (denominator >> 63) {
		denominator >>= 1;
		rest >>= 1;
	}
	/* rounded up, so that times that are whole numbers do not come a picosecond early */
	return (struct interval){(uint64_t)whole,
				 (uint64_t)(((rest << 64) + denominator - 1) / denominator)};
}

/* "60%" of the cable, headers included; "10 Gb/s" of payload; "every 33.3 ms". */
static int read_rate(const char *text, uint64_t *share, uint64_t *rate, uint64_t *every,
		     struct hd_error *err)
{
	*share = *rate = *every = 0;
	if (!strncmp(text, "every ", 6))
		return hd_sim_parse_time(text + 6, every, err);
	if (strchr(text, '%'))
		return hd_sim_parse_share(text, share, err);
	return hd_sim_parse_rate(text, rate, err);
}

static int check_rate(const char *text, struct hd_error *err)
{
	uint64_t share, rate, every;

	if (!read_rate(text, &share, &rate, &every, NULL) && (share || rate || every) &&
	    every != HD_SIM_NEVER)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "'%s': expected a share of the host's cable such as 60%%, above 0 and "
			    "at most 100%%, a rate "
			    "such as 10 Gb/s of payload, or every 33.3 ms",
			    text);
}

static struct interval interval_of(const struct hd_traffic_part *part,
				   const struct sources *sources, const char *text, uint64_t cable)
{
	const struct hd_traffic *traffic = part->traffic;
	uint64_t share, rate, every, payload, wire, count;

	read_rate(text, &share, &rate, &every, NULL);
	draw_sizes_total(&sources->sizes, traffic->mtu, traffic->header, &payload, &wire, &count);
	if (every)
		return (struct interval){every, 0};
	if (rate)
		return quotient((wide)payload * 8 * HD_SIM_SECOND, (wide)rate * count);
	/* wire * 8 * 10^18 / (cable * share * count), with factors of ten cancelled */
	return quotient((wide)wire * 8 * HD_SIM_SECOND * 1000, (wide)cable * count * share / 1000);
}

static int source_create(struct hd_traffic_part *part, const struct hd_options *options,
			 enum arrivals arrivals, struct hd_error *err)
{
	struct sources *sources = hd_arena_alloc(&part->traffic->arena, 1, sizeof(*sources));

	if (!sources)
		return hd_error_no_memory(err);
	part->state = sources;
	sources->arrivals = arrivals;
	sources->backlog = traffic_size(options, "backlog");
	if (arrivals == CONSTANT)
		sources->phases = hd_options_get(options, "phases")->number;
	int rc = draw_sizes_parse(hd_options_get(options, "size")->text, &sources->sizes, err);
	if (!rc)
		rc = targets_new(part, options, &sources->targets, err);
	if (!rc) {
		const char *rate = hd_options_get(options, "rate")->text;
		sources->source = hd_arena_alloc(&part->traffic->arena, part->member_count,
						 sizeof(*sources->source));
		if (!sources->source)
			return hd_error_no_memory(err);
		for (uint32_t i = 0; i < part->member_count; i++) {
			uint64_t cable = part->traffic->places.rate[part->members[i]];
			sources->source[i].interval = interval_of(part, sources, rate, cable);
			if (!sources->source[i].interval.whole)
				return hd_error_set(
				    err, -ERANGE,
				    "option 'rate': less than 1 ps between two messages");
		}
	}
	return rc;
}

static int create_constant(struct hd_traffic_part *part, const struct hd_options *options,
			   struct hd_error *err)
{
	return source_create(part, options, CONSTANT, err);
}

static int create_poisson(struct hd_traffic_part *part, const struct hd_options *options,
			  struct hd_error *err)
{
	return source_create(part, options, POISSON, err);
}

static int source_list(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
		       struct hd_error *err)
{
	const struct sources *sources = part->state;

	return targets_list(sources->targets, visit, context, err);
}

/* An exponential time with that mean, to 53 bits. */
static struct interval random_interval(struct source *source, struct interval mean)
{
	double value = draw_exponential(&source->random) *
		       ((double)mean.whole + (double)mean.fraction / 18446744073709551616.0);
	uint64_t whole = (uint64_t)value;

	return (struct interval){whole, (uint64_t)((value - (double)whole) * 9007199254740992.0)
					    << 11};
}

static void next_message(const struct sources *sources, struct source *source)
{
	struct interval interval = sources->arrivals == POISSON
				       ? random_interval(source, source->interval)
				       : source->interval;
	uint64_t fraction = source->fraction + interval.fraction;

	source->when += interval.whole + (fraction < source->fraction);
	source->fraction = fraction;
}

static int source_start(struct hd_traffic_part *part, struct hd_error *err)
{
	struct sources *sources = part->state;

	(void)err;
	for (uint32_t i = 0; i < part->member_count; i++) {
		struct source *source = &sources->source[i];
		if (!targets_sends(sources->targets, i))
			continue;
		source->random = traffic_stream(part, TRAFFIC_STREAM_SENDERS + i);
		source->when = part->start;
		if (sources->arrivals == POISSON)
			next_message(sources, source);
		if (sources->arrivals == CONSTANT && sources->phases)
			source->when += hd_random_below(&source->random, source->interval.whole);
		if (source->when < part->stop)
			traffic_wake(part, source->when, i);
	}
	return 0;
}

/* Of the backlog. Short messages count for more than they have, so that it limits memory, too. */
static uint64_t waiting_bytes(uint64_t bytes)
{
	return bytes > WAITING_LEAST ? bytes : WAITING_LEAST;
}

static void make_message(struct hd_traffic_part *part, struct sources *sources, uint32_t index)
{
	struct source *source = &sources->source[index];
	uint32_t from = part->members[index];
	uint32_t to = targets_draw(sources->targets, index, &source->random);
	uint32_t bytes = draw_sizes_next(&sources->sizes, &source->random);
	struct hd_sim_message message = traffic_message(part, from, to, bytes);
	bool counts = traffic_now(part) >= part->traffic->warm_up;

	message.lid_offset = traffic_offset(part, to, &source->random);
	if (source->waiting + waiting_bytes(bytes) > sources->backlog) {
		sources->refused += counts;
		return;
	}
	source->waiting += waiting_bytes(bytes);
	sources->messages += counts;
	sources->bytes += counts ? bytes : 0;
	traffic_send(part, &message, (uint64_t)index << 1 | counts);
}

static void source_wake(struct hd_traffic_part *part, uint64_t token)
{
	struct sources *sources = part->state;
	struct source *source = &sources->source[token];

	make_message(part, sources, (uint32_t)token);
	next_message(sources, source);
	if (source->when < part->stop)
		traffic_wake(part, source->when, token);
}

static void sent(struct hd_traffic_part *part, const struct hd_sim_message *message,
		 const struct hd_sim_times *times)
{
	struct sources *sources = part->state;

	(void)times;
	sources->source[message->tag >> 1].waiting -= waiting_bytes(message->bytes);
}

static void delivered(struct hd_traffic_part *part, const struct hd_sim_message *message,
		      const struct hd_sim_times *times, uint32_t endpoint)
{
	struct sources *sources = part->state;

	(void)endpoint;
	if (times->done >= part->traffic->warm_up)
		sources->delivered_bytes += message->bytes;
	if (!(message->tag & 1))
		return;
	sources->latency_sum += (double)(times->done - times->created);
	sources->latency_count++;
}

static void source_figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct sources *sources = part->state;
	uint64_t from = part->start > part->traffic->warm_up ? part->start : part->traffic->warm_up;
	uint64_t now = part->traffic->sim ? traffic_now(part) : 0;
	uint64_t to = now < part->stop ? now : part->stop;
	double seconds = to > from ? (double)(to - from) / (double)HD_SIM_SECOND : 0;
	double all = (double)(sources->messages + sources->refused);
	double latency =
	    sources->latency_count ? sources->latency_sum / (double)sources->latency_count : 0;
	const struct traffic_value values[] = {
	    {"messages", "messages that were sent", HD_TRAFFIC_COUNT, (double)sources->messages,
	     NULL, 0},
	    {"refused", "share of messages not sent, because too much waited at the host",
	     HD_TRAFFIC_SHARE, all > 0 ? (double)sources->refused / all : 0, NULL, 0},
	    {"offered", "payload that was sent, of all hosts", HD_TRAFFIC_BYTES_PER_SECOND,
	     seconds > 0 ? (double)sources->bytes / seconds : 0, NULL, 0},
	    {"delivered", "payload of messages that came, of all hosts",
	     HD_TRAFFIC_BYTES_PER_SECOND,
	     seconds > 0 ? (double)sources->delivered_bytes / seconds : 0, NULL, 0},
	    {"latency", "mean time from the sending of a message to its last byte",
	     HD_TRAFFIC_SECONDS, latency / (double)HD_SIM_SECOND, NULL, 0},
	};

	for (unsigned i = 0; i < TRAFFIC_COUNT(values); i++)
		traffic_report(report, &values[i]);
}

#define RATE_OPTION(value)                                                                         \
	TRAFFIC_CHECKED("rate",                                                                    \
			"of each host: a share such as 60% of its cable with headers, 10 Gb/s of " \
			"payload, or every 33.3 ms",                                               \
			value, check_rate)
#define SIZE_OPTION(value)                                                                         \
	TRAFFIC_CHECKED("size", "of a message: 2 kB; 4 KiB, 32 KiB; or 84 .. 2 kB", value,         \
			draw_sizes_check)
#define BACKLOG_OPTION                                                                             \
	TRAFFIC_CHECKED(                                                                           \
	    "backlog",                                                                             \
	    "bytes of a host's messages that may wait, at least 64 each; beyond them no message "  \
	    "is sent",                                                                             \
	    "1 MiB", hd_sim_check_size)
#define PHASES_OPTION TRAFFIC_BOOL("phases", "each host begins at a random time", "yes")

static const struct hd_option constant_options[] = {
    RATE_OPTION("10%"), SIZE_OPTION("2 KiB"), TARGETS_OPTIONS,
    PHASES_OPTION,	BACKLOG_OPTION,	      TRAFFIC_COMMON_OPTIONS("sl", "none"),
};

static const struct hd_option poisson_options[] = {
    RATE_OPTION("10%"),
    SIZE_OPTION("2 KiB"),
    TARGETS_OPTIONS,
    BACKLOG_OPTION,
    TRAFFIC_COMMON_OPTIONS("sl", "none"),
};

static const struct hd_option control_options[] = {
    RATE_OPTION("every 33.3 ms"),
    SIZE_OPTION("256"),
    TARGETS_OPTIONS,
    PHASES_OPTION,
    BACKLOG_OPTION,
    TRAFFIC_COMMON_OPTIONS("15", "none"),
};

#define SOURCE_FUNCTIONS                                                                           \
	.list = source_list, .start = source_start, .wake = source_wake, .sent = sent,             \
	.delivered = delivered, .figures = source_figures

const struct hd_traffic_kind traffic_constant = {
    .name = "constant",
    .summary = "messages at a constant rate from each host",
    .options = constant_options,
    .option_count = TRAFFIC_COUNT(constant_options),
    .create = create_constant,
    SOURCE_FUNCTIONS,
};

const struct hd_traffic_kind traffic_poisson = {
    .name = "poisson",
    .summary = "messages at random times from each host, with a mean rate",
    .options = poisson_options,
    .option_count = TRAFFIC_COUNT(poisson_options),
    .create = create_poisson,
    SOURCE_FUNCTIONS,
};

const struct hd_traffic_kind traffic_control = {
    .name = "control",
    .summary = "a small message from each host in each period, on the lane of management",
    .options = control_options,
    .option_count = TRAFFIC_COUNT(control_options),
    .create = create_constant,
    SOURCE_FUNCTIONS,
};
