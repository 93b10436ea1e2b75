/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle sim and heddle reproduce read: scenarios, and options. */
#ifndef CLI_SIM_ARGUMENTS_H
#define CLI_SIM_ARGUMENTS_H

#include "shared_arguments.h"
#include "sim_view.h"

#include <heddle/base/error.h>
#include <stdint.h>

/* ---- scenarios that come with heddle ---- */

/* Where the scenarios that come with heddle are. */

/* The path of a scenario, to be freed: the text if that ends in ".ini" or is there; else NAME.ini in
 * the folder. Errors: -ENOENT neither is there, -ENOMEM. */
int sim_folder_find(const char *text, char **path, struct hd_error *err);

struct sim_folder_list {
	char **names; /* [count] ascending */
	uint32_t count;
};

/* Names of the experiments (folders in the folder), or of the scenarios of an experiment, without
 * ".ini". Errors: -ENOENT no such experiment, or no folder; the errno of opendir(). */
int sim_folder_experiments(struct sim_folder_list *list, struct hd_error *err);
int sim_folder_scenarios(const char *experiment, struct sim_folder_list *list,
			 struct hd_error *err);
void sim_folder_release(struct sim_folder_list *list);

/* ---- options of both commands ---- */

struct sim_words {
	const char **items;
	uint32_t count;
};

/* What both commands can be told. */
struct sim_options {
	struct sim_words assignments; /* -O */
	uint64_t seed;
	bool seed_given, quick, verbose;
	unsigned threads;
	const char *state;
	const char *counters; /* a file for the counters of the only run; NULL: none */
	struct processes *processes;
};

struct sim_case {
	const char *name; /* for reports */
	struct hd_scenario *scenario;
	struct hd_scenario_runs *runs;
	struct sim_runs job;
	struct sim_view view;
};

/* Reads the file, with its section [quick] if the options say so. */
int sim_case_read(struct sim_case *one, const struct sim_options *options, const char *path,
		  struct hd_error *err);

/* Puts -O over it. */
int sim_case_assign(struct sim_case *one, const struct sim_options *options, struct hd_error *err);

/* Checks all of it, runs, and makes the view. All processes must call it. */
int sim_case_run(struct sim_case *one, const struct sim_options *options, struct hd_error *err);

void sim_case_release(struct sim_case *one);

/* Adds a text to a struct sim_words. */
arguments_take_fn sim_arguments_take_word;

/* Reads a seed into a struct sim_options. */
arguments_take_fn sim_arguments_take_seed;

#define SIM_ARGUMENTS(type, member)                                                                \
	{'O', "set", "SECTION.KEY=VALUE", "replace a value of the scenario; may be repeated",      \
	 ARGUMENT_BY(sim_arguments_take_word, type, member.assignments)},                          \
	    {'s', "seed", "S", "seed of the first run of each point (default 1)",                  \
	     ARGUMENT_BY(sim_arguments_take_seed, type, member)},                                  \
	    {0, "quick", NULL, "take the values of the scenario's section [quick]",                \
	     ARGUMENT_FLAG(type, member.quick)},                                                   \
	    SHARED_THREADS(type, member.threads), SHARED_VERBOSE(type, member.verbose)

/* "heddle sim" and "heddle reproduce" as one of several processes: reads the command line, runs, and
 * ends. `options` is in `job`. */
int sim_arguments_run(const struct usage *usage, struct sim_options *options, int argc, char **argv,
		      void *job, arguments_run_fn *run);

#endif
