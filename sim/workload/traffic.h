/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A traffic of the mix, as its kind sees it: what all kinds share. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "random_streams.h"

#include <heddle/base/arena.h>
#include <heddle/base/random.h>
#include <heddle/sim/workload.h>
#include <string.h>

#define TRAFFIC_TAG_BITS 48 /* of a token or a message's tag that belong to one traffic */
#define TRAFFIC_TAG_MASK ((UINT64_C(1) << TRAFFIC_TAG_BITS) - 1)

struct traffic_keys;

/* The endpoints of the network: host h of subnet s is base[s] + h. */
struct traffic_places {
	uint32_t subnet_count, count;
	uint32_t *base; /* [subnet_count + 1] */
	uint32_t *subnet; /* [count] */
	uint32_t *leaf; /* [count] leaf switch, in numbers that count on over all subnets */
	uint32_t *lids; /* [count] LIDs that the endpoint has; 0: it is no host that can receive */
	uint64_t *rate; /* [count] bits/s of its cable */
	bool *host; /* [count] it is a channel adapter with a LID */
};

struct hd_traffic {
	const struct hd_traffic_scene *scene;
	struct hd_arena arena;
	struct traffic_places places;
	uint64_t seed, warm_up;
	uint32_t mtu, header;
	struct hd_sim *sim; /* NULL before the run */
	uint32_t part_count;
	struct hd_traffic_part *parts;
	uint32_t class_count, flow_count, flow_room, group_count, group_room, finite_count,
	    finished;
	const char **classes;
	struct hd_traffic_flow *flows;
	struct hd_traffic_group *groups;
	uint32_t figure_count, figure_room;
	struct hd_traffic_figure *figures; /* malloc'ed */
	struct traffic_keys *keys; /* of all traffics, or NULL */
	int rc; /* of a callback */
	struct hd_error err;
};

struct hd_traffic_part {
	struct hd_traffic *traffic;
	const struct hd_traffic_kind *kind;
	const char *name;
	uint32_t index;
	bool finished;
	uint32_t member_count; /* endpoints that take part */
	uint32_t *members; /* ascending, unless they are ranks in an order of the user's */
	struct hd_sim_message template; /* class, SL, lane, routing, dropping */
	/* LID offsets of destinations: the first one, and of how many a message takes one at random; 0: of all */
	uint32_t offset, offset_count;
	uint32_t lanes; /* the template's lane is the first of so many; 0 or 1: all use it */
	uint64_t start, stop; /* ps */
	void *state; /* of the kind */
};

/* Options that each kind has, at the end of its table; their defaults for lane and dropping. */
#define TRAFFIC_OPTION(option, text, value)                                                        \
	{                                                                                          \
		.name = option, .summary = text, .type = HD_OPTION_STRING, .fallback = value       \
	}
#define TRAFFIC_CHECKED(option, text, value, check)                                                \
	{                                                                                          \
		.name = option, .summary = text, .type = HD_OPTION_STRING, .fallback = value,      \
		.validate = check                                                                  \
	}
#define TRAFFIC_CHOICE(option, text, value, list)                                                  \
	{                                                                                          \
		.name = option, .summary = text, .type = HD_OPTION_CHOICE, .fallback = value,      \
		.choices = list                                                                    \
	}
#define TRAFFIC_INT(option, text, value, least, most)                                              \
	{                                                                                          \
		.name = option, .summary = text, .type = HD_OPTION_INT, .fallback = value,         \
		.minimum = least, .maximum = most                                                  \
	}
#define TRAFFIC_BOOL(option, text, value)                                                          \
	{                                                                                          \
		.name = option, .summary = text, .type = HD_OPTION_BOOL, .fallback = value         \
	}
#define TRAFFIC_COMMON_OPTIONS(of_lane, of_dropping)                                               \
	TRAFFIC_OPTION("hosts",                                                                    \
		       "hosts that take part: all, numbers such as 0-5,8, names, or file:PATH",    \
		       "all"),                                                                     \
	    TRAFFIC_OPTION("class", "class in the figures; default: the name of the traffic", ""), \
	    TRAFFIC_OPTION("sl", "service level 0 .. 15, or routes: the one that the tables name", \
			   "routes"),                                                              \
	    TRAFFIC_OPTION(                                                                        \
		"lane",                                                                            \
		"virtual lane, or sl: the one of the service level; 3-7: the flows are "           \
		"spread over these",                                                               \
		of_lane),                                                                          \
	    TRAFFIC_CHOICE("routing", "which ports packets may take", "deterministic",             \
			   "deterministic|adaptive|path-bits"),                                    \
	    TRAFFIC_CHOICE("dropping", "packets that the head lifetime may drop", of_dropping,     \
			   "none|middle|all"),                                                     \
	    TRAFFIC_OPTION("offset",                                                               \
			   "LID offset of the destination; random: another for each message, "     \
			   "random:4-7: one of these",                                             \
			   "0"),                                                                   \
	    TRAFFIC_CHECKED("start", "time of the first message, at the earliest", "0",            \
			    hd_sim_check_time),                                                    \
	    TRAFFIC_CHECKED("stop", "time from which on no message is made", "never",              \
			    hd_sim_check_time)

