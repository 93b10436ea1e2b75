/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_parse.h"

#include <stdlib.h>

#define SHORT 16384u /* bytes of a body that the event thread parses itself */

static void run_parse(struct keyd_task *task)
{
	struct keyd_parsing *parsing = (struct keyd_parsing *)task;

	parsing->rc = parsing->parse(parsing);
}

static void finish(struct keyd_parsing *parsing)
{
	if (parsing->rc)
		keyd_call_problem(parsing->call, &parsing->problem);
	else
		parsing->go_on(parsing);
	free(parsing);
}

static void on_parsed(struct keyd_task *task)
{
	struct keyd_parsing *parsing = (struct keyd_parsing *)task;

	parsing->call->keyd->parsings--;
	finish(parsing);
}

static void drop_parse(struct keyd_task *task)
{
	struct keyd_parsing *parsing = (struct keyd_parsing *)task;

	hd_arena_release(&parsing->placement.arena);
	hd_arena_release(&parsing->layout.arena);
	free(parsing->call);
	free(parsing);
}

void keyd_parse(struct keyd_call *call, int (*parse)(struct keyd_parsing *parsing),
		void (*go_on)(struct keyd_parsing *parsing), uint32_t owner)
{
	struct keyd_parsing *parsing = calloc(1, sizeof(*parsing));

	if (!parsing) {
		keyd_call_fail(call, 503, "heddle-keyd has no memory for this call");
		return;
	}
	parsing->task =
	    (struct keyd_task){.run = run_parse, .finish = on_parsed, .drop = drop_parse};
	parsing->call = call;
	parsing->body = keyd_call_body(call, &parsing->length);
	parsing->parse = parse;
	parsing->go_on = go_on;
	parsing->owner = owner;
	if (parsing->length > SHORT) {
		call->keyd->parsings++;
		keyd_workers_submit(call->keyd->workers, &parsing->task);
		return;
	}
	run_parse(&parsing->task);
	finish(parsing);
}
