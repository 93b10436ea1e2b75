/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scenarios: files that say which fabric to simulate, with which tables, model and traffic. A file
 * has lines of `key = value` under a [section] or a [section NAME], and comments that begin with #
 * or ;. heddle-sim(1) describes sections and keys.
 *
 * A scenario stands for runs: one for each point of its sweeps and each seed. Each run is
 * independent of all others, so that they can go on at the same time, on several machines, or later.
 *
 *	hd_scenario_read(path, &scenario, &err);
 *	hd_scenario_set(scenario, "routing.engine=updown", &err);
 *	hd_scenario_prepare(scenario, &request, &runs, &err);
 *	for (uint32_t run = 0; run < runs->count; run++)
 *		hd_scenario_run(runs, run, NULL, &records[run], &err);
 */
#ifndef HEDDLE_SIM_SCENARIO_H
#define HEDDLE_SIM_SCENARIO_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/base/options.h>
#include <heddle/base/text.h>
#include <heddle/sim/record.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_fabric;

#define HD_SCENARIO_LARGEST ((size_t)1 << 20) /* bytes of a file */
#define HD_SCENARIO_RUNS_MAX 100000u

/* ---- the file ---- */

struct hd_scenario; /* sections of keys and values; opaque */

/*
 * Reads a file, or a text in memory. *out is freed with hd_scenario_free(). Errors, with the line:
 * -EINVAL what is no section, key or comment; -ENOENT an unknown section; -EEXIST a section or key
 * that is there twice; unknown keys and bad values in [quick]; those of hd_text_open_regular(); -ENOMEM.
 */
int hd_scenario_read(const char *path, struct hd_scenario **out, struct hd_error *err);
int hd_scenario_parse(const struct hd_text *text, struct hd_scenario **out, struct hd_error *err);
void hd_scenario_free(struct hd_scenario *scenario);

/* Puts "SECTION[.NAME].KEY=VALUE" over what the file says; without NAME, in all sections of that name.
 * Values are checked when the runs are prepared. Errors: -EINVAL, -ENOENT no such section, -ENOMEM. */
int hd_scenario_set(struct hd_scenario *scenario, const char *assignment, struct hd_error *err);

/* The same for an option of its own, "--hosts", which errors then name in place of the key; "": they
 * name the value alone. The name must outlive the scenario. */
int hd_scenario_set_by(struct hd_scenario *scenario, const char *option, const char *assignment,
		       struct hd_error *err);

/* The value of "SECTION[.NAME].KEY"; NULL: it is not given. It lives until the scenario changes. */
const char *hd_scenario_value(const struct hd_scenario *scenario, const char *target);

/* Puts the keys of the section [quick], SECTION.KEY = VALUE, over the others. Errors: as before. */
int hd_scenario_quicken(struct hd_scenario *scenario, struct hd_error *err);

/*
 * Gives visit() each text of the values that may name a file, resolved as the runs would: with "file:" taken off, one
 * by one where a value lists several between '|'. Whether there is such a file is not looked at. Stops when visit() does
 * not return 0, and returns that; -ENOMEM.
 */
int hd_scenario_visit_paths(const struct hd_scenario *scenario,
			    int (*visit)(void *context, const char *path), void *context);

/* ---- runs ---- */

struct hd_scenario_request {
	uint64_t seed; /* of the first run of each point, unless [run] lists seeds */
	bool seed_given;
	unsigned threads; /* to prepare with; 0 = 1; never changes a result */
	/* Records of simulations also have what each port of the first subnet has sent since the warm-up: the lists
	 * HD_SCENARIO_BYTES, with headers, HD_SCENARIO_PACKETS and HD_SCENARIO_WAITING, by port index, and the figure
	 * HD_SCENARIO_COUNTED. */
	bool counters;
	const struct hd_log *log; /* remarks; NULL: none */
	struct hd_go_on go_on; /* asked while tables, plans and paths are made */
};

#define HD_SCENARIO_BYTES "counters.bytes"
#define HD_SCENARIO_PACKETS "counters.packets"
#define HD_SCENARIO_WAITING                                                                        \
	"counters.waiting" /* s in which it had a packet, but no credits for it */
#define HD_SCENARIO_COUNTED "counters.time" /* s */

struct hd_scenario_point {
	const char *label; /* "dmodk, 40%"; "" without sweeps */
	const char *const *labels; /* [label_count] of each sweep */
	uint32_t label_count;
};

/* What is known before the first run. */
struct hd_scenario_runs {
	const char *title, *summary, *source; /* of [scenario]; "" if not given */
	uint32_t count; /* runs: number point * seed_count + seed */
	uint32_t point_count, seed_count;
	const struct hd_scenario_point *points; /* [point_count] */
	const char *const
	    *sweeps; /* [sweep_count] names, or the first key of those without a name */
	uint32_t sweep_count;
	const uint64_t *seeds; /* [seed_count] */
	uint64_t digest; /* of all that decides on the results, for files that keep them */
};

/*
 * Expands the sweeps, reads or makes all fabrics and tables, checks all values, and walks from all
 * sources of messages to their destinations. *out is freed with hd_scenario_runs_free(), and does not
 * refer to `scenario`. Errors, with the place: a bad value and what is allowed, an unknown host, a
 * path that does not arrive, those of readers and engines; -ECANCELED, -ENOMEM. Cost: that of the engines, and
 * O(pairs * hops).
 */
