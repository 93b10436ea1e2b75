/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A planner's question: one kind of traffic between these hosts, under several tables. The answer is the
 * scenario `question`, or `questions/trace`, with values from the command line.
 */
#ifndef SIM_QUESTION_H
#define SIM_QUESTION_H

#include "sim_arguments.h"

#include <heddle/sim/scenario.h>

struct sim_question {
	const char *fabric; /* NULL: no question is asked */
	struct sim_words engines; /* "NAME[:KEY=VALUE,...]" */
	struct sim_words tables; /* files or folders */
	const char *hosts; /* a file of hosts */
	const char *pattern; /* "alltoall" */
	const char *size; /* of a message */
	const char *trace; /* a GOAL trace, in place of pattern and size */
	bool adaptive; /* the first tables with a plan that is made now */
	const char *plan; /* or with that of a file; NULL: none */
};

#define SIM_QUESTION_ARGUMENTS(type, member)                                                       \
	{0, "fabric", "FILE",                                                                      \
	 "ask for this fabric, without a scenario; with -e the first operand",                     \
	 ARGUMENT_TEXT(type, member.fabric)},                                                      \
	    {'e', "engine", "NAME[:KEY=VALUE,...]",                                                \
	     "with --fabric: the tables of this engine; may be repeated",                          \
	     ARGUMENT_BY(sim_arguments_take_word, type, member.engines)},                          \
	    {0, "ar", NULL, "with --fabric: the first tables also with adaptive routing",          \
	     ARGUMENT_FLAG(type, member.adaptive)},                                                \
	    {0, "plan", "FILE", "the same with this plan (.far file, see heddle ar status -o)",    \
	     ARGUMENT_TEXT(type, member.plan)},                                                    \
	    {0, "hosts", "FILE", "with --fabric: the hosts that take part, one a line",            \
	     ARGUMENT_TEXT(type, member.hosts)},                                                   \
	    {0, "pattern", "NAME[:ARGUMENT]",                                                      \
	     "with --fabric: a collective operation, a pattern of phases, or one of heddle ebb "   \
	     "(default all-to-all)",                                                               \
	     ARGUMENT_TEXT(type, member.pattern)},                                                 \
	    {0, "size", "BYTES", "with --fabric: of each message (default 64 KiB)",                \
	     ARGUMENT_TEXT(type, member.size)},                                                    \
	{                                                                                          \
		0, "trace", "FILE",                                                                \
		    "with --fabric: what a GOAL trace says, or a Chakra trace (its PREFIX)",       \
		    ARGUMENT_TEXT(type, member.trace)                                              \
	}

/* Whether a question is asked, with FABRIC as an option or, as in other commands, as an operand where
 * engines are named: scenarios name their own. */
bool sim_question_asked(const struct sim_question *question, const struct operands *operands);

/* The name of the scenario that the question fills in. */
const char *sim_question_scenario(const struct sim_question *question);

/* Tables from the operands, and before them the fabric if no option has it. 0, or STATUS_BAD after a message. */
int sim_question_take_operands(struct sim_question *question, const struct operands *operands);

/* STATUS_BAD after a message if options of the question come without --fabric. */
int sim_question_refuse(const struct sim_question *question);

/* Puts what was typed over the scenario. Errors: -EINVAL, -ENOMEM. */
int sim_question_apply(const struct sim_question *question, struct hd_scenario *scenario,
		       struct hd_error *err);

#define SIM_QUESTION_TITLE 400

/* "all-to-all of 64 KiB between 200 hosts of fabric.txt". Returns buffer. */
const char *sim_question_title(const struct sim_question *question,
			       const struct hd_scenario *scenario,
			       const struct hd_scenario_runs *runs, char *buffer, size_t size);

void sim_question_release(struct sim_question *question);

#endif
