/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Traffic: what makes the messages of a simulation. A kind of traffic is one constant table, as an
 * engine is; scenario files, the command's help and the man page are driven by the table of kinds.
 * Several traffics run in one simulation at the same time.
 *
 *	hd_traffic_new(&scene, requests, count, &traffic, &err);
 *	settings.class_count = hd_traffic_class_count(traffic);
 *	settings.flow_count = hd_traffic_flow_count(traffic);
 *	workload = hd_traffic_workload(traffic);
 *	hd_sim_new(&network, &settings, &workload, &sim, &err);
 *	hd_traffic_check(traffic, sim, &err);           every route that the traffic will use
 *	hd_sim_run(sim, until, &end, &err);
 *	hd_traffic_result(traffic, &err);               what failed in a callback
 *	figures = hd_traffic_figures(traffic, &count);
 *	hd_sim_free(sim);
 *	hd_traffic_free(traffic);
 *
 * A traffic serves one simulation, once. The same scene and requests give the same messages, bit by
 * bit, and a traffic sends the same whatever other traffics there are.
 */
#ifndef HEDDLE_SIM_WORKLOAD_H
#define HEDDLE_SIM_WORKLOAD_H

#include <heddle/base/go_on.h>
#include <heddle/base/options.h>
#include <heddle/sim/simulation.h>
#include <heddle/sim/units.h>

struct hd_traffic; /* the traffics of one simulation; opaque */
struct hd_traffic_part; /* one of them; opaque */
struct hd_traffic_report; /* takes figures; opaque */

/* Gets a message of which only the address counts: source, destination, LID offset, routing, SL,
 * lane. Returns 0, or a negative errno to end the list. */
typedef int (*hd_traffic_visit)(void *context, const struct hd_sim_message *message,
				struct hd_error *err);

/* A kind of traffic: `kind = NAME` in the section [traffic ...] of a scenario. The functions are
 * for this room. */
struct hd_traffic_kind {
	const char *name; /* "poisson" */
	const char *summary; /* half a sentence for --help and the man page */
	const struct hd_option *options; /* [option_count] */
	unsigned option_count;
	bool finite; /* it has an end: the run is over when all finite traffics are */
	int (*create)(struct hd_traffic_part *part, const struct hd_options *options,
		      struct hd_error *err);
	int (*list)(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
		    struct hd_error *err);
	int (*start)(struct hd_traffic_part *part, struct hd_error *err);
	void (*wake)(struct hd_traffic_part *part, uint64_t token);
	void (*sent)(struct hd_traffic_part *part, const struct hd_sim_message *message,
		     const struct hd_sim_times *times);
	void (*delivered)(struct hd_traffic_part *part, const struct hd_sim_message *message,
			  const struct hd_sim_times *times, uint32_t endpoint);
	void (*lost)(struct hd_traffic_part *part, const struct hd_sim_message *message,
		     const struct hd_sim_times *times, uint32_t endpoint);
	void (*release)(
	    struct hd_traffic_part *part); /* frees what is not in the arena; NULL: nothing */
	/* of what is to be sent, the share that is done: 0 .. 1. NULL if it is not finite */
	double (*progress)(const struct hd_traffic_part *part);
	void (*figures)(const struct hd_traffic_part *part, struct hd_traffic_report *report);
};

/* All kinds in the order of the documentation; *count of them. */
const struct hd_traffic_kind *const *hd_traffic_kinds(unsigned *count);

/* The kind with that name, or NULL. */
const struct hd_traffic_kind *hd_traffic_find(const char *name);

/* One traffic that a user wants. */
struct hd_traffic_request {
	const char *name; /* of the section: "video"; unique */
	const struct hd_traffic_kind *kind;
	struct hd_options *options; /* of kind->options */
};

/* Where the traffic runs. All belongs to the caller and must outlive the traffic, except the
 * settings, of which hd_traffic_new() reads what it needs. */
struct hd_traffic_scene {
	const struct hd_sim_network
	    *network; /* mfts may still be missing, see hd_traffic_groups() */
	const struct hd_sim_settings
	    *settings; /* class_count and flow_count may still be missing */
	/* The tables of the only subnet, into which routing keys are written while a phase lasts: a
	 * copy that the network has too. NULL: traffic that wants keys is refused. */
	struct hd_routes *tables;
};

/*
 * Prepares the traffics. To be freed with hd_traffic_free(). Errors, all with the name of the
 * traffic, the option and its value: -EINVAL a value that does not fit, an unknown host; -ERANGE;
 * the errno of a file, with its line; -ENOTSUP keys on a fabric that is no fat tree; -EDOM, as
 * hd_key_make(); -ENOMEM. Memory: O(endpoints * traffics), and O(flows) for keys.
 */
