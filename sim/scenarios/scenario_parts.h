/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of scenarios offer each other: settings, fabrics and networks, sweeps, points, simulations and runs. */
#ifndef SIM_SCENARIO_PARTS_H
#define SIM_SCENARIO_PARTS_H

#include <heddle/analysis/congestion.h>
#include <heddle/ar_manager/plan.h>
#include <heddle/fabric/graph.h>
#include <heddle/ir_router/relay.h>
#include <heddle/sim/record.h>
#include <heddle/sim/scenario.h>
#include <heddle/sim/simulation.h>
#include <heddle/sim/workload.h>
#include <string.h>

#include <heddle/sim/settings.h>

#include "scenario_text.h"

/* ---- the sections [model] and [run]: the settings of the simulator ---- */

extern const struct hd_option scenario_model_keys[], scenario_run_keys[];
extern const unsigned scenario_model_key_count, scenario_run_key_count;

struct scenario_run {
	struct hd_sim_settings settings; /* without class_count, flow_count and seed */
	bool exact; /* nothing is drawn: one seed decides */
	uint64_t duration; /* ps; HD_SIM_NEVER: until the traffic ends */
};

/* Errors: with the place, those of the tables, and of hd_sim_settings_check(). */
int scenario_settings_read(const struct hd_scenario *scenario, struct scenario_run *out,
			   struct hd_error *err);

/* The seeds of [run]: `seeds` is their number, or the list "3, 5, 9". *seeds is malloc'ed. */
int scenario_settings_seeds(const struct hd_scenario *scenario, uint64_t first, bool first_given,
			    uint64_t **seeds, uint32_t *count, struct hd_error *err);

/* ---- numbers as papers print them: 0.5, 2/3, 50% ---- */

/* A plain number, a fraction such as 2/3, or percent. Errors: -EINVAL. */
int scenario_settings_number(const char *text, double *out, struct hd_error *err);

/* For the member `validate` of struct hd_option. */
int scenario_settings_number_check(const char *text, struct hd_error *err);

/* The sections [fabric] and [subnet NAME]: a fabric from a file or a generator. */

extern const struct hd_option scenario_fabric_keys[], scenario_subnet_keys[];
extern const unsigned scenario_fabric_key_count, scenario_subnet_key_count;

struct scenario_fabric {
	struct hd_fabric *fabric; /* with LIDs */
	uint64_t prefix; /* [subnet] only */
	const char *tables; /* [subnet] only: path, or NULL */
};

/* The network of a point: fabrics, tables, adaptive routing, and the routers between subnets. Points
 * that differ in other sections share one. */

extern const struct hd_option scenario_routing_keys[];
extern const unsigned scenario_routing_key_count;

struct scenario_subnet {
	struct scenario_fabric source;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
	struct hd_map *map;
};

struct scenario_network {
	char *digest; /* the text of all that it depends on; malloc'ed */
	uint32_t users; /* points */
	char name[200]; /* of tables and adaptive routing: "dmodk, AR tree" */
	uint32_t subnet_count;
	struct scenario_subnet *subnets; /* by prefix */
	struct hd_interconnect *interconnect; /* NULL: one subnet */
	struct hd_isfr_plan *isfr;
	struct hd_relay_firmware *firmware; /* of the routers */
	struct hd_relay relay;
	struct hd_sim_subnet *sim_subnets; /* [subnet_count] */
	struct hd_sim_network sim;
	struct hd_arena arena;
};

/* Makes the network; *out is freed with scenario_network_free() once for each user. Errors: with the
 * place, those of readers, engines and plans. */
int scenario_network_new(const struct hd_scenario *scenario,
			 const struct hd_scenario_request *request, struct scenario_network **out,
			 struct hd_error *err);
void scenario_network_free(struct scenario_network *network);

/* The text that decides on the network; malloc'ed; NULL: no memory. */
char *scenario_network_digest(const struct hd_scenario *scenario);

/*
 * Sweeps. [sweep NAME] has lines TARGET = VALUE | VALUE | ..., all of the same length: step i takes
 * value i of each line. Several sweeps are multiplied, the last one fastest. The key `labels` names
 * the steps; without it they have the values of the first line.
 */

struct scenario_sweep {
	uint32_t point_count, sweep_count;
	const char **names; /* [sweep_count] */
	struct hd_scenario_point *points; /* [point_count] */
	struct hd_scenario **scenarios; /* [point_count] with the values of the point in place */
};

/* Errors: -EINVAL lines of different lengths, an unknown target; -ERANGE more than
 * HD_SCENARIO_RUNS_MAX points; -ENOMEM. Labels and names belong to `arena`. */
int scenario_sweep_expand(const struct hd_scenario *scenario, struct hd_arena *arena,
			  struct scenario_sweep *out, struct hd_error *err);
void scenario_sweep_release(struct scenario_sweep *sweep);

/* Whether all lines of all sweeps have as many values as they should, and targets that a sweep can
 * change. Errors: -EINVAL, -ENOMEM. */
int scenario_sweep_check(const struct hd_scenario *scenario, struct hd_error *err);

/* Refuses SECTION.KEY of which all points have the same value. Errors: -EINVAL. */
int scenario_sweep_check_target(const char *target, struct hd_error *err);

/* The pieces of "a | b | c", without blanks around them; they belong to `arena`. NULL: no memory. */
const char **scenario_sweep_split(const char *text, struct hd_arena *arena, uint32_t *count);

/* A point of the sweeps, ready to run. */

struct scenario_ebb; /* see scenario_ebb.h */