int hd_scenario_prepare(const struct hd_scenario *scenario,
			const struct hd_scenario_request *request, struct hd_scenario_runs **out,
			struct hd_error *err);

/* NULL is allowed. */
void hd_scenario_runs_free(struct hd_scenario_runs *runs);

/* The fabric of a point, for pictures; of its first subnet. */
const struct hd_fabric *hd_scenario_fabric(const struct hd_scenario_runs *runs, uint32_t point);

/* Names what a point consists of: "16 hosts, 6 switches, engine dmodk". Returns buffer. */
const char *hd_scenario_describe(const struct hd_scenario_runs *runs, uint32_t point, char *buffer,
				 size_t size);

/* The hosts that take part in the traffic of a point, each counted once. */
uint32_t hd_scenario_host_count(const struct hd_scenario_runs *runs, uint32_t point);

struct hd_scenario_progress {
	uint64_t now, until; /* ps; until is HD_SIM_NEVER where the traffic says when it ends */
	uint64_t in_flight; /* packets */
	uint64_t hops;
};

struct hd_scenario_watch {
	/* Called now and then; false ends the run, whose record is then marked as partial. */
	bool (*progress)(void *context, uint32_t run, const struct hd_scenario_progress *progress);
	void *context;
};

/*
 * Does one run; several threads may do different runs at the same time. `watch` may be NULL. The
 * record, to be freed with hd_record_free(), depends on the scenario and the seed alone. A
 * deadlock is no error, but in the record. Errors: -ENOMEM, and those of the traffic.
 */
int hd_scenario_run(const struct hd_scenario_runs *runs, uint32_t run,
		    const struct hd_scenario_watch *watch, struct hd_record **out,
		    struct hd_error *err);

/* ---- results ---- */

/* A figure of a point, over its seeds. */
struct hd_scenario_figure {
	const char *name, *unit; /* belong to the records */
	uint32_t count; /* seeds that have it */
	double mean, least, greatest;
	double deviation; /* standard deviation; 0 with one seed */
};

/*
 * All figures of a point, from the records of all runs: records[run], NULL where a run has none.
 * *figures is malloc'ed, *count of them in the order of the first record. Errors: -ENOMEM.
 */
int hd_scenario_figures(const struct hd_scenario_runs *runs, struct hd_record *const *records,
			uint32_t point, struct hd_scenario_figure **figures, uint32_t *count,
			struct hd_error *err);

/* By the interval of confidence of the seeds, never by the mean alone. */
enum hd_verdict {
	HD_VERDICT_WITHIN, /* the whole interval is */
	HD_VERDICT_OUTSIDE, /* the whole interval is */
	HD_VERDICT_UNDECIDED, /* the bound is in the interval, or there is one seed of runs that draw */
	HD_VERDICT_OPEN /* the runs have not finished, or have no such figure */
};
#define HD_VERDICTS 4u

enum hd_judge {
	HD_JUDGE_WITHIN, /* the tolerance */
	HD_JUDGE_SIGN, /* on the same side of 1 (relative to a point) or of 0 as the value */
	HD_JUDGE_BELOW, /* the value */
	HD_JUDGE_ABOVE
};

/* Which one of the seeds' figures is judged. */
enum hd_statistic { HD_STATISTIC_MEAN, HD_STATISTIC_LEAST, HD_STATISTIC_GREATEST };

/* A row of [expect NAME]: what a paper says, and what came out. */
struct hd_expectation {
	const char *name, *figure, *source, *note;
	const char *point; /* label; "" without sweeps */
	const char *relative_to; /* the label of the point that the figure is divided by, or "" */
	const char *unit; /* of the numbers, or "" */
	double scale; /* by which the figure was multiplied, unless it is relative */
	enum hd_statistic statistic;
	enum hd_judge judge;
	double expected, tolerance; /* of `expected` */
	double measured; /* the statistic */
	double least, greatest; /* over the seeds */
	/* Of 95% confidence for the statistic; both are `measured` where nothing is known of the spread. For the mean by
	 * Student's t; for an extreme by t and the deviation that it has in so many draws from a normal distribution. */
	double low, high;
	/* load at which the busiest link of the point is full, by calculation; 0: not known */
	double full;
	uint32_t seeds; /* that have the figure: not those whose traffic a deadlock has stopped */
	bool partial; /* some runs were ended early */
	enum hd_verdict verdict;
};

/* Judges the expectations of the scenario, whose [run] says whether one seed is exact. *out is
 * malloc'ed, *count of them; its texts belong to `runs`. Errors: -ENOMEM. */
int hd_scenario_judge(const struct hd_scenario_runs *runs, struct hd_record *const *records,
		      struct hd_expectation **out, uint32_t *count, struct hd_error *err);

/* ---- tables of keys, for the manual and its test ---- */

struct hd_scenario_section {
	const char *name, *summary; /* "run", "when runs begin to count, and when they end" */
	const struct hd_option *keys;
	unsigned count;
};

/* Section number `index`, from 0, of those with fixed keys, in the order of the documentation; false:
 * there are not so many. */
bool hd_scenario_section(unsigned index, struct hd_scenario_section *out);

#endif
