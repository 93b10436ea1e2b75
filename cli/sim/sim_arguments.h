/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of both commands. */
#ifndef CLI_SIM_ARGUMENTS_H
#define CLI_SIM_ARGUMENTS_H

#include "shared_arguments.h"
#include "sim_case.h"

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