struct scenario_point {
	struct scenario_network *network; /* shared */
	struct scenario_run run;
	struct hd_traffic_request *traffics; /* [traffic_count] */
	uint32_t traffic_count, host_count; /* hosts that take part, once they are known */
	struct scenario_ebb *ebbs; /* [ebb_count] */
	uint32_t ebb_count;
};

extern const struct hd_option scenario_traffic_keys[];
extern const unsigned scenario_traffic_key_count;

/* Reads all but the network. What it needs belongs to `arena`, except options, which
 * scenario_point_release() frees. Errors: with the place. */

/* The sections [ebb NAME]: patterns whose flows are counted on the links, without packets. */

extern const struct hd_option scenario_ebb_keys[];
extern const unsigned scenario_ebb_key_count;

struct scenario_ebb {
	const char *name;
	const struct hd_pattern_kind *kind;
	struct hd_options *options; /* of the kind */
	const char *hosts; /* path of a host file; NULL: all hosts */
	enum hd_mapping mapping;
	enum hd_lid_choice lids;
	bool fair;
	uint64_t count;
};

int scenario_ebb_read(const struct hd_scenario *scenario, const struct scenario_section *section,
		      struct hd_arena *arena, struct scenario_ebb *out, struct hd_error *err);
void scenario_ebb_release(struct scenario_ebb *ebb);

/* Counts, and adds the figures to the record. Errors: -ECANCELED, those
 * of hd_congestion_run(). */
int scenario_ebb_run(const struct scenario_ebb *ebb, const struct scenario_network *network,
		     uint64_t seed, const struct hd_go_on *go_on, struct hd_record *record,
		     struct hd_error *err);

/* One simulation of a point: its own copy of what a run may change, the traffic and the simulator. */

struct scenario_simulation {
	const struct scenario_point *point;
	struct hd_sim_settings settings;
	struct hd_sim_subnet *subnets; /* copies of the network's */
	struct hd_sim_network network;
	struct hd_traffic_scene scene;
	struct hd_routes *tables; /* a copy, into which keys are written; NULL: several subnets */
	struct hd_mfts **mfts; /* [subnet_count] */
	struct hd_traffic *traffic;
	struct hd_sim *sim;
	enum hd_sim_end end;
	bool partial;
};

/* Prepares at time 0. Released by scenario_simulation_close() also after an error. */
int scenario_simulation_open(struct scenario_simulation *simulation,
			     const struct scenario_point *point, uint64_t seed,
			     struct hd_error *err);
void scenario_simulation_close(struct scenario_simulation *simulation);

/* Runs to the end, or until `watch` ends it. */
int scenario_simulation_run(struct scenario_simulation *simulation, uint32_t run,
			    const struct hd_scenario_watch *watch, struct hd_error *err);

/* Adds all figures to a record; with `lists` also those of each link, and throughput over time. */
void scenario_simulation_record(struct scenario_simulation *simulation, bool lists,
				struct hd_record *record);

/* Adds what each port of the first subnet has sent. */
void scenario_simulation_record_counters(struct scenario_simulation *simulation,
					 struct hd_record *record);

#define SCENARIO_LOAD_FULL "load.full"

/*
 * Adds load.offered, the share of its cable that each host sends, and load.full, the share at which the busiest link
 * carries all that it can. Only if all traffic goes to all hosts alike, by fixed paths or by path bits. Cost:
 * O(hosts^2 * hops * LIDs of a host).
 */
void scenario_load_record(const struct scenario_simulation *simulation,
			  const struct hd_go_on *go_on, struct hd_record *record);

/* What hd_scenario_runs points to. */

struct scenario_expect {
	const char *name, *figure, *source, *note;
	const char **at; /* [at_count] labels that a point must have */
	uint32_t at_count;
	const char **values; /* [value_count] one for all, or one for each point; "-": none */
	uint32_t value_count;
	const char *relative_to; /* a label that replaces one of the point's; "" */
	const char *unit;
	double tolerance, scale;
	enum hd_judge judge;
	enum hd_statistic statistic;
};

struct scenario_runs {
	struct hd_scenario_runs shown; /* the first member */
	struct scenario_sweep sweep;
	struct scenario_point *ready; /* [point_count] */
	uint64_t *seeds;
	bool counters; /* records have what each port has sent */
	struct scenario_expect *expects; /* [expect_count] */
	uint32_t expect_count;
	struct hd_arena arena;
};

static inline const struct scenario_runs *scenario_runs_of(const struct hd_scenario_runs *runs)
{
	return (const struct scenario_runs *)(const void *)runs;
}

/* Of [scenario] and [expect]. */
extern const struct hd_option scenario_title_keys[];
extern const unsigned scenario_title_key_count;
extern const struct hd_option scenario_expect_keys[];
extern const unsigned scenario_expect_key_count;

static inline bool scenario_runs_has_label(const struct hd_scenario_point *point, const char *label)
{
	for (uint32_t i = 0; i < point->label_count; i++)
		if (!strcmp(point->labels[i], label))
			return true;
	return false;
}

/* Whether the expectation is about that point. */
static inline bool scenario_runs_match(const struct scenario_expect *expect,
				       const struct hd_scenario_point *point)
{
	for (uint32_t i = 0; i < expect->at_count; i++)
		if (!scenario_runs_has_label(point, expect->at[i]))
			return false;
	return true;
}

/* How sure a statistic of a few seeds is. */

struct scenario_interval {
	double low, high; /* both belong to it */
};

/*
 * Half of the width of the interval in which the statistic of `count` values with that standard
 * deviation is with 95% confidence; 0 for one value. Of the mean: t s / sqrt(n). Of an extreme: t s c(n), where c(n) is the standard deviation
 * of the largest of n draws from a standard normal distribution.
 */
double scenario_interval_half(enum hd_statistic statistic, uint32_t count, double deviation);

#endif