int hd_traffic_new(const struct hd_traffic_scene *scene, const struct hd_traffic_request *requests,
		   uint32_t count, struct hd_traffic **out, struct hd_error *err);

/* NULL is allowed. Not before hd_sim_free(). */
void hd_traffic_free(struct hd_traffic *traffic);

/* The callbacks for hd_sim_new(); the context is the traffic. */
struct hd_sim_workload hd_traffic_workload(struct hd_traffic *traffic);

/* ---- classes and flows, for the settings and for the names of figures ---- */

/* Traffics with the same option `class` share one; without it, a class has the traffic's name. */
uint32_t hd_traffic_class_count(const struct hd_traffic *traffic);
const char *hd_traffic_class_name(const struct hd_traffic *traffic, uint32_t index);

/* The flows that are counted one by one: those of the kind `flows`. */
struct hd_traffic_flow {
	const char *traffic; /* name */
	uint32_t source, destination; /* endpoints */
	uint64_t from, to; /* ps: when it sends */
};
uint32_t hd_traffic_flow_count(const struct hd_traffic *traffic);
const struct hd_traffic_flow *hd_traffic_flow(const struct hd_traffic *traffic, uint32_t index);

/* Hosts that take part in any of the traffics: *count. False: no memory. */
bool hd_traffic_host_count(const struct hd_traffic *traffic, uint32_t *count);

/* ---- multicast groups ---- */

/* A group that a traffic will send to. The caller makes its tree and puts it into the network's
 * mfts before hd_sim_new(). */
struct hd_traffic_group {
	uint16_t mlid; /* from HD_MLID_FIRST on */
	uint32_t source; /* endpoint: the only sender */
	uint32_t member_count;
	const uint32_t *members; /* endpoints, ascending; the source is none of them */
};

/* All groups, ascending by MLID; *count of them. They belong to the traffic. */
const struct hd_traffic_group *hd_traffic_groups(const struct hd_traffic *traffic, uint32_t *count);

/* ---- before, during and after the run ---- */

/* Visits each address that the traffic may send to, at least once. Errors: what visit returned.
 * O(endpoints^2 * offsets) for uniform destinations. */
int hd_traffic_list(const struct hd_traffic *traffic, hd_traffic_visit visit, void *context,
		    struct hd_error *err);

/* hd_sim_check_message() for all of them. `go_on` (NULL: never stop) is asked for each. Errors: -EHOSTUNREACH with
 * traffic, source and destination, and the reason; -ECANCELED. Routes of keys are not checked: they are written later. */
int hd_traffic_check(const struct hd_traffic *traffic, struct hd_sim *sim,
		     const struct hd_go_on *go_on, struct hd_error *err);

/* Whether it ends without its caller: some traffic is finite, or all have a time to stop. */
bool hd_traffic_ends(const struct hd_traffic *traffic);

/* Done share of the finite traffics, 0 .. 1; below 0 if there are none: then only the caller ends
 * the run. */
double hd_traffic_progress(const struct hd_traffic *traffic);

/* 0, or the first error of a callback, which has ended the run. Errors: -ENOMEM; those of
 * routing keys. */
int hd_traffic_result(const struct hd_traffic *traffic, struct hd_error *err);

/* A value that a traffic has measured; the unit says how to print it. */
enum hd_traffic_unit {
	HD_TRAFFIC_COUNT, /* a number of things */
	HD_TRAFFIC_SHARE, /* 0 .. 1 */
	HD_TRAFFIC_SECONDS,
	HD_TRAFFIC_BYTES,
	HD_TRAFFIC_BYTES_PER_SECOND
};

struct hd_traffic_figure {
	const char *traffic; /* name */
	const char *name; /* "dmp"; the same kind always has the same names in the same order */
	const char *summary; /* half a sentence: "frames that missed their deadline" */
	const char *item; /* "": of the whole traffic; or of what: "application", "ring", "rank" */
	uint32_t index; /* of the item; 0 without one */
	enum hd_traffic_unit unit;
	double value;
};

/* The figures of all traffics up to now, *count of them; messages that were sent before
 * settings.warm_up do not count, except where a traffic ends by itself. They belong to the traffic
 * and are valid until the next call. NULL: no memory. */
const struct hd_traffic_figure *hd_traffic_figures(struct hd_traffic *traffic, uint32_t *count);

/* "s", "B", "B/s", "" for messages and column heads. */
const char *hd_traffic_unit_name(enum hd_traffic_unit unit);

#endif