#define TRAFFIC_COUNT(array) ((unsigned)(sizeof(array) / sizeof((array)[0])))

/* ---- common options ---- */

/* Fills in what the common options say. Errors: -EINVAL, -ERANGE. */
int traffic_common(struct hd_traffic_part *part, const struct hd_options *options,
		   struct hd_error *err);

/* Values of options with units; they have been validated. */
uint64_t traffic_time(const struct hd_options *options, const char *name);
uint64_t traffic_size(const struct hd_options *options, const char *name);
uint64_t traffic_share(const struct hd_options *options, const char *name); /* millionths */

/*
 * Gives the lines of a file with words on them to `take`, one after the other, until it returns an
 * error. `next` is hd_words_next or hd_words_next_name. Errors: the errno of the file; with file and
 * line, those of `next` and of `take`.
 */
struct hd_words;
int traffic_lines(const char *path, int (*next)(struct hd_words *words, struct hd_error *err),
		  int (*take)(void *context, const struct hd_words *words, struct hd_error *err),
		  void *context, struct hd_error *err);

/* ---- endpoints ---- */

/* Prepares the places. Errors: -ENOMEM. */
int traffic_places(struct hd_traffic *traffic, struct hd_error *err);

/* bits/s of a port's cable: what the settings force, what the fabric says, or what the settings say for the others */
uint64_t traffic_cable_rate(const struct hd_traffic *traffic, const struct hd_fabric *fabric,
			    uint32_t port);

/* One endpoint: a number or a name. Errors: -EINVAL. */
int traffic_host(const struct hd_traffic *traffic, const char *text, uint32_t *endpoint,
		 struct hd_error *err);

/* "'node7' (12)" for messages; returns buffer. */
const char *traffic_label(const struct hd_traffic *traffic, uint32_t endpoint, char *buffer,
			  size_t size);

/* ---- messages, flows and classes ---- */

/* Random bits of a traffic: of the run's streams once it runs, else from the seed. `number`: an
 * enum traffic_stream_number, and what it says to add. */
uint64_t traffic_stream(const struct hd_traffic_part *part, uint32_t number);

/* Sends a message of the part's template: address and size are the caller's. An error ends the
 * run. */
void traffic_send(struct hd_traffic_part *part, struct hd_sim_message *message, uint64_t tag);

/* A message with what all messages of the part have in common. Its lane follows from the pair. */
struct hd_sim_message traffic_message(const struct hd_traffic_part *part, uint32_t source,
				      uint32_t destination, uint64_t bytes);

/* The lane of a flow. If the part has several lanes, a hash of `flow` chooses one: a flow stays on one lane if
 * its number stays the same. */
uint8_t traffic_lane(const struct hd_traffic_part *part, uint64_t flow);

/* How many LID offsets, from part->offset on, the messages to a destination may use. */
uint32_t traffic_offset_count(const struct hd_traffic_part *part, uint32_t destination);

/* The offset of a message's destination; draws one if the part wants a random one. */
uint16_t traffic_offset(const struct hd_traffic_part *part, uint32_t destination, uint64_t *random);

void traffic_wake(struct hd_traffic_part *part, uint64_t when, uint64_t token);
uint64_t traffic_now(const struct hd_traffic_part *part);

/* A finite traffic has done all its work. */
void traffic_finish(struct hd_traffic_part *part);

/* A callback has failed: ends the run. Returns rc. */
int traffic_fail(struct hd_traffic_part *part, int rc, const struct hd_error *err);

/* A class with that name, new or known. Errors: -ENOMEM. */
int traffic_class(struct hd_traffic *traffic, const char *name, uint16_t *index,
		  struct hd_error *err);

/* Makes room for more flows or groups, which the caller fills in and counts. NULL: no memory. */
struct hd_traffic_flow *traffic_add_flow(struct hd_traffic *traffic);
struct hd_traffic_group *traffic_add_group(struct hd_traffic *traffic);

/* Visits the addresses from source to destination: all offsets if they are random. */
int traffic_visit(const struct hd_traffic_part *part, uint32_t source, uint32_t destination,
		  hd_traffic_visit visit, void *context, struct hd_error *err);

/* ---- figures ---- */

struct traffic_value {
	const char *name, *summary;
	enum hd_traffic_unit unit;
	double value;
	const char *item; /* NULL: none */
	uint32_t index;
};

void traffic_report(struct hd_traffic_report *report, const struct traffic_value *value);

/* ---- the kinds ---- */

extern const struct hd_traffic_kind traffic_flows, traffic_constant, traffic_poisson,
    traffic_control, traffic_video, traffic_ring, traffic_phases, traffic_collective,
    traffic_rounds, traffic_goal, traffic_chakra, traffic_arrivals;

#endif
